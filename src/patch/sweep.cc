#include "patch/sweep.h"

#include "patch/byte_scan.h"

// The sweep starts anew at each function, so an error cannot spread. What is swept:
//
// - a chunk that is known to be code: its sites count. Where such a chunk holds bytes that are no instruction, data
//   lies in it; then only sites before the last unconditional transfer of control ahead of those bytes count;
// - what lies between known chunks: sites count only in what the chunk before it runs on into (libc ends the unwind
//   information of clone3 before its system call), up to the first unconditional transfer. Nothing else is believed:
//   a table of constants holds `0f 05` by chance once in 64 KiB, and changing it would make a wrong result in silence.
//   Branches there are believed: a false target costs a trap at worst;
// - what lies before the first and after the last known chunk is no code (old linkers put constants and headers there);
// - an object of which little is known ("linear"): there the sweep trusts itself again after each gap.
//
// Besides direct branches, control enters code through tables: entries of 4 bytes relative to the table (position
// independent switches), of 8 bytes absolute (other switches, computed gotos). Every address of a constant that code
// loads is tried as both; the listing ends at the first entry that does not lead into known code.
//
// Decoding is slow (over 10 ns an instruction, 336,000 in libc) and most chunks hold no site, so a chunk is decoded only
// where it must be. Nothing is lost by that:
//
// 1. An instruction that is a site has certain bytes at certain places (may_begin_site()). They are looked for at every
//    offset. A chunk without them holds no site, however its instructions lie.
// 2. Whether an uncovered chunk counts depends on how the one before it ends, so that one is decoded with it.
// 3. The targets matter only near sites, in [site - kNear, site + kNear]: a window reaches at most two instructions back
//    and five bytes and an instruction on. A branch of 8 bits that leads there starts within kMargin of the site: every
//    chunk that reaches into that is decoded.
// 4. A branch of 32 bits and a table may lead there from anywhere. In chunks that are not decoded, every offset whose
//    bytes could be such a branch, or the loading of an address, is taken for one. That finds all that decoding would
//    find, and some that are none: a displacement that is none leads into the text seldom, and the price is a trap.
// 5. Where earlier patches lie the text's bytes are not the program's, so such a chunk is decoded, from its copy.

