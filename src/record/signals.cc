#include "record/signals.h"

#include "base/bytes.h"
#include "control/control.h"
#include "control/signals.h"
#include "record/input.h"
#include "record/stop_point.h"
#include "record/stream.h"
#include "sys/cpuid_x86_64.h"
#include "sys/futex.h"
#include "sys/maps.h"
#include "sys/signal.h"
#include "sys/syscall_x86_64.h"

namespace weir::trap {

void take_recorded_signals(Task& task) {
  alignas(8) uint8_t info[128];
  int signal = input::take_signal(task, info);
  if (!signal) return;
  do {
    note_pending(task, signal, reinterpret_cast<const siginfo_t*>(info));
  } while ((signal = input::take_signal(task, info)));
}

namespace {

// How many signals the kernel's queue takes now. All of a user's programs share it.
uint64_t room_in_queue() {
  char text[4096];
  if (sys::failed(sys::read_own_file("/proc/self/status", text))) return 0;
  for (const char* line = text; *line; line++) {
    if (!starts_with(line, "SigQ:\t")) continue;
    uint64_t queued = 0, most = 0;
    for (line += 6; *line >= '0' && *line <= '9'; line++)
      queued = queued * 10 + static_cast<uint64_t>(*line - '0');
    for (line += *line == '/'; *line >= '0' && *line <= '9'; line++)
      most = most * 10 + static_cast<uint64_t>(*line - '0');
    return queued < most ? most - queued : 0;
  }
  return 0;
}

// Raises the real-time signals that were noted, while all are blocked. Recording, these are kept.
// The kernel's queue takes only so many: the rest is parked.
// `blocked`: when the handlers begin. The first can go without its information, unless others of
// its number may be queued.
void raise_real_time(Task& task, uint64_t blocked) {
  constexpr uint32_t kMostOthers = sys::kFirstRealTime;  // they do not queue
  const sys::NoSignals guard;
  PendingSignal* const noted = task.signals.pending_signals;
  PendingSignal others[kMostOthers];
  uint32_t other_count = 0, parked = 0;
  bool is_first = true;
  for (uint32_t i = 0; i < task.pending; i++) {
    PendingSignal& one = noted[i];
    if (one.signal < sys::kFirstRealTime) {
      if (other_count < kMostOthers) others[other_count++] = one;
      continue;
    }
    const bool can_be_bare = is_first && !(blocked & sys::signal_bit(one.signal));
    // Behind one without its information nothing is raised: the kernel would forget that one.
    bool is_raised = !parked && !task.signals.bare.signal && raise_queued(task, one, can_be_bare);
    // There was room when the task decided to come here, and a replay comes, too.
    constexpr uint32_t kMostPauses = 1000;
    for (uint32_t pauses = 0; is_first && !is_raised && pauses < kMostPauses; pauses++) {
      const sys::Timespec pause{0, 50'000};
      sys::raw(SYS_nanosleep, reinterpret_cast<long>(&pause), 0);
      is_raised = raise_queued(task, one, can_be_bare);
    }
    is_first = false;
    unmark_raised_again(*reinterpret_cast<siginfo_t*>(one.info));
    if (!is_raised) noted[parked++] = one;
    else if (input::recording()) input::keep_signal(task, one.signal, one.info);
  }
  for (uint32_t i = 0; i < other_count; i++) noted[parked + i] = others[i];
  task.recorded.parked = parked;
  task.signals.pending_signals += parked;
  __atomic_store_n(&task.pending, other_count, __ATOMIC_SEQ_CST);
}

}  // namespace

bool has_room_for_parked(const Task& task) {
  if (!task.recorded.parked) return false;
  uint64_t mask = task.signals.wait_mask;
  if (!task.signals.has_wait_mask)
    sys::raw(SYS_rt_sigprocmask, SIG_BLOCK, 0, reinterpret_cast<long>(&mask), 8);
  const int first =
      task.signals.pending_signals[-static_cast<int64_t>(task.recorded.parked)].signal;
  return (!task.signals.bare.signal && !(mask & sys::signal_bit(first))) || room_in_queue() != 0;
}

void unpark(Task& task) {
  if (!task.recorded.parked) return;
  const sys::NoSignals guard;
  task.signals.pending_signals -= task.recorded.parked;
  __atomic_store_n(&task.pending, task.pending + task.recorded.parked, __ATOMIC_SEQ_CST);
  task.recorded.parked = 0;
}

void park_hopeless(Task& task) {
  unpark(task);
  for (uint32_t i = 0; i < task.pending; i++)
    if (task.signals.pending_signals[i].signal < sys::kFirstRealTime) return;
  {
    const sys::NoSignals guard;
    task.recorded.parked = task.pending;
    task.signals.pending_signals += task.pending;
    __atomic_store_n(&task.pending, 0u, __ATOMIC_SEQ_CST);
  }
  if (has_room_for_parked(task)) unpark(task);
}

bool go_on_with_parked(Task& task) {
  if (!task.recorded.has_raised) return false;
  task.recorded.has_raised = 0;
  const bool has_room = has_room_for_parked(task);
  // Else a replay would take them with those before.
  const bool is_more = input::recording() && (has_room || task.pending);
  if (is_more) input::log_number(input::What::kMoreSignals, 1);
  if (has_room) unpark(task);
  else if (input::replaying() && input::next_is(input::What::kMoreSignals))
    input::log_number(input::What::kMoreSignals, 1);
  return has_room || input::recording();
}

namespace {

// A signal that the program handles has come. Returns true if it must be noted or dropped, and not
// be handed over now.
bool waits_for_event(Task& task, int signal, siginfo_t* info) {
  const uint64_t once = signal < sys::kFirstRealTime ? sys::signal_bit(signal) : 0;
  // Two of one number are one to the kernel, which keeps the first: another's, that came while this
  // one's was about to be raised.
  const bool stands_for_it = task.recorded.raised_once & once;
  task.recorded.raised_once &= ~once;
  return !unmark_raised_again(*info) && !stands_for_it;
}

// Of the processor's state, as XSAVE lays it out, the kernel leaves out what the processor takes
// for unused, and which parts these are depends on when it was last taken away. So all parts are
// there, unused ones as they begin. `state`: the legacy area and what follows, `size` bytes.
void fill_all_parts(uint8_t* state, uint64_t size) {
  constexpr uint32_t kX87 = 32, kXmm = 160, kXmmLimit = 416;
  // Those that a processor may have and a kernel saves in this layout.
  constexpr unsigned kParts = 10;
  static struct { uint32_t offset, size; } parts[kParts];
  static bool known = false;
  uint32_t magic;
  uint64_t all, used;
  copy_bytes(&magic, state + sys::kStateSoftware, sizeof magic);
  if (magic != sys::kStateMagic || size < sys::kStateHeader + 64) return;
  copy_bytes(&all, state + sys::kStateSoftware + 8, sizeof all);
  copy_bytes(&used, state + sys::kStateHeader, sizeof used);
  if (!known) {
    for (unsigned i = 2; i < kParts; i++) {
      const sys::Cpuid told = sys::cpuid(0xd, i);
      parts[i] = {told.b, told.a};
    }
    known = true;
  }
  if (!(used & 1)) {
    zero_bytes(state, 24);
    const uint16_t control = 0x37f;
    copy_bytes(state, &control, sizeof control);
    zero_bytes(state + kX87, kXmm - kX87);
  }
  if (!(used & 2)) zero_bytes(state + kXmm, kXmmLimit - kXmm);
  for (unsigned i = 2; i < kParts; i++) {
    const bool is_there = (all >> i & 1) && uint64_t{parts[i].offset} + parts[i].size <= size;
    if (is_there && !(used >> i & 1)) zero_bytes(state + parts[i].offset, parts[i].size);
  }
  constexpr uint64_t kProtectionKeys = uint64_t{1} << 9;  // zero is not how it begins
  used |= all & ~kProtectionKeys & ((uint64_t{1} << kParts) - 1);
  copy_bytes(state + sys::kStateHeader, &used, sizeof used);
}

// Recorded and replayed.
class Logged : public SignalRules {
 public:
  Coming meet(Task& task, int signal, siginfo_t* info) override {
    const bool is_ready = is_raised_again(*info);
    const bool waits = waits_for_event(task, signal, info);
    return {is_ready, waits, !waits, true};
  }
  bool keeps_fault(int signal) override { return signal == SIGFPE || signal == SIGILL; }
  void log_end(Task& task, int signal, uint64_t rip, uint64_t address) override {
    recording::end_by_fault(task, signal, {rip, address});
  }
  void show_flags(ucontext_t& context) override {
    auto& gregs = context.uc_mcontext.gregs;
    gregs[REG_EFL] = static_cast<greg_t>(
        shown_flags(static_cast<uint64_t>(gregs[REG_RIP]), static_cast<uint64_t>(gregs[REG_EFL])));
  }
  void fill_state(uint8_t* state, uint64_t size) override { fill_all_parts(state, size); }

