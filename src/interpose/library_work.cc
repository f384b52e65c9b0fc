// What the C library does later, or in threads of its own, for who asks for it: what it calls when
// the program ends or forks, input and output that goes on meanwhile, and the locks of its streams,
// by which a program may guard its own data. Who asks is ordered before what is done, and that
// before who is told that it is. In a program that is not checked each is the library's own.

#include <stdio.h>
#include <time.h>

#include "base/bytes.h"
#include "check/core/happens_before.h"
#include "interpose/event_call.h"
#include "interpose/loading.h"
#include "sys/libc.h"
#include "sys/loaded_files.h"

namespace weir::interpose {

namespace {

using Routine = void (*)(void*);

// aio_read and its kin return before the work is done.
constexpr bool is_only_asked(const char* name) {
  constexpr const char* kAsked[] = {"aio_read", "aio_write", "aio_fsync"};
  for (const char* asked : kAsked) {
    size_t i = 0;
    while (asked[i] && asked[i] == name[i]) i++;
    if (!asked[i]) return true;
  }
  return false;
}

}  // namespace

}  // namespace weir::interpose

using weir::happens::by_library;
using weir::interpose::acquire_in_program;
using weir::interpose::is_only_asked;
using weir::interpose::release_in_program;
using weir::interpose::Routine;

