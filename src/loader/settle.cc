#include "loader/settle.h"

#include <elf.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "base/types.h"
#include "loader/fixed_layout.h"
#include "loader/process_files.h"

namespace weir::loader {

namespace {

// What lies on the stack of a program that has just been executed.
struct Stack {
  uint64_t count = 0, arguments = 0, variables = 0;  // argv, environ
  uint64_t path = 0;                                 // by which it was executed
};

bool find_stack(const Traced& process, Stack* stack) {
  user_regs_struct registers;
  if (!process.get(&registers) || !process.read(registers.rsp, &stack->count, 8)) return false;
  stack->arguments = registers.rsp + 8;
  stack->variables = stack->arguments + 8 * (stack->count + 1);
  uint64_t at = stack->variables, text = 0;
  do {
    if (!process.read(at, &text, sizeof text)) return false;
    at += 8;
  } while (text);
  for (Elf64_auxv_t entry; process.read(at, &entry, sizeof entry) && entry.a_type != AT_NULL;
       at += sizeof entry) {
    if (entry.a_type == AT_EXECFN) stack->path = entry.a_un.a_val;
  }
  return stack->path != 0;
}

// Into the options of the program that is about to run: which child it has to wait for.
void name_tracer(const Traced& process) {
  constexpr char kName[] = "WEIR_OPTIONS=", kKey[] = "tracer=";
  constexpr uint64_t kDigits = 10;
  Stack stack;
  if (!find_stack(process, &stack)) return;
  for (uint64_t at = stack.variables;; at += 8) {
    uint64_t text = 0;
    char value[4096];
    if (!process.read(at, &text, sizeof text) || !text) return;
    if (!process.read(text, value, sizeof kName - 1) ||
        __builtin_memcmp(value, kName, sizeof kName - 1) != 0)
      continue;
    const long length = process.read_string(text, value, sizeof value);
    for (long i = 0; i + static_cast<long>(sizeof kKey - 1 + kDigits) <= length; i++) {
      if (__builtin_memcmp(value + i, kKey, sizeof kKey - 1) != 0) continue;
      char digits[kDigits];
      long number = sys::raw(SYS_getpid);
      for (uint64_t j = kDigits; j-- > 0; number /= 10)
        digits[j] = static_cast<char>('0' + number % 10);
      process.write(text + static_cast<uint64_t>(i) + sizeof kKey - 1, digits, kDigits);
      return;
    }
    return;
  }
}

// As many as there may be: each finds suitable addresses with a probability of 1/11 at least.
constexpr int kMostTries = 500;

// Memory of its own; or -errno.
long new_page(const Traced& process) {
  return process.call(SYS_mmap, 0, kPageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                      ~uint64_t{0}, 0);
}

// Ends the process with status 125 and a line that says why.
void end_unfixed(const Traced& process, const LayoutResult& result) {
  char text[256];
  char* at = put_text(text, "weir: the addresses of the program cannot be fixed (");
  at = put_text(put_text(at, result.step), ", error ");
  at = put_number(at, static_cast<uint64_t>(result.error < 0 ? -result.error : result.error));
  at = put_text(at, ")\n");
  const long page = new_page(process);
  const auto length = static_cast<uint64_t>(at - text);
  if (!sys::failed(page) && process.write(static_cast<uint64_t>(page), text, length))
    process.call(SYS_write, 2, static_cast<uint64_t>(page), length);
  process.call(SYS_exit_group, 125);
}

// As ps shows it.
bool set_name(const Traced& process, const char* name) {
  const long page = new_page(process);
  if (sys::failed(page)) return false;
  const auto at = static_cast<uint64_t>(page);
  uint64_t length = 0;
  while (name[length]) length++;
  const bool is_set =
      process.write(at, name, length + 1) && process.call(SYS_prctl, PR_SET_NAME, at) == 0;
  return process.call(SYS_munmap, at, kPageSize) == 0 && is_set;
}

bool is_script(const Traced& process, const char* path) {
  char head[2] = {}, there[kMostPath + 32];
  const char* name = path;
  if (path[0] != '/') {
    put_text(put_path(there, process.pid(), "/cwd/"), path);
    name = there;
  }
  const long file = sys::raw(SYS_open, reinterpret_cast<long>(name), O_RDONLY | O_CLOEXEC);
  if (sys::failed(file)) return false;
  sys::raw(SYS_read, file, reinterpret_cast<long>(head), sizeof head);
  sys::raw(SYS_close, file);
  return head[0] == '#' && head[1] == '!';
}

// The same execve once more, by the program that has come of the last one, with what lies on its
// stack. The file may have no name any more (a descriptor's that is closed by now): so it is named
// as the process's own, by a name that is as long as the right one, which is put in its place.
// `name`: empty, or the process's name, which it has lost by that.
bool execute_again(const Traced& process, char (&name)[32]) {
  constexpr char kSelf[] = "/proc/self/", kExe[] = "exe";
  constexpr uint64_t kShortest = sizeof kSelf + sizeof kExe - 2;
  char path[kMostPath], other[kMostPath];
  Stack stack;
  if (!find_stack(process, &stack)) return false;
  const long length = process.read_string(stack.path, path, kMostPath);
  if (length <= 0) return false;
  const auto size = static_cast<uint64_t>(length);
  if (size < kShortest) {
    uint64_t text = 0, arguments = stack.arguments;
    // Of a script the kernel has made an interpreter's arguments: its name, an option perhaps, the
    // script's path, and then all of the script's but the first, which it does not keep.
    const bool is_one = is_script(process, path);
    for (uint64_t i = 1; is_one; i++) {
      if (i >= stack.count || !process.read(stack.arguments + 8 * i, &text, sizeof text))
        return false;
      arguments = stack.arguments + 8 * i;
      if (process.read_string(text, other, kMostPath) == length &&
          __builtin_memcmp(other, path, size) == 0)
        break;
    }
    return process.call(SYS_execve, stack.path, arguments, stack.variables) == 0 &&
           process.stop_between_instructions();
  }
  if (!name[0]) {
    const long end = read_file(process.pid(), "/comm", name, sizeof name);
    if (end <= 0) return false;
    name[end - 1] = 0;
  }
  for (uint64_t i = 0; i < size; i++) other[i] = '/';
  other[size] = 0;
  __builtin_memcpy(other, kSelf, sizeof kSelf - 1);
  __builtin_memcpy(other + size - (sizeof kExe - 1), kExe, sizeof kExe - 1);
  return process.write(stack.path, other, size) &&
         process.call(SYS_execve, stack.path, stack.arguments, stack.variables) == 0 &&
         process.stop_between_instructions() && find_stack(process, &stack) &&
         process.write(stack.path, path, size);
}

}  // namespace

bool settle(Traced& process) {
  if (!process.stop_between_instructions()) return false;
  char name[32] = {};
  for (int i = 0; i < kMostTries; i++) {
    const LayoutResult result = fix_layout(process);
    if (result.layout == Layout::kFixed && (!name[0] || set_name(process, name)))
      return name_tracer(process), true;
    if (result.layout == Layout::kFailed) return end_unfixed(process, result), false;
    if (!execute_again(process, name)) break;
  }
  end_unfixed(process, {Layout::kFailed, "no suitable addresses: vm.mmap_rnd_bits, ulimit -s", 0});
  return false;
}

}  // namespace weir::loader
