#include "code/find/original.h"

#include "base/bytes.h"
#include "code/find/window.h"
#include "code/sites/site_table.h"

// A text may be patched several times, and few of its chunks hold a site. Those that an earlier
// call has changed are copied, each to its own offset in a range as large as the text, and get
// their bytes back there; all others are read in place.

namespace weir {

bool Original::build(Range text, const TextMap& map) {
  text_ = text;
  map_ = &map;
  code_ = reinterpret_cast<const uint8_t*>(text.start);
  for (uint32_t i = 0; i < site_count(); i++) {
    const Site& site = *site_at(i);
    if (!text.contains(site.window)) continue;
    auto at = static_cast<uint32_t>(site.window - text.start);
    // The padding at the end of a window may lie in the next chunk.
    if (!copy_chunk(map.chunk_at(at)) || !copy_chunk(map.chunk_at(at + site.window_size - 1)))
      return false;
  }
  if (patched_ == nullptr) return true;
  for (uint32_t i = 0; i < site_count(); i++) {
    const Site& site = *site_at(i);
    if (!text.contains(site.window)) continue;
    copy_bytes(copy_ + (site.window - text.start), site.original, site.is_trap ? 1 : kJumpSize);
  }
  return true;
}

bool Original::copy_chunk(size_t chunk) {
  if (is_patched(chunk)) return true;
  if (patched_ == nullptr) {
    uint64_t size = page_up(text_.size());
    if (!memory_.take(size + map_->chunk_count())) return false;
    copy_ = reinterpret_cast<uint8_t*>(memory_.address());
    patched_ = reinterpret_cast<bool*>(memory_.address() + size);
  }
  patched_[chunk] = true;
  const Chunk& piece = map_->chunks()[chunk];
  uint64_t limit = piece.limit + kBehind < text_.size() ? piece.limit + kBehind : text_.size();
  copy_bytes(copy_ + piece.start, code_ + piece.start, limit - piece.start);
  return true;
}

}  // namespace weir
