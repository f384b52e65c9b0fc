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

#include "region/cases.h"

namespace {

using namespace fuzz;

constexpr uint64_t kCasesOfGroup = 1024;  // that share regions, and a process
constexpr unsigned kPatience = 20;        // seconds for a group

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
  make_regions(first / kCasesOfGroup, on_trap);
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
