// Memory that processes share, in a recording: mapped by mmap, attached and detached by shmat and
// shmdt.
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>

#include "control/control.h"
#include "control/process.h"
#include "memory/backing.h"
#include "record/input.h"
#include "record/shared_memory.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"
#include "syscall/memory/calls.h"
#include "task/mapping_log.h"

namespace weir::syscalls {

using runtime::record_mapping;

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
  if (is_shared_memory && !sys::failed(result) && g_tasks_active) {
    page::remove_memory_segment(address(result), size);
    record_mapping({MappingKind::kMapSharedMemory, protection, MAP_SHARED | MAP_FIXED,
                    static_cast<int>(kept), address(result), page_up(size), address(offset), 0, 0});
  } else if (kept >= 0) {
    page::close_hidden(static_cast<int>(kept));
  }
  return is_shared_memory;
}

long attach_shared_memory(const Call& call) {
  const long result = input::log_value(input::What::kShared,
                                       [&] { return sys::raw(SYS_shmat, call.a, call.b, call.c); });
  if (sys::failed(result)) return result;
  const int protection = call.c & SHM_RDONLY ? PROT_READ : PROT_READ | PROT_WRITE;
  const auto size = static_cast<uint64_t>(input::log_value(
      input::What::kShared, [&] { return shared_memory::size_at(address(result)); }));
  shared_memory::attach({address(result), address(result) + size}, protection);
  if (g_tasks_active)
    record_mapping({MappingKind::kAttachSharedMemory, protection, 0, -1, address(result), size,
                    address(call.a), 0, 0});
  return result;
}

long detach_shared_memory(const Call& call) {
  const Range range = shared_memory::mapping_at(address(call.a));
  if (range.empty()) return -EINVAL;
  const long result =
      input::log_value(input::What::kShared, [&] { return sys::raw(SYS_shmdt, call.a); });
  if (result != 0) return result;
  if (input::replaying()) sys::raw(SYS_munmap, call.a, static_cast<long>(range.size()));
  shared_memory::on_unmap(range.start, range.size());
  if (g_tasks_active)
    record_mapping({MappingKind::kUnmap, 0, 0, -1, range.start, range.size(), 0, 0, 0});
  return 0;
}

}  // namespace weir::syscalls
