// What a checked program has told: one line for each finding, for run.py. usage: dump new FILE | dump show FILE
//
// A line: WHY FAULT CHANGE COUNT | KIND TASK MODULE OFFSET | KIND TASK MODULE OFFSET | OBJECT SIZE POLICY; of the sides the one at which it was found
// is the first. OFFSET is that of the instruction, or of the call, in the module's file; a side that is not known is "- - - -".
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "check/findings/findings.h"

using namespace weir::findings;

namespace {

constexpr const char* kFaults[] = {"none",      "held-by-other", "held-already",  "not-held", "fixed",
                                   "not-alone", "lock-not-held", "unordered", "forbidden"};
constexpr const char* kMisuses[] = {"?", "null", "freed", "foreign", "overlaps", "unknown-object", "unbalanced-lock", "too-many", "destroyed-lock",
                                   "locked-again", "locked-destroyed"};
constexpr const char* kChanges[] = {"access",       "acquire-write", "release-write",   "acquire-read",
                                    "release-read", "to-locked",     "to-sticky-read", "to-racy"};
constexpr const char* kPolicies[] = {"none", "untouched", "private", "read-shared", "racy", "inaccessible", "sticky-read", "locked"};

template <size_t N>
const char* name(const char* const (&names)[N], uint32_t at) {
  return at < N ? names[at] : "?";
}

void show(const Findings& f, const Side& side) {
  if (!side.kind) {
    std::printf(" | - - - -");
    return;
  }
  const Context& context = f.context[side.context];
  const uint64_t at = context.rip - (context.is_call ? 1 : 0);
  for (uint32_t i = 0; i < f.modules && i < kMaxModules; i++) {
    const Module& module = f.module[i];
    if (at < module.start || at >= module.limit) continue;
    std::printf(" | %x %u %s %lx", side.kind, side.task, module.path, at - module.start + module.offset);
    return;
  }
  std::printf(" | %x %u ? %lx", side.kind, side.task, at);
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) return 2;
  const bool is_new = std::strcmp(words[1], "new") == 0;
  const int file = open(words[2], O_RDWR | O_CREAT, 0600);
  if (file < 0) return 1;
  if (is_new && (ftruncate(file, 0) || ftruncate(file, kFindingsSize))) return 1;
  void* memory = mmap(nullptr, kFindingsSize, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return 1;
  Findings& f = *static_cast<Findings*>(memory);
  if (is_new) {
    f.magic = kMagic;
    f.version = kVersion;
    return 0;
  }
  for (uint32_t i = 0; i < f.races && i < kMaxRaces; i++) {
    const Race& race = f.race[i];
    const bool is_misuse = race.why == Why::kMisuse, is_policy = race.why == Why::kPolicy;
    std::printf("%s %s %s %lu", is_misuse ? "misuse" : is_policy ? "policy" : "race",
                is_misuse ? name(kMisuses, race.fault) : is_policy ? name(kFaults, race.fault) : "-", name(kChanges, race.change), race.count);
    show(f, race.sides[1]);
    show(f, race.sides[0]);
    std::printf(" | %u %lu %s\n", static_cast<uint32_t>(race.object.kind), race.object.size, name(kPolicies, race.object.policy));
  }
  return f.attached ? 0 : 3;
}
