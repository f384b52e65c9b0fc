// What backing.cc says of the tables of regions, looked through again. Only for builds with
// WEIR_DEBUG_CHECKS.
#pragma once

#include "base/bytes.h"
#include "control/control.h"
#include "memory/backing.h"
#include "sys/maps.h"

namespace weir::page {

inline bool has_region(const Range& range) {
  const Shared& s = shared();
  for (uint32_t i = 0; i < s.memory.segment_count; i++) {
    const MemorySegment& r = s.memory.segments[i];
    if (r.live && range.overlaps({r.start, r.start + r.size})) return true;
  }
  return false;
}

// What the kernel shows as one mapping is not private, writable, and outside the backing. The
// runtime's own may be part of it.
inline bool is_converted(const sys::MapLine& line) {
  if (line.shared || !line.writable || starts_with(line.name, "[v")) return true;
  if (line.range.overlaps(own_image()) || line.range.overlaps({kArena, kRuntimeLimit})) return true;
  uint64_t at = line.range.start;
  while (const uint64_t extent = at < line.range.limit ? backing_bytes_at(at) : 0) at += extent;
  return at >= line.range.limit;
}

inline bool are_all_converted() {
  char* maps;
  if (sys::read_maps(&maps) < 0) return true;
  sys::MapLine line;
  for (char* cursor = maps; (cursor = sys::next_map_line(cursor, &line));)
    if (!is_converted(line)) return false;
  return true;
}

}  // namespace weir::page
