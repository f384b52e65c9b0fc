// The table .eh_frame_hdr is sorted by address, so the entry of a function (FDE) is found by
// bisection. Its instructions, after those that it shares with others (CIE), are executed up to the
// address. Only the rules of the stack pointer and of rbp are kept: code that compilers make finds
// its frame by one of the two. Where another register or an expression would be needed (a stack
// that is realigned, a signal's frame) the stack ends.
#include "heap/guard/call_stack.h"

namespace weir::guard {
namespace {

// Encodings of pointers (Linux Standard Base, core specification, 10.5).
constexpr uint8_t kOmitted = 0xff, kUdata4 = 0x03, kSdata4 = 0x0b, kUdata2 = 0x02, kSdata2 = 0x0a,
                  kUdata8 = 0x04, kSdata8 = 0x0c, kAbsolute = 0x00, kRelative = 0x10,
                  kIndirect = 0x80, kFormat = 0x0f;
constexpr uint8_t kTableEncoding = 0x3b;  // relative to the table's start, 4 bytes, signed
constexpr uint64_t kRegisterRbp = 6, kRegisterRsp = 7, kRegisterRip = 16;
constexpr uint64_t kMaxEntry = 1024;  // bytes of an FDE or a CIE that are looked at

// Reads what was copied; past its end zeros, and is_over().
class Bytes {
 public:
  Bytes(const uint8_t* start, uint64_t size, uint64_t address)
      : start_(start), size_(size), address_(address) {}

  bool is_over() const { return at_ > size_; }
  bool has_more() const { return at_ < size_; }
  uint64_t address() const { return address_ + at_; }
  void skip(uint64_t count) {
    at_ = count > size_ - (at_ < size_ ? at_ : size_) ? size_ + 1 : at_ + count;
  }

  uint64_t fixed(uint32_t size) {
    uint64_t value = 0;
    for (uint32_t i = 0; i < size; i++) value |= uint64_t{byte()} << 8 * i;
    return value;
  }
  uint8_t byte() { return at_ < size_ ? start_[at_++] : (at_ = size_ + 1, uint8_t{0}); }
  uint64_t number() {
    uint64_t value = 0;
    for (uint32_t shift = 0; shift < 64; shift += 7) {
      const uint8_t one = byte();
      value |= uint64_t{one & 0x7fu} << shift;
      if (!(one & 0x80)) break;
    }
    return value;
  }
  int64_t signed_number() {
    uint64_t value = 0;
    uint32_t shift = 0;
    uint8_t one;
    do {
      one = byte();
      value |= uint64_t{one & 0x7fu} << shift;
      shift += 7;
    } while (one & 0x80 && shift < 64);
    if (shift < 64 && one & 0x40) value |= ~uint64_t{0} << shift;
    return static_cast<int64_t>(value);
  }
  // A pointer that is not indirect. False: the encoding is none that compilers use here.
  bool pointer(uint8_t encoding, uint64_t& value) {
    const uint64_t from = encoding & 0x70 ? address() : 0;
    if ((encoding & 0x70) != kAbsolute && (encoding & 0x70) != kRelative) return false;
    if (encoding & kIndirect) return false;
    switch (encoding & kFormat) {
      case kAbsolute:
      case kUdata8:
      case kSdata8: value = fixed(8); break;
      case kUdata4: value = fixed(4); break;
      case kSdata4: value = static_cast<uint64_t>(int64_t{static_cast<int32_t>(fixed(4))}); break;
      case kUdata2: value = fixed(2); break;
      case kSdata2: value = static_cast<uint64_t>(int64_t{static_cast<int16_t>(fixed(2))}); break;
      default: return false;
    }
    value += from;
    return true;
  }
  uint32_t pointer_size(uint8_t encoding) const {
    switch (encoding & kFormat) {
      case kUdata4:
      case kSdata4: return 4;
      case kUdata2:
      case kSdata2: return 2;
      default: return 8;
    }
  }

 private:
  const uint8_t* const start_;
  const uint64_t size_, address_;
  uint64_t at_ = 0;
};

// An entry of .eh_frame: its bytes behind the length.
struct Entry {
  uint8_t bytes[kMaxEntry];
  uint64_t address = 0, size = 0;

