// Question: what does counted execution cost program code (src/code/translate)?
// Command:  count_cost
// Figure:   for each function the processor time of a counted run by that of a native one beside
//           it, median and quartiles of pairs; and microseconds for each block more that the first
//           run took, which finds the cache empty.
#include <malloc.h>
#include <stdio.h>
#include <time.h>

#include <algorithm>

#include "code/translate/cache.h"
#include "code/translate/counted.h"
#include "code/translate/test_functions.h"
#include "code/translate/test_run.h"

namespace {

using namespace weir::translate;
using namespace test::functions;

constexpr int kPairs = 21;

double now() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

const struct Case {
  const char* name;
  test::Function function;
  int64_t a, b;
} kCases[] = {
    {"fibonacci", fibonacci, 27, 0}, {"sieve", sieve, 300000, 0},
    {"table", table, 400000, 12345}, {"virtual_calls", virtual_calls, 20000, 0},
    {"sorting", sorting, 20000, 7},  {"floating", floating, 20000, 0},
    {"vectors", vectors, 20000, 5},  {"strings", strings, 10000, 0},
    {"catching", catching, 500, 0},
};

void measure(const Case& f) {
  double ratio[kPairs], native = 1e9, first = 1e9, again = 1e9;
  test::Outcome outcome;
  uint32_t blocks = 0;
  for (int i = -1; i < kPairs; i++) {  // one more: functions are bound, the heap grows
    on_patched_text();                 // empties the cache
    const double a = now();
    test::run(reinterpret_cast<const void*>(f.function), f.a, f.b);
    const double b = now();
    blocks = cache().block_count - 1;
    outcome = test::run(reinterpret_cast<const void*>(f.function), f.a, f.b);
    const double c = now();
    f.function(f.a, f.b);
    const double d = now();
    if (i < 0) continue;
    ratio[i] = (c - b) / (d - c);
    native = std::min(native, d - c);
    first = std::min(first, b - a);
    again = std::min(again, c - b);
  }
  std::sort(ratio, ratio + kPairs);
  printf(
      "%-14s %.2f (%.2f-%.2f)  %9lu instructions%s in %.3f ms natively; %4u blocks, %.2f us each\n",
      f.name, ratio[kPairs / 2], ratio[kPairs / 4], ratio[kPairs * 3 / 4], outcome.executed,
      outcome.was_native ? " (not all)" : "", native * 1e3, blocks, (first - again) * 1e6 / blocks);
}

}  // namespace

int main() {
  const bool good = test::in_child([] {
    mallopt(M_MMAP_THRESHOLD, 1 << 28);  // system calls are not counted
    mallopt(M_TRIM_THRESHOLD, 1 << 28);
    for (const Case& f : kCases) measure(f);
    return true;
  });
  return good ? 0 : 1;
}
