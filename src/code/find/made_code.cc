// Two degrees, as in a library's text (code/find/descent.cc):
//
// 1. Proved: control is at the entry, and what follows it over direct jumps and calls on the page
//    are instructions. What follows a call is, if the call returns: it counts up to the next call
//    or jump, as a whole, if all of it looks like compiled code. A call does not return if what it
//    calls begins by taking the return address from the stack: constants follow it, which that code
//    reads (.NET's precodes). A site that was proved so once stays one as long as its bytes stay.
// 2. Plausible: code on the page that control will enter by an address that nobody knows yet. There
//    every offset is decoded. Whoever begins in the middle of an instruction soon comes to the
//    boundaries of the others, so from many offsets instructions lead to what is one, and from few
//    to what is part of one. A site counts if many lead to it, compared with all else that its
//    bytes could be part of, and if what follows looks like compiled code: no instruction that
//    compilers do not make, no jump out of memory for code. Where jumps lead, where proved code
//    ends, and at aligned addresses behind padding, some are counted as if they led there.
//
// Constants that look like all of that are taken for code: then the program reads another byte
// there while it executes the page. What does not look like code is left alone.
//
// Invariants
// 1. Every position lies on the page, and holds a byte that another can stand for. (checked in
//    take)
#include "code/find/made_code.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "code/find/callee.h"
#include "code/find/descent.h"
#include "code/find/sweep.h"
#include "memory/code/made_byte.h"
#include "sys/report.h"

namespace weir {
namespace {

constexpr uint8_t kLock = 0xf0;

struct Bits {
  uint64_t word[MadePage::kSize / 64 + 1];
  bool has(uint32_t i) const { return word[i / 64] >> (i % 64) & 1; }
  void add(uint32_t i) { word[i / 64] |= uint64_t{1} << (i % 64); }
};

bool is_prefix(uint8_t byte) {
  switch (byte) {
    case 0x26:
    case 0x2e:
    case 0x36:
    case 0x3e:
    case 0x64:
    case 0x65:
    case 0x66:
    case 0x67:
    case 0xf2:
    case 0xf3: return true;
    default: return (byte & 0xf0) == 0x40;
  }
}

// What a program may execute, and compilers do not make.
bool is_unlikely(const Shape& shape) {
  if (shape.is_vector || shape.map != OpcodeMap::kOneByte) return false;
  const uint8_t op = shape.opcode;
  switch (op) {  // arithmetic of bytes is what tables of small numbers look like
    case 0x00:
    case 0x02:
    case 0x10:
    case 0x12:
    case 0x14:
    case 0x18:
    case 0x1a:
    case 0x1c: return true;
    default: break;
  }
  return op == 0x8c || op == 0x8e || (op >= 0x91 && op <= 0x97) || (op >= 0x9b && op <= 0x9f) ||
         (op >= 0xa0 && op <= 0xa3) || op == 0xc8 || op == 0xce || op == 0xd7 ||
         (op >= 0xe0 && op <= 0xe2) || op == 0xf1 || op == 0xf5 || op == 0xf8 || op == 0xf9;
}

bool is_call(Flow flow) { return flow == Flow::kCall || flow == Flow::kIndirectCall; }

// Whether an instruction is a site of made code, and then which of its bytes is changed.
bool find_made_byte(const uint8_t* code, const Shape& shape, SiteKind& kind, uint8_t& offset) {
  if (!is_site(shape, kind) || kind == SiteKind::kBase) return false;
  AtomicOp op;
  RandomOp random;
  if (kind == SiteKind::kAtomic && !decode_atomic(code, shape.length, 0, op)) return false;
  if (kind == SiteKind::kRandom && !(decode_random(shape, random) && is_known(random)))
    return false;
  offset = 0;
  if (shape.has_lock) {
    while (code[offset] != kLock) offset++;
  } else {
    offset = static_cast<uint8_t>(shape.opcode_at - (shape.map == OpcodeMap::kOneByte ? 0 : 1));
  }
  return offset < shape.length && faulting_byte(code[offset]) != 0;
}

// Of weigh_all(); not on the stack of a signal's handler.
struct Decoded {
  uint8_t length;    // 0: it is no instruction that compilers make
  uint16_t target;   // of a jump or call on the page; 0: there is none
  uint16_t goes_on;  // how much of the count the next instruction gets at most
};
Decoded g_decoded[MadePage::kSize];
uint16_t g_leading[MadePage::kSize];
uint8_t g_named[MadePage::kSize];
constexpr uint32_t kMany = 12, kAfterJump = 12, kBegins = 12;

// Sites that control has come to, or was proved to, in this process: as long as such an instruction
// has the same bytes in the same place, it is one, wherever control enters the page next. A hash
// set of what is told apart by address and bytes; when it is full it begins anew.
constexpr uint32_t kKnown = 1 << 15;
uint64_t g_known[kKnown];
uint32_t g_known_count = 0;

uint64_t identity_of(uint64_t address, const uint8_t* bytes, uint32_t length) {
  uint64_t words[3] = {address, 0, 0};
  copy_bytes(words + 1, bytes, length);
  return hash_words(length, words, 3) | 1;
}

uint64_t* slot_of(uint64_t identity) {
  uint32_t slot = static_cast<uint32_t>(identity >> 40) % kKnown;
  while (g_known[slot] && g_known[slot] != identity) slot = (slot + 1) % kKnown;
  return &g_known[slot];
}

void remember(uint64_t identity) {
  uint64_t* slot = slot_of(identity);
  if (*slot) return;
  if (4 * g_known_count > 3 * kKnown) {
    for (uint64_t& known : g_known) known = 0;
    g_known_count = 0;
    slot = slot_of(identity);
  }
  *slot = identity;
  g_known_count++;
}

class Look {
 public:
  Look(const MadePage& page, PatchKinds kinds, uint16_t* positions)
      : page_(page), kinds_(kinds), positions_(positions) {}

