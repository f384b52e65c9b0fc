// The program's address space. Under View isolated anonymous memory comes from the arena, and
// private file mappings become memory of the backing. The other processes repeat every change
// before they run program code again. All of them stand at an event while this one has the turn, so
// no broadcast is needed, and no access can fall between.

#include <errno.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/bytes.h"
#include "code/patch/patch.h"
#include "code/program/text_patches.h"
#include "code/translate/counted.h"
#include "control/control.h"
#include "memory/backing.h"
#include "memory/closed_pages.h"
#include "memory/file_bytes.h"
#include "memory/forked.h"
#include "memory/reserve.h"
#include "record/input.h"
#include "record/shared_memory.h"
#include "record/stop_point.h"
#include "sync/event.h"
#include "sys/descriptor.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"
#include "syscall/memory/calls.h"
#include "syscall/memory/change_rules.h"
#include "syscall/memory/reserved.h"
#include "syscall/transfer.h"
#include "task/mapping_log.h"
#include "view/view.h"

namespace weir::syscalls {

namespace {

using runtime::record_mapping;

}  // namespace

void empty_pages(uint64_t start, uint64_t size) {
  page::zero_pages(start, size);
  view::current().forget(start, size);
}

void begin_anew(uint64_t start, uint64_t size) {
  (void)page::remember_forked(start, size, page::Forked::kCopied);
  page::forget_file({start, start + size});
}

void unmap_extent(uint64_t start, uint64_t size) {
  restore_arena(start, size);
  empty_pages(start, size);
  begin_anew(start, size);
  change_protection(start, size, PROT_NONE);  // a use after the unmapping must fault, as it would
  page::free_extent(start, size);
}

// Anonymous memory (or a private copy of a file) at a place of Weir's choosing.
long map_anywhere(const Call& call, uint64_t size, int protection, bool from_file) {
  if (const long refused = from_file ? check_file(call) : 0) return refused;
  uint64_t start = page::allocate_extent(size);
  if (!start) return -ENOMEM;
  if (change_protection(start, page_up(size), kReadWrite) != 0) {
    page::free_extent(start, size);
    return -ENOMEM;
  }
  if (const long wrong =
          from_file ? read_file(start, size, static_cast<int>(call.e), address(call.f)) : 0) {
    unmap_extent(start, page_up(size));
    return wrong;
  }
  if (protection != kReadWrite) change_protection(start, page_up(size), protection);
  return static_cast<long>(start);
}

// Writable private memory at a place outside the arena: a region of the backing.
long map_memory_segment(const Call& call, uint64_t start, uint64_t size, int protection) {
  const bool from_file = !(call.d & MAP_ANONYMOUS);
  if (start % kPageSize) return -EINVAL;
  if (const long refused = from_file ? check_file(call) : 0) return refused;
  if (call.d & MAP_FIXED_NOREPLACE) {  // the kernel knows whether the place is free
    constexpr int kHold = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    const long held = sys::raw(SYS_mmap, call.a, static_cast<long>(size), PROT_NONE, kHold, -1, 0);
    if (sys::failed(held)) return held;
  }
  // Over memory of the backing: a sanitizer that clears its shadow memory does so, for each thread.
  if (!from_file && page::backing_bytes_at(start) >= page_up(size)) {
    empty_pages(start, page_up(size));
    begin_anew(start, size);
    const bool was_code = page::code_protection(start) != 0;
    const long refused = change_protection(start, page_up(size), protection, was_code);
    return refused ? refused : static_cast<long>(start);
  }
  page::remove_memory_segment(start, size);
  begin_anew(start, size);
  // Open, as all memory of the backing of which nothing else is remembered.
  if (!page::remember_protection(start, page_up(size), kReadWrite)) return -ENOMEM;
  uint64_t offset = page::add_memory_segment(start, size, kReadWrite);
  if (!offset) return -ENOMEM;
  if (!page::map_private(start, page_up(size), offset, kReadWrite)) return -ENOMEM;
  view::current().track(start, page_up(size));
  const long wrong =
      from_file ? read_file(start, size, static_cast<int>(call.e), address(call.f)) : 0;
  record_mapping({MappingKind::kMapBacking, kReadWrite, 0, -1, start, page_up(size), offset, 0, 0});
  if (wrong) return wrong;
  if (const long refused = change_protection(start, page_up(size), protection)) return refused;
  return static_cast<long>(start);
}

namespace {

long map_fixed_in_arena(const Call& call, uint64_t start, uint64_t size, int protection) {
  const bool from_file = !(call.d & MAP_ANONYMOUS);
  if (const long refused = from_file ? check_file(call) : 0) return refused;
  if (start >= kArena + kHeapSize) page::take_extent(start, size);
  restore_arena(start, page_up(size));
  empty_pages(start, size);
  begin_anew(start, size);
  if (const long refused = change_protection(start, page_up(size), kReadWrite)) return refused;
  if (const long wrong =
          from_file ? read_file(start, size, static_cast<int>(call.e), address(call.f)) : 0)
    return wrong;
  if (protection !=
      kReadWrite) {  // also to execute: what a JIT compiler commits of its reservation
    if (const long refused = change_protection(start, page_up(size), protection)) return refused;
  }
  return static_cast<long>(start);
}

// Code that is made at run time, and what it works on, lie where the program's code reaches them,
// or below 4 GiB: a hint that says so is followed where there is room, as the kernel does, and
// MAP_32BIT. Other hints are not: each such mapping is a memory segment.
bool is_near_code(uint64_t hint) {
  constexpr uint64_t kReach = uint64_t{1} << 31;
  if (!hint || hint % kPageSize || page::in_arena(hint) || page::in_reserve(hint)) return false;
  const auto reaches = [hint](uint64_t code) { return hint - code + kReach < 2 * kReach; };
  return hint < 2 * kReach || reaches(page::own_image().start) || reaches(getauxval(AT_ENTRY));
}

// 0: there is no room.
long map_near_code(Call call, uint64_t size, int protection) {
  if (!(call.d & MAP_32BIT)) call.d |= MAP_FIXED_NOREPLACE;
  return change_rules().map_near_code(call, size, protection);
}

// Where the kernel puts a file's mapping depends on the file system too: a replay's copy of it lies
// where the file lay.
long map_where_recorded(long where, uint64_t size, int protection, long flags, int descriptor,
                        long offset) {
  const auto map = [&] {
    return sys::raw(SYS_mmap, where, static_cast<long>(size), protection, flags, descriptor,
                    offset);
  };
  if (!input::is_on() || (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE))) return map();
  if (input::recording()) return input::log_number(input::What::kShared, map());
  where = input::log_number(input::What::kShared, 0);
  flags |= MAP_FIXED_NOREPLACE;
  const long start = sys::failed(where) ? where : map();
  if (start == where) return start;
  report("the replay cannot map a file where the recording had it, at %x (error %d)",
         address(where), int64_t{-start});
  die(125);
}

}  // namespace

