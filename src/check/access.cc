// The accesses of program code, of the kernel and of libraries: each is checked where its pages
// are trapped.

#include "check/core/check.h"

#include "base/bytes.h"
#include "check/budget.h"
#include "check/core/access_rules.h"
#include "check/core/happens_before.h"
#include "check/core/hazards.h"
#include "check/core/order_by_calls.h"
#include "check/core/state.h"
#include "code/patch/bound_jump.h"
#include "control/options.h"
#include "memory/backing.h"
#include "memory/program_memory.h"
#include "sys/syscall_x86_64.h"

namespace weir::view::checked {

namespace {

using page::demand::drop;
using page::demand::fill_backing;
using page::demand::map;

constexpr uint64_t kMaxAtOnce = 16 << 10;
constexpr uint64_t kMostLent = 32;  // pages of one part of a call's memory

// --- what each process keeps to itself

uint64_t g_steps[8];  // pages that are mapped for one instruction
uint32_t g_step_count;
bool g_stepping;

// weir check: each task has page tables of its own.
class ByPages final : public RulesInBacking {
 public:
  void begin(Task&) override {
    happens::g_calls = happens::Calls::kReplaced;
    tell_by_memory();
  }
  void touch(Task& task, uint64_t start, uint64_t size, bool writes) override;
  void on_atomic(Task& task, const AccessSite& site, const Access& access) override;
  void on_range(Task& task, const AccessSite& site, const Access& access) override;
  void borrow(Task& task, uint64_t address, bool in_runtime) override;
  void catch_up(Task& task) override {
    close_open();
    settle(task, thread_of(task));
  }
  void share_stack(uint64_t argument) override { checked::share_stack(argument); }
  void expose_frames(Task& task, ThreadState& thread, uint64_t stack_pointer) override {
    checked::expose_frames(task, thread, stack_pointer);
  }
  void await_creator(const Task& task) override { checked::await_creator(task); }
};
constinit ByPages g_by_pages;

}  // namespace

void start(Task& task) {
  AccessRules& rules = options().has_keys() ? key_rules() : g_by_pages;
  find_system_libraries(false);
  page::g_remembers_segments = true;
  begin_first(task);
  refill();
  __atomic_store_n(&found().multi, 1u, __ATOMIC_RELEASE);
  happens::g_checked = true;
  hazards::g_looks_for = found().hazards;
  use(rules);
  rules.begin(task);
  begin_declared();
}

void close_tracking() {
  restore_bound_jumps();  // the runtime's view of memory is gone
  page::demand::close();
  happens::g_checked = false;
  use(unchecked_rules());
  hazards::g_looks_for = 0;
  happens::g_calls = happens::Calls::kPlain;
}

namespace {

// What of it lies from `at` on in the same page.
Access piece_of(const Access& access, uint64_t at) {
  const uint64_t limit = access.address + access.size, next = page_down(at) + kPageSize;
  return {at, (limit < next ? limit : next) - at, access.kind, access.context};
}

}  // namespace

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
      if (page.mode == Mode::kDeclared) {
        has_all &= admit_declared(task, thread, site, piece_of(accesses[i], at), page,
                                  page_down(at) == page_down(address));
        continue;
      }
      look_first(thread, site, piece_of(accesses[i], at));
      if (!admit(task, thread, site, at, accesses[i].kind & (findings::kWrite | kUnknownWrite)))
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
  access_rules().borrow(task, address, in_runtime);
}

void ByPages::borrow(Task& task, uint64_t address, bool in_runtime) {
  const uint64_t at = page_down(address);
  ThreadState& thread = thread_of(task);
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
      if (!has) look_first(thread, site, piece_of(access, at));
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
  if (size) access_rules().touch(self(), start, size, writes);
}

void ByPages::touch(Task& task, uint64_t start, uint64_t size, bool writes) {
  ThreadState& thread = thread_of(task);
  const bool is_call = task.pages.holds_call && task.frame &&
                       moves_data(task.pages.holds_call - 1) && !is_of_library(start) &&
                       page::may_access(page_down(start), writes);
  const bool is_untrapped = RulesInBacking::is_untrapped(start, size, writes);
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
  access_rules().on_atomic(task, site, access);
}

void ByPages::on_atomic(Task& task, const AccessSite& site, const Access& access) {
  if (!is_ours(access.address) || is_ignored(site.rip)) return;
  ThreadState& thread = thread_of(task);
  const Spending spending(access.address);
  end_joined_epoch(thread);
  join_holders(thread);
  check_range(task, thread, site, access);
}

void on_range(Task& task, const AccessSite& site, const Access& access) {
  if (access.size) access_rules().on_range(task, site, access);
}

void ByPages::on_range(Task& task, const AccessSite& site, const Access& access) {
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

void renew(uint64_t start, uint64_t size) { access_rules().renew(start, size); }

void AccessRules::renew(uint64_t start, uint64_t size) {
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

void catch_up(Task& task) { access_rules().catch_up(task); }

}  // namespace weir::view::checked
