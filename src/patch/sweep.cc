#include "patch/sweep.h"

#include "base/bytes.h"
#include "sys/memory.h"

// The sweep starts anew at each function, so an error cannot spread. What is swept:
//
// - a chunk that is known to be code: its sites count. Where such a chunk holds bytes that are no instruction, data
//   lies in it; then only sites before the last unconditional transfer of control ahead of those bytes count;
// - what lies between known chunks: sites count only in what the chunk before it runs on into (libc ends the unwind
//   information of clone3 before its system call), up to the first unconditional transfer. Nothing else is believed:
//   a table of constants holds `0f 05` by chance once in 64 KiB, and changing it would make a wrong result in silence.
//   Branches there are believed: a false target costs a trap at worst;
// - what lies before the first and after the last known chunk is no code (old linkers put constants and headers there);
// - an object of which nothing is known is one chunk ("linear"): there the sweep trusts itself again after each gap.
//
// Besides direct branches, control enters code through tables: entries of 4 bytes relative to the table (position
// independent switches), of 8 bytes absolute (other switches, computed gotos). Every address of a constant that code
// loads is tried as both; the listing ends at the first entry that does not lead into known code.

namespace weir {
namespace {

bool never_continues(Flow flow) {
  return flow == Flow::kJump || flow == Flow::kIndirectJump || flow == Flow::kReturn || flow == Flow::kStop;
}

bool is_entry_marker(const Shape& shape) {  // endbr64
  return shape.map == OpcodeMap::k0F && shape.opcode == 0x1e && shape.has_repeat && shape.modrm == 0xfa;
}

int32_t read_displacement(const uint8_t* at) {
  int32_t value;
  copy_bytes(&value, at, sizeof(value));
  return value;
}

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
  if (shape.opcode == 0x05) {
    kind = SiteKind::kSyscall;
    return true;
  }
  kind = SiteKind::kRdtsc;
  return shape.opcode == 0x31 || (shape.opcode == 0x01 && shape.modrm == 0xf9);
}

Sweep::~Sweep() {
  if (memory_ != 0) sys::unmap(memory_, memory_size_);
}

bool Sweep::run(Range text, const uint8_t* code, const TextMap& map) {
  text_ = text;
  code_ = code;
  object_ = map.object();
  uint64_t set_size = page_up(OffsetSet::bytes_for(text.size()));
  memory_size_ = set_size + page_up((text.size() / 2 + 1) * sizeof(Candidate));  // reserved; touched as far as used
  long memory = sys::map_anonymous(memory_size_);
  if (sys::failed(memory)) return false;
  memory_ = static_cast<uint64_t>(memory);
  targets_.use(reinterpret_cast<uint64_t*>(memory_));
  candidates_ = reinterpret_cast<Candidate*>(memory_ + set_size);
  for (size_t i = 0; i < map.entry_count(); i++) targets_.add(map.entries()[i]);
  known_code_ = Range{text.limit, text.start};
  for (size_t i = 0; i < map.chunk_count(); i++) {
    const Chunk& chunk = map.chunks()[i];
    if (!chunk.covered) continue;
    if (known_code_.empty()) known_code_.start = text.start + chunk.start;
    known_code_.limit = text.start + chunk.limit;
  }
  for (size_t i = 0; i < map.chunk_count(); i++) sweep_chunk(map.chunks()[i], map.entry_count() == 0);
  return true;
}

void Sweep::add_target(uint64_t address) {
  if (text_.contains(address)) targets_.add(static_cast<uint32_t>(address - text_.start));
}

void Sweep::sweep_chunk(const Chunk& chunk, bool linear) {
  size_t trusted_count = candidate_count_;  // candidates before the last unconditional transfer
  bool sound = chunk.covered || runs_on_;
  bool between = known_code_.contains(text_.start + chunk.start);
  runs_on_ = false;
  previous_[0] = previous_[1] = 0;
  for (uint32_t at = chunk.start; at < chunk.limit && (sound || between);) {
    Shape shape;
    if (!read_shape(code_ + at, chunk.limit - at, shape)) {
      if (sound) {
        distrusted_ += candidate_count_ - trusted_count;
        candidate_count_ = trusted_count;
        sound = linear;
      }
      previous_[0] = previous_[1] = 0;
      at++;
      continue;
    }
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
    previous_[1] = previous_[0];
    previous_[0] = shape.length;
    at += shape.length;
  }
}

void Sweep::note_instruction(const Shape& shape, uint32_t offset, const Chunk& chunk) {
  const uint8_t* bytes = code_ + offset;
  SiteKind kind;
  if (is_site(shape, kind)) {
    candidates_[candidate_count_++] =
        Candidate{offset, chunk.limit, kind, shape.length, previous_[0], previous_[1]};
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

void Sweep::note_table(uint64_t table) {
  if (object_ == nullptr) return;
  for (uint64_t at = table; object_->is_readable(at, 4); at += 4) {
    int32_t entry = read_displacement(reinterpret_cast<const uint8_t*>(at));
    uint64_t target = table + static_cast<uint64_t>(int64_t{entry});
    if (!known_code_.contains(target)) break;
    add_target(target);
  }
  for (uint64_t at = table; object_->is_readable(at, 8); at += 8) {
    uint64_t target;
    copy_bytes(&target, reinterpret_cast<const void*>(at), sizeof(target));
    if (!known_code_.contains(target)) break;
    add_target(target);
  }
}

}  // namespace weir
