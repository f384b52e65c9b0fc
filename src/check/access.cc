// The accesses of program code, of the kernel and of libraries: each is checked where its pages
// are trapped.

#include "check/core/check.h"

#include <elf.h>

#include "base/bytes.h"
#include "check/budget.h"
#include "check/core/enforce_by_key.h"
#include "check/core/happens_before.h"
#include "check/core/state.h"
#include "code/patch/bound_jump.h"
#include "control/options.h"
#include "memory/backing.h"
#include "memory/program_memory.h"
#include "sys/loaded_files.h"
#include "sys/maps.h"
#include "sys/syscall_x86_64.h"

namespace weir::view::checked {

namespace {

using page::demand::drop;
using page::demand::fill_backing;
using page::demand::map;

constexpr uint64_t kMaxAtOnce = 16 << 10;
constexpr uint64_t kMostLent = 32;  // pages of one part of a call's memory

// --- what each process keeps to itself

Range g_ignored_text[8], g_trusted_data[16];
uint32_t g_ignored, g_trusted;
Range g_openmp_text[4];
uint32_t g_openmp;
Range g_gnu_openmp_text;  // of which the inside is known (interpose/openmp_tasks.cc)
constexpr uint32_t kMaxCxxStates = 4;
Range g_cxx_state[kMaxCxxStates];
uint32_t g_cxx_states;
uint64_t g_steps[8];  // pages that are mapped for one instruction
uint32_t g_step_count;
bool g_stepping;

bool is_system_library(const char* name) {
  static constexpr const char* kNames[] = {"/libc.so", "/libc-",      "/ld-linux", "/libweir.so",
                                           "/libm.so", "/libpthread", "/libdl.so", "/librt.so"};
  for (const char* known : kNames) {
    if (contains_text(name, known)) return true;
  }
  return false;
}

bool is_openmp_library(const char* name) {
  static constexpr const char* kNames[] = {"/libgomp.so", "/libomp.so", "/libiomp5.so"};
  for (const char* known : kNames) {
    if (contains_text(name, known)) return true;
  }
  return false;
}

}  // namespace

// A replay maps copies that the recording has kept of files, which have other names.
static uint64_t g_first_file;  // sys::first_loaded_file()

void note_loader() { g_first_file = reinterpret_cast<uint64_t>(sys::first_loaded_file()); }

// Where the loader's lists are in the backing, they may be closed to the task.
static bool peek(void* to, uint64_t from, uint64_t size) {
  while (size) {
    const uint64_t here = page::backing_bytes_at(from);
    const uint64_t piece = here && here < size ? here : size;
    copy_bytes(to, reinterpret_cast<const void*>(here ? page::shared_view_of(from) : from), piece);
    to = static_cast<char*>(to) + piece, from += piece, size -= piece;
  }
  return true;
}

// The end of a library's memory, by its first page.
static uint64_t image_limit(const Range& first) {
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(first.start);
  const uint64_t size = first.limit - first.start;
  if (header->e_phoff + header->e_phnum * sizeof(Elf64_Phdr) > size) return 0;
  const auto* parts = reinterpret_cast<const Elf64_Phdr*>(first.start + header->e_phoff);
  uint64_t limit = 0;
  for (unsigned i = 0; i < header->e_phnum; i++) {
    if (parts[i].p_type == PT_LOAD && parts[i].p_vaddr + parts[i].p_memsz > limit)
      limit = parts[i].p_vaddr + parts[i].p_memsz;
  }
  return page_up(first.start + limit);
}

// The C++ library's own state, which its headers, too, fill when it is asked for first: the same
// values, whoever is first (locales, and the standard streams, of which two threads may use one).
static void find_cxx_state() {
  char* cursor = nullptr;
  g_cxx_states = 0;
  if (sys::read_maps(&cursor) < 0) return;
  sys::MapLine line;
  sys::LoadedNames names(g_first_file, peek);
  uint64_t library_limit = 0, data_limit = 0;
  while ((cursor = sys::next_map_line(cursor, &line))) {
    const bool has_file = line.name[0] && !starts_with(line.name, "/memfd:");
    if (has_file ? !contains_text(names.of(line), "/libstdc++.so")
                 : line.range.start != library_limit)
      continue;
    if (has_file && !line.offset) data_limit = image_limit(line.range);
    if (!has_file && line.range.limit > data_limit) line.range.limit = data_limit;
    library_limit = line.range.limit;
    if (line.writable && line.range.limit > line.range.start && g_cxx_states < kMaxCxxStates)
      g_cxx_state[g_cxx_states++] = line.range;
  }
}

bool is_cxx_state(uint64_t address) {
  for (uint32_t i = 0; i < g_cxx_states; i++) {
    if (g_cxx_state[i].contains(address)) return true;
  }
  return false;
}

// What the C library does inside is ordered by its own means, of which some are loads and stores
// that only its authors could tell from races.
void find_system_libraries(bool knows_backing) {
  find_cxx_state();
  char* cursor = nullptr;
  g_ignored = g_trusted = g_openmp = 0;
  g_gnu_openmp_text = {};
  if (sys::read_maps(&cursor) < 0) return;
  sys::MapLine line;
  sys::LoadedNames names(g_first_file, peek);
  uint64_t library_limit = 0, data_limit = 0;
  while ((cursor = sys::next_map_line(cursor, &line))) {
    const bool has_file = line.name[0] && !(knows_backing && starts_with(line.name, "/memfd:"));
    const char* const name = has_file ? names.of(line) : line.name;
    const bool is_library =
        has_file
            ? is_system_library(name)
            : line.range.start == library_limit;  // its bss, or data that is in the backing now
    if (has_file && is_library && !line.offset) data_limit = image_limit(line.range);
    if (!has_file && is_library && line.range.limit > data_limit)
      line.range.limit = data_limit > line.range.start ? data_limit : line.range.start;
    if (has_file && line.executable && is_openmp_library(name) && g_openmp < 4)
      g_openmp_text[g_openmp++] = line.range;
    if (has_file && line.executable && contains_text(name, "/libgomp.so"))
      g_gnu_openmp_text = line.range;
    if (!is_library) continue;
    library_limit = line.range.limit;
    if (line.executable && g_ignored < 8) g_ignored_text[g_ignored++] = line.range;
    else if (line.writable && g_trusted < 16) g_trusted_data[g_trusted++] = line.range;
  }
}

bool is_trusted(uint64_t address) {
  for (uint32_t i = 0; i < g_trusted; i++) {
    if (g_trusted_data[i].contains(address)) return true;
  }
  return false;
}

void start(Task& task) {
  happens::g_calls = options().has_keys() ? happens::Calls::kPlain : happens::Calls::kReplaced;
  find_system_libraries(false);
  page::g_remembers_segments = true;
  begin_first(task);
  refill();
  __atomic_store_n(&found().multi, 1u, __ATOMIC_RELEASE);
  happens::g_checked = true;
  if (options().has_keys()) keys::start(task);
  begin_declared();
}

void close_tracking() {
  restore_bound_jumps();  // the runtime's view of memory is gone
  page::demand::close();
  happens::g_checked = false;
  happens::g_calls = happens::Calls::kPlain;
}

bool is_ignored(uint64_t rip) {
  for (uint32_t i = 0; i < g_ignored; i++) {
    if (g_ignored_text[i].contains(rip)) return true;
  }
  return g_gnu_openmp_text.contains(rip) && happens::g_checked && thread_of(self()).openmp.inside &&
         !__atomic_load_n(&state().trusts_openmp, __ATOMIC_RELAXED);
}

// The library calls its own functions, and malloc, directly; callbacks through a pointer.
bool is_call_of_library(uint64_t where) {
  constexpr uint64_t kLength = 5;
  constexpr uint8_t kDirectCall = 0xe8;
  return is_ignored(where) && is_ignored(where - kLength) &&
         *reinterpret_cast<const uint8_t*>(where - kLength) == kDirectCall;
}

namespace {

// What of it lies from `at` on in the same page.
Access piece_of(const Access& access, uint64_t at) {
  const uint64_t limit = access.address + access.size, next = page_down(at) + kPageSize;
  return {at, (limit < next ? limit : next) - at, access.kind, access.context};
}

}  // namespace

bool is_openmp(uint64_t address) {
  for (uint32_t i = 0; i < g_openmp; i++) {
    if (g_openmp_text[i].contains(address)) return true;
  }
  return false;
}

// Runtimes of OpenMP count tasks under a lock and look at the count without it. The addition is
// one plain instruction, which no compiler makes of an atomic operation, but on this processor it
// orders all the same. So whatever they store may tell others something.
void order_openmp(const AccessSite& site, Access* accesses, uint32_t count) {
  if (!is_openmp(site.rip)) return;
  for (uint32_t k = 0; k < count; k++) {
    if (accesses[k].size <= 8) accesses[k].kind |= findings::kMayBeAtomic;
  }
}

bool on_fault(Task& task, const AccessSite& site, uint64_t address, Access* accesses,
              uint32_t count) {
  ThreadState& thread = thread_of(task);
  Spending spending(address);
  if (count != 1) thread.spin.rip = thread.spin.repeats = 0;
  else if (delay_spin(task, thread, site, accesses[0])) spending.forgive();
  close_open();
  settle(task, thread);
  end_joined_epoch(thread);
  order_openmp(site, accesses, count);
  if (!thread.stack && task.id) thread.stack = site.general[4] + kPageSize;
  join_holders(thread);
  bool has_all = true;
  for (uint32_t i = 0; i < count; i++) {
    const uint64_t limit = accesses[i].address + accesses[i].size;
    for (uint64_t at = accesses[i].address; at < limit; at = page_down(at) + kPageSize) {
      if (!is_ours(at)) continue;
      Page& page = page_of(page_down(at));
      if (page.mode == Mode::kDeclared)
        has_all &= admit_declared(task, thread, site, piece_of(accesses[i], at), page,
                                  page_down(at) == page_down(address));
      else if (!admit(task, thread, site, at,
                      accesses[i].kind & (findings::kWrite | kUnknownWrite)))
        has_all = false;
    }
  }
  if (has_all) return true;
  if (!is_ignored(site.rip)) {
    for (uint32_t i = 0; i < count; i++) {
      if ((accesses[i].kind & (findings::kRead | findings::kWrite)) &&
          is_ours(accesses[i].address) && !is_cxx_state(accesses[i].address))
        on_access(thread, site, accesses[i]);
    }
  }
  return false;
}

bool has_for_good(const Page& page, const Task& task, const ThreadState& thread) {
  return (page.mode == Mode::kPrivate && is_owner(page, task)) ||
         (page.mode == Mode::kSharedUntrapped && (page.holders & bit_of(thread)));
}

void borrow(Task& task, uint64_t address, bool in_runtime) {
  const uint64_t at = page_down(address);
  ThreadState& thread = thread_of(task);
  if (!happens::g_checked) return page::demand::borrow(at);
  if (in_runtime && has_for_good(page_of(at), task, thread)) return map(at, kPageSize, true);
  if (thread.borrowed_count == kMaxBorrowed) {
    drop_page(thread.borrowed[0], thread);
    for (uint32_t i = 1; i < kMaxBorrowed; i++) thread.borrowed[i - 1] = thread.borrowed[i];
    thread.borrowed_count--;
  }
  thread.borrowed[thread.borrowed_count++] = at;
  if (in_runtime) {  // dropped before program code goes on
    fill_backing(at, kPageSize);
    map(at, kPageSize, true);
    return;
  }
  Page& page = page_of(at);
  const SpinGuard guard(page.lock);
  release_to(page.holders & ~bit_of(thread), thread);
  let_in(at, page, thread, true);
}

namespace {

// What is met page by page: checked where it is trapped. `to_map`: pages of declared objects are
// to be mapped, even where the task has been let in; else the access itself will say what it lacks.
void check_range(Task& task, ThreadState& thread, const AccessSite& site, Access access,
                 bool to_map = false) {
  const uint64_t limit = access.address + access.size;
  for (uint64_t at = access.address; at < limit;) {
    const uint64_t next = page_down(at) + kPageSize;
    if (is_ours(at)) {
      Page& page = page_of(page_down(at));
      if (page.mode == Mode::kDeclared) {
        admit_declared(task, thread, site, piece_of(access, at), page, to_map);
        at = next;
        continue;
      }
      const bool has = page.mode != Mode::kTrapped && page.mode != Mode::kReadBy &&
                       (page.holders & bit_of(thread));
      if (!has && !admit(task, thread, site, at, access.kind & findings::kWrite)) {
        if (!access.context) access.context = context_of(site);
        on_access(thread, site, piece_of(access, at));
      }
    }
    at = next;
  }
}

}  // namespace

// What libc asks of the kernel for threads themselves is none of the program's accesses.
bool moves_data(uint32_t call) {
  switch (call) {
    case SYS_clone:
    case SYS_clone3:
    case SYS_fork:
    case SYS_vfork:
    case SYS_set_robust_list:
    case SYS_get_robust_list:
    case SYS_set_tid_address:
    case SYS_rseq:
    case SYS_rt_sigprocmask:
    case SYS_rt_sigaction:
    case SYS_sigaltstack:
    case SYS_futex:
    case SYS_prctl:
    case SYS_arch_prctl:
    case SYS_execve:
    case SYS_execveat:
    case SYS_exit:
    case SYS_exit_group:
    case SYS_mprotect:
    case SYS_madvise:
    case SYS_sched_getaffinity: return false;
    default: return true;
  }
}

namespace {

// The task has been let in; should its process lack the page all the same (two tasks of one slot, a
// lock that was held for reading before), this lends it.
void reach(uint64_t at, bool writes) {
  auto* byte = reinterpret_cast<uint8_t*>(at);
  if (writes) __atomic_fetch_or(byte, uint8_t{0}, __ATOMIC_RELAXED);
  else (void)*const_cast<volatile uint8_t*>(byte);
}

}  // namespace

void touch(uint64_t start, uint64_t size, bool writes) {
  if (!size || !happens::g_checked) return;
  Task& task = self();
  ThreadState& thread = thread_of(task);
  if (keys::g_on) {
    keys::open(task);
    if (task.pages.holds_call && task.frame && moves_data(task.pages.holds_call - 1)) {
      keys::judge(
          task, access_site_of(*task.frame),
          {start, size, (writes ? findings::kWrite : findings::kRead) | findings::kByKernel});
    }
    if (writes) keys::borrow(task, start, size);
    return;
  }
  const bool is_call = task.pages.holds_call && task.frame &&
                       moves_data(task.pages.holds_call - 1) && !is_of_library(start) &&
                       page::may_access(page_down(start), writes);
  const bool is_untrapped = happens::is_untrapped(start, size, writes);
  if (is_call && !is_untrapped) {
    const Spending spending(start);
    end_joined_epoch(thread);
    join_holders(thread);
    const uint32_t kind = (writes ? findings::kWrite : findings::kRead) | findings::kByKernel;
    check_range(task, thread, access_site_of(*task.frame), {start, size, kind}, true);
  }
  const bool is_much = size > kMostLent * kPageSize;
  for (uint64_t at = page_down(start); at < start + size; at += kPageSize) {
    if (!is_ours(at) || !page::may_access(at, writes)) continue;
    Page& page = page_of(at);
    if (page.mode == Mode::kDeclared && (page.holders & bit_of(thread)) && page.checked_count) {
      if (is_untrapped) reach(at, writes);  // else admit_declared() has let it in
      continue;
    }
    if (page.mode == Mode::kTrapped || page.mode == Mode::kNew || page.mode == Mode::kDeclared ||
        (writes && page.mode == Mode::kReadBy)) {
      if (is_much && page.mode != Mode::kDeclared) {  // more than can be lent at once
        const SpinGuard guard(page.lock);
        become_open(at, page, thread);
      } else {
        borrow(task, at, true);
      }
    } else if (is_much && !has_for_good(page, task, thread)) {
      const SpinGuard guard(page.lock);
      if (!writes && page.mode == Mode::kReadBy) let_in(at, page, thread, false);
      else become_open(at, page, thread);
    } else {
      trap::read_byte(at);  // mapped, if it was not
    }
  }
}

void on_atomic(Task& task, const AccessSite& site, const Access& access) {
  if (happens::g_checked && keys::g_on) return (void)keys::judge(task, site, access);
  if (!happens::g_checked || !is_ours(access.address) || is_ignored(site.rip)) return;
  ThreadState& thread = thread_of(task);
  const Spending spending(access.address);
  end_joined_epoch(thread);
  join_holders(thread);
  check_range(task, thread, site, access);
}

void on_range(Task& task, const AccessSite& site, const Access& access) {
  if (!happens::g_checked || !access.size) return;
  if (keys::g_on) return (void)keys::judge(task, site, access);
  if (happens::g_serial) return serial::check_access(site, access);
  if (happens::g_replayed) return replay::check_access(site, access);
  ThreadState& thread = thread_of(task);
  end_joined_epoch(thread);
  join_holders(thread);
  Access part = access;
  for (uint64_t done = 0; done < access.size;
       done += part.size) {  // a large one may cost what the task has to spend
    part.address = access.address + done;
    const Spending spending(part.address, Spending::kCallCost);
    part.size = access.size - done < kMaxAtOnce ? access.size - done : kMaxAtOnce;
    check_range(task, thread, site, part);
  }
}

void renew(uint64_t start, uint64_t size) {
  if (happens::g_serial) return serial::renew(start, size);
  if (suggests()) renew_seen(start, size);
  for (uint64_t at = start; at < start + size;) {
    const uint64_t next = page_down(at) + kPageSize,
                   limit = start + size < next ? start + size : next;
    if (!is_ours(at)) {
      at = next;
      continue;
    }
    Page& page = page_of(page_down(at));
    if (page.shadow) {
      const SpinGuard guard(page.lock);
      if (page.shadow) forget(page.shadow, at % kPageSize, limit - at);
    }
    at = next;
  }
}

void begin_step(Task& task, const Access* accesses, uint32_t count) {
  (void)task;
  const Spending spending(accesses[0].address, 0);
  if (!g_stepping) g_step_count = 0;
  g_stepping = true;
  for (uint32_t i = 0; i < count; i++) {
    const uint64_t limit = accesses[i].address + accesses[i].size;
    for (uint64_t at = page_down(accesses[i].address); at < limit && g_step_count < 8;
         at += kPageSize) {
      if (!is_ours(at)) continue;
      fill_backing(at, kPageSize);
      map(at, kPageSize, true);
      g_steps[g_step_count++] = at;
    }
  }
}

void end_step(Task& task) {
  g_stepping = false;
  const Spending spending(g_step_count ? g_steps[0] : 0);  // one more trap
  for (uint32_t i = 0; i < g_step_count; i++) {
    Page* page = find_page(g_steps[i]);
    if (!page) continue;
    const SpinGuard guard(page->lock);
    if (page->holders & bit_of(thread_of(task))) continue;
    drop(g_steps[i], kPageSize);
  }
}

void acquire_read(Task& task, const Access* accesses, uint32_t count) {
  ThreadState& thread = thread_of(task);
  for (uint32_t i = 0; i < count; i++) {
    if ((accesses[i].kind & findings::kWrite) && is_ours(accesses[i].address))
      escape(task, thread, accesses[i].address, accesses[i].size);
    if (!acquires(accesses[i].kind) || !is_ours(accesses[i].address)) continue;
    const uint64_t limit = accesses[i].address + accesses[i].size;
    for (uint64_t at = accesses[i].address; at < limit; at = page_down(at) + kPageSize) {
      Page& page = page_of(at);
      const SpinGuard guard(page.lock);
      const uint64_t rest = page_down(at) + kPageSize - at;
      if (page.mode != Mode::kDeclared) join_slots(thread, page.holders);
      acquire_untrapped(page, thread);
      if (page.shadow)
        acquire_writers_of(page.shadow, at % kPageSize, limit - at < rest ? limit - at : rest,
                           thread);
    }
  }
}

bool is_stepping() { return g_stepping; }

void catch_up(Task& task) {
  if (happens::g_checked && !keys::g_on) settle(task, thread_of(task));
}

}  // namespace weir::view::checked
