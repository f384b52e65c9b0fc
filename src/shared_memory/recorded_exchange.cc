// A recording: the tasks of all its processes agree by the table of holders who has a page
// (page_table.h), and each task logs what comes to it and what it gives.
//
// What can go wrong: a page behind the end of a file (PageKind::kNoMemory); two addresses of one
// page, which one instruction may need (the task has it at both, and a replay has one page at both
// from then on: PageKind::kTakenAlso); more open pages apart from each other than the kernel allows
// mappings (kMaxHeld).

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "memory/backing.h"
#include "memory/program_memory.h"
#include "record/input.h"
#include "record/shared_memory.h"
#include "record/stream.h"
#include "record/unrecorded.h"
#include "shared_memory/exchange.h"
#include "shared_memory/page_order.h"
#include "shared_memory/page_table.h"
#include "sys/descriptor.h"
#include "sys/maps.h"
#include "sys/memory.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"

namespace weir::shared_memory {
namespace {

using channel::Entry;
using channel::Kind;
using channel::PageKind;

// Each may cost two mappings, of which the kernel allows 65530.
constexpr uint32_t kMaxHeld = 16384;

class Recorded final : public Exchange {
 public:
  uint64_t object_at(uint64_t address) override;
  uint64_t file_of(int descriptor) override;
  bool is_wanted(const MapCall& call) override;
  long map(const MapCall& call) override;
  long map_there(Range range, int protection, int descriptor, uint64_t offset) override {
    return sys::raw(SYS_mmap, static_cast<long>(range.start), static_cast<long>(range.size()),
                    protection, MAP_SHARED | MAP_FIXED, descriptor, static_cast<long>(offset));
  }
  void begin_mapping(Range range) override { page::protect(range.start, range.size(), PROT_NONE); }

  void take(Task& task, const Mapping& m, uint64_t page) override;
  void give(Task& task, uint32_t entry) override { shared_table::give(task, entry); }
  void leave(Task& task) override { shared_table::leave(task); }
  void begin_sleep(Task& task, bool reads) override {
    shared_table::begin_sleep(task,
                              reads ? channel::HolderState::kReads : channel::HolderState::kSleeps);
  }
  void end_sleep(Task& task) override {
    if (shared_table::end_sleep(task)) close_lost(task);
  }
  void close_lost(Task& task) override { note_lost(task, PageKind::kGivenInSleep); }
  void give_if_asked(Task& task) override;
  bool is_awaited(Task& task) override { return shared_table::is_asked(task); }
  void give_at_spin(Task& task) override;
};
constinit Recorded g_recorded;

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

uint64_t number_of(const struct stat& file) {
  return (mix(file.st_dev) ^ file.st_ino) * 0xBF58476D1CE4E5B9 | 1;
}

// Whether it may be written while it is mapped: not a file that is only read. One that another
// process has mapped to write to it may. If that comes later, it is said that what they tell each
// other is not recorded.
bool may_be_written(const MapCall& call) {
  const long type = call.flags & MAP_TYPE;
  if ((type != MAP_SHARED && type != MAP_SHARED_VALIDATE) || (call.flags & MAP_HUGETLB))
    return false;
  if (call.flags & MAP_ANONYMOUS) return true;
  struct stat status {};
  struct statfs system {};
  if (sys::raw(SYS_fstat, call.descriptor, reinterpret_cast<long>(&status)) != 0) return false;
  if (!S_ISREG(status.st_mode)) return sys::is_zero_device(call.descriptor);
  if (sys::raw(SYS_fstatfs, call.descriptor, reinterpret_cast<long>(&system)) != 0 ||
      system.f_type == HUGETLBFS_MAGIC)
    return false;
  const uint64_t file = number_of(status);
  const bool may_be = (call.protection & PROT_WRITE) || system.f_type == TMPFS_MAGIC ||
                      shared_table::is_tracked(file) || is_open_to_write(status);
  if (!may_be) return shared_table::note_reader(file), false;
  shared_table::note_tracked(file);
  if (shared_table::has_other_reader(file)) recording::note_untracked(call.descriptor);
  return true;
}

uint64_t Recorded::object_at(uint64_t address) {
  sys::MapLine line;
  if (!look_up(address, line)) return 0;
  const uint64_t kind =
      starts_with(line.name, "/SYSV") ? 0x5ca1ab1e : 0;  // their inodes are numbered apart
  return (mix(line.device ^ kind) ^ line.inode) * 0xBF58476D1CE4E5B9 | 1;
}

uint64_t Recorded::file_of(int descriptor) {
  struct stat status {};
  if (descriptor < 0 || sys::raw(SYS_fstat, descriptor, reinterpret_cast<long>(&status)) != 0)
    return 0;
  return number_of(status);
}

bool Recorded::is_wanted(const MapCall& call) {
  return input::log_number(input::What::kShared, may_be_written(call)) != 0;
}

long Recorded::map(const MapCall& call) {
  const long result =
      sys::raw(SYS_mmap, call.address, static_cast<long>(call.size), call.protection,
               call.flags & ~long{MAP_POPULATE}, call.descriptor, static_cast<long>(call.offset));
  return input::log_number(input::What::kShared, result);
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

void Recorded::take(Task& task, const Mapping& m, uint64_t page) {
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
  bool lost = shared_table::was_taken_from(task);
  if (task.recorded.shared_memory_sleeps)  // the runtime looks at it in the middle of a wait
    lost = shared_table::end_sleep(task) || lost;
  if (lost) note_lost(task, PageKind::kGivenAtAccess);
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
  if (other) {
    insert_also(page, index);
    const Entry entry{Kind::kPage,
                      0,
                      static_cast<uint16_t>(PageKind::kTakenAlso),
                      sizeof other,
                      task.recorded.shared_memory_points,
                      0,
                      static_cast<int64_t>(page)};
    return recording::put(task, entry, &other);
  }
  insert(page, index);
  const uint64_t sum = shared_table::take_sum(index);
  uint64_t words[kPageSize / 8];
  if (trap::from_program(words, static_cast<long>(page), sizeof words) != 0) {
    find(page)->is_nothing = 1;
    return log_page(task, PageKind::kNoMemory, page);
  }
  if (sum && sum != sum_of(words)) recording::note_stranger(page);
  uint32_t first = 0, limit = kPageSize / 8;
  while (limit && !words[limit - 1]) limit--;
  while (first < limit && !words[first]) first++;
  const uint32_t size = (limit - first) * 8;
  const auto at = static_cast<int64_t>(page + uint64_t{first} * 8);
  const Entry entry{Kind::kPage,
                    0,
                    static_cast<uint16_t>(PageKind::kTaken),
                    uint32_t{sizeof previous_holder} + size,
                    task.recorded.shared_memory_points,
                    0,
                    at};
  recording::put(task, entry, &previous_holder, words + first, sizeof previous_holder);
}

[[maybe_unused]] bool has_all_held(Task& task) {
  bool has_all = true;
  each_held([&](const Held& held) { has_all &= shared_table::has(task, held.entry); });
  return has_all;
}

void Recorded::give_if_asked(Task& task) {
  // Invariants 2 of shared_page_table.h, 1 of shared_memory.h.
  WEIR_DEBUG_CHECK(has_all_held(task));
  if (shared_table::is_asked(task)) give_requested(task, PageKind::kGivenAtEnd);
}

void Recorded::give_at_spin(Task& task) { give_requested(task, PageKind::kGivenAtSpin); }

}  // namespace

Exchange& recorded_exchange() { return g_recorded; }

}  // namespace weir::shared_memory
