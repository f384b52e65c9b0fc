#include "code/decode/flags.h"

#include <gtest/gtest.h>
#include <stdio.h>
#include <string.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/test_libraries.h"

namespace {

using namespace weir;

struct Counts {
  size_t instructions = 0, wrong = 0;
};

void compare(const uint8_t* code, size_t size, Counts& counts) {
  for (size_t at = 0; at + 16 < size;) {
    Shape shape;
    if (!read_shape(code + at, 15, shape)) {
      at++;
      continue;
    }
    const FlagEffect quick = flag_effect(shape, code + at),
                     slow = decoded_flag_effect(shape, code + at);
    if (slow.written == 0 && slow.read == kEveryFlag) {  // the decoder does not know it
      at += shape.length;
      continue;
    }
    counts.instructions++;
    if (quick.read != slow.read || quick.written != slow.written) {
      if (counts.wrong++ < 20) {
        printf("read %x, decoded %x; written %x, decoded %x:", quick.read, slow.read, quick.written,
               slow.written);
        for (unsigned i = 0; i < shape.length; i++) printf(" %02x", code[at + i]);
        printf("\n");
      }
    }
    at += shape.length;
  }
}

TEST(FlagsTest, QuickAnswersAreTheDecoders) {
  Counts counts;
  for (const Library& library : loaded_libraries()) {
    compare(reinterpret_cast<const uint8_t*>(library.text.start),
            std::min<size_t>(library.text.size(), 1'000'000), counts);
  }
  EXPECT_EQ(counts.wrong, 0u);
  EXPECT_GT(counts.instructions, 300'000u);
}

// Against the processor: setcc of each condition, for all values of the status flags.
template <unsigned kCode>
bool by_processor(uint64_t flags) {
  uint8_t is_set;
  asm volatile("sub $128,%%rsp\n\tpush %1\n\tpopf\n\t.byte 0x0f,%c2,0xc0\n\tadd $128,%%rsp"
               : "=a"(is_set)
               : "r"(flags), "i"(0x90 + kCode)
               : "cc", "memory");
  return is_set;
}

template <unsigned... kCodes>
unsigned count_wrong(uint64_t flags, std::integer_sequence<unsigned, kCodes...>) {
  return (... + unsigned{condition_holds(kCodes, flags) != by_processor<kCodes>(flags)});
}

TEST(FlagsTest, ConditionsAreTheProcessors) {
  constexpr uint64_t kAlways = 0x202;
  for (uint64_t flags = 0; flags < 0x1000; flags++) {
    if (flags & ~uint64_t{kEveryFlag}) continue;
    EXPECT_EQ(count_wrong(flags | kAlways, std::make_integer_sequence<unsigned, 16>()), 0u)
        << flags;
  }
}

bool leaves_unread(const std::vector<uint8_t>& text, size_t offset = 0) {
  return leaves_flags_unread(text.data(), text.size(), offset);
}

TEST(FlagsTest, FlagsThatAreWrittenAnewOrLeftBehindAreUnread) {
  EXPECT_TRUE(leaves_unread({0xc3}));                                // ret
  EXPECT_TRUE(leaves_unread({0x8b, 0x07, 0xe8, 0, 0, 0, 0}));        // mov; call
  EXPECT_TRUE(leaves_unread({0x83, 0xc0, 0x01, 0x74, 0x00}));        // add; je
  EXPECT_TRUE(leaves_unread({0x85, 0xc0, 0x0f, 0x94, 0xc0, 0xc3}));  // test; sete
  EXPECT_TRUE(leaves_unread({0xeb, 0x01, 0x9c, 0xc3}));              // jmp over pushf
  EXPECT_TRUE(leaves_unread({0xc3, 0x90, 0xeb, 0xfc}, 1));           // nop; jmp back to ret
}

TEST(FlagsTest, FlagsThatMayBeReadAreNotUnread) {
  EXPECT_FALSE(leaves_unread({0x74, 0x00, 0xc3}));              // je
  EXPECT_FALSE(leaves_unread({0x0f, 0x94, 0xc0, 0xc3}));        // sete
  EXPECT_FALSE(leaves_unread({0x0f, 0x44, 0xc1, 0xc3}));        // cmove
  EXPECT_FALSE(leaves_unread({0x83, 0xd0, 0x00, 0xc3}));        // adc
  EXPECT_FALSE(leaves_unread({0x9c, 0xc3}));                    // pushf
  EXPECT_FALSE(leaves_unread({0xff, 0xc0, 0x72, 0x00, 0xc3}));  // inc leaves the carry; jc
  EXPECT_FALSE(leaves_unread({0xeb, 0x00, 0x75, 0x00, 0xc3}));  // jmp; jne
  EXPECT_FALSE(leaves_unread({0xe3, 0x00, 0xc3}));              // jrcxz: not followed
  EXPECT_FALSE(leaves_unread({0xff, 0xe0}));                    // jmp *%rax
}

TEST(FlagsTest, WhatCannotBeSeenMayReadFlags) {
  EXPECT_FALSE(leaves_unread({0x90}));        // the text ends
  EXPECT_FALSE(leaves_unread({0xeb, 0x70}));  // out of it
  EXPECT_FALSE(leaves_unread({0xeb, 0x80}));  // before it
  EXPECT_FALSE(leaves_unread({0xeb, 0xfe}));  // for ever
  EXPECT_FALSE(leaves_unread({0xcc, 0xc3}));  // a trap, Weir's perhaps
  EXPECT_FALSE(leaves_unread({0x06, 0xc3}));  // no instruction
  EXPECT_FALSE(leaves_unread({0xc3}, 1));
}

}  // namespace
