// Which tasks touch which page unseen: rights, how they are taken away, and what tasks learn by
// them (admit.cc decides which task gets which right).
//
// Invariants
// 1. A page is mapped in a process only if the slot of its task is in the page's holders. A task
//    that drops the page takes its slot out itself. (not checkable: only the kernel knows what a
//    process has mapped)
// 2. While a page has other holders, checking an access to it joins clocks. If the access may be
//    one by which the task learns, it first joins all that the holders know. If it may be one by
//    which the task tells, the holders join what the task knows at their next check or release
//    (mixes_lost). (not checkable: what another may be told by memory nobody sees)
// 3. Tasks that have an open page join each other's clocks at each check and release (mixes). (not
//    checkable: who touches an open page is not looked at)
// 4. A task drops what it has lost at its next event or fault, whichever comes first. (not
//    checkable: others may take more from it meanwhile)

#include "check/happens_before.h"
#include "check/state.h"
#include "memory/backing.h"
#include "sys/signal.h"
#include "sys/syscall_x86_64.h"

namespace weir::view::checked {

namespace {

using page::demand::drop;
using page::demand::fill_backing;
using page::demand::map;

struct Losses {  // in the part of the diff buffers that is the task's own: this View has no diffs
  static constexpr uint32_t kMost = 1 << 20, kMostHeld = 60 << 20;
  SpinLock lock;
  uint32_t count;
  uint64_t asked_at;      // cycles
  uint64_t pages[kMost];  // that it has lost
  uint64_t held_count;
  uint64_t held[kMostHeld];  // that it has mapped since it began; some it has dropped since, some
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
void each_holder(uint64_t holders, const Watcher& but, Act act) {
  Shared& s = shared();
  for (uint32_t i = 0; i < s.order.high_task; i++) {
    Watcher& other = state().watchers[i];
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

void give_up(Page& page, Watcher& watcher) {
  const uint64_t bit = bit_of(watcher);
  if (!(__atomic_fetch_and(&page.holders, ~bit, __ATOMIC_ACQ_REL) & bit) || !(page.released & bit))
    return;
  __atomic_store_n(&watcher.is_learnt, 1u,
                   __ATOMIC_RELEASE);  // what it does from here on they have not read there
  if (!page.unseen_clock || page.unseen_slot == watcher.slot) {
    page.unseen_slot = static_cast<uint8_t>(watcher.slot);
    __atomic_store_n(&page.unseen_clock, watcher.now.clock[watcher.slot], __ATOMIC_RELEASE);
  } else {
    __atomic_fetch_or(&page.unseen, bit, __ATOMIC_RELEASE);
  }
}

// The tasks of these slots may touch the page unseen until they have dropped it: meanwhile they may
// learn all that `by` knows, where that touches it unseen as well.
void lose(uint64_t at, Page& page, uint64_t holders, const Watcher& by, bool is_unseen) {
  each_holder(holders, by, [&](Task& task, Watcher& other) {
    Losses& losses = losses_of(task.id);
    const SpinGuard guard(losses.lock);
    if (is_unseen) __atomic_fetch_or(&other.mixes_lost, bit_of(by), __ATOMIC_RELEASE);
    if (losses.count == Losses::kMost) return;
    losses.pages[losses.count++] = at;
    if (!other.in_program) give_up(page, other);  // it cannot touch it before it has dropped it
    else ask(task, losses);
  });
}

void lose_sleeping(uint64_t at, Page& page, const Watcher& by) {
  each_holder(page.holders & ~bit_of(by), by, [&](Task& task, Watcher& other) {
    Losses& losses = losses_of(task.id);
    const SpinGuard guard(losses.lock);
    if (other.in_program || losses.count == Losses::kMost) return;
    losses.pages[losses.count++] = at;
    give_up(page, other);
  });
}

void teach(uint64_t holders, const Watcher& by) {
  each_holder(holders, by, [&](Task& task, Watcher& other) {
    Losses& losses = losses_of(task.id);
    const SpinGuard guard(losses.lock);
    __atomic_fetch_or(&other.mixes_lost, bit_of(by), __ATOMIC_RELEASE);
    ask(task, losses);
  });
}

void watch(uint64_t at, Page& page, Task& task, const Watcher& watcher, bool is_common) {
  const uint64_t others = page.holders & ~bit_of(watcher);
  if (others) lose(at, page, others, watcher, false);
  if (!page.shadow) page.shadow = take_shadow();
  page.looks = 0;
  page.was_written = 0;
  page.toucher_count = is_common ? 2 : 1;
  own(page, task, Mode::kWatched);
}

void learn_unseen(Page& page, Watcher& watcher) {
  join_epoch(watcher, {__atomic_load_n(&page.unseen_clock, __ATOMIC_ACQUIRE), page.unseen_slot});
  join_slots(watcher, page.unseen);
}

void hold(uint64_t at, Page& page, Watcher& watcher, bool writes) {
  const bool is_new =
      !(__atomic_fetch_or(&page.holders, bit_of(watcher), __ATOMIC_ACQ_REL) & bit_of(watcher));
  if (is_new) {
    Losses& losses = losses_of(self().id);
    if (losses.held_count < Losses::kMostHeld) losses.held[losses.held_count++] = at;
  }
  if (is_trusted(at)) return;
  if (is_new) {  // what others have stored it may read unseen
    learn_unseen(page, watcher);
    join_slots(watcher, page.released & (page.shadow ? page.holders : ~uint64_t{0}));
    if (page.shadow) learn_told(page.shadow, page.released, watcher);
  }
  if (writes) page.released |= bit_of(watcher);
}

void let_in(uint64_t at, Page& page, Watcher& watcher, bool writes) {
  hold(at, page, watcher, writes);
  map(at, kPageSize, writes);
}

void open_to(uint64_t at, Page& page, Watcher& watcher) {
  share(at, page, watcher);
  map(at, kPageSize, true);
}

void share(uint64_t at, Page& page, Watcher& watcher) {
  const uint64_t others = page.holders & ~bit_of(watcher);
  const bool is_racy = page.mode == Mode::kDeclared;
  hold(at, page, watcher, true);
  if (!others) return;
  const uint16_t tag = is_racy ? kForEver : page.open_tag;
  __atomic_fetch_or(&watcher.mixes[tag], others, __ATOMIC_RELEASE);
  each_holder(others, watcher, [&](Task&, Watcher& other) {
    __atomic_fetch_or(&other.mixes[tag], bit_of(watcher), __ATOMIC_RELEASE);
  });
}

void open_page(uint64_t at, Page& page, Watcher& watcher) {
  State& s = state();
  page.mode = Mode::kOpen;
  {
    const SpinGuard guard(s.open_lock);
    page.open_tag = s.open_count < kMostOpen ? static_cast<uint16_t>(s.generation & 1) : kForEver;
    if (s.open_count < kMostOpen) s.open[s.open_count++] = at;
  }
  __atomic_fetch_add(&found().unseen_pages, 1, __ATOMIC_RELAXED);
  share(at, page, watcher);
}

void become_open(uint64_t at, Page& page, Watcher& watcher) {
  open_page(at, page, watcher);
  map(at, kPageSize, true);
}

bool is_pinned(const Task& task, uint64_t at) {
  constexpr uint64_t kFrame = 16 << 10;
  constexpr uint32_t kMost = sizeof(TaskSignals::handlers) / sizeof(uint64_t);
  for (uint32_t i = 0; i < task.signals.handler_count && i < kMost; i++) {
    if (at + kPageSize > task.signals.handlers[i] && at < task.signals.handlers[i] + kFrame)
      return true;
  }
  return false;
}

void drop_page(uint64_t at, Watcher& watcher) {
  if (!page::backing_bytes_at(at) || (self().signals.handler_count && is_pinned(self(), at)))
    return;
  drop(at, kPageSize);
  give_up(page_of(at), watcher);
}

namespace {

void drop_lent(const Task& task, Watcher& watcher) {
  for (uint32_t i = 0; i < watcher.lent_count; i++) {
    const uint64_t at = watcher.lent[i];
    const Page* page = find_page(at);
    if (!page || has_for_good(*page, task, watcher)) continue;
    drop_page(at, watcher);
  }
  watcher.lent_count = 0;
}

// Between two tasks' looks at each other nothing may fall: what it may have read unseen is learnt,
// the pages dropped, and those told of it forgotten, under one lock.
void drop_lost(const Task& task, Watcher& watcher) {
  Losses& losses = losses_of(task.id);
  if (watcher.in_program && !__atomic_load_n(&losses.count, __ATOMIC_ACQUIRE) &&
      !__atomic_load_n(&watcher.mixes_lost, __ATOMIC_ACQUIRE))
    return;
  const SpinGuard guard(losses.lock);
  join_slots(watcher, watcher.mixes_lost);
  watcher.in_program = 1;
  for (uint32_t i = 0; i < losses.count; i++) {
    const uint64_t at = losses.pages[i];
    const Page* page = find_page(at);
    if (!page || (page->mode == Mode::kPrivate && is_owner(*page, task)))
      continue;  // it has come back
    drop_page(at, watcher);
  }
  losses.count = 0;
  if (!task.signals.handler_count)
    __atomic_store_n(&watcher.mixes_lost, 0, __ATOMIC_RELEASE);  // else some pages stay
}

// Under the page's lock: all who have it are to drop it.
void close(uint64_t at, Page& page) {
  if (page.mode != Mode::kOpen) return;
  page.mode = Mode::kWatched;
  page.looks = 0;
  page.was_written = 0;
  page.unseen |= page.released;  // what the shadow knew of it is forgotten
  if (page.shadow) forget(page.shadow, 0, kPageSize);
  Shared& s = shared();
  for (uint32_t i = 0; i < s.order.high_task; i++) {
    Watcher& holder = state().watchers[i];
    if (!(page.holders >> holder.slot & 1) || s.tasks[i].order.state == TaskState::kFree) continue;
    Losses& losses = losses_of(i);
    const SpinGuard guard(losses.lock);
    if (losses.count == Losses::kMost) continue;
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
  if (tokens() < kMostTokens || !s.open_count ||
      __atomic_exchange_n(&s.is_closing, 1u, __ATOMIC_ACQUIRE))
    return;
  const Shared& tasks = shared();
  bool ready = true;
  for (uint32_t i = 0; i < tasks.order.high_task; i++) {
    const Watcher& watcher = s.watchers[i];
    if (tasks.tasks[i].order.state != TaskState::kFree && watcher.in_program &&
        watcher.closed_seen != s.closings)
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
    for (uint32_t i = 0; i < count; i++) {
      Page* page = find_page(s.closed[i]);
      if (!page) continue;
      const SpinGuard guard(page->lock);
      close(s.closed[i], *page);
    }
    __atomic_store_n(&s.closings, s.generation, __ATOMIC_RELEASE);
  }
  __atomic_store_n(&s.is_closing, 0u, __ATOMIC_RELEASE);
}

void settle(Task& task, Watcher& watcher) {
  const uint64_t closings = __atomic_load_n(&state().closings, __ATOMIC_ACQUIRE);
  mix(watcher);
  if (watcher.lent_count) drop_lent(task, watcher);
  drop_lost(task, watcher);
  if (watcher.closed_seen == closings || task.signals.handler_count) return;
  __atomic_store_n(&watcher.mixes[(closings - 1) & 1], 0, __ATOMIC_RELEASE);
  if (closings - watcher.closed_seen > 1)
    __atomic_store_n(&watcher.mixes[closings & 1], 0,
                     __ATOMIC_RELEASE);  // it slept, and has no page that is open
  watcher.closed_seen = closings;
}

bool has_to_catch_up(const Task& task) {
  if (!happens::g_checked) return false;
  const Watcher& watcher = watcher_of(task);
  const Losses& losses = losses_of(task.id);
  return watcher.lent_count || __atomic_load_n(&losses.count, __ATOMIC_ACQUIRE) ||
         __atomic_load_n(&watcher.mixes_lost, __ATOMIC_ACQUIRE) ||
         watcher.closed_seen != __atomic_load_n(&state().closings, __ATOMIC_ACQUIRE);
}

void pin(Task& task, uint64_t frame) {
  constexpr uint64_t kFrame = 12 << 10;
  if (!page::demand::is_open()) return;
  Watcher& watcher = watcher_of(task);
  const uint64_t top = task.id ? watcher.stack : shared().program.stack_begin;
  for (uint64_t at = page_down(frame); at < frame + kFrame && (frame >= top || at < top);
       at += kPageSize) {
    if (!page::backing_bytes_at(at) || page::has_protection(at, kPageSize)) break;
    Page& page = page_of(at);
    const SpinGuard guard(page.lock);
    if (page.mode == Mode::kNew) own(page, task, Mode::kPrivate);
    let_in(at, page, watcher, true);
  }
}

void begin_wait(Task& task) {
  Watcher& watcher = watcher_of(task);
  const SpinGuard guard(losses_of(task.id).lock);
  watcher.in_program = 0;
}

void leave(Task& task) {
  Watcher& watcher = watcher_of(task);
  settle(task, watcher);
  page::demand::take_home();
  Losses& losses = losses_of(task.id);
  for (uint64_t i = 0; i < losses.held_count; i++) {
    if (Page* page = find_page(losses.held[i])) give_up(*page, watcher);
  }
  losses.held_count = 0;
}

void renew_pages(uint64_t start, uint64_t size) {
  for (uint64_t at = page_up(start); at + kPageSize <= start + size; at += kPageSize) {
    if (!page::demand::is_ours(at)) continue;
    Page& page = page_of(at);
    if (page.mode == Mode::kNew || page.mode == Mode::kDeclared) continue;
    const SpinGuard guard(page.lock);
    page.unseen = page.unseen_clock = 0;
    page.released &= page.holders;
    if (!page.holders && page.mode != Mode::kDeclared) page.mode = Mode::kNew;
  }
}

void forget(uint64_t start, uint64_t size) {
  if (happens::g_checked) end_declared(start, size, nullptr);
  if (!page::demand::is_open()) return;
  for (uint64_t at = page_down(start); at < start + size; at += kPageSize) {
    Page& page = page_of(at);
    if (page.mode == Mode::kNew || page.mode == Mode::kDeclared) continue;
    const SpinGuard guard(page.lock);
    if (page.shadow) give_shadow(page.shadow);
    page.shadow = 0;
    page.mode = Mode::kNew;
    page.holders = page.released = page.unseen = page.unseen_clock = 0;
  }
}

}  // namespace weir::view::checked
