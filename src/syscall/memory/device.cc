// Devices whose driver works on the memory of one process: graphics processors, virtual machines,
// network cards that write to memory. What such a driver does there is written in no table, and it
// knows nothing of the other processes in which a View runs threads.

#include <sys/syscall.h>

#include "control/control.h"
#include "control/plan.h"
#include "memory/program_memory.h"
#include "record/input.h"
#include "sys/report.h"
#include "syscall/syscall.h"

namespace weir::syscalls {

namespace {

constexpr const char* kOwners[] = {"/dev/nvidia", "/dev/dri/",      "/dev/kfd",
                                   "/dev/kvm",    "/dev/vfio/",     "/dev/infiniband/",
                                   "/dev/accel/", "/dev/habanalabs"};

bool begins_with(const char* text, const char* begin) {
  while (*begin && *text == *begin) text++, begin++;
  return !*begin;
}

}  // namespace

bool may_own_memory(long number) { return number == SYS_open || number == SYS_openat; }

OpenedDevice::OpenedDevice(const Call& call) {
  if (!may_own_memory(call.number) || (!plan().has_processes() && !input::is_on())) return;
  const long at = call.number == SYS_openat ? call.b : call.a;
  if (trap::string_from_program(path_, at, sizeof path_) < 0) path_[0] = 0;
}

void OpenedDevice::note(long result) const {
  if (!path_[0] || result < 0 || input::replaying()) return;
  bool owns_memory = false;
  for (const char* owner : kOwners) owns_memory |= begins_with(path_, owner);
  if (!owns_memory || __atomic_exchange_n(&shared().program.told_device, 1u, __ATOMIC_RELAXED))
    return;
  if (input::recording()) {
    report(
        "%s is not recorded: the calls of its driver fail, as where there is no such device; "
        "'weir run --order serial' and 'weir hunt' run programs that need it",
        path_);
  } else {
    report(
        "%s belongs to one process, and here each thread has its own: the calls of its driver "
        "may fail; 'weir run --order token --view direct' runs programs that need it",
        path_);
  }
}

}  // namespace weir::syscalls
