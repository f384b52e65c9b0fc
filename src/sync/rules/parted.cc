#include "sync/rules/parted.h"

#include "base/bytes.h"
#include "base/types.h"
#include "code/decode/decoder.h"
#include "code/emulate/vector_state_x86_64.h"
#include "code/translate/step.h"
#include "memory/program_memory.h"
#include "sys/maps.h"
#include "sys/syscall_x86_64.h"

namespace weir::serial {
namespace {

constexpr unsigned kPrefixes = 4;  // that is asked about
constexpr uint64_t kDirection = 0x400;

bool has_prefix(const Shape& shape, const uint8_t* code, const uint8_t (&list)[kPrefixes]) {
  for (unsigned i = 0; i < shape.opcode_at; i++)
    for (const uint8_t prefix : list)
      if (code[i] == prefix) return true;
  return false;
}

// Other processes would see what is put there for a moment.
bool is_private(uint64_t address) {
  sys::MapLine line;
  return sys::find_map_line(address, &line) && !line.shared;
}

bool can_write(long address, uint64_t size) {
  uint8_t bytes[16];
  return trap::from_program(bytes, address, size) == 0 &&
         trap::to_program(address, bytes, size) == 0;
}

}  // namespace

Parted::Parted(Frame& frame) : frame_(frame) { kind_ = find(frame.rip); }

Parted::Kind Parted::find(uint64_t rip) {
  const auto* code = reinterpret_cast<const uint8_t*>(rip);
  Shape shape;
  if (!read_shape(code, kMaxInstructionSize, shape)) return Kind::kWhole;
  length_ = shape.length;
  if (decode_change(code, kMaxInstructionSize, rip, op_)) {
    address_ = static_cast<long>(atomic_address(op_, frame_, sys::fs_base()));
    size_ = op_.size;
    return trap::from_program(value_, address_, size_) == 0 ? Kind::kChange : Kind::kWhole;
  }
  if (shape.has_repeat && !shape.has_modrm && !shape.is_vector) return find_string(shape, code);
  Instruction instruction;
  if (!decode(rip, instruction) || instruction.is_locked || instruction.operand_count != 1)
    return Kind::kWhole;
  const AccessList list = accesses_of(instruction, registers_of(frame_), sys::fs_base(), 0);
  if (list.count != 1 || list.unknown_write) return Kind::kWhole;
  address_ = static_cast<long>(list.accesses[0].address);
  size_ = list.accesses[0].size;
  store_ = wide_store(shape, code);
  if (store_.size) return find_store();
  constexpr uint64_t kMost = 16;
  const bool changes = list.accesses[0].read && list.accesses[0].written;
  if (!changes || !size_ || size_ > kMost || !can_write(address_, size_) ||
      !is_private(list.accesses[0].address))
    return Kind::kWhole;
  return Kind::kOther;
}

// Processors write 16 aligned bytes at once, if they have AVX. On two pages, the second may not be
// there: then none of it is written.
Parted::Kind Parted::find_store() {
  const auto address = static_cast<uint64_t>(address_);
  const bool is_seen_whole = address % 16 == 0 && store_.size == 16;
  const bool would_fault = store_.is_aligned && address % store_.size != 0;
  const bool is_on_two_pages = page_down(address) != page_down(address + size_ - 1);
  if (is_seen_whole || would_fault || is_on_two_pages || size_ != store_.size) return Kind::kWhole;
  return trap::vector_now(store_.source, value_, size_) ? Kind::kStore : Kind::kWhole;
}

Parted::Kind Parted::find_string(const Shape& shape, const uint8_t* code) {
  constexpr uint8_t kOthers[kPrefixes] = {0x64, 0x65, 0x67, 0x67};  // fs, gs, short addresses
  is_move_ = (shape.opcode | 1) == 0xa5;
  if (!is_move_ && (shape.opcode | 1) != 0xab) return Kind::kWhole;
  if ((frame_.rflags & kDirection) || has_prefix(shape, code, kOthers)) return Kind::kWhole;
  element_ = !(shape.opcode & 1) ? 1 : shape.rex & 8 ? 8 : shape.has_66 ? 2 : 4;
  elements_ = frame_.rcx;
  constexpr uint64_t kWord = 8, kMost = uint64_t{1} << 40;
  if (elements_ > kMost || elements_ * element_ <= kWord) return Kind::kWhole;
  // Each element could be one that the move has stored itself.
  if (is_move_ && frame_.rdi - frame_.rsi < elements_ * element_) return Kind::kWhole;
  return Kind::kString;
}

// Of the string, up to that one. If memory is missing, the processor tells the program so.
void Parted::make_elements(uint64_t count) {
  constexpr uint64_t kPiece = 1024;
  alignas(8) uint8_t piece[kPiece];
  for (uint64_t at = 0; !is_move_ && at < kPiece; at += element_)
    copy_bytes(piece + at, &frame_.rax, element_);
  while (made_ < count) {
    const uint64_t left = (count - made_) * element_;
    const uint64_t bytes = left < kPiece ? left : kPiece;
    if (is_move_ && trap::from_program(piece, static_cast<long>(frame_.rsi), bytes) != 0) return;
    if (trap::to_program(static_cast<long>(frame_.rdi), piece, bytes) != 0) return;
    made_ += bytes / element_;
    frame_.rcx -= bytes / element_;
    frame_.rdi += bytes;
    if (is_move_) frame_.rsi += bytes;
  }
}

// Of the store, up to that byte.
bool Parted::write(uint64_t limit) {
  return trap::to_program(address_ + static_cast<long>(made_), value_ + made_, limit - made_) == 0;
}

void Parted::come_to(unsigned steps) {
  switch (kind_) {
    case Kind::kWhole: return;
    case Kind::kChange:
    case Kind::kOther:
      if (trap::from_program(value_, address_, size_) != 0) kind_ = Kind::kWhole;
      return;
    case Kind::kStore:
      if (write(store_.part(steps))) made_ = store_.part(steps);
      else kind_ = Kind::kWhole;
      return;
    case Kind::kString: {
      const uint64_t word = 8 / element_;
      const uint64_t wanted = steps == 1 ? word : steps == 2 ? elements_ / 2 : elements_ - 1;
      make_elements(wanted / word * word);
      return;
    }
  }
}

bool Parted::finish(bool is_interrupted) {
  Frame after = frame_;
  switch (kind_) {
    case Kind::kWhole:
    case Kind::kString: return false;
    case Kind::kChange:
      execute_atomic(op_, after, value_);
      if (trap::to_program(address_, value_, size_) != 0) return false;
      break;
    case Kind::kOther:
      // If it fails, the instruction itself faults. A handler would see what is put back.
      if (!is_interrupted && trap::to_program(address_, value_, size_) != 0) kind_ = Kind::kWhole;
      return false;
    case Kind::kStore:
      if (!write(size_)) return false;
  }
  frame_ = after;
  frame_.rip += length_;
  frame_.shown = frame_.rip;
  return true;
}

}  // namespace weir::serial