  uint32_t run(uint32_t entry) {
    if (!has_candidates()) return 0;
    forget_callees();
    prove(entry);
    if (g_known_count) recall();
    for (uint32_t at = MadePage::kBefore; at < MadePage::kPageLimit; at++) {
      if (may_be_changed(at) && !code_.has(at)) weigh(at);
    }
    return count_;
  }

 private:
  // Whether a byte could be one that is changed.
  bool may_be_changed(uint32_t at) const {
    const uint8_t byte = page_.bytes[at];
    if (byte == kLock || byte == 0x86 || byte == 0x87) return true;
    if (byte != 0x0f || at + 1 >= page_.limit) return false;
    switch (page_.bytes[at + 1]) {
      case 0x05: return kinds_ & kPatchSyscall;
      case 0xae: return kinds_ & kPatchAtomic;
      case 0x31:
      case 0x01: return kinds_ & kPatchRdtsc;
      case 0xa2: return kinds_ & kPatchCpuid;
      case 0xc7: return kinds_ & kPatchRandom;
      default: return false;
    }
  }

  bool has_candidates() const {
    for (uint32_t at = MadePage::kBefore; at < MadePage::kPageLimit; at++)
      if (may_be_changed(at)) return true;
    return false;
  }

  uint64_t address_of(int64_t at) const {
    return page_.address + static_cast<uint64_t>(at) - MadePage::kBefore;
  }

  // An offset into the page's bytes, which may lie outside. REQUIRES: is_direct(flow_of(shape)).
  int64_t target_of(uint32_t at, const Shape& shape) const {
    return at + shape.length + branch_displacement(shape, page_.bytes + at);
  }

  bool read(uint32_t at, Shape& shape) const {
    return read_shape(page_.bytes + at, page_.limit - at, shape) && !is_privileged(shape);
  }

  // REQUIRES: shape is a call's.
  bool returns(uint32_t at, const Shape& shape) const {
    if (!is_direct(flow_of(shape))) return true;
    return !takes_return_address(page_, address_of(target_of(at, shape)));
  }

  // An addition that no compiler makes, and what is there where nothing is.
  bool is_zero(uint32_t at) const {
    return page_.bytes[at] == 0 && at + 1 < page_.limit && page_.bytes[at + 1] == 0;
  }

  // Where the instruction has the byte to be changed; 0: it is no site that is wanted.
  uint32_t made_byte(uint32_t at, const Shape& shape) const {
    SiteKind kind;
    uint8_t offset;
    if (!find_made_byte(page_.bytes + at, shape, kind, offset)) return 0;
    return kinds_ & (1u << static_cast<unsigned>(kind)) ? at + offset : 0;
  }

  void take(uint32_t at) {
    if (at < MadePage::kBefore || at >= MadePage::kPageLimit || taken_.has(at)) return;
    WEIR_CHECK(faulting_byte(page_.bytes[at]) != 0);  // invariant 1 of made_code.cc
    taken_.add(at);
    positions_[count_++] = static_cast<uint16_t>(at - MadePage::kBefore);
  }

  uint64_t identity(uint32_t at, const Shape& shape) const {
    return identity_of(address_of(at), page_.bytes + at, shape.length);
  }

