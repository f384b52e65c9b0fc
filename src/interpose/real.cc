// Looked up once, all together; two threads that do it at the same time store the same values.

#include "interpose/real.h"

#include "sys/libc.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // mallinfo

namespace weir::interpose {

constinit Real g_real{};
constinit bool g_real_found = false;

void find_real() {
#define WEIR_FIND(name) g_real.name = reinterpret_cast<decltype(&::name)>(libc::find(#name));
  WEIR_REAL_FUNCTIONS(WEIR_FIND)
  WEIR_FIND(pthread_cond_clockwait)
#undef WEIR_FIND
  g_real.cleanup_push =
      reinterpret_cast<decltype(g_real.cleanup_push)>(libc::find("_pthread_cleanup_push"));
  g_real.cleanup_pop =
      reinterpret_cast<decltype(g_real.cleanup_pop)>(libc::find("_pthread_cleanup_pop"));
#define WEIR_FIND(name) \
  g_real.name = reinterpret_cast<decltype(&::name)>(libc::find(#name, "GLIBC_2.3.2"));
  WEIR_REAL_CONDITION_FUNCTIONS(WEIR_FIND)
#undef WEIR_FIND
  __atomic_store_n(&g_real_found, true, __ATOMIC_RELEASE);  // who sees it sees the pointers
}

namespace {
__attribute__((constructor)) void find_early() { find_real(); }
}  // namespace

}  // namespace weir::interpose
