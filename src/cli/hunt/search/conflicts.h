// The switches that may matter, as far as one run shows: right before a task touches what another
// one touches later, one of them writing, to that other one. A race or a lock is where orders
// differ (Sen, PLDI 2008); all other places of a switch make no difference to what tasks see.
//
// Of many tasks that do the same, which of them it is seldom matters, nor does which round of a
// loop. So tasks that began in the same function are of one class, and the first and the last of a
// class come before the others; likewise the first and the last of a task's accesses to a word.
// Implemented in conflicts.cc.
#pragma once

#include "cli/hunt/schedule/schedule_log.h"
#include "cli/hunt/search/random.h"

namespace weir::cli::hunt {

class Conflicts {
 public:
  // `run`: of the default schedule, with the key `look`.
  explicit Conflicts(const ScheduleLog& run);

  // The most promising first.
  const Switches& places() const { return places_; }
  // So many of them or fewer, all at different places, sorted. The first ones are drawn more often.
  Switches some(Random& random, uint64_t count) const;

 private:
  Switches places_;
};

}  // namespace weir::cli::hunt
