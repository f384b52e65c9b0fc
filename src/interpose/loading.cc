// dlopen() and its kin.
//
// A library that is opened with RTLD_DEEPBIND (PHP opens its extensions so) looks names up among
// its own libraries first, and would find glibc's malloc, locks and threads there instead of
// Weir's, which all others have. So that flag is taken out.
//
// glibc guards the list of libraries by a lock. A thread that finds it held reads its word by plain
// loads, and what these find is not in a recording of the order alone (`weir record --view
// direct`). So a thread takes a lock of Weir's first, which is an event, and finds the loader's own
// free. It is not one turn: a library's constructors run meanwhile, and may wait for other threads.
// Natively they hold the loader's lock in the same way.
//
// By the return address glibc's functions find whose search path, namespace and names count. Where
// that matters the call is left to them as it is (a tail call), without the lock.
//
// Whoever looks a function up in libc itself (Free Pascal's threads, Python's ctypes) gets Weir's
// where there is one: with glibc's locks beside Weir's the race checker would know of no order, and
// with glibc's malloc there would be two heaps.

#include "interpose/loading.h"

#include <link.h>
#include <pthread.h>

#include "code/program/text_patches.h"
#include "interpose/event_call.h"
#include "interpose/real.h"
#include "memory/backing.h"
#include "sys/libc.h"
#include "sys/loaded_files.h"

namespace weir::interpose {

namespace {

constexpr int kDeepBind = 8;  // RTLD_DEEPBIND

pthread_mutex_t g_loading = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

bool takes_lock() { return is_event() && plan().is_order_only(); }

class LoadingScope {
 public:
  LoadingScope() : is_locked_(takes_lock()) {
    if (is_locked_) pthread_mutex_lock(&g_loading);
  }
  ~LoadingScope() {
    if (is_locked_) pthread_mutex_unlock(&g_loading);
  }
  LoadingScope(const LoadingScope&) = delete;
  LoadingScope& operator=(const LoadingScope&) = delete;

 private:
  const bool is_locked_;
};

// DT_RPATH and DT_RUNPATH: the file says where libraries are looked for.
bool has_search_path(const link_map* file) {
  for (const ElfW(Dyn)* entry = file->l_ld; entry && entry->d_tag != DT_NULL; entry++)
    if (entry->d_tag == DT_RPATH || entry->d_tag == DT_RUNPATH) return true;
  return false;
}

// Of the program itself, too: an RPATH of it counts for all, but its RUNPATH for it alone.
bool may_depend_on_caller(const char* name) {
  bool is_path = false;
  for (const char* c = name; c && *c; c++) {
    if (*c == '$') return true;
    if (*c == '/') is_path = true;
  }
  if (!name || is_path) return false;
  for (const link_map* file = sys::first_loaded_file(); file; file = file->l_next)
    if (has_search_path(file)) return true;
  return false;
}

// Names that the caller's own library or the next one gives.
bool is_of_caller(void* handle) { return handle == RTLD_DEFAULT || handle == RTLD_NEXT; }

using Open = void*(const char*, int);
using Close = int(void*);
using Describe = int(const void*, Dl_info*);

Open* g_open;
Close* g_close;
Describe* g_describe;

template <typename Function>
Function* known(Function*& function, const char* name) {
  if (!function) function = reinterpret_cast<Function*>(libc::find(name, "GLIBC_2.2.5"));
  return function;
}

struct Found {
  bool is_done;
  void* what;
};

// Functions of their own: what is to end in a tail call may keep nothing on the stack.
[[gnu::noinline]] Found open_here(const char* name, int mode) {
  if (!takes_lock()) return {false, nullptr};
  const LoadingScope scope;
  if (may_depend_on_caller(name)) return {false, nullptr};
  return {true, g_open(name, mode)};
}

// `found` by the name, or Weir's function that stands before it.
void* ours_for(void* found, const char* name) {
  if (!runtime::is_libc_text(reinterpret_cast<uint64_t>(found))) return found;
  // In the order in which the loader itself looks; libc, at least, has the name.
  void* const first = libc::look_up()(RTLD_DEFAULT, name);
  return page::own_image().contains(reinterpret_cast<uint64_t>(first)) ? first : found;
}

[[gnu::noinline]] Found find_here(void* library, const char* name) {
  if (is_of_caller(library)) return {false, nullptr};
  const LoadingScope scope;
  return {true, ours_for(libc::look_up()(library, name), name)};
}

}  // namespace

void forget_loading() { g_loading = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP; }

}  // namespace weir::interpose

#ifdef __clang__
#define WEIR_TAIL_CALLS
#define WEIR_TAIL_CALL [[clang::musttail]]
#else
#define WEIR_TAIL_CALLS [[gnu::optimize("optimize-sibling-calls")]]
#define WEIR_TAIL_CALL
#endif
WEIR_EXPORT WEIR_TAIL_CALLS void* dlopen(const char* name, int mode) {
  weir::interpose::known(weir::interpose::g_open, "dlopen");
  const weir::interpose::Found found =
      weir::interpose::open_here(name, mode & ~weir::interpose::kDeepBind);
  if (found.is_done) return found.what;
  WEIR_TAIL_CALL return weir::interpose::g_open(name, mode & ~weir::interpose::kDeepBind);
}

WEIR_EXPORT WEIR_TAIL_CALLS void* dlsym(void* library, const char* name) noexcept {
  const weir::interpose::Found found = weir::interpose::find_here(library, name);
  if (found.is_done) return found.what;
  weir::libc::LookUp* const look_up = weir::libc::look_up();
  WEIR_TAIL_CALL return look_up(library, name);
}

WEIR_EXPORT int dlclose(void* library) {
  const weir::interpose::LoadingScope scope;
  return weir::interpose::known(weir::interpose::g_close, "dlclose")(library);
}

WEIR_EXPORT int dladdr(const void* address, Dl_info* found) noexcept {
  const weir::interpose::LoadingScope scope;
  return weir::interpose::known(weir::interpose::g_describe, "dladdr")(address, found);
}
