// Problem: a call that receives takes its datagram, connection, message or dead child away before
// it writes to the program's memory. If the kernel finds no right there, because another thread of
// the node has synchronized while the call waited, the call fails and what it took is lost. A call
// that moves bytes and then writes its offset there has moved them, and would do so again.
//
// Mechanism: such calls get other memory, which is always accessible, and what has come is copied
// from there as an access of the program. That also keeps a device that writes by itself (O_DIRECT)
// away from shared memory: it holds a page while it writes, and a release in between would take the
// page's right, so that what is written afterwards would be in no diff.
//
// Invariant: only what the kernel has written is copied: what lies behind may be in use by another
// thread. Of structures these are the bytes that differ from before. (not checkable: the kernel
// does not say what it wrote)
#include "dsm/system_calls/aside.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

namespace weir::dsm {
namespace {

constexpr uint64_t kPage = 4096, kEvent = 12, kUsage = 144, kTime = 16, kSignal = 128, kName = 128,
                   kCompletion = 32;

}  // namespace

Aside::Aside(uint64_t size) : size_(size) {
  if (size <= kLittle) {
    memory_ = little_;
    return;
  }
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED) memory_ = static_cast<uint8_t*>(memory);
}

Aside::~Aside() {
  if (memory_ && memory_ != little_) munmap(memory_, size_);
}

uint8_t* Aside::take(uint64_t size) {
  uint8_t* const its = memory_ + used_;
  used_ += room_for(size);
  return its;
}

// --- Calls with plain arguments

ReceivingCall::ReceivingCall(const effects::Request& request, bool (*is_shared)(uint64_t))
    : request_(request), is_shared_(is_shared) {
  const auto argument = [&](int at) { return static_cast<uint64_t>(request.a[at]); };
  // The room of an address stands in memory of the program, an access to which faults as usual.
  const auto room = [&](int at) {
    uint32_t size = 0;
    const iovec to = {&size, sizeof size},
                from = {reinterpret_cast<void*>(argument(at)), sizeof size};
    if (is_shared(argument(at))) memcpy(&size, from.iov_base, sizeof size);
    else syscall(SYS_process_vm_readv, getpid(), &to, 1, &from, 1, 0);
    return std::min<uint64_t>(size, kName);
  };
  switch (request.number) {
    case SYS_read:
    case SYS_pread64: add(1, argument(2), 1); break;
    case SYS_getrandom: add(0, argument(1), 1); break;
    case SYS_recvfrom:
      add(1, argument(2), 1);
      add(4, room(5));
      add(5, sizeof(uint32_t));
      break;
    case SYS_accept:
    case SYS_accept4:
      add(1, room(2));
      add(2, sizeof(uint32_t));
      break;
    case SYS_wait4:
      add(1, sizeof(int));
      add(3, kUsage);
      break;
    case SYS_waitid:
      add(2, kSignal);
      add(4, kUsage);
      break;
    case SYS_mq_timedreceive:
      add(1, argument(2), 1);
      add(3, sizeof(unsigned));
      add(4, kTime);
      break;
    case SYS_msgrcv: add(1, argument(2) + sizeof(long), 1, sizeof(long)); break;
    case SYS_rt_sigtimedwait:
      add(0, argument(3));
      add(1, kSignal);
      add(2, kTime);
      break;
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
      add(1, kEvent * static_cast<uint32_t>(argument(2)), kEvent);
      if (request.number == SYS_epoll_pwait2) add(3, kTime);
      if (request.number != SYS_epoll_wait) add(4, argument(5));
      break;
    case SYS_io_getevents:
      add(3, kCompletion * argument(2), kCompletion);
      add(4, kTime);
      break;
    // Made a second time, these would move other bytes, or return what the first time has set.
    case SYS_sendfile: add(2, sizeof(off_t)); break;
    case SYS_splice:
    case SYS_copy_file_range:
      add(1, sizeof(off_t));
      add(3, sizeof(off_t));
      break;
    case SYS_setitimer:
      add(1, 2 * kTime);
      add(2, 2 * kTime);
      break;
    case SYS_timer_settime:
    case SYS_timerfd_settime:
    case SYS_prlimit64:
      add(2, 2 * kTime);
      add(3, 2 * kTime);
      break;
    default: break;
  }
  const bool is_file = request.number == SYS_read || request.number == SYS_pread64;
  if (size_ <= kMostAside + 2 * kPage || count_ == 0) return;
  const long flags = is_file ? syscall(SYS_fcntl, request.a[0], F_GETFL) : 0;
  if (flags < 0 || !(flags & O_DIRECT)) count_ = 0;
}

