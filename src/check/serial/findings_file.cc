// The memory for what is found, and the file that the command reads it from.

#include <fcntl.h>
#include <sys/mman.h>

#include "check/core/attach.h"
#include "check/core/state.h"
#include "check/serial/races.h"
#include "control/process.h"
#include "order/serial/serial.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"

namespace weir::view::checked::serial {

namespace {

bool g_is_asked = false;

// The part of the file at the same offset becomes what the memory has there.
void write_part(const void* part, uint64_t size) {
  const auto at = reinterpret_cast<uint64_t>(part);
  for (uint64_t done = 0; done < size;) {
    const long written =
        sys::raw(SYS_pwrite64, order::serial::findings_file(), static_cast<long>(at + done),
                 static_cast<long>(size - done), static_cast<long>(at + done - kFindings));
    if (sys::failed(written) || written == 0) return;
    done += static_cast<uint64_t>(written);
  }
}

void write_context(uint32_t index) {
  if (index && index < findings::kMaxContexts)
    write_part(&found().context[index], sizeof(findings::Context));
}

template <typename T>
uint32_t write_elements(const T* elements, uint32_t count, uint32_t most) {
  if (count > most) count = most;
  if (count) write_part(elements, count * sizeof(T));
  return count;
}

}  // namespace

void attach() {
  if (order::serial::findings_file() < 0) return;
  const long at =
      sys::raw(SYS_mmap, static_cast<long>(kFindings), static_cast<long>(findings::kFindingsSize),
               PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (at != static_cast<long>(kFindings)) {
    report("cannot map the memory for what is found (error %d)", int64_t{-at});
    die(125);
  }
  sys::raw(SYS_madvise, at, static_cast<long>(findings::kFindingsSize), MADV_NOHUGEPAGE);
  found().magic = findings::kMagic;
  found().version = findings::kVersion;
  checking::use_findings(false);
  happens::g_knows_blocks = true;
  g_is_asked = true;
  order::serial::set_on_end(write_findings);
}

bool is_asked() { return g_is_asked; }

void write_findings() {
  findings::Findings& f = found();
  const uint32_t races = f.races < findings::kMaxRaces ? f.races : findings::kMaxRaces;
  if (races) {
    write_elements(f.module, f.modules, findings::kMaxModules);
    const uint32_t tasks = write_elements(f.task, f.tasks, findings::kMaxTasks);
    for (uint32_t i = 0; i < tasks; i++) write_context(f.task[i].context);
    write_elements(f.race, races, findings::kMaxRaces);
    for (uint32_t i = 0; i < races; i++) {
      for (const findings::Side& side : f.race[i].sides) write_context(side.context);
      write_context(f.race[i].object.context);
    }
  }
  write_part(&f, offsetof(findings::Findings, module));
}

}  // namespace weir::view::checked::serial
