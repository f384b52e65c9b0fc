// The kernel keeps them beside the signal frame in the processor's own format (XSAVE, not
// compacted): 512 bytes that every processor has, a header that tells which components follow and
// are not in their initial state, and the components at places that the processor names. Bytes of a
// component in its initial state are left over from before: not looked at.

#include "code/emulate/vector_state_x86_64.h"

#include <string.h>

#include "base/hash.h"
#include "sys/cpuid_x86_64.h"
#include "sys/signal.h"

namespace weir::trap {

namespace {

constexpr uint64_t kStack87 = 32, kVectors = 160, kVectorsEnd = 416;

uint64_t mix_bytes(uint64_t hash, const char* bytes, uint64_t size) {
  for (uint64_t i = 0; i + 8 <= size; i += 8) {
    uint64_t word;
    memcpy(&word, bytes + i, 8);
    hash = mix(hash ^ word);
    hash ^= hash >> 31;
  }
  return hash;
}

// Components that are not in their initial state, which is zero for registers.
uint64_t present_in(const char* area) {
  uint32_t magic;
  memcpy(&magic, area + sys::kStateSoftware, 4);
  uint64_t present = 3;
  if (magic == sys::kStateMagic) memcpy(&present, area + sys::kStateHeader, 8);
  return present;
}

}  // namespace

LowVectors low_vectors(const ucontext_t& context) {
  LowVectors low{};
  static_assert(sizeof low == kVectorsEnd - kVectors);
  const char* area = reinterpret_cast<const char*>(context.uc_mcontext.fpregs);
  if (area && (present_in(area) & 2)) memcpy(&low, area + kVectors, sizeof low);
  return low;
}

LowVectors low_vectors_now() {
  LowVectors low;
  asm volatile(
      "movaps %%xmm0,0x00(%0)\n movaps %%xmm1,0x10(%0)\n movaps %%xmm2,0x20(%0)\n movaps "
      "%%xmm3,0x30(%0)\n"
      "movaps %%xmm4,0x40(%0)\n movaps %%xmm5,0x50(%0)\n movaps %%xmm6,0x60(%0)\n movaps "
      "%%xmm7,0x70(%0)\n"
      "movaps %%xmm8,0x80(%0)\n movaps %%xmm9,0x90(%0)\n movaps %%xmm10,0xa0(%0)\n movaps "
      "%%xmm11,0xb0(%0)\n"
      "movaps %%xmm12,0xc0(%0)\n movaps %%xmm13,0xd0(%0)\n movaps %%xmm14,0xe0(%0)\n movaps "
      "%%xmm15,0xf0(%0)\n"
      :
      : "r"(&low)
      : "memory");
  return low;
}

namespace {

// Of the components that are present.
uint64_t hash_area(const char* area, uint64_t present) {
  uint64_t hash = 1;
  if (present & 1) hash = mix_bytes(hash, area + kStack87, kVectors - kStack87);
  if (present & 2) hash = mix_bytes(hash, area + kVectors, kVectorsEnd - kVectors);
  for (unsigned component = 2; component < 63; component++) {
    if (!(present >> component & 1)) continue;
    static sys::Cpuid known[63];  // of the processor's: where it lies, and how much it is
    if (!known[component].a) known[component] = sys::cpuid(0xd, component);
    hash = mix_bytes(hash, area + known[component].b, known[component].a);
  }
  return hash;
}

}  // namespace

uint64_t hash_vectors(const ucontext_t& context) {
  const char* area = reinterpret_cast<const char*>(context.uc_mcontext.fpregs);
  return area ? hash_area(area, present_in(area)) : 0;
}

namespace {

// What the system lets programs use of the processor's registers, of what is looked at here.
constexpr uint64_t kX87 = 1, kSse = 2, kAvx = 4, kAvx512 = 0xe0;
constexpr uint64_t kMostState = 2752;  // bytes, of all of these

uint64_t enabled_state() {
  constexpr uint32_t kHasXsave = 1u << 27;
  static uint64_t enabled = 0;
  if (!enabled) {
    uint32_t low = kSse, high = 0;
    if (sys::cpuid(1).c & kHasXsave) asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    enabled = low & (kX87 | kSse | kAvx | kAvx512);
  }
  return enabled;
}

// `area`: kMostState bytes, aligned to 64.
void save_state(char* area, uint64_t enabled) {
  if (enabled == kSse) {
    const LowVectors low = low_vectors_now();
    memcpy(area + kVectors, &low, sizeof low);
  } else {
    memset(area + sys::kStateHeader, 0, 64);  // the instruction leaves parts of it as they were
    asm volatile("xsave64 (%0)" : : "r"(area), "a"(enabled), "d"(0) : "memory");
  }
}

// Where the component lies in that area. In a virtual machine to ask the processor takes long.
uint64_t place_of_component(unsigned component) {
  static uint32_t known[8];
  if (!known[component]) known[component] = sys::cpuid(0xd, component).b;
  return known[component];
}

}  // namespace

uint64_t hash_vectors_now() {
  alignas(64) char area[kMostState];
  const uint64_t enabled = enabled_state();
  save_state(area, enabled);
  return hash_area(area, enabled);
}

bool vector_now(size_t number, uint8_t* to, uint64_t size) {
  constexpr unsigned kUpper = 2, kUpperZmm = 6, kHighZmm = 7;  // components
  alignas(64) char area[kMostState];
  const uint64_t enabled = enabled_state();
  const bool is_high = number >= 16;
  if ((size > 16 && !(enabled & kAvx)) || ((is_high || size > 32) && !(enabled >> kHighZmm & 1)))
    return false;
  memset(area, 0, sizeof area);  // a component in its initial state is not stored
  save_state(area, enabled);
  if (is_high) {
    memcpy(to, area + place_of_component(kHighZmm) + (number - 16) * 64, size);
    return true;
  }
  memcpy(to, area + kVectors + number * 16, 16);
  if (size > 16) memcpy(to + 16, area + place_of_component(kUpper) + number * 16, 16);
  if (size > 32) memcpy(to + 32, area + place_of_component(kUpperZmm) + number * 32, 32);
  return true;
}

}  // namespace weir::trap