void ReceivingCall::add(uint8_t at, uint64_t size, uint64_t unit, uint64_t before) {
  if (size == 0 || size > INT64_MAX / 2 || !is_shared_(static_cast<uint64_t>(request_.a[at])))
    return;
  pieces_[count_++] = {at, size, unit, before, nullptr, nullptr};
  size_ += Aside::room_for(size) * (unit == 0 ? 2 : 1);
}

effects::Request ReceivingCall::aside(Aside& memory) {
  effects::Request request = request_;
  for (uint32_t i = 0; i < count_; i++) {
    Piece& piece = pieces_[i];
    piece.aside = memory.take(piece.size);
    if (piece.unit == 0) {
      piece.as_it_was = memory.take(piece.size);
      memcpy(piece.as_it_was, reinterpret_cast<void*>(request_.a[piece.at]), piece.size);
      memcpy(piece.aside, piece.as_it_was, piece.size);
    }
    request.a[piece.at] = reinterpret_cast<long>(piece.aside);
  }
  return request;
}

void ReceivingCall::give(long result) {
  if (result < 0) return;
  for (uint32_t i = 0; i < count_; i++) {
    const Piece& piece = pieces_[i];
    auto* const program = reinterpret_cast<uint8_t*>(request_.a[piece.at]);
    if (piece.unit == 0) {
      for (uint64_t at = 0; at < piece.size; at++) {
        if (piece.aside[at] != piece.as_it_was[at]) program[at] = piece.aside[at];
      }
      continue;
    }
    // By MSG_TRUNC the result may be more.
    const uint64_t written = piece.before + piece.unit * static_cast<uint64_t>(result);
    memcpy(program, piece.aside, std::min(written, piece.size));
  }
}

// --- Messages

void scatter(const uint8_t* from, uint64_t bytes, const iovec* list, size_t count) {
  for (size_t i = 0; i < count && bytes > 0; i++) {
    const uint64_t part = std::min<uint64_t>(list[i].iov_len, bytes);
    memcpy(list[i].iov_base, from, part);
    from += part;
    bytes -= part;
  }
}

uint64_t ReceivedMessage::room_for(const msghdr& message) {
  constexpr uint64_t kMost = uint64_t{1} << 40;  // so that a sum does not overflow
  uint64_t size = 0;
  for (size_t i = 0; i < message.msg_iovlen && size < kMost; i++)
    size += std::min<uint64_t>(message.msg_iov[i].iov_len, kMost);
  return Aside::room_for(size) + Aside::room_for(message.msg_namelen) +
         Aside::room_for(std::min<uint64_t>(message.msg_controllen, kMost));
}

void ReceivedMessage::prepare(const msghdr& program, Aside& memory) {
  its_ = program;
  uint64_t size = 0;
  for (size_t i = 0; i < program.msg_iovlen; i++) size += program.msg_iov[i].iov_len;
  one_ = {memory.take(size), size};
  its_.msg_iov = &one_;
  its_.msg_iovlen = program.msg_iovlen > 0;
  if (program.msg_name) its_.msg_name = memory.take(program.msg_namelen);
  if (program.msg_control) its_.msg_control = memory.take(program.msg_controllen);
}

void ReceivedMessage::give(msghdr& program, uint64_t received) const {
  scatter(static_cast<uint8_t*>(one_.iov_base), std::min<uint64_t>(received, one_.iov_len),
          program.msg_iov, program.msg_iovlen);
  if (program.msg_name)
    memcpy(program.msg_name, its_.msg_name, std::min(its_.msg_namelen, program.msg_namelen));
  if (program.msg_control)
    memcpy(program.msg_control, its_.msg_control,
           std::min(its_.msg_controllen, program.msg_controllen));
  program.msg_namelen = its_.msg_namelen;
  program.msg_controllen = its_.msg_controllen;
  program.msg_flags = its_.msg_flags;
}

}  // namespace weir::dsm