  // False: it is not there, or is in the 64-bit format.
  bool fetch(uint64_t at, Read read) {
    uint32_t length = 0;
    if (!read(&length, at, sizeof length) || length == 0 || length == 0xffffffff) return false;
    address = at + sizeof length;
    size = length < kMaxEntry ? length : kMaxEntry;
    return read(bytes, address, size);
  }
  Bytes reader() const { return {bytes, size, address}; }
};

struct State {
  FrameRule rule;
  bool is_known = true;  // the CFA is a register plus an offset, and the return address lies below
  uint64_t cfa_register = 0;
  int64_t cfa_offset = 0;
};

struct Common {
  uint64_t code_factor = 1;
  int64_t data_factor = 1;
  uint8_t encoding = kAbsolute;
  bool has_augmentation = false;
};

bool read_common(Bytes& bytes, Common& common) {
  bytes.skip(4);  // its identity
  const uint8_t version = bytes.byte();
  if (version != 1 && version != 3) return false;
  char augmentation[8] = {};
  for (uint32_t i = 0; i < sizeof augmentation; i++) {
    augmentation[i] = static_cast<char>(bytes.byte());
    if (!augmentation[i]) break;
    if (i + 1 == sizeof augmentation) return false;
  }
  common.code_factor = bytes.number();
  common.data_factor = bytes.signed_number();
  const uint64_t return_register = version == 1 ? bytes.byte() : bytes.number();
  if (return_register != kRegisterRip) return false;
  if (!augmentation[0]) return true;
  if (augmentation[0] != 'z') return false;
  common.has_augmentation = true;
  const uint64_t size = bytes.number();
  Bytes rest = bytes;
  for (const char* c = augmentation + 1; *c; c++) {
    if (*c == 'R') {
      common.encoding = rest.byte();
    } else if (*c == 'P') {
      const uint8_t encoding = rest.byte();
      rest.skip(rest.pointer_size(encoding));
    } else if (*c == 'L') {
      rest.byte();
    } else if (*c == 'S') {
      return false;  // a signal's frame
    } else {
      return false;
    }
  }
  bytes.skip(size);
  return !bytes.is_over();
}

// Executes instructions until `wanted` lies before what follows; `at` is where they begin.
class Execution {
 public:
  Execution(const Common& common, uint64_t at, uint64_t wanted)
      : common_(common), at_(at), wanted_(wanted) {}

  State state, initial;

  // False: an instruction that is not known.
  bool run(Bytes bytes) {
    constexpr uint32_t kDepth = 8;
    State kept[kDepth];
    uint32_t depth = 0;
    while (bytes.has_more()) {
      const uint8_t code = bytes.byte();
      const uint8_t low = code & 0x3f;
      switch (code >> 6) {
        case 1:
          if (!advance(low)) return true;
          continue;
        case 2: save(low, bytes.number()); continue;
        case 3: restore(low); continue;
        default: break;
      }
      switch (code) {
        case 0x00: break;
        case 0x02:
          if (!advance(bytes.fixed(1))) return true;
          break;
        case 0x03:
          if (!advance(bytes.fixed(2))) return true;
          break;
        case 0x04:
          if (!advance(bytes.fixed(4))) return true;
          break;
        case 0x05: {
          const uint64_t which = bytes.number();
          save(which, bytes.number());
          break;
        }
        case 0x06: restore(bytes.number()); break;
        case 0x07: forget(bytes.number()); break;  // undefined
        case 0x08: bytes.number(); break;          // same value
        case 0x09: {                               // in another register
          const uint64_t which = bytes.number();
          bytes.number();
          forget(which);
          break;
        }
        case 0x0a:
          if (depth == kDepth) return false;
          kept[depth++] = state;
          break;
        case 0x0b:
          if (!depth) return false;
          state = kept[--depth];
          break;
        case 0x0c:
          state.cfa_register = bytes.number();
          state.cfa_offset = static_cast<int64_t>(bytes.number());
          state.is_known = true;
          break;
        case 0x0d: state.cfa_register = bytes.number(); break;
        case 0x0e: state.cfa_offset = static_cast<int64_t>(bytes.number()); break;
        case 0x0f:  // the CFA is an expression
          bytes.skip(bytes.number());
          state.is_known = false;
          break;
        case 0x10:
        case 0x16: {  // a register is, or lies at, an expression
          const uint64_t which = bytes.number();
          bytes.skip(bytes.number());
          forget(which);
          break;
        }
        case 0x11: {
          const uint64_t which = bytes.number();
          save_at(which, bytes.signed_number() * common_.data_factor);
          break;
        }
        case 0x12:
          state.cfa_register = bytes.number();
          state.cfa_offset = bytes.signed_number() * common_.data_factor;
          state.is_known = true;
          break;
        case 0x13: state.cfa_offset = bytes.signed_number() * common_.data_factor; break;
        case 0x2e: bytes.number(); break;  // size of arguments
        default: return false;
      }
      if (bytes.is_over()) return false;
    }
    return true;
  }

