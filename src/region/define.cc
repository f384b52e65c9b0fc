// Memory that exists becomes part of the file: its pages are copied into pages of the file, which
// are then mapped in their place. From then on it is the same memory by its old address and in the
// windows.
//
// Other threads go on meanwhile. A thread that writes to these pages between the copy and the
// mapping would lose what it writes. So they are write-protected first, and a thread that then
// faults there waits in the handler until the new mapping is in place. (The kernel does not fault:
// a system call that writes there fails with EFAULT.) The calling thread itself may not write
// there: its stack is refused, and none of this code's variables lies in a page of the program's
// (state.h, invariant 5). A page that several regions touch is converted once, and turns back into
// private memory when the last of them is freed.
//
// A region may begin in a page that is converted and end in one that is not. So the file has the
// pages of one stretch of address space (a chunk, a 64th of a window) in the same order. The place
// of a chunk's page is then known before it is converted. The regions that the directory has in a
// page tell that it has been converted.

#include <errno.h>
#include <string.h>

#include "region/registry.h"
#include "region/signals_blocked.h"
#include "region/space.h"
#include "region/state.h"
#include "sys/maps.h"
#include "sys/memory.h"

namespace weir::region {

namespace {

uint64_t chunk_size() { return uint64_t{1} << (g_state->shift - 6); }

// In one of the chunks: where that address is, or would be, in the file. 0: in none.
uint64_t place_at_home(uint64_t address) {
  const State& state = *g_state;
  const uint64_t count = __atomic_load_n(
      &state.chunk_count, __ATOMIC_ACQUIRE);  // acquire: the entries before it are whole
  for (uint64_t i = 0; i < count; i++) {
    if (address - state.chunks[i].home < chunk_size())
      return state.chunks[i].offset + (address - state.chunks[i].home);
  }
  return 0;
}

bool is_converted(uint64_t page) {
  const uint64_t offset = place_at_home(page);
  return offset && __atomic_load_n(&g_state->directory[offset / kPage], __ATOMIC_RELAXED);
}

// Chunks for all of [start, end), one behind another in the file. 0 or an error number.
int make_chunks(uint64_t start, uint64_t end) {
  State& state = *g_state;
  const uint64_t size = chunk_size();
  const uint64_t first = start & ~(size - 1), last = (end - 1) & ~(size - 1);
  const uint64_t wanted = (last - first) / size + 1;
  uint64_t known = 0;
  while (known < wanted && place_at_home(first + known * size)) known++;
  for (uint64_t i = 0; i < wanted; i++) {
    const uint64_t at = place_at_home(first + i * size);
    if (i < known ? at != place_at_home(first) + i * size : at != 0)
      return ENOTSUP;  // the file has them in another order
  }
  if (known == wanted) return 0;
  if (state.chunk_count + wanted - known > kMaxChunks) return ENOMEM;
  const uint64_t offset = take_pages((wanted - known) * size / kPage);
  if (!offset) return ENOMEM;
  if (known && offset != place_at_home(first) + known * size) return ENOTSUP;
  for (uint64_t i = known; i < wanted; i++) {
    state.chunks[state.chunk_count] = {first + i * size, offset + (i - known) * size};
    __atomic_store_n(&state.chunk_count, state.chunk_count + 1, __ATOMIC_RELEASE);
  }
  return 0;
}

// Whether the pages of [start, end) that are not converted can be: readable, writable, private, not
// executable, and not the stack that we stand on. 0 or an error number.
int look_at_mappings(uint64_t start, uint64_t end) {
  const auto stack = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  char* cursor;
  if (sys::read_maps(&cursor) < 0) return EFAULT;
  uint64_t page = start;
  const auto skip_to = [&](uint64_t limit) {
    while (page < end && (page < limit || is_converted(page))) page += kPage;
  };
  skip_to(0);
  sys::MapLine line;
  while (page < end && (cursor = sys::next_map_line(cursor, &line))) {
    if (!line.range.contains(page)) continue;
    if (!line.readable || !line.writable || line.executable || line.shared ||
        line.range.contains(stack))
      return ENOTSUP;
    skip_to(line.range.limit);
  }
  return page < end ? EFAULT : 0;
}

void set_converting(uint64_t start, uint64_t end) {
  __atomic_store_n(&g_state->converting_end, end, __ATOMIC_RELAXED);
  __atomic_store_n(&g_state->converting, start,
                   __ATOMIC_SEQ_CST);  // before the pages are protected
}

// To pages that are zero: what is zero there need not become memory here.
void copy_nonzero(char* to, const char* from, uint64_t size) {
  for (uint64_t at = 0; at < size; at += kPage) {
    if (from[at] || memcmp(from + at, from + at + 1, kPage - 1) != 0)
      memcpy(to + at, from + at, kPage);
  }
}

void copy_populated(char* to, uint64_t offset, uint64_t size) {
  for (Range part{offset, offset}; part.start < offset + size; part.start = part.limit) {
    part = next_populated(part.start, offset + size);
    memcpy(to + (part.start - offset), open_address(part.start), part.limit - part.start);
  }
}

// Pages become other memory with the same bytes: of the file, in which their place is `offset`, or
// private again.
int exchange(uint64_t start, uint64_t size, uint64_t offset, bool to_file) {
  const SignalsBlocked blocked;  // a handler on this thread could not wait for this thread
  set_converting(start, start + size);
  int result = sys::protect(start, size, PROT_READ) ? ENOMEM : 0;
  if (!result && to_file) {
    copy_nonzero(open_address(offset), reinterpret_cast<const char*>(start), size);
    result = map_again(start, offset, size, kWrite);
    sys::raw(SYS_madvise, static_cast<long>(start), static_cast<long>(size), MADV_DODUMP);
  } else if (!result) {
    // New private memory with these bytes, made elsewhere and moved here in one step.
    const long fresh = sys::raw(SYS_mmap, 0, static_cast<long>(size), PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    result = fresh < 0 ? ENOMEM : 0;
    if (!result) copy_populated(reinterpret_cast<char*>(fresh), offset, size);
    if (!result && sys::raw(SYS_mremap, fresh, static_cast<long>(size), static_cast<long>(size),
                            MREMAP_MAYMOVE | MREMAP_FIXED, static_cast<long>(start)) < 0)
      result = ENOMEM;
  }
  if (result) sys::protect(start, size, PROT_READ | PROT_WRITE);
  __atomic_fetch_add(&g_state->conversions, uint64_t{1}, __ATOMIC_SEQ_CST);
  set_converting(0, 0);
  return result;
}

// Pages that no region touches any more, as long stretches as there are: each is a mapping of its
// own for the kernel.
void turn_back(uint64_t start, uint64_t end) {
  for (uint64_t page = start; page < end;) {
    uint64_t run = page;
    while (run < end && !is_converted(run)) run += kPage;
    if (run > page &&
        !exchange(page, run - page, place_at_home(page), false)) {  // else it stays shared
      char* place = open_address(place_at_home(page));              // zeros, for copy_nonzero
      if (sys::raw(SYS_madvise, reinterpret_cast<long>(place), static_cast<long>(run - page),
                   MADV_REMOVE))
        memset(place, 0, run - page);
    }
    page = run + kPage;
  }
}

// Every page of [start, end) is in the file then; or none that was not.
int convert(uint64_t start, uint64_t end) {
  if (const int error = look_at_mappings(start, end)) return error;
  if (const int error = make_chunks(start, end)) return error;
  for (uint64_t page = start; page < end;) {
    uint64_t run = page;
    while (run < end && !is_converted(run)) run += kPage;
    if (run > page) {
      if (const int error = exchange(page, run - page, place_at_home(page), true)) {
        turn_back(start, page);
        return error;
      }
    }
    page = run + kPage;
  }
  return 0;
}

int define(void* address, size_t size, void* pointer, weir_region_handler_fn handler) {
  if (const int error = started()) return error;
  const auto at = reinterpret_cast<uint64_t>(address);
  if (!address || at + size < at || place_of(at).inside) return EINVAL;
  if (const int error = check_size(size)) return error;
  const OwnerGuard guard(g_state->registry);
  if (!guard.taken()) return EDEADLK;
  uint64_t offset;
  Region* other;
  if (find_paged(at, &offset, &other)) return EINVAL;
  if (is_registered(pointer)) return EEXIST;
  void** location = reinterpret_cast<void**>(open_of(reinterpret_cast<uint64_t>(pointer)));
  if (pointer && *location && reinterpret_cast<uint64_t>(*location) - at > size) return EINVAL;
  for (uint64_t page = page_down(at); page < at + size; page += kPage) {
    if (!is_converted(page)) continue;
    const uint64_t from = place_at_home(page > at ? page : at);
    const uint64_t limit =
        place_at_home(page) + (at + size - page < kPage ? at + size - page : kPage);
    if (find_first(from, limit)) return EEXIST;
  }
  const uint64_t start = page_down(at), end = page_up(at + size);
  if (const int error = convert(start, end)) return error;
  Region* region = make_region(place_at_home(at), size, handler);
  if (!region) {
    turn_back(start, end);
    return ENOMEM;
  }
  region->home = at;
  if (!pointer) return 0;
  if (!*location) *location = address;
  if (const int error = register_pointer(pointer, region)) {
    drop_region(region);
    turn_back(start, end);
    return error;
  }
  return 0;
}

}  // namespace

bool find_home(uint64_t address, uint64_t* offset) {
  const uint64_t at = place_at_home(address);
  if (!at || !is_converted(page_down(address))) return false;
  *offset = at;
  return true;
}

bool waits_for_conversion(uint64_t address) {
  State& state = *g_state;
  const uint64_t conversions = __atomic_load_n(&state.conversions, __ATOMIC_SEQ_CST);
  const uint64_t start = __atomic_load_n(&state.converting, __ATOMIC_SEQ_CST);
  if (start && address >= start &&
      address < __atomic_load_n(&state.converting_end, __ATOMIC_RELAXED)) {
    if (state.registry.is_mine()) return false;
    while (__atomic_load_n(&state.converting, __ATOMIC_SEQ_CST) == start) sys::raw(SYS_sched_yield);
    return true;
  }
  // It may have ended since the fault. Once the access may be tried again, whatever it was; not
  // twice.
  Thread& thread = t_thread;
  if (!conversions || (thread.waited_at == address && thread.waited_for == conversions))
    return false;
  thread.waited_at = address;
  thread.waited_for = conversions;
  return true;
}

void release_home(const Region& region) {
  turn_back(page_down(region.home), page_up(region.home + region.size));
}

}  // namespace weir::region

int weir_region_define(void* address, size_t size, void* pointer, weir_region_handler_fn handler) {
  return weir::region::define(address, size, pointer, handler);
}
