// Races under Order serial (weir hunt --races). One task at a time runs program code, and it is
// stopped before each instruction of the program's. So every access is known, and is checked with
// the clocks and the shadow of the checked View. No page is closed to anybody.
//
// What is found lies in private memory at kFindings, which a forked run begins with as it was. At
// the end of the run it is written to the file that the command has named
// (ScheduleMemory::findings_path).
// Implemented in races.cc and findings_file.cc.
#pragma once

#include "base/frame.h"
#include "check/core/check.h"
#include "check/core/happens_before.h"
#include "control/task.h"
#include "view/view.h"

namespace weir::view::checked {

namespace serial {

// At the start: maps the memory for what is found, if the command has asked for races. Ends the
// process with a report where that fails.
void attach();
bool is_asked();  // attach() has mapped it

// Tasks begin.
void start(Task& task);
// A child of the program has one task, and is not looked at.
void stop();
inline bool is_on() { return happens::g_serial; }

// Whether the code there may run without a stop before each instruction: it is a system library's,
// and orders nothing for the program at the moment.
bool runs_unseen(uint64_t rip);
void check_access(const AccessSite& site, const Access& access);
// The memory is another's from here on.
void renew(uint64_t start, uint64_t size);
// The task, which has the turn, is about to execute the instruction at frame.rip.
void look(Task& task, const Frame& frame);
// give_up() of check/core/check.h: code runs from here on that is not seen. What it stores may
// order tasks, so nothing that comes later can be called a race.
// The run ends.
void write_findings();

}  // namespace serial

// View direct, where races are looked for.
class CheckedSerial final : public View {
 public:
  void close_tracking() override { serial::stop(); }
  void forget(uint64_t start, uint64_t size) override {
    if (serial::is_on()) renew(start, size);
  }
};

}  // namespace weir::view::checked
