// How: the store is mapped shared in every process and registered with userfaultfd for missing pages, minor faults and write protection,
// with faults as SIGBUS. UFFDIO_CONTINUE maps a page, for reading or for writing; madvise(MADV_DONTNEED) takes it away, from this
// process alone; neither splits a mapping, as mprotect would.

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "sys/memory.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"
#include "view/coherent_pages.h"

#ifndef UFFDIO_CONTINUE_MODE_WP  // Linux 6.4; Debian 12's headers are older
#define UFFDIO_CONTINUE_MODE_WP (uint64_t{1} << 1)
#endif
#ifndef UFFD_FEATURE_WP_UNPOPULATED
#define UFFD_FEATURE_WP_UNPOPULATED (1 << 13)
#endif
#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

namespace weir::view::coherent {

namespace {

int g_userfault = -1;  // per process

long control(unsigned long command, void* argument) { return sys::raw(SYS_ioctl, g_userfault, static_cast<long>(command), reinterpret_cast<long>(argument)); }


}  // namespace

[[noreturn]] void fail(const char* what, uint64_t address, long error) {
  report("cannot %s at %x (error %d)", what, address, int64_t{-error});
  die(125);
}

bool is_tracking() { return g_userfault >= 0; }

void drop(uint64_t start, uint64_t size) { sys::raw(SYS_madvise, static_cast<long>(start), static_cast<long>(size), MADV_DONTNEED); }

void protect(uint64_t start, uint64_t size, bool on) {
  uffdio_writeprotect request{};
  request.range = {start, size};
  request.mode = on ? UFFDIO_WRITEPROTECT_MODE_WP : 0;
  const long result = control(UFFDIO_WRITEPROTECT, &request);
  if (sys::failed(result) && result != -ENOENT) fail("protect a page", start, result);
}

void map(uint64_t start, uint64_t size, bool to_write, bool fills) {
  const uint64_t limit = start + size;
  uint64_t most = size;  // in one call
  while (start < limit) {
    uffdio_continue request{};
    request.range = {start, limit - start < most ? limit - start : most};
    request.mode = to_write ? 0 : UFFDIO_CONTINUE_MODE_WP;
    const long result = control(UFFDIO_CONTINUE, &request);
    if (result == 0) {
      start += request.range.len;
      continue;
    }
    if (request.mapped > 0) start += static_cast<uint64_t>(request.mapped);
    if (result == -EAGAIN) continue;
    if (result == -ENOENT && request.range.len > kPageSize) {  // it crosses from one mapping of the kernel's to another
      most = kPageSize;
      continue;
    }
    if (result == -EFAULT && fills) {  // somebody has emptied it meanwhile
      volatile uint8_t byte = *reinterpret_cast<volatile uint8_t*>(page::alias_of(start));
      (void)byte;
      continue;
    }
    if (result != -EEXIST && result != -EFAULT && result != -ENOENT) fail("map a page", start, result);
    if (to_write && result == -EEXIST) protect(start, kPageSize, false);
    start += kPageSize;
  }
}

void fill_store(uint64_t start, uint64_t size) {
  const uint64_t at = page::alias_of(start);
  if (size > kPageSize) {
    sys::expect_writes(at, size);
  } else {
    volatile uint8_t byte = *reinterpret_cast<volatile uint8_t*>(at);
    (void)byte;
  }
}

namespace {

long register_range(uint64_t start, uint64_t size) {
  uffdio_register request{};
  request.range = {start, page_up(size)};
  request.mode = UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_MINOR | UFFDIO_REGISTER_MODE_WP;
  return control(UFFDIO_REGISTER, &request);
}

// All memory of the store. What was made after this process was is mapped and tracked later (runtime/mappings.cc).
template <typename Act>
void each_range(Act act) {
  act(kArena, kArenaSize);
  const Shared& s = shared();
  for (uint32_t i = 0; i < s.region_count; i++) {
    if (s.regions[i].live) act(s.regions[i].start, page_up(s.regions[i].size));
  }
}

}  // namespace

bool open_tracking() {
  const long file = page::open_hidden(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
  if (sys::failed(file)) {
    report("this kernel gives no userfaultfd (error %d); View coherent needs it%s", int64_t{-file}, page::of_descriptors(file));
    return false;
  }
  g_userfault = static_cast<int>(file);
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = UFFD_FEATURE_SIGBUS | UFFD_FEATURE_MISSING_SHMEM | UFFD_FEATURE_MINOR_SHMEM | UFFD_FEATURE_PAGEFAULT_FLAG_WP |
                 UFFD_FEATURE_WP_HUGETLBFS_SHMEM | UFFD_FEATURE_WP_UNPOPULATED;
  const long result = control(UFFDIO_API, &api);
  if (sys::failed(result)) {
    report("this kernel's userfaultfd does not serve shared memory (Linux 6.4 does); View coherent needs that");
    return false;
  }
  take_home();
  return true;
}

void close_tracking() {
  page::close_hidden(g_userfault);
  g_userfault = -1;
}

void track(uint64_t start, uint64_t size) {
  if (g_userfault < 0) return;
  const long result = register_range(start, size);
  if (sys::failed(result)) fail("track accesses to memory", start, result);
  drop(start, page_up(size));  // what was mapped before it was tracked
}

bool is_ours(uint64_t address) { return g_userfault >= 0 && page::store_extent(address) != 0; }

void lend(uint64_t address) {
  const uint64_t page = page_down(address);
  fill_store(page, kPageSize);
  map(page, kPageSize, true);
}

void lend_all() {
  each_range([](uint64_t start, uint64_t size) {
    uffdio_range range{start, size};
    control(UFFDIO_UNREGISTER, &range);
  });
}

void take_home() {
  each_range([](uint64_t start, uint64_t size) {
    if (!sys::failed(register_range(start, size))) drop(start, size);
  });
}

}  // namespace weir::view::coherent
