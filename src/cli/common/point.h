// A point of Order x View and the other choices of one run, as the command line gives them and the
// library receives them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weir::cli {

// Names that this build offers, first the default of `weir run`.
inline const std::vector<std::string> kOrders = {"free", "token", "serial"};
inline const std::vector<std::string> kViews = {"direct", "isolated", "coherent"};

struct ServedRun;  // cli/launch/launch.h

struct RunOptions {
  std::string order = kOrders.front();
  std::string view = kViews.front();
  bool stat = false;
  bool fingerprint = false;
  std::string log;    // empty: standard error
  std::string json;   // where the counts go as JSON; empty: nowhere
  std::string cache;  // folder of what is kept from one run to the next; empty: nothing is
  int trace = -1;     // descriptor of the memory of a recording (channel/ring.h); -1: the run
                      // is not recorded or replayed
  int findings = -1;  // descriptor of the memory for what a checker finds
                      // (check/findings/findings.h); -1: the run is not checked
  int command = 0, command_findings = 0;  // who has made it, and its descriptor there; 0: not said
  std::string enforcer = "auto", policies = "inferred";  // of a checked run
  uint32_t rehash = 1000, domains = 0;                   // likewise, by protection keys
  bool exhaustive = false, lingers = true;               // likewise
  uint32_t left_out = 0;               // of a recording: optimizations (base/coherent_features.h)
  std::vector<std::string> constant;   // inputs that are made constant: "random=7", "time", "pid"
  int constant_memory = -1;            // descriptor of what such a run's processes have together
  bool places = false;                 // Weir fixes the program's addresses, as the kernel does not
  std::string schedule, schedule_log;  // of order serial: which; where it says what it did
  bool schedule_detail = false;        // that says, too, where tasks stood and what they touched
  std::string findings_file;           // likewise: where races go; empty: they are not looked for
  uint64_t step_limit = 0;             // likewise; 0: none
  std::string memory;                  // of order serial: sc or tso; empty: as the schedule says
  int schedule_memory = -1;            // descriptor of the memory that has them
  const ServedRun* served = nullptr;   // likewise: it is to be a fork server
  uint32_t processors = 0;             // likewise: that it is to count on; 0: those that it has
  std::string heap;                    // likewise: "guard"; empty: blocks are not looked at
  uint64_t delay = 0;                  // seed of random delays at events, a debugging aid; 0: none
  bool sparse_delays = false;          // that try another schedule, and cost little

  bool passive() const { return order == "free" && view == "direct"; }
  // The program sees the same addresses, random bytes and processor in every run.
  bool deterministic() const { return order != "free"; }
};

// What `--virtual` asks for. Throws Failure for a word that it does not know.
struct ConstantInputs {
  uint32_t kinds = 0;  // constant/layout.h
  uint64_t seed = 0;
  uint64_t start = 1'767'225'600;  // 2026-01-01
};
ConstantInputs constant_inputs(const std::vector<std::string>& words);

// The user wants pages to be tracked without userfaultfd (WEIR_PAGES=mprotect; memory/userfault.h).
// Throws Failure for another value than that and "auto".
bool wants_page_tables();

// The value of WEIR_OPTIONS: comma-separated key=value. Numbers have a fixed width, so that
// switching an option does not move the program's stack: what a deterministic run computes must not
// depend on whether it is being measured. `tracer` is the child of the new program that must be
// waited for, or 0.
inline constexpr const char* kPlaces = ",addresses=weir";  // in it, where Weir fixes addresses
std::string to_environment(const RunOptions& options, int tracer);

}  // namespace weir::cli
