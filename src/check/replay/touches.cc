// Which of the pages that several tasks touch they touch in no order (pass kOrders).
//
// Most such pages are handed over: one task fills them, and another gets them by a creation, a
// lock, a join or a pipe. No two accesses to such a page race, whatever bytes they touch. So pass
// kChecks need not look at each of them, at microseconds apiece: it looks at the pages that are
// left.
//
// Here a page counts as one variable, by FastTrack's rule (base/vector_clock.h). An access is noted
// once in each epoch of its task, at a fault. Then the task has the page open until it releases
// anything. A page that is found to be touched in no order is open to all from then on.
//
// Invariants
// 1. What a task does to a page that it has open no other task knows without knowing of the access
//    that was noted: its clock goes to nobody before the page is closed. (not checkable: the code
//    that gives clocks away calls close_touched)
// 2. Memory orders nothing here. A plain store and a load of it may do so in pass kChecks, but on a
//    page that this pass finds in order they tell the reader nothing that it does not know. So what
//    pass kChecks finds on the pages that are left does not depend on the others. (not checkable:
//    it is about two runs)

#include "check/core/state.h"
#include "check/replay/replay.h"

namespace weir::view::checked::replay {

namespace {

struct alignas(64) PageTouches {
  SpinLock lock;
  History<kSlots> history;
  Clock readers;
};

// In place of the shadows, which this pass has not.
PageTouches& touches_at(uint64_t index) {
  return reinterpret_cast<PageTouches*>(kShadows)[index - 1];
}

// Page::untrapped is the index + 1. Null: there is no room. Under the page's lock.
PageTouches* touches_of(Page& page) {
  constexpr uint64_t kMost = kShadowsSize / sizeof(PageTouches);
  if (!page.untrapped) page.untrapped = __atomic_add_fetch(&state().shadows, 1u, __ATOMIC_RELAXED);
  return page.untrapped <= kMost ? &touches_at(page.untrapped) : nullptr;
}

// --- what each process keeps to itself

constexpr uint32_t kMaxOpened = 1 << 14;
uint64_t g_opened[kMaxOpened];
uint32_t g_opened_count = 0;

}  // namespace

bool is_in_order(const Task& task, uint64_t page_start, bool writes) {
  ThreadState& thread = thread_of(task);
  end_joined_epoch(thread);
  Page& page = page_of(page_start);
  const SpinGuard guard(page.lock);
  PageTouches* const touches = touches_of(page);
  if (!touches) return false;
  const Epoch other = writes ? touches->history.on_write(thread.slot, thread.now, &touches->readers)
                             : touches->history.on_read(thread.slot, thread.now, &touches->readers);
  return !other.is_set();
}

void open_touched(uint64_t page, bool to_write) {
  if (g_opened_count == kMaxOpened) close_touched();
  g_opened[g_opened_count++] = page;
  open(page, to_write);
}

void close_touched() {
  uint64_t start = 0, limit = 0;
  for (uint32_t i = 0; i < g_opened_count; i++) {
    const uint64_t page = g_opened[i];
    if (!page::backing_bytes_at(page)) continue;  // it has been unmapped since
    if (page == limit) {
      limit += kPageSize;
      continue;
    }
    if (limit) page::demand::drop(start, limit - start);
    start = page;
    limit = page + kPageSize;
  }
  if (limit) page::demand::drop(start, limit - start);
  g_opened_count = 0;
}

}  // namespace weir::view::checked::replay
