#include "cli/hunt/run/races.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "cli/races/atomic_proof.h"
#include "cli/races/findings_memory.h"
#include "cli/races/race_reader.h"
#include "cli/symbols/producers.h"

namespace weir::cli::hunt {
namespace {

uint64_t rip_of(const FindingsReader& findings, uint32_t context) {
  const auto found = findings.context(context);
  return found ? found->rip : 0;
}

// The mapped file, as long as it is needed.
class Mapped {
 public:
  explicit Mapped(int descriptor)
      : at_(mmap(nullptr, findings::kFindingsSize, PROT_READ, MAP_SHARED | MAP_NORESERVE,
                 descriptor, 0)) {}
  ~Mapped() {
    if (is_there()) munmap(at_, findings::kFindingsSize);
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  bool is_there() const { return at_ != MAP_FAILED; }
  const findings::Findings& memory() const { return *static_cast<const findings::Findings*>(at_); }

 private:
  void* at_;
};

}  // namespace

std::vector<FoundRace> RaceFinder::read(const findings::Findings& memory) {
  FindingsReader findings(memory);
  std::vector<FoundRace> found;
  std::optional<RaceReader> reader;  // reads debug information: only where there is a new pair
  std::optional<Producers> producers;
  std::optional<AtomicProof> proof;
  for (uint32_t i = 0; i < findings.races(); i++) {
    const std::optional<findings::Race> race = findings.race(i);
    if (!race) continue;
    const findings::Side &first = race->sides[0], &second = race->sides[1];
    const Pair pair{rip_of(findings, first.context), rip_of(findings, second.context), first.kind,
                    second.kind, first.address - second.address};
    if (const auto known = is_none_.find(pair); known != is_none_.end() && known->second) continue;
    if (!reader) {
      reader.emplace(findings, true);
      producers.emplace(reader->modules());
      proof.emplace(
          [&](uint64_t address) { return reader->modules().files_at(address); },
          [&](uint64_t address) { return producers->loads_atomics_by_moves(address); },
          [&](uint64_t address) { return producers->may_load_in_vain(address); },
          [&](uint64_t address) { return producers->fills_undefined(address); },
          [&](uint64_t address) { return reader->modules().may_compare_and_exchange(address); });
    }
    reader->choose_image(race->image);
    bool is_one = false;
    for (ReportedRace& part : reader->read_parts(*race)) {
      const Judgement judgement = proof->judge(part);
      if (!judgement.is_proven && !judgement.is_clear && !is_none_.contains(pair)) unproven_++;
      if (!judgement.is_proven) continue;
      is_one = true;
      part.count = 1;
      FoundRace one{title_words(part), race_text(part), fingerprint_of(part), nullptr};
      one.race = std::make_shared<const ReportedRace>(std::move(part));
      const bool is_there = std::ranges::any_of(
          found, [&](const FoundRace& other) { return other.signature == one.signature; });
      if (!is_there && !is_known_(one)) found.push_back(std::move(one));
    }
    is_none_[pair] = !is_one;
  }
  return found;
}

std::string RaceFinder::unseen() const {
  std::string text;
  if (cut_)
    text += fmt::format(
        "\n  in {} of {} runs races were looked for in a first part only: up to a signal's "
        "handler, "
        "to code that is not translated, or for 8 million instructions",
        cut_, runs_);
  if (unproven_)
    text += fmt::format(
        "\n  {} {} of accesses that nothing orders may be atomic operations, and {} not reported: "
        "their source, or the debug information, does not say",
        unproven_, unproven_ == 1 ? "pair" : "pairs", unproven_ == 1 ? "is" : "are");
  return text;
}

std::vector<FoundRace> RaceFinder::races_in(int descriptor) {
  constexpr size_t kBegin = offsetof(findings::Findings, module);
  alignas(findings::Findings) char begin[kBegin];
  if (pread(descriptor, begin, kBegin, 0) != static_cast<ssize_t>(kBegin)) return {};
  const auto& head = *reinterpret_cast<const findings::Findings*>(begin);
  if (head.magic != findings::kMagic || head.version != findings::kVersion) return {};
  runs_++;
  cut_ += head.untrapped_pages != 0;
  if (head.races == 0) return {};
  const Mapped mapped(descriptor);
  return mapped.is_there() ? read(mapped.memory()) : std::vector<FoundRace>{};
}

}  // namespace weir::cli::hunt
