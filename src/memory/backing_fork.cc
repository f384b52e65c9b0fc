// Work on the whole backing: the copy that a forked child gets, and the fingerprint of all memory.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "control/executed_pages.h"
#include "memory/backing.h"
#include "memory/forked.h"
#include "memory/windows.h"
#include "sys/maps.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"
#include "sys/touched_pages.h"

namespace weir::page {

namespace {

constexpr int kSeekData = 3, kSeekHole = 4;
// To read what was never touched would fill it, and take for ever.
constexpr uint64_t kMostlyUntouched = uint64_t{1} << 30;

// Calls `visit(offset, size)` for every stretch of the backing that holds data.
template <typename Visit>
void each_extent(int backing, Visit visit) {
  uint64_t at = 0;
  for (;;) {
    long data = sys::raw(SYS_lseek, backing, static_cast<long>(at), kSeekData);
    if (data < 0) return;
    long hole = sys::raw(SYS_lseek, backing, data, kSeekHole);
    if (hole < 0) hole = static_cast<long>(kBackingSize);
    visit(static_cast<uint64_t>(data), static_cast<uint64_t>(hole - data));
    at = static_cast<uint64_t>(hole);
  }
}

// The part of the first thread's stack that no function uses, as addresses: below its stack
// pointer. Functions that have returned left there what the kernel told them, and some of that is
// another in every run: the number and the times of the file that is standard output (stdio asks
// when it makes its buffer), the times of the libraries (the loader asks).
Range dead_stack(Range stack) {
  constexpr uint64_t kRedZone = 128;
  const Shared& s = shared();
  uint64_t lowest = 0;
  auto consider = [&](const Task& task) {
    const uint64_t pointer = task.in_runtime && task.frame ? task.frame->rsp : 0;
    if (stack.contains(pointer) && (!lowest || pointer < lowest)) lowest = pointer;
  };
  if (!s.program.multi) consider(self());
  for (TaskId i = 0; s.program.multi && i < s.order.high_task; i++) {
    if (s.tasks[i].order.state != TaskState::kFree) consider(s.tasks[i]);
  }
  return lowest > stack.start + kRedZone ? Range{stack.start, lowest - kRedZone} : Range{};
}

// `dead`: bytes of the page's beginning that do not count.
uint64_t hash_page(uint64_t hash, uint64_t name, const uint32_t* words, uint32_t pid,
                   uint64_t dead) {
  uint64_t sum = mix(name);
  bool any = false;
  for (size_t i = dead / 4; i < kPageSize / 4; i++) {
    uint32_t word = words[i];
    if (word == 0) continue;
    any = true;
    if (word == pid) word = 1;
    sum = (sum ^ (word + (uint64_t{i} << 32))) * 0xBF58476D1CE4E5B9;
    sum ^= sum >> 31;
  }
  return any ? (hash ^ sum) * 0x94D049BB133111EB : hash;
}

uint64_t dead_bytes(Range dead, uint64_t page) {
  if (page < dead.start || page >= dead.limit) return 0;
  return dead.limit - page < kPageSize ? dead.limit - page : kPageSize;
}

}  // namespace

int copy_backing() {
  const Shared& s = shared();
  const int old_backing = s.memory.backing;
  if (!s.program.multi) {
    sys::raw(SYS_mmap, static_cast<long>(kSharedView), static_cast<long>(kBackingSize), PROT_READ,
             MAP_SHARED | MAP_NORESERVE | MAP_FIXED, old_backing, 0);
  }
  LimitLifted descriptors(RLIMIT_NOFILE), file_size(RLIMIT_FSIZE);
  long file = sys::raw(SYS_memfd_create, reinterpret_cast<long>("weir-store"), MFD_CLOEXEC);
  if (sys::failed(file) || set_file_size(static_cast<int>(file), kBackingSize) != 0) {
    report("cannot make the file for the memory of a forked process%s", of_descriptors(file));
    die(125);
  }
  each_extent(old_backing, [&](uint64_t offset, uint64_t size) {
    for (uint64_t done = 0; done < size;) {
      long wrote = sys::raw(SYS_pwrite64, file, static_cast<long>(kSharedView + offset + done),
                            static_cast<long>(size - done), static_cast<long>(offset + done));
      if (wrote <= 0) {
        report("no memory for the copy that a forked process gets (error %d)", int64_t{-wrote});
        die(125);
      }
      done += static_cast<uint64_t>(wrote);
    }
  });
  return static_cast<int>(file);
}

void use_copy(int file) {
  executed::close_all();
  Shared& s = shared();
  const int old_backing = s.memory.backing;
  LimitLifted descriptors(RLIMIT_NOFILE);
  const int backing = hide_descriptor(file);
  s.memory.backing = backing;
  close_hidden(old_backing);
  sys::raw(SYS_munmap, static_cast<long>(kSharedView), static_cast<long>(kBackingSize));
  auto map_shared = [&](uint64_t start, uint64_t size, int protection, uint64_t offset) {
    long at = sys::raw(SYS_mmap, static_cast<long>(start), static_cast<long>(size), protection,
                       MAP_SHARED | MAP_NORESERVE | MAP_FIXED, backing, static_cast<long>(offset));
    WEIR_CHECK(at == static_cast<long>(start));
  };
  map_shared(kArena, kArenaSize, PROT_READ | PROT_WRITE, 0);
  for (uint32_t i = 0; i < s.memory.segment_count; i++) {
    const MemorySegment& r = s.memory.segments[i];
    if (r.live) map_shared(r.start, r.size, static_cast<int>(r.protection), r.offset);
  }
  windows::map_all();
  dump_only_used();
  reapply_protections();
  apply_forked();
}

void dump_only_present() {
  if (shared().memory.backing < 0) return;
  constexpr uint64_t kNear = 1 << 20,
                     // Each piece is a mapping of its own, of which there may be 65530.
      kMax = 4000;
  sys::raw(SYS_madvise, static_cast<long>(kArena), static_cast<long>(kArenaSize), MADV_DONTDUMP);
  uint64_t count = 0;
  Range piece{};
  auto open = [&] {
    if (!piece.empty())
      sys::raw(SYS_madvise, static_cast<long>(piece.start), static_cast<long>(piece.size()),
               MADV_DODUMP);
    count++;
  };
  each_extent(shared().memory.backing, [&](uint64_t offset, uint64_t size) {
    if (offset >= kArenaSize) return;
    const Range found{kArena + offset,
                      kArena + (offset + size < kArenaSize ? offset + size : kArenaSize)};
    if (piece.empty() || (found.start > piece.limit + kNear && count < kMax)) {
      open();
      piece = found;
    } else {
      piece.limit = found.limit;
    }
  });
  open();
}

uint64_t fingerprint() {
  Shared& s = shared();
  // Where ids are constant, a word that equals the id counts like any other; elsewhere (Order free,
  // recordings) it counts as the id, whatever it is.
  const long shown = s.program.shown_pid ? s.program.shown_pid : sys::raw(SYS_getpid);
  const uint32_t pid = s.program.constant_pid ? 0 : static_cast<uint32_t>(shown);
  uint64_t hash = 0;
  if (s.program.multi) {
    Range dead{};
    for (uint32_t i = 0; i < s.memory.segment_count; i++) {
      const MemorySegment& r = s.memory.segments[i];
      const Range range{r.start, r.start + r.size};
      if (!r.live || !s.program.stack_limit || !range.contains(s.program.stack_limit - 1)) continue;
      dead = dead_stack(range);
      if (!dead.empty()) dead = {r.offset, r.offset + dead.size()};
    }
    each_extent(s.memory.backing, [&](uint64_t offset, uint64_t size) {
      for (uint64_t at = offset; at < offset + size; at += kPageSize) {
        hash = hash_page(hash, at, reinterpret_cast<const uint32_t*>(kSharedView + at), pid,
                         dead_bytes(dead, at));
      }
    });
    return hash;
  }
  char* maps;
  if (sys::read_maps(&maps) < 0) return 0;
  const auto hash_range = [&hash, pid](Range range, Range dead) {
    for (uint64_t at = range.start; at < range.limit; at += kPageSize)
      hash = hash_page(hash, at, reinterpret_cast<const uint32_t*>(at), pid, dead_bytes(dead, at));
  };
  sys::MapLine line;
  for (char* cursor = maps; (cursor = sys::next_map_line(cursor, &line));) {
    const bool arena = in_arena(line.range.start);
    if (!line.writable || !line.readable || arena || line.range.overlaps(own_image())) continue;
    if (line.shared || overlaps_runtime(line.range)) continue;
    const Range dead = starts_with(line.name, "[stack]") ? dead_stack(line.range) : Range{};
    if (line.range.size() > kMostlyUntouched) {
      sys::each_touched(line.range, [&](Range part) { hash_range(part, dead); });
    } else {
      hash_range(line.range, dead);
    }
  }
  if (s.memory.backing > 0) {
    each_extent(s.memory.backing, [&](uint64_t offset, uint64_t size) {
      if (offset >= kArenaSize) return;
      for (uint64_t at = offset; at < offset + size; at += kPageSize) {
        hash = hash_page(hash, at, reinterpret_cast<const uint32_t*>(kArena + at), pid, 0);
      }
    });
  }
  return hash;
}

}  // namespace weir::page
