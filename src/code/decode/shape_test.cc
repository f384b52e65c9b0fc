#include "code/decode/shape.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <string.h>

#include <random>
#include <vector>

#include "base/test_libraries.h"
#include "code/decode/decoder.h"

namespace {

using namespace weir;

std::vector<uint8_t> bytes(std::initializer_list<int> list) { return {list.begin(), list.end()}; }

// Every instruction of every library of this process: lengths and branch targets as the real
// decoder sees them.
TEST(ShapeTest, AgreesWithTheDecoderOnRealLibraries) {
  struct Counts {
    size_t instructions = 0, different = 0;
  } counts;
  for (const Library& library : loaded_libraries()) {
    const auto* code = reinterpret_cast<const uint8_t*>(library.text.start);
    size_t size = std::min<size_t>(library.text.size(), 400'000);
    for (size_t at = 0; at < size;) {
      Instruction instruction;
      Shape shape;
      uint64_t address = reinterpret_cast<uint64_t>(code) + at;
      bool known = decode_bytes(code + at, size - at, address, instruction);
      bool shaped = read_shape(code + at, size - at, shape);
      if (!known) {  // alignment between functions, perhaps: the shape may be more lenient
        at++;
        continue;
      }
      counts.instructions++;
      bool same = shaped && shape.length == instruction.length;
      if (same && instruction.has_target) {
        same =
            flow_of(shape) != Flow::kNext &&
            address + shape.length + static_cast<uint64_t>(branch_displacement(shape, code + at)) ==
                instruction.target;
      } else if (same && instruction.is_return) {
        same = flow_of(shape) == Flow::kReturn;
      }
      if (!same && counts.different++ < 5) printf("%s +%zx\n", library.name.c_str(), at);
      at += instruction.length;
    }
  }
  EXPECT_GT(counts.instructions, 50'000u);
  EXPECT_EQ(counts.different, 0u);
}

TEST(ShapeTest, PartsLieWhereTheyShould) {
  Shape shape;
  auto code = bytes({0xf0, 0x48, 0x83, 0x88, 0x88, 0x04, 0, 0, 1});  // lock orq $1,0x488(%rax)
  ASSERT_TRUE(read_shape(code.data(), code.size(), shape));
  EXPECT_EQ(shape.length, 9);
  EXPECT_TRUE(shape.has_lock);
  EXPECT_EQ(shape.displacement_at, 4);
  EXPECT_EQ(shape.displacement_size, 4);
  EXPECT_EQ(shape.immediate_at, 8);
  EXPECT_EQ(shape.immediate_size, 1);
  EXPECT_FALSE(shape.is_rip_relative());

  code = bytes({0x8d, 0x05, 1, 2, 3, 4});  // lea 0x4030201(%rip),%eax
  ASSERT_TRUE(read_shape(code.data(), code.size(), shape));
  EXPECT_TRUE(shape.is_rip_relative());
}

TEST(ShapeTest, CutOffInstructionsAreRefused) {
  auto code = bytes({0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8});  // movabs
  Shape shape;
  for (size_t available = 0; available < code.size(); available++) {
    EXPECT_FALSE(read_shape(code.data(), available, shape));
  }
  EXPECT_TRUE(read_shape(code.data(), code.size(), shape));
}

TEST(ShapeTest, RandomBytesStayInBounds) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 200'000; i++) {
    size_t size = random() % 18;
    std::vector<uint8_t> code(
        size);  // exactly as long as announced: the sanitizer sees every read beyond
    for (auto& byte : code) byte = static_cast<uint8_t>(random());
    Shape shape;
    if (read_shape(code.data(), size, shape)) {
      ASSERT_LE(shape.length, std::min<size_t>(size, 15));
      ASSERT_GE(shape.length, 1);
    }
  }
}

TEST(ShapeTest, FlowIsToldApart) {
  struct Case {
    std::vector<uint8_t> code;
    Flow flow;
  };
  const Case cases[] = {
      {bytes({0x90}), Flow::kNext},
      {bytes({0xeb, 0}), Flow::kJump},
      {bytes({0x74, 0}), Flow::kConditional},
      {bytes({0x0f, 0x84, 0, 0, 0, 0}), Flow::kConditional},
      {bytes({0xe8, 0, 0, 0, 0}), Flow::kCall},
      {bytes({0xff, 0xd0}), Flow::kIndirectCall},
      {bytes({0xff, 0xe0}), Flow::kIndirectJump},
      {bytes({0xc3}), Flow::kReturn},
      {bytes({0xf3, 0xc3}), Flow::kReturn},
      {bytes({0x0f, 0x0b}), Flow::kStop},
      {bytes({0xe3, 0}), Flow::kLoop},
      {bytes({0xc7, 0xf8, 0, 0, 0, 0}), Flow::kLoop},
      {bytes({0xff, 0x30}), Flow::kNext},
  };
  for (const Case& one : cases) {
    Shape shape;
    ASSERT_TRUE(read_shape(one.code.data(), one.code.size(), shape));
    EXPECT_EQ(flow_of(shape), one.flow) << testing::PrintToString(one.code);
  }
}

}  // namespace
