// What runs did that no earlier run had done: how a search knows which strategy still finds
// something.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "cli/hunt/run/runner.h"

namespace weir::cli::hunt {

class Behaviours {
 public:
  // Counts what is new in this run: an output, an end, contents of shared memory, and each pair of
  // places at which two switches followed each other (who stood where when who went on).
  uint64_t add(const Outcome& run);
  uint64_t count() const { return seen_.size(); }

  // For a corpus.
  void take_up(uint64_t hash) { seen_.insert(hash); }
  const std::unordered_set<uint64_t>& seen() const { return seen_; }

 private:
  std::unordered_set<uint64_t> seen_;
};

}  // namespace weir::cli::hunt
