// Pairs of accesses of which it is not known whether they are a race, since both sides may be
// atomic operations: how many, which and why, and what would help.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cli/races/atomic_proof.h"
#include "cli/races/report.h"

namespace weir::cli {

class Unproven {
 public:
  // `places` tells pairs apart. Returns false if it was there.
  bool add(const std::string& places, const ReportedRace& race, const Judgement& judgement);

  uint64_t doubtful() const { return pairs_.size(); }  // pairs of which it is not known
  uint64_t all() const { return known_.size(); }       // with those that are atomic operations
  // One or two lines for people, without the last newline; empty: there is no doubtful one.
  std::string text() const;
  // All reasons with the number of pairs of each.
  std::string reasons() const;

  struct Pair {
    std::string title, reason;
  };
  const std::vector<Pair>& pairs() const { return pairs_; }

 private:
  std::set<std::string> known_;
  std::vector<Pair> pairs_;
  std::map<std::string, uint64_t> reasons_;
  bool lacks_source_ = false, lacks_debug_info_ = false;
};

// Why it is not known, in words.
std::string doubt_words(const Judgement& judgement);

}  // namespace weir::cli
