// Which system calls use descriptors, make them and close them, by number and arguments.
#pragma once

#include <stdint.h>

namespace weir::hazards {

// None: the descriptor is negative.
struct UsedBy {
  long descriptor[2] = {-1, -1};
};
UsedBy used_by(long number, const long* arguments);

// Calls `use` for each descriptor that poll() or select() is asked about.
void for_each_polled(long number, const long* arguments, void (*use)(long descriptor));

// What the call closes; first > last: nothing.
struct Closed {
  long first = 0, last = -1;
};
Closed closed_by(long number, const long* arguments);

// Descriptors that the call has made, by its result.
struct Made {
  long descriptor[2] = {-1, -1};
};
Made made_by(long number, const long* arguments, long result);

// The call puts another file under this number, at once; negative: under none.
long replaced_by(long number, const long* arguments);

// The task has a table of descriptors of its own from here on.
bool leaves_table(long number, const long* arguments);

}  // namespace weir::hazards
