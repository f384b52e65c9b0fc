#include "record/unrecorded.h"

#include "base/bytes.h"
#include "control/control.h"
#include "memory/backing.h"
#include "record/input.h"
#include "record/shared_memory.h"
#include "record/stream.h"
#include "sys/descriptor.h"
#include "sys/maps.h"

namespace weir::recording {

namespace {

constexpr char kOurFiles[] = "/memfd:weir-",
               kTheirs[] = "/memfd:weir-shared";  // the second is the program's anonymous memory

bool is_ours(const sys::MapLine& line) {
  if (starts_with(line.name, kTheirs)) return false;
  return starts_with(line.name, kOurFiles) || line.range.overlaps(page::own_image()) ||
         overlaps_runtime(line.range) ||
         line.range.overlaps({kCountCode, kCountBlocks + kCountBlocksSize});
}

}  // namespace

void note_shared_memory() {
  channel::Header& h = header();
  char* cursor;
  if (!input::recording() || __atomic_load_n(&h.shares, __ATOMIC_ACQUIRE) ||
      sys::read_maps(&cursor) < 0)
    return;
  sys::MapLine line;
  while ((cursor = sys::next_map_line(cursor, &line))) {
    if (!line.shared || !line.writable || is_ours(line) ||
        shared_memory::overlaps(line.range.start, line.range.size()))
      continue;
    if (__atomic_exchange_n(&h.shares, 1u, __ATOMIC_ACQ_REL)) return;
    const bool is_file = line.name[0] == '/' && !starts_with(line.name, kTheirs) &&
                         !starts_with(line.name, "/dev/zero");
    if (is_file && string_length(line.name) < sizeof h.shared) append_text(h.shared, line.name);
    return;
  }
}

void note_untracked(int descriptor) {
  channel::Header& h = header();
  if (__atomic_exchange_n(&h.shares, 1u, __ATOMIC_ACQ_REL)) return;
  char name[sizeof h.shared] = "";
  const long length = sys::name_of_descriptor(descriptor, name, sizeof name - 1);
  if (length > 0 && static_cast<size_t>(length) < sizeof name) append_text(h.shared, name);
}

void note_stranger(uint64_t address) {
  channel::Header& h = header();
  sys::MapLine line;
  if (__atomic_exchange_n(&h.strangers, 1u, __ATOMIC_ACQ_REL) ||
      !sys::find_map_line(address, &line))
    return;
  if (string_length(line.name) < sizeof h.strange) append_text(h.strange, line.name);
}

}  // namespace weir::recording
