// How: the backing is mapped shared in every process. With userfaultfd it is registered with
// userfaultfd for missing pages, minor faults and write protection, with faults as SIGBUS.
// UFFDIO_CONTINUE maps a page, for reading or for writing; madvise(MADV_DONTNEED) takes it away,
// from this process alone; neither splits a mapping, as mprotect would. Without it, see
// closed_pages.h.

#include "memory/demand.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>

#include "memory/backing.h"
#include "memory/closed_pages.h"
#include "memory/userfault.h"
#include "memory/windows.h"
#include "sys/memory.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"

namespace weir::page::demand {

namespace {

Userfault g_userfault;  // per process

}  // namespace

[[noreturn]] void fail(const char* what, uint64_t address, long error) {
  report("cannot %s at %x (error %d)", what, address, int64_t{-error});
  die(125);
}

bool is_open() { return g_userfault.is_open() || closed::is_open(); }

void drop(uint64_t start, uint64_t size) {
  if (windows::contains(start)) return windows::unmap(start, size);
  if (closed::is_open()) return closed::drop(start, size);
  sys::raw(SYS_madvise, static_cast<long>(start), static_cast<long>(size), MADV_DONTNEED);
}

bool keeps_emptied() { return closed::is_open(); }

void protect(uint64_t start, uint64_t size, bool on) {
  if (closed::is_open()) return closed::map(start, size, !on);
  uffdio_writeprotect request{};
  request.range = {start, size};
  request.mode = on ? UFFDIO_WRITEPROTECT_MODE_WP : 0;
  const long result = g_userfault.control(UFFDIO_WRITEPROTECT, &request);
  if (sys::failed(result) && result != -ENOENT) fail("protect a page", start, result);
}

bool (*g_stays_closed)(uint64_t page) = nullptr;

void map(uint64_t start, uint64_t size, bool to_write, bool fills) {
  if (!g_stays_closed) return map_closed(start, size, to_write, fills);
  uint64_t from = start;
  for (uint64_t at = start; at < start + size; at += kPageSize) {
    if (!g_stays_closed(at)) continue;
    if (at > from) map_closed(from, at - from, to_write, fills);
    from = at + kPageSize;
  }
  if (start + size > from) map_closed(from, start + size - from, to_write, fills);
}

void map_closed(uint64_t start, uint64_t size, bool to_write, bool fills) {
  if (windows::contains(start)) return windows::map(start, size, to_write);
  if (closed::is_open()) return closed::map(start, size, to_write);
  const uint64_t limit = start + size;
  uint64_t most = size;  // in one call
  while (start < limit) {
    uffdio_continue request{};
    request.range = {start, limit - start < most ? limit - start : most};
    request.mode = to_write ? 0 : UFFDIO_CONTINUE_MODE_WP;
    const long result = g_userfault.control(UFFDIO_CONTINUE, &request);
    if (result == 0) {
      start += request.range.len;
      continue;
    }
    if (request.mapped > 0) start += static_cast<uint64_t>(request.mapped);
    if (result == -EAGAIN) continue;
    if (result == -ENOENT &&
        request.range.len > kPageSize) {  // it crosses from one mapping of the kernel's to another
      most = kPageSize;
      continue;
    }
    if (result == -EFAULT && fills) {  // the backing has no such page: yet, or somebody emptied it
      fill_backing(start, limit - start);
      continue;
    }
    if (result != -EEXIST && result != -EFAULT && result != -ENOENT)
      fail("map a page", start, result);
    if (to_write && result == -EEXIST) protect(start, kPageSize, false);
    start += kPageSize;
  }
}

void fill_backing(uint64_t start, uint64_t size) {
  const uint64_t at = shared_view_of(start);
  if (size > kPageSize) sys::expect_writes(at, size);  // which may fail
  volatile uint8_t byte = *reinterpret_cast<volatile uint8_t*>(at);
  (void)byte;
}

namespace {

long register_range(uint64_t start, uint64_t size) {
  return g_userfault.watch(
      start, size,
      UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_MINOR | UFFDIO_REGISTER_MODE_WP);
}

}  // namespace

bool open(const char* view) {
  if (!open_tracker(g_userfault, sys::kSharedMemoryFaults, view)) return false;
  if (!g_userfault.is_open()) closed::open_tracking();
  return_borrowed();
  return true;
}

void close() {
  closed::close_tracking();
  g_userfault.close();
}

void track(uint64_t start, uint64_t size) {
  if (closed::is_open()) return closed::track(start, size);
  if (!g_userfault.is_open()) return;
  const long result = register_range(start, size);
  if (sys::failed(result)) fail("track accesses to memory", start, result);
  drop(start, page_up(size));  // what was mapped before it was tracked
}

bool is_ours(uint64_t address) { return is_open() && backing_bytes_at(address) != 0; }

bool is_fault(int signal, const siginfo_t& info, const ucontext_t& context) {
  if (info.si_code <= 0) return false;  // somebody has sent it
  if (signal == SIGBUS) return true;
  const auto address = reinterpret_cast<uint64_t>(info.si_addr);
  const auto error = static_cast<uint64_t>(context.uc_mcontext.gregs[REG_ERR]);
  return signal == SIGSEGV && (windows::contains(address) || closed::is_fault(address, error));
}

void borrow(uint64_t address) {
  const uint64_t page = page_down(address);
  fill_backing(page, kPageSize);
  map_closed(page, kPageSize, true);
}

void borrow_all() {
  windows::map_all();
  if (closed::is_open()) return closed::open_all();
  each_range([](uint64_t start, uint64_t size) {
    uffdio_range range{start, size};
    g_userfault.control(UFFDIO_UNREGISTER, &range);
  });
}

// What was made after this process was is mapped and tracked later (task/mapping_log.cc).
void return_borrowed() {
  windows::unmap_all();
  if (closed::is_open()) return closed::close_all();
  each_range([](uint64_t start, uint64_t size) {
    if (!sys::failed(register_range(start, size))) drop(start, size);
  });
}

}  // namespace weir::page::demand
