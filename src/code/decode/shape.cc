#include "code/decode/shape.h"

// Why not the decoder behind decoder.h for everything: it takes about 160 ns an instruction, and
// libc has 336,000. The layout of an instruction follows from two tables of 256 entries, at a few
// nanoseconds each. Whoever acts on an instruction asks the real decoder about that one; the unit
// test compares both over every system library it finds.
//
// Deviation from the manuals: operand-size prefixes never shorten a branch displacement here (the
// CPUs of one maker ignore them in 64-bit mode, and no compiler emits one that would matter).

namespace weir {
namespace {

// Attributes of an opcode, one letter each:
//   .  no operand bytes          m  ModRM              b  imm8             M  ModRM, imm8
//   w  imm16                     z  imm32 (66: imm16)  Z  ModRM, immz
//   v  immz, with REX.W imm64
//   j  rel8                      J  rel32              o  8-byte address (67: 4)
//   e  enter: imm16, imm8        g  group F6/F7        x  invalid
//   p  prefix, escape: not looked up
constexpr char kOneByteMap[257] =
    "mmmmbzxxmmmmbzxpmmmmbzxxmmmmbzxx"   // 00-1f
    "mmmmbzpxmmmmbzpxmmmmbzpxmmmmbzpx"   // 20-3f
    "pppppppppppppppp................"   // 40-5f
    "xxpmppppzZbM....jjjjjjjjjjjjjjjj"   // 60-7f
    "MZxMmmmmmmmmmmmm..........x....."   // 80-9f
    "oooo....bz......bbbbbbbbvvvvvvvv"   // a0-bf
    "MMw.ppMZe.w..bx.mmmmxxx.mmmmmmmm"   // c0-df
    "jjjjbbbbJJxj....pxpp..gg......mm";  // e0-ff

constexpr char k0FMap[257] =
    "mmmmx.....x.xm.Mmmmmmmmmmmmmmmmm"   // 00-1f
    "mmmmxxxxmmmmmmmm........pxpxxxxx"   // 20-3f
    "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm"   // 40-5f
    "mmmmmmmmmmmmmmmmMMMMmmm.mmmmmmmm"   // 60-7f
    "JJJJJJJJJJJJJJJJmmmmmmmmmmmmmmmm"   // 80-9f
    "...mMmxx...mMmmmmmmmmmmmmmMmmmmm"   // a0-bf
    "mmMmMMMm........mmmmmmmmmmmmmmmm"   // c0-df
    "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm";  // e0-ff

constexpr uint8_t kRexW = 8;

// What a letter stands for.
constexpr uint8_t kFull = 0x10, kFullOr8 = 0x11, kAddress = 0x12;  // sizes that depend on prefixes

struct OperandBytes {
  bool modrm = false;
  uint8_t immediate = 0;
};

struct OperandTable {
  OperandBytes of[128];
  constexpr OperandTable() {
    set("mg", {true, 0});
    set("M", {true, 1});
    set("S", {true, 2});
    set("Z", {true, kFull});
    set("bj", {false, 1});
    set("w", {false, 2});
    set("e", {false, 3});
    set("J", {false, 4});
    set("z", {false, kFull});
    set("v", {false, kFullOr8});
    set("o", {false, kAddress});
  }
  constexpr void set(const char* letters, OperandBytes bytes) {
    for (; *letters; letters++) of[static_cast<uint8_t>(*letters)] = bytes;
  }
};
constexpr OperandTable kOperandBytes;

class Reader {
 public:
  Reader(const uint8_t* code, size_t available, Shape& shape)
      : code_(code),
        available_(available < kMaxInstructionSize ? available : kMaxInstructionSize),
        shape_(shape) {}

  bool read() {
    if (!read_prefixes()) return false;
    char kind = 0;
    if (!read_opcode(kind) || !read_operands(kind)) return false;
    if (at_ > available_) return false;
    shape_.length = static_cast<uint8_t>(at_);
    return true;
  }

 private:
  bool has(size_t more) const { return at_ + more <= available_; }

  bool read_prefixes() {
    for (; has(1); at_++) {
      uint8_t byte = code_[at_];
      if ((byte & 0xf0) == 0x40) {
        rex_ = byte;  // counts only directly before the opcode
        continue;
      }
      if (kOneByteMap[byte] != 'p' || byte == 0x0f) {
        shape_.rex = rex_;
        return true;
      }
      switch (byte) {
        case 0xf0: shape_.has_lock = true; break;
        case 0xf2:
        case 0xf3:
          shape_.has_repeat = true;
          last_repeat_ = byte;
          break;
        case 0x66: shape_.has_66 = true; break;
        case 0x67: shape_.has_67 = true; break;
        case 0x26:
        case 0x2e:
        case 0x36:
        case 0x3e:
        case 0x64:
        case 0x65: break;
        default: shape_.rex = rex_; return true;
      }
      rex_ = 0;
    }
    return false;
  }

