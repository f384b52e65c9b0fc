// The shadow: what is remembered of the accesses to a trapped page. Each 8 bytes have their last
// few accesses, each with the bytes that it touched, its task, and that task's epoch. An access
// conflicts with an earlier one that touched a common byte, if another task made that one and one
// of the two writes. It is a race if the task's clock does not know that epoch. This is FastTrack's
// rule, but on accesses instead of changes of policy.
//
// Invariants
// 1. A task that may have read what another has stored counts as knowing what that one knew,
//    because no compiler's output tells a load from an atomic load. So a write that has to make
//    room for others is not forgotten: the slot of its task stays in `lost`, and a reader acquires
//    what that task knew when it last stored anything in the page (Told). (not checkable: what
//    another has read nobody sees)
// 2. A new entry takes the place of one of the same task's that it covers, if there is one. So what
//    a task does again and again takes no more room. (not checkable: which one it was is known only
//    there)
// 3. An entry's epoch is not later than that of any access that it stands for. (not checkable:
//    which these were is not kept)

#include <sys/mman.h>

#include "base/bytes.h"
#include "check/core/happens_before.h"
#include "check/core/order_by_calls.h"
#include "check/core/state.h"
#include "sys/syscall_x86_64.h"

namespace weir::view::checked {

namespace {

struct Entry {
  uint64_t clock;    // 0: none
  uint32_t context;  // findings
  uint16_t number;   // task
  uint16_t lockset;
  uint8_t slot;
  uint8_t bytes;  // of the cell, a bit for each
  uint16_t kind;  // findings::Kind
  uint32_t size;  // of the access, within the cell; less than the bytes: of each of several
};
static_assert(sizeof(Entry) == 24);

constexpr uint32_t kEntries = 7;
struct Cell {
  Entry entries[kEntries];
  uint64_t lost;     // slots of tasks whose writes are not among them any more
  uint32_t dropped;  // of a replay instead: what they knew then, index + 1
  uint32_t unused[3];
};
static_assert(sizeof(Cell) == 192);

// By slot: the last epoch in which its tasks stored something in the page that may have told others
// something; 0: none.
struct PublishedEpochs {
  uint64_t clock[kSlots];
};

constexpr uint64_t kCellBytes = 8, kCells = kPageSize / kCellBytes;
constexpr uint64_t kShadowSize = page_up(kCells * sizeof(Cell) + sizeof(PublishedEpochs));
constexpr uint32_t kShadowCount = kShadowsSize / kShadowSize;

Cell* cells_of(uint32_t shadow) {
  return reinterpret_cast<Cell*>(kShadows + uint64_t{shadow - 1} * kShadowSize);
}

PublishedEpochs& published_epochs_of(uint32_t shadow) {
  return *reinterpret_cast<PublishedEpochs*>(cells_of(shadow) + kCells);
}

// What of [at, limit), offsets in the page, lies in one cell.
struct Part {
  uint64_t cell, first, count;
  uint8_t bytes;
};

Part part_at(uint64_t at, uint64_t limit) {
  const uint64_t first = at % kCellBytes,
                 count = limit - at < kCellBytes - first ? limit - at : kCellBytes - first;
  return {at / kCellBytes, first, count, static_cast<uint8_t>(((1u << count) - 1) << first)};
}

bool conflicts(const Entry& entry, const ThreadState& thread, uint8_t bytes, uint32_t kind) {
  if (!entry.clock || !(entry.bytes & bytes) || entry.number == thread.number) return false;
  if (!((entry.kind | kind) & findings::kWrite)) return false;
  return !((entry.kind & findings::kAtomic) && (kind & findings::kAtomic));
}

}  // namespace

uint32_t take_dropped_clock() {
  constexpr uint32_t kMax = kDeclaredSize / sizeof(Clock);  // no policy is declared in a replay
  const uint32_t index = __atomic_add_fetch(&state().dropped, 1u, __ATOMIC_RELAXED);
  return index <= kMax ? index : 0;
}

Clock& dropped_clock(uint32_t index) { return reinterpret_cast<Clock*>(kDeclared)[index - 1]; }

namespace {

// The entry is not kept any more, but may have told others something.
void drop(Cell& cell, const Entry& entry) {
  if (happens::g_replayed && !cell.dropped)
    cell.dropped = take_dropped_clock();  // what others know by now depends on time
  if (cell.dropped) dropped_clock(cell.dropped).join(clock_at({entry.clock, entry.slot}));
  else cell.lost |= uint64_t{1} << entry.slot;
}

// Where each of several of its size would lie can be told by any of its bytes.
bool is_piece(const Entry& entry) {
  return !(entry.size & (entry.size - 1)) &&
         !(static_cast<uint32_t>(__builtin_ctz(entry.bytes)) & (entry.size - 1));
}

// Two entries become one if all but the bytes is equal: a loop over bytes makes eight of them in a
// cell. The epoch is the earlier one, so that nothing seems to be later than it was; who reads
// there acquires what the slot has stored last. Returns the one that is free now, or null.
Entry* merge_two(Cell& cell) {
  for (uint32_t i = 0; i < kEntries; i++) {
    for (uint32_t k = i + 1; k < kEntries; k++) {
      Entry &one = cell.entries[i], &other = cell.entries[k];
      if (one.number != other.number || one.context != other.context || one.kind != other.kind ||
          one.lockset != other.lockset || one.size != other.size || !is_piece(one) ||
          !is_piece(other))
        continue;
      if (releases(one.kind)) drop(cell, one.clock > other.clock ? one : other);
      one.bytes |= other.bytes;
      if (other.clock < one.clock) one.clock = other.clock;
      return &other;
    }
  }
  return nullptr;
}

// The new entry takes the place of one of the same task's for the same bytes; of none; of one that
// is ordered before; of the oldest of those that only read.
void put(Cell& cell, const ThreadState& thread, const Entry& made) {
  const uint32_t kind = made.kind;
  const uint8_t bytes = made.bytes;
  const bool writes = kind & findings::kWrite;
  Entry* best = nullptr;
  uint32_t best_rank = 0;
  for (Entry& entry : cell.entries) {
    uint32_t rank;
    const bool is_mine = entry.number == thread.number, was_written = entry.kind & findings::kWrite;
    const bool is_within = !(entry.bytes & ~bytes);
    if (!entry.clock) rank = 90;
    else if (is_mine && is_within && (writes || !was_written)) rank = 100;
    else if (writes && is_within && thread.now.knows({entry.clock, entry.slot}))
      rank = 80;  // whoever conflicts with that one conflicts with this
    else if (!was_written) rank = is_mine ? 60 : 50;
    else rank = thread.now.knows({entry.clock, entry.slot}) ? 20 : 10;
    if (rank > best_rank) {
      best = &entry;
      best_rank = rank;
    }
  }
  constexpr uint32_t kStandsFor = 80;
  if (best_rank < kStandsFor) {
    if (Entry* const freed = merge_two(cell)) {
      *freed = made;
      return;
    }
  }
  // What the new entry says as well need not be remembered: a store by the same task, or by one who
  // knows of it, over the same bytes.
  const bool stands_for_it = best_rank >= kStandsFor && releases(kind);
  if (best->clock && releases(best->kind) && !stands_for_it) drop(cell, *best);
  *best = made;
}

// Invariant 1.
void acquire_writers_of(uint32_t shadow, const Cell& cell, ThreadState& thread, uint8_t bytes) {
  if (cell.lost) acquire_published(shadow, cell.lost, thread);
  if (cell.dropped) acquire_clock(thread, dropped_clock(cell.dropped));
  for (const Entry& entry : cell.entries) {
    if (entry.clock && releases(entry.kind) && (entry.bytes & bytes))
      join_epoch(thread, {entry.clock, entry.slot});
  }
}

// `one` and `other`: locksets that tasks had.
bool share_lock(uint32_t one, uint32_t other) {
  if (!one || !other || one == other) return one && other;
  const Lockset &a = state().locksets[one - 1], &b = state().locksets[other - 1];
  constexpr uint32_t kMost = findings::kMaxLocks;
  for (uint32_t i = 0; i < a.count && i < kMost; i++) {
    for (uint32_t k = 0; k < b.count && k < kMost; k++) {
      if ((a.locks[i] & ~uint64_t{1}) == (b.locks[k] & ~uint64_t{1})) return true;
    }
  }
  return false;
}

// Under Order serial the memory is private (task/control_layout.cc), of which the kernel gives no
// part back by MADV_REMOVE.
void empty(uint32_t shadow) {
  sys::raw(SYS_madvise, reinterpret_cast<long>(cells_of(shadow)), kShadowSize,
           happens::g_serial ? MADV_DONTNEED : MADV_REMOVE);
}

}  // namespace

uint32_t take_shadow() {
  State& s = state();
  const SpinGuard guard(s.shadow_lock);
  if (s.free_shadow) {
    const uint32_t shadow = s.free_shadow;
    s.free_shadow = static_cast<uint32_t>(cells_of(shadow)->lost);
    cells_of(shadow)->lost = 0;
    return shadow;
  }
  return s.shadows < kShadowCount ? ++s.shadows : 0;
}

void give_shadow(uint32_t shadow) {
  empty(shadow);
  State& s = state();
  const SpinGuard guard(s.shadow_lock);
  cells_of(shadow)->lost = s.free_shadow;
  s.free_shadow = shadow;
}

void check_access(uint32_t shadow, ThreadState& thread, Access& access, const AccessSite& site) {
  const uint64_t offset = access.address % kPageSize;
  for (uint64_t at = offset; at < offset + access.size;) {
    const auto [index, first, count, bytes] = part_at(at, offset + access.size);
    Cell& cell = cells_of(shadow)[index];
    const bool reads = acquires(access.kind);
    for (Entry& entry : cell.entries) {
      const bool is_others = entry.clock && (entry.bytes & bytes) &&
                             entry.number != thread.number && is_untouched(access.address, site);
      const Epoch epoch{entry.clock, entry.slot};
      const bool is_conflict = is_others || conflicts(entry, thread, bytes, access.kind);
      const bool is_known = is_conflict && !is_others && thread.now.knows(epoch);
      if (is_known && !share_lock(entry.lockset, lockset_of(thread))) thread.is_suspect = 1;
      if (is_conflict && (!is_known || is_known_by_memory(thread, epoch))) {
        const uint64_t cell_start = page_down(access.address) + at - first;
        uint64_t from = static_cast<uint64_t>(__builtin_ctz(entry.bytes)),
                 to = 32 - static_cast<uint64_t>(__builtin_clz(entry.bytes));
        if (entry.size < static_cast<uint32_t>(__builtin_popcount(entry.bytes))) {
          from = static_cast<uint64_t>(__builtin_ctz(entry.bytes & bytes)) & ~(entry.size - 1ull);
          to = from + entry.size;
        }
        const PriorAccess prior{cell_start + from, to - from,     entry.kind,
                                entry.number,      entry.context, entry.lockset};
        if (is_others) report_untouched(prior, thread, access, site);
        else report_race(prior, thread, access, site, findings::Why::kUnordered, is_known);
      }
    }
    if (reads) acquire_writers_of(shadow, cell, thread, bytes);
    if (!access.context) access.context = context_of(site);
    put(cell, thread,
        {thread.now.clock[thread.slot], access.context, static_cast<uint16_t>(thread.number),
         static_cast<uint16_t>(lockset_of(thread)), static_cast<uint8_t>(thread.slot), bytes,
         static_cast<uint16_t>(access.kind), static_cast<uint32_t>(count)});
    at += count;
  }
  if (!releases(access.kind)) return;
  published_epochs_of(shadow).clock[thread.slot] = thread.now.clock[thread.slot];
  step(thread);  // what follows is not known to who reads this
}

void tell_by_word(uint32_t shadow, uint64_t offset, const ThreadState& thread) {
  const uint64_t now = thread.now.clock[thread.slot];
  Entry store{};
  store.clock = now;
  store.slot = static_cast<uint8_t>(thread.slot);
  drop(cells_of(shadow)[offset / kCellBytes], store);
  published_epochs_of(shadow).clock[thread.slot] = now;
}

void acquire_published(uint32_t shadow, uint64_t slots, ThreadState& thread) {
  for (; slots; slots &= slots - 1) {
    const auto slot = static_cast<uint32_t>(__builtin_ctzll(slots));
    join_epoch(thread, {published_epochs_of(shadow).clock[slot], slot});
  }
}

void acquire_writers_of(uint32_t shadow, uint64_t offset, uint64_t size, ThreadState& thread) {
  for (uint64_t at = offset; at < offset + size;) {
    const Part part = part_at(at, offset + size);
    acquire_writers_of(shadow, cells_of(shadow)[part.cell], thread, part.bytes);
    at += part.count;
  }
}

void forget(uint32_t shadow, uint64_t offset, uint64_t size) {
  if (offset == 0 && size >= kPageSize) {
    empty(shadow);
    return;
  }
  for (uint64_t at = offset; at < offset + size;) {
    const Part part = part_at(at, offset + size);
    Cell& cell = cells_of(shadow)[part.cell];
    const uint8_t kept = static_cast<uint8_t>(~part.bytes);
    for (Entry& entry : cell.entries) {
      entry.bytes &= kept;
      if (!entry.bytes) entry.clock = 0;
    }
    if (!kept) cell.lost = cell.dropped = 0;
    at += part.count;
  }
}

}  // namespace weir::view::checked
