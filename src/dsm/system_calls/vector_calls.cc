// Calls whose buffers stand in lists: readv and its kin, messages. The filter of kernel_filter.cc
// sees the list only, so these stand before libc's of the same names. Also the masks of signals: a
// thread that blocks all signals may use shared memory, whose faults are SIGSEGV and whose system
// calls are SIGSYS; blocked, the kernel would end the process. What is received goes aside first
// (aside.cc).
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <algorithm>

#include "dsm/base/next.h"
#include "dsm/segment/handlers.h"
#include "dsm/system_calls/aside.h"
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

bool is_regular(int file) {
  struct stat its;
  return fstat(file, &its) == 0 && S_ISREG(its.st_mode);
}

// Makes the call of a list, as often as it takes. Of a regular file the kernel may do a part, where
// another thread or node takes a buffer away meanwhile; then what is left follows. `call` gets a
// list, and how much is done.
template <typename Call>
ssize_t transfer(int file, const iovec* list, int count, const CallBuffers& buffers, Call call) {
  uint64_t size = 0;
  for (int i = 0; i < count; i++) size += list[i].iov_len;
  iovec rest[IOV_MAX];
  const iovec* now = list;
  int left = count;
  for (ssize_t done = 0;;) {
    bool is_taken_away;
    const ssize_t result =
        buffers.make_noting([&] { return call(now, left, done); }, is_taken_away);
    if (result < 0) return done > 0 ? done : result;
    done += result;
    if (result == 0 || static_cast<uint64_t>(done) >= size || !is_taken_away || !is_regular(file))
      return done;
    auto skipped = static_cast<uint64_t>(done);
    left = 0;
    for (int i = 0; i < count; i++) {
      const uint64_t part = std::min<uint64_t>(skipped, list[i].iov_len);
      skipped -= part;
      if (part < list[i].iov_len)
        rest[left++] = {static_cast<char*>(list[i].iov_base) + part, list[i].iov_len - part};
    }
    now = rest;
  }
}

// Behind what is done; -1: the file's own position, which has moved.
off_t behind(off_t at, ssize_t done) { return at < 0 ? at : at + done; }

// A list to read into: by one buffer aside. `call`: as above.
template <typename Call>
ssize_t read_list(int file, const iovec* list, int count, Call call) {
  CallBuffers buffers;
  if (count <= 0 || count > IOV_MAX || !add(buffers, list, static_cast<size_t>(count), true))
    return call(list, count, 0);
  uint64_t size = 0;
  for (int i = 0; i < count && size <= INT_MAX; i++)
    size += std::min<uint64_t>(list[i].iov_len, INT_MAX);
  if (size > kMostAside && (size > INT_MAX || !(fcntl(file, F_GETFL) & O_DIRECT)))
    return transfer(file, list, count, buffers, call);
  Aside memory(size);
  if (!memory.is_there()) {
    errno = ENOMEM;
    return -1;
  }
  const iovec one = {memory.take(size), size};
  const ssize_t result = call(&one, 1, 0);
  if (result > 0)
    scatter(static_cast<uint8_t*>(one.iov_base), static_cast<uint64_t>(result), list,
            static_cast<size_t>(count));
  return result;
}

template <typename Call>
ssize_t write_list(int file, const iovec* list, int count, Call call) {
  CallBuffers buffers;
  if (count <= 0 || count > IOV_MAX || !add(buffers, list, static_cast<size_t>(count), false))
    return call(list, count, 0);
  return transfer(file, list, count, buffers, call);
}

// The kernel gets sets of its own, since the filter leaves this call alone. It would change the
// mask first, and then fail where it may not write the one before.
int change_mask(int (*libc)(int, const sigset_t*, sigset_t*), int how, const sigset_t* set,
                sigset_t* before) {
  sigset_t its, was;
  if (set) its = how == SIG_UNBLOCK ? *set : without_faults(*set);
  const int result = libc(how, set ? &its : nullptr, before ? &was : nullptr);
  if (before && result == 0) memcpy(before, &was, _NSIG / 8);  // what the kernel has of a set
  return result;
}

}  // namespace
}  // namespace weir::dsm

using namespace weir::dsm;

#define WEIR_NEXT(name) static decltype(name)* const libc = next<decltype(name)>(#name)
#define WEIR_LIST_CALL(name, make, parameters, arguments)                          \
  __attribute__((visibility("default"))) ssize_t name parameters {                 \
    WEIR_NEXT(name);                                                               \
    return make(file, its_list, its_count,                                         \
                [&](const iovec* list, int count, [[maybe_unused]] ssize_t done) { \
                  return libc arguments;                                           \
                });                                                                \
  }
// At the file's own position; at one that the call names; with flags too.
#define WEIR_LIST_CALL_HERE(name, make) \
  WEIR_LIST_CALL(name, make, (int file, const iovec* its_list, int its_count), (file, list, count))
#define WEIR_LIST_CALL_AT(name, make)                                                    \
  WEIR_LIST_CALL(name, make, (int file, const iovec* its_list, int its_count, off_t at), \
                 (file, list, count, behind(at, done)))
#define WEIR_LIST_CALL_WITH_FLAGS(name, make)                                           \
  WEIR_LIST_CALL(name, make,                                                            \
                 (int file, const iovec* its_list, int its_count, off_t at, int flags), \
                 (file, list, count, behind(at, done), flags))

extern "C" {

WEIR_LIST_CALL_HERE(readv, read_list)
WEIR_LIST_CALL_AT(preadv, read_list)
WEIR_LIST_CALL_AT(preadv64, read_list)
WEIR_LIST_CALL_WITH_FLAGS(preadv2, read_list)
WEIR_LIST_CALL_WITH_FLAGS(preadv64v2, read_list)
WEIR_LIST_CALL_HERE(writev, write_list)
WEIR_LIST_CALL_AT(pwritev, write_list)
WEIR_LIST_CALL_AT(pwritev64, write_list)
WEIR_LIST_CALL_WITH_FLAGS(pwritev2, write_list)
WEIR_LIST_CALL_WITH_FLAGS(pwritev64v2, write_list)

__attribute__((visibility("default"))) ssize_t vmsplice(int file, const iovec* list, size_t count,
                                                        unsigned flags) {
  WEIR_NEXT(vmsplice);
  if ((fcntl(file, F_GETFL) & O_ACCMODE) == O_RDONLY && count <= IOV_MAX) {  // from the pipe
    return read_list(file, list, static_cast<int>(count),
                     [&](const iovec* its, int its_count, ssize_t) {
                       return libc(file, its, static_cast<size_t>(its_count), flags);
                     });
  }
  CallBuffers buffers;
  if (!add(buffers, list, count, false)) return libc(file, list, count, flags);
  return buffers.make([&] { return libc(file, list, count, flags); });
}

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
  return change_mask(libc, how, set, before);
}

__attribute__((visibility("default"))) int sigprocmask(int how, const sigset_t* set,
                                                       sigset_t* before) {
  WEIR_NEXT(sigprocmask);
  return change_mask(libc, how, set, before);
}

}  // extern "C"
