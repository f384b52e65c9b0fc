// The way out of the runtime while signals wait for the program (entry_x86_64.S,
// weir_exit_with_signals).

#include <signal.h>
#include <sys/mman.h>

#include "code/sites/site_table.h"
#include "code/translate/counted.h"
#include "control/control.h"
#include "control/process.h"
#include "record/input.h"
#include "record/signals.h"
#include "signal/raised_again.h"
#include "signal/signals.h"
#include "sync/event.h"
#include "sync/serial_code.h"
#include "sync/turn.h"
#include "sys/futex.h"
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

}  // namespace
}  // namespace weir::trap

extern "C" {

// Copies the frame to the program's stack, below the red zone, or to that of its handlers: then
// nothing of the program's stack is written.
__attribute__((visibility("hidden"))) weir::Frame* weir_prepare_delivery(weir::Frame* frame) {
  weir::translate::leave(*frame);
  if (weir::plan().is_serial()) weir::serial::before_handler(weir::self(), frame->rip);
  weir::release_turn(weir::self(), weir::ReleaseReason::kHandlerBegins);
  if (weir::input::is_on())
    weir::trap::settle_pending(weir::self());  // where the task's own mask is
  constexpr uint64_t kRedZone = 128;
  const uint64_t limit =
      weir::trap::delivery_limit(weir::self(), frame->rsp, frame->rsp - kRedZone);
  auto* copy = reinterpret_cast<weir::Frame*>((limit - sizeof(weir::Frame)) & ~uint64_t{15});
  *copy = *frame;
  weir::StubPlace place;
  const bool in_stub = !weir::plan().is_serial() && weir::find_stub_place(frame->rip, place);
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
  uint64_t all = sys::kAllButFaults, mask = 0;
  sys::raw(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&all),
           reinterpret_cast<long>(&mask), 8);
  if (input::is_on()) mask = task.recorded.deliver_mask;
  const uint64_t after =
      (task.signals.has_wait_mask ? task.signals.wait_mask : mask) & ~sys::never_blocked();
  if (!input::is_on()) trap::take_queued(task, after);
  auto raise = [&](PendingSignal& noted) {
    auto* info = reinterpret_cast<siginfo_t*>(noted.info);
    const bool counts = noted.signal >= sys::kFirstRealTime && info->si_errno == 0 &&
                        !plan().has_processes() && !input::is_on();
    const bool marks = counts || input::is_on();
    if (marks) trap::mark_raised_again(*info);
    if (input::is_on() && noted.signal < sys::kFirstRealTime)
      task.recorded.raised_once |= sys::signal_bit(noted.signal);
    // Isolated: no id is left below the program's stack, where a replay would leave another one.
    const long result =
        plan().has_processes()
            ? sys::raw(SYS_rt_tgsigqueueinfo, task.identity.tid, task.identity.tid, noted.signal,
                       reinterpret_cast<long>(info))
            : sys::raw(SYS_rt_tgsigqueueinfo, sys::raw(SYS_getpid), sys::raw(SYS_gettid),
                       noted.signal, reinterpret_cast<long>(info));
    if (counts && result == 0) task.signals.raised_again[noted.signal - sys::kFirstRealTime]++;
  };
  constexpr int kOurs = sys::kNeverBlockedCount;
  PendingSignal at_once[kOurs];  // these come while they are raised, so the list must be done with
  int count_at_once = 0;
  uint64_t taken = 0;  // of these
  // Those may still be noted meanwhile: the list is over when nothing has come behind its end.
  const auto take_all = [&] {
    uint32_t count = 0, end;
    do {
      for (; count < task.pending; count++) {
        PendingSignal& noted = task.signals.pending_signals[count];
        const uint64_t bit = sys::signal_bit(noted.signal);
        if (!(sys::never_blocked() & bit)) raise(noted);
        else if (!(taken & bit)) at_once[count_at_once++] = noted;
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
  if (count > kMany) {
    sys::raw(SYS_madvise, reinterpret_cast<long>(task.signals.pending_signals),
             static_cast<long>(page_up(count * sizeof(PendingSignal))), MADV_REMOVE);
  }
  task.raising = frame;
  for (;;) {
    for (int i = 0; i < count_at_once; i++) raise(at_once[i]);
    if (!task.pending) break;  // else one was noted while another was on its way to its handler
    count_at_once = 0;
    taken = 0;
    take_all();
  }
  if (task.signals
          .has_wait_mask) {  // the handlers run as if the wait with its own mask still went on
    task.signals.has_wait_mask = 0;
    sys::raw(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&after), 0, 8);
  }
  sys::raw(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&mask), 0, 8);
  return input::replaying();
}
}
