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
// A task that only waits (a loop that reads one word) sleeps between its looks. They cost others
// nothing: they are not charged to the budget, and do not count among the looks at the page.
//
// Invariants
// 1. A task has not made its pending access: it withdraws the entry, under the lock of its place,
//    before it goes on. (checked in delay_access)
// 2. No task delays while it holds a lock of the runtime. Others wait only for what is the task's
//    own. (not checkable: a lock does not say who holds it)

#include "base/atomic_enum.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "check/core/state.h"
#include "sys/futex.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"

namespace weir::view::checked {

namespace {

constexpr uint64_t kNanoseconds = 200'000;
constexpr uint64_t kFirstLoss = 60'000'000,
                   kLossShare = 16;  // cycles, and one part in so many of those that have passed

bool is_affordable() {
  State& s = state();
  const uint64_t now = sys::cycles();
  uint64_t began = __atomic_load_n(&s.delays_began, __ATOMIC_RELAXED);
  if (!began)
    __atomic_compare_exchange_n(&s.delays_began, &began, now, false, __ATOMIC_RELAXED,
                                __ATOMIC_RELAXED);
  const uint64_t passed = began && now > began ? now - began : 0;
  return __atomic_load_n(&s.delayed, __ATOMIC_RELAXED) < kFirstLoss + passed / kLossShare;
}

// The 1st, 2nd, 4th, ... time; instructions that share a count are delayed less often.
bool is_chosen(uint64_t rip) {
  uint32_t& count = state().checks_of_site[mix(rip) >> 48 & (kSiteCounts - 1)];
  const uint32_t now = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
  return (now & (now - 1)) == 0;
}

bool is_common(const ThreadState& thread, const Access& access) {
  if (!(access.kind & (findings::kRead | findings::kWrite)) || (access.kind & findings::kAtomic) ||
      !is_ours(access.address))
    return false;
  const Page& page = page_of(page_down(access.address));
  const Mode mode = load_enum<__ATOMIC_RELAXED>(page.mode);
  if (mode == Mode::kSharedUntrapped) return thread.is_suspect;
  if (mode != Mode::kTrapped) return false;
  // A task that has just begun may be about to come here.
  constexpr uint64_t kLately = 6'000'000;  // cycles
  return __atomic_load_n(&page.toucher_count, __ATOMIC_RELAXED) > 1 || page.taken_over ||
         sys::cycles() - __atomic_load_n(&state().last_start, __ATOMIC_RELAXED) < kLately;
}

// The instruction by which a processor is told of a loop that waits, near that place.
bool has_pause_near(uint64_t rip) {
  constexpr uint64_t kNear = 64;
  const uint64_t page = page_down(rip), last = page + kPageSize - 2;
  const uint64_t first = rip - page < kNear ? page : rip - kNear;
  for (uint64_t at = first; at <= last && at < rip + kNear; at++) {
    const auto* code = reinterpret_cast<const uint8_t*>(at);
    if (code[0] == 0xf3 && code[1] == 0x90) return true;
  }
  return false;
}

// The same read in the same place, one time after the other.
bool is_repeated(Spin& spin, const AccessSite& site, const Access& access) {
  const bool is_same = spin.rip == site.rip && spin.address == access.address;
  bool has_same_registers = is_same;
  for (int i = 0; i < 16; i++) {
    has_same_registers &= spin.general[i] == site.general[i];
    spin.general[i] = site.general[i];
  }
  spin.rip = site.rip;
  spin.address = access.address;
  if (!is_same) spin.unmarked = 0;
  if (!is_same || has_pause_near(site.rip)) return is_same;
  // A loop that does something may keep what changes in memory of its own.
  constexpr uint32_t kMostUnmarked = 128;
  return has_same_registers && ++spin.unmarked < kMostUnmarked;
}

}  // namespace

// What it does costs nobody anything but the processor, and would take from the budget, and from
// the page's looks, what others need: it would soon be open to all, and so would order all.
bool delay_spin(Task& task, ThreadState& thread, const AccessSite& site, const Access& access) {
  constexpr uint32_t kShort = 8, kLong = 64;  // repeats
  constexpr int64_t kNap = 20'000, kLongNap = 150'000;
  Spin& spin = thread.spin;
  if ((access.kind & (findings::kRead | findings::kWrite)) != findings::kRead) {
    spin.rip = spin.repeats = 0;
    return false;
  }
  if (!is_repeated(spin, site, access)) {
    spin.repeats = 0;
    return false;
  }
  if (++spin.repeats < kShort) return true;
  begin_wait(task);
  const sys::Timespec nap{0, spin.repeats < kLong ? kNap : kLongNap};
  sys::raw(SYS_nanosleep, reinterpret_cast<long>(&nap), 0);
  return true;
}

namespace {

// Who has the page untrapped drops it, and comes by a fault.
void take_if_open(uint64_t at, ThreadState& thread) {
  Page& page = page_of(at);
  const SpinGuard guard(page.lock);
  if (page.mode == Mode::kSharedUntrapped)
    lose(at, page, page.holders & ~bit_of(thread), thread, true);
}

}  // namespace

void delay_access(Task& task, const AccessSite& site, const Access* accesses, uint32_t count) {
  State& s = state();
  if (is_ignored(site.rip) || shared().order.live < 2) return;
  ThreadState& thread = thread_of(task);
  const Access* chosen = nullptr;
  for (uint32_t i = 0; i < count && !chosen; i++) {
    if (is_common(thread, accesses[i])) chosen = &accesses[i];
  }
  if (!chosen || !is_chosen(site.rip) || !is_affordable()) return;
  PendingAccess& pending_access = thread.pending_access;
  WEIR_CHECK(!pending_access.is_there);  // invariant 1 of collisions.cc
  const uint64_t since = sys::cycles();
  const uint32_t context = context_of(site), lockset = lockset_of(thread);
  __atomic_store_n(&pending_access.has_collided, 0u, __ATOMIC_RELAXED);
  {
    const SpinGuard guard(pending_access.lock);
    pending_access.prior = {chosen->address, chosen->size, chosen->kind,
                            thread.number,   context,      lockset};
    __atomic_store_n(&pending_access.is_there, 1u, __ATOMIC_RELEASE);
  }
  __atomic_add_fetch(&s.pending_accesses, 1, __ATOMIC_RELEASE);
  take_if_open(page_down(chosen->address), thread);
  sys::futex_wait(&pending_access.has_collided, 0, kNanoseconds);
  {
    const SpinGuard guard(pending_access.lock);  // whoever is just looking at it
    __atomic_store_n(&pending_access.is_there, 0u, __ATOMIC_RELEASE);
  }
  __atomic_sub_fetch(&s.pending_accesses, 1, __ATOMIC_RELEASE);
  __atomic_fetch_add(&s.delayed, sys::cycles() - since, __ATOMIC_RELAXED);
}

void check_pending(const ThreadState& thread, Access& access, const AccessSite& site) {
  State& s = state();
  if (!__atomic_load_n(&s.pending_accesses, __ATOMIC_ACQUIRE)) return;
  const uint32_t limit = shared().order.high_task;
  for (uint32_t i = 0; i < limit; i++) {
    ThreadState& other = s.threads[i];
    PendingAccess& pending_access = other.pending_access;
    if (&other == &thread || !__atomic_load_n(&pending_access.is_there, __ATOMIC_ACQUIRE)) continue;
    PriorAccess prior;
    {
      const SpinGuard guard(pending_access.lock);
      if (!pending_access.is_there) continue;
      prior = pending_access.prior;
      const bool overlaps = prior.address < access.address + access.size &&
                            access.address < prior.address + prior.size;
      const bool conflicts = overlaps && ((prior.kind | access.kind) & findings::kWrite) &&
                             prior.number != thread.number;
      if (!conflicts || (prior.kind & access.kind & findings::kAtomic)) continue;
      __atomic_store_n(&pending_access.has_collided, 1u, __ATOMIC_RELEASE);
    }
    sys::futex_wake(&pending_access.has_collided);
    report_race(prior, thread, access, site, findings::Why::kCollision);
  }
}

}  // namespace weir::view::checked
