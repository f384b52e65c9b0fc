#include "memory/userfault.h"

#include <fcntl.h>

#include "memory/backing.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"

namespace weir::page {

bool Userfault::open(const char* view, uint64_t features, const char* lacks) {
  const long file = open_hidden_patiently(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
  if (sys::failed(file)) {
    report("this kernel gives no userfaultfd (error %d); View %s needs it%s", int64_t{-file}, view,
           of_descriptors(file));
    return false;
  }
  file_ = static_cast<int>(file);
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = features;
  if (sys::failed(control(UFFDIO_API, &api))) {
    report("%s", lacks);
    return false;
  }
  return true;
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

}  // namespace weir::page
