// A program restricts itself by Landlock: from then on it opens only files that its rules allow.
// What of Weir runs in its processes is restricted too, and must go on reading /proc: the memory
// map before code is patched or memory is converted, the page map of each new task's process, the
// signal masks of tasks. So each set of rules that the program is about to use gets one more rule,
// which allows reading below /proc and nothing else. (A replay does not ask the kernel about
// Landlock, and is not restricted.)

#include <fcntl.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "control/control.h"
#include "memory/backing.h"
#include "sys/maps.h"
#include "sys/syscall_x86_64.h"
#include "syscall/syscall.h"

namespace weir::syscalls {

void allow_own_files(long rules) {
  constexpr long kBeneathPath = 1;                  // LANDLOCK_RULE_PATH_BENEATH
  constexpr uint64_t kRights[] = {1 << 2, 1 << 3};  // to read a file, a folder
  struct [[gnu::packed]] {
    uint64_t allowed;
    int32_t folder;
  } rule{};
  const long folder = sys::raw(SYS_open, reinterpret_cast<long>("/proc"), O_PATH | O_CLOEXEC);
  if (sys::failed(folder)) return;
  rule.folder = static_cast<int32_t>(folder);
  // A rule may name only what the set restricts.
  for (const uint64_t allowed : kRights) {
    rule.allowed = allowed;
    sys::raw(SYS_landlock_add_rule, rules, kBeneathPath, reinterpret_cast<long>(&rule), 0);
  }
  sys::raw(SYS_close, folder);
}

// Likewise where it changes its root to a folder without /proc: a descriptor of /proc is kept.
void keep_own_files() {
  if (*sys::g_proc_folder) return;
  const long folder = page::open_hidden(SYS_open, reinterpret_cast<long>("/proc"),
                                        O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (!sys::failed(folder)) shared().program.proc_folder = static_cast<int>(folder);
}

}  // namespace weir::syscalls
