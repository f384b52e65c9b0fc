// A file that is mapped privately and changes. The kernel shows the change on pages that the
// program has not written; memory of the backing has what the file had when it was mapped. So the
// program is told of, once.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "check/core/check.h"
#include "control/control.h"
#include "control/process.h"
#include "memory/file_bytes.h"
#include "record/input.h"
#include "record/shared_memory.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"
#include "syscall/memory/calls.h"
#include "syscall/memory/change_rules.h"

namespace weir::syscalls {

namespace {

constexpr Range kWhole{0, ~uint64_t{0}};

// What the call has changed, of which file.
struct Change {
  long descriptor = -1;  // or, where there is none, by its path
  long path = 0;
  Range bytes = kWhole;
  long before_position = 0;  // that many: where the descriptor stands now
};

// The descriptor of the file whose bytes the call may change; -1: it is no such call.
long changed_file(const Call& call) {
  switch (call.number) {
    case SYS_write:
    case SYS_pwrite64:
    case SYS_writev:
    case SYS_pwritev:
    case SYS_pwritev2:
    case SYS_ftruncate:
    case SYS_fallocate:
    case SYS_sendfile: return call.a;
    case SYS_copy_file_range:
    case SYS_splice: return call.c;
    default: return -1;
  }
}

bool changes(const Call& call, long result, Change& change) {
  change.descriptor = changed_file(call);
  switch (call.number) {
    case SYS_write:
    case SYS_writev: change.before_position = result; return result > 0;
    case SYS_pwrite64:
    case SYS_pwritev:
    case SYS_pwritev2:
      change.bytes = {address(call.d), address(call.d + result)};
      if (call.number == SYS_pwritev2 && call.d == -1) change.before_position = result;
      return result > 0;
    case SYS_sendfile:
    case SYS_copy_file_range:
    case SYS_splice: return result > 0;
    case SYS_ftruncate:
    case SYS_fallocate: return result == 0;
    case SYS_truncate: change.path = call.a; return result == 0;
    case SYS_creat:
    case SYS_open:
    case SYS_openat: {
      const bool is_at = call.number == SYS_openat;
      const long flags = call.number == SYS_creat ? O_TRUNC : is_at ? call.c : call.b;
      change.descriptor = result;
      return result >= 0 && (flags & O_TRUNC);
    }
    default: return false;
  }
}

void tell(const struct stat& status, Range bytes) {
  const FileSource* source;
  const Range part = page::mapped_part(status.st_dev, status.st_ino, bytes, &source);
  if (part.empty() || !page::first_time(page::FileWord::kChanged)) return;
  report(
      "%s is mapped privately at %x, and the program changes it: its pages there keep what they "
      "had when they were mapped, also where the program has not written to them",
      page::name_of(*source), part.start);
}

}  // namespace

// Which bytes of the file the call will change, as far as that is known before.
Range bytes_to_change(const Call& call, long descriptor) {
  const auto bytes_at = [&](long start) {
    const uint64_t from = address(start);
    return Range{from, call.c < 0 ? kWhole.limit : from + address(call.c)};
  };
  switch (call.number) {
    case SYS_pwrite64: return bytes_at(call.d);
    case SYS_ftruncate: {
      struct stat status {};
      if (sys::raw(SYS_fstat, descriptor, reinterpret_cast<long>(&status)) != 0) return kWhole;
      return {address(call.b < status.st_size ? call.b : status.st_size), kWhole.limit};
    }
    case SYS_write: {
      const long flags = sys::raw(SYS_fcntl, descriptor, F_GETFL);
      const long position = sys::raw(SYS_lseek, descriptor, 0, SEEK_CUR);
      const bool is_known = !sys::failed(flags) && !(flags & O_APPEND) && !sys::failed(position);
      return is_known ? bytes_at(position) : kWhole;
    }
    default: return kWhole;
  }
}

void take_file(Task& task, const Call& call) {
  const long file = changed_file(call);
  if (file < 0) return;
  const Range bytes = input::replaying() ? kWhole : bytes_to_change(call, file);
  shared_memory::before_file_change(task, file, bytes);
}

// What the program has by a shared mapping may be the same file.
void note_file_change(Task& task, const Call& call) {
  if (const long file = changed_file(call); file >= 0) shared_memory::on_file_change(task, file);
}

bool may_change_file(long number) {
  switch (number) {
    case SYS_pwrite64:
    case SYS_pwritev:
    case SYS_pwritev2:
    case SYS_fallocate:
    case SYS_copy_file_range: return true;
    default: return false;
  }
}

void note_private_file(const Call& call, long result) {
  if (!has_monitor() || input::replaying()) return;
  if (!shared().memory.file_range_count || sys::failed(result)) return;
  Change change;
  if (!changes(call, result, change)) return;
  struct stat status {};
  const auto to = reinterpret_cast<long>(&status);
  const long wrong = change.path ? sys::raw(SYS_newfstatat, AT_FDCWD, change.path, to, 0)
                                 : sys::raw(SYS_fstat, change.descriptor, to);
  if (wrong || !S_ISREG(status.st_mode)) return;
  if (change.before_position) {
    const long position = sys::raw(SYS_lseek, change.descriptor, 0, SEEK_CUR);
    if (sys::failed(position)) return;
    change.bytes = {address(position - change.before_position), address(position)};
  }
  tell(status, change.bytes);
}

void note_shared_file(const Call& call, long result) {
  const bool is_shared = (call.d & MAP_TYPE) != MAP_PRIVATE && (call.c & PROT_WRITE);
  const bool writes = is_shared && !(call.d & MAP_ANONYMOUS);
  if (is_shared && !sys::failed(result)) view::checked::note_unwatched(address(result));
  if (writes && !sys::failed(result)) change_rules().note_shared_write(call);
}

void tell_of_shared_write(const Call& call) {
  if (input::replaying()) return;
  struct stat status {};
  if (sys::raw(SYS_fstat, call.e, reinterpret_cast<long>(&status)) == 0)
    tell(status, {address(call.f), address(call.f) + page_up(address(call.b))});
}

}  // namespace weir::syscalls
