// Invariants
// 1. All of a range that was reserved is mapped, in every process: by a region of the backing, by a
//    mapping of the kernel's, or closed (PROT_NONE). (not checkable: only the kernel knows what
//    each process has mapped)
// 2. With tasks, what is writable and private in it is memory of the backing. (not checkable: only
//    the kernel knows what each process has mapped)
#include "syscall/memory/reserved.h"
#include "syscall/transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "base/bytes.h"
#include "control/control.h"
#include "memory/backing.h"
#include "memory/forked.h"
#include "memory/reserve.h"
#include "record/input.h"
#include "record/shared_memory.h"
#include "sys/maps.h"
#include "sys/syscall_x86_64.h"
#include "syscall/memory/calls.h"
#include "syscall/memory/change_rules.h"
#include "task/mapping_log.h"
#include "view/view.h"

namespace weir::syscalls {

namespace {

using runtime::record_mapping;

// Closed, and of the kernel's own.
void close(uint64_t start, uint64_t size) {
  shared_memory::on_unmap(start, size);
  sys::raw(SYS_mmap, static_cast<long>(start), static_cast<long>(size), PROT_NONE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  record_mapping({MappingKind::kReserve, PROT_NONE, 0, -1, start, size, 0, 0, 0});
}

void close_all(uint64_t start, uint64_t size) {
  begin_anew(start, size);
  page::each_part(start, size, [](uint64_t at, uint64_t length, bool is_backed) {
    if (!is_backed) return close(at, length);
    empty_pages(at, length);
    change_protection(at, length, PROT_NONE);
  });
}

// What no protection is remembered of any more: it is the backing's no longer.
void forget_backing(uint64_t start, uint64_t size) {
  page::each_part(start, page_up(size), [](uint64_t at, uint64_t length, bool is_backed) {
    if (is_backed) empty_pages(at, length);
  });
  page::remove_memory_segment(start, size);
  (void)page::remember_protection(start, size, kReadWrite);
}

// Memory of the backing in place of what the kernel has there, with its bytes and its protection.
bool make_backed(Range range, int protection) {
  page::protect(range.start, range.size(), PROT_READ);
  const uint64_t offset = page::adopt(range, kReadWrite);
  if (!offset) return false;
  view::current().track(range.start, range.size());
  record_mapping(
      {MappingKind::kMapBacking, kReadWrite, 0, -1, range.start, range.size(), offset, 0, 0});
  return change_protection(range.start, range.size(), page::as_mapped(protection)) == 0;
}

// Makes all private memory of the kernel's in the range memory of the backing, and with it what
// lies around.
bool open(uint64_t start, uint64_t size) {
  constexpr uint64_t kMask = ~(page::kReserveChunk - 1);
  const Range wanted{start, start + size};
  for (;;) {
    bool is_whole = true;
    page::each_part(start, size,
                    [&](uint64_t, uint64_t, bool is_backed) { is_whole &= is_backed; });
    if (is_whole) return true;
    char* cursor;
    if (sys::read_maps(&cursor) < 0) return false;
    Range found{};
    int protection = PROT_NONE;
    for (sys::MapLine line; found.empty() && (cursor = sys::next_map_line(cursor, &line));) {
      const bool is_named = line.name[0] && !starts_with(line.name, "[anon:");
      if (!line.range.overlaps(wanted) || line.shared || is_named) continue;
      protection = (line.readable ? PROT_READ : 0) | (line.writable ? PROT_WRITE : 0) |
                   (line.executable ? PROT_EXEC : 0);
      const uint64_t first = start & kMask, last = (wanted.limit + page::kReserveChunk - 1) & kMask;
      found = {first > line.range.start ? first : line.range.start,
               last < line.range.limit ? last : line.range.limit};
    }
    if (found.empty()) return true;
    if (!make_backed(found, protection)) return false;
  }
}

bool has_backing(uint64_t start, uint64_t size) {
  return page::next_backed(start, start + size) != start + size;
}

}  // namespace

long reserve(uint64_t size) {
  Shared& s = shared();
  const uint64_t start = page::take_reserved(size);
  if (!start) return 0;
  const uint64_t limit = start + page_up(size), high = page::kReserve + s.memory.reserve_high;
  if (limit <= high) return static_cast<long>(start);  // it was given back, and is closed
  const uint64_t from = start > high ? start : high;
  const long at =
      sys::raw(SYS_mmap, static_cast<long>(from), static_cast<long>(limit - from), PROT_NONE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (at != static_cast<long>(from)) {  // somebody else's is there already
    page::give_reserved(start, size);
    return 0;
  }
  s.memory.reserve_high = limit - page::kReserve;
  record_mapping({MappingKind::kReserve, PROT_NONE, 0, -1, from, limit - from, 0, 0, 0});
  return static_cast<long>(start);
}

void claim_in_reserve(uint64_t start, uint64_t size, bool stays_kernels) {
  page::claim_reserved(start, size);
  if (stays_kernels) forget_backing(start, size);
}

// In the arena everything is readable and writable but what is remembered otherwise, so opening
// what is open costs nothing.
long change_protection(uint64_t start, uint64_t size, int protection, bool was_code) {
  if (protection == kReadWrite && !was_code && !page::has_protection(start, size)) return 0;
  long result = page::protect(start, size, protection);
  if (result != 0) return result;
  if (!page::remember_protection(start, size, protection)) {
    page::protect(start, size, kReadWrite);
    return -ENOMEM;
  }
  record_mapping({MappingKind::kProtect, protection, 0, -1, start, size, 0, 0, 0});
  return 0;
}

long check_file(const Call& call) {
  if (call.f % static_cast<long>(kPageSize)) return -EINVAL;
  const long flags = status_flags(call.e);
  if (flags < 0 || (flags & O_PATH)) return -EBADF;
  if ((flags & O_ACCMODE) == O_WRONLY) return -EACCES;
  const long got = input::log_value(input::What::kReady, [&] {
    uint8_t byte;
    return sys::raw(SYS_pread64, call.e, reinterpret_cast<long>(&byte), 1, call.f);
  });
  if (got == -ESPIPE || got == -EISDIR || got == -EINVAL) return -ENODEV;
  return got < 0 ? got : 0;
}

long map_in_reserve(const Call& call, uint64_t start, uint64_t size, int protection) {
  const bool from_file = !(call.d & MAP_ANONYMOUS);
  if (start % kPageSize) return -EINVAL;
  if (const long refused = from_file ? check_file(call) : 0) return refused;
  const uint64_t whole = page_up(size);
  close_all(start, whole);
  if (!from_file && protection == PROT_NONE) return static_cast<long>(start);
  if (!open(start, whole)) return -ENOMEM;
  if (const long refused = change_protection(start, whole, kReadWrite)) return refused;
  const long wrong =
      from_file ? read_file(start, size, static_cast<int>(call.e), static_cast<uint64_t>(call.f))
                : 0;
  if (wrong) return wrong;
  if (protection != kReadWrite) change_protection(start, whole, protection);
  return static_cast<long>(start);
}

bool open_reserved(uint64_t start, uint64_t size) { return open(start, size); }

void unmap_reserved(uint64_t start, uint64_t size) {
  close_all(start, size);
  page::give_reserved(start, size);
}

long protect_reserved(uint64_t start, uint64_t size, int protection) {
  if ((protection & PROT_WRITE) && !change_rules().open_reserved(start, size)) return -ENOMEM;
  protection = page::as_mapped(protection);  // code of the program's own making
  long result = 0;
  page::each_part(start, size, [&](uint64_t at, uint64_t length, bool is_backed) {
    if (result != 0) return;
    const bool was_code = page::code_protection(at) != 0;
    result = is_backed ? change_protection(at, length, protection, was_code)
                       : page::protect(at, length, protection);
    if (result != 0 || is_backed) return;
    record_mapping({MappingKind::kProtect, protection, 0, -1, at, length, 0, 0, 0});
  });
  return result;
}

bool is_reserved_backed(uint64_t start, uint64_t size) {
  return page::in_reserve(start) && has_backing(start, size);
}

void empty_reserved(uint64_t start, uint64_t size) {
  page::each_part(start, size, [](uint64_t at, uint64_t length, bool is_backed) {
    if (is_backed) empty_pages(at, length);
    else sys::raw(SYS_madvise, static_cast<long>(at), static_cast<long>(length), MADV_DONTNEED);
  });
}

}  // namespace weir::syscalls
