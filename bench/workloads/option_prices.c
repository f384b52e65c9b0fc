// Question: what does View isolated cost for a program in the manner of PARSEC's blackscholes:
// shared inputs that are only read, results in neighbouring stretches of one array, no
// synchronization?
// Command:  option_prices [threads [thousands of options [passes]]]
// Figure:   wall time of the program.
#include <math.h>

#include "workload.h"

struct Option {
  double price, strike, rate, volatility, years;
};
static struct Option* g_options;
static double* g_results;
static long g_threads, g_count, g_passes;

static double normal(double x) { return 0.5 * erfc(-x * 0.70710678118654752); }

static void* worker(void* number) {
  const long from = g_count * (long)number / g_threads,
             to = g_count * ((long)number + 1) / g_threads;
  for (long pass = 0; pass < g_passes; ++pass) {
    for (long i = from; i < to; ++i) {
      const struct Option* o = &g_options[i];
      const double root = o->volatility * sqrt(o->years);
      const double d1 =
          (log(o->price / o->strike) + (o->rate + o->volatility * o->volatility / 2) * o->years) /
          root;
      g_results[i] =
          o->price * normal(d1) - o->strike * exp(-o->rate * o->years) * normal(d1 - root);
    }
  }
  return NULL;
}

int main(int argc, char** argv) {
  g_threads = argument(argc, argv, 1, 2);
  g_count = argument(argc, argv, 2, 200) * 1000;
  g_passes = argument(argc, argv, 3, 60);
  g_options = malloc((size_t)g_count * sizeof *g_options);
  g_results = malloc((size_t)g_count * sizeof *g_results);
  must(!g_options || !g_results, "malloc");
  uint64_t state = 88172645463325252u;
  for (long i = 0; i < g_count; ++i) {
    state = compute(state, 1);
    g_options[i] = (struct Option){20 + (double)(state % 80), 20 + (double)(state >> 8 & 63),
                                   0.01 + (double)(state >> 16 & 7) / 100,
                                   0.1 + (double)(state >> 24 & 31) / 100,
                                   0.1 + (double)(state >> 32 & 15) / 8};
  }
  run_threads(g_threads, worker);
  double sum = 0;
  for (long i = 0; i < g_count; ++i) sum += g_results[i];
  printf("%.6f\n", sum);
  return 0;
}
