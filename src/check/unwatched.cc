// Memory that the program maps shared: other processes may have it, too, so no task is kept from
// it. The command says that it was not looked at. What has been mapped before the first thread
// counts.

#include "base/bytes.h"
#include "check/core/check.h"
#include "check/core/state.h"
#include "control/plan.h"
#include "sys/maps.h"

namespace weir::view::checked {

void note_unwatched(uint64_t address) {
  sys::MapLine line;
  if (plan().memory != Plan::Memory::kChecked || !sys::find_map_line(address, &line) ||
      !line.shared || !line.writable)
    return;
  findings::Findings& f = found();
  const uint32_t index = __atomic_fetch_add(&f.unwatched_count, 1u, __ATOMIC_RELAXED);
  if (index >= findings::kMaxUnwatched) return;
  findings::UnwatchedMemory& noted = f.unwatched[index];
  noted.size = line.range.size();
  uint64_t length = string_length(line.name);
  if (length >= sizeof noted.name) length = sizeof noted.name - 1;
  copy_bytes(noted.name, line.name, length);
  noted.name[length] = 0;
  __atomic_store_n(&noted.ready, 1u, __ATOMIC_RELEASE);
}

}  // namespace weir::view::checked
