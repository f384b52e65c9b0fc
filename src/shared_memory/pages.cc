// Invariant: a page is open in this process exactly while it is in the table, or lent to the kernel
// for a call. (checked in insert)
//
// What can go wrong: a page behind the end of a file (PageKind::kNoMemory); two addresses of one
// page, which one instruction may need (the task has it at both, and a replay has one page at both
// from then on: PageKind::kTakenAlso); more open pages apart from each other than the kernel allows
// mappings (kMaxHeld).

#include "shared_memory/pages.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "control/process.h"
#include "memory/backing.h"
#include "memory/program_memory.h"
#include "record/input.h"
#include "record/shared_memory.h"
#include "record/stream.h"
#include "record/unrecorded.h"
#include "shared_memory/page_order.h"
#include "shared_memory/page_table.h"
#include "sys/maps.h"
#include "sys/memory.h"
#include "sys/report.h"
#include "sys/signal.h"
#include "sys/syscall_x86_64.h"

namespace weir::shared_memory {

Held* g_held = nullptr;
uint32_t g_room = 0, g_used = 0;
uint64_t g_borrowed[2] = {0, 0};

namespace {

using channel::Entry;
using channel::Kind;
using channel::PageKind;

constexpr uint32_t kFirstRoom = 1024;
constexpr uint32_t kMaxHeld =
    16384;                          // each may cost two mappings, of which the kernel allows 65530
constexpr uint32_t kNothing = 1;    // Held::entry: PageKind::kNoMemory
uint32_t g_last_number = kNothing;  // replaying: Held::entry, the same for addresses of one page

uint64_t g_taken = 0;
bool g_expects_spin = false;  // replaying

uint32_t slot_of(uint64_t page) {
  return static_cast<uint32_t>(mix(page / kPageSize) >> 32) & (g_room - 1);
}

void insert(uint64_t page, uint32_t index) {
  WEIR_DEBUG_CHECK(!find(page));  // invariant of pages.cc: it was closed before
  if (2 * (g_used + 1) > g_room) {
    Held* const old = g_held;
    const uint32_t old_room = g_room, room = g_room ? 2 * g_room : kFirstRoom;
    const long at = sys::map_anonymous(room * sizeof(Held));
    if (sys::failed(at)) {
      report("no memory to keep track of shared pages (error %d)", int64_t{-at});
      die(125);
    }
    g_held = reinterpret_cast<Held*>(at);
    g_room = room;
    g_used = 0;
    for (uint32_t i = 0; i < old_room; i++) {
      if (old[i].page) insert(old[i].page, old[i].entry);
    }
    if (old) sys::unmap(reinterpret_cast<uint64_t>(old), old_room * sizeof(Held));
  }
  uint32_t i = slot_of(page);
  while (g_held[i].page) i = (i + 1) & (g_room - 1);
  g_held[i] = {page, index, 0};
  g_used++;
}

void put(Task& task, PageKind kind, uint64_t address) {
  recording::put(task, Entry{Kind::kPage, 0, static_cast<uint16_t>(kind), 0,
                             task.recorded.shared_memory_points, 0, static_cast<int64_t>(address)});
}

}  // namespace

Held* find(uint64_t page) {
  if (!g_room) return nullptr;
  for (uint32_t i = slot_of(page); g_held[i].page; i = (i + 1) & (g_room - 1)) {
    if (g_held[i].page == page) return &g_held[i];
  }
  return nullptr;
}

void erase(uint64_t page) {
  Held* found = find(page);
  if (!found) return;
  auto hole = static_cast<uint32_t>(found - g_held);
  for (uint32_t i = (hole + 1) & (g_room - 1); g_held[i].page; i = (i + 1) & (g_room - 1)) {
    if (((i - slot_of(g_held[i].page)) & (g_room - 1)) < ((i - hole) & (g_room - 1))) continue;
    g_held[hole] = g_held[i];
    hole = i;
  }
  g_held[hole].page = 0;
  g_used--;
}

namespace {

bool g_has_twice = false;  // pages at two addresses, or had them

bool is_also_in(Range range, const Held& held) {
  bool is_found = false;
  if (!g_has_twice) return false;
  each_held([&](const Held& other) {
    is_found |= other.entry == held.entry && other.page != held.page && range.contains(other.page);
  });
  return is_found;
}

}  // namespace

bool is_last(const Held& held) { return !is_also_in({0, ~uint64_t{0}}, held); }

long map_own(uint64_t start, uint64_t size, long fixed) {
  return sys::raw(SYS_mmap, static_cast<long>(start), static_cast<long>(size), PROT_NONE,
                  MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);
}

void close_page(uint64_t page) {
  const Held* held = find(page);
  if (input::replaying() && held && held->entry == kNothing) map_own(page, kPageSize, MAP_FIXED);
  else if (page != g_borrowed[0] && page != g_borrowed[1])
    page::protect(page, kPageSize, PROT_NONE);
  erase(page);
}

void close_held(Range range) {
  each_held([&](const Held& held) {
    if (!range.contains(held.page) && is_also_in(range, held)) close_page(held.page);
  });
  each_held([&](const Held& held) {
    if (range.contains(held.page)) close_page(held.page);
  });
}

void note_given(Task& task, PageKind where, uint64_t page) {
  close_page(page);
  put(task, where, page);
}

void note_all_given(Task& task, PageKind where, uint32_t entry) {
  each_held([&](const Held& held) {
    if (held.entry == entry) note_given(task, where, held.page);
  });
}

void note_lost(Task& task, PageKind where) {
  each_held([&](const Held& held) {
    if (!shared_table::has(task, held.entry)) note_given(task, where, held.page);
  });
}

// Replaying: what the task gave here. One place may have several such points: they are counted from
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

namespace {

uint64_t sum_of(const uint64_t* words) {
  uint64_t sum = 1;
  for (uint32_t i = 0; i < kPageSize / 8; i++) sum = mix(sum ^ words[i]) + (sum >> 29);
  return sum | 1;
}

// Replaying, in a program of one task: where what comes next is that the task spins, nobody is
// there who would ask what it does. A timer does.
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

// An access is a fault of the bus, as it was.
void map_nothing(uint64_t page, int protection) {
  const long file =
      page::open_hidden(SYS_memfd_create, reinterpret_cast<long>("weir-nothing"), MFD_CLOEXEC, 0);
  if (sys::failed(file)) return;
  sys::raw(SYS_mmap, static_cast<long>(page), kPageSize, protection, MAP_SHARED | MAP_FIXED, file,
           0);
  page::close_hidden(static_cast<int>(file));
}

// Replaying: the page that the task has at `other` is at `page` as well.
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
  const uint32_t number = held->entry;
  insert(page, number);
  g_has_twice = true;
  return true;
}

void take_recorded(Task& task, const Mapping& m, uint64_t page) {
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

void give_requested(Task& task, PageKind where) {
  channel::PageRequest requests[channel::Holder::kMaxRequests];
  const uint32_t count = shared_table::take_requests(task, requests);
  for (uint32_t i = 0; i < count; i++) {
    each_held([&](const Held& held) {
      if (held.entry != requests[i].entry) return;
      if (const uint64_t sum = sum_at(held.page)) shared_table::set_sum(held.entry, sum);
      if (where == PageKind::kGivenAtSpin) come_by(task);
      note_given(task, where, held.page);
    });
    shared_table::give_to(task, requests[i]);
  }
}

}  // namespace

uint64_t sum_at(uint64_t page) {
  uint64_t words[kPageSize / 8];
  return trap::from_program(words, static_cast<long>(page), sizeof words) == 0 ? sum_of(words) : 0;
}

void take_page(Task& task, const Mapping& m, uint64_t page) {
  g_taken++;
  task.recorded.shared_memory_points = 0;
  task.spin.sampled_event = ~uint64_t{0};  // what was seen of a spin was before
  come_by(task);
  if (input::replaying()) return take_recorded(task, m, page);
  if (g_used >= kMaxHeld) {
    each_held([&](const Held& held) {
      shared_table::give(task, held.entry);
      note_given(task, PageKind::kGivenAtAccess, held.page);
    });
  }
  const uint32_t index =
      shared_table::entry_of(m.object, (m.offset + page - m.range.start) / kPageSize);
  uint32_t from = 0;
  const bool had_it = shared_table::acquire(task, index, from);
  const channel::PreviousHolder previous_holder = previous_holder_of(from);
  if (task.recorded.shared_memory_sleeps)
    (void)shared_table::end_sleep(task);  // the runtime looks at it in the middle of a wait
  note_lost(task, PageKind::kGivenAtAccess);
  uint64_t other = 0;
  if (had_it) {
    each_held([&](const Held& held) {
      if (held.entry != index) return;
      if (held.is_nothing) note_given(task, PageKind::kGivenAtAccess, held.page);
      else other = held.page;
    });
  }
  const long wrong = page::protect(page, kPageSize, m.protection);
  if (wrong) {
    report("cannot open a page of shared memory at %x (error %d)%s", page, -wrong,
           sys::has_most_maps()
               ? ": there are as many mappings as the kernel allows (vm.max_map_count)"
               : "");
    die(125);
  }
  insert(page, index);
  if (other) {
    g_has_twice = true;
    const Entry entry{Kind::kPage,
                      0,
                      static_cast<uint16_t>(PageKind::kTakenAlso),
                      sizeof other,
                      task.recorded.shared_memory_points,
                      0,
                      static_cast<int64_t>(page)};
    return recording::put(task, entry, &other);
  }
  const uint64_t sum = shared_table::take_sum(index);
  uint64_t words[kPageSize / 8];
  if (trap::from_program(words, static_cast<long>(page), sizeof words) != 0) {
    find(page)->is_nothing = 1;
    return put(task, PageKind::kNoMemory, page);
  }
  if (sum && sum != sum_of(words)) recording::note_stranger(page);
  uint32_t first = 0, limit = kPageSize / 8;
  while (limit && !words[limit - 1]) limit--;
  while (first < limit && !words[first]) first++;
  const uint32_t size = (limit - first) * 8;
  const auto at = static_cast<int64_t>(page + first * 8);
  const Entry entry{Kind::kPage,
                    0,
                    static_cast<uint16_t>(PageKind::kTaken),
                    uint32_t{sizeof previous_holder} + size,
                    task.recorded.shared_memory_points,
                    0,
                    at};
  recording::put(task, entry, &previous_holder, words + first, sizeof previous_holder);
}

uint64_t taken() { return g_taken; }

[[maybe_unused]] static bool has_all_held(Task& task) {
  bool has_all = true;
  each_held([&](const Held& held) { has_all &= shared_table::has(task, held.entry); });
  return has_all;
}

void give_if_asked(Task& task) {
  task.recorded.shared_memory_points++;
  come_by(task);
  if (input::recording()) {
    // Invariants 2 of shared_page_table.h, 1 of shared_memory.h.
    WEIR_DEBUG_CHECK(has_all_held(task));
    if (shared_table::is_asked(task)) give_requested(task, PageKind::kGivenAtEnd);
  } else {
    give_as_recorded(task, PageKind::kGivenAtEnd);
    look_ahead(task);
  }
}

bool is_awaited(Task& task) {
  return input::recording() ? shared_table::is_asked(task) : g_expects_spin;
}

void give_at_spin(Task& task) {
  if (input::recording()) return give_requested(task, PageKind::kGivenAtSpin);
  give_as_recorded(task, PageKind::kGivenAtSpin);
  look_ahead(task);
}

}  // namespace weir::shared_memory
