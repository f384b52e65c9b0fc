#include "code/find/descent.h"

#include "base/bytes.h"
#include "code/decode/stride.h"
#include "code/find/byte_scan.h"
#include "code/find/static_image.h"

// What may be changed in a text are instructions, and which bytes are instructions no sweep can
// tell: constants, tables of jumps and what GHC puts before each block lie among code, in functions
// with a symbol too, and they decode. So code is followed from where it is known to begin, over
// direct jumps and calls, and what is not reached is left as it is.
//
// The proof has degrees. A function's entry, and what follows without a call from there, is code
// for certain ("hard"). What follows a call is code if the call returns, and a jump table's entries
// are if that is a jump table ("soft"). Such a stretch, up to its next call or end, is taken as a
// whole or not at all: not, if it holds bytes that are no instruction, one that no program may
// execute, or runs into the middle of an instruction that is proved already. Hard places are
// followed first, so a soft one has the more to agree with.
//
// A call does not return where it is the last instruction of its function, or where what it calls
// begins by popping the return address: that is how position independent code finds data that lies
// behind the call.
//
// Tables of jumps: a function that jumps by a register has loaded the address of a table, of
// entries of 4 bytes relative to it, or of 8 bytes. Of these count those that lead into this
// function, to where an instruction begins if one decodes on from the proved one before it. (Next
// to a table the next function's may lie; what that one's entries mean here leads to the middle of
// instructions.)
//
// In a program that is linked statically, and of which neither a table nor symbols tell where its
// functions lie, each place that is called by a pointer stands as a number in its code or its data.
// So places that such numbers name are followed like soft ones, after all others: first those that
// proved code loads, then those in data. Not, if nothing speaks for it that a function begins
// there.
//
// Not all is followed: only chunks that were added. What runs on, or is called, beyond them is none
// of their business.

namespace weir {
namespace {

constexpr size_t kInstructions = 512, kTargets = 256, kNotes = 64;  // of one stretch at a time
constexpr uint32_t kFarthestAligned = 4096;
constexpr uint64_t kMaxElsewhere = 64;
// Entries of one table that lead nowhere known: it is another's by then.
constexpr unsigned kMaxAstray = 8;
constexpr uint64_t kMaxEntries = 1 << 16;
constexpr unsigned kRdi = 7;
constexpr uint8_t kGroupFF = 0xff, kDirectCall = 0xe8;

bool is_syscall(const Shape& shape) {
  return shape.map == OpcodeMap::k0F && !shape.is_vector && shape.opcode == 0x05;
}

}  // namespace

bool is_privileged(const Shape& shape) {
  if (shape.is_vector) return false;
  const unsigned op = shape.opcode;
  if (shape.map == OpcodeMap::kOneByte) {
    return (op >= 0x6c && op <= 0x6f) || (op >= 0xe4 && op <= 0xe7) || (op >= 0xec && op <= 0xef) ||
           op == 0xfa || op == 0xfb || op == 0xca || op == 0xcb || op == 0xcf || (op == 0xcd);
  }
  if (shape.map != OpcodeMap::k0F) return false;
  return op == 0x00 || (op >= 0x06 && op <= 0x09) || (op >= 0x20 && op <= 0x23) || op == 0x30 ||
         op == 0x32 || op == 0x34 || op == 0x35 || op == 0xaa;
}

// Instructions one after another, looked at before any of them counts.
struct Descent::Stretch {
  uint32_t start;
  uint32_t chunk;
  bool is_soft;
  size_t instructions, targets, notes;
  uint32_t after_call;  // 0: nothing follows
  uint8_t lengths[kInstructions];
  uint32_t target[kTargets];
  Note note[kNotes];

