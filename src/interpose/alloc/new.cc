// `new` of programs in C++, if only declared policies count: a block is an object, private to the
// task that asked for it. In all other cases, and if there is no room, the C++ library's own
// operator does the work, by malloc. When that operator calls malloc itself, the call cannot be
// told from one for the library's own purposes. Only here is the caller known. `delete` ends in
// free, which knows whose the block is.
//
// A program without the C++ library calls none of these. If it loads one later, for itself alone,
// malloc does the work.

#include <link.h>
#include <stdlib.h>
#include <initializer_list>

#include "base/bytes.h"
#include "check/core/declared.h"
#include "interpose/alloc/guarded.h"
#include "interpose/caller.h"
#include "interpose/event_call.h"
#include "sys/libc.h"
#include "sys/loaded_files.h"
#include "sys/report.h"

namespace weir {

namespace {

using interpose::Caller;

constexpr size_t kLeastAlignment = 16;  // bytes, of every block

// Looked up before the program has threads: which of them would come first differs from run to run,
// and a look-up takes a lock of the C library's.
struct Operator {
  const char* name;
  void* function;
  bool is_known;

  void* find() {
    if (!is_known) {
      function = libc::find(name);
      is_known = true;
    }
    return function;
  }
};

Operator g_new{"_Znwm", nullptr, false}, g_new_array{"_Znam", nullptr, false};
Operator g_new_or_null{"_ZnwmRKSt9nothrow_t", nullptr, false},
    g_new_array_or_null{"_ZnamRKSt9nothrow_t", nullptr, false};

// Where there is none a look-up would fail, which allocates: the heap is not to be reserved before
// the program needs one.
bool has_library() {
  for (const link_map* library = sys::first_loaded_file(); library; library = library->l_next) {
    for (const char* name : {"/libstdc++.so", "/libc++.so", "/libc++abi.so"}) {
      if (contains_text(library->l_name, name)) return true;
    }
  }
  return false;
}

__attribute__((constructor)) void find_early() {
  const bool found = has_library();
  for (Operator* each : {&g_new, &g_new_array, &g_new_or_null, &g_new_array_or_null}) {
    if (found) each->find();
    each->is_known = true;
  }
}

[[gnu::cold, gnu::noinline]] void* allocate_object(size_t size, const Caller& caller) {
  constexpr uint32_t kPrivate = 1;
  if (!declared::is_programs(caller.where) || is_borrower() || !declared::is_on()) return nullptr;
  const SignalsWait signals;
  return declared::allocate(size, kPrivate, caller, true);
}

inline void* object_of(size_t size, const Caller& caller) {
  // Here the caller is known; in malloc it would be the C++ library.
  if (__builtin_expect(interpose::guarded::is_on(), 0))
    return interpose::guarded::told(
        interpose::guarded::allocate(size, kLeastAlignment, false, caller), size, caller);
  return __builtin_expect(declared::g_strict, 0) ? allocate_object(size, caller) : nullptr;
}

void* allocate(Operator& real, size_t size) {
  if (void* function = real.find()) return reinterpret_cast<void* (*)(size_t)>(function)(size);
  if (void* object = malloc(size ? size : 1)) return object;
  // Only a C++ library can throw: the one that was loaded later, by whoever calls.
  if (void* function = libc::find_in("libstdc++.so.6", real.name))
    return reinterpret_cast<void* (*)(size_t)>(function)(size);
  report("no memory for operator new");
  abort();
}

void* allocate_or_null(Operator& real, size_t size, const void* nothrow) {
  if (void* function = real.find())
    return reinterpret_cast<void* (*)(size_t, const void*)>(function)(size, nothrow);
  return malloc(size ? size : 1);
}

}  // namespace
}  // namespace weir

#define WEIR_EXPORT extern "C" [[gnu::visibility("default")]]

using namespace weir;

WEIR_EXPORT void* _Znwm(size_t size) {
  if (void* object = object_of(size, WEIR_CALLER)) return object;
  return allocate(g_new, size);
}
WEIR_EXPORT void* _Znam(size_t size) {
  if (void* object = object_of(size, WEIR_CALLER)) return object;
  return allocate(g_new_array, size);
}
WEIR_EXPORT void* _ZnwmRKSt9nothrow_t(size_t size, const void* nothrow) {
  if (void* object = object_of(size, WEIR_CALLER)) return object;
  return allocate_or_null(g_new_or_null, size, nothrow);
}
WEIR_EXPORT void* _ZnamRKSt9nothrow_t(size_t size, const void* nothrow) {
  if (void* object = object_of(size, WEIR_CALLER)) return object;
  return allocate_or_null(g_new_array_or_null, size, nothrow);
}
