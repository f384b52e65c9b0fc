// The weir command leaves one child behind: the process that fixed AT_RANDOM at execve (src/cli/fixed_random.cc), on
// its way out. It is waited for here, before the program could meet it, and forgotten in the environment, so that a
// program which this one executes does not wait again. The arguments are the loader's: libc has not set `environ` yet.
#include <sys/wait.h>

#include "sys/syscall_x86_64.h"

namespace weir {
namespace {

// The text after `prefix` in `text`, or null.
char* after(char* text, const char* prefix) {
  while (*prefix != 0) {
    if (*text++ != *prefix++) return nullptr;
  }
  return text;
}

[[gnu::constructor(101)]] void wait_for_tracer(int, char**, char** environment) {
  for (; *environment != nullptr; ++environment) {
    char* options = after(*environment, "WEIR_OPTIONS=");
    if (options == nullptr) continue;
    for (char* at = options; *at != 0; ++at) {
      char* digits = (at == options || at[-1] == ',') ? after(at, "tracer=") : nullptr;
      if (digits == nullptr) continue;
      long pid = 0;
      for (; *digits >= '0' && *digits <= '9'; ++digits) {
        pid = pid * 10 + (*digits - '0');
        *digits = '0';
      }
      if (pid > 0) sys::raw(SYS_wait4, pid, 0, __WALL, 0);
      return;
    }
  }
}

}  // namespace
}  // namespace weir
