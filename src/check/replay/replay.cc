#include "check/replay/replay.h"

#include "base/hash.h"
#include "check/core/access_rules.h"
#include "check/core/beginnings.h"
#include "check/core/hazards.h"
#include "check/core/state.h"
#include "check/core/words.h"
#include "check/coverage.h"
#include "check/replay/checked_replay_view.h"
#include "memory/backing.h"
#include "sys/syscall_x86_64.h"

namespace weir::view::checked::replay {

namespace {

using findings::Pass;
using findings::Touched;
using page::demand::drop;
using page::demand::fill_backing;
using page::demand::map_closed;

constexpr uint32_t kMaxPages = 64;

// --- what each process keeps to itself

uint64_t g_untrapped[kMaxPages];  // lowest bit: it may write there
uint32_t g_untrapped_count = 0;
uint64_t g_stretch = 0;
uint32_t g_stretch_looks = 0;
uint64_t g_borrowed[kMaxPages];
uint32_t g_borrowed_count = 0;

class Replayed final : public RulesInBacking {
 public:
  void on_range(Task&, const AccessSite& site, const Access& access) override {
    replay::check_access(site, access);
  }
};
constinit Replayed g_rules;
constinit CheckedReplay g_view;
View* g_view_before = nullptr;

uint64_t key_of(uint64_t address) {
  return (address >> 12) | uint64_t{shared().recording.ordinal + 1} << 44;
}

// The page's entry, taken if there is none and `takes`. Null: there is none, or no room.
Touched* find(uint64_t address, bool takes) {
  const uint64_t key = key_of(address);
  uint64_t at = mix(key) >> 20;
  for (uint32_t i = 0; i < findings::kMaxTouched; i++) {
    Touched& touched = found().touched[(at + i) % findings::kMaxTouched];
    uint64_t there = __atomic_load_n(&touched.key, __ATOMIC_ACQUIRE);
    if (!there && !takes) return nullptr;
    if (!there && __atomic_compare_exchange_n(&touched.key, &there, key, false, __ATOMIC_ACQ_REL,
                                              __ATOMIC_ACQUIRE)) {
      __atomic_fetch_add(&found().touched_pages, 1u, __ATOMIC_RELAXED);
      return &touched;
    }
    if (there == key) return &touched;
  }
  return nullptr;
}

bool stays_closed(uint64_t page) { return is_trapped(page); }

bool is_untrapped(uint64_t page) {
  for (uint32_t i = 0; i < g_untrapped_count; i++) {
    if (page_down(g_untrapped[i]) == page) return true;
  }
  return false;
}

// What was stored to it untrapped, as a whole. Page::untrapped: a clock's index + 1
// (dropped_clock). Guarded by: the page's lock.
void acquire_page(Page& page, ThreadState& thread) {
  if (page.untrapped) acquire_clock(thread, dropped_clock(static_cast<uint32_t>(page.untrapped)));
}
void release_page(Page& page, ThreadState& thread) {
  if (!page.untrapped) page.untrapped = take_dropped_clock();
  if (page.untrapped) dropped_clock(static_cast<uint32_t>(page.untrapped)).join(thread.now);
}

}  // namespace

findings::Pass pass() { return found().pass; }

void start(Task& task) {
  if (found().pass == Pass::kNone) return;
  find_system_libraries(true);
  begin_first(task);
  __atomic_store_n(&found().multi, 1u, __ATOMIC_RELEASE);
  g_borrowed_count = g_untrapped_count = 0;
  happens::g_replayed = true;
  happens::g_checked = true;
  use(g_rules);
  g_view_before = &view::current();
  view::use(g_view);
  hazards::g_looks_for = found().hazards & hazards::kInReplays;
  happens::g_calls = happens::Calls::kNotified;
  page::demand::g_stays_closed = stays_closed;
}

void stop() {
  page::demand::g_stays_closed = nullptr;
  happens::g_replayed = happens::g_checked = false;
  use(unchecked_rules());
  view::use(*g_view_before);
  hazards::g_looks_for = 0;
  happens::g_calls = happens::Calls::kPlain;
}

bool is_trapped(uint64_t address) {
  if (is_trusted(address) || is_cxx_state(address) || is_pinned(self(), page_down(address)))
    return false;
  const Touched* touched = find(address, false);
  if (touched && (touched->flags & findings::kTouchedAsCode)) return false;
  if (found().pass == Pass::kNotes) return true;
  constexpr uint32_t kMatters = findings::kTouchedBySeveral | findings::kTouchedToWrite;
  return touched && (touched->flags & kMatters) == kMatters;
}

void note(const Task& task, uint64_t address, uint64_t size, bool writes) {
  for (uint64_t at = page_down(address); at < address + size; at += kPageSize) {
    if (!is_ours(at)) continue;
    Touched* touched = find(at, true);
    if (!touched) continue;
    const auto me = static_cast<uint32_t>(task.identity.creation) + 1;
    uint32_t first = 0;
    const bool is_first = __atomic_compare_exchange_n(&touched->toucher, &first, me, false,
                                                      __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    const uint32_t flags = (writes ? findings::kTouchedToWrite : 0) |
                           (is_first || first == me ? 0 : findings::kTouchedBySeveral);
    if (flags & ~touched->flags) __atomic_fetch_or(&touched->flags, flags, __ATOMIC_RELEASE);
  }
}

void note_code(uint64_t address) {
  if (Touched* touched = find(address, true))
    __atomic_fetch_or(&touched->flags, findings::kTouchedAsCode, __ATOMIC_RELEASE);
}

void open(uint64_t address, bool to_write) {
  const uint64_t at = page_down(address);
  fill_backing(at, kPageSize);
  map_closed(at, kPageSize, to_write);
}

namespace {

// Each page of it that is looked at.
template <typename Act>
void each_trapped(const Access& access, Act act) {
  const uint64_t limit = access.address + access.size;
  Access piece = access;
  for (uint64_t at = access.address; at < limit; at = page_down(at) + kPageSize) {
    const uint64_t next = page_down(at) + kPageSize;
    piece.address = at;
    piece.size = (limit < next ? limit : next) - at;
    if (is_ours(at) && is_trapped(at)) act(piece);
  }
}

}  // namespace

void check_access(const AccessSite& site, const Access& access) {
  Task& task = self();
  if (pass() == Pass::kNotes)
    return note(task, access.address, access.size, access.kind & findings::kWrite);
  ThreadState& thread = thread_of(task);
  end_joined_epoch(thread);
  if (!thread.stack && task.id) thread.stack = page_down(sys::fs_base_untouched()) + kPageSize;
  uint32_t context = access.context;
  each_trapped(access, [&](Access& piece) {
    Page& page = page_of(page_down(piece.address));
    const SpinGuard guard(page.lock);
    if (!page.shadow) page.shadow = take_shadow();
    if (!page.shadow) {
      if (page.mode == Mode::kNew)
        __atomic_fetch_add(&found().untrapped_pages, 1, __ATOMIC_RELAXED);
      count_unchecked(page);
      page.mode = Mode::kTrapped;
      return;
    }
    page.mode = Mode::kTrapped;
    if (acquires(piece.kind)) acquire_page(page, thread);
    piece.context = context;
    thread.checked_count++;
    page.toucher_count = 2;  // or else it were not trapped
    count_checked(page);
    checked::check_access(page.shadow, thread, piece, site);
    context = piece.context;
  });
}

bool is_long_stretch(const Task& task) {
  // The more of a task's accesses have been looked at the sooner; by counts, so that it is the same
  // each time.
  const uint64_t checked_count = thread_of(task).checked_count;
  const uint32_t most = checked_count < 1'000'000   ? 50'000
                        : checked_count < 4'000'000 ? 5'000
                                                    : 1'000;
  const uint64_t stretch = task.recorded.entries + task.spent.counters.events;
  if (stretch != g_stretch) g_stretch_looks = 0;
  g_stretch = stretch;
  return ++g_stretch_looks > most;
}

void open_untrapped(uint64_t address, bool to_write) {
  const uint64_t at = page_down(address);
  if (g_untrapped_count == kMaxPages) publish();
  ThreadState& thread = thread_of(self());
  Page& page = page_of(at);
  {
    const SpinGuard guard(page.lock);
    if (page.shadow) acquire_writers_of(page.shadow, 0, kPageSize, thread);
    acquire_page(page, thread);
    count_unchecked(page);
  }
  happens::acquire_word(at, kPageSize, happens::on_acquire);
  g_untrapped[g_untrapped_count++] = at | to_write;
  open(at, to_write);
}

void publish() {
  if (!g_untrapped_count) return;
  ThreadState& thread = thread_of(self());
  for (uint32_t i = 0; i < g_untrapped_count; i++) {
    const uint64_t at = page_down(g_untrapped[i]);
    if (!page::backing_bytes_at(at)) continue;
    drop(at, kPageSize);
    if (at == g_untrapped[i]) continue;
    Page& page = page_of(at);
    const SpinGuard guard(page.lock);
    release_page(page, thread);
  }
  g_untrapped_count = 0;
  step(thread);
}

void on_atomic(const AccessSite& site, const Access& access) {
  check_access(site, access);
  order_by(access);
}

void order_by(const Access& access) {
  if (pass() != Pass::kChecks) return;
  if (!(access.kind & findings::kUnread))
    happens::acquire_word(access.address, access.size, happens::on_acquire);
  if (access.kind & findings::kWrite)
    happens::release_word(access.address, access.size, happens::on_release);
}

void tell_end(uint64_t word) {
  if (pass() == Pass::kNotes) return note(self(), word, sizeof(int), true);
  if (pass() != Pass::kChecks || !is_ours(word)) return;
  Page& page = page_of(page_down(word));
  const SpinGuard guard(page.lock);
  if (!page.shadow) page.shadow = take_shadow();
  if (page.shadow) tell_by_word(page.shadow, word % kPageSize, thread_of(self()));
  else release_page(page, thread_of(self()));
}

void touch(Task& task, uint64_t start, uint64_t size, bool writes) {
  if (!task.pages.holds_call || !task.frame || !moves_data(task.pages.holds_call - 1) ||
      is_of_library(start))
    return;
  check_access(access_site_of(*task.frame),
               {start, size, (writes ? findings::kWrite : findings::kRead) | findings::kByKernel});
}

void borrow(uint64_t address, bool to_write) {
  const uint64_t at = page_down(address);
  if (g_borrowed_count == kMaxPages) {
    drop(g_borrowed[0], kPageSize);
    for (uint32_t i = 1; i < kMaxPages; i++) g_borrowed[i - 1] = g_borrowed[i];
    g_borrowed_count--;
  }
  g_borrowed[g_borrowed_count++] = at;
  open(at, to_write);
}

void close_borrowed() {
  if (!g_borrowed_count) return;
  for (uint32_t i = 0; i < g_borrowed_count; i++) {
    if (page::backing_bytes_at(g_borrowed[i]) && is_trapped(g_borrowed[i]) &&
        !is_untrapped(g_borrowed[i]))
      drop(g_borrowed[i], kPageSize);
  }
  g_borrowed_count = 0;
}

}  // namespace weir::view::checked::replay
