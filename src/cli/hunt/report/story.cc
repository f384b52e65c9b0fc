#include "cli/hunt/report/story.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "cli/hunt/run/heap_words.h"
#include "cli/races/report.h"
#include "cli/sources/source_text.h"
#include "cli/symbols/modules.h"
#include "cli/symbols/stack_walk.h"
#include "cli/symbols/variables.h"
#include "recording/bytes.h"

namespace weir::cli::hunt {
namespace {

constexpr uint64_t kPage = 4096;

// The executable mapping of a module in which `place` lies, as the kernel has made it.
bool mapping_of(const Place& place, Mapping& mapping) {
  const recording::File file = recording::File::reading(place.module);
  const std::string bytes = file.is_open() ? file.read(0, 64 << 10) : "";
  Elf64_Ehdr header;
  if (bytes.size() < sizeof header) return false;
  memcpy(&header, bytes.data(), sizeof header);
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return false;
  uint64_t lowest = UINT64_MAX;
  std::vector<Elf64_Phdr> segments;
  for (size_t i = 0; i < header.e_phnum; i++) {
    Elf64_Phdr segment;
    const size_t at = header.e_phoff + i * sizeof segment;
    if (at + sizeof segment > bytes.size()) return false;
    memcpy(&segment, bytes.data() + at, sizeof segment);
    if (segment.p_type != PT_LOAD) continue;
    lowest = std::min<uint64_t>(lowest, segment.p_vaddr & -kPage);
    segments.push_back(segment);
  }
  const uint64_t base = place.address - place.offset;  // where `lowest` lies
  for (const Elf64_Phdr& segment : segments) {
    const uint64_t start = base + (segment.p_vaddr & -kPage) - lowest;
    const uint64_t limit = base + segment.p_vaddr + segment.p_memsz - lowest;
    if (!(segment.p_flags & PF_X) || place.address < start || place.address >= limit) continue;
    mapping = {start, (limit + kPage - 1) & -kPage, segment.p_offset & -kPage, place.module};
    return true;
  }
  return false;
}

class Symbols {
 public:
  Symbols(const Outcome& run, const HeapMisuse& heap) {
    std::map<std::string, Mapping> found;
    const auto add = [&](const Place& place) {
      Mapping mapping;
      if (!place.module.empty() && !found.contains(place.module) && mapping_of(place, mapping))
        found[place.module] = mapping;
    };
    for (const LoggedSwitch& one : run.log.switches) add(one.place);
    for (const Wait& wait : run.log.waits) add(wait.place);
    for (const auto& [number, task] : run.log.named) add(task.start);
    for (const HeapMisuse::Stack& stack : heap.stacks)
      for (const Place& call : stack.calls) add(call);
    std::vector<Mapping> mappings;
    for (const auto& [path, mapping] : found) mappings.push_back(mapping);
    if (!mappings.empty()) modules_.set(mappings);
  }

  // The variable at an address; empty: none is known.
  std::string variable_at(uint64_t address) {
    const std::optional<Variable> found = variables_.static_at(address);
    if (!found) return "";
    return found->whole.empty() ? found->name : found->whole;
  }

  const Frames& at(const Place& place) {
    const auto known = known_.find(place.address);
    if (known != known_.end()) return known->second;
    Frames frames;
    if (place.address && !place.module.empty()) frames = walk_.at(place.address);
    if (frames.empty() || frames.front().module.empty()) {
      Frame frame;
      frame.address = place.address;
      frame.module = place.module;
      frame.offset = place.offset;
      frames = {frame};
    }
    return known_[place.address] = std::move(frames);
  }

