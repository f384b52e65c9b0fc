// The variables by which the loader and the library know that a program must run under Weir:
// LD_PRELOAD, WEIR_OPTIONS, one of glibc's tunables in GLIBC_TUNABLES, LD_BIND_NOW. The command
// gives them to the first program. A program under Weir gives them to each one that it executes,
// whatever environment it passes. A program sees of them what it would see without that: LD_PRELOAD
// and WEIR_OPTIONS if the program that executed it passed them on, the others never.
#pragma once

#include "control/task.h"

namespace weir::tasks {

// Called once, before other code of the program runs. Keeps what later programs must be given, and
// takes out of `environment` what the program must not see. REQUIRES: the options have been read.
void take_environment(char** environment);

// weir-host beside the library; empty if this program was not given the library.
const char* host_file();

struct Hosted;

// The vector of variables with which a program is executed, and of the arguments of one that is
// `hosted` (task/exec/outside.h; null: it is not), as long as this lives. In a child of vfork the
// memory belongs to the parent, which gives it back (end_borrowed_environment).
class ExecutedEnvironment {
 public:
  // `path`, from `directory`: the program that will be executed, as the call names it. A
  // library that must be in front of Weir's comes first in LD_PRELOAD (sys/built_with.h).
  ExecutedEnvironment(Task& task, long arguments, long variables, int directory, long path,
                      const Hosted* hosted);
  ~ExecutedEnvironment();
  ExecutedEnvironment(const ExecutedEnvironment&) = delete;
  ExecutedEnvironment& operator=(const ExecutedEnvironment&) = delete;
  // Returns what the call must be given: the program's own variables if nothing is added, or if
  // they cannot be read.
  long variables() const { return variables_; }
  long arguments() const { return arguments_; }
  // False also if the program must be executed as it is, because there is no room.
  bool is_hosted() const { return is_hosted_; }

 private:
  bool make_arguments(const Hosted& hosted, uint64_t at);

  Task& task_;
  long arguments_, variables_;
  bool is_hosted_ = false;
};

void end_borrowed_environment(Task& borrower);

}  // namespace weir::tasks
