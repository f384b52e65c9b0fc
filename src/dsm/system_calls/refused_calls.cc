// Problem: the kernel, or a device, uses some memory later than the call that names it, or always:
// buffers of io_submit and registered buffers of io_uring, and the stack on which a handler of a
// signal is to run. Rights come and go meanwhile. What a device reads then is old, what it writes
// is in no diff; and a fault on a stack that is not accessible ends the process without a word.
// Other calls change the mapping: a file mapped onto shared memory, or a right that the program
// gives itself, would be this node's alone. So would be what happens at a lock of libc's for
// several processes: each node would take its own copy.
#include "dsm/system_calls/refused_calls.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <atomic>
#include <iterator>

#include "dsm/base/failure.h"
#include "dsm/base/next.h"
#include "dsm/node/this_node.h"
#include "dsm/system_calls/kernel_calls.h"

namespace weir::dsm {
namespace {

// Layout: the kernel's struct iocb and struct io_uring_rsrc_register.
struct ControlBlock {
  uint64_t data;
  uint32_t key, flags;
  uint16_t operation;
  int16_t priority;
  uint32_t file;
  uint64_t buffer, size;
  int64_t offset;
  uint64_t reserved;
  uint32_t more_flags, event_file;
};
static_assert(sizeof(ControlBlock) == 64);
struct Registered {
  uint32_t count, flags;
  uint64_t reserved, list, tags;
};
constexpr uint16_t kReadList = 7, kWriteList = 8;
constexpr long kRegisterBuffers = 0, kRegisterBuffers2 = 15;
constexpr uint64_t kMost = 1024;  // that are looked at

void say_once(std::atomic<bool>& said, const char* what, const char* error, const char* instead) {
  if (said.exchange(true)) return;
  fprintf(stderr, "weir-dsm: node %u: %s shared memory fails (%s): %s\n", node().me(), what, error,
          instead);
}

bool names_shared(uint64_t list, uint64_t count, bool (*is_shared)(uint64_t),
                  effects::Fetch fetch) {
  iovec one;
  for (uint64_t i = 0; i < count && i < kMost; i++) {
    if (!fetch(&one, list + i * sizeof one, sizeof one)) return false;
    if (is_shared(reinterpret_cast<uint64_t>(one.iov_base))) return true;
  }
  return false;
}

bool submits_shared(const effects::Request& request, bool (*is_shared)(uint64_t),
                    effects::Fetch fetch) {
  for (uint64_t i = 0; i < static_cast<uint64_t>(request.a[1]) && i < kMost; i++) {
    uint64_t at;
    ControlBlock block;
    if (!fetch(&at, static_cast<uint64_t>(request.a[2]) + i * sizeof at, sizeof at) ||
        !fetch(&block, at, sizeof block))
      return false;
    if (is_shared(block.buffer)) return true;
    const bool is_list = block.operation == kReadList || block.operation == kWriteList;
    if (is_list && names_shared(block.buffer, block.size, is_shared, fetch)) return true;
  }
  return false;
}

void refuse_stack(const void* address, uint64_t size) {
  if (address && CallBuffers().add(address, size, true))
    fail("a stack in shared memory (%p): a fault on it would find no stack; use memory of your own",
         address);
}

// What libc's functions for several processes would make. Of one node it is as good as any.
void refuse_process_shared(const void* address, int shared, const char* what, const char* instead) {
  if (shared == PTHREAD_PROCESS_PRIVATE || !CallBuffers().add(address, 1, true) ||
      node().nodes() == 1)
    return;
  fail("%s for several processes in shared memory (%p) orders nothing between nodes; use %s", what,
       address, instead);
}

// The attributes' own function says whether it is for several processes; none: it is not.
template <typename Attributes>
int shared_by(const Attributes* attributes, int (*get)(const Attributes*, int*)) {
  int shared = PTHREAD_PROCESS_PRIVATE;
  if (attributes) get(attributes, &shared);
  return shared;
}

// Without a guard, since an allocator may make its first mutex while libc looks for the function.
template <typename Function>
Function* kept_next(std::atomic<Function*>& found, const char* name) {
  Function* function = found.load(std::memory_order_acquire);
  if (!function) {
    function = next<Function>(name);
    found.store(function, std::memory_order_release);
  }
  return function;
}

struct MappingCall {
  long number;
  const char* name;
  uint64_t losing;  // of madvise: advices that lose what is there
};
constexpr uint64_t advice(int number) { return uint64_t{1} << number; }
constexpr MappingCall kMappingCalls[] = {
    {SYS_mmap, "a mapping (mmap) onto", 0},
    {SYS_munmap, "munmap of", 0},
    {SYS_mremap, "mremap of", 0},
    {SYS_mprotect, "mprotect of", 0},
    {SYS_pkey_mprotect, "pkey_mprotect of", 0},
    {SYS_remap_file_pages, "remap_file_pages of", 0},
    {SYS_shmat, "shmat onto", 0},
    {SYS_madvise, "madvise (DONTNEED, FREE, REMOVE) of",
     advice(MADV_DONTNEED) | advice(MADV_FREE) | advice(MADV_REMOVE)},
};

// An address that is no more than a hint is taken already.
bool is_hint(const effects::Request& request, bool (*is_shared)(uint64_t)) {
  if (request.number == SYS_mmap) return !(request.a[3] & MAP_FIXED);
  return request.number == SYS_mremap && !is_shared(static_cast<uint64_t>(request.a[0])) &&
         !(request.a[3] & MREMAP_FIXED);
}

bool changes_mapping(const effects::Request& request, bool (*is_shared)(uint64_t)) {
  static std::atomic<bool> said[std::size(kMappingCalls)];
  for (const MappingCall& call : kMappingCalls) {
    if (call.number != request.number) continue;
    const bool is_harmless = call.losing ? static_cast<uint64_t>(request.a[2]) >= 64 ||
                                               !(call.losing >> request.a[2] & 1)
                                         : is_hint(request, is_shared);
    if (is_harmless) return false;
    say_once(said[&call - kMappingCalls], call.name, "EINVAL",
             "the library maps it and changes its rights; copy into it, or use memory of your own");
    return true;
  }
  return false;
}

}  // namespace

int refused_with(const effects::Request& request, bool (*is_shared)(uint64_t),
                 effects::Fetch fetch) {
  if (changes_mapping(request, is_shared)) return EINVAL;
  static std::atomic<bool> said_submit{false}, said_register{false};
  if (request.number == SYS_io_submit && submits_shared(request, is_shared, fetch)) {
    say_once(said_submit, "io_submit of", "EFAULT",
             "use pread and pwrite, or aio_read and aio_write");
    return EFAULT;
  }
  if (request.number != SYS_io_uring_register) return 0;
  auto list = static_cast<uint64_t>(request.a[2]), count = static_cast<uint64_t>(request.a[3]);
  if (request.a[1] == kRegisterBuffers2) {
    Registered its;
    if (!fetch(&its, list, sizeof its)) return 0;
    list = its.list;
    count = its.count;
  } else if (request.a[1] != kRegisterBuffers) {
    return 0;
  }
  if (!names_shared(list, count, is_shared, fetch)) return 0;
  say_once(said_register, "io_uring with registered buffers in", "EFAULT",
           "register memory of your own");
  return EFAULT;
}

}  // namespace weir::dsm

