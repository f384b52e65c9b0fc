#include "check/replay/attach.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "check/core/attach.h"
#include "check/core/state.h"
#include "check/findings/findings.h"
#include "control/address_map.h"
#include "record/input.h"
#include "record/stream.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"

namespace weir::view::checked::replay {

bool attach() {
  if (!input::replaying() || !recording::header().findings) return false;
  note_loader();
  const channel::Header& header = recording::header();
  char name[64], digits[24];
  const auto add = [&](const char* text, size_t& length) {
    while (*text) name[length++] = *text++;
    name[length] = 0;
  };
  const auto number = [&](uint64_t value) {
    char* at = digits + sizeof digits - 1;
    *at = 0;
    do *--at = static_cast<char>('0' + value % 10);
    while (value /= 10);
    return at;
  };
  size_t length = 0;
  add("/proc/", length);
  add(number(static_cast<uint64_t>(header.command)), length);
  add("/fd/", length);
  add(number(static_cast<uint64_t>(header.findings)), length);
  const long file =
      sys::raw(SYS_openat, AT_FDCWD, reinterpret_cast<long>(name), O_RDWR | O_CLOEXEC, 0);
  const long at = sys::failed(file)
                      ? file
                      : sys::raw(SYS_mmap, static_cast<long>(kFindings),
                                 static_cast<long>(findings::kFindingsSize), PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, file, 0);
  if (at != static_cast<long>(kFindings)) {
    report("cannot map the memory for what is found (error %d)", int64_t{-at});
    die(125);
  }
  sys::raw(SYS_close, file);
  checking::refuse_other_version();
  checking::use_findings(true);
  return true;
}

}  // namespace weir::view::checked::replay
