// For tests and bench/count_cost.cc: functions that do what programs do, to be run natively and
// counted.
#pragma once

#include <stdint.h>

namespace weir::translate::test {

using Function = int64_t (*)(int64_t, int64_t);

namespace functions {

int64_t fibonacci(int64_t, int64_t);
int64_t sieve(int64_t, int64_t);
int64_t table(int64_t, int64_t);
int64_t virtual_calls(int64_t, int64_t);
int64_t sorting(int64_t, int64_t);
int64_t floating(int64_t, int64_t);
int64_t vectors(int64_t, int64_t);
int64_t strings(int64_t, int64_t);
int64_t jumping(int64_t, int64_t);
int64_t catching(int64_t, int64_t);

}  // namespace functions
}  // namespace weir::translate::test
