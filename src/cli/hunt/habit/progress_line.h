// How far a hunt is: a line on the terminal that is written over; nothing where standard error is
// none.
#pragma once

#include <chrono>
#include <string>

#include "cli/hunt/search/search.h"

namespace weir::cli::hunt {

class ProgressLine {
 public:
  explicit ProgressLine(bool is_quiet);
  ~ProgressLine();  // takes it away
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // May be called often.
  void show(const SearchState& state, const SearchOptions& options);
  void show_shrinking(size_t switches, uint64_t runs);
  void clear();

 private:
  bool is_due();
  void write(const std::string& text);

  using Clock = std::chrono::steady_clock;
  const bool is_seen_;
  bool is_there_ = false;
  Clock::time_point next_ = Clock::now() + std::chrono::milliseconds(500);
  uint64_t behaviours_ = 0;  // when it was shown last
};

}  // namespace weir::cli::hunt
