// Invariant: a page is open in this process exactly while it is in the table, or lent to the kernel
// for a call. (checked in insert)

#include "shared_memory/pages.h"

#include "base/hash.h"
#include "memory/program_memory.h"
#include "record/shared_memory.h"
#include "record/stream.h"
#include "shared_memory/exchange.h"
#include "shared_memory/page_order.h"
#include "shared_memory/page_table.h"
#include "sys/memory.h"
#include "sys/report.h"

namespace weir::shared_memory {

Held* g_held = nullptr;
uint32_t g_room = 0, g_used = 0;
uint64_t g_borrowed[2] = {0, 0};

namespace {

using channel::Entry;
using channel::Kind;
using channel::PageKind;

constexpr uint32_t kFirstRoom = 1024;
uint64_t g_taken = 0;
bool g_has_twice = false;  // pages at two addresses, or had them

uint32_t slot_of(uint64_t page) {
  return static_cast<uint32_t>(mix(page / kPageSize) >> 32) & (g_room - 1);
}

}  // namespace

Held* find(uint64_t page) {
  if (!g_room) return nullptr;
  for (uint32_t i = slot_of(page); g_held[i].page; i = (i + 1) & (g_room - 1)) {
    if (g_held[i].page == page) return &g_held[i];
  }
  return nullptr;
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

void insert_also(uint64_t page, uint32_t entry) {
  insert(page, entry);
  g_has_twice = true;
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

void close_page(uint64_t page) {
  const Held* held = find(page);
  if (held) exchange().close(*held);
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

void log_page(Task& task, PageKind kind, uint64_t address) {
  recording::put(task, Entry{Kind::kPage, 0, static_cast<uint16_t>(kind), 0,
                             task.recorded.shared_memory_points, 0, static_cast<int64_t>(address)});
}

void note_given(Task& task, PageKind where, uint64_t page) {
  close_page(page);
  log_page(task, where, page);
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

uint64_t sum_of(const uint64_t* words) {
  uint64_t sum = 1;
  for (uint32_t i = 0; i < kPageSize / 8; i++) sum = mix(sum ^ words[i]) + (sum >> 29);
  return sum | 1;
}

uint64_t sum_at(uint64_t page) {
  uint64_t words[kPageSize / 8];
  return trap::from_program(words, static_cast<long>(page), sizeof words) == 0 ? sum_of(words) : 0;
}

void take_page(Task& task, const Mapping& m, uint64_t page) {
  g_taken++;
  task.recorded.shared_memory_points = 0;
  task.spin.sampled_event = ~uint64_t{0};  // what was seen of a spin was before
  come_by(task);
  exchange().take(task, m, page);
}

void give_if_asked(Task& task) {
  task.recorded.shared_memory_points++;
  come_by(task);
  exchange().give_if_asked(task);
}

bool is_awaited(Task& task) { return exchange().is_awaited(task); }

void give_at_spin(Task& task) { exchange().give_at_spin(task); }

uint64_t taken() { return g_taken; }

}  // namespace weir::shared_memory