  void begin(uint32_t offset, uint32_t in_chunk) {
    start = offset;
    chunk = in_chunk;
    instructions = targets = notes = 0;
    after_call = 0;
  }
  bool is_full() const {
    return instructions == kInstructions || targets == kTargets ||
           notes >= kNotes - 1;  // an instruction adds two at most
  }
};

bool Descent::begin(Range text, const TextMap& map, const Original& original) {
  text_ = text;
  size_ = static_cast<uint32_t>(text.size());
  map_ = &map;
  original_ = &original;
  const uint64_t set = page_up(OffsetSet::bytes_for(size_));
  const uint64_t flags = page_up(4 * map.chunk_count());
  const uint64_t places = page_up((uint64_t{size_} + 4096) * sizeof(uint32_t));
  note_room_ = size_ / 4 + 64;
  if (!memory_.take(3 * set + flags + 2 * places + note_room_ * sizeof(Note))) return false;
  uint64_t at = memory_.address();
  starts_.use(reinterpret_cast<uint64_t*>(at));
  code_bytes_.use(reinterpret_cast<uint64_t*>(at + set));
  queued_.use(reinterpret_cast<uint64_t*>(at + 2 * set));
  at += 3 * set;
  chosen_ = reinterpret_cast<bool*>(at);
  jumps_ = chosen_ + map.chunk_count();
  grown_ = jumps_ + map.chunk_count();
  named_ = grown_ + map.chunk_count();
  at += flags;
  hard_ = reinterpret_cast<uint32_t*>(at);
  soft_ = reinterpret_cast<uint32_t*>(at + places);
  notes_ = reinterpret_cast<Note*>(at + 2 * places);
  if (map.object() != nullptr && text.contains(map.object()->entry_point())) {
    entry_point_ = static_cast<uint32_t>(map.object()->entry_point() - text.start);
    has_entry_point_ = true;
  }
  takes_names_ =
      map.object() != nullptr && map.object()->is_static() && static_image::takes_names();
  return true;
}

void Descent::add_entry(uint32_t offset) {
  if (offset < size_ && !starts_.has(offset) && hard_count_ < size_) hard_[hard_count_++] = offset;
}

void Descent::add_soft(uint32_t offset) {
  if (offset >= size_ || starts_.has(offset) || queued_.has(offset) || soft_count_ == size_) return;
  queued_.add(offset);
  soft_[soft_count_++] = offset;
}

void Descent::add_chunk(size_t chunk) {
  if (chosen_[chunk]) return;
  chosen_[chunk] = true;
  const Chunk& range = map_->chunks()[chunk];
  size_t low = 0, high = map_->entry_count();
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (map_->entries()[middle] < range.start) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const ElfObject* object = map_->object();
  for (; low < map_->entry_count() && map_->entries()[low] < range.limit; low++) {
    add_entry(map_->entries()[low]);
    if (object == nullptr) continue;
    object->visit_landing_pads(text_.start + map_->entries()[low], [this](uint64_t pad) {
      if (!text_.contains(pad)) return;
      const auto offset = static_cast<uint32_t>(pad - text_.start);
      if (chosen_[map_->chunk_at(offset)]) add_entry(offset);
    });
  }
}

void Descent::run() {
  for (;;) {
    if (hard_count_ > 0) {
      follow(hard_[--hard_count_], false);
    } else if (soft_count_ > 0) {
      follow(soft_[--soft_count_], true);
    } else if (!follow_tables() && !follow_named() && !follow_rest()) {
      return;
    }
  }
}

// Control goes on at `offset`, unless all from there is known.
void Descent::follow(uint32_t offset, bool is_soft) {
  if (starts_.has(offset)) return;
  Stretch stretch;
  stretch.begin(offset, static_cast<uint32_t>(map_->chunk_at(offset)));
  stretch.is_soft = is_soft;
  const Chunk* chunk = map_->chunks() + stretch.chunk;
  const uint8_t* code = original_->code_of(stretch.chunk);
  const uint32_t fast_limit = size_ < kStrideReads ? 0 : size_ - kStrideReads + 1;
  for (uint32_t at = offset; at < size_ && !starts_.has(at);) {
    if (is_soft && code_bytes_.has(at)) return;
    if (at >= chunk->limit) {
      commit(stretch);  // notes belong to one chunk
      stretch.begin(at, stretch.chunk + 1);
      chunk = map_->chunks() + stretch.chunk;
      code = original_->code_of(stretch.chunk);
    }
    if (at < fast_limit && follow_fast(code + at, at, stretch)) {
      at += stretch.lengths[stretch.instructions - 1];
      if (!stretch.is_full()) continue;
      commit(stretch);
      stretch.begin(at, stretch.chunk);
      continue;
    }
    Shape shape;
    if (!read_shape(code + at, size_ - at, shape) || is_privileged(shape)) {
      if (is_soft) return;
      break;
    }
    const Flow flow = flow_of(shape);
    stretch.lengths[stretch.instructions++] = shape.length;
    note_instruction(shape, code + at, at, stretch);
    const uint32_t next = at + shape.length;
    if (flow == Flow::kCall || flow == Flow::kIndirectCall || is_syscall(shape)) {
      bool returns = !(chunk->covered && next == chunk->limit) && next < size_;
      if (flow == Flow::kCall) {
        const uint64_t target =
            text_.start + next + static_cast<uint64_t>(branch_displacement(shape, code + at));
        returns = returns && !(text_.contains(target) &&
                               pops_return_address(static_cast<uint32_t>(target - text_.start)));
      }
      if (returns) stretch.after_call = next;
      break;
    }
    if (never_continues(flow)) break;
    at = next;
    if (!stretch.is_full()) continue;
    commit(stretch);
    stretch.begin(at, stretch.chunk);
  }
  commit(stretch);
}

// Takes what most code consists of. False: the instruction needs a closer look.
inline bool Descent::follow_fast(const uint8_t* bytes, uint32_t offset, Stretch& stretch) {
  Stride stride;
  if (takes_names_ || !read_stride(bytes, stride) || (stride.what & Stride::kEnds)) return false;
  if (stride.what == Stride::kNothing) {
    if (bytes[0] == kGroupFF || bytes[1] == kGroupFF || bytes[2] == kGroupFF)
      return false;  // an indirect call?
  } else if (stride.what & Stride::kAddress) {
    return false;
  } else {
    const uint8_t* end = bytes + stride.length;
    if (stride.what & Stride::kNearBranch && end[-5] == kDirectCall) return false;
    const int64_t displacement = stride.what & Stride::kShortBranch ? static_cast<int8_t>(end[-1])
                                                                    : load_at<int32_t>(end - 4);
    const int64_t target = int64_t{offset} + stride.length + displacement;
    if (static_cast<uint64_t>(target) < size_)
      stretch.target[stretch.targets++] = static_cast<uint32_t>(target);
  }
  stretch.lengths[stretch.instructions++] = stride.length;
  return true;
}

bool Descent::is_in_chosen(uint32_t offset, uint32_t near) const {
  const Chunk& chunk = map_->chunks()[near];
  return chosen_[offset >= chunk.start && offset < chunk.limit ? near : map_->chunk_at(offset)];
}

void Descent::commit(const Stretch& stretch) {
  uint32_t at = stretch.start;
  for (size_t i = 0; i < stretch.instructions; i++) {
    starts_.add(at);
    at += stretch.lengths[i];
  }
  code_bytes_.add_range(stretch.start, at);
  grown_[stretch.chunk] = true;
  for (size_t i = 0; i < stretch.targets; i++) {
    const uint32_t target = stretch.target[i];
    if (!is_in_chosen(target, stretch.chunk)) continue;
    if (stretch.is_soft) {
      add_soft(target);
    } else {
      add_entry(target);
    }
  }
  for (size_t i = 0; i < stretch.notes; i++) add_note(stretch.note[i]);
  if (stretch.after_call != 0) add_soft(stretch.after_call);
}

void Descent::add_note(const Note& note) {
  if (note.kind == Note::kJump) {
    jumps_[note.chunk] = true;
  } else if (note_count_ < note_room_) {
    notes_[note_count_++] = note;
  }
}

void Descent::note_instruction(const Shape& shape, const uint8_t* bytes, uint32_t offset,
                               Stretch& stretch) {
  const uint32_t next = offset + shape.length;
  const auto add_target = [&](uint64_t target) {
    if (target < size_) stretch.target[stretch.targets++] = static_cast<uint32_t>(target);
  };
  switch (flow_of(shape)) {
    case Flow::kJump:
    case Flow::kConditional:
    case Flow::kLoop:
    case Flow::kCall:
      add_target(uint64_t{next} + static_cast<uint64_t>(branch_displacement(shape, bytes)));
      return;
    case Flow::kIndirectJump:
      stretch.note[stretch.notes++] = Note{stretch.chunk, 0, Note::kJump};
      break;
    default: break;
  }
  if (shape.is_vector || shape.map != OpcodeMap::kOneByte) return;
  const bool is_lea = shape.opcode == 0x8d && shape.is_rip_relative();
  const bool has_number = shape.immediate_size == 4 || shape.immediate_size == 8;
  const auto number_at = [&] {
    const uint8_t* at = bytes + shape.immediate_at;
    return shape.immediate_size == 8 ? load_at<uint64_t>(at) : uint64_t{load_at<uint32_t>(at)};
  };
  if (takes_names_ && has_number && text_.contains(number_at()) && stretch.notes < kNotes)
    stretch.note[stretch.notes++] = Note{stretch.chunk, number_at(), Note::kCode};
  const bool is_first =  // the program's first function, which hands main() over
      has_entry_point_ && stretch.start == entry_point_;
  if (is_lea) {
    const uint64_t address =
        text_.start + next +
        static_cast<uint64_t>(int64_t{load_at<int32_t>(bytes + shape.displacement_at)});
    if (stretch.notes < kNotes)
      stretch.note[stretch.notes++] = Note{stretch.chunk, address, Note::kAddress};
    if (takes_names_ && text_.contains(address) && stretch.notes < kNotes)
      stretch.note[stretch.notes++] = Note{stretch.chunk, address, Note::kCode};
    if (is_first && shape.reg() == kRdi) add_target(address - text_.start);
  } else if (shape.displacement_size == 4 && shape.mod() == 0 && shape.has_modrm &&
             shape.rm() == 4 && bytes[shape.displacement_at - 1] >> 6 == 3 &&
             load_at<int32_t>(bytes + shape.displacement_at) > 0) {
    // Table(,%reg,8)
    const auto table = static_cast<uint64_t>(load_at<int32_t>(bytes + shape.displacement_at));
    if (stretch.notes < kNotes)
      stretch.note[stretch.notes++] = Note{stretch.chunk, table, Note::kAbsolute};
  } else if (is_first && has_number &&
             ((shape.opcode == 0xc7 && shape.rm() == kRdi) || shape.opcode == 0xb8 + kRdi)) {
    add_target(number_at() - text_.start);
  }
}

// Whether what begins there takes the return address off the stack.
bool Descent::pops_return_address(uint32_t offset) const {
  const uint8_t* code = original_->code_of(map_->chunk_at(offset));
  Shape shape;
  return read_shape(code + offset, size_ - offset, shape) && shape.map == OpcodeMap::kOneByte &&
         !shape.is_vector && (shape.opcode & 0xf8) == 0x58;
}

// Whether an instruction begins there, if all decodes from the proved one before it.
bool Descent::is_aligned(uint32_t offset, const Chunk& chunk) const {
  const uint32_t lowest =
      offset > chunk.start + kFarthestAligned ? offset - kFarthestAligned : chunk.start;
  uint32_t at = offset;
  do {
    if (at == lowest) return false;
    at--;
  } while (!starts_.has(at));
  const uint8_t* code = original_->code_of(map_->chunk_at(offset));
  while (at < offset) {
    Stride stride;
    Shape shape;
    if (uint64_t{at} + kStrideReads <= size_ && read_stride(code + at, stride)) {
      at += stride.length;
    } else if (read_shape(code + at, size_ - at, shape)) {
      at += shape.length;
    } else {
      return false;
    }
  }
  return at == offset;
}

// Whether they lead to anything new.
bool Descent::follow_tables() {
  const size_t before = soft_count_;
  const ElfObject* object = map_->object();
  if (object == nullptr) return false;
  // What a table leads to may be told from nothing as long as nothing near it is proved: it is
  // looked at again where something new has been in its function.
  size_t left = 0;
  for (size_t i = 0; i < note_count_; i++) {
    const Note note = notes_[i];
    const bool counts = chosen_[note.chunk] && note.kind != Note::kCode &&
                        (note.kind == Note::kAbsolute || jumps_[note.chunk]);
    if (!counts || !grown_[note.chunk] || !follow_table(note)) notes_[left++] = note;
  }
  note_count_ = left;
  for (size_t i = 0; i < map_->chunk_count(); i++) grown_[i] = false;
  return soft_count_ > before;
}

// Whether nothing of it is left to look at.
bool Descent::follow_table(const Note& note) {
  const ElfObject& object = *map_->object();
  const Chunk& chunk = map_->chunks()[note.chunk];
  const Range range{text_.start + chunk.start, text_.start + chunk.limit};
  unsigned astray = 0;
  const auto follow_case = [&](uint64_t target, bool is_exact) {
    const auto offset = static_cast<uint32_t>(target - text_.start);
    if (starts_.has(offset) || code_bytes_.has(offset) || queued_.has(offset)) return;
    if (is_exact || is_aligned(offset, chunk)) {
      add_soft(offset);
    } else {
      astray++;
    }
  };
  // Some cases lie in a part of the function that is elsewhere, with what is seldom executed.
  for (uint64_t i = 0, elsewhere = 0; note.kind == Note::kAddress && i < kMaxEntries; i++) {
    int32_t entry;
    if (!object.read(note.address + 4 * i, &entry, sizeof entry)) break;
    const uint64_t target = note.address + static_cast<uint64_t>(int64_t{entry});
    if (range.contains(target)) {
      follow_case(target, false);
    } else if (!text_.contains(target) || ++elsewhere > kMaxElsewhere) {
      break;
    }
    if (astray == kMaxAstray) break;
  }
  for (uint64_t i = 0; i < kMaxEntries && object.is_readable(note.address + 8 * i, 8); i++) {
    const uint64_t target = object.pointer_at(note.address + 8 * i);
    if (range.contains(target)) {
      follow_case(target, true);
    } else if (!text_.contains(target)) {
      break;
    }
  }
  return astray == 0;
}

// A function of which all decodes from end to end, in step with all that is proved of it, that
// jumps by a register and that names none of the rest as the address of anything: the rest is what
// those jumps lead to, by tables of a kind that is not known here. Whether there is such a one.
bool Descent::follow_rest() {
  const size_t before = soft_count_;
  for (size_t i = 0; i < note_count_; i++) named_[notes_[i].chunk] = true;
  for (size_t i = 0; i < map_->chunk_count(); i++) {
    const Chunk& chunk = map_->chunks()[i];
    if (!chosen_[i] || !jumps_[i] || !chunk.framed) continue;
    jumps_[i] = false;  // once
    if (code_bytes_.next_absent(chunk.start, chunk.limit) == chunk.limit ||
        (named_[i] && names_rest(i)))
      continue;
    if (sweeps(i, false)) sweeps(i, true);
  }
  return soft_count_ > before;
}

bool Descent::names_rest(size_t chunk) const {
  const Chunk& range = map_->chunks()[chunk];
  for (size_t i = 0; i < note_count_; i++) {
    const uint64_t offset = notes_[i].address - text_.start;
    if (notes_[i].chunk == chunk && offset >= range.start && offset < range.limit &&
        !code_bytes_.has(static_cast<uint32_t>(offset))) {
      return true;
    }
  }
  return false;
}

// Whether the chunk decodes from end to end, in step with what is proved. `takes`: what is not is
// to be followed.
bool Descent::sweeps(size_t index, bool takes) {
  const Chunk& chunk = map_->chunks()[index];
  const uint8_t* code = original_->code_of(index);
  for (uint32_t at = chunk.start; at < chunk.limit;) {
    Shape shape;
    if (!read_shape(code + at, size_ - at, shape) || is_privileged(shape)) return false;
    const uint32_t next = at + shape.length;
    if (!starts_.has(at)) {
      if (code_bytes_.next(at, next) < next) return false;
      if (takes) add_soft(at);
    }
    at = next;
  }
  return true;
}

bool is_plausible(const Descent& descent, const uint8_t* code, uint32_t size, uint32_t offset) {
  constexpr unsigned kMax = 64;
  uint32_t at = offset;
  for (unsigned i = 0; i < kMax; i++) {
    if (at >= size || (descent.is_code(at) && !descent.is_start(at))) return false;
    if (descent.is_start(at)) return true;
    Shape shape;
    if (!read_shape(code + at, size - at, shape) || is_privileged(shape)) return false;
    const Flow flow = flow_of(shape);
    if (flow == Flow::kReturn || flow == Flow::kIndirectJump || flow == Flow::kStop) return true;
    const uint32_t next = at + shape.length;
    if (is_direct(flow)) {
      const uint64_t target =
          uint64_t{next} + static_cast<uint64_t>(branch_displacement(shape, code + at));
      const auto in_text = static_cast<uint32_t>(target);
      if (target >= size || (descent.is_code(in_text) && !descent.is_start(in_text))) return false;
    }
    if (flow == Flow::kJump || flow == Flow::kCall) return true;
    at = next;
  }
  return true;
}

}  // namespace weir
