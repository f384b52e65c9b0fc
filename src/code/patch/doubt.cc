#include "code/patch/doubt.h"

#include <linux/perf_event.h>

#include "base/range_table.h"
#include "base/sort.h"
#include "code/decode/shape.h"
#include "code/find/descent.h"
#include "code/sites/atomic_op.h"
#include "code/sites/site_table.h"
#include "memory/backing.h"
#include "sys/memory.h"

// Compiled code leaves no such place (code/find/descent.cc); constants in executable segments leave
// thousands, on pages that are never executed; what Haskell's compiler and hand-written assembly
// leave are a few on a page with code. The processor has four breakpoints. So:
//
// 1. A page with such places is closed: readable, not executable. Constants cost nothing from then
//    on.
// 2. It is executed: it is opened, and each of its places gets a breakpoint. If four do not suffice
//    for this page and those opened before, those are closed again.
// 3. Control comes to a place: it is an instruction, and gets an int3 as other sites have that no
//    jump fits. Its number is this process's own, apart from the others' (kLateSites): other
//    processes come to it at other times.
// 4. A page with more than four places is stepped through, which costs a hundred thousand times as
//    much, and so is done for kMaxSteps instructions at most.
// 5. After that, or if a program goes to and fro between such pages for ever, or if the system
//    gives no breakpoints, the places that are left are taken for constants.
//
// A place is an event from its first execution on, in every process: who finds it when has no part
// in it.

