// How far a long replay is, on the terminal.
#pragma once

#include <chrono>
#include <cstdint>

namespace weir::cli {

// Shows nothing where standard error is no terminal, and nothing in the first second.
class Progress {
 public:
  // `total`: bytes of entries that there are in the recording. `seconds`: how long the recorded
  // program ran; 0: not known.
  Progress(uint64_t total, double seconds);
  // Takes its line away.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Shows the progress. `taken`: the bytes of the recording that the program has taken. May be
  // called often.
  void show(uint64_t taken);

 private:
  using Clock = std::chrono::steady_clock;

  const uint64_t total_;
  const double seconds_;
  const bool is_seen_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point next_;
  bool is_there_ = false;  // a line that has to be taken away
};

}  // namespace weir::cli
