// weir-host: a program that becomes another one, which is linked statically. The dynamic loader
// starts it with libweir.so, as it does every program under Weir. It maps the static program as the
// kernel would have, and jumps to its entry. All that it does it does as a program under Weir, so a
// recording keeps the static program's file as it keeps a library's, and a replay maps that.
//
// 1. The static program finds the stack as the kernel leaves it. Its strings are where they were.
// 2. The host's own libraries stay mapped. Nothing calls them any more.
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "control/static_program.h"
#include "host/elf_image.h"
#include "host/start_stack.h"
#include "sys/syscall_x86_64.h"

extern "C" decltype(weir_begin_static) weir_begin_static __attribute__((weak));

namespace weir::loader {
namespace {

// Below where the kernel puts programs, and within reach of translated code
// (control/address_map.h).
constexpr uint64_t kMovable = 0x5554b0000000;

[[noreturn]] void fail(const char* program, const char* what, long error) {
  char text[4600], *at = text;
  const auto put = [&](const char* word) {
    while (*word && at < text + sizeof text - 32) *at++ = *word++;
  };
  put("weir: ");
  put(program);
  put(" ");
  put(what);
  put(" (error ");
  char digits[12];
  unsigned count = 0;
  for (long left = error; left || !count; left /= 10)
    digits[count++] = static_cast<char>('0' + left % 10);
  while (count) *at++ = digits[--count];
  put(")\n");
  sys::raw(SYS_write, 2, reinterpret_cast<long>(text), at - text);
  sys::raw(SYS_exit_group, 126);
  __builtin_unreachable();
}

// What the kernel would say of the program as /proc/self/exe; `name` if it says nothing.
const char* path_of(long file, const char* name) {
  static char path[4096];
  char link[32], *at = link;
  for (const char* from = "/proc/self/fd/"; *from; from++) *at++ = *from;
  if (file >= 10) *at++ = static_cast<char>('0' + file / 10 % 10);
  *at++ = static_cast<char>('0' + file % 10);
  *at = 0;
  const long length = sys::raw(SYS_readlink, reinterpret_cast<long>(link),
                               reinterpret_cast<long>(path), sizeof path - 1);
  return file < 100 && length > 0 ? path : name;
}

const char* last_part(const char* path) {
  const char* part = path;
  for (const char* at = path; *at; at++) {
    if (*at == '/') part = at + 1;
  }
  return part;
}

long map_whole(int file, WeirStaticProgram& program) {
  struct stat status {};
  if (const long wrong = sys::raw(SYS_fstat, file, reinterpret_cast<long>(&status))) return wrong;
  const long at = sys::raw(SYS_mmap, 0, status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
  if (sys::failed(at)) return at;
  program.file = static_cast<uint64_t>(at);
  program.file_limit = program.file + static_cast<uint64_t>(status.st_size);
  return 0;
}

[[noreturn]] void become(char** arguments) {
  const StartStack stack = start_stack_of(arguments);
  const char* name = take_variable(stack, kProgramVariable);
  if (!name || !weir_begin_static) {
    constexpr char kNotAlone[] = "weir: weir-host is a part of Weir, which starts it\n";
    sys::raw(SYS_write, 2, reinterpret_cast<long>(kNotAlone), sizeof kNotAlone - 1);
    sys::raw(SYS_exit_group, 125);
  }
  static ElfFile elf;
  ElfImage image;
  WeirStaticProgram program{};
  const long file = sys::raw(SYS_open, reinterpret_cast<long>(name), O_RDONLY | O_CLOEXEC);
  if (sys::failed(file)) fail(name, "cannot be opened", -file);
  long wrong = read_elf(static_cast<int>(file), elf);
  if (!wrong) wrong = map_elf(static_cast<int>(file), elf, kMovable, image);
  if (wrong == -EEXIST)
    fail(name, "is linked to addresses at which Weir or a library lies", EEXIST);
  if (!wrong) wrong = map_whole(static_cast<int>(file), program);
  if (wrong) fail(name, "cannot be mapped", -wrong);
  sys::raw(SYS_prctl, PR_SET_NAME, reinterpret_cast<long>(last_part(name)));
  describe(stack, image, 0, name);
  program.name = name;
  program.path = path_of(file, name);
  program.start = image.range.start;
  program.limit = image.range.limit;
  program.bias = image.bias;
  program.stack = lay_out(stack);
  weir_begin_static(&program);
  sys::raw(SYS_munmap, static_cast<long>(program.file),
           static_cast<long>(program.file_limit - program.file));
  sys::raw(SYS_close, file);
  // As at execve: no register but the stack pointer means anything.
  asm volatile(
      "mov %0,%%rsp\n\tmov %1,%%rax\n\tpush %%rax\n\t"
      "xor %%eax,%%eax\n\txor %%ebx,%%ebx\n\txor %%ecx,%%ecx\n\txor %%edx,%%edx\n\t"
      "xor %%esi,%%esi\n\txor %%edi,%%edi\n\txor %%ebp,%%ebp\n\txor %%r8d,%%r8d\n\t"
      "xor %%r9d,%%r9d\n\txor %%r10d,%%r10d\n\txor %%r11d,%%r11d\n\txor %%r12d,%%r12d\n\t"
      "xor %%r13d,%%r13d\n\txor %%r14d,%%r14d\n\txor %%r15d,%%r15d\n\tret"
      :
      : "r"(program.stack), "r"(image.entry)
      : "memory");
  __builtin_unreachable();
}

}  // namespace
}  // namespace weir::loader

int main(int, char** arguments) { weir::loader::become(arguments); }
