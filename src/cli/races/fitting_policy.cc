// What the tenures of 8 bytes have in common, as a policy.
#include "cli/races/fitting_policy.h"

#include <algorithm>
#include <bit>

namespace weir::cli {

using findings::Cell;
using findings::Tenure;

int count_of(uint64_t tasks) { return std::popcount(tasks); }

std::vector<Tenure> tenures_of(const Cell& cell) {
  std::vector<Tenure> tenures(cell.tenures, cell.tenures + cell.tenure_count);
  if (cell.now.kind != findings::kNoTenure) tenures.push_back(cell.now);
  return tenures;
}

bool has_lock(const Tenure& tenure, uint64_t lock) {
  return std::any_of(tenure.locks, tenure.locks + tenure.lock_count,
                     [&](uint64_t one) { return one >> 1 == lock >> 1; });
}

Judged judge(const Cell& cell) {
  Judged result;
  bool writes = false, unordered = false, shared = false;
  result.tasks = cell.atomic_tasks;
  for (const Tenure& tenure : tenures_of(cell)) {
    result.tasks |= tenure.tasks;
    writes |= tenure.writes != 0;
    unordered |= tenure.unordered != 0;
    shared |= count_of(tenure.tasks) > 1;
    if (count_of(tenure.tasks) > 1 && tenure.lock_count && !result.lock)
      result.lock = tenure.locks[0];
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
