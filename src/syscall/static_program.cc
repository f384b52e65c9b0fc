// What a static program is told of itself. The kernel's program is weir-host.
#include "control/static_program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/random.h>
#include <sys/syscall.h>

#include "base/bytes.h"
#include "constant/constant.h"
#include "constant/layout.h"
#include "control/control.h"
#include "control/options.h"
#include "control/plan.h"
#include "memory/program_memory.h"
#include "sys/syscall_x86_64.h"
#include "syscall/static_program.h"

namespace weir {

namespace {

char g_path[PATH_MAX];
bool g_is_on = false;
bool g_has_heap_key = false;

const char* after(const char* text, const char* prefix) {
  while (*prefix) {
    if (*text++ != *prefix++) return nullptr;
  }
  return text;
}

}  // namespace

namespace static_program {

bool is_on() { return g_is_on; }
const char* path() { return g_path; }

bool is_own_file(const char* name) {
  const char* rest = after(name, "/proc/");
  if (!rest || !g_path[0]) return false;
  if (const char* own = after(rest, "self/")) {
    rest = own;
  } else if (const char* thread = after(rest, "thread-self/")) {
    rest = thread;
  } else {
    long pid = 0;
    for (; *rest >= '0' && *rest <= '9' && pid < 1 << 24; rest++) pid = pid * 10 + (*rest - '0');
    const long shown = shared().program.shown_pid;
    if (pid == 0 || pid != (shown ? shown : sys::raw(SYS_getpid)) || *rest++ != '/') return false;
  }
  return equal_strings(rest, "exe");
}

}  // namespace static_program

namespace syscalls {

void begin_static_program(const char* path) {
  g_is_on = true;
  if (string_length(path) < sizeof g_path) append_text(g_path, path);
}

bool is_of_static_program(long number) {
  if (!g_is_on) return false;
  switch (number) {
    case SYS_getrandom: return plan().is_deterministic() && !g_has_heap_key;
    case SYS_readlink:
    case SYS_readlinkat:
    case SYS_open:
    case SYS_openat: return true;
    default: return false;
  }
}

bool on_static_program(Call& call, long& result) {
  if (call.number == SYS_getrandom) {
    // glibc's, for its heap, once, at the first allocation: as the kernel's for its stacks.
    if (g_has_heap_key || call.b != sizeof(uint64_t) || call.c != GRND_NONBLOCK) return false;
    g_has_heap_key = true;
    const uint64_t key = constant::image_random(options().seed, constant::kHeapKey, 0);
    result = trap::to_program(call.a, key) == 0 ? long{sizeof key} : -EFAULT;
    return true;
  }
  const bool at = call.number == SYS_readlinkat || call.number == SYS_openat;
  long& name = at ? call.b : call.a;
  char text[64];
  const long length = trap::string_from_program(text, name, sizeof text);
  if (length < 0 || length >= long{sizeof text} || !static_program::is_own_file(text)) return false;
  if (call.number == SYS_open || call.number == SYS_openat) {
    name = reinterpret_cast<long>(g_path);
    return false;
  }
  const long room = at ? call.d : call.c;
  if (static_cast<int>(room) <= 0) return result = -EINVAL, true;
  const size_t size = string_length(g_path);
  const size_t used = size < static_cast<size_t>(room) ? size : static_cast<size_t>(room);
  const long wrong = trap::to_program(at ? call.c : call.b, g_path, used);
  result = wrong ? wrong : static_cast<long>(used);
  return true;
}

}  // namespace syscalls
}  // namespace weir
