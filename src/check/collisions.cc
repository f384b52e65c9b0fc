// Collisions: two tasks that are, at the same moment, about to access a common byte.
//
// A collision is a race, whatever order the clocks show: neither access has been made, so nothing
// can lead from the one to the other. Collisions also find what accidents order in nearly every
// run: a counter that both tasks change in between, a lock that happens to be free. To provoke
// them, a task delays some accesses to pages that others touch as well (DataCollider, OSDI 2010,
// does so with breakpoints). It delays the first, second, fourth, ... time that an instruction is
// checked, for some hundred microseconds, as long as all tasks together have not lost more than a
// share of the time so far. A task that checks an access meanwhile sees which tasks are about to
// make theirs.
//
// Invariants
// 1. A task has not made its pending access: it withdraws the entry, under the lock of its place,
//    before it goes on. (checked in linger, end)
// 2. No task delays while it holds a lock of the runtime. Others wait only for what is the task's
//    own. (not checkable: a lock does not say who holds it)

#include "base/atomic_enum.h"
#include "check/state.h"
#include "sys/futex.h"
#include "sys/report.h"

namespace weir::view::checked {

namespace {

constexpr uint64_t kNanoseconds = 200'000;
constexpr uint64_t kFirstLoss = 60'000'000,
                   kLossShare = 16;  // cycles, and one part in so many of those that have passed

bool is_affordable() {
  State& s = state();
  const uint64_t now = sys::cycles();
  uint64_t began = __atomic_load_n(&s.linger_began, __ATOMIC_RELAXED);
  if (!began)
    __atomic_compare_exchange_n(&s.linger_began, &began, now, false, __ATOMIC_RELAXED,
                                __ATOMIC_RELAXED);
  const uint64_t passed = began && now > began ? now - began : 0;
  return __atomic_load_n(&s.lingered, __ATOMIC_RELAXED) < kFirstLoss + passed / kLossShare;
}

// The 1st, 2nd, 4th, ... time; instructions that share a count are lingered at less often.
bool is_chosen(uint64_t rip) {
  uint32_t& count = state().looks_at[rip * 0x9E3779B97F4A7C15 >> 48 & (kLookCounts - 1)];
  const uint32_t now = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
  return (now & (now - 1)) == 0;
}

bool is_common(const Touch& touch) {
  if (!(touch.kind & (findings::kRead | findings::kWrite)) || (touch.kind & findings::kAtomic) ||
      !is_ours(touch.address))
    return false;
  const Page& page = page_of(page_down(touch.address));
  return load_enum<__ATOMIC_RELAXED>(page.mode) == Mode::kWatched &&
         __atomic_load_n(&page.toucher_count, __ATOMIC_RELAXED) > 1;
}

}  // namespace

void linger(Task& task, const Spot& spot, const Touch* touches, uint32_t count) {
  State& s = state();
  if (is_ignored(spot.rip) || shared().order.live < 2) return;
  const Touch* chosen = nullptr;
  for (uint32_t i = 0; i < count && !chosen; i++) {
    if (is_common(touches[i])) chosen = &touches[i];
  }
  if (!chosen || !is_chosen(spot.rip) || !is_affordable()) return;
  Watcher& watcher = watcher_of(task);
  Standing& standing = watcher.standing;
  WEIR_CHECK(!standing.is_there);  // invariant 1 of collisions.cc
  const uint64_t since = sys::cycles();
  const uint32_t context = context_of(spot), lockset = lockset_of(watcher);
  __atomic_store_n(&standing.is_met, 0u, __ATOMIC_RELAXED);
  {
    const SpinGuard guard(standing.lock);
    standing.prior = {chosen->address, chosen->size, chosen->kind,
                      watcher.number,  context,      lockset};
    __atomic_store_n(&standing.is_there, 1u, __ATOMIC_RELEASE);
  }
  __atomic_add_fetch(&s.standing, 1, __ATOMIC_RELEASE);
  sys::futex_wait(&standing.is_met, 0, kNanoseconds);
  {
    const SpinGuard guard(standing.lock);  // whoever is just looking at it
    __atomic_store_n(&standing.is_there, 0u, __ATOMIC_RELEASE);
  }
  __atomic_sub_fetch(&s.standing, 1, __ATOMIC_RELEASE);
  __atomic_fetch_add(&s.lingered, sys::cycles() - since, __ATOMIC_RELAXED);
}

void meet_standing(const Watcher& watcher, Touch& touch, const Spot& spot) {
  State& s = state();
  if (!__atomic_load_n(&s.standing, __ATOMIC_ACQUIRE)) return;
  const uint32_t limit = shared().order.high_task;
  for (uint32_t i = 0; i < limit; i++) {
    Watcher& other = s.watchers[i];
    Standing& standing = other.standing;
    if (&other == &watcher || !__atomic_load_n(&standing.is_there, __ATOMIC_ACQUIRE)) continue;
    Prior prior;
    {
      const SpinGuard guard(standing.lock);
      if (!standing.is_there) continue;
      prior = standing.prior;
      const bool overlaps =
          prior.address < touch.address + touch.size && touch.address < prior.address + prior.size;
      const bool conflicts = overlaps && ((prior.kind | touch.kind) & findings::kWrite) &&
                             prior.number != watcher.number;
      if (!conflicts || (prior.kind & touch.kind & findings::kAtomic)) continue;
      __atomic_store_n(&standing.is_met, 1u, __ATOMIC_RELEASE);
    }
    sys::futex_wake(&standing.is_met);
    report_race(prior, watcher, touch, spot, findings::Why::kCollision);
  }
}

}  // namespace weir::view::checked
