#include "code/patch/patch.h"

#include <asm/prctl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <x86intrin.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "base/test_libraries.h"
#include "code/decode/registers.h"
#include "code/patch/test_runtime_x86_64.h"
#include "sys/syscall_x86_64.h"

// Patches the libraries of a forked child, whose entry and handler are those below, and lets them
// work: the same results must come out, with the handler in every system call and every locked
// instruction.

extern "C" void weir_test_entry();
extern "C" void weir_test_on_site(weir::Frame*);

WEIR_TEST_ENTRY("weir_test_entry", "weir_test_on_site");

namespace {

using namespace weir;

struct TaskBlock {
  uint64_t self, flags, program_rsp, stack_top, frame, jump, reserved[10];
};

uint64_t g_entered[kSiteKinds];
alignas(64) TaskBlock g_block;
alignas(64) char g_runtime_stack[1 << 16];

WEIR_TEST_HANDLER void on_frame(Frame* frame, const Site* site) {
  g_entered[static_cast<unsigned>(site->kind)]++;
  frame->rip = site->resume;
  switch (site->kind) {
    case SiteKind::kSyscall:
      frame->rax = static_cast<uint64_t>(
          sys::raw(static_cast<int>(frame->rax), static_cast<long>(frame->rdi),
                   static_cast<long>(frame->rsi), static_cast<long>(frame->rdx),
                   static_cast<long>(frame->r10), static_cast<long>(frame->r8),
                   static_cast<long>(frame->r9)));
      break;
    case SiteKind::kAtomic:
      execute_atomic(site->atomic, *frame,
                     reinterpret_cast<void*>(atomic_address(site->atomic, *frame, sys::fs_base())));
      break;
    case SiteKind::kRdtsc: {
      unsigned processor = 0;
      const uint64_t now = site->length == 3 ? __rdtscp(&processor) : __rdtsc();
      if (site->length == 3) frame->rcx = processor;
      frame->rax = now & 0xffff'ffff;
      frame->rdx = now >> 32;
      break;
    }
    case SiteKind::kCpuid: execute_cpuid(*frame); break;
    case SiteKind::kRandom: execute_random(site->random, *frame); break;
    case SiteKind::kBase: break;
  }
}

WEIR_TEST_HANDLER void on_trap(int, siginfo_t*, void* context) {
  auto* gregs = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const Site* site = find_trap_site(static_cast<uint64_t>(gregs[REG_RIP]) - 1);
  if (site == nullptr) sys::raw(SYS_exit_group, 77);
  Registers registers = registers_of_gregs(gregs);
  Frame frame{};
  for (unsigned i = 0; i < 16; i++) general_register(frame, i) = registers.general[i];
  frame.rflags = registers.rflags;
  on_frame(&frame, site);
  constexpr uint8_t kIndex[16] = {13, 14, 12, 11, 15, 10, 9, 8, 0, 1, 2, 3, 4, 5, 6, 7};
  for (unsigned i = 0; i < 16; i++)
    gregs[kIndex[i]] = static_cast<greg_t>(general_register(frame, i));
  gregs[REG_RIP] = static_cast<greg_t>(frame.rip);
  gregs[REG_EFL] = static_cast<greg_t>(frame.rflags);
}

void prepare_task() {
  g_block.self = reinterpret_cast<uint64_t>(&g_block);
  g_block.stack_top = reinterpret_cast<uint64_t>(g_runtime_stack + sizeof(g_runtime_stack));
  sys::raw(SYS_arch_prctl, ARCH_SET_GS, static_cast<long>(g_block.self));
  set_site_entry(&weir_test_entry);
  struct sigaction action = {};
  action.sa_sigaction = on_trap;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, nullptr);
}

// Runs `body` in a child that may patch what it likes.
template <typename Body>
bool in_child(Body body) {
  return test::in_child([&] {
    prepare_task();
    return body();
  });
}

double milliseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