  // From here on no more come. Those of real-time numbers are raised here, as far as the kernel's
  // queue has room; the others are parked: not pending, and not kept yet. What is left below the
  // program's stack would differ in a replay.
  void settle(Task& task) override { raise_real_time(task, block_all_but_faults(task)); }
  bool is_settled() override { return true; }
  uint64_t mask_after(const Task& task, uint64_t) override { return task.recorded.deliver_mask; }
  bool mark_raised(Task& task, PendingSignal& noted) override {
    mark_raised_again(*reinterpret_cast<siginfo_t*>(noted.info));
    if (noted.signal < sys::kFirstRealTime)
      task.recorded.raised_once |= sys::signal_bit(noted.signal);
    return false;
  }

 protected:
  // Returns what is blocked when the handlers begin.
  static uint64_t block_all_but_faults(Task& task) {
    const uint64_t all = sys::kAllButFaults;
    sys::raw(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&all),
             reinterpret_cast<long>(&task.recorded.deliver_mask), 8);
    return (task.signals.has_wait_mask ? task.signals.wait_mask : task.recorded.deliver_mask) &
           ~sys::never_blocked();
  }
};

class Recorded final : public Logged {
 public:
  void settle(Task& task) override {
    const uint64_t blocked = block_all_but_faults(task);
    take_all_queued(task, blocked);
    unpark(task);
    raise_real_time(task, blocked);
    for (uint32_t i = 0; i < task.pending; i++)
      input::keep_signal(task, task.signals.pending_signals[i].signal,
                         task.signals.pending_signals[i].info);
  }
  // Whether there is room it asks in the runtime: on the program's stack a replay asks nothing.
  // What has come meanwhile, as a handler's return lets it through, is before what the program does
  // next.
  bool comes_back(const Task& task) override { return task.recorded.parked || task.pending; }
};

class Replayed final : public Logged {
 public:
  bool comes_back(const Task&) override { return true; }
};

class Live final : public SignalRules {};

constinit Live g_live;
constinit Recorded g_recorded;
constinit Replayed g_replayed;

}  // namespace

SignalRules& signal_rules() {
  switch (input::g_mode) {
    case input::Mode::kNone: break;
    case input::Mode::kRecord: return g_recorded;
    case input::Mode::kReplay: return g_replayed;
  }
  return g_live;
}

}  // namespace weir::trap
