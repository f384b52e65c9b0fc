#include "cli/trace_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "cli/failure.h"
#include "sys/futex.h"
#include "trace/wait.h"

// The command's own: libc's functions are faster than what the runtime must do without them.
namespace weir {
void copy_bytes(void* to, const void* from, size_t size) {
  if (size != 0) memcpy(to, from, size);
}
void zero_bytes(void* at, size_t size) { memset(at, 0, size); }
}  // namespace weir

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

TraceMemory::TraceMemory(trace::Mode mode) {
  const Lifted limit(RLIMIT_FSIZE);
  if (limit.was.rlim_max < trace::kTraceSize) {  // the kernel would answer with a signal
    throw Failure(kWeirFailed, fmt::format("cannot make the memory for a recording: {} (ulimit -f)", strerror(EFBIG)));
  }
  descriptor_ = memfd_create("weir-trace", MFD_CLOEXEC);
  if (descriptor_ < 0 || ftruncate(descriptor_, trace::kTraceSize) != 0) {
    throw Failure(kWeirFailed, fmt::format("cannot make the memory for a recording: {}", strerror(errno)));
  }
  void* at = mmap(nullptr, trace::kTraceSize, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor_, 0);
  if (at == MAP_FAILED) {
    throw Failure(kWeirFailed, fmt::format("cannot map the memory for a recording: {} (ulimit -v?)", strerror(errno)));
  }
  base_ = reinterpret_cast<uint64_t>(at);
  header().magic = trace::kMagic;
  header().version = trace::kFormatVersion;
  header().mode = mode;
  header().command = getpid();
}

TraceMemory::~TraceMemory() {
  munmap(reinterpret_cast<void*>(base_), trace::kTraceSize);
  close(descriptor_);
}

void TraceMemory::set_run(const std::string& directory, const std::string& log, bool fingerprint, bool stat) {
  header().options = (fingerprint ? trace::kWithFingerprint : 0) | (stat ? trace::kWithStat : 0);
  snprintf(header().directory, sizeof header().directory, "%s", directory.c_str());
  snprintf(header().log, sizeof header().log, "%s", log.c_str());
  for (int i = 0; i < 2; i++) {
    struct stat status;
    if (fstat(i + 1, &status) != 0) continue;
    header().output[i] = {status.st_dev, status.st_ino, S_ISCHR(status.st_mode) ? status.st_rdev : 0, isatty(i + 1) == 1, 0};
  }
}

void TraceMemory::set_gone(const std::string& why) {
  if (header().gone) return;
  snprintf(header().why, sizeof header().why, "%s", why.c_str());
  __atomic_store_n(&header().gone, 1, __ATOMIC_RELEASE);
  const uint32_t slots = std::min(__atomic_load_n(&header().slots, __ATOMIC_ACQUIRE), trace::kMostStreams);
  for (uint32_t i = 0; i < slots; i++) trace::wake(header().slot[i]);
}

uint32_t TraceMemory::bell() const { return __atomic_load_n(&header().bell, __ATOMIC_SEQ_CST); }

void TraceMemory::sleep(uint32_t seen, uint64_t nanoseconds) {
  __atomic_store_n(&header().sleeps, 1, __ATOMIC_SEQ_CST);
  sys::futex_wait(&header().bell, seen, nanoseconds);
  __atomic_store_n(&header().sleeps, 0, __ATOMIC_SEQ_CST);
}

bool TraceMemory::pass_on(int number) const {
  const Lifted limit(RLIMIT_NOFILE);
  return dup2(descriptor_, number) == number;
}

int descriptor_number() {
  constexpr rlim_t kHighest = 60000, kRoom = 1400, kFloor = 700;
  rlimit limit{1024, 1024};
  getrlimit(RLIMIT_NOFILE, &limit);
  const rlim_t now = limit.rlim_max;
  if (now > limit.rlim_cur && limit.rlim_cur < kHighest) return static_cast<int>(limit.rlim_cur);
  const rlim_t floor = std::min(now > 2 * kRoom ? now - kRoom : kFloor, kHighest);
  return static_cast<int>(floor < now ? floor : now / 2);
}

}  // namespace weir::cli
