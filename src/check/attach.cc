#include "check/core/attach.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "check/core/check.h"
#include "check/core/declared.h"
#include "check/core/happens_before.h"
#include "check/executed.h"
#include "check/findings/findings.h"
#include "control/control.h"
#include "control/options.h"
#include "control/process.h"
#include "memory/backing.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"

namespace weir::checking {

namespace {

bool g_is_replayed = false;

findings::Findings& found() { return *reinterpret_cast<findings::Findings*>(kFindings); }

}  // namespace

void refuse_other_version() {
  if (found().magic == findings::kMagic && found().version == findings::kVersion) return;
  report("the command and the library are not of one version of Weir");
  die(125);
}

void use_findings(bool is_replayed) {
  g_is_replayed = is_replayed;
  learn_image();
  page::dump_only_used();
  set_death_note(&found().failed);
  __atomic_store_n(&found().attached, 1u, __ATOMIC_RELEASE);
}

bool is_replayed() { return g_is_replayed; }

void begin_program() {
  if (g_is_replayed) happens::g_knows_blocks = happens::g_notifies_blocks = true;
}

namespace {

bool is_findings(int descriptor) {
  struct stat status;
  return sys::raw(SYS_fstat, descriptor, reinterpret_cast<long>(&status)) == 0 &&
         static_cast<uint64_t>(status.st_size) == findings::kFindingsSize;
}

// Whoever executed this program has closed what was inherited (Python's subprocess, sudo, a
// daemon). The command's own descriptor has a name in /proc. Returns -1 if it cannot be reached.
int open_by_name() {
  constexpr char kProcesses[] = "/proc/", kDescriptors[] = "/fd/";
  const Options& asked = options();
  if (asked.command <= 0) return -1;
  char name[64], *end = append_text(name, kProcesses);
  end = append_number(end, static_cast<uint64_t>(asked.command));
  end = append_text(end, kDescriptors);
  append_number(end, static_cast<uint64_t>(asked.command_findings));
  const page::LimitLifted limit(RLIMIT_NOFILE);
  const long opened =
      sys::raw(SYS_openat, AT_FDCWD, reinterpret_cast<long>(name), O_RDWR | O_CLOEXEC);
  if (sys::failed(opened)) return -1;
  if (is_findings(static_cast<int>(opened))) return static_cast<int>(opened);
  sys::raw(SYS_close, opened);
  return -1;
}

}  // namespace

void attach() {
  if (!plan().checks_races()) return;
  const int descriptor = options().findings;
  const auto map = [](int file, int sharing) {
    return sys::raw(SYS_mmap, static_cast<long>(kFindings),
                    static_cast<long>(findings::kFindingsSize), PROT_READ | PROT_WRITE,
                    sharing | MAP_SHARED | MAP_NORESERVE, file, 0);
  };
  const bool is_inherited = descriptor >= 0 && is_findings(descriptor);
  const int file = is_inherited ? descriptor : descriptor >= 0 ? open_by_name() : -1;
  const bool is_known = file >= 0 && map(file, MAP_FIXED_NOREPLACE) == static_cast<long>(kFindings);
  if (is_known) {
    refuse_other_version();
    if (is_inherited) page::keep_hidden(descriptor);
    else sys::raw(SYS_close, file);  // programs that this one executes find it by its name, too
    arrive_executed();
  } else {
    if (descriptor >= 0)
      report(
          "who executed this program has closed the descriptor of what is found, and Weir cannot "
          "reach the command's (another user, or another /proc): this program is not checked");
    if (map(-1, MAP_FIXED | MAP_ANONYMOUS) != static_cast<long>(kFindings)) {
      report("cannot map the memory for what is found");
      die(125);
    }
  }
  use_findings(false);
  happens::g_knows_blocks = true;
  declared::switch_on();
}

}  // namespace weir::checking