using namespace weir::dsm;

extern "C" {

__attribute__((visibility("default"))) int pthread_attr_setstack(pthread_attr_t* attributes,
                                                                 void* address,
                                                                 size_t size) noexcept {
  static auto* const libc =
      reinterpret_cast<decltype(pthread_attr_setstack)*>(dlsym(RTLD_NEXT, "pthread_attr_setstack"));
  refuse_stack(address, size);
  return libc(attributes, address, size);
}

__attribute__((visibility("default"))) int sigaltstack(const stack_t* stack,
                                                       stack_t* before) noexcept {
  static auto* const libc =
      reinterpret_cast<decltype(sigaltstack)*>(dlsym(RTLD_NEXT, "sigaltstack"));
  if (stack && !(stack->ss_flags & SS_DISABLE)) refuse_stack(stack->ss_sp, stack->ss_size);
  return libc(stack, before);
}

__attribute__((visibility("default"))) int pthread_mutex_init(
    pthread_mutex_t* mutex, const pthread_mutexattr_t* attributes) noexcept {
  static std::atomic<int (*)(pthread_mutex_t*, const pthread_mutexattr_t*)> libc{nullptr};
  refuse_process_shared(mutex, shared_by(attributes, pthread_mutexattr_getpshared), "a mutex",
                        "weir_dsm_lock");
  return kept_next(libc, "pthread_mutex_init")(mutex, attributes);
}

__attribute__((visibility("default"))) int pthread_rwlock_init(
    pthread_rwlock_t* lock, const pthread_rwlockattr_t* attributes) noexcept {
  static std::atomic<int (*)(pthread_rwlock_t*, const pthread_rwlockattr_t*)> libc{nullptr};
  refuse_process_shared(lock, shared_by(attributes, pthread_rwlockattr_getpshared),
                        "a lock of readers and writers", "weir_dsm_lock");
  return kept_next(libc, "pthread_rwlock_init")(lock, attributes);
}

__attribute__((visibility("default"))) int pthread_barrier_init(
    pthread_barrier_t* barrier, const pthread_barrierattr_t* attributes, unsigned count) noexcept {
  static std::atomic<int (*)(pthread_barrier_t*, const pthread_barrierattr_t*, unsigned)> libc{
      nullptr};
  refuse_process_shared(barrier, shared_by(attributes, pthread_barrierattr_getpshared), "a barrier",
                        "weir_dsm_barrier");
  return kept_next(libc, "pthread_barrier_init")(barrier, attributes, count);
}

__attribute__((visibility("default"))) int pthread_spin_init(pthread_spinlock_t* lock,
                                                             int shared) noexcept {
  static std::atomic<int (*)(pthread_spinlock_t*, int)> libc{nullptr};
  refuse_process_shared(const_cast<int*>(lock), shared, "a spin lock", "weir_dsm_lock");
  return kept_next(libc, "pthread_spin_init")(lock, shared);
}

__attribute__((visibility("default"))) int sem_init(sem_t* semaphore, int shared,
                                                    unsigned value) noexcept {
  static std::atomic<int (*)(sem_t*, int, unsigned)> libc{nullptr};
  refuse_process_shared(semaphore, shared, "a semaphore", "weir_dsm_semaphore_post");
  return kept_next(libc, "sem_init")(semaphore, shared, value);
}

}  // extern "C"
