// Decides which pages are trapped, and which a task has to itself or shares untrapped.
//
// A page is nobody's until it is touched. Then its accesses are checked: some dozens while only one
// task makes them, some thousands if several do. After that it is private to its toucher,
// read-shared, or open to all. Another task that comes to a private page takes it over, and the
// page is trapped again. So every access to a cold page is checked, and a hot page costs nothing.
//
// How many accesses are checked depends on what checking has cost so far: a task may spend a
// quarter of its time on it, and a little more at the beginning (tokens). Once that is spent, a
// task that goes through memory gets many pages at a time. A task that is alone, by happens-before,
// races with nobody, and gets what it touches.
//
// All open pages are closed again at once when enough tokens have accumulated (a new generation).
// Races that happen often are found then.

#include "check/budget.h"
#include "check/core/beginnings.h"
#include "check/core/state.h"
#include "check/coverage.h"
#include "control/options.h"
#include "memory/backing.h"
#include "sys/syscall_x86_64.h"

namespace weir::view::checked {

namespace {

using page::demand::drop;
using page::demand::map;

constexpr uint8_t kMaxTakenOver = 4;   // then it is everybody's
constexpr uint32_t kMaxChecks = 8192;  // looks at a page that another task does not drop
constexpr uint64_t kNearStack = 64 << 10;

// Where a task's stack lies among other data of the program's (made by clone(), or of a coroutine),
// only the pages that it uses at the time are known to be of it.
bool near_own_stack(const Task& task, const ThreadState& thread, const AccessSite& site,
                    uint64_t address) {
  constexpr uint64_t kDeepest = 64 << 20;  // else it is another stack, of the program's own
  const uint64_t rsp = site.general[4];
  if (task.id == 0) {
    const uint64_t top = shared().program.stack_begin;
    return rsp <= top && top - rsp < kDeepest && address >= rsp - kNearStack &&
           address < top + kPageSize;
  }
  const uint64_t descriptor = sys::fs_base_untouched();
  if (address >= descriptor - kPageSize && address < descriptor + kPageSize) return true;
  const bool is_known = thread.stack_start && thread.stack_start + kPageSize < thread.stack;
  if (is_known && rsp >= thread.stack_start && rsp < thread.stack)
    return address >= rsp - kNearStack && address >= thread.stack_start && address < thread.stack;
  return address >= rsp - kPageSize && address < page_up(rsp);
}

// The task is the only one that has it, and maps it next. While it only reads, others who do need
// take nothing away from it.
void leave_to(uint64_t at, Page& page, const Task& task, ThreadState& thread, bool writes) {
  own(page, task, writes ? Mode::kPrivate : Mode::kReadBy);
  hold(at, page, thread, writes);
}

bool is_over(const Page& page) {
  const Task& owner = shared().tasks[page.owner];
  return owner.order.state == TaskState::kFree ||
         static_cast<uint32_t>(owner.identity.creation) != page.owner_creation;
}

// Its owner has ended: whoever reads there may read what he has stored.
void bury(Page& page) {
  page.untrapped |= page.holders & page.released;
  page.holders = 0;
}

enum class Got : uint8_t { kNothing, kReading, kWriting };

// Of a large block that a task goes through, the pages that come with one that was looked at are
// not, after the first megabyte, or where what may be spent first is spent.
bool is_passed_over(const Page& page, const ThreadState& thread) {
  const Place is_in = known_place(page);
  const Place place =
      is_in != Place::kStack && thread.run_length > kLargeRun ? Place::kLarge : is_in;
  return place == Place::kLarge && thread.window &&
         (thread.run_length > kLongRun || tokens(place) < most_tokens(place));
}

// Without a look: what comes with a page that the task has got, or where nothing is left to spend.
// `alone`: there is nobody whom its accesses could race with, since all others are known.
Got take_untrapped(uint64_t at, Page& page, const Task& task, ThreadState& thread, bool writes,
                   bool alone) {
  if (page.mode == Mode::kDeclared || is_trusted(at)) return Got::kNothing;
  if (alone) {
    page.holders &= bit_of(thread);
    page.released = page.untrapped = page.untrapped_clock = 0;
    page.counted &= Page::kCountedChecked | Page::kCountedUnchecked;
    leave_to(at, page, task, thread, true);
    return Got::kWriting;
  }
  switch (page.mode) {
    case Mode::kPrivate:
      if (!is_over(page) || private_checks(known_place(page))) return Got::kNothing;
      bury(page);
      leave_to(at, page, task, thread, writes);
      return writes ? Got::kWriting : Got::kReading;
    case Mode::kNew:
      if (private_checks(place_of(at, page)) && !is_passed_over(page, thread)) return Got::kNothing;
      page.counted |= Page::kGivenUnchecked;
      leave_to(at, page, task, thread, writes);
      return writes ? Got::kWriting : Got::kReading;
    case Mode::kReadBy:
      if (writes) return Got::kNothing;
      hold(at, page, thread, false);
      return Got::kReading;
    case Mode::kSharedUntrapped: share(at, page, thread); return Got::kWriting;
    default: return Got::kNothing;
  }
}

// Pages near `at` that others share as they share it, or read.
void take_around(uint64_t at, Mode mode, const Task& task, ThreadState& thread) {
  constexpr uint64_t kAround = 32 * kPageSize;
  const bool writes = mode == Mode::kSharedUntrapped;
  const uint64_t first = at & ~(kAround - 1);
  uint64_t start = 0;  // of pages that are taken, and to be mapped
  for (uint64_t next = first; next <= first + kAround; next += kPageSize) {
    bool is_taken = false;
    if (next != at && next < first + kAround && page::backing_bytes_at(next)) {
      Page& page = page_of(next);
      if (page.mode == mode && !(page.holders & bit_of(thread)) && !is_worth_a_look(page)) {
        const SpinGuard guard(page.lock);
        is_taken = page.mode == mode &&
                   take_untrapped(next, page, task, thread, writes, false) != Got::kNothing;
      }
    }
    if (is_taken && !start) start = next;
    if (is_taken || !start) continue;
    map(start, next - start, writes);
    start = 0;
  }
}

// Where a task goes through memory it gets several pages at once.
void take_more(uint64_t after, Task& task, ThreadState& thread, bool writes, bool alone, Got got) {
  constexpr uint32_t kMax = 64;
  thread.window =
      after == thread.next_page ? (thread.window < kMax / 2 ? 2 * thread.window + 1 : kMax) : 0;
  const uint64_t start = after + kPageSize, most = start + thread.window * kPageSize;
  uint64_t limit = start;
  for (; limit < most && page::backing_bytes_at(limit); limit += kPageSize) {
    Page& page = page_of(limit);
    const SpinGuard guard(page.lock);
    if ((page.holders & bit_of(thread)) ||
        take_untrapped(limit, page, task, thread, writes, alone) != got)
      break;
  }
  thread.next_page = limit;
  continue_run(thread, start, limit);
  if (limit != start) map(start, limit - start, got == Got::kWriting);
}

// As enter(), for this page alone; what it has got is not mapped yet.
Got enter_page(Task& task, ThreadState& thread, const AccessSite& site, uint64_t address,
               bool writes, bool alone) {
  const uint64_t at = page_down(address);
  Page& page = page_of(at);
  const SpinGuard guard(page.lock);
  if (alone) {
    if (const Got got = take_untrapped(at, page, task, thread, writes, true); got != Got::kNothing)
      return got;
  }
  switch (page.mode) {
    case Mode::kNew:
      if (is_trusted(at)) {
        page.mode = Mode::kSharedUntrapped;
        hold(at, page, thread, true);
        return Got::kWriting;
      }
      if (near_own_stack(task, thread, site, address)) {
        store_enum<__ATOMIC_RELAXED>(page.place, Place::kStack);
        leave_to(at, page, task, thread, true);
        return Got::kWriting;
      }
      thread.run_length = length_of_run(thread, at);
      if (place_of(at, page) != Place::kStack && thread.run_length > kLargeRun)
        store_enum<__ATOMIC_RELAXED>(page.place, Place::kLarge);
      if (!private_checks(known_place(page))) {
        if (const Got got = take_untrapped(at, page, task, thread, writes, false);
            got != Got::kNothing)
          return got;
      }
      trap_page(at, page, task, thread, false);
      break;
    case Mode::kPrivate: {
      if (is_owner(page, task)) {
        hold(at, page, thread, true);
        return Got::kWriting;
      }
      if (const Got got = take_untrapped(at, page, task, thread, writes, false);
          got != Got::kNothing)
        return got;
      const bool has_ended = is_over(page);
      if (has_ended) bury(page);
      else if (page.taken_over < kMaxTakenOver) page.taken_over++;
      count_page(page, Page::kCountedChecked, found().shared_pages);
      if (page.counted & Page::kGivenUnchecked) count_unchecked(page);
      trap_page(at, page, task, thread, page.taken_over == kMaxTakenOver);
      break;
    }
    case Mode::kReadBy: {
      if (!writes) {
        hold(at, page, thread, false);
        return Got::kReading;
      }
      const bool is_common = !is_owner(page, task) || (page.holders & ~bit_of(thread));
      if (!is_common && !private_checks(known_place(page))) {
        leave_to(at, page, task, thread, true);
        return Got::kWriting;
      }
      if (page.holders & bit_of(thread)) {
        drop(at, kPageSize);
        give_up(page, thread);
      }
      if (is_common) count_unchecked(page);  // what was read
      trap_page(at, page, task, thread, is_common);
      break;
    }
    case Mode::kSharedUntrapped:
      if (is_trusted(at)) {
        hold(at, page, thread, true);
        return Got::kWriting;
      }
      if ((thread.first_looks || thread.is_suspect) && !is_ignored(site.rip) &&
          !(page.holders & bit_of(thread)) && is_worth_a_look(page)) {
        if (thread.first_looks) thread.first_looks--;
        meet_holders(page, thread);
        return Got::kNothing;
      }
      share(at, page, thread);
      return Got::kWriting;
    case Mode::kTrapped:
      if (!is_owner(page, task)) page.toucher_count = 2;
      break;
    case Mode::kDeclared: return Got::kNothing;
  }
  if (is_ignored(site.rip) && !thread.spin.repeats) page.checked_count++;
  const bool is_common = page.toucher_count > 1;
  const Place place = known_place(page);
  if (page.shadow && page.checked_count < (is_common || page.taken_over ? common_checks(place)
                                                                        : private_checks(place)))
    return Got::kNothing;
  // A task that stands in a delay may be about to come here.
  if (page.shadow && tokens(place) > 0 && page.checked_count < kMaxChecks &&
      __atomic_load_n(&state().pending_accesses, __ATOMIC_RELAXED))
    return Got::kNothing;
  // Nor one that begins, to what its creator is busy with.
  if (page.shadow && !is_common && tokens(place) > most_tokens(place) &&
      page.checked_count < kMaxChecks && may_one_come(task))
    return Got::kNothing;
  lose_sleeping(at, page, thread);
  const bool has_others = page.holders & ~bit_of(thread);
  // Until they have dropped it; but not for ever, nor where there is nothing left to spend.
  if (has_others && page.shadow && !(is_common && (page.was_written || writes)) &&
      tokens(place) > 0 && page.checked_count++ < kMaxChecks)
    return Got::kNothing;
  if (!is_common && !has_others) {
    page.counted |= Page::kGivenUnchecked;
    leave_to(at, page, task, thread, page.was_written || writes);
    return page.mode == Mode::kPrivate ? Got::kWriting : Got::kReading;
  }
  if (!page.was_written && !writes && !has_others) {
    page.mode = Mode::kReadBy;
    hold(at, page, thread, false);
    return Got::kReading;
  }
  if (tokens(place) <= 0 && !has_others && page.taken_over < kMaxTakenOver) {
    page.taken_over++;  // an open page orders all that its tasks do: not for a touch or two
    leave_to(at, page, task, thread, true);
    return Got::kWriting;
  }
  open_page(at, page, thread);
  return Got::kWriting;
}

}  // namespace

// A task has come to a page that its process has not mapped, or not for that. True: it has it now.
// False: it is trapped.
bool admit(Task& task, ThreadState& thread, const AccessSite& site, uint64_t address, bool writes) {
  const uint64_t at = page_down(address);
  const bool alone = !suggests() && is_alone(thread);  // what it has to itself is to be seen, too
  const Got got = enter_page(task, thread, site, address, writes, alone);
  if (got == Got::kNothing) return false;
  map(at, kPageSize, got == Got::kWriting);
  const Mode mode = page_of(at).mode;
  if (!alone && (mode == Mode::kSharedUntrapped || (mode == Mode::kReadBy && !writes)))
    take_around(at, mode, task, thread);
  else take_more(at, task, thread, writes, alone, got);
  return true;
}

void look_first(ThreadState& thread, const AccessSite& site, Access access) {
  thread.is_suspect = 0;
  Page& page = page_of(page_down(access.address));
  const Mode mode = load_enum<__ATOMIC_RELAXED>(page.mode);
  const bool writes = access.kind & findings::kWrite;
  if (!(mode == Mode::kSharedUntrapped || (mode == Mode::kReadBy && !writes)) ||
      !(access.kind & (findings::kRead | findings::kWrite)) || is_ignored(site.rip) ||
      is_trusted(access.address) || is_cxx_state(access.address))
    return;
  const SpinGuard guard(page.lock);
  if (page.mode != mode || !page.shadow || (page.holders & bit_of(thread))) return;
  count_checked(page);
  if (releases(access.kind)) page.released |= bit_of(thread);
  check_pending(thread, access, site);
  check_access(page.shadow, thread, access, site);
}

void on_access(ThreadState& thread, const AccessSite& site, Access access) {
  const uint64_t limit = access.address + access.size;
  while (access.address < limit) {
    const uint64_t at = page_down(access.address);
    access.size = (limit < at + kPageSize ? limit : at + kPageSize) - access.address;
    Page& page = page_of(at);
    const SpinGuard guard(page.lock);
    if (page.mode == Mode::kTrapped && page.shadow) {
      if (suggests()) note_seen(thread, access, site);
      const uint64_t others = page.holders & ~bit_of(thread);
      if (others && releases(access.kind)) release_to(others, thread);
      if (!thread.spin.repeats) page.checked_count++;
      count_checked(page);
      if (releases(access.kind)) page.released |= bit_of(thread);
      if (access.kind & findings::kWrite) page.was_written = 1;
      check_pending(thread, access, site);
      check_access(page.shadow, thread, access, site);
      // After the check: what only this read itself may tell the task does not order it after an
      // access that the shadow knows.
      if (acquires(access.kind)) {
        acquire_untrapped(page, thread);
        join_slots(thread, others);
      }
    }
    access.address = at + kPageSize;
  }
}

}  // namespace weir::view::checked
