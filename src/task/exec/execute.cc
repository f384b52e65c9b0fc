// While tasks exist, execve belongs to the monitor, which has the program's pid. When the monitor
// makes the call the tasks are gone. So what the kernel might refuse is checked before: the file,
// its interpreters, the length of the arguments. If the kernel will refuse, the task itself makes
// the call, and returns what the kernel returns.

#include "task/exec/execute.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>

#include "base/bytes.h"
#include "control/control.h"
#include "memory/program_memory.h"
#include "record/input.h"
#include "signal/queue.h"
#include "sys/futex.h"
#include "sys/signal.h"
#include "sys/syscall_x86_64.h"
#include "task/exec/program_file.h"

namespace weir::tasks {

namespace {

constexpr uint64_t kLongest = 131072;  // argument, with its NUL
constexpr uint64_t kMaxOfAll = 6 << 20;

bool will_execute(const File& file, int depth);

bool will_execute(const char* path, int depth) {
  if (sys::raw(SYS_faccessat, AT_FDCWD, reinterpret_cast<long>(path), 1) != 0) return false;
  const File file(AT_FDCWD, path, 0);
  return will_execute(file, depth);
}

bool script_will_execute(char* head, int depth) {
  const char* name = interpreter_of(head);
  return name && depth < kDeepest && will_execute(name, depth + 1);
}

bool elf_will_execute(const File& file, const Elf64_Ehdr& header) {
  if (header.e_type != ET_EXEC && header.e_type != ET_DYN) return false;
  if (header.e_ident[EI_CLASS] == ELFCLASS32) return header.e_machine == EM_386;
  if (header.e_machine != EM_X86_64 || header.e_phentsize != sizeof(Elf64_Phdr)) return false;
  for (uint32_t i = 0; i < header.e_phnum; i++) {
    Elf64_Phdr segment;
    if (file.read(&segment, sizeof segment, header.e_phoff + i * sizeof segment) != sizeof segment)
      return false;
    if (segment.p_type != PT_INTERP) continue;
    char name[512];
    if (segment.p_filesz < 2 || segment.p_filesz > sizeof name) return false;
    if (file.read(name, segment.p_filesz, segment.p_offset) != static_cast<long>(segment.p_filesz))
      return false;
    if (name[segment.p_filesz - 1]) return false;
    const File interpreter(AT_FDCWD, name, 0);
    return interpreter.number() >= 0 && interpreter.is_regular();
  }
  return header.e_phnum > 0;
}

bool will_execute(const File& file, int depth) {
  if (file.number() < 0)
    return file.number() == -EACCES;  // may be executed, not read: nothing can be known
  if (!file.is_regular()) return false;
  alignas(8) char head[kHead + 1] = {};
  if (file.read(head, kHead, 0) < 0) return false;
  if (head[0] == '#' && head[1] == '!') return script_will_execute(head, depth);
  if (__builtin_memcmp(head, ELFMAG, SELFMAG) != 0) return false;
  return elf_will_execute(file, *reinterpret_cast<const Elf64_Ehdr*>(head));
}

// The arguments in control memory, where the monitor finds them. A result of 0 is an address that
// could not be had.
class Arguments {
 public:
  uint64_t put(long text) {
    auto* at = shared().exec.buffer + used_;
    const uint64_t room = kExecBufferLimit - used_;
    const uint64_t most = room < kLongest ? room : kLongest;
    const long length = trap::string_from_program(reinterpret_cast<char*>(at), text, most);
    if (length < 0 || length == static_cast<long>(most)) return 0;
    used_ += static_cast<uint64_t>(length) + 1;
    strings_ += static_cast<uint64_t>(length) + 1;
    return reinterpret_cast<uint64_t>(at);
  }

  uint64_t put_all(long list) {
    uint64_t count = 0;
    for (;; count++) {
      long text = 0;
      if (list && trap::from_program(text, list + static_cast<long>(count * 8)) != 0) return 0;
      if (!text) break;
    }
    used_ = (used_ + 7) & ~uint64_t{7};
    auto* table = reinterpret_cast<uint64_t*>(shared().exec.buffer + used_);
    if (used_ + (count + 1) * 8 > kExecBufferLimit) return 0;
    used_ += (count + 1) * 8;
    pointers_ += (count ? count : 1) * 8;
    for (uint64_t i = 0; i < count; i++) {
      long text = 0;
      if (trap::from_program(text, list + static_cast<long>(i * 8)) != 0) return 0;
      table[i] = put(text);
      if (!table[i]) return 0;
    }
    table[count] = 0;
    return reinterpret_cast<uint64_t>(table);
  }

