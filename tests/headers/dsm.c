/* weir/dsm.h, in C and in C++, as a program with all warnings has it (run.py). */
#include "weir/dsm.h"

int use_dsm(int* argc, char*** argv);

static void body(unsigned worker, unsigned workers, void* context) {
  ((double*)context)[worker] = workers;
}

int use_dsm(int* argc, char*** argv) {
  double values[4] = {0, 0, 0, 0};
  weir_dsm_attributes attributes = {WEIR_DSM_LRC, WEIR_DSM_EXPLICIT, 1, WEIR_DSM_PAGES, 4,
                                    "values"};
  weir_dsm_counters counters;
  void* memory;
  weir_dsm_start(argc, argv);
  memory = weir_dsm_alloc_with(100, &attributes);
  weir_dsm_run(body, values);
  weir_dsm_reduce_double(values, 4, WEIR_DSM_MAX);
  weir_dsm_barrier_replay(0, WEIR_DSM_STATIC);
  weir_dsm_free(memory);
  weir_dsm_free(weir_dsm_alloc_shared(100, sizeof(double), &attributes));
  weir_dsm_counters_get(&counters);
  if (counters.misses > 1000) weir_dsm_abort(1, "too many");
  weir_dsm_finish();
  return 0;
}
