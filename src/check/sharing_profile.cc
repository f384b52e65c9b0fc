// What `weir check --suggest` is made of: for each 8 bytes that were checked, which tasks touched
// them, by ownership phases. In one phase they are one task's, or several tasks read
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
#include "base/hash.h"
#include "check/core/state.h"

namespace weir::view::checked {

namespace {

using findings::Cell;
using findings::OwnershipPhase;

constexpr uint64_t kCellBytes = 8;
constexpr uint64_t kMaxBytes = 16 << 10;  // of one access
constexpr uint32_t kTries = 32;
constexpr uint32_t kTaken = 1, kReady = 2;

uint32_t place_of(uint64_t address) { return static_cast<uint32_t>(mix(address >> 3) >> 40); }

// Null: there is none, and where `take` no room for it.
Cell* cell_at(uint64_t address, bool take) {
  findings::Findings& f = found();
  for (uint32_t i = 0; i < kTries; i++) {
    Cell& cell = f.cell[(place_of(address) + i) % findings::kMaxCells];
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

// What an ownership phase may have as its lock after an access with what the task holds now.
uint32_t common_locks(const OwnershipPhase& phase, const ThreadState& thread, uint64_t* locks) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < phase.lock_count; i++) {
    for (uint32_t k = 0; k < thread.held_count && k < kMaxHeld; k++) {
      if ((thread.held[k] ^ phase.locks[i]) >> 1) continue;
      locks[count++] = phase.locks[i] | (thread.held[k] & 1);
      break;
    }
  }
  return count;
}

// What other tasks have done before is known to this one. `writes`: only writes count.
bool knows_others(const Cell& cell, const ThreadState& thread, bool writes) {
  if (cell.last_count > findings::kMaxLasts) return true;  // not all are known: no claim
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
  for (uint32_t i = 0; i < cell.last_count && i < findings::kMaxLasts; i++) {
    if (cell.lasts[i].number != thread.number) continue;
    cell.lasts[i].clock = clock;
    if (writes) cell.lasts[i].written = clock;
    return;
  }
  if (cell.last_count < findings::kMaxLasts)
    cell.lasts[cell.last_count] = {clock, writes ? clock : 0, thread.slot, thread.number};
  cell.last_count++;
}

void note_reader(OwnershipPhase& phase, const ThreadState& thread, uint32_t context) {
  for (uint32_t i = 0; i < phase.reader_count && i < findings::kMaxReaders; i++) {
    if (phase.readers[i].task != thread.number) continue;
    phase.readers[i].last = context;
    return;
  }
  if (phase.reader_count < findings::kMaxReaders)
    phase.readers[phase.reader_count] = {thread.number, context, context};
  phase.reader_count++;
}

bool is_alike(const OwnershipPhase& a, const OwnershipPhase& b) {
  return a.kind == b.kind && a.first == b.first && a.last == b.last && a.writes == b.writes &&
         a.unordered == b.unordered && a.lock_count == b.lock_count &&
         (!a.lock_count || a.locks[0] >> 1 == b.locks[0] >> 1);
}

void end_phase(Cell& cell) {
  if (cell.now.kind == findings::kNoPhase) return;
  const uint32_t kept =
      cell.phase_count < findings::kMaxPhases ? cell.phase_count : findings::kMaxPhases;
  for (uint32_t i = 0; i < kept; i++) {
    if (!is_alike(cell.phases[i], cell.now)) continue;
    cell.phases[i].times++;
    cell.phases[i].accesses += cell.now.accesses;
    cell.phases[i].tasks |= cell.now.tasks;
    return;
  }
  if (cell.phase_count < findings::kMaxPhases) cell.phases[cell.phase_count] = cell.now;
  cell.phase_count++;
}

void begin_phase(Cell& cell, const ThreadState& thread, uint32_t context, bool is_unordered) {
  end_phase(cell);
  OwnershipPhase& phase = cell.now;
  zero_bytes(&phase, sizeof phase);
  phase.kind = findings::kExclusive;
  phase.unordered = is_unordered;
  phase.times = 1;
  phase.first = context;
  for (uint32_t i = 0;
       i < thread.held_count && i < kMaxHeld && phase.lock_count < findings::kMaxCandidates; i++)
    phase.locks[phase.lock_count++] = thread.held[i];
}

void note(Cell& cell, const ThreadState& thread, const Access& access) {
  const bool writes = access.kind & findings::kWrite;
  if (cell.is_new) {
    end_phase(cell);
    cell.now.kind = findings::kNoPhase;
    cell.is_new = cell.last_count = 0;
  }
  cell.accesses++;
  if (access.kind & findings::kAtomic) {  // orders tasks itself
    cell.atomics++;
    cell.atomic_tasks |= bit_of_task(thread);
    return;
  }
  const bool is_unordered = !knows_others(cell, thread, !writes);
  uint64_t locks[findings::kMaxCandidates];
  const uint32_t common = common_locks(cell.now, thread, locks);
  const bool is_same = cell.now.tasks == bit_of_task(thread), is_read = !cell.now.writes && !writes;
  if (cell.now.kind == findings::kNoPhase || is_unordered || !(is_same || common || is_read)) {
    begin_phase(cell, thread, access.context, is_unordered);
  } else {
    cell.now.lock_count = common;
    for (uint32_t i = 0; i < common; i++) cell.now.locks[i] = locks[i];
    if (!is_same) cell.now.kind = findings::kShared;
  }
  OwnershipPhase& phase = cell.now;
  phase.tasks |= bit_of_task(thread);
  phase.writes |= writes;
  phase.accesses++;
  phase.to = __atomic_add_fetch(&found().cell_accesses, 1, __ATOMIC_RELAXED);
  if (!phase.from) phase.from = phase.to;
  phase.last = access.context;
  note_reader(phase, thread, access.context);
  note_last(cell, thread, writes);
}

}  // namespace

void note_seen(ThreadState& thread, Access& access, const AccessSite& site) {
  if (!access.context) access.context = context_of(site);
  const uint64_t limit = access.address + (access.size < kMaxBytes ? access.size : kMaxBytes);
  for (uint64_t at = access.address & ~(kCellBytes - 1); at < limit; at += kCellBytes) {
    Cell* const cell = cell_at(at, true);
    if (cell) note(*cell, thread, access);
  }
}

void renew_seen(uint64_t start, uint64_t size) {
  const uint64_t limit = start + (size < kMaxBytes ? size : kMaxBytes);
  for (uint64_t at = start & ~(kCellBytes - 1); at < limit; at += kCellBytes) {
    Cell* const cell = cell_at(at, false);
    if (!cell) continue;
    cell->is_new = 1;
  }
}

}  // namespace weir::view::checked
