// dlopen(): a library that is opened with RTLD_DEEPBIND (PHP opens its extensions so) looks names
// up among its own libraries first, and would find glibc's malloc, locks and threads there instead
// of Weir's, which all others have. So that flag is taken out.

#include "interpose/real.h"
#include "sys/libc.h"

namespace {

constexpr int kDeepBind = 8;  // RTLD_DEEPBIND

using Open = void*(const char*, int);

}  // namespace

// A tail call: by the return address glibc's function finds whose search path and namespace count.
#ifdef __clang__
#define WEIR_TAIL_CALLS
#define WEIR_TAIL_CALL [[clang::musttail]]
#else
#define WEIR_TAIL_CALLS [[gnu::optimize("optimize-sibling-calls")]]
#define WEIR_TAIL_CALL
#endif
WEIR_EXPORT WEIR_TAIL_CALLS void* dlopen(const char* name, int mode) {
  static Open* g_open;
  if (!g_open) g_open = reinterpret_cast<Open*>(weir::libc::find("dlopen"));
  WEIR_TAIL_CALL return g_open(name, mode & ~kDeepBind);
}
