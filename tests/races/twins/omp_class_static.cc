// Objects that threads make count in a member of their class.
#include "twin.h"

struct Counter {
  Counter() {
#if !RACY
#pragma omp atomic
#endif
    made_++;  // RACE
  }
  static int made_;
};
int Counter::made_;

int main() {
#pragma omp parallel for num_threads(3)
  for (int i = 0; i < 12; ++i) {
    const Counter counter;
    use(reinterpret_cast<long>(&counter));
  }
  return 0;
}
