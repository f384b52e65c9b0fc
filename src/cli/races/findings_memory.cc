#include "cli/races/findings_memory.h"

#include <algorithm>
#include <cstring>

#include "sys/futex.h"

namespace weir::cli {
namespace {

using findings::Findings;
using findings::ObjectKind;

uint32_t taken(const uint32_t& count, uint32_t most) {
  return std::min(__atomic_load_n(&count, __ATOMIC_ACQUIRE), most);
}

template <typename T>
bool is_ready(const T& element) {
  return __atomic_load_n(&element.ready, __ATOMIC_ACQUIRE) != 0;
}

// Fields of `room` bytes that need not end with NUL.
std::string text_of(const char* at, size_t room) {
  std::string text(at, strnlen(at, room));
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '?';
  }
  return text;
}

uint32_t in_range(uint32_t index, uint32_t most) { return index < most ? index : 0; }

}  // namespace

uint32_t FindingsReader::races() const { return taken(memory_.races, findings::kMaxRaces); }

uint32_t FindingsReader::lost() const {
  const uint32_t all = __atomic_load_n(&memory_.races, __ATOMIC_ACQUIRE);
  return all - std::min(all, findings::kMaxRaces);
}

std::optional<findings::Race> FindingsReader::race(uint32_t index) const {
  if (index >= races() || !is_ready(memory_.race[index])) return std::nullopt;
  findings::Race race;
  memcpy(&race, &memory_.race[index], sizeof race);
  const auto why = static_cast<uint32_t>(race.why);
  if (why < 1 || why > static_cast<uint32_t>(findings::Why::kHazard))
    race.why = findings::Why::kUnordered;
  if (static_cast<uint32_t>(race.object.kind) >
      static_cast<uint32_t>(findings::ObjectKind::kMapping)) {
    race.object.kind = findings::ObjectKind::kUnknown;
  }
  race.object.context = in_range(race.object.context, findings::kMaxContexts);
  for (findings::Side& side : race.sides)
    side.context = in_range(side.context, findings::kMaxContexts);
  return race;
}

uint64_t FindingsReader::count(uint32_t index) const {
  return index < findings::kMaxRaces ? __atomic_load_n(&memory_.race[index].count, __ATOMIC_RELAXED)
                                     : 0;
}

std::unique_ptr<findings::Context> FindingsReader::context(uint32_t index) const {
  if (index == findings::kNoContext || index >= findings::kMaxContexts) return nullptr;
  auto context = std::make_unique<findings::Context>();
  memcpy(context.get(), &memory_.context[index], sizeof *context);
  if (context->rip == 0) return nullptr;
  context->stack_bytes = std::min<uint32_t>(context->stack_bytes, sizeof context->stack);
  return context;
}

std::optional<KnownTask> FindingsReader::task(uint32_t number) const {
  if (number >= findings::kMaxTasks || !is_ready(memory_.task[number])) return std::nullopt;
  const findings::TaskInfo& task = memory_.task[number];
  return KnownTask{task.tid, task.creator, in_range(task.context, findings::kMaxContexts),
                   task.start, text_of(task.name, sizeof task.name)};
}

std::vector<findings::Cell> FindingsReader::cells() const {
  std::vector<findings::Cell> all;
  const auto mend = [](findings::OwnershipPhase& phase) {
    if (phase.kind > findings::kShared) phase.kind = findings::kNoPhase;
    phase.lock_count = std::min(phase.lock_count, findings::kMaxCandidates);
    phase.reader_count = std::min(phase.reader_count, findings::kMaxReaders);
    phase.first = in_range(phase.first, findings::kMaxContexts);
    phase.last = in_range(phase.last, findings::kMaxContexts);
    for (auto& reader : phase.readers)
      reader.first = in_range(reader.first, findings::kMaxContexts),
      reader.last = in_range(reader.last, findings::kMaxContexts);
  };
  if (__atomic_load_n(&memory_.cells, __ATOMIC_ACQUIRE) == 0) return all;
  for (const findings::Cell& there : memory_.cell) {
    if (__atomic_load_n(&there.ready, __ATOMIC_ACQUIRE) != 2) continue;
    findings::Cell& cell = all.emplace_back();
    memcpy(&cell, &there, sizeof cell);
    if (static_cast<uint32_t>(cell.kind) > static_cast<uint32_t>(ObjectKind::kMapping))
      cell.kind = ObjectKind::kUnknown;
    cell.context = in_range(cell.context, findings::kMaxContexts);
    cell.phase_count = std::min(cell.phase_count, findings::kMaxPhases);
    for (findings::OwnershipPhase& phase : cell.phases) mend(phase);
    mend(cell.now);
  }
  return all;
}