 private:
  // False: the next instructions are of code behind the wanted address.
  bool advance(uint64_t by) {
    at_ += by * common_.code_factor;
    return at_ <= wanted_;
  }
  void save(uint64_t which, uint64_t offset) {
    save_at(which, static_cast<int64_t>(offset) * common_.data_factor);
  }
  void save_at(uint64_t which, int64_t offset) {
    if (which == kRegisterRbp) {
      state.rule.saves_rbp = true;
      state.rule.rbp_offset = static_cast<int32_t>(offset);
    }
    if (which == kRegisterRip && offset != -8) state.is_known = false;
  }
  void restore(uint64_t which) {
    if (which != kRegisterRbp) return;
    state.rule.saves_rbp = initial.rule.saves_rbp;
    state.rule.rbp_offset = initial.rule.rbp_offset;
  }
  // Without the return address the stack ends.
  void forget(uint64_t which) {
    if (which == kRegisterRip) state.is_known = false;
    if (which == kRegisterRbp) state.rule.saves_rbp = false;
  }

  const Common& common_;
  uint64_t at_;
  const uint64_t wanted_;
};

// The FDE that may cover the address; 0: none. `covered`: from where it begins to the next one.
uint64_t find_entry(const Text& text, uint64_t address, Read read, Range& covered) {
  uint8_t header[12];
  if (text.table_size < sizeof header || !read(header, text.table, sizeof header)) return 0;
  if (header[0] != 1 || header[1] == kOmitted || header[2] != kUdata4 ||
      header[3] != kTableEncoding)
    return 0;
  Bytes bytes(header + 4, sizeof header - 4, text.table + 4);
  uint64_t frames;
  if (!bytes.pointer(header[1], frames) || bytes.pointer_size(header[1]) != 4) return 0;
  const uint64_t count = bytes.fixed(4), rows = text.table + sizeof header;
  struct Row {
    int32_t start, entry;
  };
  uint64_t low = 0, high = count;
  Row row{};
  while (low < high) {
    const uint64_t middle = (low + high) / 2;
    if (!read(&row, rows + middle * sizeof row, sizeof row)) return 0;
    if (text.table + static_cast<uint64_t>(int64_t{row.start}) <= address) low = middle + 1;
    else high = middle;
  }
  covered.limit = text.range.limit;
  const auto start_of = [&] { return text.table + static_cast<uint64_t>(int64_t{row.start}); };
  if (low < count && read(&row, rows + low * sizeof row, sizeof row)) covered.limit = start_of();
  if (!low || !read(&row, rows + (low - 1) * sizeof row, sizeof row)) return 0;
  covered.start = start_of();
  return text.table + static_cast<uint64_t>(int64_t{row.entry});
}

}  // namespace

Range find_function(const Text& text, uint64_t address, Read read) {
  Range covered{};
  return text.table && find_entry(text, address, read, covered) ? covered : Range{};
}

FrameRule find_rule(const Text& text, uint64_t address, Read read) {
  Range covered{};
  const uint64_t at = find_entry(text, address, read, covered);
  Entry entry, shared;
  if (!at || !entry.fetch(at, read)) return {};
  Bytes bytes = entry.reader();
  const uint64_t here = bytes.address(), back = bytes.fixed(4);
  if (back == 0 || !shared.fetch(here - back, read)) return {};
  Bytes common_bytes = shared.reader();
  Common common;
  uint64_t start, size;
  if (!read_common(common_bytes, common) || !bytes.pointer(common.encoding, start) ||
      !bytes.pointer(common.encoding & kFormat, size) || address - start >= size)
    return {};
  if (common.has_augmentation) bytes.skip(bytes.number());
  Execution execution(common, start, address);
  if (!execution.run(common_bytes)) return {};
  execution.initial = execution.state;
  if (!execution.run(bytes)) return {};
  const State& state = execution.state;
  if (!state.is_known) return {};
  FrameRule rule = state.rule;
  rule.offset = static_cast<int32_t>(state.cfa_offset);
  if (state.cfa_register == kRegisterRsp) rule.base = FrameRule::Base::kRsp;
  else if (state.cfa_register == kRegisterRbp) rule.base = FrameRule::Base::kRbp;
  return rule;
}

}  // namespace weir::guard
