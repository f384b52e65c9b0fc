// An atomic instruction is an operation on the word that it changes (sync/fast_path.h).
#include "runtime/atomics.h"

#include <stdio.h>

#include "check/core/check.h"
#include "check/core/happens_before.h"
#include "check/core/words.h"
#include "check/findings/findings.h"
#include "code/decode/registers.h"
#include "code/patch/patch.h"
#include "code/program/text_patches.h"
#include "control/control.h"
#include "control/process.h"
#include "memory/backing.h"
#include "memory/code/executed.h"
#include "memory/program_memory.h"
#include "signal/context/refused_access.h"
#include "signal/spin_probe.h"
#include "sync/biased_lock.h"
#include "sync/coalesce.h"
#include "sync/event.h"
#include "sync/fast_path.h"
#include "sync/turn.h"
#include "sys/libc.h"

namespace weir::runtime {
namespace {

// Two words of glibc's thread record that its own thread changes by an exchange, where no other
// task can act on what has not been published:
// - the mark that the thread uses the list of libraries (set and reset around each lookup of a
//   function; dlclose waits for it where it sees it): another task can see it only if it was
//   published since it was set;
// - setxid_futex (glibc 2.34 and later), once when the thread starts, before its first event: a
//   task that waits for that has left kAwaitedStart there, and is woken at the first publication
//   (sync/event.cc).
bool is_own_word(Task& task, const Site& site, uint64_t address) {
  if (site.atomic.kind != AtomicKind::kXchg || site.atomic.size != 4) return false;
  if (!sys::g_has_glibc_thread) return false;
  const uint64_t offset = address - sys::fs_base();
  if (offset == libc::kScopeFlag)
    return *reinterpret_cast<int32_t*>(page::shared_view_of(address)) == 0;
  if (offset >= libc::layout().thread_size || task.turn.start_word || task.spent.counters.events)
    return false;
  task.turn.start_word = address;
  return true;
}

// libc's own locks may be biased; sync/biased_lock.cc says why no other locked word may, nor the
// flags in the thread's own descriptor.
bool is_lock_of_libc(const Site& site, uint64_t address) {
  return is_libc_text(site.address) && site.atomic.size == 4 &&
         address - sys::fs_base() >= libc::layout().thread_size;
}

// Who tries a lock does something else when it fails.
bool is_trylock(const Site& site) {
  constexpr uint64_t kLength = 128;
  const auto function = reinterpret_cast<uint64_t>(&ftrylockfile);
  return site.address - function < kLength;
}

// Takes a lock of libc's that is free, or gives one back that nobody waits for. Who failed to take
// a lock looks once more whether it is waited for, without an event, in a turn that covers that
// (TurnState::kHoldForRetry): so whatever changes that is in a turn too.
bool is_uncontended(const AtomicOp& op, const Frame& frame, uint32_t word) {
  const bool from_register = op.source != AtomicOp::kImmediate;
  const auto operand =
      static_cast<int32_t>(from_register ? general_register(frame, op.source)
                                         : static_cast<uint64_t>(int64_t{op.immediate}));
  switch (op.kind) {
    case AtomicKind::kCmpxchg:
      return word == 0 && static_cast<uint32_t>(frame.rax) == 0 && operand == 1;
    case AtomicKind::kXchg: return word == 1 && operand == 0;
    case AtomicKind::kDec: return word == 1;
    case AtomicKind::kSub: return word == 1 && operand == 1;
    case AtomicKind::kAdd: return word == 1 && operand == -1;
    default: return false;
  }
}

class AtomicInstruction : public Operation {
 public:
  AtomicInstruction(Frame& frame, const Site& site, uint64_t address)
      : Operation(address), frame_(frame), site_(site) {}

  const char* why() const override {
    return "an operation on a lock of libc's that another task holds or waits for";
  }

  Result make_sole(Task&) override {
    execute_atomic(site_.atomic, frame_, program_memory());
    return 0;
  }
  Result make_unpublished(Task& task) override {
    const bool may = is_own_word(task, site_, object) ||
                     (is_lock() && would_store_here() && operates_by_bias(task, object));
    return may ? make_sole(task) : Result::takes_turn();
  }
  bool may_succeed() const override {
    if (!object) return true;
    uint32_t word = 0;
    if (!is_lock() && is_libc_text(site_.address) && site_.atomic.size != sizeof word) return false;
    const size_t size = is_lock() ? sizeof word : 1;
    return trap::from_program(&word, static_cast<long>(object), size) == 0;
  }
  Result make_in_order(Task& task) override {
    if (object && is_lock() &&
        !is_uncontended(site_.atomic, frame_, *reinterpret_cast<volatile uint32_t*>(object)))
      return Result::takes_turn();
    return make_sole(task);
  }
  void make_event(Task& task);
  // In a turn that is kept for the next event.
  bool make_in_gap(Task& task) {
    if (task.turn.depth != 1 || is_lock() || !would_store_here() || !goes_on(task, site_.address))
      return false;
    note_written();
    return make_sole(task).is_made();
  }