  bool read_opcode(char& kind) {
    uint8_t byte = code_[at_];
    if (byte == 0x0f) return read_0f(kind);
    if (byte == 0xc5) return read_vector(1, kind);
    if (byte == 0xc4) return read_vector(2, kind);
    if (byte == 0x62) return read_vector(3, kind);
    if (byte == 0x8f && has(2) && (code_[at_ + 1] & 0x1f) >= 8) return read_xop(kind);
    set_opcode(OpcodeMap::kOneByte);
    kind = kOneByteMap[byte];
    return kind != 'x' && kind != 'p';
  }

  void set_opcode(OpcodeMap map) {
    shape_.map = map;
    shape_.opcode = code_[at_];
    shape_.opcode_at = static_cast<uint8_t>(at_);
    at_++;
  }

  bool read_0f(char& kind) {
    if (!has(2)) return false;
    at_++;
    uint8_t byte = code_[at_];
    if (byte == 0x38 || byte == 0x3a) {
      if (!has(2)) return false;
      at_++;
      set_opcode(byte == 0x38 ? OpcodeMap::k0F38 : OpcodeMap::k0F3A);
      kind = byte == 0x38 ? 'm' : 'M';
      return true;
    }
    set_opcode(OpcodeMap::k0F);
    kind = k0FMap[byte];
    if (byte == 0x0f) shape_.map = OpcodeMap::kOther;  // 3DNow: the opcode is the immediate
    if (byte == 0x78 && (shape_.has_66 || last_repeat_ == 0xf2))
      kind = 'S';                                            // extrq, insertq: two imm8
    if (byte == 0xb8 && last_repeat_ != 0xf3) return false;  // only popcnt
    return kind != 'x' && kind != 'p';
  }

  // VEX with 2 bytes, VEX with 3, EVEX with 4.
  bool read_vector(size_t payload, char& kind) {
    if (shape_.rex != 0 || shape_.has_lock || shape_.has_66 || shape_.has_repeat) return false;
    if (!has(payload + 2)) return false;
    unsigned map = 1;
    if (payload == 2) map = code_[at_ + 1] & 0x1f;
    if (payload == 3) map = code_[at_ + 1] & 0x07;
    at_ += payload + 1;
    return set_vector_opcode(map, payload == 3, kind);
  }

  bool set_vector_opcode(unsigned map, bool evex, char& kind) {
    shape_.is_vector = true;
    if (map == 1) {
      set_opcode(OpcodeMap::k0F);
      switch (shape_.opcode) {
        case 0x77: kind = evex ? 'x' : '.'; break;
        case 0x70:
        case 0x71:
        case 0x72:
        case 0x73:
        case 0xc2:
        case 0xc4:
        case 0xc5:
        case 0xc6: kind = 'M'; break;
        default: kind = 'm';
      }
      return kind != 'x';
    }
    if (map == 2 || map == 3) {
      set_opcode(map == 2 ? OpcodeMap::k0F38 : OpcodeMap::k0F3A);
      kind = map == 2 ? 'm' : 'M';
      return true;
    }
    if (evex && (map == 5 || map == 6)) {
      set_opcode(OpcodeMap::kOther);
      kind = 'm';
      return true;
    }
    return false;
  }

  bool read_xop(char& kind) {
    unsigned map = code_[at_ + 1] & 0x1f;
    if (!has(4) || map > 10) return false;
    at_ += 3;
    shape_.is_vector = true;
    set_opcode(OpcodeMap::kOther);
    kind = map == 8 ? 'M' : map == 9 ? 'm' : 'Z';
    return true;
  }

