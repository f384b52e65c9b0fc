// Standard input, from its beginning in each of several runs.
// Implemented in repeated_input.cc.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <memory>
#include <thread>

namespace weir::cli {

// REQUIRES: of each run begin(), install() in its child, started() and end(), in that order. A
// single run has its input untouched.
class RepeatedInput {
 public:
  // Throws Failure where that input cannot be repeated.
  explicit RepeatedInput(bool is_repeated);
  ~RepeatedInput();
  RepeatedInput(const RepeatedInput&) = delete;
  RepeatedInput& operator=(const RepeatedInput&) = delete;

  // `is_shown`: what the run writes is shown, so that a terminal's user sees what it asks for. Else
  // a terminal is replaced by one that has ended.
  void begin(bool is_shown);
  void install() const;
  void started();
  void end();

 private:
  enum class Kind { kAsItIs, kFile, kPipe, kTerminal };

  void feed(int to, int stop);

  Kind kind_ = Kind::kAsItIs;
  bool is_hidden_ = false;
  off_t start_ = 0;                             // kFile
  std::unique_ptr<FILE, int (*)(FILE*)> kept_;  // kPipe: what has been read so far
  int ends_[2] = {-1, -1}, stop_ = -1;          // of the pipe that this run reads
  std::thread feeder_;
};

}  // namespace weir::cli
