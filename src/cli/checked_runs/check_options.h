// What the user asks of `weir check`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/races/hazards.h"
#include "cli/races/report_options.h"

namespace weir::cli {

struct CheckOptions {
  ReportOptions reports;
  std::string enforcer = "auto", policies;
  uint32_t rehash = 1000, domains = 0;
  uint64_t delay = 0;
  std::vector<std::string> hazards = kDefaultHazards;
  bool halt = false, keep_going = false, suggest = false, exhaustive = false, no_linger = false,
       allow_unchecked = false, stat = false;

  unsigned runs = 1;
  bool stop_at_first = false;  // no more runs after one in which something was reported
  bool show_output = false;    // of all runs, not of the first alone
  double run_timeout = 0;      // seconds; 0: not given
  bool is_deep = false;        // each run is recorded and then replayed
  std::string recording;       // where the recording of the only run is kept; empty: nowhere
};

}  // namespace weir::cli
