// What Weir knows of the inside of the C library: all of it is here and in libc.cc.
//
// Layouts are found at start, by glibc's own functions and by what it tells debuggers, so a
// libweir.so built for one release runs with another. A library in which something is not found is
// refused by name (learn).
//
// Not here, since it is part of glibc's ABI: what static initializers of mutexes, conditions and
// locks fix, and the thread block's pointer to itself (%fs:0x10).
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace weir {

// glibc's signal for pthread_cancel.
inline constexpr int kCancelSignal = 32;

namespace libc {

struct Layout {
  unsigned minor = 36;  // glibc 2.minor
  // In a thread's record: its id. The kernel clears the word when the thread has ended.
  uint32_t thread_id = 720;
  uint32_t thread_size = 4096;  // of the record, at most
  // In a pthread_cond_t: the word with its attributes and the number of waiters.
  uint32_t condition_flags = 36;
  uint64_t code = 0;     // an address in the library's code
  uint64_t threads = 0;  // one in the code of its threads: another library before glibc 2.34
};
extern Layout g_layout __attribute__((visibility("hidden")));

inline const Layout& layout() { return g_layout; }

// Offset in a thread's record: the mark that the thread looks up a function in the list of
// libraries.
inline constexpr uint64_t kScopeFlag = 0x1c;

// What a program without libweir.so would find by that name, also of that version; null: nothing.
void* find(const char* name);
// The loader's dlsym().
using LookUp = void*(void* handle, const char* name);
LookUp* look_up();
void* find(const char* name, const char* version);
// The first of them, kept in `known`: in each process found when it is asked for first, which may
// be before any constructor.
template <typename Function>
Function* found(Function*& known, const char* name) {
  if (__builtin_expect(!known, 0)) known = reinterpret_cast<Function*>(find(name));
  return known;
}
// Whether threads, asynchronous calls and the like are in the C library itself, as since
// glibc 2.34. Before any constructor, too.
bool has_one_library();
// The same in one library, if it is loaded.
void* find_in(const char* library, const char* name);

// Whether there may be pointers by the guard of pointers (%fs:0x30) before a constructor has run:
// libpthread.so.0 writes some, before glibc 2.34.
bool has_guarded_pointers();

// Fills the layout. False: the C library is unknown, and report() has said so.
// REQUIRES: the program has one thread, and is not yet intercepted.
[[nodiscard]] bool learn();
// Addresses in the library's code, and in that of its threads. REQUIRES: learn() has succeeded.
uint64_t code();
uint64_t threads_code();
// Says that this library is unknown, because of `what`. Always false.
bool refuse(const char* what);

// Before a thread that a signal has met in a system call ends because it is cancelled, glibc from
// 2.41 on looks whether the signal met it in the one function that makes such calls. Whether `code`
// is the end of it: kCancellableCall bytes, of which the last three are the system call and the
// return.
bool has_one_cancellable_call();
inline constexpr size_t kCancellableCall = 13;
bool is_cancellable_call(const uint8_t* code);

// Gives back the area in which the kernel tells the thread where it runs (rseq): the kernel writes
// to it whenever the thread is moved, and its page may be protected or private. Reports and returns
// false if it is still the kernel's.
[[nodiscard]] bool unregister_rseq();

}  // namespace libc
}  // namespace weir
