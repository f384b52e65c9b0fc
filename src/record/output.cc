// What the program prints is what the user sees of a replay: the bytes that it writes to the
// command's outputs, by whatever descriptor. Which these are follows from its calls: duplicated,
// kept open over an execution, or opened once more by a name.

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>

#include "base/bytes.h"
#include "channel/wait.h"
#include "control/control.h"
#include "memory/program_memory.h"
#include "record/input.h"
#include "record/stream.h"
#include "sys/futex.h"
#include "sys/syscall_x86_64.h"

namespace weir::recording {

namespace {

using input::What;

// The output that is as good as this file: the same pipe, terminal or device, or, by a name that
// means a descriptor, the same file. 0 none.
uint8_t output_like(long descriptor, const char* path) {
  struct stat status {};
  if (sys::raw(SYS_fstat, descriptor, reinterpret_cast<long>(&status)) != 0) return 0;
  const bool is_device = S_ISCHR(status.st_mode),
             is_name = starts_with(path, "/dev/") || starts_with(path, "/proc/");
  if (is_device && status.st_rdev == makedev(1, 3)) return 0;  // /dev/null
  if (!is_device && !S_ISFIFO(status.st_mode) && !is_name) return 0;
  const size_t length = string_length(path);
  const bool wants_errors = length && (path[length - 1] == '2' ||
                                       (length > 3 && equal_strings(path + length - 3, "err")));
  uint8_t found = 0;
  for (uint8_t i = 1; i <= 2; i++) {
    const channel::Output& output = header().output[i - 1];
    // /dev/tty.
    const bool own_terminal = is_device && status.st_rdev == makedev(5, 0) && output.is_terminal;
    const bool same =
        own_terminal || (is_device && output.special
                             ? status.st_rdev == output.special
                             : status.st_dev == output.device && status.st_ino == output.inode);
    if (same && (!found || wants_errors)) found = i;
  }
  return found;
}

// The path and flags of a call that opens; false: it is none.
bool opens(const effects::Request& request, long& path, long& flags) {
  switch (request.number) {
    case SYS_open: path = request.a[0], flags = request.a[1]; return true;
    case SYS_creat: path = request.a[0], flags = O_WRONLY; return true;
    case SYS_openat: path = request.a[1], flags = request.a[2]; return true;
    case SYS_openat2: path = request.a[1], flags = O_WRONLY; return true;
    default: return false;
  }
}

void follow_open(const Task& task, const effects::Request& request, long result) {
  long path, flags;
  if (!opens(request, path, flags)) return;
  uint8_t output = 0;
  if (input::recording() && (flags & O_ACCMODE) != O_RDONLY) {
    char name[64];
    const long length = trap::string_from_program(name, path, sizeof name);
    if (length < 0 || length == static_cast<long>(sizeof name)) name[0] = 0;
    output = output_like(result, name);
    if (output) input::log_number(What::kVisibleOutput, output);
  } else if (input::replaying() && input::next_is(What::kVisibleOutput)) {
    output = static_cast<uint8_t>(input::log_number(What::kVisibleOutput, 0));
  }
  set_visible(task, result, output);
}

// Which descriptors are the outputs that the user sees.
void follow(const Task& task, const effects::Request& request, long result) {
  const auto of = [&](long descriptor) { return visible(task, descriptor); };
  const auto set = [&](long descriptor, uint8_t what) { set_visible(task, descriptor, what); };
  if (result < 0) return;
  switch (request.number) {
    case SYS_dup: set(result, of(request.a[0])); break;
    case SYS_dup2:
    case SYS_dup3: set(request.a[1], of(request.a[0])); break;
    case SYS_fcntl:
      if (request.a[1] == F_DUPFD || request.a[1] == F_DUPFD_CLOEXEC) set(result, of(request.a[0]));
      break;
    case SYS_close: set(request.a[0], 0); break;
    case SYS_close_range:
      for (long fd = request.a[0];
           fd <= request.a[1] && fd < kVisibleDescriptors && !(request.a[2] & CLOSE_RANGE_CLOEXEC);
           fd++)
        set(fd, 0);
      break;
    default: follow_open(task, request, result);
  }
}

// As far as it can be written: somebody may have closed the other end.
void write_all(long output, uint64_t address, uint64_t size) {
  while (size) {
    const long written =
        sys::raw(SYS_write, output, static_cast<long>(address), static_cast<long>(size));
    if (written > 0) {
      address += static_cast<uint64_t>(written);
      size -= static_cast<uint64_t>(written);
    } else if (written == -EAGAIN) {
      pollfd poll{static_cast<int>(output), POLLOUT, 0};
      sys::raw(SYS_poll, reinterpret_cast<long>(&poll), 1, -1);
    } else if (written != -EINTR) {
      return;
    }
  }
}

bool is_print(long number) {
  switch (number) {
    case SYS_write:
    case SYS_writev:
    case SYS_pwrite64:
    case SYS_pwritev:
    case SYS_pwritev2:
    case SYS_sendto:
    case SYS_sendmsg: return true;
    default: return false;
  }
}

// What the user is to see again: where it was written at an offset, behind what there is.
void repeat_output(const effects::Request& request, long output, long result) {
  long parts = request.a[1], count = request.a[2];
  msghdr message;
  switch (request.number) {
    case SYS_write:
    case SYS_pwrite64:
    case SYS_sendto:
      write_all(output, static_cast<uint64_t>(request.a[1]), static_cast<uint64_t>(result));
      return;
    case SYS_sendmsg:
      if (trap::from_program(message, request.a[1]) != 0) return;
      parts = reinterpret_cast<long>(message.msg_iov);
      count = static_cast<long>(message.msg_iovlen);
      break;
    default: break;
  }
  trap::each_piece(parts, count, static_cast<uint64_t>(result),
                   [&](uint64_t address, uint64_t size) { write_all(output, address, size); });
}

int64_t next_print() {
  return static_cast<int64_t>(__atomic_fetch_add(&header().prints, 1u, __ATOMIC_ACQ_REL));
}

// Returns when all before this one have been shown, or when whoever was to show one does not come;
// but of a damaged recording that is where the output ends: there would be a hole in it.
void await_print(int64_t print) {
  // A process that was killed may have counted one and not recorded it.
  constexpr uint64_t kMaxWaitNs = 2'000'000'000;
  Looking looking;
  bool told = false;
  uint64_t seen = ~uint64_t{0}, since = 0;
  for (uint64_t now; (now = __atomic_load_n(&header().prints, __ATOMIC_ACQUIRE)) <
                     static_cast<uint64_t>(print);) {
    if (now != seen) since = sys::monotonic_ns();
    seen = now;
    if (sys::monotonic_ns() - since > kMaxWaitNs) {
      if (!__atomic_load_n(&header().damaged, __ATOMIC_ACQUIRE)) return;
      if (!told) note_end();
      told = true;
    }
    looking.sleep();
  }
}

void note_print(int64_t print) {
  const uint64_t next = static_cast<uint64_t>(print) + 1;
  for (uint64_t now = __atomic_load_n(&header().prints, __ATOMIC_ACQUIRE); now < next;) {
    if (__atomic_compare_exchange_n(&header().prints, &now, next, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
      return;
  }
}

}  // namespace

PrintScope::PrintScope(const Task& task, const effects::Request& request)
    : own_(static_cast<uint32_t>(task.identity.tid)) {
  constexpr uint64_t kMaxWaitNs = 50'000'000;
  if (!input::recording() || !is_print(request.number)) return;
  const long output = visible(task, request.a[0]);
  if (!output) return;
  channel::Header& h = header();
  const bool is_one =
      h.output[0].device == h.output[1].device && h.output[0].inode == h.output[1].inode;
  printer_ = &h.printer[is_one ? 0 : output - 1];
  uint32_t last = 0;
  for (uint64_t since = 0;;) {
    uint32_t holder = 0;
    if (__atomic_compare_exchange_n(printer_, &holder, own_, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
      return;
    const uint32_t tid = holder & ~channel::kPrintsAwaited;
    const uint64_t now = sys::monotonic_ns();
    if (tid != last) since = now;
    last = tid;
    const bool is_late = now - since > kMaxWaitNs;
    if (is_late) own_ |= channel::kPrintsAwaited;
    const uint32_t next = is_late ? own_ : tid | channel::kPrintsAwaited;
    if (!__atomic_compare_exchange_n(printer_, &holder, next, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE))
      continue;
    if (is_late) return;
    sys::futex_wait(printer_, next, kMaxWaitNs);
    own_ |= channel::kPrintsAwaited;  // there may be more who sleep
  }
}

PrintScope::~PrintScope() {
  if (!printer_) return;
  uint32_t holder = __atomic_load_n(printer_, __ATOMIC_ACQUIRE);
  while ((holder & ~channel::kPrintsAwaited) == (own_ & ~channel::kPrintsAwaited)) {
    if (!__atomic_compare_exchange_n(printer_, &holder, 0u, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE))
      continue;
    if (holder & channel::kPrintsAwaited) sys::futex_wake(printer_);
    return;
  }
}

uint8_t visible(const Task& task, long descriptor) {
  if (descriptor < 0 || descriptor >= kVisibleDescriptors) return 0;
  const uint8_t own = task.identity.in_vfork && descriptor < channel::kLoggedOutputs
                          ? header().visible_output[task.recorded.ordinal][descriptor]
                          : uint8_t{0};
  return own ? own % 3 : shared().recording.visible_output[descriptor];
}

void set_visible(const Task& task, long descriptor, uint8_t what) {
  if (descriptor < 0 || descriptor >= kVisibleDescriptors) return;
  if (!task.identity.in_vfork) {
    shared().recording.visible_output[descriptor] = what;
  } else if (descriptor < channel::kLoggedOutputs) {
    header().visible_output[task.recorded.ordinal][descriptor] = what ? what : uint8_t{3};
  }
}

void log_output(const Task& task) {
  for (uint8_t i = 0; i < channel::kLoggedOutputs; i++) {
    const uint8_t what = visible(task, i);
    header().visible_output[task.recorded.ordinal][i] = what ? what : uint8_t{3};
  }
}

void take_logged_output(uint32_t ordinal) {
  for (uint8_t i = 0; i < channel::kLoggedOutputs; i++) {
    const uint8_t kept = header().visible_output[ordinal][i];
    uint8_t& what = shared().recording.visible_output[i];
    what = kept == 0 ? (i == 1 || i == 2 ? i : uint8_t{0}) : kept < 3 ? kept : uint8_t{0};
    const bool is_open = i <= 2 || !what || input::log_value(What::kFlags, [=] {
                                              return sys::raw(SYS_fcntl, i, F_GETFD);
                                            }) >= 0;
    if (!is_open) what = 0;
  }
}

// The prints of all processes are counted, when each has been made: a replay shows them in that
// order.
void note_result(const Task& task, const effects::Request& request, long result) {
  follow(task, request, result);
  if (result <= 0 || !is_print(request.number)) return;
  const long output = visible(task, request.a[0]);
  if (!output) return;
  const int64_t print = input::log_number(What::kPrint, input::recording() ? next_print() : 0);
  if (input::recording()) return;
  await_print(print);
  repeat_output(request, output, result);
  note_print(print);
}

}  // namespace weir::recording