long patch_library(const char* part, PatchKinds kinds, PatchStats& stats) {
  Library library = loaded_library(part);
  double start = milliseconds();
  long result = patch_text(library.text, library.object, kinds, &stats);
  printf("%-12s kinds %d: %ld, jumps+traps:", part, kinds, result);
  const char* const names[kSiteKinds] = {"syscalls", "atomics", "rdtsc", "cpuid", "random", "gs"};
  for (unsigned i = 0; i < kSiteKinds; i++)
    printf(" %s %u+%u", names[i], stats.jumps[i], stats.traps[i]);
  printf(", refused %u, distrusted %u, %.1f ms\n", stats.refused, stats.distrusted,
         milliseconds() - start);
  return result;
}

void handle_calls() {
  for (unsigned i = 0; i < kSyscallNumbers; i++) g_syscall_handled[i] = 1;
  // Calls that return twice, or to another stack, are for a real runtime.
  for (int number : {SYS_rt_sigreturn, SYS_clone, SYS_vfork, SYS_fork, SYS_clone3})
    g_syscall_handled[number] = 0;
}

// libc and libstdc++ leave out locked instructions while there is one thread.
void leave_single_thread_mode() {
  pthread_t thread;
  pthread_create(
      &thread, nullptr, [](void*) -> void* { return nullptr; }, nullptr);
  pthread_join(thread, nullptr);
  __libc_single_threaded = 0;
  asm volatile("movl $1,%%fs:0x18" ::: "memory");
}

volatile sig_atomic_t g_signals;

std::string work() {
  std::ostringstream out;
  g_signals = 0;
  signal(SIGUSR1, [](int) { g_signals = g_signals + 1; });
  raise(SIGUSR1);  // and back, through what libc has for handlers to return to
  out << g_signals << '\n';
  std::map<std::string, int> counts;
  std::string text = "the quick brown fox jumps over the lazy dog and the fox";
  std::istringstream words(text);
  for (std::string word; words >> word;) counts[word]++;
  for (auto& [name, count] : counts) out << name << ' ' << count << '\n';
  auto shared = std::make_shared<std::string>("shared");
  std::vector<std::shared_ptr<std::string>> many(100, shared);
  out << shared.use_count() << '\n';
  std::unique_ptr<FILE, int (*)(FILE*)> file(tmpfile(), fclose);
  fprintf(file.get(), "%d %.3f %s\n", 42, 2.5, "words");
  rewind(file.get());
  char line[64] = {};
  if (fgets(line, sizeof(line), file.get())) out << line;
  int status = system("exit 3");
  out << WEXITSTATUS(status) << '\n';
  try {
    (void)std::stoi("no number");
  } catch (const std::exception& e) { out << e.what() << '\n'; }
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  for (int i = 0; i < 1000; i++) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
  return out.str();
}

TEST(PatchTest, LibcSystemCallsBecomeJumps) {
  EXPECT_TRUE(in_child([] {
    PatchStats stats;
    if (patch_library("libc.so", kPatchSyscall, stats) != 0) return false;
    uint32_t sites = stats.jumps[0] + stats.traps[0];
    g_syscall_handled[SYS_getppid] = 1;
    pid_t parent = getppid();
    bool counted = g_entered[0] == 1 && parent == static_cast<pid_t>(sys::raw(SYS_getppid));
    return counted && sites > 400 && stats.jumps[0] * 100 >= sites * 99;
  }));
}

TEST(PatchTest, LibrariesWorkWithEverySitePatched) {
  EXPECT_TRUE(in_child([] {
    leave_single_thread_mode();
    std::string expected = work();
    PatchKinds all =
        kPatchSyscall | kPatchAtomic | kPatchRdtsc | kPatchCpuid | kPatchRandom | kPatchBase;
    for (const char* name : {"libc.so", "libstdc++", "libgcc_s", "ld-linux", "libm.so"}) {
      PatchStats stats;
      if (patch_library(name, all, stats) != 0) return false;
    }
    handle_calls();
    std::string got = work();
    printf("entered: %lu syscalls, %lu atomics\n", g_entered[0], g_entered[1]);
    if (got != expected) printf("expected:\n%s\ngot:\n%s\n", expected.c_str(), got.c_str());
    return got == expected && g_entered[0] > 10 && g_entered[1] > 2000;
  }));
}

