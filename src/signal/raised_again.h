// Real-time signals of one number keep their order though some were noted and are raised again.
#pragma once

#include <signal.h>

#include "control/signals.h"
#include "control/task.h"
#include "sys/signal.h"

namespace weir::trap {

// A real-time signal that another thread sends while earlier signals of its number, already noted,
// are being raised again goes behind them. Those carry a mark. (Under View isolated the sender has
// the turn, so nobody sends meanwhile.)
inline bool overtakes(Task& task, int signal, siginfo_t* info) {
  if (signal < sys::kFirstRealTime) return false;
  uint16_t& outstanding = task.signals.raised_again[signal - sys::kFirstRealTime];
  if (!outstanding) return false;
  if (!unmark_raised_again(*info)) return true;
  outstanding--;
  return false;
}

}  // namespace weir::trap
