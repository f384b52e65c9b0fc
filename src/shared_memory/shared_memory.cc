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
#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include "base/bytes.h"
#include "control/control.h"
#include "memory/backing.h"
#include "memory/program_memory.h"
#include "record/input.h"
#include "record/stream.h"
#include "record/unrecorded.h"
#include "shared_memory/page_order.h"
#include "shared_memory/page_table.h"
#include "shared_memory/pages.h"
#include "sys/descriptor.h"
#include "sys/maps.h"
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
bool g_reads = false;    // the kernel reads such memory in the call that is being made
bool g_touches = false;  // or writes it
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

// Whether a descriptor of this process writes to the file.
bool is_open_to_write(const struct stat& file) {
  constexpr int kMostLookedAt = 1024;
  for (int descriptor = 0; descriptor < kMostLookedAt; descriptor++) {
    const long flags = sys::raw(SYS_fcntl, descriptor, F_GETFL);
    struct stat status {};
    if (!sys::failed(flags) && (flags & O_ACCMODE) != O_RDONLY &&
        sys::raw(SYS_fstat, descriptor, reinterpret_cast<long>(&status)) == 0 &&
        status.st_ino == file.st_ino && status.st_dev == file.st_dev)
      return true;
  }
  return false;
}

// Whether it may be written while it is mapped: not a file that is only read.
bool is_wanted(int protection, long flags, int descriptor) {
  const long type = flags & MAP_TYPE;
  if ((type != MAP_SHARED && type != MAP_SHARED_VALIDATE) || (flags & MAP_HUGETLB)) return false;
  if (flags & MAP_ANONYMOUS) return true;
  struct stat status {};
  struct statfs system {};
  if (sys::raw(SYS_fstat, descriptor, reinterpret_cast<long>(&status)) != 0) return false;
  if (!S_ISREG(status.st_mode)) return sys::is_zero_device(descriptor);
  if (sys::raw(SYS_fstatfs, descriptor, reinterpret_cast<long>(&system)) != 0 ||
      system.f_type == HUGETLBFS_MAGIC)
    return false;
  return (protection & PROT_WRITE) || system.f_type == TMPFS_MAGIC || is_open_to_write(status);
}

// Of the mapping at the address, as the kernel has it.
bool look_up(uint64_t address, sys::MapLine& line) {
  page::LimitLifted descriptors(RLIMIT_NOFILE);
  return sys::find_map_line(address, &line);
}

// Replaying, these two know of none: each process has its own memory.
uint64_t object_at(uint64_t address) {
  sys::MapLine line;
  if (input::replaying() || !look_up(address, line)) return 0;
  const uint64_t kind =
      starts_with(line.name, "/SYSV") ? 0x5ca1ab1e : 0;  // their inodes are numbered apart
  return (mix(line.device ^ kind) ^ line.inode) * 0xBF58476D1CE4E5B9 | 1;
}

uint64_t file_of(int descriptor) {
  struct stat status {};
  if (input::replaying() || descriptor < 0 ||
      sys::raw(SYS_fstat, descriptor, reinterpret_cast<long>(&status)) != 0)
    return 0;
  return (mix(status.st_dev) ^ status.st_ino) * 0xBF58476D1CE4E5B9 | 1;
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
  if (!input::recording() || g_used > kMaxWatched) return;
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
  if (input::recording())
    shared_table::begin_sleep(
        task, g_reads ? channel::HolderState::kReads : channel::HolderState::kSleeps);
}

void end_sleep(Task& task) {
  if (!task.recorded.shared_memory_sleeps || --task.recorded.shared_memory_sleeps) return;
  task.recorded.shared_memory_points++;
  if (input::replaying()) return give_as_recorded(task, PageKind::kGivenInSleep);
  if (shared_table::end_sleep(task)) note_lost(task, PageKind::kGivenInSleep);
}

void begin_borrowing(Task& task) {
  if (!g_active) return;
  come_by(task);
  each_held([&](const Held& held) {
    if (input::recording()) shared_table::give(task, held.entry);
    close_page(held.page);
  });
  begin_sleep(task);
}

