// Question: what does it cost a program to become multithreaded: one thread made, joined, and the
// end?
// Command:  one_thread
// Figure:   wall time of the program.
#include "workload.h"

static void* nothing(void* argument) { return argument; }

int main(void) {
  run_threads(1, nothing);
  return 0;
}