namespace weir::doubt {
namespace {

constexpr uint32_t kMaxPlaces = 1 << 16, kMaxRanges = 2048, kBreakpoints = 4, kMaxEvictions = 32,
                   kMaxSteps = 10'000;
constexpr uint64_t kNear = 8 * kPageSize;  // between two closed pages of one text
// Layout of a place: the number of its text from bit 48 on, its address from bit 1 on, bit 0 for
// kProved.
constexpr uint64_t kProved = 1;
constexpr unsigned kTextShift = 48;

uint64_t g_places[kMaxPlaces];  // by rising addresses, once closed
uint32_t g_place_count = 0;
uint64_t g_text = 0;  // the number of the text that places are added of
Range g_closed[kMaxRanges];
uint32_t g_closed_count = 0;
struct Armed {
  uint64_t address;
  int descriptor;  // -1: the maker's
};
Armed g_armed[kBreakpoints];
uint32_t g_armed_count = 0;
uint32_t g_evictions = 0;
bool g_gives_up = false;  // breakpoints
uint64_t g_walked = 0;    // the page that is stepped through; 0: none
uint64_t g_beside = 0;    // the page after it, open too, since an instruction lies on both
uint32_t g_steps = 0;

constexpr uint64_t address_of(uint64_t place) { return (place << 16) >> 17; }

// The first place at or above `address`.
uint32_t place_from(uint64_t address) {
  uint32_t low = 0, high = g_place_count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (address_of(g_places[middle]) < address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

bool is_closed(uint64_t address) {
  for (uint32_t i = 0; i < g_closed_count; i++) {
    if (g_closed[i].contains(address)) return true;
  }
  return false;
}

bool set(uint64_t page, int protection) { return sys::protect(page, kPageSize, protection) == 0; }

bool arm(uint64_t address) {
  perf_event_attr event{};
  event.type = PERF_TYPE_BREAKPOINT;
  event.size = sizeof event;
  event.bp_type = 4;  // HW_BREAKPOINT_X
  event.bp_addr = address;
  event.bp_len = sizeof(long);
  event.sample_period = 1;
  event.sigtrap = 1;
  event.remove_on_exec = 1;
  event.exclude_kernel = event.exclude_hv = 1;
  const long descriptor = page::open_hidden(SYS_perf_event_open, reinterpret_cast<long>(&event), 0,
                                            -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (sys::failed(descriptor)) return false;
  g_armed[g_armed_count++] = {address, static_cast<int>(descriptor)};
  return true;
}

void disarm(uint32_t index) {
  if (g_armed[index].descriptor >= 0) page::close_hidden(g_armed[index].descriptor);
  g_armed[index] = g_armed[--g_armed_count];
}

void close_watched() {
  while (g_armed_count > 0) {
    set(page_down(g_armed[0].address), PROT_READ);
    disarm(0);
  }
}

bool write_byte(uint64_t address, uint8_t byte) {
  const uint64_t page = page_down(address);
  if (!set(page, PROT_READ | PROT_WRITE | PROT_EXEC) && !set(page, PROT_READ | PROT_WRITE))
    return false;
  *reinterpret_cast<uint8_t*>(address) = byte;
  return set(page, PROT_READ | PROT_EXEC);
}

// Control is at `address`: if that is a place, it is an instruction.
void prove(uint64_t address) {
  const uint32_t at = place_from(address);
  if (at == g_place_count || address_of(g_places[at]) != address || (g_places[at] & kProved))
    return;
  g_places[at] |= kProved;
  Site site;
  const auto* code = reinterpret_cast<const uint8_t*>(address);
  if (!decode_atomic(code, kMaxInstructionSize, address, site.atomic)) return;
  site.kind = SiteKind::kAtomic;
  site.address = site.window = address;
  site.length = site.atomic.length;
  site.is_trap = site.is_late = true;
  site.window_size = 1;
  site.resume = address + site.length;
  site.original[0] = code[0];
  if (add_late_site(site)) write_byte(address, 0xcc);
}

}  // namespace

void begin_text() { g_text++; }

void add(uint64_t address) {
  if (g_place_count < kMaxPlaces) g_places[g_place_count++] = g_text << kTextShift | address << 1;
}

void close_all() {
  sort_by(g_places, g_place_count, address_of);
  g_closed_count = 0;
  uint64_t text = 0;  // of the last range: between two texts lie a library's variables
  for (uint32_t i = 0; i < g_place_count; i++) {
    const uint64_t page = page_down(address_of(g_places[i]));
    const bool is_same_text = g_places[i] >> kTextShift == text;
    Range* last = g_closed_count > 0 && is_same_text ? &g_closed[g_closed_count - 1] : nullptr;
    if (last != nullptr && page < last->limit + kNear) {
      if (last->limit < page + kPageSize) last->limit = page + kPageSize;
    } else if (g_closed_count < kMaxRanges) {
      g_closed[g_closed_count++] = Range{page, page + kPageSize};
      text = g_places[i] >> kTextShift;
    }
  }
  uint32_t left = 0;
  for (uint32_t i = 0; i < g_closed_count; i++) {
    const Range range = g_closed[i];
    if (sys::protect(range.start, range.size(), PROT_READ) == 0) g_closed[left++] = range;
  }
  g_closed_count = left;
}

void open_all() {
  while (g_armed_count > 0) disarm(0);
  for (uint32_t i = 0; i < g_closed_count; i++) {
    sys::protect(g_closed[i].start, g_closed[i].size(), PROT_READ | PROT_EXEC);
  }
}

void keep_only(const Range* texts, uint32_t count) {
  const auto stays = [&](uint64_t address) {
    const uint32_t at = first_above(texts, count, address);
    return at < count && texts[at].contains(address);
  };
  for (uint32_t i = 0; i < late_site_count(); i++) {
    const Site& site = *site_at(kLateSites + i);
    if (site.address == 0 || stays(site.address)) continue;
    if (is_closed(site.address)) write_byte(site.address, site.original[0]);
    forget_late_site(i);
  }
  uint32_t left = 0;
  for (uint32_t i = 0; i < g_place_count; i++) {
    if (stays(address_of(g_places[i]))) g_places[left++] = g_places[i];
  }
  g_place_count = left;
  g_closed_count = 0;
}

void forget(Range range) {
  // Programs change their memory often, and seldom where their libraries lie.
  bool concerns = false;
  if (g_closed_count == 0 || range.limit <= g_closed[0].start ||
      range.start >= g_closed[g_closed_count - 1].limit)
    return;
  for (uint32_t i = 0; i < g_closed_count && !concerns; i++) concerns = g_closed[i].overlaps(range);
  if (!concerns) return;
  for (uint32_t i = g_armed_count; i-- > 0;) {
    if (range.contains(g_armed[i].address)) disarm(i);
  }
  uint32_t left = 0;
  for (uint32_t i = 0; i < g_place_count; i++) {
    if (!range.contains(address_of(g_places[i]))) g_places[left++] = g_places[i];
  }
  g_place_count = left;
  for (uint32_t i = 0; i < late_site_count(); i++) {
    if (range.contains(site_at(kLateSites + i)->address)) forget_late_site(i);
  }
  // What is left of a closed range stays; of one in the middle of which something is gone, the part
  // before it.
  for (uint32_t i = 0; i < g_closed_count; i++) {
    Range& closed = g_closed[i];
    if (!closed.overlaps(range)) continue;
    if (closed.start < range.start) {
      if (range.limit < closed.limit)
        sys::protect(range.limit, closed.limit - range.limit, PROT_READ | PROT_EXEC);
      closed.limit = range.start;
    } else {
      closed.start = range.limit < closed.limit ? range.limit : closed.limit;  // perhaps nothing
    }
  }
}

void begin_process() {
  for (uint32_t i = 0; i < g_armed_count; i++) g_armed[i].descriptor = -1;
  close_watched();
}

bool knows(uint64_t address) {
  const uint32_t at = place_from(address);
  return at < g_place_count && address_of(g_places[at]) == address;
}

Fetch on_fetch(uint64_t address, bool watches) {
  if (!is_closed(address)) return Fetch::kOther;
  const uint64_t page = page_down(address);
  uint32_t open = 0;
  const uint32_t first = place_from(page), limit = place_from(page + kPageSize);
  for (uint32_t i = first; i < limit; i++) open += !(g_places[i] & kProved);
  if (watches && open > 0 && open <= kBreakpoints && !g_gives_up) {
    if (g_armed_count + open > kBreakpoints) {
      close_watched();
      g_gives_up = ++g_evictions == kMaxEvictions;
    }
    for (uint32_t i = first; i < limit && !g_gives_up; i++) {
      if (!(g_places[i] & kProved)) g_gives_up = !arm(address_of(g_places[i]));
    }
  }
  if (!set(page, PROT_READ | PROT_EXEC)) return Fetch::kOther;
  const bool is_many = watches && open > kBreakpoints && g_steps < kMaxSteps;
  if (!is_many) return Fetch::kGoOn;
  g_steps++;
  if (g_walked != 0 && page == g_walked + kPageSize &&
      address == page) {  // with only one of them open it would never be executed
    g_beside = page;
    return Fetch::kWalk;
  }
  end_walk();
  g_walked = page;
  prove(address);
  return Fetch::kWalk;
}

bool walks() { return g_walked != 0; }

void end_walk() {
  if (g_walked != 0 && g_steps < kMaxSteps) set(g_walked, PROT_READ);
  if (g_beside != 0 && g_steps < kMaxSteps) set(g_beside, PROT_READ);
  g_walked = g_beside = 0;
}

bool on_step(uint64_t address) {
  if (page_down(address) == g_walked && ++g_steps < kMaxSteps) {
    prove(address);
    return true;
  }
  end_walk();
  return false;
}

bool on_breakpoint(uint64_t address) {
  for (uint32_t i = 0; i < g_armed_count; i++) {
    if (g_armed[i].address != address) continue;
    disarm(i);
    prove(address);
    return true;
  }
  return false;
}

}  // namespace weir::doubt