// What stays a mapping of the kernel's: shared memory, and read-only files.
long map_plain(const Call& call, uint64_t size, int protection) {
  const bool from_file = !(call.d & MAP_ANONYMOUS);
  if (input::is_on() && from_file &&
      input::log_if(input::What::kFlags, [&] { return !sys::is_regular(call.e); })) {
    if (const long refused = check_file(call)) return refused;
  }
  int descriptor = static_cast<int>(
      from_file ? input::file(call.e, (call.d & MAP_TYPE) != MAP_PRIVATE) : call.e);
  long flags = call.d;
  long offset = call.f, kept;
  // Shared: given a file, so that every process can map it.
  if ((flags & MAP_ANONYMOUS) || (!input::is_on() && sys::is_shared_zero(descriptor))) {
    kept = open_kept(SYS_memfd_create, reinterpret_cast<long>("weir-shared"), MFD_CLOEXEC);
    if (!sys::failed(kept) && page::set_file_size(static_cast<int>(kept), page_up(size)) != 0) {
      page::close_hidden(static_cast<int>(kept));
      return -ENOMEM;
    }
    descriptor = static_cast<int>(kept);
    flags &= ~long{MAP_ANONYMOUS};
    offset = 0;
  } else {
    kept = open_kept(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, 3);
  }
  if (kept == -EMFILE || kept == -ENFILE) return -ENOMEM;
  if (sys::failed(kept)) return kept;
  const long start = map_where_recorded(call.a, size, protection, flags, descriptor, offset);
  if (from_file) input::close_file(descriptor, (call.d & MAP_TYPE) != MAP_PRIVATE);
  if (sys::failed(start)) {
    page::close_hidden(static_cast<int>(kept));
  } else {
    page::remove_memory_segment(address(start), size);
    page::closed::note_mapped(address(start), size);
    const int fixed =
        static_cast<int>((flags & ~long{MAP_FIXED_NOREPLACE | MAP_POPULATE}) | MAP_FIXED);
    record_mapping({MappingKind::kMapFile, protection, fixed, static_cast<int>(kept),
                    address(start), page_up(size), address(offset), 0, 0});
    if (protection & PROT_EXEC)
      runtime::note_library({address(start), address(start) + page_up(size)});
  }
  return start;
}

