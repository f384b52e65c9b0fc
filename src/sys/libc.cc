// How each fact is found:
//
// - The version: gnu_get_libc_version(), which other C libraries lack.
// - Its functions: by dlsym(). Before glibc 2.34 that was in libdl.so.2, and threads were in
//   libpthread.so.0; there the command has the loader load both with libweir.so (kThreadsApart).
// - A thread's record: _thread_db_*, the constants that glibc keeps for debuggers; before 2.34 they
//   are not to be found, and all releases from 2.31 on have it alike. Compared with the id of this
//   thread.
// - A condition's word: pthread_cond_init() with attributes sets bits in it, and in no other. The
//   version does not tell: distributions have taken the change of 2.41 into older releases.
// - Mutexes, read-write locks, barriers, semaphores and spin locks: Weir works on their words
//   (interpose/). Each is made and used once by glibc's own function here, and must then look as
//   those files have it.

#include "sys/libc.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>

#include "sys/report.h"
#include "sys/syscall_x86_64.h"

extern "C" {
// Weak: libc before 2.35 and other libcs have neither.
extern const unsigned int __rseq_size __attribute__((weak));
extern const ptrdiff_t __rseq_offset __attribute__((weak));
// Weak: glibc's alone.
const char* gnu_get_libc_version() __attribute__((weak));
// Weak, so that a program without libdl.so.2 comes as far as here.
extern decltype(dlopen) dlopen __attribute__((weak));
extern decltype(dlvsym) dlvsym __attribute__((weak));
}
// The versions before glibc 2.34.
__asm__(".symver dlopen,dlopen@GLIBC_2.2.5");
__asm__(".symver dlvsym,dlvsym@GLIBC_2.2.5");

