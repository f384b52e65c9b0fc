#include "code/patch/interpreter.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/types.h"
#include "sys/memory.h"
#include "sys/program_segments.h"
#include "sys/syscall_x86_64.h"

namespace weir {
namespace {

constexpr char kReplaced[] = "/proc/";
constexpr uint64_t kMaxName = 4096;

struct Text {
  Range range;  // empty: the program has none
  int protection;
};

// PT_INTERP in memory.
Text interpreter_text() {
  const sys::ProgramSegments segments = sys::program_segments();
  const uint64_t base = segments.base;
  Text text{};
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type == PT_INTERP)
      text.range = {base + segment.p_vaddr, base + segment.p_vaddr + segment.p_filesz};
  }
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_LOAD || text.range.start - base - segment.p_vaddr >= segment.p_memsz)
      continue;
    text.protection = (segment.p_flags & PF_R ? PROT_READ : 0) |
                      (segment.p_flags & PF_W ? PROT_WRITE : 0) |
                      (segment.p_flags & PF_X ? PROT_EXEC : 0);
  }
  return text;
}

}  // namespace

bool restore_interpreter() {
  const auto [text, protection] = interpreter_text();
  if (text.size() < sizeof kReplaced || text.size() > kMaxName ||
      __builtin_memcmp(reinterpret_cast<const void*>(text.start), kReplaced,
                       sizeof kReplaced - 1) != 0)
    return true;
  char name[kMaxName];
  const long file =
      sys::raw(SYS_open, reinterpret_cast<long>("/proc/self/exe"), O_RDONLY | O_CLOEXEC);
  if (sys::failed(file)) return false;
  const auto size = static_cast<long>(text.size());
  const bool is_there = sys::raw(SYS_lseek, file, -size, SEEK_END) >= 0 &&
                        sys::raw(SYS_read, file, reinterpret_cast<long>(name), size) == size;
  sys::raw(SYS_close, file);
  const uint64_t start = page_down(text.start), pages = page_up(text.limit) - start;
  if (!is_there || sys::protect(start, pages, PROT_READ | PROT_WRITE) != 0) return false;
  copy_bytes(reinterpret_cast<void*>(text.start), name, text.size());
  return sys::protect(start, pages, protection) == 0;
}

}  // namespace weir
