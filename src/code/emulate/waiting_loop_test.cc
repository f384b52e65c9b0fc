#include "code/emulate/waiting_loop_x86_64.h"

#include <gtest/gtest.h>

#include <cstring>

#include "code/emulate/loop_walk_x86_64.h"

namespace weir {
namespace {

// Loops as programs have them: rdi is the address of a word, rsi what it is compared with.
asm(R"(
.pushsection .text
waiting_loop_nops:
  mov (%rdi), %rax
  test %rax, %rax
  jne 1f
  nop; nop; pause
  jmp waiting_loop_nops
1: ret
waiting_loop_compare:
  lfence
  movzbl (%rdi), %ecx
  and $0x7f, %ecx
  movslq 8(%rdi), %rdx
  xor %r8d, %r8d
  cmp %esi, %ecx
  jl waiting_loop_compare
  ret
waiting_loop_counts:
  add $1, %rcx
  cmpl $0, (%rdi)
  je waiting_loop_counts
  ret
waiting_loop_counts_32:
  add $1, %ecx
  cmpl $0, (%rdi)
  je waiting_loop_counts_32
  ret
waiting_loop_gives_up:  # after rcx rounds
  cmp %rsi, (%rdi)
  je 1f
  pause
  dec %rcx
  jne waiting_loop_gives_up
1: ret
waiting_loop_up_to:  # rdx rounds, as long ones, signed
  xor %ecx, %ecx
2: cmpl $0, (%rdi)
  jne 1f
  pause
  add $3, %rcx
  cmp %rdx, %rcx
  jl 2b
1: ret
waiting_loop_pauses:  # looks at the word after 1000 pauses
  mov $1000, %eax
3: pause
  sub $1, %eax
  jne 3b
  cmpl $0, (%rdi)
  je waiting_loop_pauses
  ret
waiting_loop_backs_off:  # as compilers have it: ever longer pauses, up to 512
  mov $1, %edx
4: mov (%rdi), %eax
  cmp %eax, %esi
  je 1f
  xor %eax, %eax
5: pause
  add $1, %eax
  cmp %edx, %eax
  jne 5b
  lea (%rdx,%rdx,1), %eax
  lea -8(%r8,%r9,4), %r10
  cmp $512, %edx
  cmovl %eax, %edx
  jmp 4b
1: ret
waiting_loop_computes:
  imul $3, %rcx, %rcx
  dec %rdx
  jne waiting_loop_computes
  ret
waiting_loop_stores:
  mov %rsi, 16(%rdi)
  cmpl $0, (%rdi)
  je waiting_loop_stores
  ret
waiting_loop_counts_own:
  addq $1, 24(%rdi)
  cmpl $0, (%rdi)
  je waiting_loop_counts_own
  ret
waiting_loop_on_stack:  # two counters there, and a function that looks
  jmp 6f
7: subq $1, -8(%rbp)
  cmpq $0, -8(%rbp)
  je 1f
  addq $2, -16(%rbp)
6: mov -24(%rbp), %rax
  mov %rax, %rdi
  call waiting_loop_look
  cmp %eax, -28(%rbp)
  jne 7b
1: ret
waiting_loop_look:
  push %rbp
  mov %rsp, %rbp
  mov %rdi, -8(%rbp)
  mov -8(%rbp), %rax
  mov (%rax), %eax
  pop %rbp
  ret
waiting_loop_pauses_on_stack:
  movl $0, -4(%rbp)
  jmp 9f
8: pause
  addl $1, -4(%rbp)
9: cmpl $999, -4(%rbp)
  jle 8b
  mov -24(%rbp), %rax
  mov (%rax), %eax
  cmp %eax, -28(%rbp)
  jne waiting_loop_pauses_on_stack
  ret
.popsection
)");
extern "C" const char waiting_loop_nops[], waiting_loop_compare[], waiting_loop_counts[],
    waiting_loop_counts_32[], waiting_loop_gives_up[], waiting_loop_up_to[], waiting_loop_pauses[],
    waiting_loop_backs_off[], waiting_loop_computes[], waiting_loop_stores[],
    waiting_loop_counts_own[], waiting_loop_on_stack[], waiting_loop_look[],
    waiting_loop_pauses_on_stack[];

bool load(uint64_t address, uint64_t size, uint64_t* value) {
  *value = 0;
  if (address < 4096) return false;
  std::memcpy(value, reinterpret_cast<const void*>(address), size);
  return true;
}

// What is_own() answers for.
uint64_t g_own;
bool is_own(uint64_t address, uint64_t size) {
  return address >= g_own && address + size <= g_own + sizeof(uint64_t);
}

bool comes_back(const Registers& from, WaitingLoop& found) {
  return find_waiting_loop(from, 0, load, is_own, found) == LoopKind::kWaits;
}

struct WaitingLoopTest : ::testing::Test {
  // Whether the loop at `code` waits, from wherever one of its first passes may have been met.
  bool waits(const char* code) {
    Registers from;
    from.rip = reinterpret_cast<uint64_t>(code);
    from.general[kRdi] = reinterpret_cast<uint64_t>(words);
    from.general[kRsi] = 5;
    WaitingLoop first;
    // Once round, so that the registers hold what the loop leaves in them.
    if (comes_back(from, first)) return found = first, true;
    from.rflags = 0x44;  // zero, even parity: of a comparison with zero
    if (comes_back(from, first)) return found = first, true;
    from.rflags = 0x81 | 0x10;  // of 0 - 5
    for (const uint64_t parity : {0u, 4u}) {
      from.rflags = (from.rflags & ~uint64_t{4}) | parity;
      if (comes_back(from, first)) return found = first, true;
    }
    return false;
  }
  alignas(8) uint64_t words[4] = {};
  WaitingLoop found = {};
};

TEST_F(WaitingLoopTest, ALoopThatOnlyReadsIsFound) {
  ASSERT_TRUE(waits(waiting_loop_nops));
  ASSERT_EQ(found.read_count, 1u);
  EXPECT_EQ(found.read[0].address, reinterpret_cast<uint64_t>(words));
  EXPECT_EQ(found.read[0].size, 8u);
  EXPECT_EQ(found.read[0].value, 0u);
  EXPECT_EQ(found.place.rip, reinterpret_cast<uint64_t>(waiting_loop_nops));
  ASSERT_TRUE(waits(waiting_loop_compare));
  EXPECT_EQ(found.read_count, 2u);
}

TEST_F(WaitingLoopTest, WhereItIsMetMakesNoDifference) {
  ASSERT_TRUE(waits(waiting_loop_nops));
  const Registers smallest = found.place;
  Registers inside = smallest;
  inside.rip += 3;  // behind the load
  ASSERT_TRUE(comes_back(inside, found));
  EXPECT_EQ(found.place, smallest);
}

TEST_F(WaitingLoopTest, ALoopThatEndsIsNone) {
  words[0] = 1;
  EXPECT_FALSE(waits(waiting_loop_nops));
  words[0] = 6;
  EXPECT_FALSE(waits(waiting_loop_compare));
}

TEST_F(WaitingLoopTest, WhatChangesMemoryThatIsNotOwnIsNone) {
  EXPECT_FALSE(waits(waiting_loop_stores));
}

TEST_F(WaitingLoopTest, WhatIsStoredInOwnMemoryIsWrittenAtThePlace) {
  g_own = reinterpret_cast<uint64_t>(&words[2]);
  words[2] = 5;  // of an earlier round
  ASSERT_TRUE(waits(waiting_loop_stores));
  g_own = 0;
  ASSERT_EQ(found.write_count, 1u);
  EXPECT_EQ(found.write[0].address, reinterpret_cast<uint64_t>(&words[2]));
  EXPECT_EQ(found.write[0].value, 5u);
}

// --- loops that count

struct CountingLoopTest : WaitingLoopTest {
  CountingLoopTest() {
    from.general[kRdi] = reinterpret_cast<uint64_t>(words);
    from.general[kRsi] = 5;
  }
  LoopKind find(const char* code) {
    from.rip = reinterpret_cast<uint64_t>(code);
    return find_waiting_loop(from, 0, load, is_own, found);
  }
  // From there on, until it leaves the loop or for `steps`; where it is then.
  Registers walked(Registers at, const Registers& until, uint64_t steps) {
    LoopWalk walk(at, 0, load, is_own);
    for (uint64_t i = 0; i < steps && !(walk.state == until); i++) EXPECT_TRUE(walk.step());
    return walk.state;
  }
  Registers from;
};

TEST_F(CountingLoopTest, RoundsThatCanBeForeseenArePassedOver) {
  from.general[kRcx] = 20'000;
  ASSERT_EQ(find(waiting_loop_gives_up), LoopKind::kPasses);
  EXPECT_EQ(found.place.general[kRcx], 2u);  // one is left that goes on, and one that leaves
  EXPECT_EQ(walked(from, found.place, 500'000), found.place);

  from.general[kRcx] = ~uint64_t{0};
  from.general[kRdx] = 60'001;
  ASSERT_EQ(find(waiting_loop_up_to), LoopKind::kPasses);
  EXPECT_GT(found.place.general[kRcx], 59'990u);
  EXPECT_EQ(walked(from, found.place, 500'000), found.place);
}

TEST_F(CountingLoopTest, NoStateIsLeftOutWhereItIsMetLater) {
  from.general[kRcx] = 20'000;
  ASSERT_EQ(find(waiting_loop_gives_up), LoopKind::kPasses);
  const Registers first = found.place;
  LoopWalk walk(from, 0, load, is_own);
  for (int i = 0; i < 1'003; i++) ASSERT_TRUE(walk.step());
  from = walk.state;
  ASSERT_EQ(find_waiting_loop(from, 0, load, is_own, found), LoopKind::kPasses);
  EXPECT_EQ(found.place, first);
}

TEST_F(CountingLoopTest, AShortPauseInALoopThatWaitsIsNoMatter) {
  const Registers begin = from;
  ASSERT_EQ(find(waiting_loop_pauses), LoopKind::kWaits);
  const Registers place = found.place;
  EXPECT_EQ(found.read_count, 1u);
  LoopWalk walk(begin, 0, load, is_own);
  walk.state.rip = from.rip;
  uint64_t met = 0;
  for (int i = 0; i < 9'000; i++) {
    ASSERT_TRUE(walk.step());
    const LoopKind kind = find_waiting_loop(walk.state, 0, load, is_own, found);
    if (i < 4'000 || kind != LoopKind::kWaits) continue;
    met++;
    ASSERT_EQ(found.place, place) << i;
  }
  EXPECT_GT(met, 4'900u);
}

TEST_F(CountingLoopTest, PausesMayBecomeLonger) {
  Registers place;
  from.general[kR8] = 100;
  from.general[kR9] = 7;
  from.rip = reinterpret_cast<uint64_t>(waiting_loop_backs_off);
  LoopWalk walk(from, 0, load, is_own);
  for (int i = 0; i < 20'000; i++) {
    ASSERT_TRUE(walk.step());
    if (i < 8'000 || i % 7) continue;
    const LoopKind kind = find_waiting_loop(walk.state, 0, load, is_own, found);
    ASSERT_NE(kind, LoopKind::kNone) << i;
    if (kind != LoopKind::kWaits) continue;
    if (!place.rip) place = found.place;
    ASSERT_EQ(found.place, place) << i;
    ASSERT_EQ(place.general[kR10], 120u);
  }
  EXPECT_EQ(place.general[kRdx], 512u);
}

TEST_F(CountingLoopTest, WhatCountsForEverWaitsAtOnePlace) {
  ASSERT_EQ(find(waiting_loop_counts), LoopKind::kCounts);
  const Registers place = found.place;
  EXPECT_EQ(place.general[kRcx], ~uint64_t{0} - 1);
  EXPECT_EQ(place.rip, from.rip);
  EXPECT_FALSE(found.ends);
  EXPECT_EQ(found.read_count, 1u);
  LoopWalk walk(from, 0, load, is_own);
  for (int i = 0; i < 50; i++) {
    ASSERT_TRUE(walk.step());
    ASSERT_EQ(find_waiting_loop(walk.state, 0, load, is_own, found), LoopKind::kCounts);
    ASSERT_EQ(found.place, place) << i;
  }
  from.general[kRcx] = 7;
  ASSERT_EQ(find(waiting_loop_counts_32), LoopKind::kCounts);
  EXPECT_EQ(found.place.general[kRcx], 0xfffffffe);
}

TEST_F(CountingLoopTest, ACountOfMinutesIsAWaitThatEnds) {
  from.general[kRcx] = 30'000'000'000;
  ASSERT_EQ(find(waiting_loop_gives_up), LoopKind::kCounts);
  EXPECT_TRUE(found.ends);
  const Registers place = found.place;
  EXPECT_EQ(place.general[kRcx], 2u);
  from.general[kRcx] = 29'999'999'000;
  from.rflags = 0x10;
  ASSERT_EQ(find(waiting_loop_gives_up), LoopKind::kCounts);
  EXPECT_EQ(found.place, place);
}

TEST_F(CountingLoopTest, WhatCountsInOwnMemoryWaitsAtOnePlace) {
  g_own = reinterpret_cast<uint64_t>(&words[3]);
  ASSERT_EQ(find(waiting_loop_counts_own), LoopKind::kCounts);
  const WaitingLoop first = found;
  EXPECT_FALSE(found.ends);
  ASSERT_EQ(found.write_count, 1u);
  EXPECT_GE(found.write[0].value, ~uint64_t{0} - 1);
  words[3] = 12'345;  // as it is some rounds later
  from.rflags = 0x10;
  ASSERT_EQ(find(waiting_loop_counts_own), LoopKind::kCounts);
  g_own = 0;
  EXPECT_EQ(found.place, first.place);
  EXPECT_EQ(found.write[0].value, first.write[0].value);
}

TEST_F(CountingLoopTest, WhatIsMultipliedIsNotForeseen) {
  from.general[kRdx] = 1'000'000;
  EXPECT_EQ(find(waiting_loop_computes), LoopKind::kNone);
}

// --- loops that count on their stack

struct StackLoopTest : CountingLoopTest {
  StackLoopTest() {
    from.general[kRsp] = reinterpret_cast<uint64_t>(&stack[16]);
    from.general[kRbp] = reinterpret_cast<uint64_t>(&stack[24]);
    stack[21] = reinterpret_cast<uint64_t>(words);
    stack[20] = uint64_t{5} << 32;  // what the word is compared with
  }
  // What is written there, at the found place.
  uint64_t written(uint64_t* at) {
    for (size_t i = 0; i < found.write_count; i++)
      if (found.write[i].address == reinterpret_cast<uint64_t>(at)) return found.write[i].value;
    ADD_FAILURE();
    return 0;
  }
  uint64_t stack[32] = {};
};

TEST_F(StackLoopTest, RoundsArePassedOver) {
  stack[23] = 20'000;
  stack[22] = 7;
  ASSERT_EQ(find(waiting_loop_on_stack), LoopKind::kPasses);
  const uint64_t left = written(&stack[23]);
  EXPECT_LT(left, 10u);
  EXPECT_EQ(written(&stack[22]), 7 + 2 * (20'000 - left));
  EXPECT_EQ(stack[23], 20'000u);
}

TEST_F(StackLoopTest, ACountOfMinutesWaitsAtOnePlace) {
  stack[23] = 30'000'000'000;
  ASSERT_EQ(find(waiting_loop_on_stack), LoopKind::kCounts);
  EXPECT_TRUE(found.ends);
  const WaitingLoop first = found;
  bool looks = false;
  for (size_t i = 0; i < found.read_count; i++) {
    looks |= found.read[i].address == reinterpret_cast<uint64_t>(words);
    EXPECT_NE(found.read[i].address, reinterpret_cast<uint64_t>(&stack[23]));
  }
  EXPECT_TRUE(looks);
  stack[23] -= 1000;
  stack[22] += 2000;
  from.rflags = 0x10;
  ASSERT_EQ(find(waiting_loop_on_stack), LoopKind::kCounts);
  EXPECT_EQ(found.place, first.place);
  const uint64_t left = written(&stack[23]), done = written(&stack[22]);
  EXPECT_LT(left, 10u);
  EXPECT_EQ(done, 2 * (30'000'000'000 - left));
}

TEST_F(StackLoopTest, APauseInALoopThatWaitsIsNoMatter) {
  ASSERT_EQ(find(waiting_loop_pauses_on_stack), LoopKind::kWaits);
  const WaitingLoop first = found;
  EXPECT_EQ(found.place.rip, from.rip);
  stack[23] = uint64_t{400} << 32;
  from.rip = reinterpret_cast<uint64_t>(waiting_loop_pauses_on_stack) + 9;  // at the pause
  ASSERT_EQ(find_waiting_loop(from, 0, load, is_own, found), LoopKind::kWaits);
  EXPECT_EQ(found.place.rip, first.place.rip);
}

TEST_F(StackLoopTest, WhatIsFarFromTheStackPointerIsNone) {
  stack[23] = 20'000;
  from.general[kRsp] -= 65536;
  EXPECT_EQ(find(waiting_loop_on_stack), LoopKind::kNone);
}

}  // namespace
}  // namespace weir
