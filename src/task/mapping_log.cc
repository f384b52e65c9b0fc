// A ring of records in shared memory. Every process entry, busy or idle, has its own place in it; a
// record's descriptor is closed by the last process that applies it.
//
// Invariants
// 1. Records are appended under the turn, and applied by a process before it runs program code
//    again, so a process in program code is always up to date. (checked in publish)
// 2. `waiting` counts the entries that still have to apply a record; entries made later start at
//    the end. (checked in apply_mappings)
// 3. An entry that is about to be overtaken applies what it has missed where it stands: under a
// turn
//    all others are asleep in the runtime, busy ones with the probe signal open
//    (signal/signals.cc), idle ones on entry.go. (checked in publish)

#include "task/mapping_log.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/bytes.h"
#include "code/patch/doubt.h"
#include "code/patch/patch.h"
#include "code/program/text_patches.h"
#include "code/translate/counted.h"
#include "code/translate/seek.h"
#include "control/process.h"
#include "memory/backing.h"
#include "memory/closed_pages.h"
#include "memory/code/executed.h"
#include "memory/file_bytes.h"
#include "record/input.h"
#include "record/shared_memory.h"
#include "signal/signals.h"
#include "sys/futex.h"
#include "sys/maps.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"
#include "task/profile.h"
#include "view/view.h"