  bool too_many() const {
    rlimit stack{};
    sys::raw(SYS_prlimit64, 0, RLIMIT_STACK, 0, reinterpret_cast<long>(&stack));
    uint64_t limit = stack.rlim_cur / 4 < kMaxOfAll ? stack.rlim_cur / 4 : kMaxOfAll;
    if (limit < kLongest) limit = kLongest;
    // What the kernel adds: the name once more, an interpreter's.
    constexpr uint64_t kMargin = 4096;
    return strings_ + pointers_ + kMargin > limit;
  }

 private:
  uint64_t used_ = 0, strings_ = 0, pointers_ = 0;
};

// What waits for this task waits for the executed program: the monitor gives it what is kept.
void keep_waiting_signals(uint64_t blocked) {
  alignas(8) uint8_t info[128];
  const sys::Timespec none{0, 0};
  blocked &= ~sys::never_blocked();
  if (input::replaying()) return;
  for (;;) {
    const long signal = sys::raw(SYS_rt_sigtimedwait, reinterpret_cast<long>(&blocked),
                                 reinterpret_cast<long>(info), reinterpret_cast<long>(&none), 8);
    if (signal <= 0) return;
    trap::keep_program_signal(static_cast<int>(signal), info);
  }
}

}  // namespace

long execute_program(int directory, long path, long argv, long envp, int flags) {
  Shared& s = shared();
  Arguments arguments;
  s.exec.path = arguments.put(path);
  if (!s.exec.path || (flags & ~(AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW))) return kAskKernel;
  const auto* name = reinterpret_cast<const char*>(s.exec.path);
  if (!name[0]) {
    if (!(flags & AT_EMPTY_PATH)) return kAskKernel;
    const File file(directory);
    alignas(8) char head[2] = {};
    // A script that the executed program could not open any more.
    const long closes = sys::raw(SYS_fcntl, directory, F_GETFD);
    if (closes < 0 ||
        ((closes & FD_CLOEXEC) && file.read(head, 2, 0) == 2 && head[0] == '#' && head[1] == '!'))
      return kAskKernel;
    if (sys::raw(SYS_faccessat2, directory, s.exec.path, 1, AT_EMPTY_PATH) != 0) return kAskKernel;
    if (sys::raw(SYS_fcntl, directory, F_GETFL) & O_PATH) {
      // Nothing can be read through it.
    } else if (!will_execute(file, 0)) {
      return kAskKernel;
    }
  } else {
    if (sys::raw(SYS_faccessat, directory, s.exec.path, 1) != 0) return kAskKernel;
    const File file(directory, name, flags & AT_SYMLINK_NOFOLLOW ? O_NOFOLLOW : 0);
    if (!will_execute(file, 0)) return kAskKernel;
  }
  s.exec.argv = arguments.put_all(argv);
  s.exec.envp = s.exec.argv ? arguments.put_all(envp) : 0;
  if (!s.exec.envp || arguments.too_many()) return kAskKernel;
  s.exec.directory = directory;
  s.exec.flags = flags;
  s.exec.mask = self().signals.mask;
  // The task may have given up rights since the monitor was split off: the new program gets what
  // the task has.
  uint32_t* u = s.exec.users;
  uint32_t* g = s.exec.groups;
  sys::raw(SYS_getresuid, reinterpret_cast<long>(u), reinterpret_cast<long>(u + 1),
           reinterpret_cast<long>(u + 2));
  sys::raw(SYS_getresgid, reinterpret_cast<long>(g), reinterpret_cast<long>(g + 1),
           reinterpret_cast<long>(g + 2));
  constexpr long kMaxGroups = sizeof s.exec.more_groups / sizeof s.exec.more_groups[0];
  s.exec.group_count = static_cast<int>(
      sys::raw(SYS_getgroups, kMaxGroups, reinterpret_cast<long>(s.exec.more_groups)));
  keep_waiting_signals(s.exec.mask);
  s.exec.requested = 1;
  for (;;) sys::raw(SYS_exit_group, 0);  // the monitor does the rest
}

}  // namespace weir::tasks
