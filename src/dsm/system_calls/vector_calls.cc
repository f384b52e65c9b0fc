// Calls whose buffers stand in lists: readv and its kin, messages. The filter of kernel_filter.cc
// sees the list only, so these stand before libc's of the same names. Also the masks of signals: a
// thread that blocks all signals may use shared memory, whose faults are SIGSEGV and whose system
// calls are SIGSYS; blocked, the kernel would end the process.
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "dsm/system_calls/handlers.h"
#include "dsm/system_calls/kernel_calls.h"

namespace weir::dsm {
namespace {

void add(CallBuffers& buffers, const iovec* list, size_t count, bool is_written) {
  for (size_t i = 0; i < count && i < 1024; i++)
    buffers.add(list[i].iov_base, list[i].iov_len, is_written);
}

void add(CallBuffers& buffers, const msghdr* message, bool is_written) {
  add(buffers, message->msg_iov, message->msg_iovlen, is_written);
  buffers.add(message->msg_name, message->msg_namelen, is_written);
  buffers.add(message->msg_control, message->msg_controllen, is_written);
}

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace
}  // namespace weir::dsm

using namespace weir::dsm;

#define WEIR_NEXT(name) static decltype(name)* const libc = next<decltype(name)>(#name)
#define WEIR_VECTOR_CALL(name, is_written, parameters, arguments)  \
  __attribute__((visibility("default"))) ssize_t name parameters { \
    WEIR_NEXT(name);                                               \
    CallBuffers buffers;                                           \
    add(buffers, list, static_cast<size_t>(count), is_written);    \
    return buffers.make([&] { return libc arguments; });           \
  }

extern "C" {

WEIR_VECTOR_CALL(readv, true, (int file, const iovec* list, int count), (file, list, count))
WEIR_VECTOR_CALL(writev, false, (int file, const iovec* list, int count), (file, list, count))
WEIR_VECTOR_CALL(preadv, true, (int file, const iovec* list, int count, off_t at),
                 (file, list, count, at))
WEIR_VECTOR_CALL(pwritev, false, (int file, const iovec* list, int count, off_t at),
                 (file, list, count, at))
WEIR_VECTOR_CALL(preadv64, true, (int file, const iovec* list, int count, off64_t at),
                 (file, list, count, at))
WEIR_VECTOR_CALL(pwritev64, false, (int file, const iovec* list, int count, off64_t at),
                 (file, list, count, at))
WEIR_VECTOR_CALL(preadv2, true, (int file, const iovec* list, int count, off_t at, int flags),
                 (file, list, count, at, flags))
WEIR_VECTOR_CALL(pwritev2, false, (int file, const iovec* list, int count, off_t at, int flags),
                 (file, list, count, at, flags))
WEIR_VECTOR_CALL(preadv64v2, true, (int file, const iovec* list, int count, off64_t at, int flags),
                 (file, list, count, at, flags))
WEIR_VECTOR_CALL(pwritev64v2, false,
                 (int file, const iovec* list, int count, off64_t at, int flags),
                 (file, list, count, at, flags))
WEIR_VECTOR_CALL(vmsplice, false, (int file, const iovec* list, size_t count, unsigned flags),
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
  add(buffers, message, true);
  return buffers.make([&] { return libc(socket, message, flags); });
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
  CallBuffers buffers;
  for (unsigned i = 0; i < count && i < 1024; i++) add(buffers, &messages[i].msg_hdr, true);
  return static_cast<int>(
      buffers.make([&] { return libc(socket, messages, count, flags, limit); }));
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
