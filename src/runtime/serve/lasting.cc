// What a program does before its first thread that is still there when it is forked, and that fork
// does not copy: files that it changes, locks on files, timers, memory that is not to be copied.
// What lies in open descriptors, and shared memory, is looked for at the fork
// (obstacles.cc).
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/bytes.h"
#include "control/served.h"
#include "effects/effects.h"
#include "memory/program_memory.h"

namespace weir::served {

const char* g_place = "the creation of the first thread";
bool g_watches = false;

namespace {

constexpr long kDroppable = 8;  // MAP_DROPPABLE

char g_first[256];  // empty: none

enum class Kind : uint8_t { kNone, kPath, kSecondPath, kOther };

// Calls that change what lies in the file system, by where their path stands.
Kind kind_of(long number) {
  switch (number) {
    case SYS_creat:
    case SYS_unlink:
    case SYS_rename:
    case SYS_mkdir:
    case SYS_rmdir:
    case SYS_link:
    case SYS_symlink:
    case SYS_truncate:
    case SYS_mknod:
    case SYS_chmod:
    case SYS_chown:
    case SYS_lchown:
    case SYS_utime:
    case SYS_utimes:
    case SYS_setxattr:
    case SYS_lsetxattr:
    case SYS_removexattr:
    case SYS_mq_open:
    case SYS_mq_unlink:
    case SYS_mount:
    case SYS_umount2: return Kind::kPath;
    case SYS_unlinkat:
    case SYS_renameat:
    case SYS_renameat2:
    case SYS_mkdirat:
    case SYS_linkat:
    case SYS_mknodat:
    case SYS_fchmodat:
    case SYS_fchownat:
    case SYS_futimesat:
    case SYS_utimensat: return Kind::kSecondPath;
    case SYS_symlinkat:
    case SYS_timer_create:
    case SYS_io_setup:
    case SYS_shmget:
    case SYS_shmat:
    case SYS_semget:
    case SYS_semop:
    case SYS_semtimedop:
    case SYS_msgget:
    case SYS_msgsnd:
    case SYS_msgrcv:
    case SYS_ptrace:
    case SYS_unshare:
    case SYS_setns: return Kind::kOther;
    default: return Kind::kNone;
  }
}

bool is_open(long number) {
  return number == SYS_open || number == SYS_openat || number == SYS_openat2;
}

// Whether the file may be changed through what was opened.
bool opens_for_writing(const MadeCall& call) {
  uint64_t flags = static_cast<uint64_t>(call.number == SYS_open ? call.b : call.c);
  if (call.number == SYS_openat2 && trap::from_program(flags, call.c) != 0) return false;
  return (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC));
}

bool lasts(const MadeCall& call) {
  if (is_open(call.number)) return opens_for_writing(call);
  if (call.number == SYS_fcntl) {
    const long command = call.b;
    return command == F_SETLK || command == F_SETLKW || command == F_SETLEASE ||
           command == F_NOTIFY || command == F_SETSIG || command == F_SETOWN ||
           command == F_SETOWN_EX;
  }
  if (call.number == SYS_madvise) return call.c == MADV_DONTFORK || call.c == MADV_WIPEONFORK;
  if (call.number == SYS_mmap) return (call.d & MAP_TYPE) == kDroppable;  // zero in a fork
  return true;
}

}  // namespace

bool may_last(long number) {
  return is_open(number) || number == SYS_fcntl || number == SYS_madvise || number == SYS_mmap ||
         kind_of(number) != Kind::kNone;
}

void note(const MadeCall& call) {
  if (g_first[0] || call.result < 0 || !may_last(call.number) || !lasts(call)) return;
  char path[160];
  long at = 0;
  if (is_open(call.number)) at = call.number == SYS_open ? call.a : call.b;
  else if (kind_of(call.number) == Kind::kPath) at = call.a;
  else if (kind_of(call.number) == Kind::kSecondPath) at = call.b;
  const long length = at ? trap::string_from_program(path, at, sizeof path - 1) : -1;
  path[length > 0 ? length : 0] = 0;
  // Nothing stays in these.
  if (is_open(call.number) && (equal_strings(path, "/dev/null") || equal_strings(path, "/dev/tty")))
    return;
  char* to = append_text(g_first, "the program has called ");
  to = append_text(to, effects::name_of(call.number));
  if (path[0]) append_text(append_text(append_text(to, " ("), path), ")");
}

const char* first_lasting() { return g_first[0] ? g_first : nullptr; }

}  // namespace weir::served