 protected:
  // In a turn. Returns whether it stores.
  virtual bool execute(Task& task) {
    void* target = shared_view(object);
    const ObjectScope scope(task, object, object != 0);
    const bool stores = would_store(site_.atomic, frame_, target);
    execute_atomic(site_.atomic, frame_, target);
    if (stores && object && target != program_memory())
      page::executed::note_change({object, object + site_.atomic.size});
    return stores;
  }

  bool is_lock() const { return is_lock_of_libc(site_, object); }
  void* program_memory() const { return reinterpret_cast<void*>(object); }
  bool would_store_here() const { return would_store(site_.atomic, frame_, program_memory()); }

  Frame& frame_;
  const Site& site_;
};

void AtomicInstruction::make_event(Task& task) {
  begin_turn(EventKind::kAtomic);
  if (object) fast_path().use(task, object, is_lock());
  const bool stores = execute(task);
  if (stores) {
    note_success();
  } else {
    note_failure();
  }
  if (!stores && plan().is_order_only() && is_lock() && !is_trylock(site_)) {
    hold_turn(TurnState::kHoldForRetry);
    return;
  }
  end_turn();
  if (task.turn.state == TurnState::kHoldForRetry) release_turn(task, ReleaseReason::kCallIsOver);
}

// What the C library does for itself orders nothing (interpose/library_work.cc has the exceptions).
bool orders_nothing(const Site& site) {
  return view::checked::is_ignored(site.address) && !happens::library_orders();
}

uint32_t kind_of(const Site& site) {
  return findings::kRead | findings::kWrite | findings::kAtomic |
         (site.atomic.is_unread ? uint32_t{findings::kUnread} : 0u);
}

// An atomic operation orders its task after and before the others on the same bytes, whatever order
// the program asked for. One whose result nobody reads (a counter's, a copied shared_ptr's) orders
// it before them only: a task that does not look at the word cannot know who was there before, and
// runs as well if they come later. Its next look at the word is an access of its own.
void check_atomic(Task& task, const Frame& frame, const Site& site, uint64_t address) {
  if (!address || orders_nothing(site)) return;
  view::checked::AccessSite access_site = view::checked::access_site_of(frame);
  access_site.rip = site.address;
  access_site.is_call = false;
  view::checked::on_atomic(task, access_site, {address, site.atomic.size, kind_of(site)});
  if (!site.atomic.is_unread) happens::acquire_word(address, site.atomic.size, happens::acquire);
  happens::release_word(address, site.atomic.size, happens::release);
}

class CheckedAtomic final : public AtomicInstruction {
 public:
  using AtomicInstruction::AtomicInstruction;

  // Who has ended may have told it something.
  Result make_sole(Task& task) override {
    check_atomic(task, frame_, site_, object);
    return AtomicInstruction::make_sole(task);
  }
  // An address where no memory is may be wrong: it raises its signal in a turn, with no bucket
  // held. Which memory there is, is known of the backing; by protection keys it is found by
  // reading.
  bool may_succeed() const override {
    return object &&
           (page::backing_bytes_at(object) || (plan().has_keys() && trap::read_byte(object)));
  }
  Result make_in_order(Task& task) override {
    make_checked(task);
    return 0;
  }

 protected:
  bool execute(Task& task) override {
    const ObjectScope scope(task, object, page::backing_bytes_at(object) != 0);
    return make_checked(task);
  }

 private:
  // While no other task operates on the word. Returns whether it stores.
  bool make_checked(Task& task) {
    if (object) check_atomic(task, frame_, site_, object);
    void* target = shared_view(object);
    const bool stores = would_store(site_.atomic, frame_, target);
    execute_atomic(site_.atomic, frame_, target);
    if (object && !orders_nothing(site_)) {
      const view::checked::Access access{object, site_.atomic.size,
                                         kind_of(site_) & ~findings::kWrite};
      view::checked::acquire_read(task, &access, 1);
    }
    return stores;
  }
};

void make(Task& task, AtomicInstruction& instruction) {
  task.spent.counters.atomics++;
  // No other task runs until this one's next event, which publishes it.
  if (task.turn.sole_operations && !task.turn.depth) {
    task.turn.sole_operations--;
    (void)instruction.make_sole(task).is_made();
    return;
  }
  if (!task.turn.depth && fast_path().try_once(task, instruction).is_made()) return;
  if (!instruction.make_in_gap(task)) instruction.make_event(task);
}

}  // namespace

void on_atomic(Frame& frame, const Site& site) {
  const uint64_t address = atomic_address(site.atomic, frame, sys::fs_base());
  if (!is_task()) {
    execute_atomic(site.atomic, frame, reinterpret_cast<void*>(address));
  } else if (site.atomic.kind != AtomicKind::kFence && !plan().is_serial() &&
             trap::is_refused(address, site.atomic.size)) {
    const uint64_t stub = site.is_trap ? site.window : site.stub;
    trap::access_refused(self(), frame, address,
                         frame.site == trap::kMadeSite ? self().signals.preempted_rip : stub);
  } else if (plan().checks_races()) {
    CheckedAtomic instruction(frame, site, address);
    make(self(), instruction);
  } else {
    AtomicInstruction instruction(frame, site, address);
    make(self(), instruction);
  }
}

}  // namespace weir::runtime
