// Prices of European options by the formula of Black and Scholes, as PARSEC's blackscholes computes them.
// Sharing: contracts are read by all; each thread writes one stretch of the array of prices, so two threads meet only
//          in the page where their stretches touch. Every run writes the same prices again; nothing is synchronized
//          until the end.
// Result:  the sums of prices, and how many pairs of a call and a put break the parity between the two.
// Sizes:   medium is PARSEC's simlarge with 400 runs instead of 100, large its native.
#include <math.h>

#include "options.h"
#include "random.h"
#include "workload.h"

struct Contract {
  float spot, strike, rate, volatility, years;
  int put;
};

static const long kContracts[] = {4 << 10, 64 << 10, 10000000}, kRuns[] = {5, 400, 100};
static struct Contract* g_contracts;
static float* g_prices;
static long g_count, g_runs, g_threads;

// The normal distribution function, by the polynomial 26.2.17 of Abramowitz and Stegun.
static float normal_below(float x) {
  const float size = fabsf(x), k = 1 / (1 + 0.2316419f * size);
  const float polynomial =
      k * (0.319381530f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
  const float above = 0.39894228040f * expf(-0.5f * size * size) * polynomial;
  return x < 0 ? above : 1 - above;
}

static float price_of(const struct Contract* c) {
  const float spread = c->volatility * sqrtf(c->years);
  const float d1 = (logf(c->spot / c->strike) + (c->rate + c->volatility * c->volatility / 2) * c->years) / spread;
  const float d2 = d1 - spread, strike_now = c->strike * expf(-c->rate * c->years);
  if (c->put) return strike_now * (1 - normal_below(d2)) - c->spot * (1 - normal_below(d1));
  return c->spot * normal_below(d1) - strike_now * normal_below(d2);
}

static void* worker(void* number) {
  const long from = g_count * (long)number / g_threads, to = g_count * ((long)number + 1) / g_threads;
  for (long run = 0; run < g_runs; ++run) {
    for (long i = from; i < to; ++i) g_prices[i] = price_of(&g_contracts[i]);
  }
  return NULL;
}

static void sequential(void) {
  for (long run = 0; run < g_runs; ++run) {
    for (long i = 0; i < g_count; ++i) g_prices[i] = price_of(&g_contracts[i]);
  }
}

// Contracts 2i and 2i+1 are a call and a put of the same terms.
static void make_contracts(uint64_t seed) {
  struct Random random = random_stream(seed, 0);
  g_contracts = malloc((size_t)g_count * sizeof *g_contracts);
  g_prices = calloc((size_t)g_count, sizeof *g_prices);
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
}

int main(int argc, char** argv) {
  const struct Options options = parse_options(argc, argv, NULL);
  g_threads = options.threads;
  g_count = kContracts[options.size];
  g_runs = kRuns[options.size];
  make_contracts(options.seed);
  if (options.sequential) {
    sequential();
  } else {
    run_threads(g_threads, worker);
  }
  double calls = 0, puts = 0;
  long broken = 0;
  for (long i = 0; i < g_count; i += 2) {
    const struct Contract* c = &g_contracts[i];
    calls += g_prices[i];
    puts += g_prices[i + 1];
    broken += fabs(g_prices[i] - g_prices[i + 1] - (c->spot - c->strike * exp(-c->rate * c->years))) > 1e-3;
  }
  printf("%ld contracts, calls %.4f, puts %.4f, digest %016lx\n", g_count, calls, puts,
         (unsigned long)digest(0, g_prices, (size_t)g_count * sizeof *g_prices));
  printf("parity broken in %ld pairs\n", broken);
  return broken != 0;
}
