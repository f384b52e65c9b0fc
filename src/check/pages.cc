// Which tasks touch which page untrapped: rights, how they are taken away, and what tasks learn by
// them (admit.cc decides which task gets which right).
//
// Invariants
// 1. A page is mapped in a process only if the slot of its task is in the page's holders. A task
//    that drops the page takes its slot out itself. (not checkable: only the kernel knows what a
//    process has mapped)
// 2. While a page has other holders, checking an access to it joins clocks. If the access may be
//    one by which the task learns, it joins all that the holders know. If it may be one by
//    which the task tells, the holders join what the task knows at their next check or release
//    (lost_pages_with). (not checkable: what another may be told by memory nobody sees)
// 3. Tasks that have an open page join each other's clocks at each check and release
//    (shared_pages_with). (not checkable: who touches an open page is not checked)
// 4. A task drops what it has lost at its next event or fault, whichever comes first. (not
//    checkable: others may take more from it meanwhile)

#include "check/budget.h"
#include "check/core/access_rules.h"
#include "check/core/happens_before.h"
#include "check/core/hazards.h"
#include "check/core/order_by_calls.h"
#include "check/core/state.h"
#include "check/coverage.h"
#include "memory/backing.h"
#include "sys/signal.h"
#include "sys/syscall_x86_64.h"

