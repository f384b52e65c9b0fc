// A replay: the recording says which pages the task takes, with their bytes, and which it gives.

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>

#include "base/bytes.h"
#include "control/process.h"
#include "memory/backing.h"
#include "record/input.h"
#include "record/stream.h"
#include "shared_memory/exchange.h"
#include "shared_memory/page_order.h"
#include "sys/memory.h"
#include "sys/report.h"
#include "sys/signal.h"
#include "sys/syscall_x86_64.h"

namespace weir::shared_memory {
namespace {

using channel::Entry;
using channel::Kind;
using channel::PageKind;

constexpr uint32_t kNothing = 1;    // Held::entry: PageKind::kNoMemory
uint32_t g_last_number = kNothing;  // Held::entry, the same for addresses of one page
bool g_expects_spin = false;

// Memory that nobody shares, in place of such memory. The address, or -errno.
long map_own(uint64_t start, uint64_t size, long fixed) {
  return sys::raw(SYS_mmap, static_cast<long>(start), static_cast<long>(size), PROT_NONE,
                  MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);
}

// What the task gave here. One place may have several such points: they are counted from
// the page on that it took last.
void give_as_recorded(Task& task, PageKind where) {
  while (const Entry* entry = recording::peek(task)) {
    const bool is_here = entry->event == recording::progress_of(task) &&
                         entry->check == task.recorded.shared_memory_points;
    if (entry->kind != Kind::kPage || entry->number != static_cast<uint16_t>(where) || !is_here)
      return;
    if (where == PageKind::kGivenAtSpin) come_by(task);
    close_page(static_cast<uint64_t>(entry->result));
    recording::take(task, *entry);
  }
}

// In a program of one task: if the next entry says that the task spins, nobody is there who would
// ask what it does. A timer does.
void look_ahead(Task& task) {
  constexpr int64_t kIntervalNs = 200'000;  // nanoseconds
  static int32_t timer = -1, timer_of = 0;
  const Entry* entry = g_tasks_active ? nullptr : recording::peek(task);
  const bool expects = entry && entry->kind == Kind::kPage &&
                       entry->number == static_cast<uint16_t>(PageKind::kGivenAtSpin) &&
                       entry->event == recording::progress_of(task);
  if (!expects && !g_expects_spin) return;
  const auto me = static_cast<int32_t>(sys::raw(SYS_gettid));
  if (expects == g_expects_spin && timer_of == me) return;
  g_expects_spin = expects;
  if (timer_of != me) {  // a child has none
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = sys::g_probe_signal;
    event._sigev_un._tid = me;
    if (const long made = sys::raw(SYS_timer_create, CLOCK_MONOTONIC,
                                   reinterpret_cast<long>(&event), reinterpret_cast<long>(&timer));
        made != 0) {
      report("no timer for the replay (error %d)", int64_t{-made});
      die(125);
    }
    timer_of = me;
  }
  const int64_t interval = expects ? kIntervalNs : 0;
  const itimerspec times{{0, interval}, {0, interval}};
  sys::raw(SYS_timer_settime, timer, 0, reinterpret_cast<long>(&times), 0);
}

class Replayed final : public Exchange {
 public:
  bool is_wanted(const MapCall&) override {
    return input::log_number(input::What::kShared, 0) != 0;
  }
  long map(const MapCall& call) override;
  long map_there(Range range, int, int, uint64_t) override {
    return map_own(range.start, range.size(), MAP_FIXED);
  }
  long attach_there(Range range, int, long) override {
    return map_own(range.start, range.size(), MAP_FIXED);
  }
  void attach(Range range, bool replaces) override;
  void move(Range from, Range to) override {
    if (!from.empty()) sys::unmap(from.start, from.size());
    map_own(to.start, to.size(), MAP_FIXED);
  }
  // The maker of this process goes on with its own.
  void begin_mapping(Range range) override { map_own(range.start, range.size(), MAP_FIXED); }

