// The programs that a checked program executes: each must be checked too, or the command says that
// it was not. Signal-safe; they do nothing where races are not looked for.
// Implemented in executed.cc.
#pragma once

#include <stdint.h>

namespace weir::checking {

// The executable of this process, as a number: another one for another file. 0 before
// learn_image().
extern uint32_t g_image;

// While this lives the process `pid` executes the program of that name; it ends where that fails.
inline constexpr int kNoNote = 0;  // for `pid`: that program is none to be checked

class Execution {
 public:
  // `name`: a path of the program's, which need not be readable.
  Execution(int pid, long name);
  ~Execution();
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

 private:
  uint32_t note_ = 0;  // of the place, + 1; 0: there is none
};
// The runtime is at work in what this process has executed.
void learn_image();
// ... and looks for races, which the command will hear of.
void arrive_executed();
// The runtime cannot enter that program. Returns false, and does nothing, where races are not
// looked for: then somebody else says it.
bool note_outside(const char* name, const char* why);

}  // namespace weir::checking
