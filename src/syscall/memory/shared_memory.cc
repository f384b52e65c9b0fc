// Memory that processes share, in a recording: mapped by mmap, attached and detached by shmat and
// shmdt.
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>

#include "base/bytes.h"
#include "control/control.h"
#include "control/process.h"
#include "memory/backing.h"
#include "memory/reserve.h"
#include "record/input.h"
#include "record/shared_memory.h"
#include "sys/descriptor.h"
#include "sys/maps.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"
#include "syscall/memory/calls.h"
#include "syscall/memory/change_rules.h"
#include "syscall/memory/reserved.h"
#include "task/mapping_log.h"

namespace weir::syscalls {

namespace {

// It lies where the program had other memory (SHM_REMAP).
void replace_by_shared(Range range) {
  if (page::is_handed_out(range.start)) claim_in_reserve(range.start, range.size(), true);
  begin_anew(range.start, range.size());
}

// What is mapped of the segment that was attached at `start`. Its first pages may be unmapped.
Range segment_at(uint64_t start) {
  char* cursor;
  if (sys::read_maps(&cursor) < 0) return {};
  Range found{};
  uint64_t segment = 0;
  for (sys::MapLine line; (cursor = sys::next_map_line(cursor, &line));) {
    if (!starts_with(line.name, "/SYSV") || line.range.start - start != line.offset) continue;
    if (found.empty()) found = line.range, segment = line.inode;
    else if (line.inode == segment) found.limit = line.range.limit;
  }
  return found;
}

}  // namespace

long open_kept(long number, long a, long b, long c) {
  const long kept = page::open_hidden(number, a, b, c);
  if (kept != -EMFILE && kept != -ENFILE) return kept;
  runtime::let_all_catch_up();
  return page::open_hidden(number, a, b, c);
}

bool map_shared_memory(const Call& call, uint64_t size, int protection, long& result) {
  if (!input::is_on()) return false;
  long kept = -1, descriptor = call.e, flags = call.d, offset = call.f;
  if (g_tasks_active && input::recording()) {  // every process of the program maps it
    if (!(flags & MAP_ANONYMOUS) && sys::is_shared_zero(descriptor)) flags |= MAP_ANONYMOUS;
    kept = flags & MAP_ANONYMOUS
               ? open_kept(SYS_memfd_create, reinterpret_cast<long>("weir-shared"), MFD_CLOEXEC)
               : open_kept(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, 3);
    if (!sys::failed(kept) && (flags & MAP_ANONYMOUS)) {
      if (page::set_file_size(static_cast<int>(kept), page_up(size)) != 0) {
        report("no memory for what processes are to share");
        die(125);
      }
      flags &= ~long{MAP_ANONYMOUS};
      descriptor = kept;
      offset = 0;
    }
  }
  const bool is_shared_memory = shared_memory::map(
      call.a, size, protection, flags, static_cast<int>(descriptor), address(offset), result);
  const bool is_noted =
      is_shared_memory && !sys::failed(result) &&
      change_rules().note_shared_memory({address(result), address(result) + size}, protection,
                                        static_cast<int>(kept), address(offset));
  if (!is_noted && kept >= 0) page::close_hidden(static_cast<int>(kept));
  return is_shared_memory;
}

// All processes attach it at once: its number may be given away, and they detach it at once, as
// with its last mapping it may end.
long attach_everywhere(const Call& call) {
  const long result = input::log_value(input::What::kShared,
                                       [&] { return sys::raw(SYS_shmat, call.a, call.b, call.c); });
  if (sys::failed(result)) return result;
  const int protection = call.c & SHM_RDONLY ? PROT_READ : PROT_READ | PROT_WRITE;
  const auto size = static_cast<uint64_t>(input::log_value(
      input::What::kShared, [&] { return shared_memory::size_at(address(result)); }));
  const Range range{address(result), address(result) + size};
  if (call.c & SHM_REMAP) replace_by_shared(range);
  if (input::is_on()) shared_memory::attach(range, protection, call.c & SHM_REMAP);
  change_rules().note_attached(range, protection, call.a);
  return result;
}

long detach_everywhere(const Call& call) {
  const Range range =
      input::is_on() ? shared_memory::mapping_at(address(call.a)) : segment_at(address(call.a));
  if (range.empty()) return -EINVAL;
  const long result =
      input::log_value(input::What::kShared, [&] { return sys::raw(SYS_shmdt, call.a); });
  if (result != 0) return result;
  if (input::replaying()) sys::raw(SYS_munmap, call.a, static_cast<long>(range.size()));
  shared_memory::on_unmap(range.start, range.size());
  change_rules().note_detached(range);
  return 0;
}

}  // namespace weir::syscalls