TEST(PatchTest, FurtherKindsComeLater) {
  EXPECT_TRUE(in_child([] {
    std::string expected = work();
    PatchStats first, second, third;
    if (patch_library("libc.so", kPatchSyscall, first) != 0) return false;
    if (patch_library("libc.so", kPatchSyscall | kPatchAtomic, second) != 0) return false;
    uint32_t sites = site_count();
    if (patch_library("libc.so", kPatchSyscall | kPatchAtomic, third) != 0) return false;
    handle_calls();
    return sites == site_count() && second.jumps[0] + second.traps[0] == 0 &&
           second.jumps[1] > 400 && work() == expected;
  }));
}

TEST(PatchTest, PlacesInStubsAreNamedInTermsOfTheProgram) {
  EXPECT_TRUE(in_child([] {
    PatchStats stats;
    if (patch_library("libc.so", kPatchSyscall | kPatchAtomic, stats) != 0) return false;
    unsigned wrong = 0;
    StubPlace place;
    for (uint32_t i = 0; i < site_count(); i++) {
      const Site& site = *site_at(i);
      if (site.is_trap) {
        wrong += find_trap_site(site.address) != &site;
        continue;
      }
      for (uint64_t at = site.stub; at < site.stub + site.stub_size; at++) {
        wrong += !find_stub_place(at, place) || place.site != &site;
      }
      wrong += !find_stub_place(site.resume, place) ||
               place.program_address != site.address + site.length;
      wrong += !find_stub_place(site.stub + site.enter_at, place) ||
               place.program_address != site.address || place.on_runtime_stack;
      wrong += !find_stub_place(site.stub + site.enter_at + 18, place) || !place.on_runtime_stack;
    }
    wrong += find_stub_place(loaded_library("libc.so").text.start, place);
    printf("%u wrong of %u\n", wrong, site_count());
    return wrong == 0;
  }));
}

// Small functions int64_t(int32_t* memory, int64_t number), copied into a text of their own before
// they are patched.
#define WEIR_TEST_CODE(name, body)                                             \
  extern "C" const uint8_t weir_test_##name[], weir_test_##name##_end[];       \
  asm(".pushsection .rodata\nweir_test_" #name ":\n" body "\nweir_test_" #name \
      "_end:\n.byte 0\n.popsection\n")

WEIR_TEST_CODE(skipped_lock, R"(
    xor %eax, %eax; mov $5, %edx; test %esi, %esi; je 1f
    .byte 0xf0
 1: cmpxchg %edx, (%rdi); sete %al; movzbl %al, %eax; ret)");
WEIR_TEST_CODE(skipped_lock_behind_an_entry, R"(
    xor %eax, %eax; mov $5, %edx; test %esi, %esi; jmp 2f
 2: je 1f
    .byte 0xf0
 1: cmpxchg %edx, (%rdi); sete %al; movzbl %al, %eax; ret)");
WEIR_TEST_CODE(rip_relative, "lock incl (%rdi); mov 1f(%rip), %eax; ret; 1: .long 77");
WEIR_TEST_CODE(short_branch,
               "lock subl %esi, (%rdi); je 1f; mov $1, %eax; ret; 1: mov $2, %eax; ret");
WEIR_TEST_CODE(entered_behind, R"(
    mov $3, %ecx; xor %eax, %eax; lock incl (%rdi)
 1: inc %eax; dec %ecx; jne 1b; ret)");
WEIR_TEST_CODE(entered_around, R"(
    mov $3, %ecx; xor %eax, %eax; jmp 2f
 1: lock incl (%rdi)
 2: inc %eax; dec %ecx; jne 1b; ret)");