namespace weir::libc {

constinit Layout g_layout{};

namespace {

constexpr unsigned kOldest = 31;
constexpr unsigned kOneLibrary = 34;  // before, threads were in a library of their own
constexpr unsigned kOneCancellableCall = 41;

template <typename Function>
Function* find_function(const char* name) {
  return reinterpret_cast<Function*>(find(name));
}

// "2.41" gives 41; 0: it is no such version.
unsigned minor_of(const char* version) {
  if (version[0] != '2' || version[1] != '.') return 0;
  unsigned minor = 0;
  for (const char* at = version + 2; *at >= '0' && *at <= '9'; at++)
    minor = 10 * minor + static_cast<unsigned>(*at - '0');
  return minor;
}

uint32_t word_of(const void* object, unsigned index) {
  return static_cast<const volatile uint32_t*>(object)[index];
}

// Only the words with an index in `except` may be other than 0.
bool is_empty(const void* object, unsigned words, unsigned except) {
  for (unsigned i = 0; i < words; i++) {
    if (!(except >> i & 1) && word_of(object, i)) return false;
  }
  return true;
}

// For debuggers: size in bits, count, offset.
bool find_thread_record() {
  const auto* size = find_function<const uint32_t>("_thread_db_sizeof_pthread");
  const auto* id = find_function<const uint32_t>("_thread_db_pthread_tid");
  if (size) g_layout.thread_size = *size;
  if (id && id[0] == 32) g_layout.thread_id = id[2];
  return word_of(reinterpret_cast<const void*>(sys::fs_base() + g_layout.thread_id), 0) ==
         static_cast<uint32_t>(sys::raw(SYS_gettid));
}

bool find_condition_flags() {
  constexpr uint32_t kShared = 1, kMonotonic = 2;
  const auto set_clock =
      find_function<decltype(pthread_condattr_setclock)>("pthread_condattr_setclock");
  const auto set_shared =
      find_function<decltype(pthread_condattr_setpshared)>("pthread_condattr_setpshared");
  const auto init =
      reinterpret_cast<decltype(&pthread_cond_init)>(find("pthread_cond_init", "GLIBC_2.3.2"));
  if (!set_clock || !set_shared || !init) return false;
  pthread_condattr_t attributes{};
  pthread_cond_t condition{};
  if (set_clock(&attributes, CLOCK_MONOTONIC) != 0 ||
      set_shared(&attributes, PTHREAD_PROCESS_SHARED) != 0)
    return false;
  if (init(&condition, &attributes) != 0) return false;
  constexpr unsigned kWords = sizeof condition / sizeof(uint32_t);
  for (unsigned i = 0; i < kWords; i++) {
    if (word_of(&condition, i) != (kShared | kMonotonic)) continue;
    g_layout.condition_flags = i * uint32_t{sizeof(uint32_t)};
    return is_empty(&condition, kWords, 1u << i);
  }
  return false;
}

bool knows_mutexes() {
  const auto lock = find_function<decltype(pthread_mutex_lock)>("pthread_mutex_lock");
  const auto unlock = find_function<decltype(pthread_mutex_unlock)>("pthread_mutex_unlock");
  pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
  constexpr unsigned kLock = 0, kCount = 1, kOwner = 2, kUsers = 3, kKind = 4;
  if (!lock || !unlock || word_of(&mutex, kKind) != PTHREAD_MUTEX_RECURSIVE_NP || lock(&mutex) != 0)
    return false;
  const auto self = static_cast<uint32_t>(sys::raw(SYS_gettid));
  const bool is_known = word_of(&mutex, kLock) == 1 && word_of(&mutex, kCount) == 1 &&
                        word_of(&mutex, kOwner) == self && word_of(&mutex, kUsers) == 1;
  return unlock(&mutex) == 0 && is_known &&
         is_empty(&mutex, sizeof mutex / sizeof(uint32_t), 1u << kKind);
}

bool knows_read_write_locks() {
  const auto read = find_function<decltype(pthread_rwlock_rdlock)>("pthread_rwlock_rdlock");
  const auto write = find_function<decltype(pthread_rwlock_wrlock)>("pthread_rwlock_wrlock");
  const auto unlock = find_function<decltype(pthread_rwlock_unlock)>("pthread_rwlock_unlock");
  const auto init = find_function<decltype(pthread_rwlock_init)>("pthread_rwlock_init");
  const auto set_shared =
      find_function<decltype(pthread_rwlockattr_setpshared)>("pthread_rwlockattr_setpshared");
  constexpr unsigned kReaders = 0, kWriters = 1, kPhase = 2, kWritersWait = 3, kOwner = 6,
                     kShared = 7;
  constexpr uint32_t kOneReader = 8, kWritten = 3;
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  pthread_rwlockattr_t attributes{};
  if (!read || !write || !unlock || !init || !set_shared) return false;
  if (read(&lock) != 0 || word_of(&lock, kReaders) != kOneReader || unlock(&lock) != 0 ||
      write(&lock) != 0)
    return false;
  const auto self = static_cast<uint32_t>(sys::raw(SYS_gettid));
  const bool is_known = word_of(&lock, kReaders) == kWritten && word_of(&lock, kOwner) == self &&
                        word_of(&lock, kWriters) == 0 && word_of(&lock, kPhase) == 1 &&
                        word_of(&lock, kWritersWait) == 1;
  if (unlock(&lock) != 0 || !is_known || set_shared(&attributes, PTHREAD_PROCESS_SHARED) != 0 ||
      init(&lock, &attributes) != 0)
    return false;
  return word_of(&lock, kShared) != 0 &&
         is_empty(&lock, sizeof lock / sizeof(uint32_t), 1u << kShared);
}

bool knows_other_objects() {
  const auto init_barrier = find_function<decltype(pthread_barrier_init)>("pthread_barrier_init");
  const auto init_semaphore = find_function<decltype(sem_init)>("sem_init");
  const auto init_spin = find_function<decltype(pthread_spin_init)>("pthread_spin_init");
  constexpr unsigned kCount = 2;  // of a barrier, behind those that have come and the current round
  constexpr uint32_t kSome = 5;
  pthread_barrier_t barrier{};
  sem_t semaphore{};
  pthread_spinlock_t spin = 0;
  return init_barrier && init_semaphore && init_spin &&
         init_barrier(&barrier, nullptr, kSome) == 0 && word_of(&barrier, kCount) == kSome &&
         is_empty(&barrier, 4, 1u << kCount) && init_semaphore(&semaphore, 0, kSome) == 0 &&
         word_of(&semaphore, 0) == kSome && word_of(&semaphore, 1) == 0 &&
         init_spin(&spin, 0) == 0 && spin == 1;
}

// Before all constructors that look functions up.
[[gnu::constructor(101)]] void need_names() {
  if (dlopen && dlvsym) return;
  refuse("threads");
  die(125);
}

}  // namespace

bool has_guarded_pointers() {
  return gnu_get_libc_version && minor_of(gnu_get_libc_version()) < kOneLibrary;
}

// libweir.so has a dlsym() of its own.
LookUp* look_up() {
  static LookUp* g_look_up;
  if (!g_look_up) g_look_up = reinterpret_cast<LookUp*>(dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5"));
  return g_look_up;
}

void* find(const char* name) { return look_up()(RTLD_NEXT, name); }

void* find(const char* name, const char* version) { return dlvsym(RTLD_NEXT, name, version); }

bool has_one_library() {
  return gnu_get_libc_version && minor_of(gnu_get_libc_version()) >= kOneLibrary;
}

void* find_in(const char* library, const char* name) {
  void* found = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  return found ? look_up()(found, name) : nullptr;
}

bool refuse(const char* what) {
  const char* version = gnu_get_libc_version ? gnu_get_libc_version() : nullptr;
  report(
      "this program's C library is %s%s, and Weir does not know its %s: it runs with glibc 2.31 to "
      "2.41, and with later ones that are alike. "
      "Take a Weir that is made for it, or run the program where the C library is one of these.",
      version ? "glibc " : "not glibc", version ? version : "", what);
  return false;
}

bool learn() {
  if (!gnu_get_libc_version) return refuse("threads");
  g_layout.minor = minor_of(gnu_get_libc_version());
  if (g_layout.minor < kOldest) return refuse("threads");
  // The library's own, whoever else has one of that name: __libc_malloc is mimalloc's, too.
  g_layout.code = reinterpret_cast<uint64_t>(find_function<const char*()>("gnu_get_libc_version"));
  g_layout.threads =
      g_layout.minor >= kOneLibrary
          ? g_layout.code
          : reinterpret_cast<uint64_t>(find_function<decltype(pthread_create)>("pthread_create"));
  if (!find_thread_record()) return refuse("record of a thread");
  if (!find_condition_flags()) return refuse("condition variables");
  if (!knows_mutexes()) return refuse("mutexes");
  if (!knows_read_write_locks()) return refuse("read-write locks");
  return knows_other_objects() || refuse("barriers, semaphores or spin locks");
}

uint64_t code() { return g_layout.code; }
uint64_t threads_code() { return g_layout.threads; }

bool has_one_cancellable_call() { return g_layout.minor >= kOneCancellableCall; }

bool is_cancellable_call(const uint8_t* code) {
  // mov 16(%rsp),%r9; mov %r11,8(%rsp); syscall; ret
  static constexpr uint8_t kCode[kCancellableCall] = {0x4c, 0x8b, 0x4c, 0x24, 0x10, 0x4c, 0x89,
                                                      0x5c, 0x24, 0x08, 0x0f, 0x05, 0xc3};
  for (size_t i = 0; i < kCancellableCall; i++) {
    if (code[i] != kCode[i]) return false;
  }
  return true;
}

bool unregister_rseq() {
  if (!&__rseq_size || !__rseq_size) return true;
  constexpr long kUnregister = 1, kSignature = 0x53053053, kFirstSize = 32;
  constexpr unsigned long kFeatureSize = 27;  // AT_RSEQ_FEATURE_SIZE, Linux 6.3: from glibc 2.40 on
                                              // areas are as large as the kernel wants them
  constexpr int32_t kFailed = -2;             // "registration failed": what sched_getcpu looks at
  const uint64_t area = sys::fs_base() + static_cast<uint64_t>(__rseq_offset);
  auto* processor = reinterpret_cast<volatile int32_t*>(area + 4);
  if (*processor < 0) return true;
  const auto wanted = static_cast<long>((getauxval(kFeatureSize) + 31) & ~31ul);
  for (long size = kFirstSize; size <= (wanted > kFirstSize ? wanted : kFirstSize);
       size += kFirstSize) {
    if (sys::raw(SYS_rseq, static_cast<long>(area), size, kUnregister, kSignature) != 0) continue;
    *processor = kFailed;
    return true;
  }
  return refuse("restartable sequences (rseq)");
}

}  // namespace weir::libc