void end_borrowing(Task& task) {
  if (!g_active) return;
  end_sleep(task);
  if (input::recording()) note_lost(task, PageKind::kGivenInSleep);
}

bool map(long address, uint64_t size, int protection, long flags, int descriptor, uint64_t offset,
         long& result) {
  if (!input::is_on()) return false;
  const bool is_replayed = input::replaying();
  if (!input::log_value(input::What::kShared,
                        [&] { return is_wanted(protection, flags, descriptor); }))
    return false;
  if (is_replayed) {
    result = input::log_number(input::What::kShared, 0);
    if (sys::failed(result)) return true;
    const long at = map_own(static_cast<uint64_t>(result), page_up(size),
                            flags & MAP_FIXED ? MAP_FIXED : MAP_FIXED_NOREPLACE);
    if (at != result) {
      report("the replay cannot map shared memory where the recording had it, at %x (it got %x)",
             static_cast<uint64_t>(result), static_cast<uint64_t>(at));
      die(125);
    }
  } else {
    result = sys::raw(SYS_mmap, address, static_cast<long>(size), protection,
                      flags & ~long{MAP_POPULATE}, descriptor, static_cast<long>(offset));
    input::log_number(input::What::kShared, result);
    if (sys::failed(result)) return true;
  }
  const auto start = static_cast<uint64_t>(result);
  remember({start, start + page_up(size)}, protection, object_at(start), offset,
           file_of(descriptor));
  return true;
}

bool repeat(Range range, int protection, int descriptor, uint64_t offset) {
  const auto start = static_cast<long>(range.start);
  const long at = input::replaying()
                      ? map_own(range.start, range.size(), MAP_FIXED)
                      : sys::raw(SYS_mmap, start, static_cast<long>(range.size()), protection,
                                 MAP_SHARED | MAP_FIXED, descriptor, static_cast<long>(offset));
  if (at != start) return false;
  remember(range, protection, object_at(range.start), offset, file_of(descriptor));
  return true;
}

void attach(Range range, int protection, bool replaces) {
  if (input::replaying() &&
      map_own(range.start, range.size(), replaces ? MAP_FIXED : MAP_FIXED_NOREPLACE) !=
          static_cast<long>(range.start)) {
    report("the replay cannot map shared memory where the recording had it, at %x", range.start);
    die(125);
  }
  remember(range, protection, object_at(range.start), 0);
}

bool repeat_attach(Range range, int protection, long segment) {
  const auto start = static_cast<long>(range.start);
  const long at = input::replaying()
                      ? map_own(range.start, range.size(), MAP_FIXED)
                      : sys::raw(SYS_shmat, segment, start,
                                 SHM_REMAP | (protection & PROT_WRITE ? 0 : SHM_RDONLY));
  if (at != start) return false;
  if (input::is_on()) remember(range, protection, object_at(range.start), 0);
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
    if (input::recording() && is_last(held)) shared_table::give(self(), held.entry);
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
  if (input::replaying()) {
    if (!from.empty()) sys::unmap(from.start, from.size());
    map_own(to.start, to.size(), MAP_FIXED);
  }
  remember(to, protection, object, offset, file);
}

void before_file_change(Task& task, long descriptor, Range bytes) {
  using input::What;
  const uint64_t file = file_of(static_cast<int>(descriptor));
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
  const uint64_t file = has_files ? file_of(static_cast<int>(descriptor)) : 0;
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
    if (range.contains(held.page) && input::recording()) shared_table::give(self(), held.entry);
  });
  close_held(range);
}

void begin_process(Task& task) {
  if (!g_active) return;
  task.recorded.shared_memory_sleeps = 0;
  shared().in_place_process.closed = 1;
  if (input::recording()) shared_table::leave(task);
  for (uint32_t i = 0; i < g_count; i++) {
    const Range& range = g_mappings[i].range;
    if (input::replaying())
      map_own(range.start, range.size(),
              MAP_FIXED);  // the maker of this process goes on with its own
    else page::protect(range.start, range.size(), PROT_NONE);
  }
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
  if (input::recording()) shared_table::leave(task);
}

}  // namespace weir::shared_memory
