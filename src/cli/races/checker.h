// What `weir check` does with the races that the runtime finds: which of them it reports, when, and
// where to.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
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

// One report of one run, or of several: what an earlier run has told is not told again.
class Checker {
 public:
  Checker(Suppressions suppressions, const CheckReport& report,
          const std::vector<std::string>& program);
  // Of one run, which begins here.
  Checker(FindingsReader findings, Suppressions suppressions, const CheckReport& report,
          const std::vector<std::string>& program);
  Checker(const Checker&) = delete;
  Checker& operator=(const Checker&) = delete;

  // A run of the program begins, of `count` that there will be. `options`: how it differs from the
  // first, as options of the command. The memory is used up to end_run().
  void begin_run(FindingsReader findings, uint32_t count = 1, const std::string& options = "");
  // Reports what has come since the last call. Returns true if it reported a race.
  bool take();
  // The run has ended: what there is of it is counted. `how`: "exit 0".
  void end_run(const std::string& how = "");
  // The program has ended: what is said of all runs. Ends the last one, if that has not been done.
  // Throws Failure where the report cannot be written.
  void finish();

  // A deadlock of this run was taken that is not suppressed: the program cannot go on.
  bool is_at_standstill() const { return is_at_standstill_; }
  uint64_t reported() const { return reported_.size(); }
  // Programs that were not checked; once finish() was called.
  bool has_unchecked() const { return !totals_.unchecked.empty(); }
  // Of the runs that have ended.
  const Coverage& coverage() const { return totals_.coverage; }

 private:
  struct Reported {
    ReportedRace race;
    std::vector<uint32_t> indices;  // of the races in the memory that are the same for a reader
    uint32_t last_run = 0;          // in which it was met
  };
  // What reads the findings of the run that goes on.
  struct Source {
    Source(FindingsReader from, bool with_debug_info);
    FindingsReader findings;
    RaceReader reader;
    Producers producers;
    AtomicProof proof;
    OrderProof order;
    uint32_t next = 0;
    std::set<uint32_t> waiting;  // indices that are taken and not ready yet
  };

  bool take_one(uint32_t index, const findings::Race& race);
  // Of a pair that nothing but plain moves may order (findings::kOrderedByMemory).
  bool may_be_ordered_by_memory(const ReportedRace& race);
  bool take_part(uint32_t index, ReportedRace race);
  // A side is code that Go's compiler made. Its goroutines go from thread to thread in ways that
  // are not seen, so it may be no race: the program counts as one that was not checked.
  bool is_of_go(const ReportedRace& race);
  void note_met(Reported& one, uint32_t index);
  Judgement judge(const ReportedRace& race);
  void print(const ReportedRace& race);
  void say_totals();
  std::string found_words() const;
  std::string met_words() const;
  std::string nothing_found() const;
  std::string looked_at() const;
  std::string not_looked_at() const;
  bool has_several_runs() const { return totals_.runs.size() > 1; }

  Suppressions suppressions_;
  const CheckReport report_;
  const std::vector<std::string> program_;

  std::unique_ptr<Source> source_;
  bool goes_on_ = false;  // a run does
  bool is_at_standstill_ = false;
  bool has_failed_ = false, is_multithreaded_ = false;
  uint32_t runs_to_come_ = 1;
  std::vector<Reported> reported_;
  std::map<std::string, size_t> by_places_;  // into reported_
  std::set<std::string> suppressed_;         // by places
  std::map<std::string, bool> from_go_;      // by path of a module
  std::set<std::string> instrumentation_;    // by places: sanitizers' and counters of coverage
  Unproven unproven_;
  Totals totals_;
};

}  // namespace weir::cli