  void take(Task& task, const Mapping& m, uint64_t page) override;
  void close(const Held& held) override {
    if (held.entry == kNothing) map_own(held.page, kPageSize, MAP_FIXED);
    else Exchange::close(held);
  }
  void end_sleep(Task& task) override { give_as_recorded(task, PageKind::kGivenInSleep); }
  void give_if_asked(Task& task) override {
    give_as_recorded(task, PageKind::kGivenAtEnd);
    look_ahead(task);
  }
  bool is_awaited(Task&) override { return g_expects_spin; }
  void give_at_spin(Task& task) override {
    give_as_recorded(task, PageKind::kGivenAtSpin);
    look_ahead(task);
  }
};
constinit Replayed g_replayed;

long Replayed::map(const MapCall& call) {
  const long result = input::log_number(input::What::kShared, 0);
  if (sys::failed(result)) return result;
  const long at = map_own(static_cast<uint64_t>(result), page_up(call.size),
                          call.flags & MAP_FIXED ? MAP_FIXED : MAP_FIXED_NOREPLACE);
  if (at != result) {
    report("the replay cannot map shared memory where the recording had it, at %x (it got %x)",
           static_cast<uint64_t>(result), static_cast<uint64_t>(at));
    die(125);
  }
  return result;
}

void Replayed::attach(Range range, bool replaces) {
  if (map_own(range.start, range.size(), replaces ? MAP_FIXED : MAP_FIXED_NOREPLACE) ==
      static_cast<long>(range.start))
    return;
  report("the replay cannot map shared memory where the recording had it, at %x", range.start);
  die(125);
}

// An access is a fault of the bus, as it was.
void map_nothing(uint64_t page, int protection) {
  const long file =
      page::open_hidden(SYS_memfd_create, reinterpret_cast<long>("weir-nothing"), MFD_CLOEXEC, 0);
  if (sys::failed(file)) return;
  sys::raw(SYS_mmap, static_cast<long>(page), kPageSize, protection, MAP_SHARED | MAP_FIXED, file,
           0);
  page::close_hidden(static_cast<int>(file));
}

// The page that the task has at `other` is at `page` as well.
bool map_again(const Mapping& m, uint64_t page, uint64_t other) {
  const Held* const held = find(other);
  if (!held || held->entry == kNothing || other == page) return false;
  const long at =
      sys::raw(SYS_mremap, static_cast<long>(other), 0, kPageSize, MREMAP_MAYMOVE | MREMAP_FIXED,
               static_cast<long>(page));  // of no bytes: the old one stays
  if (at != static_cast<long>(page)) {
    report("the replay cannot map a page of shared memory twice, at %x (error %d)", page,
           int64_t{-at});
    die(125);
  }
  page::protect(page, kPageSize, m.protection);
  insert_also(page, uint32_t{held->entry});
  return true;
}

void Replayed::take(Task& task, const Mapping& m, uint64_t page) {
  give_as_recorded(task, PageKind::kGivenAtAccess);
  const Entry& entry = recording::next(task);
  uint64_t other = 0;
  if (entry.kind == Kind::kPage && entry.number == static_cast<uint16_t>(PageKind::kTakenAlso) &&
      entry.size == sizeof other && static_cast<uint64_t>(entry.result) == page) {
    copy_bytes(&other, recording::payload(entry), sizeof other);
    if (map_again(m, page, other)) {
      recording::take(task, entry);
      return look_ahead(task);
    }
  }
  const auto at = static_cast<uint64_t>(entry.result);
  const auto kind = static_cast<PageKind>(entry.number);
  channel::PreviousHolder previous_holder;
  const bool is_whole = kind == PageKind::kNoMemory ||
                        (kind == PageKind::kTaken && entry.size >= sizeof previous_holder);
  const bool is_taken = entry.kind == Kind::kPage && is_whole;
  if (!is_taken || page_down(at) != page)
    recording::diverged(task, entry, "it touches the shared page", static_cast<int64_t>(page));
  if (kind == PageKind::kNoMemory) {
    map_nothing(page, m.protection);
  } else {
    page::protect(page, kPageSize, PROT_READ | PROT_WRITE);
    zero_bytes(reinterpret_cast<void*>(page), kPageSize);
    copy_bytes(&previous_holder, recording::payload(entry), sizeof previous_holder);
    copy_bytes(reinterpret_cast<void*>(at), recording::payload(entry) + sizeof previous_holder,
               entry.size - sizeof previous_holder);
    if (m.protection != (PROT_READ | PROT_WRITE)) page::protect(page, kPageSize, m.protection);
  }
  insert(page, kind == PageKind::kNoMemory ? kNothing : ++g_last_number);
  recording::take(task, entry);
  look_ahead(task);
  if (kind == PageKind::kTaken) await_previous_holder(task, previous_holder);
}

}  // namespace

Exchange& replayed_exchange() { return g_replayed; }

}  // namespace weir::shared_memory
