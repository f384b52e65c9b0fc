// POSIX's asynchronous input and output of shared memory. libc makes these calls by threads of its
// own that block all signals, so nobody there could fetch what is not accessible. Those of files
// are made at once instead, by the calling thread, and are finished when aio_read or aio_write
// returns: aio_error, aio_return and aio_suspend look at the control block alone, and find the
// result there.
//
// A pipe or a socket may keep a caller waiting for ever. There a thread of the library makes the
// calls, one descriptor's in their order, and aio_suspend and aio_cancel know of them.
#include <aio.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <vector>

#include "dsm/base/next.h"
#include "dsm/node/this_node.h"
#include "dsm/system_calls/kernel_calls.h"
#include "dsm/threads/thread.h"

namespace weir::dsm {
namespace {

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

// --- Of what has no offsets

struct Waiting {
  volatile void* buffer;
  size_t size;
  ssize_t* result;
  int* error;
  const void* block;
  bool is_read;
  sigevent event;
};

std::mutex& waiting_mutex = *new std::mutex;
std::condition_variable& waiting_changed = *new std::condition_variable;
auto& waiting = *new std::map<int, std::deque<Waiting>>;  // Guarded by: waiting_mutex

void serve(int file) {
  use_node(served_node(), 0, Thread::Role::kPeers);
  std::unique_lock<std::mutex> held(waiting_mutex);
  for (auto& queue = waiting[file]; !queue.empty();) {
    const Waiting now = queue.front();
    held.unlock();
    void* const buffer = const_cast<void*>(now.buffer);
    const ssize_t result =
        now.is_read ? read(file, buffer, now.size) : write(file, buffer, now.size);
    const int error = result < 0 ? errno : 0;
    held.lock();
    *now.result = result;
    __atomic_store_n(now.error, error, __ATOMIC_RELEASE);
    queue.pop_front();
    waiting_changed.notify_all();
    held.unlock();
    notify(now.event);
    held.lock();
  }
  waiting.erase(file);
  held.unlock();
  use_node(nullptr, 0);
}

// The block's result is there when its error is no longer EINPROGRESS, as POSIX has it.
template <typename Block>
void make_later(Block& block, bool is_read) {
  const std::lock_guard<std::mutex> guard(waiting_mutex);
  const int file = block.aio_fildes;
  const bool is_first = waiting.count(file) == 0;
  block.__error_code = EINPROGRESS;
  waiting[file].push_back({block.aio_buf, block.aio_nbytes, &block.__return_value,
                           &block.__error_code, &block, is_read, block.aio_sigevent});
  if (is_first) start_thread("weir-dsm aio", [file] { serve(file); }).detach();
}

bool is_waiting(const void* block) {
  for (const auto& [file, queue] : waiting) {
    for (const Waiting& one : queue) {
      if (one.block == block) return true;
    }
  }
  return false;
}

// In slices: those of libc's own end without a word to us.
template <typename Block>
int suspend(const Block* const* list, int count, const timespec* limit,
            int (*libc)(const Block* const*, int, const timespec*)) {
  const auto any = [&](auto is) {
    for (int i = 0; i < count; i++) {
      if (list[i] && is(*list[i])) return true;
    }
    return false;
  };
  std::unique_lock<std::mutex> held(waiting_mutex);
  if (!any([](const Block& block) { return is_waiting(&block); })) {
    held.unlock();
    return libc(list, count, limit);
  }
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + (limit ? std::chrono::seconds(limit->tv_sec) +
                                                 std::chrono::nanoseconds(limit->tv_nsec)
                                           : std::chrono::hours(24 * 365));
  while (!any([](const Block& block) {
    return __atomic_load_n(&block.__error_code, __ATOMIC_ACQUIRE) != EINPROGRESS;
  })) {
    if (Clock::now() >= until) {
      errno = EAGAIN;
      return -1;
    }
    waiting_changed.wait_until(held, std::min(until, Clock::now() + std::chrono::milliseconds(5)));
  }
  return 0;
}

template <typename Block>
int cancel(int file, Block* block, int (*libc)(int, Block*)) {
  {
    const std::lock_guard<std::mutex> guard(waiting_mutex);
    if (block ? is_waiting(block) : waiting.count(file) > 0) return AIO_NOTCANCELED;
  }
  return libc(file, block);
}

template <typename Block>
bool has_offsets(const Block& block) {
  const int saved = errno;
  const bool has = lseek(block.aio_fildes, 0, SEEK_CUR) >= 0 || errno != ESPIPE;
  errno = saved;
  return has;
}

// --- Of files

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
  if (!has_offsets(*block)) return make_later(*block, is_read), 0;
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
  std::vector<Block*> later;
  for (int i = 0; i < count; i++) {
    if (!list[i] || list[i]->aio_lio_opcode == LIO_NOP) continue;
    const bool is_read = list[i]->aio_lio_opcode == LIO_READ;
    if (!has_offsets(*list[i])) {
      make_later(*list[i], is_read);
      later.push_back(list[i]);
      continue;
    }
    make_now(*list[i], is_read);
    notify(list[i]->aio_sigevent);
  }
  const auto wait = [later] {
    std::unique_lock<std::mutex> held(waiting_mutex);
    for (const Block* block : later) {
      while (is_waiting(block)) waiting_changed.wait(held);
    }
  };
  if (mode == LIO_NOWAIT) {
    if (!event) return 0;
    if (later.empty()) return notify(*event), 0;
    start_thread("weir-dsm aio", [wait, its = *event] {
      wait();
      notify(its);
    }).detach();
    return 0;
  }
  wait();
  bool is_well = true;
  for (int i = 0; i < count; i++)
    is_well =
        is_well && (!list[i] || list[i]->aio_lio_opcode == LIO_NOP || list[i]->__error_code == 0);
  if (is_well) return 0;
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

#define WEIR_ASYNCHRONOUS_WAIT(suspends, cancels, control)                                      \
  __attribute__((visibility("default"))) int suspends(const control* const* list, int count,    \
                                                      const timespec* limit) {                  \
    return suspend<control>(list, count, limit,                                                 \
                            next<int(const control* const*, int, const timespec*)>(#suspends)); \
  }                                                                                             \
  __attribute__((visibility("default"))) int cancels(int file, control* block) noexcept {       \
    return cancel<control>(file, block, next<int(int, control*)>(#cancels));                    \
  }

extern "C" {
WEIR_ASYNCHRONOUS_WAIT(aio_suspend, aio_cancel, aiocb)
WEIR_ASYNCHRONOUS_WAIT(aio_suspend64, aio_cancel64, aiocb64)
WEIR_ASYNCHRONOUS_CALL(aio_read, aiocb, true)
WEIR_ASYNCHRONOUS_CALL(aio_write, aiocb, false)
WEIR_ASYNCHRONOUS_CALL(aio_read64, aiocb64, true)
WEIR_ASYNCHRONOUS_CALL(aio_write64, aiocb64, false)
WEIR_ASYNCHRONOUS_LIST(lio_listio, aiocb)
WEIR_ASYNCHRONOUS_LIST(lio_listio64, aiocb64)
}