  void recall() {
    for (uint32_t wanted = MadePage::kBefore; wanted < MadePage::kPageLimit; wanted++) {
      if (!may_be_changed(wanted)) continue;
      for (uint32_t back = 0; back <= kPrefixes && back <= wanted - page_.first; back++) {
        const uint32_t at = wanted - back;
        Shape shape;
        if (back > 0 && !is_prefix(page_.bytes[at])) break;
        if (read(at, shape) && made_byte(at, shape) == wanted && *slot_of(identity(at, shape))) {
          prove(at);
          break;
        }
      }
    }
  }

  void push(uint32_t at) {
    if (depth_ < kDepth && !starts_.has(at)) stack_[depth_++] = static_cast<uint16_t>(at);
  }

  void prove(uint32_t entry) {
    follow(entry);
    while (soft_count_ > 0) {
      const uint32_t at = soft_[--soft_count_];
      if (!starts_.has(at) && !code_.has(at) && is_stretch(at)) follow(at);
    }
  }

  // Whether all is likely from there to where no more follows, or to the next call.
  bool is_stretch(uint32_t at) const {
    for (Shape shape; at < MadePage::kPageLimit && !starts_.has(at); at += shape.length) {
      if (code_.has(at) || !read_likely(at, shape)) return false;
      const Flow flow = flow_of(shape);
      if (never_continues(flow) || is_call(flow)) return true;
    }
    return true;
  }

  void follow(uint32_t entry) {
    push(entry);
    while (depth_ > 0) {
      uint32_t at = stack_[--depth_];
      Shape shape;
      while (at < MadePage::kPageLimit && !starts_.has(at) && !is_zero(at) && read(at, shape)) {
        starts_.add(at);
        for (uint32_t i = 0; i < shape.length; i++) code_.add(at + i);
        if (const uint32_t changed = made_byte(at, shape)) {
          take(changed);
          remember(identity(at, shape));
        }
        const Flow flow = flow_of(shape);
        if (is_direct(flow)) {
          const int64_t to = target_of(at, shape);
          if (to >= page_.first && to < MadePage::kPageLimit) push(static_cast<uint32_t>(to));
        }
        at += shape.length;
        if (never_continues(flow)) break;
        if (!is_call(flow)) continue;
        const uint32_t call = at - shape.length;
        if (soft_count_ < kDepth && returns(call, shape))
          soft_[soft_count_++] = static_cast<uint16_t>(at);
        break;
      }
    }
  }

  // An instruction that compilers make, of which the next is followed.
  bool read_likely(uint32_t at, Shape& shape) const {
    if (is_zero(at) || !read(at, shape) || is_unlikely(shape)) return false;
    const Flow flow = flow_of(shape);
    if (flow != Flow::kJump && flow != Flow::kConditional && flow != Flow::kLoop) return true;
    return page_.code.contains(address_of(target_of(at, shape)));
  }

  // Decodes at every offset, and counts from how many the instructions lead there. Where code is,
  // those that begin in the middle of one soon come to its boundaries: there the count is great. So
  // it is where jumps lead that many lead to themselves.
  void weigh_all() {
    if (is_weighed_) return;
    is_weighed_ = true;
    for (uint32_t at = page_.first; at < page_.limit; at++) find_constants(at);
    for (uint32_t at = page_.first; at < page_.limit; at++) decode(at);
    for (int round = 0; round < 2; round++) {
      for (uint32_t at = page_.first; at < page_.limit; at++) {
        g_leading[at] =
            static_cast<uint16_t>(1 + (begins(at) ? kBegins : 0) + (round ? g_named[at] : 0));
      }
      lead();
    }
  }

  // A call that does not return: in it and in the three bytes behind it no other instructions
  // begin. In a table of them whose constants are instructions as good as any, many seem to lead
  // there.
  void find_constants(uint32_t call) {
    constexpr uint32_t kEntry = 8;
    Shape shape;
    if (page_.bytes[call] != 0xe8 || !read(call, shape) || returns(call, shape)) return;
    for (uint32_t at = call + 1; at < call + kEntry && at < page_.limit; at++) constants_.add(at);
  }

  // Where a function may be the first, or the next behind what is proved.
  bool begins(uint32_t at) const {
    constexpr uint32_t kAlignment = 16;
    if (at <= page_.first) return false;
    const uint8_t before = page_.bytes[at - 1];
    const bool is_padding = before == 0 || before == 0x90 || before == 0xcc || before == 0xf4;
    return code_.has(at - 1) || (at % kAlignment == 0 && is_padding);
  }

  void decode(uint32_t at) {
    Shape shape;
    Decoded& decoded = g_decoded[at];
    decoded = {};
    g_named[at] = 0;
    if (constants_.has(at) || !read_likely(at, shape)) return;
    const Flow flow = flow_of(shape);
    decoded.length = shape.length;
    decoded.goes_on = flow == Flow::kStop ? 0 : never_continues(flow) ? kAfterJump : 0xffff;
    if (flow == Flow::kCall && !returns(at, shape)) decoded.goes_on = 0;
    if (!is_direct(flow)) return;
    const int64_t to = target_of(at, shape);
    if (to >= page_.first && to < page_.limit) decoded.target = static_cast<uint16_t>(to);
  }