  bool read_operands(char kind) {
    OperandBytes bytes = kOperandBytes.of[static_cast<uint8_t>(kind) & 0x7f];
    uint8_t full = shape_.has_16_bits() ? 2 : 4;
    uint8_t immediate = bytes.immediate;
    if (immediate >= kFull) {
      if (immediate == kFull) immediate = shape_.is_vector ? 4 : full;
      if (immediate == kFullOr8) immediate = shape_.rex & kRexW ? 8 : full;
      if (immediate == kAddress) immediate = shape_.has_67 ? 4 : 8;
    }
    bool modrm = bytes.modrm;
    if (modrm && !read_modrm()) return false;
    if (modrm && shape_.map == OpcodeMap::kOneByte && !is_defined_group()) return false;
    if (kind == 'g' && shape_.reg() < 2) immediate = shape_.opcode == 0xf6 ? 1 : full;
    if (shape_.opcode == 0xc7 && shape_.map == OpcodeMap::kOneByte && shape_.modrm == 0xf8)
      immediate = 4;  // xbegin
    shape_.immediate_at = static_cast<uint8_t>(at_);
    shape_.immediate_size = immediate;
    at_ += immediate;
    return true;
  }

  // Groups of one-byte opcodes in which not every ModRM is an instruction; what is data in the text
  // often fails here.
  bool is_defined_group() const {
    switch (shape_.opcode) {
      case 0x62:
      case 0x8d: return shape_.mod() != 3;
      case 0x8f: return shape_.reg() == 0;
      case 0xc6:
      case 0xc7: return shape_.reg() == 0 || shape_.modrm == 0xf8;
      case 0xfe: return shape_.reg() < 2;
      case 0xff: return shape_.reg() != 7;
      default: return true;
    }
  }

  bool read_modrm() {
    if (!has(1)) return false;
    shape_.has_modrm = true;
    shape_.modrm = code_[at_++];
    bool control = shape_.map == OpcodeMap::k0F && shape_.opcode >= 0x20 && shape_.opcode <= 0x23;
    if (shape_.mod() == 3 || (control && !shape_.is_vector)) {
      shape_.modrm |= 0xc0;  // moves from and to control registers ignore mod
      return true;
    }
    uint8_t size = shape_.mod() == 1 ? 1 : shape_.mod() == 2 ? 4 : 0;
    if (shape_.rm() == 4) {
      if (!has(1)) return false;
      uint8_t sib = code_[at_++];
      if (shape_.mod() == 0 && (sib & 7) == 5) size = 4;
    } else if (shape_.mod() == 0 && shape_.rm() == 5) {
      size = 4;
    }
    shape_.displacement_at = static_cast<uint8_t>(at_);
    shape_.displacement_size = size;
    at_ += size;
    return true;
  }

  const uint8_t* code_;
  size_t available_;
  Shape& shape_;
  size_t at_ = 0;
  uint8_t rex_ = 0;
  uint8_t last_repeat_ = 0;
};

}  // namespace

bool read_shape(const uint8_t* code, size_t available, Shape& shape) {
  shape = Shape{};
  return Reader(code, available, shape).read();
}

Flow flow_of(const Shape& shape) {
  if (shape.is_vector) return Flow::kNext;
  uint8_t opcode = shape.opcode;
  if (shape.map == OpcodeMap::k0F) {
    if (opcode >= 0x80 && opcode <= 0x8f) return Flow::kConditional;
    return opcode == 0x0b || opcode == 0xb9 || opcode == 0xff ? Flow::kStop : Flow::kNext;
  }
  if (shape.map != OpcodeMap::kOneByte) return Flow::kNext;
  if (opcode >= 0x70 && opcode <= 0x7f) return Flow::kConditional;
  switch (opcode) {
    case 0xe0:
    case 0xe1:
    case 0xe2:
    case 0xe3: return Flow::kLoop;
    case 0xe8: return Flow::kCall;
    case 0xe9:
    case 0xeb: return Flow::kJump;
    case 0xc2:
    case 0xc3:
    case 0xca:
    case 0xcb:
    case 0xcf: return Flow::kReturn;
    case 0xcc:
    case 0xf4: return Flow::kStop;
    case 0xc7: return shape.modrm == 0xf8 ? Flow::kLoop : Flow::kNext;
    case 0xff:
      if (shape.reg() == 2 || shape.reg() == 3) return Flow::kIndirectCall;
      return shape.reg() == 4 || shape.reg() == 5 ? Flow::kIndirectJump : Flow::kNext;
    default: return Flow::kNext;
  }
}

int64_t branch_displacement(const Shape& shape, const uint8_t* code) {
  const uint8_t* at = code + shape.immediate_at;
  if (shape.immediate_size == 1) return static_cast<int8_t>(*at);
  uint32_t value = 0;
  for (int i = 3; i >= 0; i--) value = value << 8 | at[i];
  return static_cast<int32_t>(value);
}

}  // namespace weir