namespace weir {
namespace {

using byte_scan::Look;

bool never_continues(Flow flow) {
  return flow == Flow::kJump || flow == Flow::kIndirectJump || flow == Flow::kReturn || flow == Flow::kStop;
}

bool is_entry_marker(const Shape& shape) {  // endbr64
  return shape.map == OpcodeMap::k0F && shape.opcode == 0x1e && shape.has_repeat && shape.modrm == 0xfa;
}

// Branches of 8 bits reach 128 bytes; the branch itself and the longest instruction come on top.
constexpr uint32_t kMargin = Sweep::kNear + 128 + 2 * 15;

// Code that holds addresses of 32 bits, and the tables that it means, lies below 2^31.
constexpr uint64_t kLowCode = uint64_t{1} << 32;

constexpr bool is_any_of(uint8_t byte, const uint8_t (&list)[11]) {
  for (uint8_t one : list) {
    if (byte == one) return true;
  }
  return false;
}

// Whether what follows a lock prefix can be an instruction that accepts one. REQUIRES: four bytes can be read.
bool may_be_locked(const uint8_t* at) {
  constexpr uint8_t kPrefixes[11] = {0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3};
  constexpr uint8_t kBeyond[11] = {0xab, 0xb0, 0xb1, 0xb3, 0xba, 0xbb, 0xc0, 0xc1, 0xc7, 0xc7, 0xc7};
  constexpr uint8_t kGroups[11] = {0x80, 0x81, 0x83, 0x86, 0x87, 0xf6, 0xf7, 0xfe, 0xff, 0xff, 0xff};
  if ((*at & 0xf0) == 0x40) at++;
  if (is_any_of(*at, kPrefixes)) return true;
  if (*at == 0x0f) return is_any_of(at[1], kBeyond) && at[2] < 0xc0;
  return ((*at < 0x38 && (*at & 7) < 2) || is_any_of(*at, kGroups)) && at[1] < 0xc0;
}

// Whether the bytes of some site, of these kinds, have `at[0]` for their first byte that is neither a prefix nor REX, or
// for their lock prefix. REQUIRES: five bytes can be read.
bool may_begin_site(const uint8_t* at, PatchKinds kinds) {
  switch (*at) {
    case 0x0f:
      switch (at[1]) {
        case 0x01: return kinds & kPatchRdtsc && at[2] == 0xf9;
        case 0x05: return kinds & kPatchSyscall;
        case 0x31: return kinds & kPatchRdtsc;
        case 0xa2: return kinds & kPatchCpuid;
        case 0xae: return kinds & kPatchAtomic && (at[2] & 0xf8) == 0xf0;  // mfence
        case 0xc7: return kinds & kPatchRandom && at[2] >= 0xf0;
        default: return false;
      }
    case 0x86: case 0x87: return kinds & kPatchAtomic && at[1] < 0xc0;
    case 0xf0: return kinds & kPatchAtomic && may_be_locked(at + 1);
    default: return false;
  }
}

int32_t read_displacement(const uint8_t* at) { return load_at<int32_t>(at); }

}  // namespace

bool is_site(const Shape& shape, SiteKind& kind) {
  if (shape.is_vector) return false;
  bool xchg = shape.map == OpcodeMap::kOneByte && (shape.opcode & 0xfe) == 0x86 && shape.has_memory_operand();
  bool fence = shape.map == OpcodeMap::k0F && shape.opcode == 0xae && shape.mod() == 3 && shape.reg() == 6 &&
               !shape.has_repeat && !shape.has_66;
  if (shape.has_lock || xchg || fence) {
    kind = SiteKind::kAtomic;
    return true;
  }
  if (shape.map != OpcodeMap::k0F) return false;
  RandomOp random;
  switch (shape.opcode) {  // rdtsc and rdtscp without prefixes only: their length tells them apart
    case 0x05: kind = SiteKind::kSyscall; return true;
    case 0x31: kind = SiteKind::kRdtsc; return shape.length == 2;
    case 0x01: kind = SiteKind::kRdtsc; return shape.modrm == 0xf9 && shape.length == 3;
    case 0xa2: kind = SiteKind::kCpuid; return true;
    case 0xc7: kind = SiteKind::kRandom; return decode_random(shape, random);
    default: return false;
  }
}

bool Sweep::run(Range text, const TextMap& map, const Original& original, PatchKinds kinds, Depth depth) {
  text_ = text;
  size_ = static_cast<uint32_t>(text.size());
  map_ = &map;
  object_ = map.object();
  uint64_t set_size = page_up(OffsetSet::bytes_for(text.size()));
  uint64_t chosen_size = page_up(map.chunk_count());
  if (!memory_.take(set_size + chosen_size + (text.size() / 2 + 1) * sizeof(Candidate))) return false;
  memory_.expect(set_size + chosen_size);
  targets_.use(reinterpret_cast<uint64_t*>(memory_.address()));
  chosen_ = reinterpret_cast<bool*>(memory_.address() + set_size);
  candidates_ = reinterpret_cast<Candidate*>(memory_.address() + set_size + chosen_size);
  for (size_t i = 0; i < map.entry_count(); i++) targets_.add(map.entries()[i]);
  known_code_ = Range{text.limit, text.start};
  for (size_t i = 0; i < map.chunk_count(); i++) {
    const Chunk& chunk = map.chunks()[i];
    chosen_[i] = depth == Depth::kEverything || original.is_patched(i);
    if (!chunk.covered) continue;
    if (known_code_.empty()) known_code_.start = text.start + chunk.start;
    known_code_.limit = text.start + chunk.limit;
  }
  choose_chunks(kinds);
  uint32_t scanned_to = 0;
  for (size_t i = 0; i < map.chunk_count(); i++) {
    if (!chosen_[i]) continue;
    const Chunk& chunk = map.chunks()[i];
    scan_bytes(scanned_to, chunk.start);
    scanned_to = chunk.limit;
    decoded_bytes_ += chunk.limit - chunk.start;
    code_ = original.code_of(i);
    sweep_chunk(chunk, map.is_linear());
  }
  scan_bytes(scanned_to, size_);
  return true;
}

void Sweep::choose_chunks(PatchKinds kinds) {
  const auto* code = reinterpret_cast<const uint8_t*>(text_.start);
  size_t first = 0;
  auto visit = [&](uint32_t offset) {
    if (offset + 5 > size_ || may_begin_site(code + offset, kinds)) choose_near(offset, first);
  };
  if (kinds & kPatchSyscall) byte_scan::scan(Look::kSyscall, code, size_, 0, size_, visit);
  first = 0;
  if (kinds & kPatchAtomic) byte_scan::scan(Look::kAtomic, code, size_, 0, size_, visit);
  first = 0;
  if (kinds & (kPatchRdtsc | kPatchCpuid | kPatchRandom)) byte_scan::scan(Look::kProcessor, code, size_, 0, size_, visit);
  for (size_t i = map_->chunk_count(); i-- > 1;) {
    if (chosen_[i] && !map_->chunks()[i].covered) chosen_[i - 1] = true;
  }
}

// `offset` never falls; `first` is the caller's, 0 before the first call.
void Sweep::choose_near(uint32_t offset, size_t& first) {
  const Chunk* chunks = map_->chunks();
  size_t count = map_->chunk_count();
  while (first < count && uint64_t{chunks[first].limit} + kMargin <= offset) first++;
  for (size_t i = first; i < count && chunks[i].start <= uint64_t{offset} + kMargin; i++) chosen_[i] = true;
}

void Sweep::scan_bytes(uint32_t start, uint32_t limit) {
  const auto* code = reinterpret_cast<const uint8_t*>(text_.start);
  byte_scan::scan(Look::kFar, code, size_, start, limit, [&](uint32_t offset) {
    const uint8_t* at = code + offset;
    if (offset + 6 > size_) {
      if (offset + 5 == size_ && (*at & 0xfe) == 0xe8) add_target(text_.limit + static_cast<uint64_t>(int64_t{read_displacement(at + 1)}));
      return;
    }
    if ((*at & 0xfe) == 0xe8) {
      add_target(text_.start + offset + 5 + static_cast<uint64_t>(int64_t{read_displacement(at + 1)}));
      return;
    }
    uint64_t target = text_.start + offset + 6 + static_cast<uint64_t>(int64_t{read_displacement(at + 2)});
    if (*at != 0x8d) {
      add_target(target);
    } else {
      note_table(target);
    }
  });
  if (object_ == nullptr || text_.start >= kLowCode) return;
  byte_scan::scan(Look::kAbsolute, code, size_, start, limit, [&](uint32_t offset) {
    if (offset + 6 <= size_ && read_displacement(code + offset + 2) > 0) {
      note_table(static_cast<uint64_t>(read_displacement(code + offset + 2)));
    }
  });
}

void Sweep::add_target(uint64_t address) {
  if (text_.contains(address)) targets_.add(static_cast<uint32_t>(address - text_.start));
}

// `end` is the offset behind the instruction.
inline void Sweep::note_stride(const Stride& stride, uint32_t end) {
  const uint8_t* limit = code_ + end;
  int64_t displacement = stride.what & Stride::kShortBranch ? static_cast<int8_t>(limit[-1]) : read_displacement(limit - 4);
  int64_t target = int64_t{end} + displacement;
  if (stride.what & Stride::kAddress) {
    note_table(text_.start + static_cast<uint64_t>(target));
  } else if (static_cast<uint64_t>(target) < size_) {
    targets_.add(static_cast<uint32_t>(target));
  }
}

// The inner loop is for what most code consists of; it leaves the rest, one instruction at a time, to the outer one.
void Sweep::sweep_chunk(const Chunk& chunk, bool linear) {
  const uint8_t* const code = code_;
  const uint64_t fast_limit = size_ < kStrideReads ? 0 : size_ - kStrideReads + 1;
  size_t trusted_count = candidate_count_;  // candidates before the last unconditional transfer
  bool sound = chunk.covered || runs_on_;
  const bool between = known_code_.contains(text_.start + chunk.start);
  unsigned previous = 0, before_previous = 0;
  runs_on_ = false;
  for (uint32_t at = chunk.start; at < chunk.limit && (sound || between);) {
    Stride stride;
    while (at < fast_limit && read_stride(code + at, stride) && stride.length <= chunk.limit - at) {
      at += stride.length;
      before_previous = previous;
      previous = stride.length;
      runs_on_ = sound;
      if (stride.what == Stride::kNothing) continue;
      if (stride.what != Stride::kEnds) note_stride(stride, at);
      if (!(stride.what & Stride::kEnds)) continue;
      runs_on_ = false;
      if (sound) {
        trusted_count = candidate_count_;
        sound = chunk.covered;
      }
      if (!sound && !between) return;
    }
    if (at >= chunk.limit) return;
    Shape shape;
    if (!read_shape(code + at, chunk.limit - at, shape)) {
      if (sound) {
        distrusted_ += candidate_count_ - trusted_count;
        candidate_count_ = trusted_count;
        sound = linear;
      }
      previous = before_previous = 0;
      at++;
      continue;
    }
    previous_[0] = static_cast<uint8_t>(previous);
    previous_[1] = static_cast<uint8_t>(before_previous);
    note_instruction(shape, at, chunk);
    if (!sound && candidate_count_ > trusted_count) {
      distrusted_ += candidate_count_ - trusted_count;
      candidate_count_ = trusted_count;
    }
    Flow flow = flow_of(shape);
    if (sound && never_continues(flow)) {
      trusted_count = candidate_count_;
      sound = chunk.covered;
    }
    runs_on_ = sound && !never_continues(flow);
    before_previous = previous;
    previous = shape.length;
    at += shape.length;
  }
}

void Sweep::note_instruction(const Shape& shape, uint32_t offset, const Chunk& chunk) {
  const uint8_t* bytes = code_ + offset;
  SiteKind kind;
  if (is_site(shape, kind)) {
    candidates_[candidate_count_++] =
        Candidate{code_, offset, chunk.limit, kind, shape.length, previous_[0], previous_[1]};
    return;
  }
  Flow flow = flow_of(shape);
  if (flow == Flow::kJump || flow == Flow::kConditional || flow == Flow::kLoop || flow == Flow::kCall) {
    add_target(text_.start + offset + shape.length + static_cast<uint64_t>(branch_displacement(shape, bytes)));
    return;
  }
  if (is_entry_marker(shape)) {
    targets_.add(offset);
    return;
  }
  if (shape.displacement_size != 4 || shape.is_vector || shape.map != OpcodeMap::kOneByte) return;
  int64_t displacement = read_displacement(bytes + shape.displacement_at);
  if (shape.opcode == 0x8d && shape.is_rip_relative()) {
    note_table(text_.start + offset + shape.length + static_cast<uint64_t>(displacement));
  } else if (shape.mod() == 0 && shape.rm() == 4 && bytes[shape.displacement_at - 1] >> 6 == 3 && displacement > 0) {
    note_table(static_cast<uint64_t>(displacement));  // table(,%reg,8)
  }
}

// Nothing says how long a table is, so it is read beyond the variable that it lies in too.
__attribute__((no_sanitize("address"))) void Sweep::note_table(uint64_t table) {
  if (object_ == nullptr) return;
  for (uint64_t at = table; object_->is_readable(at, 4); at += 4) {
    int32_t entry;
    __builtin_memcpy(&entry, reinterpret_cast<const void*>(at), sizeof entry);
    uint64_t target = table + static_cast<uint64_t>(int64_t{entry});
    if (!known_code_.contains(target)) break;
    add_target(target);
  }
  for (uint64_t at = table; object_->is_readable(at, 8); at += 8) {
    uint64_t target;
    __builtin_memcpy(&target, reinterpret_cast<const void*>(at), sizeof target);
    if (!known_code_.contains(target)) break;
    add_target(target);
  }
}

}  // namespace weir
