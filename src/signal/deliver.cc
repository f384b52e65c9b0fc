// The way out of the runtime while signals wait for the program (entry_x86_64.S,
// weir_exit_with_signals).

#include "signal/deliver.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>

#include "base/bytes.h"
#include "code/patch/frame_offsets.h"
#include "code/sites/site_table.h"
#include "code/translate/counted.h"
#include "control/control.h"
#include "control/process.h"
#include "memory/backing.h"
#include "record/input.h"
#include "record/signals.h"
#include "record/stop_point.h"
#include "signal/arrive.h"
#include "signal/signals.h"
#include "sync/event.h"
#include "sync/turn.h"
#include "sync/turn_rules.h"
#include "sys/futex.h"
#include "sys/report.h"
#include "sys/signal.h"
#include "sys/syscall_x86_64.h"

namespace weir::trap {
namespace {

// Where the frame and what raises the signals may lie. A program with a stack for handlers may have
// little room on its own (Go: less than a kilobyte), and counts on it that signals take none.
uint64_t delivery_limit(const Task& task, uint64_t rsp, uint64_t own_limit) {
  constexpr uint64_t kLeast = 16 << 10;
  const uint64_t base = task.signals.altstack[0], size = task.signals.altstack[2];
  if (size < kLeast || (task.signals.altstack[1] & SS_DISABLE) || rsp - base < size)
    return own_limit;
  for (uint32_t i = 0; i < task.pending; i++) {
    if (shared().signals.actions[task.signals.pending_signals[i].signal].flags & SA_ONSTACK)
      return base + size;
  }
  return own_limit;
}

// What becomes of a real-time signal for which the kernel's queue has no room (RLIMIT_SIGPENDING).
// It is kept until there is, raised without its information (TaskSignals::bare), or lost.
enum class Beyond { kKept, kBare, kLost };

struct Raised {
  uint32_t count;  // signals that are in the kernel's hands now
  bool left;       // others are still noted
};

// All but faults. Returns the mask that is to be set again.
uint64_t block_for_raising(const Task& task) {
  alignas(16) volatile uint64_t masks[] = {sys::kAllButFaults, 0};  // on one page
  sys::raw(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&masks[0]),
           reinterpret_cast<long>(&masks[1]), 8);
  return signal_rules().mask_after(task, masks[1]);
}

// On the program's stack. What is there may be another task's by now, and the kernel could not read
// it: so it is written right before.
void set_mask_from_here(uint64_t mask) {
  volatile uint64_t here = mask;
  sys::raw(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&here), 0, 8);
}

// Isolated: no id is left below the program's stack, where a replay would leave another one.
long queue_to_itself(const Task& task, int signal, const siginfo_t* info) {
  const auto what = reinterpret_cast<long>(info);
  return plan().has_processes()
             ? sys::raw(SYS_rt_tgsigqueueinfo, task.identity.tid, task.identity.tid, signal, what)
             : sys::raw(SYS_rt_tgsigqueueinfo, sys::raw(SYS_getpid), sys::raw(SYS_gettid), signal,
                        what);
}

// Returns false if the kernel's queue has no room.
bool raise_again(Task& task, PendingSignal& noted) {
  auto* info = reinterpret_cast<siginfo_t*>(noted.info);
  const bool counts = signal_rules().mark_raised(task, noted);
  const long result = queue_to_itself(task, noted.signal, info);
  if (counts && result == 0) task.signals.raised_again[noted.signal - sys::kFirstRealTime]++;
  if (counts && result != 0) info->si_errno = 0;
  return result != -EAGAIN;
}

// Returns false if another is on its way so.
bool raise_bare(Task& task, const PendingSignal& noted) {
  if (task.signals.bare.signal) return false;
  task.signals.bare = noted;
  alignas(8) siginfo_t info{};
  info.si_signo = noted.signal;
  info.si_code = SI_USER;
  mark_raised_again(info);
  return queue_to_itself(task, noted.signal, &info) == 0;
}

// The first `count` that were noted have been raised. Not even faults are noted meanwhile.
void forget_noted(Task& task, uint32_t count) {
  const uint64_t all = ~uint64_t{0};
  uint64_t mask = 0;
  sys::raw(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&all),
           reinterpret_cast<long>(&mask), 8);
  PendingSignal* noted = task.signals.pending_signals;
  for (uint32_t i = count; i < task.pending; i++) noted[i - count] = noted[i];
  __atomic_store_n(&task.pending, task.pending - count, __ATOMIC_SEQ_CST);
  sys::raw(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&mask), 0, 8);
}

