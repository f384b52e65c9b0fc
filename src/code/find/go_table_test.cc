#include <elf.h>

#include "code/find/mapped_image_test.h"

namespace {

using namespace weir;

// A program as Go's linker leaves it: no unwind table, no symbols, its own table behind some
// constants. Page 0: headers, note. Page 1: the table. Page 2: text.
class GoProgram : public TestImage {
 protected:
  static constexpr uint32_t kTable = kPageSize + 96;

  GoProgram() {
    Elf64_Ehdr header{};
    memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_machine = EM_X86_64;
    header.e_phoff = sizeof header;
    header.e_phnum = 2;
    Elf64_Phdr load{}, note{};
    load.p_type = PT_LOAD;
    load.p_flags = PF_R | PF_X;
    load.p_vaddr = 0;
    load.p_filesz = sizeof image_;
    note.p_type = PT_NOTE;
    note.p_vaddr = 512;
    note.p_filesz = 20;
    put(0, header);
    put(sizeof header, load);
    put(sizeof header + sizeof load, note);
    put_all(512, {4, 4, 4, 0x006f47, 0x12345678});
    put_table(0xfffffff1);
  }

  void put_table(uint32_t magic) {
    put_all(kTable, {magic, 0x08010000});
    const uint64_t words[] = {3, 1, start() + kText, 0, 0, 0, 0, 72};
    put(kTable + 8, words);
    put_all(kTable + 72,
            {0x10, 0, 0x40, 0, 0x80, 0, 0x90});  // three functions, and where the last one ends
  }
};

TEST_F(GoProgram, HasItsFunctionsFromItsOwnTable) {
  EXPECT_EQ((std::vector<uint32_t>{0x10, 0x40, 0x80}), entries());
  TextMap map;
  ASSERT_TRUE(map.build(text(), image()));
  EXPECT_FALSE(map.chunks()[map.chunk_at(0)].covered);
  EXPECT_TRUE(map.chunks()[map.chunk_at(0x10)].framed);
  EXPECT_TRUE(map.chunks()[map.chunk_at(0x8f)].framed);
  EXPECT_FALSE(map.chunks()[map.chunk_at(0x90)].covered);
}

TEST_F(GoProgram, OfGo118HasTheSame) {
  put_table(0xfffffff0);
  EXPECT_EQ(3u, entries().size());
}

TEST_F(GoProgram, OfAnUnknownVersionIsLeftAlone) {
  put_table(0xfffffffb);
  EXPECT_EQ(0u, entries().size());
}

TEST_F(GoProgram, WithoutGosNoteIsNotSearched) {
  put_all(512, {4, 4, 4, 0x554e47});
  EXPECT_EQ(0u, entries().size());
}

TEST_F(GoProgram, DamagedTableEndsTheListing) {
  put_all(kTable + 72, {0x10, 0, 0x40, 0, 0x20, 0, 0x90});
  EXPECT_EQ((std::vector<uint32_t>{0x10}), entries());
  const uint64_t far[] = {3, 1, start() + kText, 0, 0, 0, 0, 1u << 30};
  put(kTable + 8, far);
  EXPECT_EQ(0u, entries().size());
}

}  // namespace
