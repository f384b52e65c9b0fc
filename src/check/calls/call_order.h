// Which system calls order tasks: what a task did before a call that others can notice is before
// what they do after a call that noticed it.
#pragma once

#include <stdint.h>

namespace weir::checking {

struct CallArguments {
  long number;
  long word[6];
};

// Around a system call of the program's, by what others may hear of it. `is_on`: the program is
// checked; else it is only noted which descriptors there are.
class CallOrder {
 public:
  CallOrder(const CallArguments& call, bool is_on);
  void end(long result);

 private:
  CallArguments call_;
  bool is_on_;
  uint32_t waits_ = 0;  // of the task, before
};

}  // namespace weir::checking
