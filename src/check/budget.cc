#include "check/budget.h"

#include "control/options.h"
#include "heap/heap.h"
#include "memory/backing.h"
#include "sys/syscall_x86_64.h"

namespace weir::view::checked {

namespace {

// From so many bytes on a block counts as large.
constexpr uint64_t kLargeBlock = 64 << 10;
constexpr uint64_t kDeepestStack = 64 << 20;

struct Budget {
  int64_t first, most;  // cycles: at the beginning; later
  int64_t reserve;      // beyond that: for the very first access to a page
  uint64_t share;       // of the time that passes, one part in so many
};
// By Place.
constexpr Budget kBudgets[kPlaces] = {
    {0, 1, 0, 1},
    {100'000'000, 33'000'000, 150'000'000, 12},  // static
    {30'000'000, 10'000'000, 0, 32},             // stack
    {100'000'000, 33'000'000, 100'000'000, 12},  // small
    {90'000'000, 30'000'000, 0, 16},             // large
};
// Where all that the program has is declared: what is left to look at are stacks, and what
// libraries keep.
constexpr int64_t kLessDeclared = 15;
constexpr uint64_t kShareDeclared = 8;
// For suggestions: at the beginning so many times as much, and later all the time.
constexpr int64_t kMore = 10;

const void* see(uint64_t address) {
  return reinterpret_cast<const void*>(page::shared_view_of(address));
}

Place find_place(uint64_t at) {
  if (!page::in_arena(at)) {
    const uint64_t top = shared().program.stack_begin;
    return at < top && top - at < kDeepestStack ? Place::kStack : Place::kStatic;
  }
  const Range block = heap_find(at, see);
  if (!block.empty()) {
    if (block.size() < kLargeBlock) return Place::kSmall;
    note_place(block.start, block.size());
    return Place::kLarge;
  }
  return heap_owns(reinterpret_cast<const void*>(at)) ? Place::kSmall : Place::kLarge;
}

}  // namespace

namespace {

int64_t reserve_of(Place place) { return kBudgets[static_cast<uint32_t>(place)].reserve; }

}  // namespace

int64_t most_tokens(Place place) { return kBudgets[static_cast<uint32_t>(place)].most; }

void refill() {
  State& s = state();
  const uint64_t now = sys::cycles();
  uint64_t before = __atomic_load_n(&s.refilled, __ATOMIC_RELAXED);
  if (now <= before || !__atomic_compare_exchange_n(&s.refilled, &before, now, false,
                                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    return;
  const bool is_declared = all_is_declared(), more = suggests();
  for (uint32_t i = 1; i < kPlaces; i++) {
    const Budget& budget = kBudgets[i];
    if (!before) {
      const int64_t first = is_declared ? budget.first / kLessDeclared
                            : more      ? budget.first * kMore
                                        : budget.first;
      __atomic_store_n(&s.tokens[i], first, __ATOMIC_RELAXED);
    } else if (__atomic_load_n(&s.tokens[i], __ATOMIC_RELAXED) < budget.most) {
      const uint64_t share = is_declared ? budget.share * kShareDeclared : more ? 1 : budget.share;
      __atomic_fetch_add(&s.tokens[i], static_cast<int64_t>((now - before) / share),
                         __ATOMIC_RELAXED);
    }
  }
}

Place place_of(uint64_t at, Page& page) {
  if (load_enum<__ATOMIC_RELAXED>(page.place) == Place::kUnknown)
    store_enum<__ATOMIC_RELAXED>(page.place, find_place(at));
  return load_enum<__ATOMIC_RELAXED>(page.place);
}

void note_place(uint64_t start, uint64_t size) {
  const bool is_large = size >= kLargeBlock;
  const uint64_t limit = is_large ? page_down(start + size) : start + size;
  for (uint64_t at = is_large ? page_up(start) : page_down(start); at < limit; at += kPageSize) {
    Page* page = find_page(at);
    if (!page) continue;
    if (is_large) store_enum<__ATOMIC_RELAXED>(page->place, Place::kLarge);
    else if (load_enum<__ATOMIC_RELAXED>(page->place) == Place::kLarge)
      store_enum<__ATOMIC_RELAXED>(page->place, Place::kSmall);
  }
}

namespace {

bool looks_at_all() {
  return options().exact && !__atomic_load_n(&found().samples, __ATOMIC_RELAXED);
}

}  // namespace

// The more has been spent the sooner a page is left alone.
uint32_t private_checks(Place place) {
  constexpr uint32_t kMost = 1024, kMostOfAll = 8192;
  if (looks_at_all()) return place == Place::kStatic || place == Place::kSmall ? kMostOfAll : kMost;
  const int64_t left = tokens(place), most = most_tokens(place);
  if (left <= 0) return left > -reserve_of(place) ? 1 : 0;
  return left > 3 * most / 2 ? kMost
         : left > most       ? 256
         : left > most / 2   ? 64
         : left > most / 4   ? 16
                             : 4;
}

uint32_t common_checks(Place place) {
  constexpr uint32_t kMost = 4096;
  if (looks_at_all()) return ~0u;
  const int64_t left = tokens(place), most = most_tokens(place);
  if (left <= 0) return left > -reserve_of(place) ? 4 : 0;
  return left > most / 2 ? kMost : left > most / 8 ? kMost / 8 : kMost / 64;
}

uint32_t length_of_run(ThreadState& thread, uint64_t at) {
  constexpr uint64_t kNear = 4 * kPageSize;
  for (FreshRun& run : thread.fresh_runs) {
    if (at - run.next >= kNear) continue;
    run.next = at + kPageSize;
    return ++run.length;
  }
  thread.fresh_run = (thread.fresh_run + 1) % ThreadState::kFreshRuns;
  thread.fresh_runs[thread.fresh_run] = {at + kPageSize, 1};
  return 1;
}

void continue_run(ThreadState& thread, uint64_t after, uint64_t limit) {
  for (FreshRun& run : thread.fresh_runs) {
    if (run.next != after) continue;
    run.length += static_cast<uint32_t>((limit - after) / kPageSize);
    run.next = limit;
    return;
  }
}

namespace {

// Where a look took longer the processor was taken from it.
constexpr uint64_t kMostOfLook = 150'000;
// About what may be spent first, in all places.
constexpr int64_t kSpentFirst = 400'000'000;

int64_t& spent_in_all() { return state().tokens[static_cast<uint32_t>(Place::kUnknown)]; }

// Budgets are shares of the time that passes. On a machine that others use, most of it passes while
// the program has no processor: if that did not count for a look that was interrupted, looks would
// get all the time that the program has, and it would not go on. Never so much that nothing could
// be spent for long.
int64_t with_waiting(Place place, int64_t looked, int64_t taken) {
  const int64_t most = tokens(place) + most_tokens(place);
  return taken < most ? taken : looked < most ? most : looked;
}

}  // namespace

Spending::Spending(uint64_t address, int64_t more)
    : address_(address), more_(more), since_(sys::cycles()) {
  refill();
}

Spending::~Spending() {
  if (is_forgiven_) return;
  Page* page = is_ours(address_) ? find_page(page_down(address_)) : nullptr;
  const Place place = page ? known_place(*page) : Place::kStatic;
  const uint64_t taken = sys::cycles() - since_;
  const auto looked = static_cast<int64_t>(taken < kMostOfLook ? taken : kMostOfLook);
  int64_t charged = looked;
  if (__atomic_fetch_add(&spent_in_all(), looked, __ATOMIC_RELAXED) > kSpentFirst)
    charged = with_waiting(place, looked, static_cast<int64_t>(taken));
  __atomic_fetch_sub(&state().tokens[static_cast<uint32_t>(place)], charged + more_,
                     __ATOMIC_RELAXED);
}

}  // namespace weir::view::checked
