// A loop in a member function adds to a member.
#include "twin.h"

class Sum {
 public:
  long of(int count) {
    long sum = 0;
#if RACY
#pragma omp parallel for num_threads(3)
    for (int i = 0; i < count; ++i) total_ += i;  // RACE
#else
#pragma omp parallel for num_threads(3) reduction(+ : sum)
    for (int i = 0; i < count; ++i) sum += i;
#endif
    return total_ + sum;
  }

 private:
  long total_ = 0;
};

int main() {
  Sum sum;
  use(sum.of(80));
  return 0;
}