namespace weir::view::checked {

namespace {

using page::demand::drop;
using page::demand::fill_backing;
using page::demand::map;

struct Losses {  // in the part of the diff buffers that is the task's own: this View has no diffs
  static constexpr uint32_t kMax = 1 << 20, kMaxHeld = 60 << 20;
  SpinLock lock;
  uint32_t count;
  uint64_t asked_at;     // cycles
  uint64_t pages[kMax];  // that it has lost
  uint64_t held_count;
  uint64_t held[kMaxHeld];  // that it has mapped since it began; some it has dropped since, some
                            // are there twice
};
static_assert(sizeof(Losses) <= kDiffSize);
Losses& losses_of(uint32_t task) { return *reinterpret_cast<Losses*>(kDiffs + task * kDiffSize); }

}  // namespace

bool is_owner(const Page& page, const Task& task) {
  return page.owner == task.id &&
         page.owner_creation == static_cast<uint32_t>(task.identity.creation);
}

void own(Page& page, const Task& task, Mode mode) {
  page.mode = mode;
  page.owner = static_cast<uint16_t>(task.id);
  page.owner_creation = static_cast<uint32_t>(task.identity.creation);
}

namespace {

template <typename Act>
void each_holder(uint64_t holders, const ThreadState& but, Act act) {
  Shared& s = shared();
  for (uint32_t i = 0; i < s.order.high_task; i++) {
    ThreadState& other = state().threads[i];
    if (&other != &but && (holders >> other.slot & 1) && s.tasks[i].order.state != TaskState::kFree)
      act(s.tasks[i], other);
  }
}

// Who computes comes to no event: a signal makes it drop what it has lost.
void ask(Task& task, Losses& losses) {
  constexpr uint64_t kPause = 200'000;
  const uint64_t now = sys::cycles();
  if (task.in_runtime || task.order.state != TaskState::kRunning || now - losses.asked_at < kPause)
    return;
  losses.asked_at = now;
  sys::raw(SYS_tkill, task.identity.tid, sys::g_probe_signal);
}

}  // namespace

void give_up(Page& page, ThreadState& thread) {
  const uint64_t bit = bit_of(thread);
  if (!(__atomic_fetch_and(&page.holders, ~bit, __ATOMIC_ACQ_REL) & bit) || !(page.released & bit))
    return;
  __atomic_store_n(&thread.is_joined, 1u,
                   __ATOMIC_RELEASE);  // what it does from here on they have not read there
  if (!page.untrapped_clock || page.untrapped_slot == thread.slot) {
    page.untrapped_slot = static_cast<uint8_t>(thread.slot);
    __atomic_store_n(&page.untrapped_clock, thread.now.clock[thread.slot], __ATOMIC_RELEASE);
  } else {
    __atomic_fetch_or(&page.untrapped, bit, __ATOMIC_RELEASE);
  }
}

// The tasks of these slots may touch the page untrapped until they have dropped it: meanwhile they
// may acquire all that `by` knows, where that touches it untrapped as well.
void lose(uint64_t at, Page& page, uint64_t holders, const ThreadState& by, bool is_untrapped) {
  each_holder(holders, by, [&](Task& task, ThreadState& other) {
    Losses& losses = losses_of(task.id);
    const SpinGuard guard(losses.lock);
    if (is_untrapped) __atomic_fetch_or(&other.lost_pages_with, bit_of(by), __ATOMIC_RELEASE);
    if (losses.count == Losses::kMax) return;
    losses.pages[losses.count++] = at;
    if (!other.in_program) give_up(page, other);  // it cannot touch it before it has dropped it
    else ask(task, losses);
  });
}

void lose_sleeping(uint64_t at, Page& page, const ThreadState& by) {
  each_holder(page.holders & ~bit_of(by), by, [&](Task& task, ThreadState& other) {
    Losses& losses = losses_of(task.id);
    const SpinGuard guard(losses.lock);
    if (other.in_program || losses.count == Losses::kMax) return;
    losses.pages[losses.count++] = at;
    give_up(page, other);
  });
}

void release_to(uint64_t holders, const ThreadState& by) {
  each_holder(holders, by, [&](Task& task, ThreadState& other) {
    Losses& losses = losses_of(task.id);
    const SpinGuard guard(losses.lock);
    __atomic_fetch_or(&other.lost_pages_with, bit_of(by), __ATOMIC_RELEASE);
    ask(task, losses);
  });
}

void trap_page(uint64_t at, Page& page, Task& task, const ThreadState& thread, bool is_common) {
  const uint64_t others = page.holders & ~bit_of(thread);
  if (others) lose(at, page, others, thread, false);
  if (!page.shadow) page.shadow = take_shadow();
  page.checked_count = 0;
  page.was_written = 0;
  page.toucher_count = is_common ? 2 : 1;
  own(page, task, Mode::kTrapped);
}

void acquire_untrapped(Page& page, ThreadState& thread) {
  join_epoch(thread,
             {__atomic_load_n(&page.untrapped_clock, __ATOMIC_ACQUIRE), page.untrapped_slot});
  join_slots(thread, page.untrapped);
}

void hold(uint64_t at, Page& page, ThreadState& thread, bool writes) {
  const bool is_new =
      !(__atomic_fetch_or(&page.holders, bit_of(thread), __ATOMIC_ACQ_REL) & bit_of(thread));
  if (is_new) {
    Losses& losses = losses_of(self().id);
    if (losses.held_count < Losses::kMaxHeld) losses.held[losses.held_count++] = at;
  }
  if (is_trusted(at)) return;
  if (is_new) {  // what others have stored it may read untrapped
    acquire_untrapped(page, thread);
    join_slots(thread, page.released & (page.shadow ? page.holders : ~uint64_t{0}));
    if (page.shadow) acquire_published(page.shadow, page.released, thread);
  }
  if (writes) page.released |= bit_of(thread);
}

void let_in(uint64_t at, Page& page, ThreadState& thread, bool writes) {
  hold(at, page, thread, writes);
  map(at, kPageSize, writes);
}

void open_to(uint64_t at, Page& page, ThreadState& thread) {
  share(at, page, thread);
  map(at, kPageSize, true);
}

void share(uint64_t at, Page& page, ThreadState& thread) {
  const uint64_t others = page.holders & ~bit_of(thread);
  hold(at, page, thread, true);
  if (others) meet_holders(page, thread);
}

void meet_holders(const Page& page, ThreadState& thread) {
  const uint64_t others = page.holders & ~bit_of(thread);
  const bool is_racy = page.mode == Mode::kDeclared;
  const uint8_t tag = is_racy ? kForEver : page.open_tag;
  __atomic_fetch_or(&thread.shared_pages_with[tag], others, __ATOMIC_RELEASE);
  each_holder(others, thread, [&](Task&, ThreadState& other) {
    __atomic_fetch_or(&other.shared_pages_with[tag], bit_of(thread), __ATOMIC_RELEASE);
  });
}

namespace {

void note_open(uint64_t at, Page& page) {
  State& s = state();
  const SpinGuard guard(s.open_lock);
  page.open_tag = s.open_count < kMaxOpen ? static_cast<uint8_t>(s.generation & 1) : kForEver;
  if (s.open_count < kMaxOpen) s.open[s.open_count++] = at;
  __atomic_fetch_add(&s.open_in[static_cast<uint32_t>(known_place(page))], 1, __ATOMIC_RELAXED);
}

}  // namespace

void open_page(uint64_t at, Page& page, ThreadState& thread) {
  page.mode = Mode::kSharedUntrapped;
  note_open(at, page);
  __atomic_fetch_add(&found().untrapped_pages, 1, __ATOMIC_RELAXED);
  count_unchecked(page);
  share(at, page, thread);
}

void become_open(uint64_t at, Page& page, ThreadState& thread) {
  open_page(at, page, thread);
  map(at, kPageSize, true);
}

bool is_pinned(const Task& task, uint64_t at) {
  constexpr uint64_t kFrame = 16 << 10;
  constexpr uint32_t kMax = sizeof(TaskSignals::handlers) / sizeof(uint64_t);
  for (uint32_t i = 0; i < task.signals.handler_count && i < kMax; i++) {
    if (at + kPageSize > task.signals.handlers[i] && at < task.signals.handlers[i] + kFrame)
      return true;
  }
  return false;
}

void drop_page(uint64_t at, ThreadState& thread) {
  if (!page::backing_bytes_at(at) || (self().signals.handler_count && is_pinned(self(), at)))
    return;
  drop(at, kPageSize);
  give_up(page_of(at), thread);
}

namespace {

void drop_lent(const Task& task, ThreadState& thread) {
  for (uint32_t i = 0; i < thread.borrowed_count; i++) {
    const uint64_t at = thread.borrowed[i];
    const Page* page = find_page(at);
    if (!page || has_for_good(*page, task, thread)) continue;
    drop_page(at, thread);
  }
  thread.borrowed_count = 0;
}

// Between two tasks' looks at each other nothing may fall: what it may have read untrapped is
// acquired, the pages dropped, and those told of it forgotten, under one lock.
void drop_lost(const Task& task, ThreadState& thread) {
  Losses& losses = losses_of(task.id);
  if (thread.in_program && !__atomic_load_n(&losses.count, __ATOMIC_ACQUIRE) &&
      !__atomic_load_n(&thread.lost_pages_with, __ATOMIC_ACQUIRE))
    return;
  const SpinGuard guard(losses.lock);
  join_slots(thread, thread.lost_pages_with);
  thread.in_program = 1;
  for (uint32_t i = 0; i < losses.count; i++) {
    const uint64_t at = losses.pages[i];
    const Page* page = find_page(at);
    if (!page || (page->mode == Mode::kPrivate && is_owner(*page, task)))
      continue;  // it has come back
    drop_page(at, thread);
  }
  losses.count = 0;
  if (!task.signals.handler_count)
    __atomic_store_n(&thread.lost_pages_with, 0, __ATOMIC_RELEASE);  // else some pages stay
}

// It has waited: what it does next is seldom what it has done all the time. So it gives up some of
// the pages that it shares, and its first access to each is looked at (look_first); after a longer
// wait some more.
void drop_after_sleep(const Task& task, ThreadState& thread) {
  constexpr uint64_t kShort = 300'000, kLong = 1'500'000;  // cycles
  constexpr uint32_t kMost = 8, kMostShort = 2, kLooks = 64;
  const uint64_t slept = sys::cycles() - thread.slept_at;
  thread.slept_at = 0;
  if (slept < kShort || task.signals.handler_count) return;
  const uint32_t most = slept < kLong ? kMostShort : kMost;
  State& s = state();
  uint64_t pages[kMost];
  uint32_t count = 0;
  {
    const SpinGuard guard(s.open_lock);
    uint32_t left = s.open_count < kLooks ? s.open_count : kLooks;
    for (; left && count < most; left--) {
      const uint64_t at = s.open[thread.next_open++ % s.open_count];
      const Page* page = find_page(at);
      if (page && (page->holders & bit_of(thread)) && is_worth_a_look(*page)) pages[count++] = at;
    }
  }
  for (uint32_t i = 0; i < count; i++) drop_page(pages[i], thread);
  if (count && slept >= kLong) thread.first_looks = kFirstLooks;
}

bool has_lost(const Task& task) {
  const ThreadState& thread = thread_of(task);
  return __atomic_load_n(&losses_of(task.id).count, __ATOMIC_ACQUIRE) ||
         __atomic_load_n(&thread.lost_pages_with, __ATOMIC_ACQUIRE) ||
         thread.closed_seen != __atomic_load_n(&state().closings, __ATOMIC_ACQUIRE);
}

bool is_full(Place place) { return tokens(place) >= most_tokens(place); }

bool has_saved_for_open() {
  for (uint32_t i = 0; i < kPlaces; i++) {
    if (__atomic_load_n(&state().open_in[i], __ATOMIC_RELAXED) && is_full(static_cast<Place>(i)))
      return true;
  }
  return false;
}

// The page is of the new generation as well. Those who sleep drop it: in the generation after the
// next they forget with whom they have pages open.
void keep_open(uint64_t at, Page& page) {
  note_open(at, page);
  Shared& s = shared();
  for (uint32_t i = 0; i < s.order.high_task; i++) {
    ThreadState& holder = state().threads[i];
    if (!(page.holders >> holder.slot & 1) || s.tasks[i].order.state == TaskState::kFree) continue;
    Losses& losses = losses_of(i);
    const SpinGuard guard(losses.lock);
    if (!holder.in_program && losses.count < Losses::kMax) {
      losses.pages[losses.count++] = at;
      give_up(page, holder);
    } else {
      __atomic_fetch_or(&holder.shared_pages_with[page.open_tag], page.holders & ~bit_of(holder),
                        __ATOMIC_RELEASE);
    }
  }
}

// Under the page's lock: all who have it are to drop it.
void close(uint64_t at, Page& page) {
  page.mode = Mode::kTrapped;
  page.checked_count = 0;
  page.was_written = 0;
  // What the shadow knew of it is forgotten, but for pairs that only memory orders.
  page.untrapped |= page.released;
  if (page.shadow && !tells_by_memory()) forget(page.shadow, 0, kPageSize);
  Shared& s = shared();
  for (uint32_t i = 0; i < s.order.high_task; i++) {
    ThreadState& holder = state().threads[i];
    if (!(page.holders >> holder.slot & 1) || s.tasks[i].order.state == TaskState::kFree) continue;
    Losses& losses = losses_of(i);
    const SpinGuard guard(losses.lock);
    if (losses.count == Losses::kMax) continue;
    losses.pages[losses.count++] = at;
    if (!holder.in_program) give_up(page, holder);
    else if (&s.tasks[i] != &self()) ask(s.tasks[i], losses);
  }
}

}  // namespace

// Everybody who runs has dropped what the last closing took, and there are tokens to spend: the
// pages that are open now are closed.
void close_open() {
  State& s = state();
  if (!has_saved_for_open() || __atomic_exchange_n(&s.is_closing, 1u, __ATOMIC_ACQUIRE)) return;
  const Shared& tasks = shared();
  bool ready = true;
  for (uint32_t i = 0; i < tasks.order.high_task; i++) {
    const ThreadState& thread = s.threads[i];
    if (tasks.tasks[i].order.state != TaskState::kFree && thread.in_program &&
        thread.closed_seen != s.closings)
      ready = false;
  }
  if (ready) {
    uint32_t count;
    {
      const SpinGuard guard(s.open_lock);
      s.generation++;
      count = s.open_count;
      for (uint32_t i = 0; i < count; i++) s.closed[i] = s.open[i];
      s.open_count = 0;
    }
    bool has_saved[kPlaces];
    for (uint32_t i = 0; i < kPlaces; i++) has_saved[i] = is_full(static_cast<Place>(i));
    for (uint32_t& open : s.open_in) __atomic_store_n(&open, 0, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < count; i++) {
      Page* page = find_page(s.closed[i]);
      if (!page) continue;
      const SpinGuard guard(page->lock);
      if (page->mode != Mode::kSharedUntrapped) continue;
      if (has_saved[static_cast<uint32_t>(known_place(*page))]) close(s.closed[i], *page);
      else keep_open(s.closed[i], *page);
    }
    __atomic_store_n(&s.closings, s.generation, __ATOMIC_RELEASE);
  }
  __atomic_store_n(&s.is_closing, 0u, __ATOMIC_RELEASE);
}

// Tasks that only compute come to no fault and to no event. They are asked to look here whether
// open pages are to be closed again, and to drop what they have lost: who was in the runtime when
// that was taken was not asked. The monitor itself takes no lock: a fork may copy it.
void tick() {
  const Shared& s = shared();
  if (!__atomic_load_n(&found().multi, __ATOMIC_ACQUIRE)) return;
  refill();
  const bool closes = has_saved_for_open();
  for (uint32_t i = 0; i < s.order.high_task; i++) {
    const Task& task = s.tasks[i];
    if (load_enum<__ATOMIC_RELAXED>(task.order.state) != TaskState::kRunning || task.in_runtime)
      continue;
    if (closes || has_lost(task)) sys::raw(SYS_tkill, task.identity.tid, sys::g_probe_signal);
  }
}

void settle(Task& task, ThreadState& thread) {
  const uint64_t closings = __atomic_load_n(&state().closings, __ATOMIC_ACQUIRE);
  join_holders(thread);
  if (thread.borrowed_count) drop_lent(task, thread);
  drop_lost(task, thread);
  if (thread.slept_at) drop_after_sleep(task, thread);
  if (thread.closed_seen == closings || task.signals.handler_count) return;
  __atomic_store_n(&thread.shared_pages_with[(closings - 1) & 1], 0, __ATOMIC_RELEASE);
  if (closings - thread.closed_seen > 1)
    __atomic_store_n(&thread.shared_pages_with[closings & 1], 0,
                     __ATOMIC_RELEASE);  // it slept, and has no page that is open
  thread.closed_seen = closings;
}

bool has_to_settle(const Task& task) { return thread_of(task).borrowed_count || has_lost(task); }

bool has_to_catch_up(const Task& task) { return access_rules().has_to_catch_up(task); }

void pin(Task& task, uint64_t frame) {
  constexpr uint64_t kFrame = 12 << 10;
  if (!page::demand::is_open()) return;
  ThreadState& thread = thread_of(task);
  const uint64_t top = task.id ? thread.stack : shared().program.stack_begin;
  for (uint64_t at = page_down(frame); at < frame + kFrame && (frame >= top || at < top);
       at += kPageSize) {
    if (!page::backing_bytes_at(at) || page::has_protection(at, kPageSize)) break;
    Page& page = page_of(at);
    const SpinGuard guard(page.lock);
    if (page.mode == Mode::kNew) own(page, task, Mode::kPrivate);
    let_in(at, page, thread, true);
  }
}

void begin_wait(Task& task) {
  ThreadState& thread = thread_of(task);
  if (!thread.slept_at) thread.slept_at = sys::cycles();
  const SpinGuard guard(losses_of(task.id).lock);
  thread.in_program = 0;
}

void leave(Task& task) {
  ThreadState& thread = thread_of(task);
  settle(task, thread);
  page::demand::return_borrowed();
  Losses& losses = losses_of(task.id);
  for (uint64_t i = 0; i < losses.held_count; i++) {
    if (Page* page = find_page(losses.held[i])) give_up(*page, thread);
  }
  losses.held_count = 0;
}

void renew_pages(uint64_t start, uint64_t size) {
  ThreadState& thread = thread_of(self());
  for (uint64_t at = page_up(start); at + kPageSize <= start + size; at += kPageSize) {
    if (!page::demand::is_ours(at)) continue;
    Page& page = page_of(at);
    store_enum<__ATOMIC_RELAXED>(page.place, Place::kStack);
    if (page.mode == Mode::kNew || page.mode == Mode::kDeclared) continue;
    const SpinGuard guard(page.lock);
    // What its creator has cleared for the new task; but the last ones both go on to use.
    if (page.holders == bit_of(thread) && at + 2 * kPageSize <= start + size) drop_page(at, thread);
    page.untrapped = page.untrapped_clock = 0;
    page.released &= page.holders;
    if (page.holders || page.mode == Mode::kDeclared) continue;
    page.mode = Mode::kNew;
    page.counted = page.taken_over = 0;
  }
}

void forget(uint64_t start, uint64_t size) {
  access_rules().on_given_back(start, size);
  if (!page::demand::is_open()) return;
  for (uint64_t at = page_down(start); at < start + size; at += kPageSize) {
    Page& page = page_of(at);
    if (page.mode == Mode::kNew || page.mode == Mode::kDeclared) continue;
    const SpinGuard guard(page.lock);
    if (page::demand::keeps_emptied() && page.holders) {
      ThreadState& thread = thread_of(self());
      lose(at, page, page.holders & ~bit_of(thread), thread, false);
      drop(at, kPageSize);
    }
    if (page.shadow) give_shadow(page.shadow);
    page.shadow = 0;
    page.mode = Mode::kNew;
    page.counted = page.taken_over = 0;
    store_enum<__ATOMIC_RELAXED>(page.place, Place::kUnknown);
    page.holders = page.released = page.untrapped = page.untrapped_clock = 0;
  }
}

}  // namespace weir::view::checked