namespace {

long on_mmap(Call& call) {
  if (const long refused = change_rules().take_huge(call)) return refused;
  const uint64_t start = address(call.a), size = address(call.b);
  const int protection = static_cast<int>(call.c);
  const bool fixed = call.d & (MAP_FIXED | MAP_FIXED_NOREPLACE);
  const bool anonymous = call.d & MAP_ANONYMOUS;
  const bool is_private = (call.d & MAP_TYPE) == MAP_PRIVATE;
  if (size == 0) return -EINVAL;
  if (fixed && page::in_arena(start)) {
    if (start % kPageSize) return -EINVAL;
    if (size > kArena + kArenaSize - start) return -ENOMEM;
    if ((call.d & MAP_FIXED_NOREPLACE) && !page::is_all_free(start, size)) return -EEXIST;
    call.d =
        (call.d & ~long{MAP_FIXED_NOREPLACE}) | MAP_FIXED;  // the kernel has the whole arena mapped
    if (is_private || anonymous || is_only_read(call))
      return map_fixed_in_arena(call, start, size, protection);
    return map_file_in_arena(call, start, size);
  }
  const bool is_new_place = call.d & MAP_FIXED_NOREPLACE;
  if (fixed && (page::is_handed_out(start) || (page::in_reserve(start) && !is_new_place))) {
    if (start % kPageSize) return -EINVAL;
    if (size > page::reserve_limit(start) - start) return -ENOMEM;
    if (is_new_place) return -EEXIST;
    const bool stays_kernels = change_rules().stays_kernels(is_private, anonymous, protection);
    claim_in_reserve(start, size, stays_kernels);
    if (!stays_kernels) return map_in_reserve(call, start, size, protection);
  }
  long owned;
  if (!is_private && map_shared_memory(call, size, protection, owned)) return owned;
  if (!is_private) return change_rules().map_shared(call, size, protection);
  if (!fixed && anonymous && !(call.d & (MAP_GROWSDOWN | MAP_HUGETLB)) &&
      ((call.d & MAP_32BIT) || is_near_code(start))) {
    if (const long placed = map_near_code(call, size, protection)) return placed;
    if (call.d & MAP_32BIT) return -ENOMEM;
  }
  if (!fixed && anonymous && !(call.d & (MAP_GROWSDOWN | MAP_HUGETLB | MAP_32BIT))) {
    const long reserved = protection == PROT_NONE && !(call.d & MAP_STACK) ? reserve(size) : 0;
    if (reserved) return reserved;
    return map_anywhere(call, size, protection, false);
  }
  return change_rules().map_private(call, size, protection);
}

long on_munmap(const Call& call) {
  const uint64_t start = address(call.a), size = page_up(address(call.b));
  if (start % kPageSize || size == 0) return -EINVAL;
  if (page::in_arena(start)) {
    if (start >= kArena + kHeapSize) unmap_extent(start, size);
    return 0;
  }
  if (page::in_reserve(start)) return unmap_reserved(start, size), 0;
  change_rules().before_unmap({start, start + size});
  long result = call_kernel(call);
  if (result == 0) shared_memory::on_unmap(start, size);
  if (result == 0) begin_anew(start, size);
  if (result == 0) change_rules().note_unmapped({start, start + size});
  return result;
}

long on_mprotect(const Call& call) {
  const uint64_t start = address(call.a), size = page_up(address(call.b));
  int protection = static_cast<int>(call.c);
  if (page::in_arena(start)) {
    const bool was_code = page::code_protection(start) != 0;
    return change_protection(start, size, page::as_mapped(protection), was_code);
  }
  const bool is_shared_memory = shared_memory::overlaps(start, size);
  if (page::in_reserve(start) && !is_shared_memory)
    return protect_reserved(start, size, protection);
  if (const long wrong = change_rules().begin_protect(start, size, protection, is_shared_memory))
    return wrong;
  long result = is_shared_memory
                    ? input::log_value(input::What::kShared,
                                       [&] { return page::protect(start, size, protection); })
                    : page::protect(start, size, protection);
  // A file that is open for reading only; its copy in a recording is not.
  if (!is_shared_memory && input::log_if(input::What::kFlags, [=] { return result == -EACCES; })) {
    if (input::replaying()) page::protect(start, size, PROT_READ);
    return -EACCES;
  }
  if (result != 0) return result;
  if (is_shared_memory) {
    if (input::replaying()) page::protect(start, size, protection);
    shared_memory::on_protect(start, size, protection);
  }
  change_rules().note_protected(start, size, protection);
  return 0;
}

// What lies above is closed, as natively.
long on_brk(const Call& call) {
  MemoryState& s = shared().memory;
  if (!s.brk_start) return call_kernel(call);
  const uint64_t wanted = address(call.a), was = page_up(s.brk_now), now = page_up(wanted);
  if (wanted < s.brk_start || wanted > s.brk_limit) return static_cast<long>(s.brk_now);
  if (now < was) {
    empty_pages(now, was - now);
    change_protection(now, was - now, PROT_NONE);
  } else if (change_protection(was, now - was, kReadWrite) != 0) {
    return static_cast<long>(s.brk_now);
  }
  s.brk_now = wanted;
  return static_cast<long>(wanted);
}

}  // namespace

