#include "code/find/mapped_image_test.h"

namespace {

using namespace weir;

// Page 0: headers. Page 1: the exception directory. Page 2: text.
class PeImageTest : public TestImage {
 protected:
  static constexpr uint32_t kHeaders = 128, kTable = kPageSize + 64;

  PeImageTest() {
    put<uint16_t>(0, 0x5a4d);
    put<uint32_t>(60, kHeaders);
    put<uint32_t>(kHeaders, 0x4550);
    put<uint16_t>(kHeaders + 4, 0xfd1d);
    put<uint16_t>(kHeaders + 24, 0x20b);
    put<uint32_t>(kHeaders + 24 + 108, 16);
    put<uint32_t>(kHeaders + 24 + 112 + 24, kTable);
    put<uint32_t>(kHeaders + 24 + 112 + 28, 36);
    put_functions({{kText + 0x10, kText + 0x30, 0},
                   {kText + 0x30, kText + 0x44, 0},
                   {kText + 0x80, kText + 0x90, 0}});
  }

  void put_functions(const std::vector<std::vector<uint32_t>>& functions) {
    for (size_t i = 0; i < functions.size(); i++)
      memcpy(image_ + kTable + 12 * i, functions[i].data(), 12);
  }
};

TEST_F(PeImageTest, HasItsFunctionsFromItsExceptionDirectory) {
  EXPECT_EQ((std::vector<uint32_t>{0x10, 0x30, 0x80}), entries());
  TextMap map;
  ASSERT_TRUE(map.build(text(), image()));
  EXPECT_FALSE(map.chunks()[map.chunk_at(0)].covered);
  EXPECT_TRUE(map.chunks()[map.chunk_at(0x43)].framed);
  EXPECT_FALSE(map.chunks()[map.chunk_at(0x44)].covered);
  EXPECT_TRUE(map.chunks()[map.chunk_at(0x8f)].framed);
}

TEST_F(PeImageTest, OfAnotherMachineIsLeftAlone) {
  put<uint16_t>(kHeaders + 4, 0xaa64);
  EXPECT_FALSE(PeImage().open(image()));
}

TEST_F(PeImageTest, DamagedOnesHaveWhatCanBeRead) {
  put_functions({{kText + 0x10, kText + 0x30, 0}, {kText + 0x50, kText + 0x40, 0}});
  EXPECT_EQ((std::vector<uint32_t>{0x10}), entries());
  put<uint32_t>(kHeaders + 24 + 112 + 28, 0xfffffff0);
  EXPECT_EQ(0u, entries().size());
  put<uint32_t>(60, kPageSize - 8);
  EXPECT_FALSE(PeImage().open(image()));
  put<uint32_t>(60, 0xffffffff);
  EXPECT_FALSE(PeImage().open(image()));
}

}  // namespace
