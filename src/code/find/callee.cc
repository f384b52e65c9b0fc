// Reading another page is a system call, and the calls in a table have one callee: it is kept.
#include "code/find/callee.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "code/decode/shape.h"
#include "sys/memory.h"

namespace weir {
namespace {

struct Callee {
  uint64_t address;
  bool takes_return;
};
constexpr uint32_t kCallees = 64;
Callee g_callees[kCallees];

// As many bytes at `address` as can be read.
uint32_t read_bytes(const MadePage& page, uint64_t address, uint8_t* bytes, uint32_t size) {
  const uint64_t start = page.address + page.first - MadePage::kBefore;
  const uint64_t limit = page.address + page.limit - MadePage::kBefore;
  if (address >= start && address < limit) {
    if (size > limit - address) size = static_cast<uint32_t>(limit - address);
    copy_bytes(bytes, page.bytes + page.first + (address - start), size);
    return size;
  }
  const long got = sys::read_safely(bytes, address, size);
  return got > 0 ? static_cast<uint32_t>(got) : 0;
}

bool begins_with_pop(const MadePage& page, uint64_t address) {
  constexpr int kJumps = 4;
  constexpr uint8_t kLoad = 0xb8, kPop = 0x58;  // and the register's number
  for (int i = 0; i < kJumps; i++) {
    uint8_t code[2 * kMaxInstructionSize] = {};
    const uint32_t size = read_bytes(page, address, code, sizeof code);
    Shape shape, next;
    if (!read_shape(code, size, shape) || shape.is_vector || shape.map != OpcodeMap::kOneByte)
      return false;
    const auto operation = static_cast<uint8_t>(shape.opcode & 0xf8);
    const Flow flow = flow_of(shape);
    if (operation == kPop) return true;
    if (flow == Flow::kJump) {
      address += shape.length + static_cast<uint64_t>(branch_displacement(shape, code));
    } else if (flow == Flow::kIndirectJump && shape.is_rip_relative()) {
      int32_t displacement;
      copy_bytes(&displacement, code + shape.displacement_at, sizeof displacement);
      const uint64_t from = address + shape.length + static_cast<uint64_t>(int64_t{displacement});
      uint8_t pointer[sizeof address];
      if (read_bytes(page, from, pointer, sizeof pointer) < sizeof pointer) return false;
      copy_bytes(&address, pointer, sizeof address);
    } else if (operation == kLoad && shape.immediate_size == sizeof address &&
               read_shape(code + shape.length, size - shape.length, next) &&
               flow_of(next) == Flow::kIndirectJump) {
      copy_bytes(&address, code + shape.immediate_at, sizeof address);
    } else {
      return false;
    }
  }
  return false;
}

}  // namespace

bool takes_return_address(const MadePage& page, uint64_t callee) {
  Callee& known = g_callees[(mix(callee) >> 32) % kCallees];
  if (known.address != callee) known = {callee, begins_with_pop(page, callee)};
  return known.takes_return;
}

void forget_callees() {
  for (Callee& callee : g_callees) callee = {};
}

}  // namespace weir
