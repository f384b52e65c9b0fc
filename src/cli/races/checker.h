// What `weir check` does with the races that the runtime finds: which of them it reports, when, and
// where to.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cli/races/atomic_proof.h"
#include "cli/races/findings_memory.h"
#include "cli/races/order_proof.h"
#include "cli/races/race_reader.h"
#include "cli/races/report.h"
#include "cli/races/suppressions.h"
#include "cli/symbols/producers.h"

namespace weir::cli {

struct CheckReport {
  std::string format = "text";  // text, json, sarif
  std::string output;           // the file for it; empty: standard error, or the log for text
  std::string log;              // Weir's own words; empty: standard error
  bool verbose = false;
  bool with_debug_info = true;
  bool suggest = false;           // annotations, when the program has ended
  bool by_keys = false;           // the enforcer is that by protection keys
  bool sees_all = false;          // every access to memory that threads share is looked at
  bool says_all_is_well = true;   // also where no race was found, and what was not looked at
  bool reports_unproven = false;  // pairs that may be atomic operations, as possible races
};

class Checker {
 public:
  Checker(FindingsReader findings, Suppressions suppressions, const CheckReport& report,
          const std::vector<std::string>& program);
  Checker(const Checker&) = delete;
  Checker& operator=(const Checker&) = delete;

  // Reports what has come since the last call. Returns true if it reported a race.
  bool take();
  // The program has ended: what is said of all of it. Throws Failure where the report cannot be
  // written.
  void finish();

  uint64_t reported() const { return reported_.size(); }
  bool has_unchecked() const { return has_unchecked_; }  // programs; once finish() was called

 private:
  struct Reported {
    ReportedRace race;
    std::vector<uint32_t> indices;  // of the races in the memory that are the same for a reader
  };

  bool take_one(uint32_t index, const findings::Race& race);
  bool take_part(uint32_t index, ReportedRace race);
  Judgement judge(const ReportedRace& race);
  void print(const ReportedRace& race);
  void say_totals(const Totals& totals);
  std::string nothing_found(const Totals& totals) const;
  std::string looked_at() const;

  FindingsReader findings_;
  RaceReader reader_;
  Producers producers_;
  AtomicProof proof_;
  OrderProof order_;
  Suppressions suppressions_;
  const CheckReport report_;
  const std::vector<std::string> program_;

  uint32_t next_ = 0;
  bool has_unchecked_ = false;
  std::set<uint32_t> waiting_;  // indices that are taken and not ready yet
  std::vector<Reported> reported_;
  std::map<std::string, size_t> by_places_;  // into reported_
  std::set<std::string> suppressed_;         // by places
  Unproven unproven_;
};

}  // namespace weir::cli
