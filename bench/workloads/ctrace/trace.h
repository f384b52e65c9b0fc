// A tracing library for programs with threads, in the manner of ctrace. A thread registers under a
// name and says by a level how much of what it does is written; lines of all threads go into one
// buffer, numbered in the order in which they come. Its functions may be called by all threads at
// once, but for trace_open and trace_close.
#ifndef WEIR_BENCH_CTRACE_TRACE_H
#define WEIR_BENCH_CTRACE_TRACE_H
#include <stdint.h>

enum TraceLevel { kTraceOff, kTraceError, kTraceCall, kTraceDetail };
enum {
  kTraceLine = 200
};  // bytes with the end of the line, without the number; a longer line is cut

struct TraceTotals {
  long lines;
  uint64_t sum;  // of the lines without their numbers: does not depend on their order
};

// A line without its number, as `sum` has it.
uint64_t trace_sum_line(const char* line, long size);

// `file` -1: lines stay in the buffer until later ones take their place.
void trace_open(int file);
// What was written by threads that have been removed. REQUIRES: all have.
struct TraceTotals trace_close(void);

// The calling thread; `units` is a mask of the parts of the program that it traces.
void trace_add_thread(const char* name, enum TraceLevel level, unsigned units);
void trace_remove_thread(void);
void trace_set_level(enum TraceLevel level);

// One line, if the calling thread is registered, its level is at least this and `unit` is in its
// mask.
void trace_point(enum TraceLevel level, unsigned unit, const char* where, const char* format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