  void lead() {
    constexpr uint32_t kMost = 60'000, kNames = 20;
    for (uint32_t at = page_.first; at < page_.limit; at++) {
      const Decoded& decoded = g_decoded[at];
      if (!decoded.length) continue;
      if (decoded.target && g_leading[at] >= kMany) g_named[decoded.target] = kNames;
      const uint32_t to = at + decoded.length;
      if (to >= page_.limit) continue;
      const uint32_t add = g_leading[at] < decoded.goes_on ? g_leading[at] : decoded.goes_on;
      g_leading[to] =
          static_cast<uint16_t>(g_leading[to] + add < kMost ? g_leading[to] + add : kMost);
    }
  }

  // Whether the instruction at `start` is one of a run that goes on as compiled code does.
  bool goes_on(uint32_t start) const {
    constexpr uint32_t kEnough = 6;
    uint32_t at = start;
    for (uint32_t i = 0; i < kEnough; i++) {
      Shape shape;
      if (at + kMaxInstructionSize > page_.limit) return i > 0;  // not all of it is known
      if (!read_likely(at, shape)) return false;
      if (never_continues(flow_of(shape))) return true;
      at += shape.length;
    }
    return true;
  }

  // Where an instruction begins of which `wanted` is the byte to be changed; 0: nowhere.
  uint32_t start_of(uint32_t wanted) const {
    for (uint32_t back = 0; back <= kPrefixes && back <= wanted - page_.first; back++) {
      const uint32_t at = wanted - back;
      Shape shape;
      if (back > 0 && !is_prefix(page_.bytes[at])) return 0;
      if (code_.has(at)) return 0;
      if (!read(at, shape) || made_byte(at, shape) != wanted) continue;
      // The prefixes before it belong to it, if they do to anything.
      const bool is_more =
          at > page_.first && is_prefix(page_.bytes[at - 1]) && g_leading[at] <= g_leading[at - 1];
      if (!is_more) return at;
    }
    return 0;
  }

  void weigh(uint32_t wanted) {
    constexpr uint32_t kTimes = 3;
    weigh_all();
    const uint32_t start = start_of(wanted);
    if (!start || constants_.has(start) || !goes_on(start)) return;
    // What else the byte would be part of.
    uint32_t others = 0;
    const uint32_t far =
        start > page_.first + kMaxInstructionSize ? start - kMaxInstructionSize : page_.first;
    for (uint32_t at = far; at < start; at++) {
      if (at + g_decoded[at].length > start && g_leading[at] > others) others = g_leading[at];
    }
    const bool is_boundary = g_leading[start] >= kMany && g_leading[start] > kTimes * others;
    if (is_boundary) take(wanted);
  }

  static constexpr uint32_t kDepth = 1024, kPrefixes = 3;

  const MadePage& page_;
  PatchKinds kinds_;
  uint16_t* positions_;
  uint32_t count_ = 0, depth_ = 0;
  bool is_weighed_ = false;
  Bits starts_{}, code_{}, taken_{}, constants_{};
  uint32_t soft_count_ = 0;
  uint16_t stack_[kDepth], soft_[kDepth];
};

}  // namespace

uint32_t find_made_sites(const MadePage& page, uint32_t entry, PatchKinds kinds,
                         uint16_t* positions) {
  return Look(page, kinds, positions).run(entry);
}

bool read_made_site(const uint8_t* code, size_t available, uint64_t address, Site& site) {
  uint8_t bytes[kMaxInstructionSize];
  const size_t size = available < kMaxInstructionSize ? available : kMaxInstructionSize;
  copy_bytes(bytes, code, size);
  size_t at = 0;
  while (at < size && is_prefix(bytes[at])) at++;
  if (at == size || program_byte(bytes[at]) == bytes[at]) return false;
  bytes[at] = program_byte(bytes[at]);
  Shape shape;
  uint8_t changed = 0;
  if (!read_shape(bytes, size, shape) || !find_made_byte(bytes, shape, site.kind, changed) ||
      changed != at)
    return false;
  remember(identity_of(address, bytes, shape.length));
  site.address = site.window = address;
  site.length = shape.length;
  site.resume = address + shape.length;
  site.window_size = 1;
  switch (site.kind) {
    case SiteKind::kAtomic: return decode_atomic(bytes, shape.length, address, site.atomic);
    case SiteKind::kRandom: return decode_random(shape, site.random);
    default: return true;
  }
}

}  // namespace weir
