#include <gtest/gtest.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>

#include "code/translate/cache.h"
#include "code/translate/counted.h"
#include "code/translate/program_text.h"
#include "code/translate/test_run.h"
#include "control/task.h"

// What comes in between: faults, signals, changes of the text, a cache that is full.

namespace {

using namespace weir;
using namespace weir::translate;
using test::Outcome;

constexpr uint64_t kMuch = uint64_t{1} << 40;

#define WEIR_TEST_ASM(name, body)                          \
  extern "C" int64_t weir_change_##name(int64_t, int64_t); \
  extern "C" char weir_change_##name##_at[];               \
  asm(".text\n.balign 16\nweir_change_" #name ":\n" body "\n.previous\n")

// Each faults at `at`, once; rdi is a page that cannot be read or 0, rsi a page that can.
WEIR_TEST_ASM(load, R"(
    mov $3, %ecx; lea (%rsi,%rcx), %rax; add $5, %rdx
 weir_change_load_at:
    add (%rdi), %rax; add %rdx, %rax; ret)");
WEIR_TEST_ASM(behind_a_branch, R"(
    xor %eax, %eax
 1: inc %eax; cmp $50, %eax; jne 1b; cmp $50, %eax; jne 2f; mov $7, %edx
 weir_change_behind_a_branch_at:
    mov %rdx, 16(%rdi)
 2: add 16(%rdi), %rax; ret)");
WEIR_TEST_ASM(divide, R"(
    mov %rsi, %rax; xor %edx, %edx; mov $9, %ecx; jmp 1f
 1: lea -9(%rcx), %rcx
 weir_change_divide_at:
    div %rcx; ret)");
WEIR_TEST_ASM(relative, R"(
    mov $11, %esi; mov $12, %edi; mov $13, %ebx; stc
 weir_change_relative_at:
    adc %rsi, weir_change_page(%rip); mov weir_change_page(%rip), %rax; add %rdi, %rax; ret)");
WEIR_TEST_ASM(relative_load, R"(
    mov $11, %esi; mov $12, %eax; mov $13, %ecx
 weir_change_relative_load_at:
    mov weir_change_page(%rip), %rax; add %rcx, %rax; ret)");
WEIR_TEST_ASM(call_through, R"(
    mov $1, %ecx; mov $2, %edx; push %rcx
 weir_change_call_through_at:
    call *8(%rdi); pop %rcx; ret)");
WEIR_TEST_ASM(jump_through, R"(
    mov $1, %ecx; mov $2, %edx; stc
 weir_change_jump_through_at:
    jmp *(%rdi,%rcx,8))");
WEIR_TEST_ASM(push_beyond, R"(
    mov %rsp, %r8; mov $1, %ecx; lea 16(%rdi), %rsp
 weir_change_push_beyond_at:
    call 1f
 1: pop %rax; mov %r8, %rsp; mov $4, %eax; ret)");
WEIR_TEST_ASM(return_from, R"(
    mov %rsp, %r8; mov $1, %ecx; mov $2, %edx; lea 8(%rdi), %rsp
 weir_change_return_from_at:
    ret
 1: ud2)");
WEIR_TEST_ASM(undefined, R"(
    mov $1, %ecx; mov $2, %edx; lea 5(%rdi), %rax
 weir_change_undefined_at:
    ud2; add %rcx, %rax; ret)");
WEIR_TEST_ASM(returns, "mov %r8, %rsp; mov $6, %eax; ret");
asm(".bss; .balign 4096; .globl weir_change_page; weir_change_page: .zero 4096; .text");
extern "C" char weir_change_page[];

struct Case {
  const char* name;
  int64_t (*function)(int64_t, int64_t);
  const char* at;
  uint64_t before;  // instructions before the one that faults
  bool relative;
};
const Case kCases[] = {
    {"load", weir_change_load, weir_change_load_at, 3, false},
    {"behind_a_branch", weir_change_behind_a_branch, weir_change_behind_a_branch_at, 154, false},
    {"divide", weir_change_divide, weir_change_divide_at, 5, false},
    {"relative", weir_change_relative, weir_change_relative_at, 4, true},
    {"relative_load", weir_change_relative_load, weir_change_relative_load_at, 3, true},
    {"call_through", weir_change_call_through, weir_change_call_through_at, 3, false},
    {"jump_through", weir_change_jump_through, weir_change_jump_through_at, 3, false},
    {"push_beyond", weir_change_push_beyond, weir_change_push_beyond_at, 3, false},
    {"return_from", weir_change_return_from, weir_change_return_from_at, 4, false},
    {"undefined", weir_change_undefined, weir_change_undefined_at, 3, false},
};

greg_t g_registers[2][NGREG];  // natively, counted
uint64_t g_done;               // instructions before the fault
int g_faults;
char* g_page;

// What is closed is opened, what is divided by becomes 1, what is undefined is passed over; the
// place is tried again.
bool mend(int signal, ucontext_t& context) {
  auto& gregs = context.uc_mcontext.gregs;
  const bool counted = executed() != 0 || left() != 0;
  memcpy(g_registers[counted], gregs, sizeof(gregset_t));
  g_done = executed();
  g_faults++;
  if (signal == SIGFPE) gregs[REG_RCX] = 1;
  if (signal == SIGILL) gregs[REG_RIP] += 2;
  if (signal == SIGSEGV) {
    mprotect(g_page, kPageSize, PROT_READ | PROT_WRITE);
    mprotect(weir_change_page, kPageSize, PROT_READ | PROT_WRITE);
  }
  return g_faults < 10;
}

int64_t run_case(const Case& c, uint64_t budget) {
  auto** words = reinterpret_cast<const void**>(g_page);
  mprotect(g_page, kPageSize, PROT_READ | PROT_WRITE);
  mprotect(weir_change_page, kPageSize, PROT_READ | PROT_WRITE);
  memset(weir_change_page, 0, kPageSize);
  const bool returns = c.at == weir_change_return_from_at;
  memset(g_page, 0, kPageSize);
  words[1] = returns ? reinterpret_cast<const void*>(weir_change_returns)
                     : reinterpret_cast<const void*>(+[] { return 5L; });
  mprotect(c.relative ? weir_change_page : g_page, kPageSize, PROT_NONE);
  g_faults = 0;
  count_state().left = count_state().given = 0;
  return test::run(reinterpret_cast<const void*>(c.function), reinterpret_cast<int64_t>(g_page), 77,
                   budget)
      .result;
}

TEST(CountChangeTest, FaultsAreThoseOfTheProgram) {
  EXPECT_TRUE(test::in_child([] {
    g_page = static_cast<char*>(
        mmap(nullptr, 2 * kPageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    test::on_fault = mend;
    bool good = true;
    for (const Case& c : kCases) {
      for (int round = 0; round < 2; round++) {
        const int64_t expected = run_case(c, 0), got = run_case(c, kMuch);
        const bool there = g_registers[1][REG_RIP] == reinterpret_cast<greg_t>(c.at);
        bool same = got == expected && there && g_faults == 1 && g_done == c.before;
        for (int i = 0; i <= REG_RIP; i++) same = same && g_registers[0][i] == g_registers[1][i];
        if (same) continue;
        printf("%s: %ld, expected %ld; %d faults, after %lu instructions, rip off by %lld\n",
               c.name, got, expected, g_faults, g_done,
               static_cast<long long>(g_registers[1][REG_RIP] - reinterpret_cast<greg_t>(c.at)));
        for (int i = 0; i <= REG_RIP; i++) {
          if (g_registers[0][i] != g_registers[1][i])
            printf("  register %d: %llx, natively %llx\n", i, g_registers[1][i], g_registers[0][i]);
        }
        good = false;
      }
    }
    return good;
  }));
}

__attribute__((noinline)) int64_t fibonacci(int64_t n, int64_t unused) {
  return n < 2 ? n : fibonacci(n - 1, unused) + fibonacci(n - 2, unused);
}

// Flags live on into most blocks, which count by way of rcx.
WEIR_TEST_ASM(live, R"(
    xor %eax, %eax; mov %rdi, %rdx; clc
 1: adc $3, %rax; jmp 2f
 2: lea 1(%rax), %rax; jrcxz 3f
 3: lea 1(%rax), %rax; jc 4f; jnc 5f
 4: inc %rax
 5: dec %rdx; jne 1b; ret)");

TEST(CountChangeTest, SignalsMayComeAnywhere) {
  EXPECT_TRUE(test::in_child([] {
    itimerval every = {{0, 50}, {0, 50}}, never = {};
    bool good = true;
    uint64_t interruptions = 0;
    struct {
      const void* function;
      int64_t n;
    } const cases[] = {{reinterpret_cast<const void*>(fibonacci), 21},
                       {reinterpret_cast<const void*>(weir_change_live), 20000}};
    for (auto& c : cases) {
      const Outcome quiet = test::run(c.function, c.n, 0);
      setitimer(ITIMER_REAL, &every, nullptr);
      for (int i = 0; i < 300; i++) {
        const Outcome disturbed = test::run(c.function, c.n, 0);
        interruptions += disturbed.interruptions;
        good = good && disturbed.result == quiet.result && disturbed.executed == quiet.executed &&
               !disturbed.was_native;
        if (!good) {
          printf("%ld, expected %ld; %lu instructions of %lu\n", disturbed.result, quiet.result,
                 disturbed.executed, quiet.executed);
          break;
        }
      }
      setitimer(ITIMER_REAL, &never, nullptr);
    }
    printf("%lu interruptions\n", interruptions);
    return good && interruptions > 100;
  }));
}

TEST(CountChangeTest, WhatIsUnmappedIsForgotten) {
  EXPECT_TRUE(test::in_child([] {
    static const uint8_t kFive[] = {0xb8, 5, 0, 0, 0, 0xc3},
                         kSix[] = {0xb8, 6, 0, 0, 0, 0xc3};  // mov $n,%eax; ret
    void* page = mmap(nullptr, kPageSize, PROT_READ | PROT_WRITE | PROT_EXEC,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const Range range{reinterpret_cast<uint64_t>(page),
                      reinterpret_cast<uint64_t>(page) + kPageSize};
    memcpy(page, kFive, sizeof kFive);
    bool good = test::run(page, 0, 0).was_native;  // no text
    note_text(range);
    const Outcome five = test::run(page, 0, 0);
    good = good && five.result == 5 && five.executed == 2 && !five.was_native;
    on_mapping(range, true);
    memcpy(page, kSix, sizeof kSix);
    good = good && test::run(page, 0, 0).was_native;
    note_text(range);
    const Outcome six = test::run(page, 0, 0);
    return good && six.result == 6 && six.executed == 2 && cache().flushes == 2;
  }));
}

TEST(CountChangeTest, TextsAreCutAndJoined) {
  EXPECT_TRUE(test::in_child([] {
    forget_all_text();
    note_text({0x1000, 0x9000});
    note_text({0x20000, 0x30000});
    bool good = !forget_text({0x9000, 0x20000}) && forget_text({0x3000, 0x4000});
    good = good && code_at(0x2fff).limit == 0x3000 && code_at(0x3000).empty() &&
           code_at(0x4000).start == 0x4000;
    good = good && forget_text({0x8000, 0x28000}) && code_at(0x8000).empty() &&
           code_at(0x28000).limit == 0x30000;
    note_text({0x2000, 0x29000});
    return good && code_at(0x3000).start == 0x1000 && code_at(0x3000).limit == 0x30000 &&
           forget_text({0, 0x40000}) && code_at(0x3000).empty();
  }));
}

TEST(CountChangeTest, AFullCacheIsEmptied) {
  EXPECT_TRUE(test::in_child([] {
    constexpr uint64_t kSize = 24 << 20;
    auto* code = static_cast<uint8_t*>(mmap(nullptr, kSize, PROT_READ | PROT_WRITE | PROT_EXEC,
                                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    for (uint64_t at = 0; at < kSize; at += 4)
      memcpy(code + at, "\x48\xff\xc0\x90", 4);  // inc %rax; nop
    code[kSize - 1] = 0xc3;
    note_text({reinterpret_cast<uint64_t>(code), reinterpret_cast<uint64_t>(code) + kSize});
    const uint32_t before = cache().flushes;
    const Outcome run = test::run(code, 0, 0);
    printf("%u flushes\n", cache().flushes - before);
    return run.result == kSize / 4 && run.executed == kSize / 2 && !run.was_native &&
           cache().flushes > before;
  }));
}

}  // namespace
