// What the ownership phases of 8 bytes have in common, as a policy.
#include "cli/races/fitting_policy.h"

#include <algorithm>
#include <bit>

namespace weir::cli {

using findings::Cell;
using findings::OwnershipPhase;

int count_of(uint64_t tasks) { return std::popcount(tasks); }

std::vector<OwnershipPhase> phases_of(const Cell& cell) {
  std::vector<OwnershipPhase> phases(cell.phases, cell.phases + cell.phase_count);
  if (cell.now.kind != findings::kNoPhase) phases.push_back(cell.now);
  return phases;
}

bool has_lock(const OwnershipPhase& phase, uint64_t lock) {
  return std::any_of(phase.locks, phase.locks + phase.lock_count,
                     [&](uint64_t one) { return one >> 1 == lock >> 1; });
}

Judged judge(const Cell& cell) {
  Judged result;
  bool writes = false, unordered = false, shared = false;
  result.tasks = cell.atomic_tasks;
  for (const OwnershipPhase& phase : phases_of(cell)) {
    result.tasks |= phase.tasks;
    writes |= phase.writes != 0;
    unordered |= phase.unordered != 0;
    shared |= count_of(phase.tasks) > 1;
    if (count_of(phase.tasks) > 1 && phase.lock_count && !result.lock) result.lock = phase.locks[0];
  }
  if (count_of(result.tasks) < 2) result.policy = "";
  else if (unordered || cell.atomics) result.policy = "racy";
  else if (!writes) result.policy = "sticky-read";
  else if (result.lock) result.policy = "locked";
  else result.policy = shared ? "read-shared" : "private";
  if (result.policy != "locked") result.lock = 0;
  return result;
}

}  // namespace weir::cli
