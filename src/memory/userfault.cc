#include "memory/userfault.h"

#include <errno.h>
#include <fcntl.h>

#include "control/control.h"
#include "control/options.h"
#include "memory/backing.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"

namespace weir::page {

long Userfault::open(uint64_t features) {
  constexpr int kFlags = O_CLOEXEC | UFFD_USER_MODE_ONLY;
  long file = open_hidden_patiently(SYS_userfaultfd, kFlags);
  if (file == -EPERM || file == -ENOSYS) {  // a container may allow the device only
    const long device = open_hidden_patiently(SYS_open, reinterpret_cast<long>("/dev/userfaultfd"),
                                              O_RDWR | O_CLOEXEC);
    if (!sys::failed(device)) {
      file = open_hidden_patiently(SYS_ioctl, device, USERFAULTFD_IOC_NEW, kFlags);
      close_hidden(static_cast<int>(device));
    }
  }
  if (sys::failed(file)) return file;
  file_ = static_cast<int>(file);
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = features;
  if (!sys::failed(control(UFFDIO_API, &api))) return 0;
  close();
  return -EOPNOTSUPP;
}

void Userfault::close() {
  close_hidden(file_);
  file_ = -1;
}

long Userfault::control(unsigned long command, void* argument) const {
  return sys::raw(SYS_ioctl, file_, static_cast<long>(command), reinterpret_cast<long>(argument));
}

long Userfault::watch(uint64_t start, uint64_t size, uint64_t modes) const {
  uffdio_register request{};
  request.range = {start, page_up(size)};
  request.mode = modes;
  return control(UFFDIO_REGISTER, &request);
}

namespace {

bool is_for_descriptors(long error) { return error == -EMFILE || error == -ENFILE; }

// The first process has tried: what all do from now on.
void decide(long error) {
  MemoryState& s = shared().memory;
  s.tracker_error = static_cast<int32_t>(-error);
  s.tracker = static_cast<uint32_t>(error == 0 ? Tracker::kUserfault : Tracker::kPageTables);
}

}  // namespace

Tracker tracker() { return static_cast<Tracker>(shared().memory.tracker); }

bool open_tracker(Userfault& userfault, uint64_t features, const char* view) {
  if (tracker() == Tracker::kUndecided && options().without_userfault) decide(-ECANCELED);
  if (tracker() == Tracker::kPageTables) return true;
  const long error = userfault.open(features);
  if (tracker() == Tracker::kUndecided && !is_for_descriptors(error)) decide(error);
  if (error == 0 || tracker() == Tracker::kPageTables) return true;
  report("cannot open a userfaultfd (error %d), which View %s uses here%s", int64_t{-error}, view,
         of_descriptors(error));
  return false;
}

const char* why_page_tables() {
  if (tracker() != Tracker::kPageTables) return nullptr;
  switch (shared().memory.tracker_error) {
    case ECANCELED: return "WEIR_PAGES says so";
    case EPERM: return "userfaultfd is refused";
    case ENOSYS: return "there is no userfaultfd";
    default: return "this kernel's userfaultfd lacks what the View needs";
  }
}

}  // namespace weir::page