// REQUIRES: block_for_raising(), in_runtime. Ends in_runtime.
Raised raise_noted(Task& task, Frame& frame, Beyond beyond) {
  constexpr int kOurs = sys::kNeverBlockedCount;
  PendingSignal at_once[kOurs];  // these come while they are raised, so the list must be done with
  int count_at_once = 0;
  uint64_t taken = 0;  // of these
  Raised raised{};
  uint32_t lost = 0;
  // Those may still be noted meanwhile: the list is over when nothing has come behind its end.
  const auto take_all = [&] {
    uint32_t count = 0, end;
    do {
      for (; count < task.pending; count++) {
        PendingSignal& noted = task.signals.pending_signals[count];
        const uint64_t bit = sys::signal_bit(noted.signal);
        if (!(sys::never_blocked() & bit)) {
          if (raise_again(task, noted)) {
            raised.count++;
          } else if (beyond == Beyond::kLost) {
            lost++;
          } else if (beyond == Beyond::kBare && !raised.count && raise_bare(task, noted)) {
            raised.count++;
            raised.left = true;
            forget_noted(task, count + 1);
            return count;
          } else {
            raised.left = true;
            forget_noted(task, count);
            return count;
          }
        } else if (!(taken & bit)) {
          at_once[count_at_once++] = noted;
          raised.count++;
        }
        taken |= bit;
      }
      end = count;
    } while (!__atomic_compare_exchange_n(&task.pending, &end, 0u, false, __ATOMIC_SEQ_CST,
                                          __ATOMIC_SEQ_CST));
    return count;
  };
  const uint32_t count = take_all();
  input::note_signals_taken(task);
  task.in_runtime = 0;
  constexpr uint32_t kMany = 1024;
  if (count > kMany && !raised.left) {
    sys::raw(SYS_madvise, reinterpret_cast<long>(task.signals.pending_signals),
             static_cast<long>(page_up(count * sizeof(PendingSignal))), MADV_REMOVE);
  }
  task.raising = &frame;
  for (;;) {
    for (int i = 0; i < count_at_once; i++) raise_again(task, at_once[i]);
    // Else one was noted while another was on its way to its handler.
    if (raised.left || !task.pending) break;
    count_at_once = 0;
    taken = 0;
    take_all();
  }
  if (lost) {
    report(
        "%u real-time signals are lost: as many as RLIMIT_SIGPENDING allows wait in the kernel; "
        "raise that limit (ulimit -i)",
        uint64_t{lost});
  }
  return raised;
}

}  // namespace

namespace {

// A real-time signal that another thread sends while earlier signals of its number, already noted,
// are being raised again goes behind them. Those carry a mark. (Under View isolated the sender has
// the turn, so nobody sends meanwhile.)
bool overtakes(Task& task, int signal, siginfo_t* info) {
  if (signal < sys::kFirstRealTime) return false;
  uint16_t& outstanding = task.signals.raised_again[signal - sys::kFirstRealTime];
  if (!outstanding) return false;
  if (!unmark_raised_again(*info)) return true;
  outstanding--;
  return false;
}

bool is_noted(const Task& task, int signal) {
  if (signal < sys::kFirstRealTime) return false;
  for (uint32_t i = 0; i < task.pending; i++)
    if (task.signals.pending_signals[i].signal == signal) return true;
  return false;
}

void note_behind(Task& task, int signal, siginfo_t* info) {
  take_timer_overruns(info);
  note_pending(task, signal, info);
}

// It is the one that was raised without its information, which TaskSignals::bare has. Or another of
// its number is there in its place, which is noted: the kernel forgets such a one where others are
// queued.
bool meets_bare(Task& task, int signal, siginfo_t* info) {
  PendingSignal& bare = task.signals.bare;
  const bool is_blank = has_lost_information(*info);
  if (bare.signal != signal || (is_raised_again(*info) && !is_blank)) return false;
  siginfo_t came = *info;
  copy_bytes(info, bare.info, sizeof bare.info);
  bare.signal = 0;
  if (!is_blank) note_behind(task, signal, &came);
  return true;
}

}  // namespace

// Tasks are threads: others may send meanwhile (overtakes).
bool SignalRules::mark_raised(Task&, PendingSignal& noted) {
  auto& info = *reinterpret_cast<siginfo_t*>(noted.info);
  const bool counts =
      noted.signal >= sys::kFirstRealTime && info.si_errno == 0 && !plan().has_processes();
  if (counts) mark_raised_again(info);
  return counts;
}

bool raise_queued(Task& task, PendingSignal& noted, bool can_be_bare) {
  return raise_again(task, noted) || (can_be_bare && raise_bare(task, noted));
}

bool waits_behind(Task& task, int signal, siginfo_t* info, bool is_in_runtime) {
  if (meets_bare(task, signal, info)) return false;
  const bool is_raised = is_raised_again(*info);
  if (is_raised && has_lost_information(*info)) return true;  // one has come in its place
  if (overtakes(task, signal, info)) {
    if (!is_noted(task, signal) &&  // else it would be before that one
        sys::raw(SYS_rt_tgsigqueueinfo, sys::raw(SYS_getpid), sys::raw(SYS_gettid), signal,
                 reinterpret_cast<long>(info)) == 0)
      return true;
    if (is_in_runtime) return false;  // noted by who asks
  } else if (is_raised || plan().has_processes() || input::is_on() || is_in_runtime ||
             !is_noted(task, signal)) {
    return false;  // else it waits behind those for which there was no room (signal/deliver.cc)
  }
  note_behind(task, signal, info);
  return true;
}

