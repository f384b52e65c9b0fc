// Whatever instruction traps on a region, with whatever registers point into it: once its handler
// has raised the level, registers, flags and memory are as if the region had been open, and the
// handler was told what was accessed. Random instructions (region/instructions.h) run twice from
// equal registers and memory (region/machine.h): with all regions open, and with levels that trap.
// See fuzz/README.md.
#include "weir/region.h"

#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "region/instructions.h"
#include "region/machine.h"

namespace {

using namespace fuzz;

constexpr int kRegions = 3, kScratch = -1;
constexpr int kOpen = PROT_READ | PROT_WRITE;
constexpr uint64_t kCasesOfGroup = 1024;  // that share regions, and a process
constexpr unsigned kPatience = 20;        // seconds for a group

struct Region {
  char* pointer = nullptr;  // registered
  size_t size = 0;
  uint8_t* open = nullptr;  // where it may always be accessed
  std::vector<uint8_t> before, expected;
  int64_t away[3] = {};  // of its window at level none, read: from `open`
} regions[kRegions];
std::vector<uint8_t> scratch_before(sizeof scratch), scratch_expected(sizeof scratch);

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

struct Told {
  weir_region_trap trap;
  int region;
};
struct Record {
  Told told[64];
  size_t count = 0;
  const char* wrong = nullptr;
  bool raises_to_read = false;
} record;

uint64_t seed = 1;
bool is_verbose = false;

// Shared: of all processes.
struct Counts {
  uint64_t trapped[kTemplateCount], untrapped[kTemplateCount], signalled[kTemplateCount];
  uint64_t current, failures;
} * counts;
uint64_t most_failures = 10;

void on_trap(weir_region_trap* trap) {
  int number = 0;
  while (number < kRegions && trap->start != regions[number].open) number++;
  if (number == kRegions || trap->size != regions[number].size)
    record.wrong = "the handler is told of no region";
  if (trap->access == 0 || (trap->level == PROT_READ && !(trap->access & PROT_WRITE)) ||
      trap->level == kOpen)
    record.wrong = "the handler is told of an access that the level allows";
  if (record.count == sizeof record.told / sizeof *record.told) {
    record.wrong = "the handler is called again and again";
    return;  // not raised: it ends
  }
  record.told[record.count++] = {*trap, number};
  weir_region_protect(trap->start,
                      record.raises_to_read && !(trap->access & PROT_WRITE) ? PROT_READ : kOpen);
}

void make_regions(uint64_t group) {
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

uint64_t address_of(const Aim& aim) {
  const auto start = reinterpret_cast<uint64_t>(
      aim.region == kScratch ? reinterpret_cast<char*>(scratch) : regions[aim.region].pointer);
  return start + static_cast<uint64_t>(aim.distance);
}

void put_aims(const Case& c, uint64_t* general) {
  for (const Aim& aim : c.aims) general[aim.reg] = address_of(aim);
}

// The region that holds all these bytes, by addresses at level read-write; kScratch; or kRegions.
int place_of(uint64_t address, uint64_t size) {
  const auto holds = [=](const void* start, size_t all) {
    const uint64_t from = address - reinterpret_cast<uint64_t>(start);
    return from < all && size <= all - from;
  };
  for (int i = 0; i < kRegions; i++) {
    if (holds(regions[i].open, regions[i].size)) return i;
  }
  return holds(scratch, sizeof scratch) ? kScratch : kRegions;
}

weir::AccessList accesses_of(const Case& c) {
  if (c.made.is_gather || c.made.is_xlat) return {};
  weir::Registers registers;
  memcpy(registers.general, c.start.general, sizeof registers.general);
  for (const Aim& aim : c.aims) registers.general[aim.reg] = address_of(aim);
  registers.rflags = c.start.flags;
  return weir::accesses_of(c.made.decoded, registers, 0, 0);
}

size_t random_offset(Case& c, int region, size_t size) {
  const size_t room = regions[region].size - size;
  const size_t offset = c.random.one_in(8) ? room - c.random.below(16) : c.random.below(room);
  return c.random.one_in(2) ? offset & ~size_t{63} : offset;
}

// Values for the registers of one operand so that it lies in a region, or on the stack.
bool aim(Case& c, const weir::Operand& operand) {
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
bool aim_undescribed(Case& c) {
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
bool make_case(Case& c) {
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

void print_case(const Case& c, const char* what) {
  fprintf(stderr, "\nfuzz: --seed %lu --case %lu: %s\n  %s:", seed, c.number, what,
          c.made.from->kind);
  for (size_t i = 0; i < c.made.length; i++) fprintf(stderr, " %02x", c.made.code[i]);
  fprintf(stderr, "\n");
  for (const Aim& aim : c.aims)
    fprintf(stderr, "  register %u: region %d %+ld\n", aim.reg, aim.region, aim.distance);
  for (int i = 0; i < kRegions; i++) {
    fprintf(stderr, "  region %d: %zu bytes, open at %p, level %d\n", i, regions[i].size,
            static_cast<void*>(regions[i].open), c.levels[i]);
  }
  for (size_t i = 0; i < record.count; i++) {
    const weir_region_trap& trap = record.told[i].trap;
    fprintf(stderr, "  told: region %d at %+ld, %zu bytes, access %d at level %d\n",
            record.told[i].region,
            static_cast<uint8_t*>(trap.address) - static_cast<uint8_t*>(trap.start),
            trap.access_size, trap.access, trap.level);
  }
}

std::string difference(const Case& c, const State& expected, const State& found) {
  for (unsigned reg = 0; reg < 16; reg++) {
    const uint64_t a = expected.general[reg], b = found.general[reg];
    if (a == b || weir_region_open(reinterpret_cast<void*>(a)) ==
                      weir_region_open(reinterpret_cast<void*>(b)))
      continue;
    const Aim* aim = c.aim_of(reg);  // a base that lies outside, with a displacement that leads in
    const auto moved = static_cast<int64_t>(b - a);
    if (aim && aim->region != kScratch &&
        (moved == regions[aim->region].away[PROT_NONE] ||
         moved == regions[aim->region].away[PROT_READ]))
      continue;
    char text[100];
    snprintf(text, sizeof text, "register %u is %#lx and not %#lx", reg, b, a);
    return text;
  }
  if ((expected.flags ^ found.flags) & (weir::kStatusFlags | weir::kDirectionFlag))
    return "other flags";
  const auto same = [&](unsigned from, unsigned to) {
    return memcmp(expected.vector + from, found.vector + from, to - from) == 0;
  };
  if (!same(0, 5) || !same(24, 28)) return "other state of the floating point units";
  for (unsigned i = 0; i < 8; i++) {
    if (!same(32 + 16 * i, 32 + 16 * i + 10)) return "another x87 register";
  }
  if (!same(160, 416)) return "another vector register";
  for (const unsigned part : {2, 5, 6, 7}) {
    unsigned size, offset, c1, d1;
    __cpuid_count(0xd, part, size, offset, c1, d1);
    if ((fuzz_parts >> part & 1) && !same(offset, offset + size))
      return "another upper part of a vector register, or mask";
  }
  return "";
}

std::string memory_difference() {
  for (const Region& region : regions) {
    if (memcmp(region.open, region.expected.data(), region.size) == 0) continue;
    size_t at = 0;
    while (region.open[at] == region.expected[at]) at++;
    return "region " + std::to_string(&region - regions) + " differs from byte " +
           std::to_string(at);
  }
  return memcmp(scratch, scratch_expected.data(), sizeof scratch) == 0 ? "" : "the stack differs";
}

// `list`: as they would be made where all is open.
std::string wrongly_told(const Case& c, const weir::AccessList& list) {
  if (record.wrong) return record.wrong;
  const weir::Instruction& decoded = c.made.decoded;
  const bool is_known = !c.made.is_gather && !c.made.is_xlat;
  const bool is_prefetch =
      c.made.map == 1 &&
      (c.made.opcode == 0x0d ||
       (c.made.opcode >= 0x18 && c.made.opcode <= 0x1f));  // or nothing, by the processor
  for (int i = 0; i < kRegions && decoded.repeat == weir::Repeat::kNone && !c.made.is_gather; i++) {
    bool opened_to_read = false;  // and so to write, untold
    for (size_t k = 0; k < record.count; k++)
      opened_to_read |= decoded.operand_count > 1 && record.told[k].region == i &&
                        record.told[k].trap.access == PROT_READ;
    if (c.levels[i] == kOpen || opened_to_read) continue;
    for (size_t at = 0; at < regions[i].size; at++) {
      if (regions[i].open[at] == regions[i].before[at]) continue;
      bool covered = false;
      for (size_t k = 0; k < record.count; k++) {
        const weir_region_trap& trap = record.told[k].trap;
        covered |= (trap.access & PROT_WRITE) &&
                   static_cast<size_t>(regions[i].open + at - static_cast<uint8_t*>(trap.address)) <
                       trap.access_size;
      }
      if (!covered)
        return "changed, but not told: byte " + std::to_string(at) + " of region " +
               std::to_string(i);
    }
  }
  for (size_t i = 0; i < list.count && !is_prefetch; i++) {
    const weir::Access& access = list.accesses[i];
    const int region = access.size > 0 ? place_of(access.address, access.size) : kScratch;
    const int needed = (access.read ? PROT_READ : 0) | (access.written ? PROT_WRITE : 0);
    if (region == kScratch || !access.exact || (c.levels[region] & needed) == needed) continue;
    bool told = false;
    for (size_t k = 0; k < record.count; k++) told |= record.told[k].region == region;
    if (!told) return "no handler was called for region " + std::to_string(region);
  }
  for (size_t k = 0; k < record.count && is_known; k++) {
    bool found = false;
    const auto from = reinterpret_cast<uint64_t>(record.told[k].trap.address);
    for (size_t i = 0; i < list.count; i++)
      found |= from - list.accesses[i].address < list.accesses[i].size;
    if (!found) return "told of an access elsewhere";
  }
  if (!is_known && c.levels[c.aims[0].region] == PROT_NONE && c.made.is_xlat && record.count == 0)
    return "no handler was called";
  return "";
}

void restore_memory() {
  for (Region& region : regions) memcpy(region.open, region.before.data(), region.size);
  memcpy(scratch, scratch_before.data(), sizeof scratch);
}

void keep_memory() {
  for (Region& region : regions) region.expected.assign(region.open, region.open + region.size);
  memcpy(scratch_expected.data(), scratch, sizeof scratch);
}

const Case* running;

void on_alarm(int) {
  print_case(*running, "it does not end");
  counts->failures++;
  _exit(0);
}

void run_case(Case& c) {
  running = &c;
  if (is_verbose) print_case(c, "runs");
  static State open, closed;
  record.count = 0;
  record.wrong = nullptr;
  record.raises_to_read = c.raises_to_read;
  restore_memory();
  memcpy(&open, &c.start, sizeof open);
  put_aims(c, open.general);
  const weir::AccessList accesses = accesses_of(c);
  const int open_signal = run(c.made.code, c.made.length, open);
  std::string wrong = record.count > 0 ? "a trap in an open region" : "";
  keep_memory();

  restore_memory();
  for (int i = 0; i < kRegions; i++) weir_region_protect(regions[i].open, c.levels[i]);
  memcpy(&closed, &c.start, sizeof closed);
  put_aims(c, closed.general);
  const int closed_signal = run(c.made.code, c.made.length, closed);
  if (wrong.empty() && open_signal != closed_signal)
    wrong =
        "signal " + std::to_string(closed_signal) + ", where open: " + std::to_string(open_signal);
  if (wrong.empty() && open_signal == 0) {
    wrong = memory_difference();
    // What was never moved is in other windows in what it left.
    if (wrong.empty() && record.count > 0) wrong = difference(c, open, closed);
    if (wrong.empty()) wrong = wrongly_told(c, accesses);
  }
  for (int i = 0; i < kRegions; i++) {
    weir_region_protect(regions[i].open, kOpen);
    if (reinterpret_cast<uint8_t*>(regions[i].pointer) != regions[i].open && wrong.empty())
      wrong = "a pointer has not come back";
  }
  (open_signal        ? counts->signalled
   : record.count > 0 ? counts->trapped
                      : counts->untrapped)[c.made.from - kTemplates]++;
  if (wrong.empty()) return;
  print_case(c, wrong.c_str());
  counts->failures++;
}

// All of a group, or as many cases as are left.
void run_group(uint64_t first, uint64_t cases) {
  static Case c;
  struct sigaction action = {};
  action.sa_handler = on_alarm;
  action.sa_flags = SA_ONSTACK;  // rsp may point into a region
  sigaction(SIGALRM, &action, nullptr);
  alarm(kPatience);
  prepare();
  make_regions(first / kCasesOfGroup);
  for (uint64_t number = first; number < first + cases && counts->failures < most_failures;
       number++) {
    counts->current = c.number = number;
    c.random = {seed * 0x9e3779b97f4a7c15 + number};
    c.random.next();
    do {
    } while (!make_case(c));
    run_case(c);
  }
}

void run_in_child(uint64_t first, uint64_t cases) {
  fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    run_group(first, cases);
    _exit(0);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) fail("no process");
  if (status == 0) return;
  const bool by_signal = WIFSIGNALED(status);
  fprintf(stderr, "\nfuzz: --seed %lu --case %lu: %s %d\n", seed, counts->current,
          by_signal ? "ended by signal" : "status",
          by_signal ? WTERMSIG(status) : WEXITSTATUS(status));
  counts->failures++;
}

void print_counts(bool verbose, uint64_t cases) {
  std::map<std::string, std::array<uint64_t, 3>> kinds;
  uint64_t all[3] = {};
  for (size_t i = 0; i < kTemplateCount; i++) {
    const uint64_t these[] = {counts->trapped[i], counts->untrapped[i], counts->signalled[i]};
    for (size_t k = 0; k < 3; k++) {
      kinds[kTemplates[i].kind][k] += these[k];
      all[k] += these[k];
    }
  }
  if (verbose) printf("%-28s %9s %9s %9s\n", "kind", "trapped", "did not", "signal");
  for (const auto& [kind, these] : kinds) {
    if (verbose) printf("%-28s %9lu %9lu %9lu\n", kind.c_str(), these[0], these[1], these[2]);
  }
  printf(
      "fuzz: seed %lu, %lu cases: %lu trapped, %lu did not, %lu ended by a signal in both runs; "
      "%lu failed\n",
      seed, cases, all[0], all[1], all[2], counts->failures);
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t cases = 200000, first = 0;
  long seconds = 0;
  bool verbose = false, is_single = false;
  for (int i = 1; i < argc; i++) {
    const std::string option = argv[i];
    const auto value = [&] { return strtoull(++i < argc ? argv[i] : "0", nullptr, 0); };
    if (option == "--cases") cases = value();
    else if (option == "--seed") seed = value();
    else if (option == "--seconds") seconds = static_cast<long>(value());
    else if (option == "--case") first = value(), cases = 1, is_single = true;
    else if (option == "--failures") most_failures = value();
    else if (option == "--verbose") verbose = true;
    else {
      fprintf(stderr,
              "usage: fuzz_region [--cases N] [--seed N] [--seconds S] [--case K] [--failures N] "
              "[--verbose]\n");
      return 2;
    }
  }
  is_verbose = verbose && is_single;
  run_at_fixed_addresses(argv);
  counts = static_cast<Counts*>(
      mmap(nullptr, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (counts == MAP_FAILED) fail("no memory");
  const time_t end = time(nullptr) + seconds;
  uint64_t number = first;
  while (counts->failures < most_failures &&
         (seconds > 0 ? time(nullptr) < end : number < first + cases)) {
    const uint64_t left = seconds > 0 ? kCasesOfGroup : first + cases - number,
                   of_group = kCasesOfGroup - number % kCasesOfGroup;
    run_in_child(number, std::min(left, of_group));
    number += std::min(left, of_group);
  }
  print_counts(verbose, number - first);
  return counts->failures > 0 ? 1 : 0;
}
