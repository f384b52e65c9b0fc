#include "code/find/window.h"

#include "code/decode/shape.h"

// A jump takes five bytes and most sites are shorter, so neighbours move into the stub with it: the
// instructions after the site where possible, else also one or two before it.
//
// Invariants
// 1. Of the five bytes that the jump overwrites, only the first is a place that control is known to
//    enter, and where instructions before the site move, the site is none. So whoever comes to the
//    site comes through the stub, and the instruction behind a `lock` that old code jumps over
//    keeps its bytes. (checked in mark_taken)
// 2. No call moves: its return address would lie in the stub, where no unwinder finds its way. No
//    other site moves. (checked in put_displaced)
// 3. After an instruction that never goes on to the next one, only padding is taken, and that only
//    if all is padding up to the next proved instruction or the end of the function. (not
//    checkable: nothing tells padding from code that is never executed)

namespace weir {
namespace {

bool is_padding(const Shape& shape) {
  if (shape.map == OpcodeMap::k0F) return shape.opcode == 0x1f;
  return shape.map == OpcodeMap::kOneByte && (shape.opcode == 0x90 || shape.opcode == 0xcc) &&
         shape.rex == 0 && !shape.has_repeat;
}

bool is_all_padding(const WindowSource& source, const Candidate& site, uint32_t at) {
  constexpr uint32_t kLongest = 64;
  Shape shape;
  for (const uint32_t start = at;
       at < source.size && at != site.chunk_limit && !source.starts->has(at); at += shape.length) {
    if (at - start > kLongest || !read_shape(site.code + at, source.size - at, shape) ||
        !is_padding(shape))
      return false;
  }
  return true;
}

bool may_move(const WindowSource& source, const Candidate& site, uint32_t at, uint32_t limit,
              Shape& shape) {
  SiteKind kind;
  if (!source.starts->has(at) && !is_all_padding(source, site, at)) return false;
  return at < limit && read_shape(site.code + at, limit - at, shape) && is_relocatable(shape) &&
         !is_site(shape, kind);
}

// Extends [start, site's end) forward until a jump fits.
bool extend(const WindowSource& source, const Candidate& site, Window& window) {
  bool padding_only = false;
  unsigned moved = 0;
  while (window.limit - window.start < kJumpSize) {
    Shape shape;
    if (source.targets->has(window.limit) || ++moved > 5) return false;
    if (!may_move(source, site, window.limit, padding_only ? source.size : site.chunk_limit, shape))
      return false;
    if (padding_only && !is_padding(shape)) return false;
    padding_only |= never_continues(flow_of(shape));
    window.limit += shape.length;
  }
  return true;
}

bool is_free(const WindowSource& source, const Candidate& site, const Window& window) {
  uint32_t overwritten = window.start + kJumpSize;
  if (source.taken->has_any(window.start, window.limit > overwritten ? window.limit : overwritten))
    return false;
  if (source.targets->has_any(window.start + 1, overwritten)) return false;
  return window.start == site.offset || !source.targets->has(site.offset);
}

}  // namespace

bool is_relocatable(const Shape& shape) {
  switch (flow_of(shape)) {
    case Flow::kLoop:
    case Flow::kCall:
    case Flow::kIndirectCall: return false;
    default: break;
  }
  if (shape.has_67 && shape.is_rip_relative()) return false;
  if (shape.map == OpcodeMap::k0F && !shape.is_vector)
    return shape.opcode != 0x05 && shape.opcode != 0x34;
  return !(shape.map == OpcodeMap::kOneByte && !shape.is_vector && shape.opcode == 0xcd);
}

bool choose_window(const WindowSource& source, const Candidate& site, Window& window) {
  uint32_t before = 0;
  for (unsigned earlier = 0; earlier <= 2; earlier++) {
    if (earlier > 0) {
      uint32_t length = earlier == 1 ? site.previous : site.before_previous;
      Shape shape;
      before += length;
      if (length == 0 || !may_move(source, site, site.offset - before, site.offset, shape))
        return false;
      if (never_continues(flow_of(shape)) || source.targets->has(site.offset - before + length))
        return false;
    }
    window = Window{site.offset - before, site.offset + site.length};
    if (extend(source, site, window) && is_free(source, site, window)) return true;
  }
  return false;
}

}  // namespace weir