WEIR_TEST_CODE(
    before_a_call,
    "mov %esi, %eax; mov %esi, %ecx; xchg %eax, (%rdi); call 1f; ret; 1: add %ecx, %eax; ret");
WEIR_TEST_CODE(padded_return, "mov %esi, %eax; jmp 1f; 1: xchg %eax, (%rdi); ret; nop; nop; nop");
WEIR_TEST_CODE(red_zone, R"(
    mov %rsi, -8(%rsp); mov %rsi, -128(%rsp); lock addl %esi, (%rdi); mov -8(%rsp), %rax
     add -128(%rsp), %rax; ret)");
WEIR_TEST_CODE(loop_around, "1: lock decl (%rdi); jne 1b; mov $9, %eax; ret");

// What the function does natively and patched must be the same; `entries` is how often it enters
// the runtime.
bool behaves(const uint8_t* code, const uint8_t* limit, int32_t memory, int64_t number,
             uint64_t entries, bool trap) {
  auto* text = static_cast<uint8_t*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  memset(text, 0x90, 4096);
  memcpy(text, code, static_cast<size_t>(limit - code));
  auto* function = reinterpret_cast<int64_t (*)(int32_t*, int64_t)>(text);
  int32_t expected_memory = memory, got_memory = memory;
  int64_t expected = function(&expected_memory, number);
  PatchStats stats;
  auto start = reinterpret_cast<uint64_t>(text);
  Range range{start, start + static_cast<uint64_t>(limit - code)};
  if (patch_text(range, Range{}, kPatchAtomic, &stats) != 0) return false;
  uint64_t before = g_entered[1];
  int64_t got = function(&got_memory, number);
  bool good = got == expected && got_memory == expected_memory &&
              g_entered[1] - before == entries && stats.jumps[1] == !trap && stats.traps[1] == trap;
  if (!good) {
    printf("result %ld %ld, memory %d %d, entries %lu, jumps %u, traps %u\n", expected, got,
           expected_memory, got_memory, g_entered[1] - before, stats.jumps[1], stats.traps[1]);
  }
  return good;
}

