// 1. A stack is unwound by call frame information, through the runtime and the libraries. The first
//    frame that is the program's own is what a user knows: its call is shown, by the name that the
//    program's linkage table has for it. A call by a pointer, and one at the end of a function
//    (a jump), has no such name: then that of the outermost function of the library, if others may
//    call it.
// 2. What is inlined from a header of the C++ library (std::lock_guard's destructor) is the
//    library's, although it lies in the program's file.
// 3. A name that is not certain is not said. The object of a call is known where the runtime was
//    entered by it with that object.
#include "cli/hunt/report/places.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "cli/races/report.h"
#include "cli/sources/source_text.h"
#include "recording/bytes.h"

namespace weir::cli::hunt {
namespace {

constexpr uint64_t kPage = 4096;
constexpr size_t kMostFrom = 2;  // callers of small functions

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

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

std::vector<Mapping> mappings_of(const ScheduleLog& log, const std::vector<Place>& others) {
  std::vector<Mapping> mappings;
  for (const LoggedMapping& one : log.code)
    mappings.push_back({one.start, one.limit, one.offset, one.path});
  if (!mappings.empty()) return mappings;
  std::map<std::string, Mapping> found;
  const auto add = [&](const Place& place) {
    Mapping mapping;
    if (!place.module.empty() && !found.contains(place.module) && mapping_of(place, mapping))
      found[place.module] = mapping;
  };
  for (const LoggedSwitch& one : log.switches) add(one.place);
  for (const Wait& wait : log.waits) add(wait.place);
  for (const auto& [number, task] : log.named) add(task.start);
  for (const Place& place : others) add(place);
  for (const auto& [path, mapping] : found) mappings.push_back(mapping);
  return mappings;
}

bool is_header(const std::string& file) {
  const size_t dot = file.rfind('.');
  return dot != std::string::npos && file.substr(dot).starts_with(".h");
}

std::string trimmed(const std::string& line) {
  const size_t start = line.find_first_not_of(" \t");
  if (start == std::string::npos) return "";
  return line.substr(start, line.find_last_not_of(" \t\r\n") - start + 1);
}

// Others may call it by that name: no function inside a library.
bool is_public(const std::string& name) {
  return !name.empty() && !name.starts_with("weir") && !name.starts_with("_") &&
         name.find("weir::") == std::string::npos;
}

// Calls of which the first argument is the object that the runtime is entered with.
bool has_object(const std::string& call) {
  constexpr const char* kStarts[] = {"pthread_mutex_", "pthread_spin_", "pthread_rwlock_", "sem_",
                                     "mtx_"};
  return std::ranges::any_of(kStarts, [&](const char* start) { return call.starts_with(start); });
}

bool signals_condition(const std::string& call) {
  return call == "pthread_cond_signal" || call == "pthread_cond_broadcast" ||
         call == "cnd_signal" || call == "cnd_broadcast";
}

// The lock or condition itself, not the member of the C library's structure at its address.
std::string without_insides(std::string name) {
  for (const char* inside : {"._M_", ".__data", ".__size", ".__align"}) {
    if (const size_t at = name.find(inside); at != std::string::npos) name.resize(at);
  }
  return name;
}

std::string without_arguments(std::string name) {
  // Not those of operator()(), nor what a template has between < and >.
  int depth = 0;
  for (size_t i = 0; i < name.size(); i++) {
    if (name[i] == '<') depth++;
    if (name[i] == '>' && depth > 0) depth--;
    if (name[i] != '(' || depth > 0 || i == 0) continue;
    if (name.compare(i, 2, "()") == 0 && name.substr(0, i).ends_with("operator")) continue;
    if (name.compare(i, 11, "(anonymous ") == 0) continue;
    name.resize(i);
    break;
  }
  return name;
}

// "std::thread& std::vector<std::thread, ...>::emplace_back<void (&)()>": without what it returns
// and what its templates are made with: "std::vector<...>::emplace_back".
std::string without_templates(const std::string& name) {
  std::string text;
  int depth = 0;
  for (size_t i = 0; i < name.size(); i++) {
    const char c = name[i];
    const bool is_operator = text.ends_with("operator") || text.ends_with("operator<") ||
                             text.ends_with("operator>") || text.ends_with("operator-");
    if (c == '<' && !is_operator && depth++ == 0) text += "<...";
    if (c == '>' && !is_operator && depth > 0) depth--;
    else if (c == ' ' && depth == 0 && !text.ends_with("operator") && !text.ends_with(",")) {
      text.clear();
      continue;
    }
    if (depth == 0) text += c;
  }
  if (text.ends_with("<...>")) text.resize(text.size() - 5);
  return text.empty() ? name : text;
}

// By its demangled name, which may begin with what it returns: "void std::__invoke_impl<...>(...)".
bool is_of_library(const std::string& function) {
  const std::string start = function.substr(0, function.find_first_of("<("));
  const size_t blank = start.rfind(' ');
  const std::string name = blank == std::string::npos ? start : start.substr(blank + 1);
  return name.starts_with("std::") || name.starts_with("__gnu_cxx::");
}

}  // namespace

bool is_of_system(const Frame& frame) {
  const std::string name = base_name(frame.module);
  for (const char* const library :
       {"libc.so", "libc-", "ld-linux", "ld-", "libpthread", "libm.so", "libgomp", "libomp",
        "libstdc++", "libc++", "libgcc", "libweir.so", "librt.so", "libdl.so"}) {
    if (name.starts_with(library)) return true;
  }
  if (frame.file.empty()) return frame.function == "_start" || is_of_library(frame.function);
  return frame.file.starts_with("/usr/include/") || frame.file.starts_with("/usr/lib/");
}

Places::Places(const ScheduleLog& log, const std::vector<Place>& others) : log_(log) {
  const std::vector<Mapping> mappings = mappings_of(log, others);
  if (!mappings.empty()) modules_.set(mappings);
}

Frames Places::frames_at(uint64_t address) {
  const auto known = known_.find(address);
  if (known != known_.end()) return known->second;
  return known_[address] = walk_.at(address);
}

// A stub of the linker is no function of the program's: of no file here, so that it is passed over.
void Places::hide_stub(Frames& frames) {
  if (frames.size() < 2 || !frames.front().function.empty() || !frames.front().file.empty()) return;
  const std::string name = calls_.stub_at(frames.front().address);
  if (name.empty()) return;
  frames.front().function = name;
  frames.front().module.clear();
}

// The frame that is shown, and what it calls. `addresses`: of the frames.
void Places::choose(ToldPlace& told, const std::vector<uint64_t>& addresses) {
  hide_stub(told.frames);
  const auto own = std::ranges::find_if(told.frames, [](const Frame& frame) {
    return !frame.module.empty() && !is_of_system(frame);
  });
  told.is_own = own != told.frames.end();
  if (!told.is_own) {
    told.shown = told.frames.front();
    if (is_of_system(told.shown)) {  // the C library's sources are nobody's here
      const auto last = std::ranges::find_if_not(told.frames, &Frame::is_inlined);
      told.shown = last == told.frames.end() ? told.frames.back() : *last;
      told.shown.file.clear();
      told.shown.line = told.shown.column = 0;
    }
    return;
  }
  told.shown = *own;
  if (!told.shown.file.empty()) {
    has_lines_ = true;
    for (auto at = own; told.from.size() < kMostFrom && (at->is_inlined || is_header(at->file));) {
      at = std::find_if(at + 1, told.frames.end(), [](const Frame& frame) {
        return !frame.module.empty() && !is_of_system(frame);
      });
      if (at == told.frames.end() || at->file.empty()) break;
      told.from.push_back(*at);
    }
    const Frame& last = told.from.empty() ? told.shown : told.from.back();
    told.source = trimmed(source_line(last.file, last.line));
    told.line = last.line;
  }
  if (own == told.frames.begin()) return;
  const Frame& inner = *(own - 1);  // called by it, or inlined into it
  // The innermost frame of the program's file: its call leads into a library.
  const auto caller = std::ranges::find_if(told.frames.begin(), own + 1, [&](const Frame& frame) {
    return frame.module == told.shown.module;
  });
  if (inner.module == told.shown.module)
    told.through = without_templates(without_arguments(inner.function));
  if (caller == told.frames.begin()) return;  // a header's code, in the program's own file
  const auto index = static_cast<size_t>(caller - told.frames.begin());
  const Callee callee = calls_.called_before(addresses[index] + 1);
  const std::string by_table = callee.is_imported ? without_arguments(callee.name) : "";
  const std::string by_frame = without_arguments((caller - 1)->function);
  if (!by_table.empty()) told.call = by_table;
  else if (is_public(by_frame)) told.call = by_frame;
}

ToldPlace Places::at(const Place& place, const LoggedStack* stack) {
  ToldPlace told;
  std::vector<uint64_t> addresses;
  if (stack && stack->rip) {
    KeptStack kept;
    kept.rip = stack->rip;
    kept.is_call = stack->is_call;
    std::ranges::copy(stack->registers, kept.registers);
    kept.stack = stack->bytes;
    for (const StackFrame& physical : walk_.walk(kept)) {
      for (const Frame& frame : frames_at(physical.address)) {
        told.frames.push_back(frame);
        addresses.push_back(physical.address);
      }
    }
    told.has_callers = !told.frames.empty();
  } else if (place.address && !place.module.empty()) {
    told.frames = frames_at(place.address);
    addresses.assign(told.frames.size(), place.address);
  }
  if (told.frames.empty() || told.frames.front().module.empty()) {
    Frame frame;
    frame.address = place.address;
    frame.module = place.module;
    frame.offset = place.offset;
    told.frames = {frame};
    addresses = {frame.address};
  }
  choose(told, addresses);
  return told;
}

ToldPlace Places::at_switch(size_t index) {
  const auto stack = log_.stacks.find(index);
  const LoggedStack* const kept = stack == log_.stacks.end() ? nullptr : &stack->second;
  ToldPlace told = at(log_.switches[index].place, kept);
  if (kept) told.object = object_of_call(told.call, *kept, index);
  if (told.is_own || !told.has_callers) return told;
  const LoggedSwitch& stop = log_.switches[index];
  told.is_new = stop.at.task != 0 && stop.at.events == 0;
  // Such a thread stands in the runtime's function that calls its own, behind that call.
  const bool is_runtimes = base_name(told.shown.module) == "libweir.so";
  told.is_over = (stop.at.task != 0 && !told.is_new && is_runtimes) ||
                 std::ranges::any_of(log_.switches, [&](const LoggedSwitch& other) {
                   return other.reason == "end" && other.place.address == stop.place.address;
                 });
  return told;
}

std::optional<ToldPlace> Places::at_end(uint32_t task) {
  const auto found = log_.ends.find(task);
  if (found == log_.ends.end()) return std::nullopt;
  return at({}, &found->second);
}

ToldPlace Places::at_instruction(uint64_t rip) {
  ToldPlace told;
  told.frames = frames_at(rip);
  choose(told, std::vector<uint64_t>(told.frames.size(), rip));
  return told;
}

std::optional<Variable> Places::find(uint64_t address, size_t changes, const LoggedStack* stack) {
  if (std::optional<Variable> found = variables_.static_at(address)) return found;
  const auto walked = [&](const LoggedStack& logged, KeptStack& kept) {
    kept.rip = logged.rip;
    kept.is_call = logged.is_call;
    std::ranges::copy(logged.registers, kept.registers);
    kept.stack = logged.bytes;
    return walk_.walk(kept);
  };
  const auto block = std::ranges::find_if(
      log_.blocks, [&](const auto& one) { return address >= one.first && address < one.second; });
  if (block != log_.blocks.end()) {
    if (!stack) return std::nullopt;
    KeptStack kept;
    const std::vector<StackFrame> frames = walked(*stack, kept);
    return pointees_.by_access(kept, frames, {block->first, block->second - block->first}, address);
  }
  // On the stack of a task that stood still then, or of the one whose stack is given.
  if (stack) {
    KeptStack kept;
    if (auto found = variables_.on_stack(walked(*stack, kept), address)) return found;
  }
  std::map<uint32_t, size_t> last;  // switch of each task
  for (size_t i = 0; i < std::min(changes, log_.switches.size()); i++)
    last[log_.switches[i].at.task] = i;
  for (const auto& [task, index] : last) {
    const auto logged = log_.stacks.find(index);
    if (logged == log_.stacks.end() || address < logged->second.registers[4] ||
        address - logged->second.registers[4] >= logged->second.bytes.size())
      continue;
    KeptStack kept;
    if (auto found = variables_.on_stack(walked(logged->second, kept), address)) return found;
  }
  return std::nullopt;
}

std::string Places::variable_at(uint64_t address, size_t changes, const LoggedStack* stack) {
  const std::optional<Variable> found = find(address, changes, stack);
  return found ? without_insides(found->name) : "";
}

std::string Places::memory_words(uint64_t address, uint64_t size, size_t changes,
                                 const LoggedStack* stack) {
  const std::string bytes = fmt::format("{} {}", size, size == 1 ? "byte" : "bytes");
  if (const std::optional<Variable> found = find(address, changes, stack)) {
    std::string text = fmt::format("`{}`", without_insides(found->name));
    std::string of = found->whole != found->name && !found->whole.empty()
                         ? fmt::format("{} of `{}`", bytes, found->whole)
                         : bytes;
    if (!found->function.empty()) of += fmt::format(" in {}", found->function);
    if (!found->file.empty()) of += fmt::format(", {}:{}", shown_path(found->file), found->line);
    return text + fmt::format(" ({})", of);
  }
  for (const auto& [start, limit] : log_.blocks) {
    if (address < start || address >= limit) continue;
    return fmt::format("{} at offset {} of a heap block", bytes, address - start);
  }
  return fmt::format("{} at {:#x}", bytes, address);
}

std::string Places::object_of_call(const std::string& call, const LoggedStack& stack,
                                   size_t changes) {
  const bool is_signal = signals_condition(call);
  if (!stack.object || (!has_object(call) && !is_signal)) return "";
  const std::string name = variable_at(stack.object, changes, &stack);
  if (!name.empty()) return "&" + name;
  return is_signal ? "" : fmt::format("{:#x}", stack.object);
}

// Of the function with which the task begins, as far as the program has it: by the symbol that it
// was made with, or by the outermost frame of its stack.
std::string Places::start_name(uint32_t number) {
  const auto known = log_.named.find(number);
  if (known != log_.named.end() && known->second.start.address) {
    const Frame frame = frames_at(known->second.start.address).back();
    if (!frame.module.empty() && !is_of_system(frame) && !frame.function.empty())
      return frame.function;
  }
  const auto outermost = [](const ToldPlace& place) -> std::string {
    const auto last =
        std::find_if(place.frames.rbegin(), place.frames.rend(), [](const Frame& frame) {
          return !frame.module.empty() && !is_of_system(frame) && !frame.function.empty();
        });
    return place.has_callers && last != place.frames.rend() ? last->function : "";
  };
  const auto [first, last] = log_.runs.equal_range(number);
  for (auto run = first; run != last; ++run) {
    if (const std::string name = outermost(at({}, &run->second)); !name.empty()) return name;
  }
  for (size_t i = 0; i < log_.switches.size(); i++) {
    if (log_.switches[i].at.task != number || log_.switches[i].reason == "end" ||
        !log_.stacks.contains(i))
      continue;
    if (const std::string name = outermost(at_switch(i)); !name.empty()) return name;
  }
  const std::optional<ToldPlace> end = at_end(number);
  return end ? outermost(*end) : "";
}

const ToldTask& Places::task(uint32_t number) {
  if (const auto known = tasks_.find(number); known != tasks_.end()) return known->second;
  ToldTask& told = tasks_[number];
  told.number = number;
  const auto logged = log_.named.find(number);
  const auto name_of = [&](uint32_t one) {
    const auto found = log_.named.find(one);
    return found == log_.named.end() ? std::string() : found->second.name;
  };
  if (number == 0) {
    told.words = "the main thread";
    return told;
  }
  // A thread has its creator's name until it gets its own.
  const bool has_creator = logged != log_.named.end() && logged->second.has_creator;
  if (has_creator && name_of(number) != name_of(logged->second.creator))
    told.name = name_of(number);
  if (told.name.empty()) told.name = without_arguments(start_name(number));
  told.words = told.name.empty() ? fmt::format("thread T{}", number)
                                 : fmt::format("thread T{} ({})", number, told.name);
  if (!has_creator) return told;
  told.has_maker = true;
  told.maker = task(logged->second.creator).words;
  const auto stack = log_.starts.find(number);
  if (stack != log_.starts.end()) tasks_[number].made_at = at({}, &stack->second);
  return tasks_[number];
}

}  // namespace weir::cli::hunt
