#include "record/signals.h"

#include "base/bytes.h"
#include "control/control.h"
#include "control/signals.h"
#include "record/input.h"
#include "sys/cpuid_x86_64.h"
#include "sys/syscall_x86_64.h"

namespace weir::trap {

bool waits_for_event(Task& task, int signal, siginfo_t* info) {
  const uint64_t once = signal < sys::kFirstRealTime ? sys::signal_bit(signal) : 0;
  // Two of one number are one to the kernel, which keeps the first: another's, that came while this
  // one's was about to be raised.
  const bool stands_for_it = task.recorded.raised_once & once;
  task.recorded.raised_once &= ~once;
  return !unmark_raised_again(*info) && !stands_for_it;
}

void take_recorded_signals(Task& task) {
  alignas(8) uint8_t info[128];
  int signal = input::take_signal(task, info);
  if (!signal) return;
  do {
    note_pending(task, signal, reinterpret_cast<const siginfo_t*>(info));
  } while ((signal = input::take_signal(task, info)));
}

void settle_pending(Task& task) {
  const uint64_t all = sys::kAllButFaults;
  sys::raw(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&all),
           reinterpret_cast<long>(&task.recorded.deliver_mask), 8);
  if (!input::recording()) return;
  take_queued(task,
              (task.signals.has_wait_mask ? task.signals.wait_mask : task.recorded.deliver_mask) &
                  ~sys::never_blocked());
  for (uint32_t i = 0; i < task.pending; i++)
    input::keep_signal(task, task.signals.pending_signals[i].signal,
                       task.signals.pending_signals[i].info);
}

void fill_state(uint8_t* state, uint64_t size) {
  constexpr uint32_t kReserved = 464, kHeader = 512, kMagic = 0x46505853, kX87 = 32, kXmm = 160,
                     kXmmLimit = 416;
  // Those that a processor may have and a kernel saves in this layout.
  constexpr unsigned kParts = 10;
  static struct { uint32_t offset, size; } parts[kParts];
  static bool known = false;
  uint32_t magic;
  uint64_t all, used;
  copy_bytes(&magic, state + kReserved, sizeof magic);
  if (magic != kMagic || size < kHeader + 64) return;
  copy_bytes(&all, state + kReserved + 8, sizeof all);
  copy_bytes(&used, state + kHeader, sizeof used);
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
  copy_bytes(state + kHeader, &used, sizeof used);
}

}  // namespace weir::trap