#define WEIR_EXPECT_BEHAVES(name, memory, number, entries, trap)                             \
  EXPECT_TRUE(in_child([] {                                                                  \
    return behaves(weir_test_##name, weir_test_##name##_end, memory, number, entries, trap); \
  }))

TEST(PatchTest, WhereOldCodeSkipsALockTheUnlockedInstructionStaysIntact) {
  for (bool trap : {false, true}) {
    const uint8_t* code = trap ? weir_test_skipped_lock_behind_an_entry : weir_test_skipped_lock;
    const uint8_t* limit =
        trap ? weir_test_skipped_lock_behind_an_entry_end : weir_test_skipped_lock_end;
    EXPECT_TRUE(in_child([=] { return behaves(code, limit, 0, 0, 0, trap); }));
    EXPECT_TRUE(in_child([=] { return behaves(code, limit, 0, 1, 1, trap); }));
    EXPECT_TRUE(in_child([=] { return behaves(code, limit, 3, 1, 1, trap); }));
  }
}

TEST(PatchTest, DisplacedInstructionsAreAdapted) {
  WEIR_EXPECT_BEHAVES(rip_relative, 3, 0, 1, false);
  WEIR_EXPECT_BEHAVES(short_branch, 3, 3, 1, false);
  WEIR_EXPECT_BEHAVES(short_branch, 3, 4, 1, false);
  WEIR_EXPECT_BEHAVES(loop_around, 5, 0, 5, false);
}

TEST(PatchTest, AJumpNeverCoversAPlaceThatIsEntered) {
  WEIR_EXPECT_BEHAVES(entered_behind, 3, 0, 1, false);
  WEIR_EXPECT_BEHAVES(entered_around, 3, 0, 2, true);
}

TEST(PatchTest, InstructionsBeforeTheSiteMoveToo) {
  WEIR_EXPECT_BEHAVES(before_a_call, 3, 4, 1, false);
}

TEST(PatchTest, PaddingAfterAReturnIsUsed) { WEIR_EXPECT_BEHAVES(padded_return, 3, 4, 1, false); }

// Functions void(uint64_t* values): rax, rbx, rcx, rdx and r10 from there, and back with the flags.
// `trapped`: control comes to the instruction, and to what follows it, from elsewhere too.
#define WEIR_TEST_ASKING(name, instruction)                                          \
  WEIR_TEST_CODE(name, WEIR_LOAD_VALUES "stc\n" instruction "\n" WEIR_STORE_VALUES); \
  WEIR_TEST_CODE(trapped_##name,                                                     \
                 WEIR_LOAD_VALUES "stc; jnc 2f; jmp 1f\n1: " instruction "\n2:" WEIR_STORE_VALUES)
#define WEIR_LOAD_VALUES                                              \
  "push %rbx; mov (%rdi),%rax; mov 8(%rdi),%rbx; mov 16(%rdi),%rcx\n" \
  "mov 24(%rdi),%rdx; mov 32(%rdi),%r10\n"
#define WEIR_STORE_VALUES                                                     \
  "mov %rax,(%rdi); mov %rbx,8(%rdi); mov %rcx,16(%rdi); mov %rdx,24(%rdi)\n" \
  "mov %r10,32(%rdi); pushf; pop 40(%rdi); pop %rbx; ret"
WEIR_TEST_ASKING(cpuid, "cpuid");
WEIR_TEST_ASKING(rdtscp, "rdtscp");
WEIR_TEST_ASKING(rdrand16, "rdrand %cx");
WEIR_TEST_ASKING(rdrand64, "rdrand %r10");
WEIR_TEST_ASKING(rdseed32, "rdseed %ebx");

struct Values {
  uint64_t rax = 0x1111'1111'0000'0000, rbx = 0x2222'2222'2222'2222, rcx = 0x3333'3333'0000'0000,
           rdx = 0x4444'4444'4444'4444, r10 = 0x5555'5555'5555'5555, rflags = 0;

  bool operator==(const Values&) const = default;
};

using Asking = void (*)(Values*);

// Calls check(native, patched) of two copies of the code.
template <typename Check>
bool asks(const uint8_t* code, const uint8_t* limit, PatchKinds kinds, bool trap, Check check) {
  return in_child([=] {
    const auto size = static_cast<size_t>(limit - code);
    auto* text =
        static_cast<uint8_t*>(mmap(nullptr, 2 * kPageSize, PROT_READ | PROT_WRITE | PROT_EXEC,
                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    memcpy(text, code, size);
    memcpy(text + kPageSize, code, size);
    const auto start = reinterpret_cast<uint64_t>(text + kPageSize);
    PatchStats stats;
    if (patch_text(Range{start, start + size}, Range{}, kinds, &stats) != 0 || site_count() != 1)
      return false;
    const auto kind = static_cast<unsigned>(site_at(0)->kind);
    const bool good =
        check(reinterpret_cast<Asking>(text), reinterpret_cast<Asking>(text + kPageSize));
    printf("jumps %u, traps %u, entered %lu\n", stats.jumps[kind], stats.traps[kind],
           g_entered[kind]);
    return good && g_entered[kind] > 0 && stats.jumps[kind] == !trap && stats.traps[kind] == trap;
  });
}

#define WEIR_EXPECT_ASKS(name, kinds, check)                                        \
  EXPECT_TRUE(asks(weir_test_##name, weir_test_##name##_end, kinds, false, check)); \
  EXPECT_TRUE(asks(weir_test_trapped_##name, weir_test_trapped_##name##_end, kinds, true, check))

TEST(PatchTest, CpuidAnswersAsItDoesNatively) {
  const auto check = [](Asking native, Asking patched) {
    cpu_set_t here;  // some answers name the processor
    CPU_ZERO(&here);
    CPU_SET(static_cast<size_t>(sched_getcpu()), &here);
    sched_setaffinity(0, sizeof here, &here);
    for (uint32_t leaf :
         {0u, 1u, 2u, 4u, 7u, 0xbu, 0xdu, 0x40000000u, 0x80000000u, 0x80000004u, 0x80000008u}) {
      for (uint32_t part = 0; part < 3; part++) {
        Values expected, got;
        expected.rax += leaf, expected.rcx += part;
        got = expected;
        native(&expected);
        patched(&got);
        if (got != expected || got.rax >> 32 || got.rbx >> 32 || got.rcx >> 32 || got.rdx >> 32)
          return false;
      }
    }
    return true;
  };
  WEIR_EXPECT_ASKS(cpuid, kPatchCpuid, check);
}

TEST(PatchTest, TheCycleCounterGoesOn) {
  const auto check = [](Asking native, Asking patched) {
    uint64_t before = 0;
    for (int i = 0; i < 10; i++) {
      Values values;
      (i & 1 ? native : patched)(&values);
      const uint64_t now = values.rdx << 32 | values.rax;
      if (now <= before || values.rcx >> 32 || values.rax >> 32 || values.rbx != Values{}.rbx)
        return false;
      before = now;
    }
    return true;
  };
  WEIR_EXPECT_ASKS(rdtscp, kPatchRdtsc, check);
}

// What of `changed` the instruction writes is random; all else is as natively.
template <uint64_t Values::*changed, uint64_t mask>
bool gives_numbers(Asking native, Asking patched) {
  uint64_t ones = 0, zeros = 0;
  for (int good = 0, all = 0; good < 40; all++) {
    Values expected, got;
    native(&expected);
    patched(&got);
    if (all == 10'000) return false;
    if ((expected.rflags ^ got.rflags) & kCarryFlag)
      continue;  // one of the two has found no number
    if (got.rflags & kCarryFlag) {
      good++;
      ones |= got.*changed & mask;
      zeros |= ~(got.*changed) & mask;
      got.*changed = (got.*changed & ~mask) | (expected.*changed & mask);
    }
    if (got != expected) return false;
  }
  return ones == mask && zeros == mask;
}

TEST(PatchTest, RandomNumbersComeIntoTheRegisterOfTheirSize) {
  if (!is_known(RandomOp{0, 8, false}) || !is_known(RandomOp{0, 8, true}))
    GTEST_SKIP() << "the processor has none";
  WEIR_EXPECT_ASKS(rdrand16, kPatchRandom, (gives_numbers<&Values::rcx, 0xffff>));
  WEIR_EXPECT_ASKS(rdrand64, kPatchRandom, (gives_numbers<&Values::r10, ~uint64_t{0}>));
  WEIR_EXPECT_ASKS(rdseed32, kPatchRandom, (gives_numbers<&Values::rbx, 0xffffffff>));
}

// Of libstdc++, which asks cpuid first.
TEST(PatchTest, TheRandomDeviceWorksPatched) {
  if (!is_known(RandomOp{0, 4, false})) GTEST_SKIP() << "the processor has none";
  EXPECT_TRUE(in_child([] {
    PatchStats stats;
    if (patch_library("libstdc++", kPatchCpuid | kPatchRandom, stats) != 0) return false;
    std::random_device device("rdrand");
    const bool differ = device() != device() || device() != device();
    printf("entered: %lu cpuid, %lu random\n", g_entered[3], g_entered[4]);
    return differ && g_entered[3] > 0 && g_entered[4] >= 2;
  }));
}

TEST(PatchTest, TheRedZoneIsNotTouched) { WEIR_EXPECT_BEHAVES(red_zone, 3, 4, 1, false); }

}  // namespace

extern "C" WEIR_TEST_HANDLER void weir_test_on_site(weir::Frame* frame) {
  on_frame(frame, weir::site_at(static_cast<uint32_t>(frame->site)));
}
