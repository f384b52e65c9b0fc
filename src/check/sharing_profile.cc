// What `weir check --suggest` is made of: for each 8 bytes that were checked, which tasks touched
// them, by ownership phases (tenures). In one phase they are one task's, or several tasks read
// them, or tasks touch them under a common lock. The policies of PUSh are names for such phases,
// and annotations go to their borders.
//
// An access belongs to the current phase in three cases: it is of the same task; a lock is held
// that was held at all accesses of the phase; or it reads and no task has written in the phase.
// Else a new phase begins, which is either ordered after the earlier accesses or not. (A lock also
// orders accesses, so the lock is looked at first. These are Eraser's locksets, begun anew at each
// hand-over.)
//
// Phases that begin and end at the same places are kept once, with a count: a queue hands its items
// over a thousand times at two lines.

#include "base/bytes.h"
#include "check/state.h"

namespace weir::view::checked {

namespace {

using findings::Cell;
using findings::Tenure;

constexpr uint64_t kCellBytes = 8;
constexpr uint64_t kMostBytes = 16 << 10;  // of one access
constexpr uint32_t kTries = 32;
constexpr uint32_t kTaken = 1, kReady = 2;

uint32_t place_of(uint64_t address) {
  return static_cast<uint32_t>((address >> 3) * 0x9E3779B97F4A7C15 >> 40);
}

// Null: there is none, and where `take` no room for it.
Cell* cell_at(uint64_t address, bool take) {
  findings::Findings& f = found();
  for (uint32_t i = 0; i < kTries; i++) {
    Cell& cell = f.cell[(place_of(address) + i) % findings::kMostCells];
    uint32_t ready = __atomic_load_n(&cell.ready, __ATOMIC_ACQUIRE);
    while (ready == kTaken) ready = __atomic_load_n(&cell.ready, __ATOMIC_ACQUIRE);
    if (ready == kReady && cell.address == address) return &cell;
    if (ready) continue;
    if (!take) return nullptr;
    if (!__atomic_compare_exchange_n(&cell.ready, &ready, kTaken, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE)) {
      i--;
      continue;
    }
    cell.address = address;
    const findings::Object object = undeclared_at(address);
    cell.kind = object.kind;
    cell.start = object.start;
    cell.size = object.size;
    cell.context = object.context;
    cell.task = object.task;
    __atomic_fetch_add(&f.cells, 1u, __ATOMIC_RELAXED);
    __atomic_store_n(&cell.ready, kReady, __ATOMIC_RELEASE);
    return &cell;
  }
  if (take) __atomic_fetch_add(&f.cells, 1u, __ATOMIC_RELAXED);
  return nullptr;
}

uint64_t bit_of_task(const ThreadState& thread) { return uint64_t{1} << thread.number % 64; }

// What a tenure may have as its lock after an access with what the task holds now.
uint32_t common_locks(const Tenure& tenure, const ThreadState& thread, uint64_t* locks) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < tenure.lock_count; i++) {
    for (uint32_t k = 0; k < thread.held_count && k < kMostHeld; k++) {
      if ((thread.held[k] ^ tenure.locks[i]) >> 1) continue;
      locks[count++] = tenure.locks[i] | (thread.held[k] & 1);
      break;
    }
  }
  return count;
}

// What other tasks have done before is known to this one. `writes`: only writes count.
bool knows_others(const Cell& cell, const ThreadState& thread, bool writes) {
  if (cell.last_count > findings::kMostLasts) return true;  // not all are known: no claim
  for (uint32_t i = 0; i < cell.last_count; i++) {
    const Cell::Last& last = cell.lasts[i];
    const uint64_t clock = writes ? last.written : last.clock;
    if (last.number != thread.number && clock && !thread.now.knows({clock, last.slot}))
      return false;
  }
  return true;
}

void note_last(Cell& cell, const ThreadState& thread, bool writes) {
  const uint64_t clock = thread.now.clock[thread.slot];
  for (uint32_t i = 0; i < cell.last_count && i < findings::kMostLasts; i++) {
    if (cell.lasts[i].number != thread.number) continue;
    cell.lasts[i].clock = clock;
    if (writes) cell.lasts[i].written = clock;
    return;
  }
  if (cell.last_count < findings::kMostLasts)
    cell.lasts[cell.last_count] = {clock, writes ? clock : 0, thread.slot, thread.number};
  cell.last_count++;
}

