// Each probe tries the thing itself, as small as possible, rather than compare version numbers:
// containers and security modules take features away from kernels that have them. Nothing in this
// process changes.
#include "cli/launch/probe.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>

#include "cli/launch/addresses.h"
#include "cli/launch/start_tracer.h"
#include "sys/page_map.h"
#include "sys/userfault.h"

namespace weir::cli {
namespace {

std::string first_line(const std::string& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

std::string limit_text(int resource) {
  rlimit limit;
  if (getrlimit(resource, &limit) != 0) return "unknown";
  return limit.rlim_cur == RLIM_INFINITY ? "unlimited" : std::to_string(limit.rlim_cur);
}

bool limit_at_least(int resource, rlim_t wanted) {
  rlimit limit;
  return getrlimit(resource, &limit) == 0 &&
         (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= wanted);
}

Finding userfault(const char* what, uint64_t features, const char* present, const char* absent) {
  Finding finding{what, false, false, ""};
  constexpr int kFlags = O_CLOEXEC | UFFD_USER_MODE_ONLY;
  int descriptor = static_cast<int>(syscall(SYS_userfaultfd, kFlags));
  if (const int error = errno; descriptor < 0) {  // a container may allow the device only
    const int device = open("/dev/userfaultfd", O_RDWR | O_CLOEXEC);
    if (device >= 0) {
      descriptor = ioctl(device, USERFAULTFD_IOC_NEW, kFlags);
      close(device);
    }
    errno = error;
  }
  if (descriptor < 0) {
    finding.error = errno;
    finding.detail = strerror(errno);
    return finding;
  }
  uffdio_api api = {UFFD_API, features, 0};
  finding.present = ioctl(descriptor, UFFDIO_API, &api) == 0;
  finding.detail = finding.present ? present : absent;
  close(descriptor);
  return finding;
}

Finding reserved(const char* name, int protection, int type) {
  void* start =
      mmap(nullptr, kReservedAddresses, protection, type | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  Finding finding{name, start != MAP_FAILED, true, "2 TiB can be reserved"};
  if (start == MAP_FAILED) {
    finding.error = errno;
    finding.detail = fmt::format("{} (ulimit -v: {})", strerror(errno), limit_text(RLIMIT_AS));
  } else {
    munmap(start, kReservedAddresses);
  }
  return finding;
}

constexpr int kFewestKeys = 3;

// Those that can be had; all are given back.
int count_keys() {
  int keys[16], count = 0;
  while (count < 16 && (keys[count] = static_cast<int>(syscall(SYS_pkey_alloc, 0, 0))) >= 0)
    count++;
  const int error = errno;
  for (int i = 0; i < count; i++) syscall(SYS_pkey_free, keys[i]);
  errno = error;
  return count;
}

Finding protection_keys() {
  Finding finding{"protection keys", false, false, ""};
  errno = 0;
  const int keys = count_keys();
  finding.present = keys >= kFewestKeys;
  finding.detail = keys ? fmt::format("{} of them", keys) : strerror(errno);
  return finding;
}

Finding fixed_addresses() {
  switch (addresses()) {
    case Addresses::kKernel: return {"fixed addresses", true, false, "by the kernel"};
    case Addresses::kWeir:
      return {"fixed addresses", true, false, "by Weir; the kernel refuses (personality)"};
    default: return {"fixed addresses", false, false, "the kernel refuses (personality)"};
  }
}

Finding map_count() {
  std::string text = first_line("/proc/sys/vm/max_map_count");
  bool enough = !text.empty() && strtoull(text.c_str(), nullptr, 10) >= 65530;
  return {"mappings per process", enough, false, "vm.max_map_count = " + text};
}

Finding processes() {
  return {"processes", limit_at_least(RLIMIT_NPROC, 1024), false,
          fmt::format("ulimit -u {}, pid_max {}", limit_text(RLIMIT_NPROC),
                      first_line("/proc/sys/kernel/pid_max"))};
}

Finding open_files() {
  return {"open files", limit_at_least(RLIMIT_NOFILE, 256), false,
          "ulimit -n " + limit_text(RLIMIT_NOFILE)};
}

}  // namespace

Finding asynchronous_userfault() {
  return userfault("userfaultfd, asynchronous", sys::kAsynchronousProtection,
                   "write protection without a fault handler",
                   "no asynchronous write protection (Linux 6.7 has it)");
}

Finding shared_userfault() {
  return userfault("userfaultfd, shared memory", sys::kSharedMemoryFaults,
                   "missing pages, minor faults, write protection",
                   "not for shared memory (Linux 6.4 has it)");
}

Finding pagemap_scan() {
  Finding finding{"PAGEMAP_SCAN", false, false, ""};
  int descriptor = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (descriptor >= 0 && page != MAP_FAILED) {
    using namespace sys::page_map;
    Region region;
    const auto start = reinterpret_cast<uint64_t>(page);
    Scan scan = scan_into(&region, 1, start, start + 4096);
    scan.category_anyof_mask = scan.return_mask = kIsWritten;
    finding.present = ioctl(descriptor, kScan, &scan) >= 0;
  }
  finding.detail =
      finding.present ? "finds and re-arms written pages in one call" : strerror(errno);
  if (descriptor >= 0) close(descriptor);
  if (page != MAP_FAILED) munmap(page, 4096);
  return finding;
}

int ptrace_scope() { return atoi(first_line("/proc/sys/kernel/yama/ptrace_scope").c_str()); }

// As start_tracer.cc needs it: a process that is not our child's parent traces it.
Finding tracing() {
  Finding finding{"ptrace", false, false, ""};
  const pid_t tracer = start_tracer();
  finding.present = tracer != 0;
  if (!finding.present) {
    finding.error =
        ptrace(PTRACE_PEEKDATA, 0, nullptr, nullptr) == -1 && errno == ESRCH ? EPERM : errno;
  }
  dismiss_tracer(tracer);
  finding.detail = finding.present ? "the 16 random bytes of a new program can be fixed"
                                   : strerror(finding.error);
  std::string scope = first_line("/proc/sys/kernel/yama/ptrace_scope");
  if (!scope.empty()) finding.detail += fmt::format(" (ptrace_scope {})", scope);
  return finding;
}

Finding memory_file() {
  Finding finding{"memfd_create", false, true, ""};
  struct sigaction ignore = {}, was;  // a limit on file sizes is an answer, not an end
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGXFSZ, &ignore, &was);
  rlimit size{}, most{};
  getrlimit(RLIMIT_FSIZE, &size);
  most = {size.rlim_max, size.rlim_max};
  setrlimit(RLIMIT_FSIZE, &most);  // as the library does
  int descriptor = memfd_create("weir-doctor", MFD_CLOEXEC);
  finding.present =
      descriptor >= 0 && ftruncate(descriptor, static_cast<off_t>(kReservedAddresses)) == 0;
  finding.error = finding.present ? 0 : errno;
  finding.detail = finding.present ? "a sparse file of 2 TiB"
                                   : fmt::format("{} (ulimit -f: {})", strerror(errno),
                                                 limit_text(RLIMIT_FSIZE));
  if (descriptor >= 0) close(descriptor);
  setrlimit(RLIMIT_FSIZE, &size);
  sigaction(SIGXFSZ, &was, nullptr);
  return finding;
}

Finding address_space() { return reserved("address space", PROT_NONE, MAP_PRIVATE); }

Finding writable_address_space() {
  return reserved("writable address space", PROT_READ | PROT_WRITE, MAP_PRIVATE);
}

Finding text_patching() {
  bool works = false;
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page != MAP_FAILED) {
    *static_cast<unsigned char*>(page) = 0xc3;
    works = mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0;
    munmap(page, 4096);
  }
  return {"making changed pages executable", works, true,
          works ? "system call sites can be patched" : "forbidden (SELinux?)"};
}

Finding overcommit() {
  std::string mode = first_line("/proc/sys/vm/overcommit_memory");
  return {"memory overcommit", mode != "2", false, "vm.overcommit_memory = " + mode};
}

bool has_protection_keys() { return count_keys() >= kFewestKeys; }

std::vector<Finding> probe_machine() {
  return {asynchronous_userfault(),
          shared_userfault(),
          pagemap_scan(),
          memory_file(),
          address_space(),
          text_patching(),
          tracing(),
          fixed_addresses(),
          protection_keys(),
          map_count(),
          processes(),
          open_files(),
          overcommit()};
}

}  // namespace weir::cli
