// Which memory of this kind the process has mapped; pages.cc has which of its pages are its task's.
// All of this is private to the process. A forked child's copy of it is right except for the pages,
// which it gives up at once.
//
// In a replay the mapping is memory of this process's own, empty at first. It is filled where the
// recorded task was given a page.
//
// What can go wrong: the kernel accesses a page that the task does not have (touch() and lend()
// before every call); a page that others take meanwhile stays mapped until the call is over
// (end_sleep()).

#include "record/shared_memory.h"

#include <errno.h>
#include <sys/mman.h>

#include "control/control.h"
#include "memory/backing.h"
#include "memory/program_memory.h"
#include "record/input.h"
#include "record/stream.h"
#include "record/unrecorded.h"
#include "shared_memory/exchange.h"
#include "shared_memory/page_order.h"
#include "shared_memory/page_table.h"
#include "shared_memory/pages.h"
#include "sys/memory.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"

namespace weir::shared_memory {

bool g_active = false;

namespace {

using channel::PageKind;

constexpr uint32_t kMaxMappings = 4096;

constinit Mapping g_mappings[kMaxMappings] = {};
uint32_t g_count = 0;
bool g_has_files = false;  // mappings of files, or had them
bool g_reads = false;      // the kernel reads such memory in the call that is being made
bool g_touches = false;    // or writes it
constexpr uint32_t kMaxWatched = 16;
struct {
  uint64_t page, sum;
} g_watch[kMaxWatched];  // pages of files before the call
uint32_t g_watched = 0;

Mapping* mapping_of(uint64_t address) {
  for (uint32_t i = 0; i < g_count; i++) {
    if (g_mappings[i].range.contains(address)) return &g_mappings[i];
  }
  return nullptr;
}

void add(const Mapping& mapping) {
  if (g_count == kMaxMappings) {
    report(
        "the program maps more than %u pieces of shared memory: a recording has no room for more",
        uint64_t{kMaxMappings});
    die(125);
  }
  g_mappings[g_count++] = mapping;
}

// Pieces of mappings that lie in the range become mappings of their own; `act` of each.
template <typename Act>
void each_piece(Range range, Act act) {
  for (uint32_t i = 0; i < g_count;) {
    const Mapping m = g_mappings[i];
    if (!m.range.overlaps(range)) {
      i++;
      continue;
    }
    const uint64_t start = m.range.start > range.start ? m.range.start : range.start;
    const uint64_t limit = m.range.limit < range.limit ? m.range.limit : range.limit;
    if (start == m.range.start && limit == m.range.limit) {
      if (act(g_mappings[i])) i++;
      else g_mappings[i] = g_mappings[--g_count];
      continue;
    }
    if (limit < m.range.limit)
      add({{limit, m.range.limit},
           m.object,
           m.file,
           m.offset + limit - m.range.start,
           m.protection,
           0});
    if (start > m.range.start)
      add({{m.range.start, start}, m.object, m.file, m.offset, m.protection, 0});
    g_mappings[i] = {{start, limit}, m.object, m.file, m.offset + start - m.range.start,
                     m.protection,   0};
  }
}

// Of what lies in the range, all but the task's pages.
void close_within(Range range) {
  for (uint32_t i = 0; i < g_count; i++) {
    const Range& own = g_mappings[i].range;
    const uint64_t start = own.start > range.start ? own.start : range.start;
    const uint64_t limit = own.limit < range.limit ? own.limit : range.limit;
    if (start < limit) page::protect(start, limit - start, PROT_NONE);
  }
  each_held([&](const Held& held) {
    const Mapping* m = range.contains(held.page) ? mapping_of(held.page) : nullptr;
    if (m) page::protect(held.page, kPageSize, m->protection);
  });
}

void remember(Range range, int protection, uint64_t object, uint64_t offset, uint64_t file = 0) {
  on_unmap(range.start, range.size());
  page::protect(range.start, range.size(), PROT_NONE);
  add({range, object, file, offset, protection, 0});
  g_active = true;
  g_has_files |= file != 0;
  shared().in_place_process.closed = 1;  // what this process has mapped, that one has not
}

}  // namespace

bool on_fault(Task& task, uint64_t address, bool writes) {
  const Mapping* m = mapping_of(address);
  const uint64_t page = page_down(address);
  if (!m || find(page)) return false;
  const int needed = writes ? PROT_WRITE : PROT_READ | PROT_WRITE | PROT_EXEC;
  if (!(m->protection & needed)) return false;
  take_page(task, *m, page);
  return true;
}

void close_again() { close_within({0, ~uint64_t{0}}); }

void touch(Task& task, uint64_t start, uint64_t size, bool reads) {
  if (!size || start + size < start) return;
  for (uint64_t page = page_down(start); page < start + size; page += kPageSize) {
    const Mapping* m = mapping_of(page);
    if (!m) {  // to the next one
      uint64_t next = ~uint64_t{0};
      for (uint32_t i = 0; i < g_count; i++) {
        if (g_mappings[i].range.start > page && g_mappings[i].range.start < next)
          next = g_mappings[i].range.start;
      }
      if (next >= start + size) return;
      page = next - kPageSize;
      continue;
    }
    g_reads |= reads;
    g_touches = true;
    if (!find(page) && m->protection) take_page(task, *m, page);
  }
}

void lend(uint64_t first, uint64_t second) {
  const uint64_t words[2] = {first, second};
  for (int i = 0; i < 2; i++) {
    const uint64_t page = page_down(words[i]);
    const Mapping* m = words[i] ? mapping_of(page) : nullptr;
    g_borrowed[i] = m ? page : 0;
    if (m && !find(page)) page::protect(page, kPageSize, m->protection);
  }
}

void end_lending() {
  for (uint64_t& page : g_borrowed) {
    if (page && !find(page)) page::protect(page, kPageSize, PROT_NONE);
    page = 0;
  }
}

void begin_call() {
  g_watched = 0;
  if (!g_has_files || g_used > kMaxWatched) return;
  each_held([&](const Held& held) {
    const Mapping* m = mapping_of(held.page);
    if (m && m->file) g_watch[g_watched++] = {held.page, sum_at(held.page)};
  });
}

void end_call(Task& task) {
  task.recorded.shared_memory_points++;  // as the event's end does, where a replay looks
  for (uint32_t i = 0; i < g_watched; i++) {
    const Held* held = find(g_watch[i].page);
    if (!held || !shared_table::has(task, held->entry) || sum_at(held->page) == g_watch[i].sum)
      continue;
    if (!g_touches) recording::note_stranger(held->page);
    shared_table::give(task, held->entry);
    note_all_given(task, PageKind::kGivenAtEnd, held->entry);
  }
  task.recorded.shared_memory_points--;
  g_reads = g_touches = false;
  g_watched = 0;
}

void begin_sleep(Task& task) {
  if (task.recorded.shared_memory_sleeps++) return;
  come_by(task);
  exchange().begin_sleep(task, g_reads);
}

void end_sleep(Task& task) {
  if (!task.recorded.shared_memory_sleeps || --task.recorded.shared_memory_sleeps) return;
  task.recorded.shared_memory_points++;
  exchange().end_sleep(task);
}

void begin_borrowing(Task& task) {
  if (!g_active) return;
  come_by(task);
  each_held([&](const Held& held) {
    exchange().give(task, held.entry);
    close_page(held.page);
  });
  begin_sleep(task);
}

void end_borrowing(Task& task) {
  if (!g_active) return;
  end_sleep(task);
  exchange().close_lost(task);
}

bool map(long address, uint64_t size, int protection, long flags, int descriptor, uint64_t offset,
         long& result) {
  const MapCall call{address, size, protection, flags, descriptor, offset};
  if (!exchange().is_wanted(call)) return false;
  result = exchange().map(call);
  if (sys::failed(result)) return true;
  const auto start = static_cast<uint64_t>(result);
  remember({start, start + page_up(size)}, protection, exchange().object_at(start), offset,
           exchange().file_of(descriptor));
  return true;
}

bool repeat(Range range, int protection, int descriptor, uint64_t offset) {
  const auto start = static_cast<long>(range.start);
  if (exchange().map_there(range, protection, descriptor, offset) != start) return false;
  remember(range, protection, exchange().object_at(range.start), offset,
           exchange().file_of(descriptor));
  return true;
}

void attach(Range range, int protection, bool replaces) {
  exchange().attach(range, replaces);
  remember(range, protection, exchange().object_at(range.start), 0);
}

bool repeat_attach(Range range, int protection, long segment) {
  const auto start = static_cast<long>(range.start);
  if (exchange().attach_there(range, protection, segment) != start) return false;
  if (input::is_on()) remember(range, protection, exchange().object_at(range.start), 0);
  return true;
}

uint64_t size_at(uint64_t address) {
  sys::MapLine line;
  return look_up(address, line) ? line.range.size() : 0;
}

Range mapping_at(uint64_t address) {
  Range found{};
  for (uint32_t i = 0; i < g_count; i++) {  // perhaps in several pieces, the first unmapped
    const Mapping& m = g_mappings[i];
    if (m.file || m.range.start - address != m.offset) continue;
    if (found.empty()) found = m.range;
    if (m.range.start < found.start) found.start = m.range.start;
    if (m.range.limit > found.limit) found.limit = m.range.limit;
  }
  return found;
}

void on_unmap(uint64_t start, uint64_t size) {
  if (!g_active) return;
  const Range range{start, start + page_up(size)};
  each_held([&](const Held& held) {
    if (!range.contains(held.page)) return;
    if (is_last(held)) exchange().give(self(), held.entry);
    erase(held.page);
  });
  each_piece(range, [](Mapping&) { return false; });
}

bool overlaps(uint64_t start, uint64_t size) {
  for (uint32_t i = 0; i < g_count; i++) {
    if (g_mappings[i].range.overlaps({start, start + page_up(size)})) return true;
  }
  return false;
}

void on_protect(uint64_t start, uint64_t size, int protection) {
  const Range range{start, start + page_up(size)};
  each_piece(range, [&](Mapping& m) {
    m.protection = protection;
    return true;
  });
  close_within(range);
}

void on_move(Range from, Range to) {
  const Mapping* m = mapping_of(from.start);
  if (!m) return;
  const uint64_t object = m->object, file = m->file,
                 offset = m->offset + from.start - m->range.start;
  const int protection = m->protection;
  if (!from.empty()) on_unmap(from.start, from.size());
  exchange().move(from, to);
  remember(to, protection, object, offset, file);
}

void before_file_change(Task& task, long descriptor, Range bytes) {
  using input::What;
  const uint64_t file = exchange().file_of(static_cast<int>(descriptor));
  const auto is_anothers = [&](const Mapping& m, uint64_t page) {
    return !find(page) && m.protection &&
           shared_table::is_held(m.object, (m.offset + page - m.range.start) / kPageSize);
  };
  uint32_t i = 0;
  uint64_t page = 0;
  const auto find_next = [&] {
    for (; i < g_count; i++, page = 0) {
      const Mapping& m = g_mappings[i];
      if (!file || m.file != file || bytes.limit <= m.offset) continue;
      const uint64_t first = bytes.start > m.offset ? page_down(bytes.start - m.offset) : 0;
      if (page < m.range.start + first) page = m.range.start + first;
      for (; page < m.range.limit && page - m.range.start < bytes.limit - m.offset;
           page += kPageSize)
        if (is_anothers(m, page)) return true;
    }
    return false;
  };
  while (input::log_if(What::kShared, find_next)) {
    page = static_cast<uint64_t>(input::log_number(What::kShared, static_cast<int64_t>(page)));
    touch(task, page, kPageSize, false);
  }
}

void on_file_change(Task& task, long descriptor) {
  bool has_files = false;
  for (uint32_t i = 0; i < g_count; i++) has_files |= g_mappings[i].file != 0;
  const uint64_t file = has_files ? exchange().file_of(static_cast<int>(descriptor)) : 0;
  if (!file) return;
  task.recorded.shared_memory_points++;  // as the event's end does, where a replay looks
  each_held([&](const Held& held) {
    const Mapping* m = mapping_of(held.page);
    if (!m || m->file != file) return;
    note_given(task, PageKind::kGivenAtEnd, held.page);
    shared_table::give(task, held.entry);
  });
  task.recorded.shared_memory_points--;
}

void give_range(uint64_t start, uint64_t size) {
  come_by(self());
  const Range range{start, start + page_up(size)};
  each_held([&](const Held& held) {
    if (range.contains(held.page)) exchange().give(self(), held.entry);
  });
  close_held(range);
}

void begin_process(Task& task) {
  if (!g_active) return;
  task.recorded.shared_memory_sleeps = 0;
  shared().in_place_process.closed = 1;
  exchange().leave(task);
  for (uint32_t i = 0; i < g_count; i++) exchange().begin_mapping(g_mappings[i].range);
  each_held([&](const Held& held) { erase(held.page); });
  g_reads = g_touches = false;
  g_watched = 0;
}

void exit(Task& task) {
  constexpr uint32_t kMax = 2048;
  uint64_t node = 0, offset = 0, held = 0;
  const auto read = [](uint64_t& to, uint64_t from) {
    return trap::from_program(to, static_cast<long>(from)) == 0;
  };
  const auto touch_word = [&](uint64_t at) {
    touch(task, (at & ~uint64_t{1}) + offset, sizeof(uint32_t), false);
  };
  const uint64_t head = task.identity.robust_list;
  if (!head || !read(node, head) || !read(offset, head + 8) || !read(held, head + 16))
    return leave(task);
  if (node == head && !held) return leave(task);
  if (held) touch_word(held);
  for (uint32_t i = 0; i < kMax && (node & ~uint64_t{1}) != head && node; i++) {
    touch_word(node);
    if (!read(node, node & ~uint64_t{1})) break;
  }
}

void leave(Task& task) {
  come_by(task);
  exchange().leave(task);
}

}  // namespace weir::shared_memory
