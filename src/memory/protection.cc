#include "memory/backing.h"

#include <sys/mman.h>

#include "base/range_table.h"
#include "control/executed_pages.h"
#include "control/plan.h"
#include "control/process.h"
#include "memory/closed_pages.h"
#include "memory/windows.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"

namespace weir::page {

namespace {

constexpr int kReadWrite = PROT_READ | PROT_WRITE;

}  // namespace

bool note_protection(ProtectedRange* table, uint32_t& count, uint32_t capacity, Range range,
                     int protection, int usual) {
  if (range.empty()) return true;
  // Entries [from, to) give way to at most five: what touches the range on its left, what is left
  // of the first, the range itself, and the same on its right.
  uint32_t from = first_above(table, count, range.start);
  uint32_t to = from;
  while (to < count && table[to].range.start < range.limit) to++;
  ProtectedRange pieces[5];
  uint32_t made = 0;
  auto put = [&](Range piece, int with) {
    if (piece.empty() || with == usual) return;
    if (made && pieces[made - 1].protection == with &&
        pieces[made - 1].range.limit == piece.start) {
      pieces[made - 1].range.limit = piece.limit;
    } else {
      pieces[made++] = ProtectedRange{piece, with, 0};
    }
  };
  const uint32_t first = from, last = to;
  if (from > 0 && table[from - 1].range.limit == range.start) {
    from--;
    put(table[from].range, table[from].protection);
  }
  if (first < last && table[first].range.start < range.start)
    put(Range{table[first].range.start, range.start}, table[first].protection);
  put(range, protection);
  if (first < last && table[last - 1].range.limit > range.limit)
    put(Range{range.limit, table[last - 1].range.limit}, table[last - 1].protection);
  if (to < count && table[to].range.start == range.limit) {
    put(table[to].range, table[to].protection);
    to++;
  }
  if (count - (to - from) + made > capacity) return false;
  replace_entries(table, count, from, to, pieces, made);
  return true;
}

bool is_noted(const ProtectedRange* table, uint32_t count, Range range) {
  const uint32_t at = first_above(table, count, range.start);
  return at < count && table[at].range.overlaps(range);
}

long protect(uint64_t start, uint64_t size, int protection) {
  executed::close({start, start + page_up(size)});
  if (closed::is_open() && !windows::contains(start))
    return closed::protect(start, size, protection);
  return sys::raw(SYS_mprotect, static_cast<long>(start), static_cast<long>(size), protection);
}

bool remember_protection(uint64_t start, uint64_t size, int protection) {
  Shared& s = shared();
  SpinGuard guard(s.memory.lock);
  return note_protection(s.memory.protected_ranges, s.memory.protected_count, kProtectedRanges,
                         Range{start, start + page_up(size)}, protection, kReadWrite);
}

bool has_protection(uint64_t start, uint64_t size) {
  const Shared& s = shared();
  return is_noted(s.memory.protected_ranges, s.memory.protected_count, Range{start, start + size});
}

int protection_at(uint64_t page) {
  const Shared& s = shared();
  const uint32_t at = first_above(s.memory.protected_ranges, s.memory.protected_count, page);
  if (at >= s.memory.protected_count || !s.memory.protected_ranges[at].range.contains(page))
    return kReadWrite;
  return s.memory.protected_ranges[at].protection;
}

bool has_one_protection(Range range) {
  const Shared& s = shared();
  const uint32_t at = first_above(s.memory.protected_ranges, s.memory.protected_count, range.start);
  if (at >= s.memory.protected_count) return true;
  const Range& noted = s.memory.protected_ranges[at].range;
  return noted.start >= range.limit || (noted.contains(range.start) && noted.limit >= range.limit);
}

bool may_access(uint64_t page, bool writes) {
  const int allowed = protection_at(page);
  return (allowed & (writes ? PROT_WRITE : kReadWrite)) != 0;  // what can be written can be read
}

void reapply_protections() {
  Shared& s = shared();
  for (uint32_t i = 0; i < s.memory.protected_count; i++) {
    const auto& entry = s.memory.protected_ranges[i];
    protect(entry.range.start, entry.range.size(), entry.protection);
  }
  for (uint32_t i = 0; i < s.memory.code_count; i++) {
    const auto& entry = s.memory.code_ranges[i];
    protect(entry.range.start, entry.range.size(), unexecuted(entry.protection));
  }
  executed::close_shared();
}

bool note_code(uint64_t start, uint64_t size, int protection) {
  Shared& s = shared();
  const Range range{start, start + page_up(size)};
  const bool was_code = is_noted(s.memory.code_ranges, s.memory.code_count, range);
  if (!was_code && !(protection & PROT_EXEC)) return false;
  // In the in-place process memory is the backing: no byte can be changed there for one process.
  if (plan().is_isolated()) s.in_place_process.closed = 1;
  constexpr int kNoCode = 0;
  const int noted = protection & PROT_EXEC ? protection : kNoCode;
  if (!note_protection(s.memory.code_ranges, s.memory.code_count, kCodeRanges, range, noted,
                       kNoCode)) {
    report("the program makes code in more than %u places", uint64_t{kCodeRanges});
    die(125);
  }
  return was_code;
}

int code_protection(uint64_t address, Range* range) {
  const Shared& s = shared();
  const uint32_t at = first_above(s.memory.code_ranges, s.memory.code_count, address);
  if (at >= s.memory.code_count || !s.memory.code_ranges[at].range.contains(address)) return 0;
  if (range) *range = s.memory.code_ranges[at].range;
  return s.memory.code_ranges[at].protection;
}

int as_mapped(int protection) { return g_tasks_active ? unexecuted(protection) : protection; }

int unexecuted(int protection) {
  return plan().is_isolated() ? protection & ~PROT_EXEC : protection;
}

}  // namespace weir::page
