#include "code/decode/flags.h"

#include <gtest/gtest.h>
#include <stdio.h>
#include <string.h>

#include <algorithm>

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

}  // namespace
