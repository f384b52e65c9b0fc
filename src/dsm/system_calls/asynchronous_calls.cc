// POSIX's asynchronous input and output of shared memory. libc makes these calls by threads of its
// own that block all signals, so nobody there could fetch what is not accessible. They are made at
// once instead, by the calling thread, and are finished when aio_read or aio_write returns:
// aio_error, aio_return and aio_suspend look at the control block alone, and find the result there.
#include <aio.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "dsm/system_calls/kernel_calls.h"

namespace weir::dsm {
namespace {

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

struct Called {
  void (*function)(sigval);
  sigval value;
};

void notify(const sigevent& event) {
  if (event.sigev_notify == SIGEV_SIGNAL) {
    sigqueue(getpid(), event.sigev_signo, event.sigev_value);
  } else if (event.sigev_notify == SIGEV_THREAD) {
    auto* called = new Called{event.sigev_notify_function, event.sigev_value};
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    pthread_t thread;
    const auto* its = static_cast<const pthread_attr_t*>(event.sigev_notify_attributes);
    const auto run = [](void* argument) -> void* {
      const Called copy = *static_cast<Called*>(argument);
      delete static_cast<Called*>(argument);
      copy.function(copy.value);
      return nullptr;
    };
    if (pthread_create(&thread, its ? its : &detached, run, called)) delete called;
    pthread_attr_destroy(&detached);
  }
}

template <typename Block>
bool is_shared(const Block& block) {
  return CallBuffers().add(const_cast<void*>(block.aio_buf), block.aio_nbytes, true);
}

template <typename Block>
void make_now(Block& block, bool is_read) {
  const int saved = errno;
  void* const buffer = const_cast<void*>(block.aio_buf);
  const ssize_t result =
      is_read ? pread64(block.aio_fildes, buffer, block.aio_nbytes, block.aio_offset)
              : pwrite64(block.aio_fildes, buffer, block.aio_nbytes, block.aio_offset);
  block.__return_value = result;
  block.__error_code = result < 0 ? errno : 0;
  errno = saved;
}

template <typename Block>
int start(Block* block, bool is_read, int (*libc)(Block*)) {
  if (!is_shared(*block)) return libc(block);
  make_now(*block, is_read);
  notify(block->aio_sigevent);
  return 0;
}

// If one of a list is shared, all are made now, one after the other.
template <typename Block>
int start_list(int mode, Block* const* list, int count, sigevent* event,
               int (*libc)(int, Block* const*, int, sigevent*)) {
  bool names_shared = false;
  for (int i = 0; i < count; i++)
    names_shared |= list[i] && list[i]->aio_lio_opcode != LIO_NOP && is_shared(*list[i]);
  if (!names_shared || (mode != LIO_WAIT && mode != LIO_NOWAIT))
    return libc(mode, list, count, event);
  bool is_well = true;
  for (int i = 0; i < count; i++) {
    if (!list[i] || list[i]->aio_lio_opcode == LIO_NOP) continue;
    make_now(*list[i], list[i]->aio_lio_opcode == LIO_READ);
    notify(list[i]->aio_sigevent);
    is_well = is_well && list[i]->__error_code == 0;
  }
  if (mode == LIO_NOWAIT && event) notify(*event);
  if (mode == LIO_NOWAIT || is_well) return 0;
  errno = EIO;
  return -1;
}

}  // namespace
}  // namespace weir::dsm

using namespace weir::dsm;

#define WEIR_ASYNCHRONOUS_CALL(name, control, is_read)                 \
  __attribute__((visibility("default"))) int name(control* block) {    \
    return start<control>(block, is_read, next<int(control*)>(#name)); \
  }
#define WEIR_ASYNCHRONOUS_LIST(name, control)                                                \
  __attribute__((visibility("default"))) int name(int mode, control* const* list, int count, \
                                                  sigevent* event) {                         \
    return start_list<control>(mode, list, count, event,                                     \
                               next<int(int, control* const*, int, sigevent*)>(#name));      \
  }

extern "C" {
WEIR_ASYNCHRONOUS_CALL(aio_read, aiocb, true)
WEIR_ASYNCHRONOUS_CALL(aio_write, aiocb, false)
WEIR_ASYNCHRONOUS_CALL(aio_read64, aiocb64, true)
WEIR_ASYNCHRONOUS_CALL(aio_write64, aiocb64, false)
WEIR_ASYNCHRONOUS_LIST(lio_listio, aiocb)
WEIR_ASYNCHRONOUS_LIST(lio_listio64, aiocb64)
}
