// Writes. The kernel only reads program memory for them, so one that may sleep is made outside the
// rounds as it is. What the kernel would store meanwhile (offsets, lengths) it stores in the
// runtime's memory, and the task copies it into the program's in its turn. A write that cannot
// sleep is made in the turn, so its order is the order of events.

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "memory/program_memory.h"
#include "record/input.h"
#include "sync/event.h"
#include "sys/syscall_x86_64.h"
#include "syscall/transfer.h"

namespace weir::syscalls {

namespace {

// What cannot be read the kernel refuses.
uint64_t total_of(long parts, uint64_t count) {
  constexpr uint64_t kMax = 1024;  // the kernel refuses more
  uint64_t total = 0;
  iovec part;
  for (uint64_t i = 0; i < count && i < kMax; i++) {
    if (trap::from_program(part, parts + static_cast<long>(i * sizeof part)) != 0) break;
    total += part.iov_len;
  }
  return total;
}

msghdr header_of(const Call& call) {
  msghdr header;
  return trap::from_program(header, call.b) == 0 ? header : msghdr{};
}

bool may_sleep(long descriptor) {
  const long flags = status_flags(descriptor);
  return flags >= 0 && !(flags & O_NONBLOCK) && is_stream(descriptor);
}

// An offset that the kernel reads and writes: a copy of the program's, and back in the turn.
struct Offset {
  long program;
  int64_t before = 0, value = 0;
  bool good;
  explicit Offset(long pointer)
      : program(pointer), good(!pointer || trap::from_program(before, pointer) == 0) {
    value = before;
  }
  long argument() { return program ? reinterpret_cast<long>(&value) : 0; }
  long put_back() {
    if (!program || before == value) return 0;
    note_written();
    return trap::to_program(program, value);
  }
};

}  // namespace

uint64_t bytes_of(const Call& call) {
  switch (call.number) {
    case SYS_writev: return total_of(call.b, static_cast<uint64_t>(call.c));
    case SYS_sendmsg: {
      const msghdr header = header_of(call);
      return total_of(reinterpret_cast<long>(header.msg_iov), header.msg_iovlen);
    }
    default: return static_cast<uint64_t>(call.c);  // write, sendto
  }
}

// A datagram to an address: whether there is room shows only when it is sent.
bool has_address(const Call& call) {
  if (call.number == SYS_sendto) return call.e != 0;
  return call.number == SYS_sendmsg && header_of(call).msg_name;
}

bool is_stream(long descriptor) {
  return input::log_value(input::What::kFlags,
                          [=] { return sys::raw(SYS_lseek, descriptor, 0, SEEK_CUR); }) == -ESPIPE;
}

long write_in_order(Call& call) {
  if (goes_at_once(call, POLLOUT) || never_waits(call)) return call_kernel(call);
  if (would_sleep(call.a, POLLOUT) || (bytes_of(call) > kWhole && is_stream(call.a)))
    return sleep_in_kernel(call, "output");
  if (!has_address(call)) return call_kernel(call);
  Call now = call;
  (call.number == SYS_sendto ? now.d : now.c) |= MSG_DONTWAIT;
  const long result = call_kernel(now);
  return result == -EAGAIN ? sleep_in_kernel(call, "output") : result;
}

// Message after message without waiting, since the kernel notes the length of each in program
// memory.
long send_many(Call& call) {
  if (never_waits(call)) return call_kernel(call);
  const auto count = static_cast<long>(static_cast<uint32_t>(call.c));
  for (long done = 0;;) {
    Call part = call;
    part.b += done * static_cast<long>(sizeof(mmsghdr));
    part.c = count - done;
    part.d |= MSG_DONTWAIT;
    long result = call_kernel(part);
    if (result > 0) done += result;
    if (done == count || (result <= 0 && result != -EAGAIN)) return done ? done : result;
    if (result > 0) continue;
    // Room for a datagram to an address is not what poll tells: asked again every millisecond.
    pollfd poll{static_cast<int>(call.a), POLLOUT, 0};
    const bool ready = !would_sleep(call.a, POLLOUT);
    result = wait_ready(call, &poll, ready ? 0 : 1, ready ? 1 : -1, "output");
    if (result >= 0) continue;
    if (done) call.again = false;
    return done ? done : result;
  }
}

long move_between(Call& call) {
  const bool splice = call.number == SYS_splice;
  if (call.number == SYS_tee) {
    const bool sleeps = may_sleep(call.a) || may_sleep(call.b);
    return sleeps ? sleep_in_kernel(call, "a pipe") : call_kernel(call);
  }
  const long out = splice ? call.c : call.a, in = splice ? call.a : call.b;
  if (!may_sleep(out) && !may_sleep(in)) return call_kernel(call);
  Offset first(splice ? call.b : call.c), second(splice ? call.d : 0);
  if (!first.good || !second.good) return -EFAULT;
  if (splice) {
    call.b = first.argument();
    call.d = second.argument();
  } else {
    call.c = first.argument();
  }
  const long result = sleep_in_kernel(call, "output");
  return first.put_back() != 0 || second.put_back() != 0 ? -EFAULT : result;
}

}  // namespace weir::syscalls
