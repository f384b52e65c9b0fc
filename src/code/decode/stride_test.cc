#include "code/decode/stride.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <string.h>

#include <random>
#include <vector>

#include "base/test_libraries.h"
#include "code/decode/shape.h"

namespace {

using namespace weir;

// What read_stride() promises, in terms of read_shape().
bool agrees(const uint8_t* code, const Stride& stride) {
  Shape shape;
  if (!read_shape(code, 15, shape) || shape.length != stride.length) return false;
  Flow flow = flow_of(shape);
  bool direct = flow == Flow::kJump || flow == Flow::kConditional || flow == Flow::kCall;
  if (flow == Flow::kLoop ||
      direct != ((stride.what & (Stride::kShortBranch | Stride::kNearBranch)) != 0))
    return false;
  if (direct) {
    unsigned size = stride.what & Stride::kShortBranch ? 1 : 4;
    if (shape.immediate_size != size || shape.immediate_at + size != stride.length) return false;
  }
  if (never_continues(flow) != ((stride.what & Stride::kEnds) != 0)) return false;
  bool one_byte = shape.map == OpcodeMap::kOneByte && !shape.is_vector;
  bool two_byte = shape.map == OpcodeMap::k0F && !shape.is_vector;
  bool address = one_byte && shape.opcode == 0x8d && shape.is_rip_relative();
  if (address != ((stride.what & Stride::kAddress) != 0)) return false;
  if (address && shape.displacement_at + 4 != stride.length) return false;
  if (one_byte && shape.mod() == 0 && shape.rm() == 4 && shape.displacement_size == 4 &&
      code[shape.displacement_at - 1] >= 0xc0) {
    return false;
  }
  bool xchg = one_byte && (shape.opcode == 0x86 || shape.opcode == 0x87);
  bool special =
      two_byte && (shape.opcode == 0x01 || shape.opcode == 0x05 || shape.opcode == 0x1e ||
                   shape.opcode == 0x31 || shape.opcode == 0x34 || shape.opcode == 0xa2 ||
                   shape.opcode == 0xae || (shape.opcode == 0xc7 && shape.mod() == 3));
  return !shape.has_lock && !xchg && !special;
}

TEST(StrideTest, AgreesWithTheShapeOnRealLibraries) {
  struct Counts {
    size_t instructions = 0, known = 0, wrong = 0;
  } counts;
  for (const Library& library : loaded_libraries()) {
    if (library.text.size() < 64) continue;
    const auto* code = reinterpret_cast<const uint8_t*>(library.text.start);
    size_t size = std::min<size_t>(library.text.size(), 1'500'000) - kStrideReads;
    for (size_t at = 0; at < size;) {
      Stride stride;
      Shape shape;
      counts.instructions++;
      if (read_stride(code + at, stride)) {
        counts.known++;
        if (!agrees(code + at, stride) && counts.wrong++ < 5)
          printf("%s +%zx\n", library.name.c_str(), at);
        at += stride.length;
      } else {
        at += read_shape(code + at, size - at, shape) ? shape.length : 1;
      }
    }
  }
  EXPECT_EQ(counts.wrong, 0u);
  EXPECT_GT(counts.instructions, 200'000u);
  EXPECT_GT(counts.known * 100, counts.instructions * 90)
      << "the sweep is as fast as this is large";
}

TEST(StrideTest, AgreesWithTheShapeOnRandomBytes) {
  std::mt19937_64 random(11);
  const uint8_t often[] = {0x0f, 0x66, 0xf2, 0xf3, 0x48, 0x41, 0x64, 0x2e,
                           0xc5, 0xc4, 0x62, 0x8d, 0xff, 0xf7, 0xf0};
  size_t known = 0, wrong = 0;
  for (int i = 0; i < 3'000'000; i++) {
    std::vector<uint8_t> code(
        kStrideReads);  // exactly as long as announced: the sanitizer sees every read beyond
    uint64_t bits[2] = {random(), random()};
    memcpy(code.data(), bits, sizeof bits);
    uint64_t choice = random();
    for (unsigned k = 0; k < 4 && (choice & 1); k++, choice >>= 5)
      code[k] = often[(choice >> 1) % sizeof often];
    Stride stride;
    if (!read_stride(code.data(), stride)) continue;
    known++;
    if (!agrees(code.data(), stride) && wrong++ < 5)
      printf("%s\n", testing::PrintToString(code).c_str());
  }
  EXPECT_EQ(wrong, 0u);
  EXPECT_GT(known, 1'000'000u);
}

}  // namespace
