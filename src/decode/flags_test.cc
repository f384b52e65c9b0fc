#include "decode/flags.h"

#include <gtest/gtest.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include <algorithm>

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
    const FlagEffect quick = flag_effect(shape, code + at), slow = decoded_flag_effect(shape, code + at);
    if (slow.written == 0 && slow.read == kEveryFlag) {  // the decoder does not know it
      at += shape.length;
      continue;
    }
    counts.instructions++;
    if (quick.read != slow.read || quick.written != slow.written) {
      if (counts.wrong++ < 20) {
        printf("read %x, decoded %x; written %x, decoded %x:", quick.read, slow.read, quick.written, slow.written);
        for (unsigned i = 0; i < shape.length; i++) printf(" %02x", code[at + i]);
        printf("\n");
      }
    }
    at += shape.length;
  }
}

TEST(FlagsTest, QuickAnswersAreTheDecoders) {
  Counts counts;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        if (strstr(info->dlpi_name, "vdso") != nullptr) return 0;
        for (int i = 0; i < info->dlpi_phnum; i++) {
          const ElfW(Phdr)& segment = info->dlpi_phdr[i];
          if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X)) continue;
          compare(reinterpret_cast<const uint8_t*>(info->dlpi_addr + segment.p_vaddr),
                  std::min<size_t>(segment.p_memsz, 1'000'000), *static_cast<Counts*>(data));
        }
        return 0;
      },
      &counts);
  EXPECT_EQ(counts.wrong, 0u);
  EXPECT_GT(counts.instructions, 300'000u);
}

}  // namespace