uint32_t FindingsReader::lost_cells() const {
  const uint32_t all = __atomic_load_n(&memory_.cells, __ATOMIC_ACQUIRE),
                 kept = static_cast<uint32_t>(cells().size());
  return all - std::min(all, kept);
}

Coverage FindingsReader::coverage() const {
  return {__atomic_load_n(&memory_.accesses, __ATOMIC_RELAXED),
          __atomic_load_n(&memory_.shared_pages, __ATOMIC_RELAXED),
          __atomic_load_n(&memory_.unchecked_pages, __ATOMIC_RELAXED)};
}

void FindingsReader::want_no_more_by_memory() const {
  // The memory is the command's, which only reads all else of it.
  __atomic_store_n(&const_cast<findings::Findings&>(memory_).tells_by_memory,
                   findings::kTellsNoMore, __ATOMIC_RELAXED);
}

std::map<std::string, uint64_t> FindingsReader::unwatched() const {
  std::map<std::string, uint64_t> all;
  for (const findings::UnwatchedMemory& there : memory_.unwatched) {
    if (!__atomic_load_n(&there.ready, __ATOMIC_ACQUIRE)) continue;
    std::string name(there.name, strnlen(there.name, sizeof there.name));
    if (name.empty() || name.starts_with("/dev/zero") || name.starts_with("/memfd:weir-shared"))
      name = "anonymous";
    uint64_t& size = all[name];
    size = std::max(size, there.size);
  }
  return all;
}

std::vector<findings::Side> FindingsReader::more_sides(const findings::Race& race) const {
  std::vector<findings::Side> all;
  if (race.why != findings::Why::kHazard || !race.more || race.more > findings::kMaxMore)
    return all;
  findings::MoreSides sides;
  memcpy(&sides, &memory_.more[race.more - 1], sizeof sides);
  for (uint32_t i = 0; i < std::min(sides.count, findings::kMaxMoreSides); i++) {
    sides.sides[i].context = in_range(sides.sides[i].context, findings::kMaxContexts);
    all.push_back(sides.sides[i]);
  }
  return all;
}

std::vector<UncheckedProgram> FindingsReader::unchecked() const {
  std::vector<UncheckedProgram> all;
  const findings::Programs& programs = memory_.programs;
  const auto add = [&](const char* name, size_t room, const std::string& why) {
    UncheckedProgram one{text_of(name, room), why};
    if (std::ranges::find(all, one) == all.end()) all.push_back(std::move(one));
  };
  for (const findings::OutsideProgram& program : programs.outsider) {
    if (is_ready(program))
      add(program.name, sizeof program.name, "it is " + text_of(program.why, sizeof program.why));
  }
  for (const findings::Executed& program : programs.executed) {
    if (__atomic_load_n(&program.state, __ATOMIC_ACQUIRE) == findings::Executed::kBegun)
      add(program.name, sizeof program.name, "Weir's library has not come to work in it");
  }
  const uint32_t lost =
      __atomic_load_n(&programs.lost, __ATOMIC_RELAXED) +
      (programs.outside > findings::kMaxOutside ? programs.outside - findings::kMaxOutside : 0);
  if (lost) all.push_back({std::to_string(lost) + " more", "there was no room for their names"});
  return all;
}

std::vector<Mapping> FindingsReader::mappings(uint32_t image) const {
  std::vector<Mapping> all;
  const uint32_t count = taken(memory_.modules, findings::kMaxModules);
  for (uint32_t i = 0; i < count; i++) {
    const findings::Module& module = memory_.module[i];
    if (!is_ready(module) || (image && module.image != image)) continue;
    const Mapping mapping{module.start, module.limit, module.offset,
                          std::string(module.path, strnlen(module.path, sizeof module.path))};
    if (mapping.start < mapping.limit && mapping.path.starts_with("/")) all.push_back(mapping);
  }
  return all;
}

FindingsMemory::FindingsMemory()
    : memory_("weir-findings", findings::kFindingsSize, "for what a check finds") {
  findings().magic = findings::kMagic;
  findings().version = findings::kVersion;
}

void FindingsMemory::take_touched(const FindingsMemory& other) const {
  for (uint32_t i = 0; i < findings::kMaxTouched; i++) {
    if (other.findings().touched[i].key) findings().touched[i] = other.findings().touched[i];
  }
}

void FindingsMemory::sleep(uint32_t seen) const {
  sys::futex_wait(&findings().bell, seen, 100'000'000);
}

}  // namespace weir::cli
