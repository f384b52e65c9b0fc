#include "cli/common/shared_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "cli/common/failure.h"

namespace weir::cli {
namespace {

// Raises a soft limit to the hard one while it lives.
class Lifted {
 public:
  explicit Lifted(__rlimit_resource resource) : resource_(resource) {
    getrlimit(resource, &was);
    const rlimit most{was.rlim_max, was.rlim_max};
    setrlimit(resource_, &most);
  }
  ~Lifted() { setrlimit(resource_, &was); }
  rlimit was{RLIM_INFINITY, RLIM_INFINITY};

 private:
  __rlimit_resource resource_;
};

}  // namespace

SharedMemory::SharedMemory(const char* name, uint64_t size, const std::string& purpose)
    : size_(size) {
  const Lifted limit(RLIMIT_FSIZE);
  if (limit.was.rlim_max < size) {  // the kernel would answer with a signal
    throw Failure(kWeirFailed, fmt::format("cannot make the memory {}: {} (ulimit -f)", purpose,
                                           strerror(EFBIG)));
  }
  descriptor_ = memfd_create(name, MFD_CLOEXEC);
  if (descriptor_ < 0 || ftruncate(descriptor_, static_cast<off_t>(size)) != 0) {
    throw Failure(kWeirFailed,
                  fmt::format("cannot make the memory {}: {}", purpose, strerror(errno)));
  }
  void* at =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor_, 0);
  if (at == MAP_FAILED) {
    throw Failure(kWeirFailed, fmt::format("cannot map the memory {}: {} (ulimit -v?)", purpose,
                                           strerror(errno)));
  }
  base_ = reinterpret_cast<uint64_t>(at);
}

SharedMemory::~SharedMemory() {
  munmap(reinterpret_cast<void*>(base_), size_);
  close(descriptor_);
}

bool SharedMemory::pass_on(int number) const { return pass_descriptor_on(descriptor_, number); }

bool pass_descriptor_on(int descriptor, int number) {
  const Lifted limit(RLIMIT_NOFILE);
  return dup2(descriptor, number) == number;
}

int descriptor_number(bool is_low) {
  constexpr rlim_t kHighest = 60000, kRoom = 1400, kFloor = 700;
  constexpr rlim_t kLow = 1024, kLowRoom = 64;  // kLow: what select() cannot take
  rlimit limit{1024, 1024};
  getrlimit(RLIMIT_NOFILE, &limit);
  const rlim_t now = limit.rlim_max;
  if (is_low && limit.rlim_cur >= kLow && now >= kLow + kLowRoom) return kLow;
  if (now > limit.rlim_cur && limit.rlim_cur < kHighest) return static_cast<int>(limit.rlim_cur);
  const rlim_t floor = std::min(now > 2 * kRoom ? now - kRoom : kFloor, kHighest);
  return static_cast<int>(floor < now ? floor : now / 2);
}

}  // namespace weir::cli
