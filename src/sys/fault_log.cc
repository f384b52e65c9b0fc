#include "sys/fault_log.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "sys/syscall_x86_64.h"

namespace weir::sys {

namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kRingSize = 8 * kPage;
const perf_event_mmap_page* g_ring = nullptr;

struct Sample {
  perf_event_header header;
  uint64_t address;
};

}  // namespace

bool start_fault_log(uint64_t address) {
  g_ring = nullptr;  // of the process that this one was made from: the mapping is not inherited
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_PAGE_FAULTS_MIN;
  attributes.sample_period = 1;
  attributes.sample_type = PERF_SAMPLE_ADDR;
  attributes.exclude_hv = 1;
  long event = -1;
  for (unsigned user_only = 0; user_only < 2 && event < 0; user_only++) {
    attributes.exclude_kernel = user_only;
    event = raw(SYS_perf_event_open, reinterpret_cast<long>(&attributes), 0, -1, -1,
                PERF_FLAG_FD_CLOEXEC);
  }
  if (event < 0) return false;
  // Not writable: so the kernel does not wait for a reader, but lets the ring run over itself.
  const long at = raw(SYS_mmap, static_cast<long>(address), kPage + kRingSize, PROT_READ,
                      MAP_SHARED | MAP_FIXED_NOREPLACE, event, 0);
  raw(SYS_close, event);  // the mapping keeps the event
  if (at != static_cast<long>(address)) return false;
  g_ring = reinterpret_cast<const perf_event_mmap_page*>(at);
  return true;
}

FaultMark mark_faults() {
  struct {
    uint64_t times[4], sizes[4], minor, major, others[8];
  } usage;
  raw(SYS_getrusage, RUSAGE_THREAD, reinterpret_cast<long>(&usage));
  return {usage.minor, usage.major,
          g_ring ? __atomic_load_n(&g_ring->data_head, __ATOMIC_ACQUIRE) : 0};
}

long faults_since(const FaultMark& mark, uint64_t* page, uint32_t most) {
  const FaultMark now = mark_faults();
  const uint64_t count = now.minor - mark.minor;
  if (count == 0 && now.major == mark.major) return 0;
  const uint64_t bytes = now.head - mark.head;
  if (!g_ring || now.major != mark.major || count > most || bytes != count * sizeof(Sample) ||
      bytes > kRingSize)
    return -1;
  const auto* data = reinterpret_cast<const uint8_t*>(g_ring) + kPage;
  for (uint64_t i = 0; i < count; i++) {
    const auto& sample =
        *reinterpret_cast<const Sample*>(data + (mark.head + i * sizeof(Sample)) % kRingSize);
    if (sample.header.type != PERF_RECORD_SAMPLE) return -1;
    page[i] = sample.address & ~(kPage - 1);
  }
  return static_cast<long>(count);
}

}  // namespace weir::sys