#define WEIR_LIBRARY(name, ...)                             \
  const auto real = weir::libc::found(known_##name, #name); \
  if (!real) return __VA_ARGS__

extern "C" {
int __cxa_atexit(Routine routine, void* argument, void* library_of);
int on_exit(void (*routine)(int, void*), void* argument);
int __cxa_at_quick_exit(void (*routine)(), void* library_of);
void __cxa_finalize(void* library_of);
int __register_atfork(void (*prepare)(), void (*parent)(), void (*child)(), void* library_of);
}

// Of the library of each release. Looked up before the program has threads: which of them would
// come first differs from run to run, and a look-up takes a lock of the C library's.
static decltype(__cxa_atexit)* known___cxa_atexit;
static decltype(on_exit)* known_on_exit;
static decltype(__cxa_at_quick_exit)* known___cxa_at_quick_exit;
static decltype(__cxa_finalize)* known___cxa_finalize;
static decltype(__register_atfork)* known___register_atfork;
static int (*known_fork)();
static decltype(flockfile)* known_flockfile;
static decltype(ftrylockfile)* known_ftrylockfile;
static decltype(funlockfile)* known_funlockfile;

// X(result, name, parameters, arguments)
#define WEIR_LIBRARY_WORK(X)                                                        \
  X(int, aio_read, (void* block), (block))                                          \
  X(int, aio_read64, (void* block), (block))                                        \
  X(int, aio_write, (void* block), (block))                                         \
  X(int, aio_write64, (void* block), (block))                                       \
  X(int, aio_fsync, (int how, void* block), (how, block))                           \
  X(int, aio_fsync64, (int how, void* block), (how, block))                         \
  X(int, aio_error, (const void* block), (block))                                   \
  X(int, aio_error64, (const void* block), (block))                                 \
  X(long, aio_return, (void* block), (block))                                       \
  X(long, aio_return64, (void* block), (block))                                     \
  X(int, aio_suspend, (const void* const* list, int count, const timespec* time),   \
    (list, count, time))                                                            \
  X(int, aio_suspend64, (const void* const* list, int count, const timespec* time), \
    (list, count, time))                                                            \
  X(int, aio_cancel, (int file, void* block), (file, block))                        \
  X(int, aio_cancel64, (int file, void* block), (file, block))                      \
  X(int, lio_listio, (int mode, void* const* list, int count, void* event),         \
    (mode, list, count, event))                                                     \
  X(int, lio_listio64, (int mode, void* const* list, int count, void* event),       \
    (mode, list, count, event))                                                     \
  X(int, getaddrinfo_a, (int mode, void** list, int count, void* event),            \
    (mode, list, count, event))                                                     \
  X(int, gai_error, (void* request), (request))                                     \
  X(int, gai_suspend, (const void* const* list, int count, const timespec* time),   \
    (list, count, time))                                                            \
  X(int, gai_cancel, (void* request), (request))

#define WEIR_KNOWN(result, name, parameters, arguments) static result(*known_##name) parameters;
WEIR_LIBRARY_WORK(WEIR_KNOWN)

#define WEIR_FIND_EARLY(name) weir::libc::found(known_##name, #name)
#define WEIR_FIND_WORK(result, name, parameters, arguments) WEIR_FIND_EARLY(name);

// Where these are in a library of their own that is not there, each look-up would fail, which
// allocates: the heap is not to be reserved before the program needs one.
static bool has_work() {
  for (const link_map* library = weir::sys::first_loaded_file(); library; library = library->l_next)
    if (weir::contains_text(library->l_name, "/librt.so")) return true;
  return weir::libc::has_one_library();
}

__attribute__((constructor)) static void find_early() {
  WEIR_FIND_EARLY(__cxa_atexit);
  WEIR_FIND_EARLY(on_exit);
  WEIR_FIND_EARLY(__cxa_at_quick_exit);
  WEIR_FIND_EARLY(__cxa_finalize);
  WEIR_FIND_EARLY(__register_atfork);
  WEIR_FIND_EARLY(fork);
  WEIR_FIND_EARLY(flockfile);
  WEIR_FIND_EARLY(ftrylockfile);
  WEIR_FIND_EARLY(funlockfile);
  if (has_work()) { WEIR_LIBRARY_WORK(WEIR_FIND_WORK) }
}

WEIR_EXPORT int __cxa_atexit(Routine routine, void* argument, void* library_of) {
  WEIR_LIBRARY(__cxa_atexit, -1);
  release_in_program(weir::happens::kAtExit);
  return real(routine, argument, library_of);
}

WEIR_EXPORT int on_exit(void (*routine)(int, void*), void* argument) {
  WEIR_LIBRARY(on_exit, -1);
  release_in_program(weir::happens::kAtExit);
  return real(routine, argument);
}

WEIR_EXPORT int __cxa_at_quick_exit(void (*routine)(), void* library_of) {
  WEIR_LIBRARY(__cxa_at_quick_exit, -1);
  release_in_program(weir::happens::kAtExit);
  return real(routine, library_of);
}

// Of one library, or of all: the program ends, or the library is closed.
WEIR_EXPORT void __cxa_finalize(void* library_of) {
  WEIR_LIBRARY(__cxa_finalize, );
  acquire_in_program(weir::happens::kAtExit);
  real(library_of);
}

WEIR_EXPORT int __register_atfork(void (*prepare)(), void (*parent)(), void (*child)(),
                                  void* library_of) {
  WEIR_LIBRARY(__register_atfork, -1);
  release_in_program(weir::happens::kAtFork);
  return real(prepare, parent, child, library_of);
}

WEIR_EXPORT int fork() {
  WEIR_LIBRARY(fork, -1);
  acquire_in_program(weir::happens::kAtFork);
  const int child = real();
  if (child == 0) weir::interpose::forget_loading();
  return child;
}

#define WEIR_DEFINE(result, name, parameters, arguments)                    \
  WEIR_EXPORT result name parameters {                                      \
    WEIR_LIBRARY(name, -1);                                                 \
    release_in_program(weir::happens::kWork);                               \
    const auto answer = by_library([&] { return real arguments; });         \
    if (!is_only_asked(#name)) acquire_in_program(weir::happens::kHelpers); \
    return answer;                                                          \
  }
WEIR_LIBRARY_WORK(WEIR_DEFINE)

// By the stream: what its lock is made of lies in the C library's own data, which a checked replay
// does not look at.
WEIR_EXPORT void flockfile(FILE* stream) {
  WEIR_LIBRARY(flockfile, );
  by_library([&] { return real(stream), 0; });
  acquire_in_program(reinterpret_cast<uint64_t>(stream));
}

WEIR_EXPORT int ftrylockfile(FILE* stream) {
  WEIR_LIBRARY(ftrylockfile, -1);
  const int error = by_library([&] { return real(stream); });
  if (!error) acquire_in_program(reinterpret_cast<uint64_t>(stream));
  return error;
}

WEIR_EXPORT void funlockfile(FILE* stream) {
  WEIR_LIBRARY(funlockfile, );
  release_in_program(reinterpret_cast<uint64_t>(stream));
  by_library([&] { return real(stream), 0; });
}
