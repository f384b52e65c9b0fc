#include "code/translate/counted.h"

#include <gtest/gtest.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "code/decode/flags.h"
#include "code/translate/block.h"
#include "code/translate/program_text.h"
#include "code/translate/step.h"
#include "code/translate/test_functions.h"
#include "code/translate/test_run.h"

// The same functions natively and counted: the same results, the same number of instructions, and
// the same places of leaving each time, wherever the count ends.

namespace {

using namespace weir::translate;
using namespace test::functions;
using test::Function;
using test::Outcome;

// Hand-written: what compilers seldom make.
#define WEIR_TEST_ASM(name, body)                         \
  extern "C" int64_t weir_count_##name(int64_t, int64_t); \
  asm(".text\n.balign 16\nweir_count_" #name ":\n" body "\n.previous\n")

WEIR_TEST_ASM(red_zone, R"(
    mov %rdi, -8(%rsp); mov %rsi, -128(%rsp); mov $5, %ecx
 1: incq -8(%rsp); addq $3, -128(%rsp); dec %ecx; jne 1b
    lea (%rdi,%rsi), %rdx; mov -8(%rsp), %rax; add -128(%rsp), %rax; add %rdx, %rax; ret)");
// Every flag lives across jumps, calls and returns.
WEIR_TEST_ASM(live_flags, R"(
    xor %eax, %eax
    cmp %rsi, %rdi
    jmp 1f
 2: setc %al; seto %cl; sets %dl; setz %r8b; setp %r9b; movzbl %cl, %ecx; lea (%rax,%rcx,2), %rax
    movzbl %dl, %edx; lea (%rax,%rdx,4), %rax; movzbl %r8b, %r8d; lea (%rax,%r8,8), %rax
    movzbl %r9b, %r9d; shl $4, %r9d; or %r9, %rax
    add %rdi, %rsi; call 3f; adc $0, %rax; stc; call 3f; adc $0, %rax; ret
 1: jg 4f; jl 5f; je 5f; jmp 2b
 4: jmp 2b
 5: jmp 2b
 3: lea 100(%rax), %rax; jmp 6f
 6: ret)");
// Paths are left again and again, to where flags are alive and to where they are not.
WEIR_TEST_ASM(leaving, R"(
    mov $300, %ecx; xor %eax, %eax; mov %rdi, %rdx
 1: imul $1103515245, %rdx, %rdx; add $12345, %rdx; bt $16, %rdx; jc 2f; bt $17, %rdx; jc 3f
     bt $18, %rdx; jc 5f; inc %rax; jmp 4f
 2: adc $2, %rax; jmp 4f
 3: lea 5(%rax), %rax; sbb %r8, %r8; sub %r8, %rax; jmp 4f
 5: xor %rdx, %rax; jmp 6f
 6: bt $19, %rdx; jnc 4f; jc 7f
 7: jmp 8f
 8: adc %rsi, %rax
 4: dec %ecx; jne 1b; ret)");
WEIR_TEST_ASM(inc_keeps_carry, R"(
    mov $20, %ecx; mov %rdi, %rax; xor %edx, %edx; clc
 1: adc %rsi, %rax; dec %ecx; jne 1b
 2: adc $0, %rax; ret)");
WEIR_TEST_ASM(loops, R"(
    xor %eax, %eax; mov %rdi, %rcx; jrcxz 2f
 1: add %rcx, %rax; loop 1b
 2: mov $7, %ecx; cmp %rax, %rax
 3: lea 1(%rax), %rax; cmp $33, %rax; loopne 3b
    mov $7, %ecx; cmp %rax, %rax
 4: lea 2(%rax), %rax; cmp %rdx, %rdx; loope 4b
    mov $0x100000000, %rcx; jecxz 5f; ud2
 5: ret)");
WEIR_TEST_ASM(string_operations, R"(
    sub $264, %rsp; mov %rdi, %rax; mov %rsp, %rdi; mov $32, %ecx; rep stosq
    mov %rsp, %rdi; mov $255, %ecx; mov %esi, %eax; repne scasb; mov %rcx, %rdx
    mov %rsp, %rsi; lea 8(%rsp), %rdi; mov $200, %ecx; repe cmpsb; lea (%rcx,%rdx), %rax
    lea 128(%rsp), %rdi; mov %rsp, %rsi; mov $100, %ecx; rep movsb; add 150(%rsp), %rax
    std; lea 248(%rsp), %rdi; mov $3, %ecx; rep stosq; cld
    xor %ecx, %ecx; stc; repe cmpsb; adc $0, %rax
    add $264, %rsp; ret)");
WEIR_TEST_ASM(stack_operations, R"(
    push %rbp; mov %rsp, %rbp; push %rdi; push %rsp; pop %rax; sub %rsp, %rax; pushq $-3; pop %rcx
     add %rcx, %rax
    pushfq; pop %rdx; and $0x8d5, %edx; add %rdx, %rax; call 1f
 1: pop %rdx; lea 1b(%rip), %rcx; cmp %rcx, %rdx; sete %dl; movzbl %dl, %edx; add %rdx, %rax
    enter $32, $0; mov %rdi, 8(%rsp); add 8(%rsp), %rax; leave
    push %rax; call 2f; add $8, %rsp; leave; ret
 2: pop %rdx; pop %rax; inc %rax; push %rax; push %rdx; lea 3f(%rip), %rdx; push %rsi; push %rdx
     ret $8
 3: ret)");
WEIR_TEST_ASM(indirect, R"(
    push %rbx; push %r12; push %r13
    lea 9f(%rip), %rbx; xor %eax, %eax; xor %r12d, %r12d
 1: movslq (%rbx,%r12,4), %rcx; add %rbx, %rcx; call *%rcx
    movslq (%rbx,%r12,4), %rdx; add %rbx, %rdx; call *%rdx
    movslq (%rbx,%r12,4), %r13; add %rbx, %r13; push %r13; call *(%rsp); pop %r13
    mov %rsp, %r13; push %rdx; call *-8(%r13); pop %rdx
    call *8f(%rip)
    lea 8f(%rip), %rcx; call *(%rcx); mov %rcx, %rdx; xor %ecx, %ecx; call *(%rdx,%rcx,8)
    inc %r12; cmp $3, %r12; jne 1b
    lea 2f(%rip), %rdx; jmp *%rdx; ud2
 2: pop %r13; pop %r12; pop %rbx; jmp *7f(%rip)
 3: add %rdi, %rax; ret
 4: add %rsi, %rax; ret
 5: imul $3, %rax; ret
 6: ret
    .balign 8
 9: .long 3b-9b, 4b-9b, 5b-9b
    .section .data.rel.local,"aw"; .balign 8
 8: .quad 5b
 7: .quad 6b
    .text)");
WEIR_TEST_ASM(rip_relative, R"(
    push %rbx; mov %rdi, 8f(%rip); mov %rsi, 8f+8(%rip); mov 8f(%rip), %rax; add 8f+8(%rip), %rax
    movl $77, 8f+16(%rip); addl %eax, 8f+16(%rip); mov 8f+16(%rip), %ecx; add %rcx, %rax
    movzbl 8f(%rip), %edx; movsbq 8f+1(%rip), %rsi; movslq 8f+4(%rip), %rdi; movswl 8f+2(%rip), %ebx
    xor %rdx, %rax; add %rsi, %rax; xor %rdi, %rax; add %rbx, %rax; add 8f(%rip), %bh
     mov %bh, 8f+24(%rip); mov %dh, 8f+25(%rip)
    add 8f+24(%rip), %ax; cmpq $5, 8f(%rip); setg 8f+26(%rip); xor 8f+26(%rip), %al
     shlq $3, 8f(%rip); rolw 8f+8(%rip)
    pushq 8f(%rip); popq 8f+32(%rip); add 8f+32(%rip), %rax; cmove 8f+8(%rip), %rax
     imul $3, 8f+8(%rip), %rcx; add %rcx, %rax
    mov 8f(%rip), %rdx; mov %rdx, %rcx; push %rax; mov 8f+64(%rip), %rax; mov 8f+72(%rip), %rdx
     mov $3, %ebx; mov $4, %ecx
    lock cmpxchg16b 8f+64(%rip); sete 8f+65(%rip); cmpxchg %rcx, 8f+72(%rip); pop %rax
     add 8f+64(%rip), %rax
    xadd %rax, 8f+8(%rip); add 8f+8(%rip), %rax; testl $3, 8f(%rip); setz %cl; movzbl %cl, %ecx
     add %rcx, %rax
    mov $7, %ecx; bts %rcx, 8f+40(%rip); mulq 8f+40(%rip); divw 9f(%rip); crc32q 8f(%rip), %rax
    movq 8f(%rip), %xmm0; movdqu 8f+16(%rip), %xmm1; paddq %xmm0, %xmm1; movdqu %xmm1, 8f+48(%rip)
     pinsrw $1, 8f+2(%rip), %xmm1
    vpaddd 8f(%rip), %xmm1, %xmm6; vpaddd 8f+16(%rip), %xmm6, %xmm7
     vpshufb 8f+32(%rip), %xmm7, %xmm8; vpblendvb %xmm8, 8f(%rip), %xmm7, %xmm9
    vpinsrq $1, 8f(%rip), %xmm9, %xmm9; vmovdqu %ymm9, 8f+80(%rip); vaddpd 8f(%rip), %ymm9, %ymm10
     vmovq %xmm9, %rcx; xor %rcx, %rax
    andn 8f(%rip), %rsi, %rdi; bextr %rsi, 8f(%rip), %rdx; xor %rdi, %rax; add %rdx, %rax
     shlx %rdi, 8f(%rip), %rsi; rorx $5, 8f(%rip), %rdi
    mulx 8f(%rip), %rsi, %rdi; xor %rsi, %rax; add %rdi, %rax; mov %r12, %rdx; mov 8f(%rip), %r12
     add %r12, %rax; mov %rdx, %r12
    lea 8f(%rip), %rcx; lea 8f(%rip), %edx; sub %ecx, %edx; add %rdx, %rax; mov 8f(%rip), %rdi
     add %rdi, %rax
    fldl 9f(%rip); fstpl 8f+8(%rip); prefetcht0 8f(%rip); nopl 8f(%rip); vzeroupper
    mov $12, %ecx; lea 8f(%rip), %rdi
 1: imul $31, %rax; add (%rdi,%rcx,8), %rax; dec %ecx; jns 1b
    movq $0, 8f+64(%rip); movq $0, 8f+72(%rip); movq $0, 8f+40(%rip); movq $0, 8f+24(%rip)
     pop %rbx; ret
    .section .data.rel.local,"aw"; .balign 64
 8: .zero 128
 9: .quad 0x4005000000001234
    .text)");
WEIR_TEST_ASM(wide_vectors, R"(
    mov %rdi, 8f(%rip); mov %rsi, 8f+8(%rip); mov $0x5555, %ecx; kmovw %ecx, %k1
    vpbroadcastq %rdi, %zmm17; vpaddd 8f(%rip){1to16}, %zmm17, %zmm6
     vpaddd 8f(%rip), %zmm6, %zmm7{%k1}
    vpxorq 8f+8(%rip){1to8}, %zmm7, %zmm25; vmovdqu64 %zmm25, 8f+64(%rip)
     vpternlogq $0x96, 8f(%rip), %zmm17, %zmm25
    vcvtsi2sdq 8f(%rip), %xmm6, %xmm16; vcmpps $1, 8f(%rip), %zmm7, %k2; kmovw %k2, %eax
     kmovw 8f(%rip), %k3; kmovw %k3, %edx
    lea 8f(%rip), %rdi; mov $15, %esi
 1: imul $31, %rax; add (%rdi,%rsi,8), %rax; dec %esi; jns 1b
    vmovq %xmm16, %rcx; add %rcx, %rax; add %rdx, %rax; vzeroupper; ret
    .section .data.rel.local,"aw"; .balign 64
 8: .zero 128
    .text)");
// How libraries find a thread's variables: calls made longer by prefixes that change nothing.
WEIR_TEST_ASM(padded_calls, R"(
    sub $8, %rsp; mov %rsi, %rax; .byte 0x66; lea 8f(%rip), %rdi; .word 0x6666; rex64; call 1f
    .byte 0x66; lea 8f(%rip), %rdi; .byte 0x66; rex64; call *9f(%rip); add $8, %rsp; ret
 1: add (%rdi), %rax; imul $3, %rax; .byte 0x66; rex64; ret
    .section .data.rel.local,"aw"; .balign 8
 8: .quad 77
 9: .quad 1b
    .text)");
// Runs below 2 GiB: addresses fit into 32 bits there.
WEIR_TEST_ASM(low, R"(
    push %rbx; mov %rdi, 8f(%rip); add %rsi, 8f(%rip); mov 8f(%rip), %rbx; lea 8f(%rip), %rax
     sub %eax, %eax
    movl $5, 8f+8(%rip); imul $7, 8f+8(%rip), %ecx; add %rcx, %rbx; call 1f; call *9f(%rip)
     shrq $3, 8f(%rip); add 8f(%rip), %rax
    add %rbx, %rax; pop %rbx; ret
 1: lea 1b(%rip), %rdx; mov %rdx, 9f(%rip); inc %rbx; ret
    .balign 8
 8: .quad 0, 0
 9: .quad 0
    .globl weir_count_low_end; weir_count_low_end:)");
extern "C" const char weir_count_low_end[];
WEIR_TEST_ASM(shifts, R"(
    mov %rdi, %rax; mov %esi, %ecx; stc; jmp 1f
 1: shl %cl, %rax; adc $0, %rax; cmp %rax, %rdi; jmp 2f
 2: sar %cl, %rax; setc %dl; jmp 3f
 3: rol $3, %rax; adc $1, %rax; xor %ecx, %ecx; stc; jmp 4f
 4: shr %cl, %rax; sbb $5, %rax; shld %cl, %rdi, %rax; adc $0, %rax; bt $5, %rax; adc $3, %rax
     ret)");

#ifdef __SANITIZE_ADDRESS__
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

const struct {
  const char* name;
  Function function;
  int64_t a, b;
  bool calls_libraries = false;  // a sanitizer does other things in them
  bool uses_heap = false;        // which gives out other addresses each time
} kFunctions[] = {
    {"fibonacci", fibonacci, 12, 0},
    {"sieve", sieve, 300, 0, true},
    {"table", table, 300, 12345},
    {"virtual_calls", virtual_calls, 40, 0, true, true},
    {"sorting", sorting, 60, 7, true, true},
    {"floating", floating, 40, 0},
    {"vectors", vectors, 2, 5},
    {"strings", strings, 12, 0, true},
    {"jumping", jumping, 9, 0, true},
    {"catching", catching, 4, 0, true, true},
    {"red_zone", weir_count_red_zone, 11, 22},
    {"live_flags", weir_count_live_flags, 11, 22},
    {"live_flags", weir_count_live_flags, 22, 11},
    {"live_flags", weir_count_live_flags, -1, 1},
    {"live_flags", weir_count_live_flags, INT64_MIN, 1},
    {"live_flags", weir_count_live_flags, 5, 5},
    {"leaving", weir_count_leaving, 11, 22},
    {"leaving", weir_count_leaving, -12345, 1},
    {"inc_keeps_carry", weir_count_inc_keeps_carry, -5, -7},
    {"loops", weir_count_loops, 10, 0},
    {"loops", weir_count_loops, 0, 0},
    {"string_operations", weir_count_string_operations, 0x1234567, 0x45},
    {"stack_operations", weir_count_stack_operations, 3, 4},
    {"indirect", weir_count_indirect, 3, 4},
    {"rip_relative", weir_count_rip_relative, 0x123456789abcdef, -987654321},
    {"padded_calls", weir_count_padded_calls, 3, 4},
    {"shifts", weir_count_shifts, -123456789, 0},
    {"shifts", weir_count_shifts, 123456789, 5},
};

const void* address_of_function(Function function) {
  return reinterpret_cast<const void*>(function);
}

Outcome run(Function function, int64_t a, int64_t b, uint64_t budget = uint64_t{1} << 40) {
  return test::run(address_of_function(function), a, b, budget);
}

// Functions are bound and the heap is as it will be again.
void prepare(Function function, int64_t a, int64_t b) {
  for (int i = 0; i < 8; i++) function(a, b);
}

WEIR_TEST_ASM(keeps_carry, "inc %rax; lea 1(%rax), %rax; jmp 1f; 1: adc $0, %rax; ret");
WEIR_TEST_ASM(branches_first, "lea 1(%rax), %rax; jc 1f; xor %eax, %eax; 1: ret");
WEIR_TEST_ASM(writes_all, "call 1f; ret; 1: lea 1(%rax), %rax; ret; xor %eax, %eax");

TEST(CountTest, FlagsAreDeadWhereTheyAreWrittenFirst) {
  EXPECT_TRUE(test::in_child([] {
    constexpr uint16_t kCarry = 1;
    const auto dead = [](Function function) {
      return dead_flags_at(reinterpret_cast<uint64_t>(address_of_function(function)));
    };
    return dead(weir_count_keeps_carry) == (weir::kEveryFlag & ~kCarry) &&
           dead(weir_count_branches_first) == 0 && dead(weir_count_writes_all) == 0 &&
           dead(weir_count_live_flags) == weir::kEveryFlag;
  }));
}

TEST(CountTest, CountedFunctionsDoTheSame) {
  EXPECT_TRUE(test::in_child([] {
    bool good = true;
    for (auto& f : kFunctions) {
      prepare(f.function, f.a, f.b);
      const int64_t expected = f.function(f.a, f.b);
      const Outcome cold = run(f.function, f.a, f.b), warm = run(f.function, f.a, f.b);
      const bool same = cold.result == expected && warm.result == expected && !cold.was_native &&
                        !warm.was_native;
      if (kSanitized && f.calls_libraries ? cold.result != expected
                                          : !same || cold.executed != warm.executed) {
        printf("%s: %ld %ld, expected %ld; %lu %lu instructions, native %d %d\n", f.name,
               cold.result, warm.result, expected, cold.executed, warm.executed, cold.was_native,
               warm.was_native);
        good = false;
      }
    }
    return good;
  }));
}

TEST(CountTest, OneInstructionAtATimeDoesTheSame) {
  EXPECT_TRUE(test::in_child([] {
    bool good = true;
    for (auto& f : kFunctions) {
      prepare(f.function, f.a, f.b);
      const int64_t expected = f.function(f.a, f.b);
      const Outcome whole = run(f.function, f.a, f.b);
      test::singly = true;
      const Outcome single = run(f.function, f.a, f.b);
      test::singly = false;
      const bool same = single.result == expected && !single.was_native &&
                        single.executed == whole.executed && single.misses == single.executed;
      if (kSanitized && f.calls_libraries ? single.result == expected : same) continue;
      printf("%s: %ld, expected %ld; %lu of %lu instructions, native %d\n", f.name, single.result,
             expected, single.executed, whole.executed, single.was_native);
      good = false;
    }
    return good;
  }));
}

TEST(CountTest, CountsWhatSingleStepsCount) {
  EXPECT_TRUE(test::in_child([] {
    bool good = true;
    for (auto& f : kFunctions) {
      if (kSanitized && f.calls_libraries) continue;
      prepare(f.function, f.a, f.b);
      const uint64_t counted = run(f.function, f.a, f.b).executed;
      const uint64_t stepped = test::steps_of(address_of_function(f.function), f.a, f.b);
      if (counted != stepped) printf("%s: counted %lu, stepped %lu\n", f.name, counted, stepped);
      good = good && counted == stepped;
    }
    return good;
  }));
}

TEST(CountTest, ACountMayEndAnywhere) {
  EXPECT_TRUE(test::in_child([] {
    bool good = true;
    for (auto& f : kFunctions) {
      if (kSanitized && f.calls_libraries) continue;
      prepare(f.function, f.a, f.b);
      const int64_t expected = f.function(f.a, f.b);
      const uint64_t total = run(f.function, f.a, f.b).executed;
      for (uint64_t n = 1; n <= total; n += n < 100 ? 1 : n / 3) {
        const Outcome once = run(f.function, f.a, f.b, n), again = run(f.function, f.a, f.b, n);
        bool same = once.result == expected && again.result == expected && once.executed == total;
        same = same && again.executed == total && once.places_digest == again.places_digest &&
               !once.was_native;
        same = same && (f.uses_heap || once.registers_digest == again.registers_digest);
        same = same && once.places + 1 >= total / std::max<uint64_t>(n, kMaxInstructions);
        if (same) continue;
        printf("%s, %lu at a time: %ld %ld, expected %ld; %lu %lu of %lu, %lu %lu places\n", f.name,
               n, once.result, again.result, expected, once.executed, again.executed, total,
               once.places, again.places);
        good = false;
        break;
      }
    }
    return good;
  }));
}

TEST(CountTest, WhereACountEndsDoesNotDependOnTheCache) {
  EXPECT_TRUE(test::in_child([] {
    bool good = true;
    for (auto& f : kFunctions) {
      if (kSanitized && f.calls_libraries) continue;
      prepare(f.function, f.a, f.b);
      for (uint64_t n : {1, 7, 63, 64, 65, 500}) {
        on_patched_text();  // empties the cache
        const Outcome cold = run(f.function, f.a, f.b, n), warm = run(f.function, f.a, f.b, n);
        test::flushes = true;
        const Outcome emptied = run(f.function, f.a, f.b, n);
        test::flushes = false;
        on_patched_text();
        run(f.function, f.a, f.b);  // blocks are made in another order, and linked otherwise
        const Outcome other = run(f.function, f.a, f.b, n);
        for (const Outcome* outcome : {&warm, &emptied, &other}) {
          if (outcome->places_digest == cold.places_digest && outcome->executed == cold.executed &&
              outcome->result == cold.result)
            continue;
          printf("%s, %lu at a time: other places\n", f.name, n);
          good = false;
        }
      }
    }
    return good;
  }));
}

// weir_count_low in a page at `at` does the same there.
bool does_the_same_at(uint64_t at, int flags) {
  void* page = mmap(reinterpret_cast<void*>(at), 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                    MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  if (page == MAP_FAILED) return false;
  const auto start = reinterpret_cast<uint64_t>(page);
  const auto* code = reinterpret_cast<const char*>(weir_count_low);
  memcpy(page, code, static_cast<size_t>(weir_count_low_end - code));
  note_text({start, start + 4096});
  const auto function = reinterpret_cast<Function>(page);
  const int64_t expected = function(1234567, 89);
  const Outcome got = run(function, 1234567, 89);
  const bool there = at != 0 ? start == at : start < 0x80000000;
  return there && got.result == expected && !got.was_native &&
         got.executed == test::steps_of(page, 1234567, 89);
}

TEST(CountTest, AddressesMayBeShort) {
  EXPECT_TRUE(test::in_child([] { return does_the_same_at(0, MAP_32BIT); }));
}

TEST(CountTest, TextMayLieNearTheCache) {
  EXPECT_TRUE(test::in_child([] {
    constexpr uint64_t kCode = weir::kCountCode, kGigabyte = uint64_t{1} << 30, kPage = 4096;
    bool good = true;
    // The last two: hardly near enough, hardly too far.
    for (uint64_t at :
         {kCode - kGigabyte, kCode - 2 * kGigabyte + (1 << 20), kCode - 2 * kGigabyte - kPage}) {
      good = good && does_the_same_at(at, MAP_FIXED_NOREPLACE);
    }
    return good;
  }));
}

// As under weir det: the program's own text and data lie near the cache.
TEST(CountTest, ProgramsMayLieNearTheCache) {
  const pid_t child = fork();
  if (child == 0) {
    personality(ADDR_NO_RANDOMIZE);
    execl("/proc/self/exe", "unit_tests",
          "--gtest_filter=CountTest.CountedFunctionsDoTheSame:"
          "CountTest.WideVectorsKeepTheirOperands:CountChangeTest.FaultsAreThoseOfTheProgram",
          nullptr);
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(CountTest, WideVectorsKeepTheirOperands) {
  if (!__builtin_cpu_supports("avx512f")) GTEST_SKIP();
  EXPECT_TRUE(test::in_child([] {
    const int64_t expected = weir_count_wide_vectors(0x123456789abcdef, -5);
    const Outcome got = run(weir_count_wide_vectors, 0x123456789abcdef, -5);
    return got.result == expected && !got.was_native;
  }));
}

// So that a loop that waits comes to the end of its count in less time than one that computes.
TEST(CountTest, APauseCountsForTheTimeThatItTakes) {
  const uint8_t pause[] = {0xf3, 0x90}, nop[] = {0x90}, exchange[] = {0xf3, 0x49, 0x90};
  const auto weight = [](const uint8_t* code, size_t size) {
    weir::Shape shape;
    EXPECT_TRUE(weir::read_shape(code, size, shape));
    return weir::translate::weight_of(shape, code, weir::flow_of(shape), 0);
  };
  EXPECT_EQ(weight(pause, sizeof pause), weir::translate::kPauseWeight);
  EXPECT_EQ(weight(nop, sizeof nop), 1u);
  EXPECT_EQ(weight(exchange, sizeof exchange), 1u);
}

}  // namespace
