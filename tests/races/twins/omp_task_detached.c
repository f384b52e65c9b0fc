// A detached task is complete when its event is fulfilled; the racy one stores after that.
#include <omp.h>

#include "twin.h"

static int value, ready;

int main(void) {
#pragma omp parallel num_threads(3)
#pragma omp single
  {
    omp_event_handle_t event;
#pragma omp task detach(event) depend(out : ready)
    use(1);
#pragma omp task firstprivate(event)
    {
      if (!RACY) value = 7;
      omp_fulfill_event(event);
      pause_ms(3);
      if (RACY) value = 7;  // RACE
    }
#pragma omp task depend(in : ready)
    use(value);  // RACE
  }
  return 0;
}