bool maps_library(const Call& call) {
  return call.number == SYS_mmap && (call.c & PROT_EXEC) && !(call.c & PROT_WRITE) &&
         !(call.d & MAP_ANONYMOUS) && (call.d & MAP_TYPE) == MAP_PRIVATE;
}

long make_change(Call& call) {
  switch (call.number) {
    case SYS_mmap: {
      const int asked = maps_library(call) ? 0 : static_cast<int>(call.c);
      if (asked) call.c = page::as_mapped(asked);
      const long result = on_mmap(call);
      if (!sys::failed(result)) page::note_code(address(result), address(call.b), asked);
      if ((call.d & MAP_TYPE) == MAP_PRIVATE && !sys::failed(result))
        shared_memory::on_unmap(address(result), address(call.b));
      note_shared_file(call, result);
      return result;
    }
    case SYS_shmat: return change_rules().attach(call);
    case SYS_shmdt: return change_rules().detach(call);
    case SYS_munmap: {
      const long result = on_munmap(call);
      if (result == 0) page::note_code(address(call.a), address(call.b), 0);
      return result;
    }
    case SYS_mprotect: {
      if (address(call.a) % kPageSize || (call.b && !is_protection(call.c))) return -EINVAL;
      const long beyond = leave_out_hole(call);
      if (beyond && !call.b) return beyond;
      const long result = on_mprotect(call);
      if (result == 0 && change_rules().holds_made_code(address(call.a)))
        page::note_code(address(call.a), address(call.b), static_cast<int>(call.c));
      return result ? result : beyond;
    }
    case SYS_mremap: return on_mremap(call);
    case SYS_madvise: return on_madvise(call);
    case SYS_mincore: return on_mincore(call);
    case SYS_msync: return on_msync(call);
    case SYS_remap_file_pages: return on_remap_file_pages(call);
    case SYS_mlock:
    case SYS_mlock2:
    case SYS_munlock: return on_lock(call);
    default: return on_brk(call);
  }
}

bool is_memory(long number) {
  return number == SYS_mmap || number == SYS_munmap || number == SYS_mprotect ||
         number == SYS_mremap || number == SYS_madvise || number == SYS_mincore ||
         number == SYS_brk || number == SYS_shmat || number == SYS_shmdt || number == SYS_mlock ||
         number == SYS_mlock2 || number == SYS_munlock || number == SYS_mlockall ||
         number == SYS_msync || number == SYS_remap_file_pages;
}

}  // namespace weir::syscalls
