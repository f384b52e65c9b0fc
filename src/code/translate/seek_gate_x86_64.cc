#include "code/translate/seek_gate.h"

#include "code/translate/code_x86_64.h"
#include "code/translate/seek.h"
#include "sys/report.h"

namespace weir::translate {
namespace {

// sum = 9 * sum + register, for one register after the other, rcx first: no two of those that
// change together in a loop cancel each other out.
uint64_t sum_of(const uint64_t (&general)[16]) {
  uint64_t sum = general[kRcx];
  for (unsigned i = 0; i < 16; i++) {
    if (i != kRcx) sum = sum * 9 + general[i];
  }
  return sum;
}

// lea (%rcx,%reg),%rcx
void put_add(Code& code, unsigned reg) {
  if (reg == kRsp) {
    code.put({0x48, 0x8d, 0x0c, 0x0c});
  } else {
    code.put({static_cast<uint8_t>(reg >= 8 ? 0x4a : 0x48), 0x8d, 0x0c,
              static_cast<uint8_t>((reg & 7) << 3 | 1)});
  }
}

// The same in rcx. No flag is written.
void put_sum(Code& code) {
  for (unsigned i = 0; i < 16; i++) {
    if (i == kRcx) continue;
    code.put({0x48, 0x8d, 0x0c, 0xc9});  // lea (%rcx,%rcx,8),%rcx
    put_add(code, i);
  }
}

// Loads rcx from (%rdx), so many bytes, and zeros.
void put_load(Code& code, unsigned size) {
  switch (size) {
    case 1: return code.put({0x0f, 0xb6, 0x0a});
    case 2: return code.put({0x0f, 0xb7, 0x0a});
    case 4: return code.put({0x8b, 0x0a});
    default: return code.put({0x48, 0x8b, 0x0a});
  }
}

// movq %xmm,%rcx
void put_load_vector(Code& code, unsigned vector) {
  code.put({0x66, static_cast<uint8_t>(vector >= 8 ? 0x4c : 0x48), 0x0f, 0x7e,
            static_cast<uint8_t>(0xc1 | (vector & 7) << 3)});
}

// Goes on where rcx is `value`. Answers the offset of the displacement of the jump that is taken
// otherwise. Changes rdx.
uint32_t put_comparison(Code& code, uint64_t value) {
  code.put({0x48, 0xba});
  code.put64(-value);
  code.put({0x48, 0x8d, 0x0c, 0x11});  // lea (%rcx,%rdx),%rcx
  code.put({0xe3, 0x05, 0xe9});        // jrcxz over jmp
  code.put32(0);
  return code.size() - 4;
}

// Goes on where the register is `value`, which lies at kValue. Answers as put_comparison(). Changes
// the flags and nothing else.
constexpr uint32_t kValue = kGateSize - sizeof(uint64_t);
uint32_t put_plain_comparison(Code& code, unsigned reg, uint64_t value) {
  constexpr uint64_t kAt = kCountCode + kGate + kValue;
  *reinterpret_cast<uint64_t*>(kAt) = value;
  code.put({static_cast<uint8_t>(reg >= 8 ? 0x4c : 0x48), 0x3b,
            static_cast<uint8_t>(0x05 | (reg & 7) << 3)});  // cmp value(%rip),%reg
  code.put_relative(kAt);
  code.put({0x0f, 0x85});  // jne
  code.put32(0);
  return code.size() - 4;
}

Code code_of_gate() {
  return Code(reinterpret_cast<uint8_t*>(kCountCode + kGate), kCountCode + kGate, nullptr);
}

}  // namespace

void write_seek_gate(uint64_t block, const Wanted* wanted) {
  Code code = code_of_gate();
  if (wanted && wanted->passes < Wanted::kPassesSeen) {
    code.put_enter(static_cast<uint32_t>(kAtSeekGate));
    return;
  }
  if (wanted) {
    uint32_t
        misses[ExecutionPoint::kWords + 2];  // the first, and all that come with rcx and rdx in use
    unsigned count = 0, with_rcx = 0, with_both = 0;
    const bool is_general = wanted->first < Wanted::kVector;
    if (is_general && wanted->flags_are_dead) {
      misses[count++] =
          put_plain_comparison(code, wanted->first, wanted->point.general[wanted->first]);
      with_rcx = with_both = 1;
    }
    code.save(kRcx, kSavedRcx);
    if (is_general && !wanted->flags_are_dead) {
      code.put({0x48, 0xb9});
      code.put64(-wanted->point.general[wanted->first]);
      put_add(code, wanted->first);
      code.put({0xe3, 0x05, 0xe9});  // jrcxz over jmp
      code.put32(0);
      misses[count++] = code.size() - 4;
      with_both = 1;
      code.load(kRcx, kSavedRcx);
    }
    code.save(kRdx, kSavedRdx);
    if (!is_general && wanted->first != Wanted::kNone) {
      const unsigned vector = wanted->first - Wanted::kVector;
      put_load_vector(code, vector);
      misses[count++] = put_comparison(code, wanted->point.vector[vector]);
    }
    for (unsigned i = 0; i < ExecutionPoint::kWords && wanted->seen_at[i]; i++) {
      code.put({0x48, 0xba});
      code.put64(wanted->seen_at[i]);
      put_load(code, wanted->point.size[i]);
      misses[count++] = put_comparison(code, wanted->point.word[i]);
    }
    code.load(kRcx, kSavedRcx);
    code.load(kRdx, kSavedRdx);
    put_sum(code);
    misses[count++] = put_comparison(code, sum_of(wanted->point.general));
    code.load(kRcx, kSavedRcx);
    code.load(kRdx, kSavedRdx);
    code.put_enter(static_cast<uint32_t>(kAtSeekGate));
    for (unsigned i = with_both; i < count; i++) code.land(misses[i]);
    code.load(kRdx, kSavedRdx);
    for (unsigned i = with_rcx; i < with_both; i++) code.land(misses[i]);
    code.load(kRcx, kSavedRcx);
    for (unsigned i = 0; i < with_rcx; i++) code.land(misses[i]);
  }
  code.put8(0xe9);
  code.put_relative(block);
  WEIR_CHECK(code.size() <= kValue);
}

void write_way_out(uint64_t address) {
  Code code = code_of_gate();
  code.put({0xff, 0x25, 0, 0, 0, 0});  // jmp *behind(%rip)
  code.put64(address);
}

}  // namespace weir::translate
