// A program that stands before its first thread, and is forked for each run
// (control/fork_server.h): the command's end.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "cli/common/shared_memory.h"
#include "cli/launch/launch.h"
#include "control/fork_server.h"
#include "recording/bytes.h"

namespace weir::cli::hunt {

class ForkServer {
 public:
  // Throws Failure if there is no socket or memory for it.
  ForkServer();
  ~ForkServer();  // ends the process
  ForkServer(const ForkServer&) = delete;
  ForkServer& operator=(const ForkServer&) = delete;

  // For the process that becomes the program: of its RunOptions.
  ServedRun served() const { return {memory_, theirs_.descriptor()}; }
  // The process is there.
  void begun();
  // What it writes before it is forked, which each run begins with. From now on it is the server's
  // own process.
  void ready(pid_t pid, std::string out, std::string err);
  bool is_ready() const { return pid_ != 0; }
  pid_t process() const { return pid_; }

  // Readable when there is a word.
  int descriptor() const { return ours_.descriptor(); }
  // Empty: the server is gone. REQUIRES: descriptor() is readable.
  std::optional<ServerWord> heard();
  // Asks for a run with these options, whose output goes to the files. They are filled with what
  // the server has written. Returns false if the server is gone. Throws Failure. REQUIRES:
  // is_ready(), and the run before has ended.
  bool ask(const RunOptions& run, const recording::File& out, const recording::File& err);
  // It has been reaped as a child of the command.
  void forget_process() { pid_ = 0; }

 private:
  cli::SharedMemory memory_;
  recording::File ours_, theirs_;
  pid_t pid_ = 0;
  std::string out_, err_;
};

}  // namespace weir::cli::hunt