namespace weir::runtime {

namespace {

// A task without memory that the others have would go wrong later, and nobody would know why.
[[noreturn]] void cannot_repeat(const MappingRecord& r, long error) {
  report("cannot repeat a mapping of another task at %x (error %d)%s", r.start, int64_t{error},
         sys::has_most_maps() ? ": there are as many as the kernel allows (vm.max_map_count)" : "");
  die(125);
}

// What has been translated of the text (src/code/translate) must be translated again, or not at
// all.
void note_change_of_text(const MappingRecord& r, bool is_author) {
  if (r.kind == MappingKind::kSigaction || r.kind == MappingKind::kProfile) return;
  if (r.kind != MappingKind::kPatchText) {
    if (!is_author) page::executed::close({r.start, r.start + page_up(r.size)});
    doubt::forget(Range{r.start, r.start + page_up(r.size)});
    doubt_patches(Range{r.start, r.start + page_up(r.size)});
    translate::on_mapping(Range{r.start, r.start + page_up(r.size)}, is_author);
  } else {
    translate::on_patched_text(is_author);
  }
}

// Of `protection` pages, to `offset`, where it has `size` bytes (syscall/memory/remap.cc).
void repeat_move(const MappingRecord& r) {
  const uint64_t old_size = static_cast<uint64_t>(r.protection) * kPageSize;
  const bool is_shared_memory = shared_memory::overlaps(r.start, old_size ? old_size : kPageSize);
  if (is_shared_memory) shared_memory::give_range(r.start, old_size ? old_size : kPageSize);
  if (!is_shared_memory || !input::replaying()) {
    const bool stays = r.offset == r.start;
    page::closed::open_as_asked(r.start, old_size);
    if (r.flags != kAsItIs) {  // some pages of it may be open
      page::executed::close({r.start, r.start + old_size});
      page::protect(r.start, old_size, r.flags);
    }
    const long flags = stays ? 0 : MREMAP_MAYMOVE | MREMAP_FIXED;
    const long to = sys::raw(SYS_mremap, static_cast<long>(r.start), static_cast<long>(old_size),
                             static_cast<long>(r.size), flags, static_cast<long>(r.offset));
    if (sys::failed(to)) cannot_repeat(r, -to);
    page::closed::note_mapped(r.offset, r.size);
  }
  if (is_shared_memory)
    shared_memory::on_move({r.start, r.start + old_size}, {r.offset, r.offset + r.size});
}

void apply(const MappingRecord& r) {
  note_change_of_text(r, false);
  switch (r.kind) {
    case MappingKind::kMapFile: {
      shared_memory::on_unmap(r.start, r.size);
      long at = sys::raw(SYS_mmap, static_cast<long>(r.start), static_cast<long>(r.size),
                         r.protection, r.flags, r.descriptor, static_cast<long>(r.offset));
      if (sys::failed(at)) cannot_repeat(r, -at);
      page::closed::note_mapped(r.start, r.size);
      if (r.protection & PROT_EXEC) forget_text(Range{r.start, r.start + r.size});
      break;
    }
    case MappingKind::kMapSharedMemory:
      if (!shared_memory::repeat({r.start, r.start + r.size}, r.protection, r.descriptor, r.offset))
        cannot_repeat(r, ENOMEM);
      break;
    case MappingKind::kAttachSharedMemory:
      if (!shared_memory::repeat_attach({r.start, r.start + r.size}, r.protection,
                                        static_cast<long>(r.offset)))
        cannot_repeat(r, ENOMEM);
      break;
    case MappingKind::kMapBacking:
      shared_memory::on_unmap(r.start, r.size);
      if (!page::map_private(r.start, r.size, r.offset, r.protection)) cannot_repeat(r, ENOMEM);
      if (!g_is_in_place_process) view::current().track(r.start, r.size);
      break;
    case MappingKind::kReserve:
      shared_memory::on_unmap(r.start, r.size);
      if (sys::failed(sys::raw(SYS_mmap, static_cast<long>(r.start), static_cast<long>(r.size),
                               PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
                               -1, 0))) {
        cannot_repeat(r, ENOMEM);
      }
      break;
    case MappingKind::kUnmap:
      sys::raw(SYS_munmap, static_cast<long>(r.start), static_cast<long>(r.size));
      shared_memory::on_unmap(r.start, r.size);
      break;
    case MappingKind::kProtect:
      page::protect(r.start, r.size, r.protection);
      if (shared_memory::overlaps(r.start, r.size))
        shared_memory::on_protect(r.start, r.size, r.protection);
      break;
    case MappingKind::kMove: repeat_move(r); break;
    case MappingKind::kPatchText: patch_new_text(); break;
    case MappingKind::kProfile: tasks::arm_profiles(); break;
    case MappingKind::kSigaction: trap::install(r.protection); break;
  }
}

uint64_t lag_of(uint32_t process) {
  const Shared& s = shared();
  if (process == g_process ||
      __atomic_load_n(&s.processes.entries[process].pid, __ATOMIC_ACQUIRE) == 0)
    return 0;
  return s.mapping_log.sequence -
         __atomic_load_n(&s.processes.entries[process].mapping_sequence, __ATOMIC_ACQUIRE);
}

// Where an entry lags behind by more than `too_far`: until none does by more than `far`.
void catch_up(uint64_t too_far, uint64_t far) {
  Shared& s = shared();
  constexpr uint64_t kMaxWaitNs = 10'000'000'000, kPokeIntervalNs = 20'000'000;
  bool needed = false;
  for (uint32_t p = 0; p < s.processes.high && !needed; p++) needed = lag_of(p) > too_far;
  if (!needed) return;
  __atomic_fetch_add(&s.mapping_log.catch_up, 1u, __ATOMIC_SEQ_CST);
  uint64_t least = ~uint64_t{0}, poked = 0;
  for (uint64_t progress = sys::monotonic_ns();;) {
    uint64_t total = 0;
    uint32_t laggard = 0;
    const uint64_t now = sys::monotonic_ns();
    const bool poke = now - poked >= kPokeIntervalNs;
    for (uint32_t p = 0; p < s.processes.high; p++) {
      const uint64_t lag = lag_of(p);
      if (lag <= far) continue;
      total += lag;
      laggard = p;
      ProcessEntry& entry = s.processes.entries[p];
      if (!poke) continue;
      if (entry.idle) {
        __atomic_store_n(&entry.go, kGoCatchUp, __ATOMIC_RELEASE);
        sys::futex_wake(&entry.go);
      } else if (entry.pid > 0) {  // else it is being made
        sys::raw(SYS_tkill, entry.pid, sys::g_probe_signal);
      }
    }
    if (poke) poked = now;
    if (total == 0) break;
    if (total < least) {
      least = total;
      progress = now;
    }
    if (now - progress > kMaxWaitNs) {
      const ProcessEntry& entry = s.processes.entries[laggard];
      report("changes of memory wait for process %d (task %u) to repeat them, and it does not",
             int64_t{entry.pid}, uint64_t{entry.task});
      die(125);
    }
    sys::raw(SYS_sched_yield);
  }
  __atomic_fetch_sub(&s.mapping_log.catch_up, 1u, __ATOMIC_SEQ_CST);
}

// The private mapping that `address` lies in, of which no byte is the backing's. Empty: there is
// none before `beyond`.
Range private_mapping(uint64_t address, Range within, int& protection, bool& is_anonymous,
                      uint64_t& beyond, FileSource& source, uint64_t& offset) {
  page::LimitLifted descriptors(RLIMIT_NOFILE);
  beyond = within.limit;
  char* maps;
  if (sys::read_maps(&maps) < 0) return {};
  sys::MapLine line;
  for (char* cursor = maps; (cursor = sys::next_map_line(cursor, &line));) {
    if (line.range.limit <= address) continue;
    const bool is_hole = line.range.start > address;
    beyond = is_hole ? line.range.start : line.range.limit;
    if (is_hole) return {};
    if (line.shared || (line.name[0] == '[' && !starts_with(line.name, "[anon:")))
      return {};  // named by prctl
    protection = (line.readable ? PROT_READ : 0) | (line.writable ? PROT_WRITE : 0) |
                 (line.executable ? PROT_EXEC : 0);
    is_anonymous = line.name[0] != '/';
    if (!is_anonymous && !starts_with(line.name, "/dev/")) source = page::source_of(line);
    offset = line.offset - line.range.start;
    if (is_anonymous && line.readable)
      return line.range;  // as a whole: the next page of it may be next
    Range part = line.range;
    if (part.start < within.start) part.start = within.start;
    if (part.limit > within.limit) part.limit = within.limit;
    return part;
  }
  return {};
}

}  // namespace

void let_all_catch_up() { catch_up(0, 0); }

namespace {

void publish(MappingRecord record) {
  Shared& s = shared();
  note_change_of_text(record, true);
  catch_up(kMappingRecords / 2,
           kMappingRecords /
               4);  // long before the ring comes round to a record that an entry still needs
  SpinGuard guard(s.processes.lock);
  uint32_t others = 0;
  uint64_t oldest = s.mapping_log.sequence;
  for (uint32_t p = 0; p < s.processes.high; p++) {
    if (s.processes.entries[p].pid == 0 || p == g_process) continue;
    others++;
    if (s.processes.entries[p].mapping_sequence < oldest)
      oldest = s.processes.entries[p].mapping_sequence;
  }
  WEIR_CHECK(s.mapping_log.sequence - oldest < kMappingRecords);  // invariant 3 of mapping_log.cc
  // Invariant 1 of mapping_log.cc; but a stack, for a task that is made without a turn.
  WEIR_DEBUG_CHECK(s.order.turn == self().id || is_creating(self()));
  record.waiting = others;
  record.author = g_process;
  if (others == 0) {
    if (record.descriptor >= 0) page::close_hidden(record.descriptor);
  }
  s.mapping_log.records[s.mapping_log.sequence % kMappingRecords] = record;
  __atomic_store_n(&s.mapping_log.sequence, s.mapping_log.sequence + 1, __ATOMIC_RELEASE);
}

// Checked tasks see each other's memory without an event in between: what one has mapped or
// unmapped another may use next, at an address where something else lay.
bool is_seen_at_once(MappingKind kind) {
  return plan().checks_races() && (kind == MappingKind::kMapFile ||
                                   kind == MappingKind::kMapBacking || kind == MappingKind::kUnmap);
}

}  // namespace

void record_mapping(const MappingRecord& record) {
  if (!has_monitor()) return;
  publish(record);
  if (is_seen_at_once(record.kind)) let_all_catch_up();
}

void apply_mappings(Task&) {
  // The probe signal may come in the middle; what it would do is being done.
  static volatile bool busy = false;
  if (busy) return;
  busy = true;
  Shared& s = shared();
  ProcessEntry& entry = s.processes.entries[g_process];
  while (entry.mapping_sequence < __atomic_load_n(&s.mapping_log.sequence, __ATOMIC_ACQUIRE)) {
    MappingRecord& record = s.mapping_log.records[entry.mapping_sequence % kMappingRecords];
    if (record.author != g_process) {
      apply(record);
      const uint32_t waiting = __atomic_sub_fetch(&record.waiting, 1u, __ATOMIC_ACQ_REL);
      WEIR_CHECK(waiting < kMaxProcesses);  // invariant 2 of mapping_log.cc: none too many
      if (waiting == 0 && record.descriptor >= 0) {
        page::close_hidden(record.descriptor);
        record.descriptor = -1;
      }
    }
    __atomic_store_n(&entry.mapping_sequence, entry.mapping_sequence + 1, __ATOMIC_RELEASE);
  }
  busy = false;
}

bool lacks_mappings() {
  const Shared& s = shared();
  return s.processes.entries[g_process].mapping_sequence <
         __atomic_load_n(&s.mapping_log.sequence, __ATOMIC_ACQUIRE);
}

void patch_pending_text() {
  Shared& s = shared();
  if (!s.memory.text_pending) return;
  s.memory.text_pending = 0;
  patch_new_text();
  record_mapping({MappingKind::kPatchText, 0, 0, -1, 0, 0, 0, 0, 0});
}

bool convert_late(Range range) {
  for (uint64_t at = range.start; at < range.limit;) {
    if (const uint64_t known = page::backing_bytes_at(at)) {
      at += known;
      continue;
    }
    int protection = 0;
    bool is_anonymous = false;
    uint64_t beyond;
    FileSource source{};
    uint64_t distance = 0;
    const Range part =
        private_mapping(at, range, protection, is_anonymous, beyond, source, distance);
    if (part.empty()) {
      at = beyond;
      continue;
    }
    page::executed::close(part);
    // The bytes come over as they are; a page that another process had changed privately cannot
    // exist: it was read-only.
    const uint64_t offset =
        page::add_memory_segment(part.start, part.size(), PROT_READ | PROT_WRITE);
    if (!offset || !page::remember_protection(part.start, part.size(), protection))
      return false;  // a forked process has it so
    if (!(protection & PROT_READ)) page::protect(part.start, part.size(), PROT_READ);
    page::copy_into_backing(part, offset, is_anonymous);
    if (!is_anonymous) page::remember_file(part, source, part.start + distance);
    page::map_private(part.start, part.size(), offset, protection);
    view::current().track(part.start, part.size());
    record_mapping(
        {MappingKind::kMapBacking, protection, 0, -1, part.start, part.size(), offset, 0, 0});
    at = part.limit;
  }
  return true;
}

}  // namespace weir::runtime