void note_reader(Tenure& tenure, const ThreadState& thread, uint32_t context) {
  for (uint32_t i = 0; i < tenure.reader_count && i < findings::kMostReaders; i++) {
    if (tenure.readers[i].task != thread.number) continue;
    tenure.readers[i].last = context;
    return;
  }
  if (tenure.reader_count < findings::kMostReaders)
    tenure.readers[tenure.reader_count] = {thread.number, context, context};
  tenure.reader_count++;
}

bool is_alike(const Tenure& a, const Tenure& b) {
  return a.kind == b.kind && a.first == b.first && a.last == b.last && a.writes == b.writes &&
         a.unordered == b.unordered && a.lock_count == b.lock_count &&
         (!a.lock_count || a.locks[0] >> 1 == b.locks[0] >> 1);
}

void end_tenure(Cell& cell) {
  if (cell.now.kind == findings::kNoTenure) return;
  const uint32_t kept =
      cell.tenure_count < findings::kMostTenures ? cell.tenure_count : findings::kMostTenures;
  for (uint32_t i = 0; i < kept; i++) {
    if (!is_alike(cell.tenures[i], cell.now)) continue;
    cell.tenures[i].times++;
    cell.tenures[i].accesses += cell.now.accesses;
    cell.tenures[i].tasks |= cell.now.tasks;
    return;
  }
  if (cell.tenure_count < findings::kMostTenures) cell.tenures[cell.tenure_count] = cell.now;
  cell.tenure_count++;
}

void begin_tenure(Cell& cell, const ThreadState& thread, uint32_t context, bool is_unordered) {
  end_tenure(cell);
  Tenure& tenure = cell.now;
  zero_bytes(&tenure, sizeof tenure);
  tenure.kind = findings::kExclusive;
  tenure.unordered = is_unordered;
  tenure.times = 1;
  tenure.first = context;
  for (uint32_t i = 0;
       i < thread.held_count && i < kMostHeld && tenure.lock_count < findings::kMostCandidates; i++)
    tenure.locks[tenure.lock_count++] = thread.held[i];
}

void note(Cell& cell, const ThreadState& thread, const Access& access) {
  const bool writes = access.kind & findings::kWrite;
  if (cell.is_new) {
    end_tenure(cell);
    cell.now.kind = findings::kNoTenure;
    cell.is_new = cell.last_count = 0;
  }
  cell.accesses++;
  if (access.kind & findings::kAtomic) {  // orders tasks itself
    cell.atomics++;
    cell.atomic_tasks |= bit_of_task(thread);
    return;
  }
  const bool is_unordered = !knows_others(cell, thread, !writes);
  uint64_t locks[findings::kMostCandidates];
  const uint32_t common = common_locks(cell.now, thread, locks);
  const bool is_same = cell.now.tasks == bit_of_task(thread), is_read = !cell.now.writes && !writes;
  if (cell.now.kind == findings::kNoTenure || is_unordered || !(is_same || common || is_read)) {
    begin_tenure(cell, thread, access.context, is_unordered);
  } else {
    cell.now.lock_count = common;
    for (uint32_t i = 0; i < common; i++) cell.now.locks[i] = locks[i];
    if (!is_same) cell.now.kind = findings::kShared;
  }
  Tenure& tenure = cell.now;
  tenure.tasks |= bit_of_task(thread);
  tenure.writes |= writes;
  tenure.accesses++;
  tenure.to = __atomic_add_fetch(&found().cell_accesses, 1, __ATOMIC_RELAXED);
  if (!tenure.from) tenure.from = tenure.to;
  tenure.last = access.context;
  note_reader(tenure, thread, access.context);
  note_last(cell, thread, writes);
}

}  // namespace

void note_seen(ThreadState& thread, Access& access, const AccessSite& site) {
  if (!access.context) access.context = context_of(site);
  const uint64_t limit = access.address + (access.size < kMostBytes ? access.size : kMostBytes);
  for (uint64_t at = access.address & ~(kCellBytes - 1); at < limit; at += kCellBytes) {
    Cell* const cell = cell_at(at, true);
    if (cell) note(*cell, thread, access);
  }
}

void renew_seen(uint64_t start, uint64_t size) {
  const uint64_t limit = start + (size < kMostBytes ? size : kMostBytes);
  for (uint64_t at = start & ~(kCellBytes - 1); at < limit; at += kCellBytes) {
    Cell* const cell = cell_at(at, false);
    if (!cell) continue;
    cell->is_new = 1;
  }
}

}  // namespace weir::view::checked
