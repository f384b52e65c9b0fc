#include "runtime/checking.h"

#include <sys/mman.h>

#include "base/options.h"
#include "event/declared.h"
#include "event/happens_before.h"
#include "page/store.h"
#include "runtime/state.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"
#include "task/shared.h"
#include "trace/findings.h"

namespace weir::checking {

void attach() {
  if (!runtime::g_guarded) return;
  const int descriptor = options().findings;
  const int sharing = descriptor < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED;
  const long at = sys::raw(SYS_mmap, static_cast<long>(kFindings), static_cast<long>(findings::kFindingsSize), PROT_READ | PROT_WRITE,
                           sharing | MAP_FIXED_NOREPLACE | MAP_NORESERVE, descriptor, 0);
  if (at != static_cast<long>(kFindings)) {
    report("cannot map the memory for what is found (error %d)", int64_t{-at});
    die(125);
  }
  page::dump_only_used();
  auto& found = *reinterpret_cast<findings::Findings*>(kFindings);
  if (descriptor >= 0) {
    if (found.magic != findings::kMagic || found.version != findings::kVersion) {
      report("the command and the library are not of one version of Weir");
      die(125);
    }
    page::keep_hidden(descriptor);
  }
  __atomic_store_n(&found.attached, 1u, __ATOMIC_RELEASE);
  happens::g_knows_blocks = true;
  declared::switch_on();
}

}  // namespace weir::checking
