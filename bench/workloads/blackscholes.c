// Prices of European options by the formula of Black and Scholes, as PARSEC's blackscholes computes
// them. Sharing: contracts are read by all; each thread writes one stretch of the array of prices,
// so two threads meet only
//          in the page where their stretches touch. Every run writes the same prices again; nothing
//          is synchronized until the end.
// Policies: contracts are set once (sticky-read); prices are an array of which each thread's
// stretch is a slice of its own, released to main in the end.
// Result:  the sums of prices, and how many pairs of a call and a put break the parity between the
//          two.
// Sizes:   medium is PARSEC's simlarge with 400 runs instead of 100, large its native.
#include <math.h>
#include <weir/weir.h>

#include "options.h"
#include "random.h"
#include "workload.h"

struct Contract {
  float spot, strike, rate, volatility, years;
  int put;
};

static const long kContracts[] = {4 << 10, 64 << 10, 10000000}, kRuns[] = {5, 400, 100};
static struct Contract* g_contracts;
static struct weir_array* g_prices;
static long g_count, g_runs, g_threads;

// The normal distribution function, by the polynomial 26.2.17 of Abramowitz and Stegun.
static float normal_below(float x) {
  const float size = fabsf(x), k = 1 / (1 + 0.2316419f * size);
  const float polynomial =
      k * (0.319381530f +
           k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
  const float above = 0.39894228040f * expf(-0.5f * size * size) * polynomial;
  return x < 0 ? above : 1 - above;
}

static float price_of(const struct Contract* c) {
  const float spread = c->volatility * sqrtf(c->years);
  const float d1 =
      (logf(c->spot / c->strike) + (c->rate + c->volatility * c->volatility / 2) * c->years) /
      spread;
  const float d2 = d1 - spread, strike_now = c->strike * expf(-c->rate * c->years);
  if (c->put) return strike_now * (1 - normal_below(d2)) - c->spot * (1 - normal_below(d1));
  return c->spot * normal_below(d1) - strike_now * normal_below(d2);
}

static long first_of(long thread) { return g_count * thread / g_threads; }
static float* prices_of(long thread) { return weir_array_at(g_prices, (size_t)first_of(thread)); }

static void* worker(void* number) {
  const long from = first_of((long)number), count = first_of((long)number + 1) - from;
  float* prices = prices_of((long)number);
  for (long run = 0; run < g_runs; ++run) {
    for (long i = 0; i < count; ++i) prices[i] = price_of(&g_contracts[from + i]);
  }
  if (count) weir_release_write(prices);
  return NULL;
}

// Contracts 2i and 2i+1 are a call and a put of the same terms.
static void make_contracts(uint64_t seed) {
  struct Random random = random_stream(seed, 0);
  size_t ends[kMaxThreads];
  for (long thread = 0; thread < g_threads; ++thread) ends[thread] = (size_t)first_of(thread + 1);
  g_contracts = weir_alloc((size_t)g_count * sizeof *g_contracts, WEIR_PRIVATE);
  g_prices =
      weir_array_slice_at((size_t)g_count, sizeof(float), ends, (size_t)g_threads, WEIR_UNTOUCHED);
  must(!g_contracts || !g_prices, "malloc");
  for (long i = 0; i < g_count; i += 2) {
    const float spot = (float)random_between(&random, 20, 120);
    g_contracts[i] = (struct Contract){.spot = spot,
                                       .strike = spot * (float)random_between(&random, 0.6, 1.5),
                                       .rate = (float)random_between(&random, 0.01, 0.1),
                                       .volatility = (float)random_between(&random, 0.05, 0.65),
                                       .years = (float)random_between(&random, 0.05, 2)};
    g_contracts[i + 1] = g_contracts[i];
    g_contracts[i + 1].put = 1;
  }
  weir_set_sticky_read(g_contracts);
}

// From here on all of it is only read.
static void set_input(void) {
  weir_set_sticky_read(&g_contracts);
  weir_set_sticky_read(&g_prices);
  weir_set_sticky_read(&g_count);
  weir_set_sticky_read(&g_runs);
  weir_set_sticky_read(&g_threads);
}

int main(int argc, char** argv) {
  const struct Options options = parse_options(argc, argv, NULL);
  g_threads = options.sequential ? 1 : options.threads;
  g_count = kContracts[options.size];
  g_runs = kRuns[options.size];
  make_contracts(options.seed);
  set_input();
  if (options.sequential) {
    worker(0);
  } else {
    run_threads(g_threads, worker);
  }
  double calls = 0, puts = 0;
  long broken = 0;
  uint64_t sum = digest(0, NULL, 0);
  for (long thread = 0; thread < g_threads; ++thread) {
    const float* prices = prices_of(thread);
    const long from = first_of(thread), count = first_of(thread + 1) - from;
    if (count) weir_acquire_read(prices);
    for (long i = 0; i < count; ++i) *((from + i) % 2 ? &puts : &calls) += prices[i];
    sum = digest_on(sum, prices, (size_t)count * sizeof *prices);
  }
  for (long i = 0; i < g_count; i += 2) {
    const struct Contract* c = &g_contracts[i];
    const float call = *(float*)weir_array_at(g_prices, (size_t)i),
                put = *(float*)weir_array_at(g_prices, (size_t)i + 1);
    broken += fabs(call - put - (c->spot - c->strike * exp(-c->rate * c->years))) > 1e-3;
  }
  printf("%ld contracts, calls %.4f, puts %.4f, digest %016lx\n", g_count, calls, puts,
         (unsigned long)sum);
  printf("parity broken in %ld pairs\n", broken);
  return broken != 0;
}
