// Delays at events, of two sorts.
//
// Dense ones test Weir: what it promises may not depend on them. Sparse ones (weir check --runs)
// look for a schedule that a quiet machine does not show: a task that begins late, or that comes
// to a lock late. Most of a task's delays are at its first events, where they move all that
// follows, and all together may cost a quarter of its time and some 50 ms. They are drawn by seed,
// task and number of the event.

#include "order/delay.h"

#include "base/hash.h"
#include "control/options.h"
#include "sys/futex.h"
#include "sys/syscall_x86_64.h"

namespace weir {

namespace {

// Per process: of its task.
struct Sparse {
  uint64_t task, events;  // task: its creation + 1
  uint64_t began, spent;  // nanoseconds
};
Sparse g_sparse = {};

constexpr uint64_t kFirstSpent = 50'000'000, kShare = 4;
constexpr uint64_t kLongestStart = uint64_t{1} << 26, kLongest = uint64_t{1} << 19,
                   kLongestSeldom = uint64_t{1} << 23;  // nanoseconds

// Events with which a thread begins: the first is its creation's, where its creator may wait.
constexpr uint64_t kStart = 4;

bool is_chosen(uint64_t random, uint64_t event) {
  const uint64_t rarity = event < kStart ? 3 : event < 64 ? 4 : event < 1024 ? 32 : 512;
  return random % rarity == 0;
}

// Up to `most`, a power of two; short ones as often as long ones.
uint64_t length_of(uint64_t random, uint64_t most) {
  constexpr uint64_t kScales = 6;
  const uint64_t scaled = most >> random % kScales;
  return scaled / 2 + (random >> 8) % (scaled / 2);
}

void delay_sparsely(const Task& task) {
  Sparse& s = g_sparse;
  if (s.task != task.identity.creation + 1)
    s = {task.identity.creation + 1, 0, sys::monotonic_ns(), 0};
  const uint64_t event = s.events++;
  const uint64_t random = mix(options().delay_seed ^ mix(s.task << 32 ^ event));
  if (!is_chosen(random >> 48, event)) return;
  if (s.spent > kFirstSpent + (sys::monotonic_ns() - s.began) / kShare) return;
  constexpr uint64_t kSeldom = 16;
  const uint64_t most = event < kStart                  ? kLongestStart
                        : (random >> 40) % kSeldom == 0 ? kLongestSeldom
                                                        : kLongest;
  const uint64_t length = length_of(random, most);
  uint32_t nobody_wakes = 0;
  sys::futex_wait(&nobody_wakes, 0, length);
  s.spent += length;
}

void delay_densely(const Task& task) {
  uint64_t x = mix(options().delay_seed + task.id) ^ sys::cycles();
  x ^= x >> 29;
  x *= 0xBF58476D1CE4E5B9;
  if (x >> 62) return;
  const uint64_t until = sys::monotonic_ns() + (x & 0x3ffff);
  while (sys::monotonic_ns() < until) sys::cpu_relax();
}

}  // namespace

void inject_delay(Task& task) {
  if (!options().delay_seed) return;
  if (options().sparse_delays) delay_sparsely(task);
  else delay_densely(task);
}

}  // namespace weir
