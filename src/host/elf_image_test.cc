#include "host/elf_image.h"

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>

namespace weir::loader {
namespace {

// A file in memory with a header, two program headers and a page of each segment:
//   0x1000  read and execute, a page of the file
//   0x3000  read and write, 0x100 bytes of the file and 0x2000 in memory
class ElfImageTest : public ::testing::Test {
 protected:
  ElfImageTest() {
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_type = ET_DYN;
    header.e_machine = EM_X86_64;
    header.e_phoff = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = 2;
    header.e_entry = 0x1200;
    segment[0] = {PT_LOAD, PF_R | PF_X, 0, 0x1000, 0x1000, kPageSize, kPageSize, kPageSize};
    segment[1] = {PT_LOAD, PF_R | PF_W, kPageSize, 0x3000, 0x3000, 0x100, 0x2000, kPageSize};
  }
  ~ElfImageTest() override { close(file); }

  long read() {
    std::string bytes(2 * kPageSize, 'x');
    std::memcpy(bytes.data(), &header, sizeof header);
    std::memcpy(bytes.data() + sizeof header, segment, sizeof segment);
    EXPECT_EQ(pwrite(file, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    return read_elf(file, elf);
  }

  Elf64_Ehdr header{};
  Elf64_Phdr segment[2];
  ElfFile elf;
  const int file = memfd_create("elf", 0);
};

// Where nothing lies; the reservation is given back.
uint64_t free_place(uint64_t size) {
  void* at = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(at, MAP_FAILED);
  munmap(at, size);
  return reinterpret_cast<uint64_t>(at);
}

// "rwxp" of the mapping at an address, as /proc/self/maps has it; empty: there is none.
std::string rights_at(uint64_t address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    uint64_t start = 0, limit = 0;
    char rights[8] = {};
    if (sscanf(line.c_str(), "%lx-%lx %4s", &start, &limit, rights) == 3 && address >= start &&
        address < limit)
      return rights;
  }
  return "";
}

TEST_F(ElfImageTest, SaysWhatAFileIs) {
  ASSERT_EQ(read(), 0);
  EXPECT_TRUE(elf.is_movable);
  EXPECT_FALSE(elf.has_interpreter);
  EXPECT_EQ(elf.span.start, 0x1000u);
  EXPECT_EQ(elf.span.limit, 0x5000u);
  segment[0].p_type = PT_INTERP;
  ASSERT_EQ(read(), 0);
  EXPECT_TRUE(elf.has_interpreter);
  EXPECT_EQ(elf.span.start, 0x3000u);
}

TEST_F(ElfImageTest, MapsSegmentsWithTheirRightsAndZeros) {
  ASSERT_EQ(read(), 0);
  const uint64_t base = free_place(elf.span.size());
  ElfImage image;
  ASSERT_EQ(map_elf(file, elf, base, image), 0);
  EXPECT_EQ(image.range.start, base);
  EXPECT_EQ(image.range.size(), 0x4000u);
  EXPECT_EQ(image.bias, base - 0x1000);
  EXPECT_EQ(image.entry, base + 0x200);
  EXPECT_EQ(image.headers, base + sizeof header);
  EXPECT_EQ(image.header_count, 2u);
  EXPECT_EQ(rights_at(base), "r-xp");
  EXPECT_EQ(rights_at(base + 0x1000), "---p");  // the hole is held
  EXPECT_EQ(rights_at(base + 0x2000), "rw-p");
  EXPECT_EQ(rights_at(base + 0x3000), "rw-p");
  const auto* data = reinterpret_cast<const char*>(base + 0x2000);
  EXPECT_EQ(data[0xff], 'x');
  for (unsigned i = 0x100; i < 0x2000; i++) ASSERT_EQ(data[i], 0) << i;
  munmap(reinterpret_cast<void*>(base), elf.span.size());
}

TEST_F(ElfImageTest, ZerosBehindASegmentThatMayNotBeWritten) {
  segment[1].p_flags = PF_R;
  ASSERT_EQ(read(), 0);
  const uint64_t base = free_place(elf.span.size());
  ElfImage image;
  ASSERT_EQ(map_elf(file, elf, base, image), 0);
  EXPECT_EQ(rights_at(base + 0x2000), "r--p");
  EXPECT_EQ(reinterpret_cast<const char*>(base + 0x2000)[0x100], 0);
  munmap(reinterpret_cast<void*>(base), elf.span.size());
}

TEST_F(ElfImageTest, ChangesNothingWhereSomethingLies) {
  ASSERT_EQ(read(), 0);
  void* const there =
      mmap(nullptr, kPageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(there, MAP_FAILED);
  static_cast<char*>(there)[0] = 'a';
  ElfImage image;
  const uint64_t base = reinterpret_cast<uint64_t>(there) - 3 * kPageSize;
  EXPECT_EQ(map_elf(file, elf, base, image), -EEXIST);
  EXPECT_EQ(static_cast<char*>(there)[0], 'a');
  munmap(there, kPageSize);
}

TEST_F(ElfImageTest, OneThatIsNotMovableLiesWhereItSays) {
  const uint64_t base = free_place(0x4000);
  header.e_type = ET_EXEC;
  header.e_entry = base + 0x10;
  segment[0].p_vaddr = base;
  segment[1].p_vaddr = base + 0x2000;
  ASSERT_EQ(read(), 0);
  EXPECT_FALSE(elf.is_movable);
  ElfImage image;
  ASSERT_EQ(map_elf(file, elf, 0x12345000, image), 0);
  EXPECT_EQ(image.bias, 0u);
  EXPECT_EQ(image.entry, base + 0x10);
  EXPECT_EQ(image.range.start, base);
  munmap(reinterpret_cast<void*>(base), 0x4000);
}

TEST_F(ElfImageTest, RefusesWhatTheKernelRefuses) {
  const Elf64_Ehdr right_header = header;
  const Elf64_Phdr right[2] = {segment[0], segment[1]};
  const auto refused = [&](const char* what, auto&& damage) {
    header = right_header;
    segment[0] = right[0], segment[1] = right[1];
    damage();
    EXPECT_EQ(read(), -ENOEXEC) << what;
  };
  refused("no magic number", [&] { header.e_ident[0] = 0; });
  refused("32 bits", [&] { header.e_ident[EI_CLASS] = ELFCLASS32; });
  refused("another processor", [&] { header.e_machine = EM_AARCH64; });
  refused("an object file", [&] { header.e_type = ET_REL; });
  refused("a core", [&] { header.e_type = ET_CORE; });
  refused("no program headers", [&] { header.e_phnum = 0; });
  refused("too many", [&] { header.e_phnum = ElfFile::kMaxHeaders + 1; });
  refused("headers of another size", [&] { header.e_phentsize = 32; });
  refused("headers behind the file", [&] { header.e_phoff = 1 << 20; });
  refused("headers at the highest offset", [&] { header.e_phoff = ~uint64_t{0} - 8; });
  refused("more in the file than in memory", [&] { segment[1].p_filesz = 0x3000; });
  refused("beyond the end of addresses", [&] { segment[1].p_memsz = ~uint64_t{0} - 0x100; });
  refused("above a program's addresses", [&] { segment[1].p_vaddr = uint64_t{1} << 47; });
  refused("another place in its page", [&] { segment[1].p_offset += 8; });
  refused("they do not rise", [&] { segment[1].p_vaddr = 0x1000; });
  refused("nothing is loaded", [&] { segment[0].p_type = segment[1].p_type = PT_NOTE; });
}

TEST_F(ElfImageTest, AFileThatIsTooShort) {
  ASSERT_EQ(ftruncate(file, 20), 0);
  EXPECT_EQ(read_elf(file, elf), -ENOEXEC);
  EXPECT_EQ(read_elf(-1, elf), -ENOEXEC);
}

}  // namespace
}  // namespace weir::loader
