// Prices of swaptions by Monte Carlo simulation of forward rates in the framework of Heath, Jarrow
// and Morton, as PARSEC's swaptions computes them: three factors, quarters of a year, payer
// swaptions. Sharing: swaptions are dealt out once, nothing is synchronized, results lie side by
// side in one array. What makes it
//          interesting is the heap: every block of trials allocates its curves and frees them, in
//          all threads at once.
// Policies: swaptions are an array of which each thread's share is a slice, that main has filled
// and takes back in the end.
// Result:  prices and errors; each swaption has its own stream of random numbers, so they do not
//          depend on the threads.
// Sizes:   large is PARSEC's simlarge, 64 swaptions of 20000 trials.
#include <math.h>
#include <weir/weir.h>

#include "options.h"
#include "random.h"
#include "workload.h"

enum { kPeriods = 24, kExercise = 8, kFactors = 3, kBlock = 16 };
static const double kPeriod = 0.25;  // years

struct Swaption {
  double strike;
  double forward[kPeriods], volatility[kFactors][kPeriods], drift[kPeriods];
  uint64_t seed;
  double price, error;
};

static const long kSwaptions[] = {16, 32, 64}, kTrials[] = {160, 20000, 20000};
static struct weir_array* g_swaptions;
static long g_count, g_trials, g_threads;

// The drift that leaves no arbitrage: what the volatilities up to a maturity add to the rate for it
// in one period.
static void set_drift(struct Swaption* s) {
  for (int j = 0; j < kPeriods; ++j) s->drift[j] = 0;
  for (int factor = 0; factor < kFactors; ++factor) {
    double below = 0;
    for (int j = 0; j < kPeriods; ++j) {
      const double upto = below + s->volatility[factor][j];
      s->drift[j] += kPeriod * kPeriod * (upto * upto - below * below) / 2;
      below = upto;
    }
  }
}

static struct Swaption* swaption(long number) { return weir_array_at(g_swaptions, (size_t)number); }
static long first_of(long thread) { return g_count * thread / g_threads; }

static void make_swaptions(uint64_t seed) {
  size_t ends[kMaxThreads];
  for (long thread = 0; thread < g_threads; ++thread) ends[thread] = (size_t)first_of(thread + 1);
  g_swaptions = weir_array_slice_at((size_t)g_count, sizeof(struct Swaption), ends,
                                    (size_t)g_threads, WEIR_PRIVATE);
  must(!g_swaptions, "malloc");
  for (long i = 0; i < g_count; ++i) {
    struct Random random = random_stream(seed, (uint64_t)i);
    struct Swaption* s = swaption(i);
    memset(s, 0, sizeof *s);
    s->strike = random_between(&random, 0.02, 0.08);
    const double first = random_between(&random, 0.02, 0.05),
                 slope = random_between(&random, 0, 0.001);
    const double level = random_between(&random, 0.005, 0.015);
    for (int j = 0; j < kPeriods; ++j) {
      s->forward[j] = first + slope * j;
      s->volatility[0][j] = level;
      s->volatility[1][j] = level * exp(-0.1 * j);
      s->volatility[2][j] = level / 2 * (1 - 0.08 * j);
    }
    s->seed = random_bits(&random);
    set_drift(s);
  }
}

// One path: curve[i * kPeriods + j] is the rate at time i for the period that begins j periods
// later.
static double payoff_of_path(const struct Swaption* s, struct Random* random, double* curve) {
  memcpy(curve, s->forward, sizeof s->forward);
  double discount = 0;
  for (int i = 1; i <= kExercise; ++i) {
    const double* before = curve + (i - 1) * kPeriods;
    double *now = curve + i * kPeriods, shock[kFactors];
    for (int factor = 0; factor < kFactors; ++factor)
      shock[factor] = random_normal(random) * sqrt(kPeriod);
    discount += before[0] * kPeriod;
    for (int j = 0; j < kPeriods - i; ++j) {
      now[j] = before[j + 1] + s->drift[j];
      for (int factor = 0; factor < kFactors; ++factor)
        now[j] += s->volatility[factor][j] * shock[factor];
    }
  }
  const double* rates = curve + kExercise * kPeriods;
  double bond = 1, annuity = 0;
  for (int j = 0; j < kPeriods - kExercise; ++j) {
    bond *= exp(-rates[j] * kPeriod);
    annuity += bond * kPeriod;
  }
  const double swap = 1 - bond - s->strike * annuity;
  return swap > 0 ? swap * exp(-discount) : 0;
}

static void price(struct Swaption* s) {
  struct Random random = {s->seed};
  double sum = 0, squares = 0;
  for (long trial = 0; trial < g_trials; trial += kBlock) {
    double* curves[kBlock];
    for (int b = 0; b < kBlock; ++b) {
      curves[b] = malloc(sizeof(double) * (kExercise + 1) * kPeriods);
      must(!curves[b], "malloc");
      const double payoff = payoff_of_path(s, &random, curves[b]);
      sum += payoff;
      squares += payoff * payoff;
    }
    for (int b = 0; b < kBlock; ++b) free(curves[b]);
  }
  s->price = sum / (double)g_trials;
  s->error = sqrt((squares / (double)g_trials - s->price * s->price) / (double)g_trials);
}

static void* worker(void* number) {
  const long from = first_of((long)number), to = first_of((long)number + 1);
  if (from == to) return NULL;
  weir_acquire_write(swaption(from));
  for (long i = from; i < to; ++i) price(swaption(i));
  weir_release_write(swaption(from));
  return NULL;
}

static void sequential(void) {
  for (long i = 0; i < g_count; ++i) price(swaption(i));
}

static void with_threads(void) {
  weir_set_sticky_read(&g_swaptions);
  weir_set_sticky_read(&g_count);
  weir_set_sticky_read(&g_trials);
  weir_set_sticky_read(&g_threads);
  for (long thread = 0; thread < g_threads; ++thread) {
    if (first_of(thread) < first_of(thread + 1)) weir_release_write(swaption(first_of(thread)));
  }
  run_threads(g_threads, worker);
  for (long thread = 0; thread < g_threads; ++thread) {
    if (first_of(thread) < first_of(thread + 1)) weir_acquire_read(swaption(first_of(thread)));
  }
}

int main(int argc, char** argv) {
  const struct Options options = parse_options(argc, argv, NULL);
  g_threads = options.threads;
  g_count = kSwaptions[options.size];
  g_trials = kTrials[options.size];
  make_swaptions(options.seed);
  if (options.sequential) {
    sequential();
  } else {
    with_threads();
  }
  double sum = 0, worst = 0;
  for (long i = 0; i < g_count; ++i) {
    sum += swaption(i)->price;
    if (swaption(i)->error > worst) worst = swaption(i)->error;
  }
  printf("%ld swaptions of %ld trials: mean price %.9f, largest error %.9f\n", g_count, g_trials,
         sum / (double)g_count, worst);
  return 0;
}
