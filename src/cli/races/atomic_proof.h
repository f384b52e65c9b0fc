// Whether an access was no atomic operation, for sure. Only such pairs are reported of which one
// side is none (atomic_proof.cc says why).
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/races/report.h"
#include "cli/sources/source_scan.h"

namespace weir::cli {

struct Judgement {
  bool is_proven = false;  // it was none
  std::string why_not;     // what it lacks: for people who want to know
  std::string module;      // without debug information, if that is what it lacks
  std::string source;      // that is not found, if that is what it lacks
  bool is_clear = false;   // not proven, since it is one, by all that its names and types say
  bool is_moved = false;   // it may be no access of the source's (code/decode/unused_load.h)
  // Clear by the declaration of this variable or member alone, as SourceScan::Found has it.
  std::string declared = "";
  bool is_class = false;
};

class AtomicProof {
 public:
  // The source files of which the code at an address has been made (the files of its compilation
  // unit).
  using FilesAt = std::function<std::vector<std::string>(uint64_t address)>;
  // Whether the code at an address is by a compiler that makes of an atomic load nothing but a
  // move.
  using MovesAt = std::function<bool(uint64_t address)>;
  // Whether a compiler may have made the load at an address for a source that does not always read
  // there.
  using InVainAt = std::function<bool(uint64_t address)>;
  // Whether the code at an address is by a compiler that gives any value to what has none.
  using FillsUndefinedAt = std::function<bool(uint64_t address)>;
  // Whether the function there may have a compare-and-exchange.
  using ExchangesAt = std::function<bool(uint64_t address)>;
  explicit AtomicProof(FilesAt files_at = {}, MovesAt moves_at = {}, InVainAt in_vain_at = {},
                       FillsUndefinedAt fills_undefined_at = {}, ExchangesAt exchanges_at = {})
      : files_at_(std::move(files_at)),
        moves_at_(std::move(moves_at)),
        in_vain_at_(std::move(in_vain_at)),
        fills_undefined_at_(std::move(fills_undefined_at)),
        exchanges_at_(std::move(exchanges_at)) {}

  // A race is proven where one of its sides is no atomic operation.
  Judgement judge(const ReportedRace& race);
  Judgement judge(const ReportedSide& side, const ReportedObject& object);

 private:
  Judgement judge_place(const ReportedSide& side);
  bool may_be_in_vain(const ReportedSide& side, const ReportedObject& object) const;
  bool is_load_before_exchange(const ReportedRace& race) const;

  FilesAt files_at_;
  MovesAt moves_at_;
  InVainAt in_vain_at_;
  FillsUndefinedAt fills_undefined_at_;
  ExchangesAt exchanges_at_;
  // By the instruction: module and offset.
  std::map<std::pair<std::string, uint64_t>, Judgement> known_;
  SourceScan sources_;
};

// Pairs of accesses of which it is not known whether they are a race: how many, which and why, and
// what would help.
class Unproven {
 public:
  // `places` tells pairs apart. Returns false if it was there.
  bool add(const std::string& places, const ReportedRace& race, const Judgement& judgement);
  // It has been met again, and is proven now.
  void remove(const std::string& places);

  uint64_t doubtful() const { return pairs_.size(); }  // pairs of which it is not known
  uint64_t all() const { return known_.size(); }       // with those that are atomic operations
  // One or two lines for people, without the last newline; empty: there is no doubtful one.
  std::string text() const;
  // All reasons with the number of pairs of each.
  std::string reasons() const;

  struct Pair {
    std::string title, reason, places;
  };
  const std::vector<Pair>& pairs() const { return pairs_; }

 private:
  std::set<std::string> known_;
  std::vector<Pair> pairs_;
  std::map<std::string, uint64_t> reasons_;
  bool lacks_source_ = false, lacks_debug_info_ = false, has_moved_ = false;
};

// Why it is not known, in words.
std::string doubt_words(const Judgement& judgement);

}  // namespace weir::cli
