// Calls whose buffers stand in lists: readv and its kin, messages. The filter of kernel_filter.cc
// sees the list only, so these stand before libc's of the same names. Also the masks of signals: a
// thread that blocks all signals may use shared memory, whose faults are SIGSEGV and whose system
// calls are SIGSYS; blocked, the kernel would end the process. What is received goes aside first
// (aside.cc).
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>

#include "dsm/system_calls/aside.h"
#include "dsm/system_calls/handlers.h"
#include "dsm/system_calls/kernel_calls.h"

namespace weir::dsm {
namespace {

bool add(CallBuffers& buffers, const iovec* list, size_t count, bool is_written) {
  bool names_shared = false;
  for (size_t i = 0; i < count && i < 1024; i++)
    names_shared |= buffers.add(list[i].iov_base, list[i].iov_len, is_written);
  return names_shared;
}

bool add(CallBuffers& buffers, const msghdr* message, bool is_written) {
  bool names_shared = add(buffers, message->msg_iov, message->msg_iovlen, is_written);
  names_shared |= buffers.add(message, sizeof *message, is_written);
  names_shared |= buffers.add(message->msg_name, message->msg_namelen, is_written);
  names_shared |= buffers.add(message->msg_control, message->msg_controllen, is_written);
  return names_shared;
}

// A list to read into: by one buffer aside. `call` gets a list.
template <typename Call>
ssize_t read_list(int file, const iovec* list, int count, Call call) {
  CallBuffers buffers;
  if (count <= 0 || count > IOV_MAX || !add(buffers, list, static_cast<size_t>(count), true))
    return call(list, count);
  uint64_t size = 0;
  for (int i = 0; i < count && size <= INT_MAX; i++)
    size += std::min<uint64_t>(list[i].iov_len, INT_MAX);
  if (size > kMostAside && (size > INT_MAX || !(fcntl(file, F_GETFL) & O_DIRECT)))
    return buffers.make([&] { return call(list, count); });
  Aside memory(size);
  if (!memory.is_there()) {
    errno = ENOMEM;
    return -1;
  }
  const iovec one = {memory.take(size), size};
  const ssize_t result = call(&one, 1);
  if (result > 0)
    scatter(static_cast<uint8_t*>(one.iov_base), static_cast<uint64_t>(result), list,
            static_cast<size_t>(count));
  return result;
}

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace
}  // namespace weir::dsm

using namespace weir::dsm;

#define WEIR_NEXT(name) static decltype(name)* const libc = next<decltype(name)>(#name)
#define WEIR_READING_CALL(name, parameters, arguments)                              \
  __attribute__((visibility("default"))) ssize_t name parameters {                  \
    WEIR_NEXT(name);                                                                \
    return read_list(file, its_list, its_count,                                     \
                     [&](const iovec* list, int count) { return libc arguments; }); \
  }
#define WEIR_WRITING_CALL(name, parameters, arguments)                                 \
  __attribute__((visibility("default"))) ssize_t name parameters {                     \
    WEIR_NEXT(name);                                                                   \
    CallBuffers buffers;                                                               \
    if (!add(buffers, list, static_cast<size_t>(count), false)) return libc arguments; \
    return buffers.make([&] { return libc arguments; });                               \
  }

extern "C" {

WEIR_READING_CALL(readv, (int file, const iovec* its_list, int its_count), (file, list, count))
WEIR_WRITING_CALL(writev, (int file, const iovec* list, int count), (file, list, count))
WEIR_READING_CALL(preadv, (int file, const iovec* its_list, int its_count, off_t at),
                  (file, list, count, at))
WEIR_WRITING_CALL(pwritev, (int file, const iovec* list, int count, off_t at),
                  (file, list, count, at))
WEIR_READING_CALL(preadv64, (int file, const iovec* its_list, int its_count, off64_t at),
                  (file, list, count, at))
WEIR_WRITING_CALL(pwritev64, (int file, const iovec* list, int count, off64_t at),
                  (file, list, count, at))
WEIR_READING_CALL(preadv2, (int file, const iovec* its_list, int its_count, off_t at, int flags),
                  (file, list, count, at, flags))
WEIR_WRITING_CALL(pwritev2, (int file, const iovec* list, int count, off_t at, int flags),
                  (file, list, count, at, flags))
WEIR_READING_CALL(preadv64v2,
                  (int file, const iovec* its_list, int its_count, off64_t at, int flags),
                  (file, list, count, at, flags))
WEIR_WRITING_CALL(pwritev64v2, (int file, const iovec* list, int count, off64_t at, int flags),
                  (file, list, count, at, flags))
WEIR_WRITING_CALL(vmsplice, (int file, const iovec* list, size_t count, unsigned flags),
                  (file, list, count, flags))

__attribute__((visibility("default"))) ssize_t sendmsg(int socket, const msghdr* message,
                                                       int flags) {
  WEIR_NEXT(sendmsg);
  CallBuffers buffers;
  add(buffers, message, false);
  return buffers.make([&] { return libc(socket, message, flags); });
}

__attribute__((visibility("default"))) ssize_t recvmsg(int socket, msghdr* message, int flags) {
  WEIR_NEXT(recvmsg);
  CallBuffers buffers;
  if (!message || !add(buffers, message, true)) return libc(socket, message, flags);
  const uint64_t room = ReceivedMessage::room_for(*message);
  if (room > kMostAside) return buffers.make([&] { return libc(socket, message, flags); });
  Aside memory(room);
  if (!memory.is_there()) {
    errno = ENOMEM;
    return -1;
  }
  ReceivedMessage its;
  its.prepare(*message, memory);
  const ssize_t result = libc(socket, &its.aside(), flags);
  if (result >= 0) its.give(*message, static_cast<uint64_t>(result));
  return result;
}

__attribute__((visibility("default"))) int sendmmsg(int socket, mmsghdr* messages, unsigned count,
                                                    int flags) {
  WEIR_NEXT(sendmmsg);
  CallBuffers buffers;
  for (unsigned i = 0; i < count && i < 1024; i++) add(buffers, &messages[i].msg_hdr, false);
  return static_cast<int>(buffers.make([&] { return libc(socket, messages, count, flags); }));
}

__attribute__((visibility("default"))) int recvmmsg(int socket, mmsghdr* messages, unsigned count,
                                                    int flags, timespec* limit) {
  WEIR_NEXT(recvmmsg);
  count = std::min(count, 1024u);  // the kernel takes no more
  CallBuffers buffers;
  bool names_shared = false;
  uint64_t room =
      Aside::room_for(count * sizeof(mmsghdr)) + Aside::room_for(count * sizeof(ReceivedMessage));
  for (unsigned i = 0; i < count; i++) {
    names_shared |= add(buffers, &messages[i].msg_hdr, true);
    room += ReceivedMessage::room_for(messages[i].msg_hdr);
  }
  if (!names_shared) return libc(socket, messages, count, flags, limit);
  if (room > 256 * kMostAside)
    return static_cast<int>(
        buffers.make([&] { return libc(socket, messages, count, flags, limit); }));
  Aside memory(room);
  if (!memory.is_there()) {
    errno = ENOMEM;
    return -1;
  }
  auto* const its = reinterpret_cast<mmsghdr*>(memory.take(count * sizeof(mmsghdr)));
  auto* const received =
      reinterpret_cast<ReceivedMessage*>(memory.take(count * sizeof(ReceivedMessage)));
  for (unsigned i = 0; i < count; i++) {
    received[i].prepare(messages[i].msg_hdr, memory);
    its[i] = {received[i].aside(), 0};
  }
  const int result = libc(socket, its, count, flags, limit);
  for (int i = 0; i < result; i++) {
    received[i].aside() = its[i].msg_hdr;
    received[i].give(messages[i].msg_hdr, its[i].msg_len);
    messages[i].msg_len = its[i].msg_len;
  }
  return result;
}

__attribute__((visibility("default"))) int pthread_sigmask(int how, const sigset_t* set,
                                                           sigset_t* before) {
  WEIR_NEXT(pthread_sigmask);
  if (!set || how == SIG_UNBLOCK) return libc(how, set, before);
  const sigset_t its = without_faults(*set);
  return libc(how, &its, before);
}

__attribute__((visibility("default"))) int sigprocmask(int how, const sigset_t* set,
                                                       sigset_t* before) {
  WEIR_NEXT(sigprocmask);
  if (!set || how == SIG_UNBLOCK) return libc(how, set, before);
  const sigset_t its = without_faults(*set);
  return libc(how, &its, before);
}

}  // extern "C"
