#include "heap/guard/call_stack.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <string.h>

#include <string>

namespace weir::guard {
namespace {

bool copy(void* to, uint64_t from, uint64_t size) {
  memcpy(to, reinterpret_cast<const void*>(from), size);
  return true;
}

#define STANDING_HERE                                                    \
  (Standing{reinterpret_cast<uint64_t>(__builtin_return_address(0)),     \
            reinterpret_cast<uint64_t>(__builtin_frame_address(0)) + 16, \
            *static_cast<uint64_t*>(__builtin_frame_address(0))})

[[gnu::noinline]] void take_stack(CallStack& stack) {
  find_calls(STANDING_HERE, false, stack, copy);
}

[[gnu::noinline]] int call(int depth, CallStack& stack) {
  if (depth == 0) take_stack(stack);
  else call(depth - 1, stack);
  asm volatile("" ::: "memory");  // no tail call
  return depth;
}

// Its frame is as large as its argument says: the table has rbp as base.
[[gnu::noinline]] int call_with_room(size_t size, CallStack& stack) {
  volatile char* const room = static_cast<char*>(__builtin_alloca(size));
  room[0] = 1;
  take_stack(stack);
  return room[0];
}

TEST(CallStack, FollowsFramesWithoutFramePointers) {
  CallStack stack;
  call(5, stack);
  ASSERT_GE(stack.count, 7u);
  for (uint32_t i = 1; i < 5; i++) EXPECT_EQ(stack.at[i], stack.at[i + 1]) << i;
  EXPECT_NE(stack.at[0], stack.at[1]);
}

TEST(CallStack, FollowsAFrameOfRunTimeSize) {
  CallStack few, many;
  call_with_room(16, few);
  call_with_room(5000, many);
  ASSERT_GE(few.count, 3u);
  ASSERT_EQ(few.count, many.count);
  EXPECT_EQ(few.at[0], many.at[0]);
  for (uint32_t i = 2; i < few.count; i++) EXPECT_EQ(few.at[i], many.at[i]);
}

TEST(CallStack, GoesThroughALibrary) {
  static CallStack stack;
  int numbers[] = {2, 1};
  qsort(numbers, 2, sizeof *numbers, [](const void* a, const void* b) {
    take_stack(stack);
    return *static_cast<const int*>(a) - *static_cast<const int*>(b);
  });
  ASSERT_GE(stack.count, 3u);
  const Text* const library = text_at(stack.at[1], copy);
  ASSERT_NE(library, nullptr);
  EXPECT_NE(std::string(library->name).find("libc"), std::string::npos);
  const Text* const program = text_at(stack.at[0], copy);
  ASSERT_NE(program, nullptr);
  EXPECT_STREQ(program->name, "");
}

TEST(CallStack, EndsWhereItIsFull) {
  CallStack stack;
  call(40, stack);
  EXPECT_EQ(stack.count, CallStack::kMax);
}

TEST(CallStack, EndsWhereNoFileIsLoaded) {
  CallStack stack;
  uint64_t words[4] = {};
  find_calls({reinterpret_cast<uint64_t>(words), reinterpret_cast<uint64_t>(words), 0}, false,
             stack, copy);
  EXPECT_EQ(stack.count, 1u);
}

TEST(CallStack, EndsWhereTheStackCannotBeRead) {
  CallStack stack;
  Standing here = STANDING_HERE;
  find_calls(here, false, stack, [](void* to, uint64_t from, uint64_t size) {
    uint64_t local;
    const auto near = reinterpret_cast<uint64_t>(&local);
    if (from - (near - (1 << 20)) < 2 << 20) return false;
    return copy(to, from, size);
  });
  EXPECT_EQ(stack.count, 1u);
}

TEST(CallStack, FindsTextsAgainWhenTheyWereForgotten) {
  const auto address = reinterpret_cast<uint64_t>(&take_stack);
  ASSERT_NE(text_at(address, copy), nullptr);
  forget_texts();
  const Text* const text = text_at(address, copy);
  ASSERT_NE(text, nullptr);
  EXPECT_TRUE(text->range.contains(address));
  EXPECT_NE(text->table, 0u);
}

}  // namespace
}  // namespace weir::guard