 private:
  Modules modules_{true};
  StackWalk walk_{modules_};
  Variables variables_{modules_};
  std::map<uint64_t, Frames> known_;
};

// The C library's own sources are nobody's here, whatever debug information says of them.
bool is_systems(const Frame& frame) {
  return is_of_system(frame.module) || frame.file.starts_with("/usr/");
}

bool is_runtimes(const Frame& frame) { return frame.module.ends_with("/libweir.so"); }

std::string trimmed(const std::string& line) {
  const size_t start = line.find_first_not_of(" \t");
  if (start == std::string::npos) return "";
  return line.substr(start, line.find_last_not_of(" \t\r\n") - start + 1);
}

std::string name_of_task(const Outcome& run, uint32_t number, Symbols& symbols) {
  if (number == 0) return "the main thread";
  const auto known = run.log.named.find(number);
  if (known == run.log.named.end()) return fmt::format("thread T{}", number);
  std::string name = known->second.name;
  if (name.empty() && known->second.start.address)
    name = symbols.at(known->second.start).back().function;
  if (const size_t bracket = name.find('('); bracket != std::string::npos) name.resize(bracket);
  return name.empty() ? fmt::format("thread T{}", number)
                      : fmt::format("thread T{} ({})", number, name);
}

// Where the task leaves the turn next in the run that has not this switch.
std::string instead_of_switch(const Switch& one, const Outcome& without, Symbols& symbols) {
  for (const LoggedSwitch& other : without.log.switches) {
    if (other.at.task != one.task || other.at.events < one.events ||
        (other.at.events == one.events && other.at.instructions < one.instructions))
      continue;
    const Frame frame = shown_of(symbols.at(other.place));
    const std::string where = place_words(frame);
    if (other.reason == "end") return "it goes on to its end";
    if (other.reason == "block") return fmt::format("it goes on until it waits, at {}", where);
    if (other.reason == "yield") return fmt::format("it goes on until it yields, at {}", where);
    if (other.reason == "forced") return fmt::format("it goes on for very long, to {}", where);
    return fmt::format("it goes on to {}", where);
  }
  return "it goes on to its end";
}

}  // namespace

Frame shown_of(const Frames& frames) {
  const auto own = std::ranges::find_if(
      frames, [](const Frame& frame) { return !frame.file.empty() && !is_systems(frame); });
  if (own != frames.end()) return *own;
  Frame frame = frames.front();
  if (!is_systems(frame)) return frame;
  frame = frames.back();  // not the function that was inlined into it
  frame.file.clear();
  frame.line = frame.column = 0;
  return frame;
}

std::vector<const ToldSwitch*> Story::chosen() const {
  std::vector<const ToldSwitch*> all;
  for (const ToldSwitch& one : switches) {
    if (one.is_chosen) all.push_back(&one);
  }
  return all;
}

std::string stop_words(const ToldSwitch& one) {
  const char* verb = one.logged.reason == "block"   ? "waits"
                     : one.logged.reason == "end"   ? "has ended"
                     : one.logged.reason == "yield" ? "yields"
                                                    : "stops";
  if (one.logged.reason == "end") return verb;
  std::string text = fmt::format("{} at {}", verb, place_words(one.shown));
  if (one.shown.function.empty()) return text;
  const std::string& name = one.shown.function;
  return text + fmt::format(" in {}{}", name, name.ends_with(')') ? "" : "()");
}

Story told(const Outcome& failing, const Switches& list, const std::vector<Outcome>& without) {
  const HeapMisuse heap = heap_misuse_in(failing.words);
  Symbols symbols(failing, heap);
  Story story;
  std::set<uint32_t> numbers;
  std::set<Switch> chosen(list.begin(), list.end());
  std::map<Switch, std::string> instead;
  for (size_t i = 0; i < std::min(list.size(), without.size()); i++)
    instead[list[i]] = instead_of_switch(list[i], without[i], symbols);
  for (const LoggedSwitch& logged : failing.log.switches) {
    ToldSwitch one;
    one.logged = logged;
    one.task = name_of_task(failing, logged.at.task, symbols);
    one.to = name_of_task(failing, logged.at.to, symbols);
    one.at = symbols.at(logged.place);
    one.shown = shown_of(one.at);
    if (!one.shown.file.empty()) one.source = trimmed(source_line(one.shown.file, one.shown.line));
    one.is_chosen = chosen.contains(logged.at);
    if (one.is_chosen) one.instead = instead[logged.at];
    numbers.insert(logged.at.task);
    numbers.insert(logged.at.to);
    story.switches.push_back(std::move(one));
  }
  for (const Wait& wait : failing.log.waits) {
    ToldWait one;
    one.wait = wait;
    one.task = name_of_task(failing, wait.task, symbols);
    if (wait.has_holder) one.holder = name_of_task(failing, wait.holder, symbols);
    one.at = shown_of(symbols.at(wait.place));
    one.variable = symbols.variable_at(wait.address);
    numbers.insert(wait.task);
    story.waits.push_back(std::move(one));
  }
  for (const HeapMisuse::Stack& stack : heap.stacks) {
    ToldStack one;
    one.title = stack.title;
    for (const Place& call : stack.calls)
      for (const Frame& frame : symbols.at(call)) one.calls.push_back(frame);
    // Of the runtime the function that the program has called is enough.
    while (one.calls.size() > 1 && is_runtimes(one.calls[0]) && is_runtimes(one.calls[1]))
      one.calls.erase(one.calls.begin());
    // Below the program's first function stands what has called it.
    while (one.calls.size() > 1 && (is_systems(one.calls.back()) || one.calls.back().file.empty()))
      one.calls.pop_back();
    story.heap.push_back(std::move(one));
  }
  for (const uint32_t number : numbers) {
    story.numbers.push_back(number);
    story.tasks.push_back(name_of_task(failing, number, symbols));
  }
  return story;
}

}  // namespace weir::cli::hunt
