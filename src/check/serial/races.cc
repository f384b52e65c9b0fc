// Invariants
// 1. Every access of program code is looked at, from the moment on at which there are tasks, until
//    give_up(). An access that is not looked at may be the store by which one task tells another
//    that it may go on: what follows would seem to be a race. So what cannot be seen (a handler of
//    a signal, code that is not translated, memory for which there is no shadow) ends the search in
//    this run. (not checkable: it is about accesses that are not seen)
// 2. What the kernel reads and writes for a task is not looked at. That orders nothing by itself:
//    what system calls order is told (check/calls/call_order.h). (not checkable: likewise)
// 3. Memory that is given out anew begins with an empty shadow: blocks of the heap, stacks of
//    threads, mappings. (not checkable: what has gone is not there)

#include "check/serial/races.h"

#include "base/hash.h"
#include "check/core/access_rules.h"
#include "check/core/hazards.h"
#include "check/core/state.h"
#include "check/instruction_accesses.h"
#include "memory/program_memory.h"
#include "sys/syscall_x86_64.h"

namespace weir::view::checked::serial {

namespace {

// Instructions in one run. Each takes as long as thousands of the program's own.
constexpr uint64_t kMostLooks = uint64_t{1} << 23;

// Which shadow a page has.
struct Shadowed {
  uint64_t page;  // number; 0: none
  uint32_t shadow;
};
constexpr uint32_t kMostPages = 1u << 16, kMostUsed = kMostPages / 2;
Shadowed g_pages[kMostPages];
uint32_t g_used = 0;

uint64_t g_looks = 0;
bool g_has_given_up = false;

// Nothing is closed to a task.
class OneByOne final : public RulesOfThreads {
 public:
  void on_range(Task&, const AccessSite& site, const Access& access) override {
    serial::check_access(site, access);
  }
  bool is_untrapped(uint64_t, uint64_t, bool) override { return false; }
  void renew(uint64_t start, uint64_t size) override { serial::renew(start, size); }
  void begin_call(Task& task, ThreadState& thread) override {
    settle(task, thread);
    join_holders(thread);
    end_joined_epoch(thread);
  }
};
constinit OneByOne g_one_by_one;

// The page's entry; null: it has none, and `adds` is not set or there is no room.
Shadowed* find(uint64_t address, bool adds) {
  const uint64_t number = address / kPageSize;
  uint64_t at = mix(number) >> 20;
  for (;; at++) {
    Shadowed& entry = g_pages[at % kMostPages];
    if (entry.page == number) return &entry;
    if (entry.page) continue;
    if (!adds || g_used == kMostUsed) return nullptr;
    entry = {number, take_shadow()};
    if (!entry.shadow) {
      entry = {};
      return nullptr;
    }
    g_used++;
    return &entry;
  }
}

template <typename Act>
void each_page(uint64_t start, uint64_t size, Act act) {
  const uint64_t limit = start + size;
  for (uint64_t at = start; at < limit; at = page_down(at) + kPageSize) {
    const uint64_t next = page_down(at) + kPageSize;
    act(at, (limit < next ? limit : next) - at);
  }
}

// In a function by which a program orders its tasks: a word of it.
void order_by(const Access& access) {
  constexpr uint64_t kWord = 7;
  happens::on_acquire(access.address & ~kWord);
  if (access.kind & findings::kWrite) happens::on_release(access.address & ~kWord);
}

bool orders() { return happens::library_orders() != 0; }

}  // namespace

void start(Task& task) {
  if (!is_asked()) return;
  find_system_libraries(false);
  begin_first(task);
  __atomic_store_n(&found().multi, 1u, __ATOMIC_RELEASE);
  happens::g_checked = happens::g_serial = true;
  use(g_one_by_one);
  hazards::g_looks_for = found().hazards;
  happens::g_calls = happens::Calls::kReplaced;
}

void stop() {
  happens::g_checked = happens::g_serial = happens::g_knows_blocks = false;
  use(unchecked_rules());
  hazards::g_looks_for = 0;
  happens::g_calls = happens::Calls::kPlain;
  g_has_given_up = true;
}

void give_up() {
  g_has_given_up = true;
  found().untrapped_pages = 1;  // what comes now goes by unseen
}

bool runs_unseen(uint64_t rip) { return g_has_given_up || (is_ignored(rip) && !orders()); }

void check_access(const AccessSite& site, const Access& access) {
  if (g_has_given_up) return;
  Task& task = self();
  ThreadState& thread = thread_of(task);
  end_joined_epoch(thread);
  if (!thread.stack && task.id) thread.stack = page_down(sys::fs_base_untouched()) + kPageSize;
  Access piece = access;
  each_page(access.address, access.size, [&](uint64_t at, uint64_t size) {
    if (g_has_given_up || is_trusted(at) || is_cxx_state(at)) return;
    const Shadowed* const shadowed = find(at, true);
    if (!shadowed) return give_up();  // invariant 1
    piece.address = at;
    piece.size = size;
    found().accesses++;
    checked::check_access(shadowed->shadow, thread, piece, site);
  });
}

void renew(uint64_t start, uint64_t size) {
  each_page(start, size, [&](uint64_t at, uint64_t length) {
    if (const Shadowed* const shadowed = find(at, false))
      forget(shadowed->shadow, at % kPageSize, length);
  });
}

void look(Task& task, const Frame& frame) {
  if (g_has_given_up || task.identity.in_vfork) return;
  if (++g_looks > kMostLooks) return give_up();
  trap::InstructionAccesses accesses;
  trap::list_accesses_at(task, frame, accesses);
  if (!accesses.instruction || accesses.instruction->unknown_write) return give_up();
  if (accesses.instruction->is_branch) return;  // its return address
  const bool is_ordering = is_ignored(frame.rip);
  if (!is_ordering) order_openmp(accesses.site, accesses.access, accesses.count);
  for (uint32_t i = 0; i < accesses.count; i++) {
    const Access& access = accesses.access[i];
    if (!(access.kind & (findings::kRead | findings::kWrite))) continue;
    if (!is_ordering) check_access(accesses.site, access);
    if (is_ordering || (access.kind & findings::kAtomic)) order_by(access);
  }
}

}  // namespace weir::view::checked::serial
