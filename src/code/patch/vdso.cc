#include "code/patch/vdso.h"

#include <elf.h>
#include <sys/syscall.h>

#include "base/bytes.h"
#include "code/patch/patch.h"
#include "sys/memory.h"

namespace weir {

namespace {

// libc has looked these up before anything of Weir's runs: the entries stay where they are, and
// what stands there asks the kernel.
struct Function {
  const char* name;
  int number;
};

constexpr Function kFunctions[] = {
    {"__vdso_clock_gettime", SYS_clock_gettime},
    {"__vdso_gettimeofday", SYS_gettimeofday},
    {"__vdso_time", SYS_time},
    {"__vdso_getcpu", SYS_getcpu},
    {"__vdso_clock_getres", SYS_clock_getres},
    {"__vdso_getrandom", SYS_getrandom},
};

const Function* find(const char* name) {
  for (const Function& function : kFunctions) {
    if (equal_strings(function.name, name)) return &function;
  }
  return nullptr;
}

// mov $number,%eax; syscall; ret; and room behind it for the jump that patching puts there.
void write_call(uint8_t* at, int number) {
  uint8_t code[16] = {0xb8, 0,    0,    0,    0,    0x0f, 0x05, 0xc3,
                      0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90};
  copy_bytes(code + 1, &number, 4);
  copy_bytes(at, code, sizeof code);
}

// getrandom(buffer, size, flags, state, size of state): the state is not used, and so not kept
// across forks or between tasks. Asked for what a state is to be like (its size is ~0), it answers
// that there is no such thing: who asks later calls the kernel. cmp $-1,%r8; je 1f; <write_call>;
// 1: mov $-ENOSYS,%rax; ret
void write_random(uint8_t* at) {
  const uint8_t ask[6] = {0x49, 0x83, 0xf8, 0xff, 0x74, 16};
  const uint8_t refuse[8] = {0x48, 0xc7, 0xc0, 0xda, 0xff, 0xff, 0xff, 0xc3};
  copy_bytes(at, ask, sizeof ask);
  write_call(at + sizeof ask, SYS_getrandom);
  copy_bytes(at + sizeof ask + 16, refuse, sizeof refuse);
}

constexpr uint64_t kRandomSize = 30;  // of what write_random writes

bool g_done = false;

}  // namespace

bool ask_kernel_instead(Range image, bool only_random) {
  if (g_done) return true;
  g_done = true;
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(image.start);
  if (header->e_shoff + header->e_shnum * sizeof(Elf64_Shdr) > image.size()) return false;
  const auto* sections = reinterpret_cast<const Elf64_Shdr*>(image.start + header->e_shoff);
  if (sys::protect(image.start, image.size(), 7) != 0) return false;  // read, write, execute
  Range random{};
  for (unsigned i = 0; i < header->e_shnum; i++) {
    if (sections[i].sh_type != SHT_DYNSYM) continue;
    const auto* symbols = reinterpret_cast<const Elf64_Sym*>(image.start + sections[i].sh_offset);
    const auto* names =
        reinterpret_cast<const char*>(image.start + sections[sections[i].sh_link].sh_offset);
    for (uint64_t k = 0; k < sections[i].sh_size / sizeof(Elf64_Sym); k++) {
      const Function* function = symbols[k].st_value ? find(names + symbols[k].st_name) : nullptr;
      if (!function) continue;
      const uint64_t at = image.start + symbols[k].st_value;
      if (function->number != SYS_getrandom) {
        if (!only_random) write_call(reinterpret_cast<uint8_t*>(at), function->number);
        continue;
      }
      write_random(reinterpret_cast<uint8_t*>(at));
      random = Range{at, at + kRandomSize};
    }
  }
  sys::protect(image.start, image.size(), 5);
  return patch_text(only_random ? random : image, only_random ? Range{} : image, kPatchSyscall,
                    nullptr) == 0;
}

}  // namespace weir
