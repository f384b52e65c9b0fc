#include "patch/vdso.h"

#include <elf.h>
#include <sys/syscall.h>

#include "base/bytes.h"
#include "patch/patch.h"
#include "sys/memory.h"

namespace weir {

namespace {

struct Function {
  const char* name;
  int number;  // -1: answers that there is no such thing
};

constexpr Function kFunctions[] = {
    {"__vdso_clock_gettime", SYS_clock_gettime}, {"__vdso_gettimeofday", SYS_gettimeofday}, {"__vdso_time", SYS_time},
    {"__vdso_getcpu", SYS_getcpu},               {"__vdso_clock_getres", SYS_clock_getres}, {"__vdso_getrandom", -1},
};

const Function* find(const char* name) {
  for (const Function& function : kFunctions) {
    if (equal_strings(function.name, name)) return &function;
  }
  return nullptr;
}

// mov $number,%eax; syscall; ret; and room behind it for the jump that patching puts there.
void write_call(uint8_t* at, int number) {
  uint8_t code[16] = {0xb8, 0, 0, 0, 0, 0x0f, 0x05, 0xc3, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90};
  copy_bytes(code + 1, &number, 4);
  copy_bytes(at, code, sizeof code);
}

// mov $-ENOSYS,%rax; ret
void write_refusal(uint8_t* at) {
  const uint8_t code[8] = {0x48, 0xc7, 0xc0, 0xda, 0xff, 0xff, 0xff, 0xc3};
  copy_bytes(at, code, sizeof code);
}

bool g_done = false;

}  // namespace

void ask_kernel_instead(Range image) {
  if (g_done) return;
  g_done = true;
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(image.start);
  if (header->e_shoff + header->e_shnum * sizeof(Elf64_Shdr) > image.size()) return;
  const auto* sections = reinterpret_cast<const Elf64_Shdr*>(image.start + header->e_shoff);
  if (sys::protect(image.start, image.size(), 7) != 0) return;  // read, write, execute
  for (unsigned i = 0; i < header->e_shnum; i++) {
    if (sections[i].sh_type != SHT_DYNSYM) continue;
    const auto* symbols = reinterpret_cast<const Elf64_Sym*>(image.start + sections[i].sh_offset);
    const auto* names = reinterpret_cast<const char*>(image.start + sections[sections[i].sh_link].sh_offset);
    for (uint64_t k = 0; k < sections[i].sh_size / sizeof(Elf64_Sym); k++) {
      const Function* function = symbols[k].st_value ? find(names + symbols[k].st_name) : nullptr;
      if (!function) continue;
      auto* at = reinterpret_cast<uint8_t*>(image.start + symbols[k].st_value);
      if (function->number < 0) {
        write_refusal(at);
      } else {
        write_call(at, function->number);
      }
    }
  }
  sys::protect(image.start, image.size(), 5);
  (void)!patch_text(image, Range{}, kPatchSyscall, nullptr);
}

}  // namespace weir