// Copies the processor's state that belongs to the frame behind `to`, up to `limit`.
void copy_state(ucontext_t& to, uint64_t limit) {
  const void* const from = to.uc_mcontext.fpregs;
  if (!from) return;
  const uint64_t size = sys::size_of_state(from);
  const uint64_t at = (reinterpret_cast<uint64_t>(&to) + sys::kContextSize + 63) & ~uint64_t{63};
  if (at + size > limit) return;
  copy_bytes(reinterpret_cast<void*>(at), from, size);
  to.uc_mcontext.fpregs = reinterpret_cast<fpregset_t>(at);
}

}  // namespace weir::trap

extern "C" {

extern __attribute__((visibility("hidden"))) const uint64_t weir_all_but_faults_and_steps;
const uint64_t weir_all_but_faults_and_steps = weir::sys::kAllButFaultsAndSteps;

// A handler returns, at a View that gives pages: its frame is copied to `to` on the runtime's
// stack, SIGRETURN_COPY bytes. The kernel could not have a page that is away. Signals but those of
// faults and steps are blocked until the kernel sets the frame's mask.
__attribute__((visibility("hidden"))) ucontext_t* weir_copy_for_sigreturn(const ucontext_t* from,
                                                                          ucontext_t* to) {
  using namespace weir;
  Task& task = self();
  task.in_runtime = 1;
  copy_bytes(to, from, sys::kContextSize);
  trap::copy_state(*to, reinterpret_cast<uint64_t>(to) + SIGRETURN_COPY);
  auto& rip = to->uc_mcontext.gregs[REG_RIP];
  const auto back = static_cast<uint64_t>(rip);
  if (input::replaying() && !page::own_image().contains(back))
    rip = static_cast<greg_t>(trap::seek_point(task, back));
  task.in_runtime = 0;
  // What came on the way here is not to wait for the program's next event.
  if (input::recording() && task.pending) (void)trap::stop_at_point(task, *to, true);
  return to;
}

// Copies the frame to the program's stack, below the red zone, or to that of its handlers: then
// nothing of the program's stack is written.
__attribute__((visibility("hidden"))) weir::Frame* weir_prepare_delivery(weir::Frame* frame) {
  weir::translate::leave(*frame);
  weir::turn_rules().before_handler(weir::self(), frame->rip);
  const uint32_t recorded_here = weir::self().pending;
  weir::release_turn(weir::self(), weir::ReleaseReason::kHandlerBegins);
  // Those that the inbox gives at the turn's end are among the recorded ones.
  if (weir::input::replaying()) weir::self().pending = recorded_here;
  weir::trap::signal_rules().settle(weir::self());  // where the task's own mask is
  weir::self().recorded.settling = weir::trap::signal_rules().is_settled();
  constexpr uint64_t kRedZone = 128;
  const uint64_t limit =
      weir::trap::delivery_limit(weir::self(), frame->rsp, frame->rsp - kRedZone);
  auto* copy = reinterpret_cast<weir::Frame*>((limit - sizeof(weir::Frame)) & ~uint64_t{15});
  *copy = *frame;
  weir::StubPlace place;
  const bool in_stub = weir::find_stub_place(frame->rip, place);
  copy->shown = in_stub ? place.program_address : frame->rip;
  copy->rflags &= ~weir::sys::kTrapFlag;  // a probe may have been stepping
  return copy;
}

// On the program's stack: every noted signal again, now to be handled. Those of one real-time
// number keep their order, so what has come in the kernel meanwhile is queued behind them. True:
// the task comes to the runtime once more, before it goes on where the frame says
// (record/stop_point.h): not from here, where what it uses of the stack would be seen.
__attribute__((visibility("hidden"))) bool weir_raise_pending(weir::Frame* frame) {
  using namespace weir;
  Task& task = self();
  const bool has_wait_mask = task.signals.has_wait_mask;
  const uint64_t wait_mask = task.signals.wait_mask;
  // In a recording they have been raised, as far as there was room (record/signals.h).
  const bool is_settled = trap::signal_rules().is_settled();
  auto beyond = is_settled ? trap::Beyond::kLost : trap::Beyond::kKept;
  for (;;) {
    const uint64_t mask = trap::block_for_raising(task);
    const uint64_t after = (has_wait_mask ? wait_mask : mask) & ~sys::never_blocked();
    task.in_runtime = 1;
    if (!is_settled) trap::take_queued(task, after);
    const trap::Raised raised = trap::raise_noted(task, *frame, beyond);
    if (has_wait_mask) {  // the handlers run as if the wait with its own mask still went on
      task.signals.has_wait_mask = 0;
      trap::set_mask_from_here(after);
    }
    trap::set_mask_from_here(mask);
    if (is_settled || !task.pending) break;
    // What the program blocks, in a handler say, may as well wait here until there is room.
    const bool is_stuck = raised.left && !raised.count;
    if (is_stuck && ((after & sys::signal_bit(task.signals.pending_signals[0].signal)) ||
                     beyond == trap::Beyond::kBare))
      break;
    beyond = is_stuck ? trap::Beyond::kBare : trap::Beyond::kKept;
  }
  task.recorded.has_raised = 1;
  task.recorded.settling = 0;
  return trap::signal_rules().comes_back(task);
}
}
