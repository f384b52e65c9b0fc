#include "cli/launch/processor_x86_64.h"

#include <cpuid.h>

#include <cstdint>
#include <cstring>

namespace weir::cli {
namespace {

struct Registers {
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Registers ask(uint32_t leaf, uint32_t subleaf = 0) {
  Registers r;
  if (!__get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx)) return {};
  return r;
}

uint64_t pair(uint32_t high, uint32_t low) { return uint64_t{high} << 32 | low; }

constexpr uint32_t kStepping = 0xf, kOsxsave = 1u << 27;

std::string name() {
  char text[49] = {};
  for (uint32_t i = 0; i < 3; i++) {
    const Registers r = ask(0x80000002 + i);
    memcpy(text + 16 * i, &r, sizeof r);
  }
  const std::string all = text;
  const size_t first = all.find_first_not_of(' ');
  return first == std::string::npos ? "a processor without a name"
                                    : all.substr(first, all.find_last_not_of(' ') + 1 - first);
}

uint64_t enabled_state(uint32_t features) {
  if (!(features & kOsxsave)) return 0;
  uint32_t low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return pair(high, low);
}

}  // namespace

recording::Processor this_processor() {
  const Registers vendor = ask(0), base = ask(1), more = ask(7), further = ask(7, 1),
                  state = ask(0xd, 1), extended = ask(0x80000001);
  return {name(),
          {pair(vendor.ebx, vendor.ecx), pair(vendor.edx, base.eax & ~kStepping),
           pair(base.ecx, base.edx), pair(more.ebx, more.ecx), pair(more.edx, further.eax),
           pair(state.eax, extended.ecx), pair(extended.edx, 0), enabled_state(base.ecx)}};
}

}  // namespace weir::cli
