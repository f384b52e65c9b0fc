#include "check/keys/key_pages.h"

#include <sys/mman.h>

#include "check/core/state.h"
#include "sys/maps.h"

namespace weir::view::checked::keys {

Range pages_of(const Declared& object) {
  const bool own = has_own_pages(object.origin);
  const Range pages{own ? page_down(object.start) : page_up(object.start),
                    own ? page_up(object.limit()) : page_down(object.limit())};
  return pages.start < pages.limit ? pages : Range{};
}

bool is_mixed(uint64_t page, uint32_t except, FoundLately& found) {
  ObjectTable& table = objects();
  for (uint32_t index = found.find_above(table, page); index;
       index = found.find_above(table, table.at(index).limit())) {
    const Declared& object = table.at(index);
    if (object.start >= page + kPageSize) return false;
    if (index != except && !object.is_left && !pages_of(object).contains(page)) return true;
  }
  return false;
}

bool is_writable(const Declared& object) {
  if (has_own_pages(object.origin) || object.start - kArena < kArenaSize) return true;
  char* cursor = nullptr;
  const SpinGuard guard(state().findings_lock);  // of the text of maps
  if (sys::read_maps(&cursor) < 0) return false;
  sys::MapLine line;
  uint64_t at = object.start;
  while (at < object.limit() && (cursor = sys::next_map_line(cursor, &line))) {
    if (!line.range.contains(at)) continue;
    if (!line.writable || !line.readable || line.executable || line.shared) return false;
    at = line.range.limit;
  }
  return at >= object.limit();
}

}  // namespace weir::view::checked::keys
