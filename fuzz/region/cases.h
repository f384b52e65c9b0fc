// Regions, and instructions whose registers point into them.
#pragma once

#include <utility>
#include <vector>

#include "instructions.h"
#include "machine.h"
#include "weir/region.h"

namespace fuzz {

inline uint64_t seed = 1;

inline constexpr int kRegions = 3, kScratch = -1;
inline constexpr int kOpen = PROT_READ | PROT_WRITE;

inline struct Region {
  char* pointer = nullptr;  // registered
  size_t size = 0;
  uint8_t* open = nullptr;  // where it may always be accessed
  std::vector<uint8_t> before, expected;
  int64_t away[3] = {};  // of its window at level none, read: from `open`
} regions[kRegions];
inline std::vector<uint8_t> scratch_before(sizeof scratch), scratch_expected(sizeof scratch);

// A register that holds the address of a place, which is `distance` from a region's start, or from
// the scratch stack.
struct Aim {
  uint8_t reg;
  int region;
  int64_t distance;
};

struct Case {
  uint64_t number = 0;
  Random random{0};
  Made made{};
  State start{};  // but the aims
  std::vector<Aim> aims;
  int levels[kRegions] = {};
  bool raises_to_read = false;

  const Aim* aim_of(unsigned reg) const {
    for (const Aim& aim : aims) {
      if (aim.reg == reg) return &aim;
    }
    return nullptr;
  }
};

inline void make_regions(uint64_t group, weir_region_handler_fn on_trap) {
  // Never touched: bases from which a long way leads into a region lie in the window too.
  Random random{seed * 0x10001 + group};
  for (Region& region : regions) {
    region.size = 4096 + random.below(2 * 4096 + 1);
    if (!weir_region_alloc(region.size, &region.pointer, on_trap)) fail("no region");
    region.open = static_cast<uint8_t*>(weir_region_open(region.pointer));
    for (const int level : {PROT_NONE, PROT_READ}) {
      weir_region_protect(region.open, level);
      region.away[level] = region.pointer - reinterpret_cast<char*>(region.open);
    }
    weir_region_protect(region.open, kOpen);
    region.before.resize(region.size);
    const uint64_t style = random.below(3);
    for (uint8_t& byte : region.before)
      byte = static_cast<uint8_t>(style == 0   ? random.next()
                                  : style == 1 ? random.one_in(300)
                                               : 0x55);
  }
  for (uint8_t& byte : scratch_before) byte = static_cast<uint8_t>(random.next());
}

inline uint64_t address_of(const Aim& aim) {
  const auto start = reinterpret_cast<uint64_t>(
      aim.region == kScratch ? reinterpret_cast<char*>(scratch) : regions[aim.region].pointer);
  return start + static_cast<uint64_t>(aim.distance);
}

inline void put_aims(const Case& c, uint64_t* general) {
  for (const Aim& aim : c.aims) general[aim.reg] = address_of(aim);
}

// The region that holds all these bytes, by addresses at level read-write; kScratch; or kRegions.
inline int place_of(uint64_t address, uint64_t size) {
  const auto holds = [=](const void* start, size_t all) {
    const uint64_t from = address - reinterpret_cast<uint64_t>(start);
    return from < all && size <= all - from;
  };
  for (int i = 0; i < kRegions; i++) {
    if (holds(regions[i].open, regions[i].size)) return i;
  }
  return holds(scratch, sizeof scratch) ? kScratch : kRegions;
}

inline weir::AccessList accesses_of(const Case& c) {
  if (c.made.is_gather || c.made.is_xlat) return {};
  weir::Registers registers;
  memcpy(registers.general, c.start.general, sizeof registers.general);
  for (const Aim& aim : c.aims) registers.general[aim.reg] = address_of(aim);
  registers.rflags = c.start.flags;
  return weir::accesses_of(c.made.decoded, registers, 0, 0);
}

inline size_t random_offset(Case& c, int region, size_t size) {
  const size_t room = regions[region].size - size;
  const size_t offset = c.random.one_in(8) ? room - c.random.below(16) : c.random.below(room);
  return c.random.one_in(2) ? offset & ~size_t{63} : offset;
}

// Values for the registers of one operand so that it lies in a region, or on the stack.
inline bool aim(Case& c, const weir::Operand& operand) {
  const size_t size = operand.size < 1 ? 1 : operand.size;
  uint8_t pointer = operand.base, other = operand.index;
  if (pointer == weir::kNoRegister ||
      (other != weir::kNoRegister && operand.scale == 1 && c.random.one_in(4)))
    std::swap(pointer, other);
  if (pointer == weir::kNoRegister || (other != weir::kNoRegister && c.aim_of(other))) return false;
  if (c.aim_of(pointer)) return true;
  int64_t rest = operand.displacement;
  if (other != weir::kNoRegister) {
    uint64_t& value = c.start.general[other];
    value = c.random.one_in(8) ? static_cast<uint64_t>(static_cast<int32_t>(c.random.next()))
                               : c.random.below(2000) - 1000;
    rest += static_cast<int64_t>(value) * (other == operand.index ? operand.scale : 1);
  }
  if (pointer == weir::kRsp && operand.base == weir::kRsp && c.made.decoded.operand_count > 1 &&
      c.random.one_in(2)) {
    c.aims.push_back({pointer, kScratch, 2048});
    return true;
  }
  const int region = static_cast<int>(c.random.below(kRegions));
  c.aims.push_back({pointer, region, static_cast<int64_t>(random_offset(c, region, size)) - rest});
  return true;
}

// A vector of small indexes, and a base in the middle; xlat's table.
inline bool aim_undescribed(Case& c) {
  const Made& made = c.made;
  const int region = static_cast<int>(c.random.below(kRegions));
  if (made.is_xlat) {
    c.aims.push_back({weir::kRbx, region,
                      static_cast<int64_t>(random_offset(c, region, 1)) -
                          static_cast<int64_t>(c.start.general[weir::kRax] & 0xff)});
    return true;
  }
  uint8_t indexes[64];
  const unsigned lane = made.opcode & 1 ? 8 : 4;
  for (unsigned i = 0; i < 64; i++)
    indexes[i] = i % lane == 0 ? static_cast<uint8_t>(c.random.below(200)) : 0;
  unsigned low, high, size, offset;
  for (unsigned part = 0; part < 4; part++) {
    uint8_t* at = c.start.xmm(made.index);
    if (part > 0) {
      static constexpr unsigned kComponent[] = {0, 2, 6, 6};
      if (!(fuzz_parts >> kComponent[part] & 1)) break;
      __cpuid_count(0xd, kComponent[part], size, offset, low, high);
      at = c.start.vector + offset + (part == 1 ? 16u : 32u) * (made.index & 15u) +
           (part == 3 ? 16 : 0);
    }
    memcpy(at, indexes + 16 * part, 16);
  }
  const size_t reach = 200 * 8 + 64;
  if (made.base == weir::kNoRegister) return false;
  // The displacement of EVEX may be scaled: the decoder does not say, so only a small one is taken.
  if (made.displacement < 0 || made.displacement > 7) return false;
  c.aims.push_back({made.base, region,
                    static_cast<int64_t>(c.random.below(regions[region].size - reach - 512))});
  return true;
}

// False: not a case; another is tried.
inline bool make_case(Case& c) {
  c.aims.clear();
  c.made = {};
  c.made.from = &kTemplates[c.random.below(kTemplateCount)];
  if (!Writer(c.random, c.made).write()) return false;
  const weir::Instruction& decoded = c.made.decoded;
  for (uint64_t& value : c.start.general)
    value = c.random.one_in(2) ? c.random.next() : c.random.below(400) - 200;
  if (c.random.one_in(2)) c.start.general[weir::kRdx] = 0;  // div
  c.start.flags = (c.random.next() & (weir::kStatusFlags | weir::kDirectionFlag)) | 2;
  if (decoded.repeat != weir::Repeat::kNone) c.start.general[weir::kRcx] = c.random.below(60);
  if (decoded.bit_index != weir::kNoRegister)
    c.start.general[decoded.bit_index] = c.random.below(16000) - 8000;
  c.start.fill_vectors([&] { return static_cast<uint8_t>(c.random.next()); });
  if (c.made.is_gather || c.made.is_xlat) {
    if (!aim_undescribed(c)) return false;
  } else {
    for (unsigned i = 0; i < decoded.operand_count; i++) {
      if (!aim(c, decoded.operands[i])) return false;
    }
    const weir::AccessList list = accesses_of(c);
    for (const Aim& aim : c.aims) {  // a pointer into one region by which another is accessed is
                                     // moved with the first
      const int region = place_of(address_of(aim), 1);
      if (region != kRegions && region != aim.region) return false;
    }
    for (size_t i = 0; i < list.count; i++) {
      const int place = list.accesses[i].size > 0
                            ? place_of(list.accesses[i].address, list.accesses[i].size)
                            : kScratch;
      if (place == kRegions ||
          (decoded.bit_index != weir::kNoRegister && place != c.aims[0].region))
        return false;
    }
    if (decoded.bit_index == weir::kRsp ||
        (decoded.bit_index != weir::kNoRegister && c.aim_of(decoded.bit_index)))
      return false;
    if (decoded.repeat != weir::Repeat::kNone && c.aim_of(weir::kRcx)) return false;
  }
  if (!c.aim_of(weir::kRsp))
    c.aims.push_back({weir::kRsp, kScratch, static_cast<int64_t>(2048 + c.random.below(64))});
  for (int& level : c.levels)
    level = c.random.one_in(8) ? kOpen : c.random.one_in(2) ? PROT_NONE : PROT_READ;
  // Where a register is both address and operand the window must be the same: a handler raises to
  // read only where none is.
  bool is_operand = c.aim_of(c.made.reg) || c.aim_of(c.made.second);
  for (const Aim& aim : c.aims)
    is_operand |= (decoded.changed >> aim.reg & 1) && !decoded.is_string && aim.reg != weir::kRsp;
  c.raises_to_read = c.random.one_in(3) && !is_operand && strncmp(c.made.from->kind, "any", 3) != 0;
  // A pointer that the instruction stores, or leaves alone: it is moved too.
  if (strcmp(c.made.from->kind, "mov") == 0 && !c.aim_of(c.made.reg) && c.made.reg != weir::kRsp &&
      c.aims[0].region != kScratch && c.random.one_in(4)) {
    const int region = c.aims[0].region;
    c.aims.push_back(
        {c.made.reg, region, static_cast<int64_t>(c.random.below(regions[region].size))});
  }
  // `cmpxchg` that finds what it expects.
  const auto in_address = [&](uint8_t reg) { return c.made.base == reg || c.made.index == reg; };
  if (strcmp(c.made.from->kind, "cmpxchg") == 0 && c.random.one_in(2) && !in_address(weir::kRax) &&
      !in_address(weir::kRdx)) {
    const weir::Access access = accesses_of(c).accesses[0];
    const int region = place_of(access.address, 16);
    if (region >= 0 && region < kRegions) {
      const size_t offset = access.address - reinterpret_cast<uint64_t>(regions[region].open);
      const size_t half = access.size == 16 ? 8 : access.size == 8 && c.made.opcode == 0xc7 ? 4 : 8;
      c.start.general[weir::kRax] = c.start.general[weir::kRdx] = 0;
      memcpy(&c.start.general[weir::kRax], &regions[region].before[offset], half);
      memcpy(&c.start.general[weir::kRdx], &regions[region].before[offset + half], half);
    }
  }
  return true;
}

}  // namespace fuzz
