// A report for people: first the whole in one line, then both accesses with their stacks, what the
// memory is, and why it is a race.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "cli/common/terminal.h"
#include "cli/races/report.h"
#include "cli/sources/source_text.h"

namespace weir::cli {
namespace {

using findings::ObjectKind;
using findings::Why;

// The source line itself, and below it a mark where the access is. A compiler counts bytes, a
// terminal shows letters: tabs go to every eighth column, some letters are two columns wide.
std::string line_text(const Frame& frame, const Style& style) {
  const std::string text = source_line(frame.file, frame.line);
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  const size_t marked =
      frame.column > 0 ? static_cast<size_t>(frame.column) - 1 : std::string::npos;
  const SourceLine shown = source_line_shown(text, first, marked);
  const std::string number = std::to_string(frame.line);
  const std::string margin = fmt::format("\n         {} | ", number);
  const size_t room = style.columns > margin.size() ? style.columns - margin.size() : 0;
  const SourceLine cut = room ? source_line_cut(shown, room) : shown;
  std::string words = margin + cut.text;
  if (cut.has_mark) {
    words += fmt::format("\n         {} | {}{}", std::string(number.size(), ' '),
                         std::string(cut.mark, ' '), painted(Paint::kMark, "^", style.has_colours));
  }
  return words;
}

std::string stack_text(const Frames& frames, bool with_line, int indent, const Style& style) {
  std::string text;
  for (size_t i = 0; i < frames.size(); i++) {
    text += fmt::format("\n{}#{} {}", std::string(static_cast<size_t>(indent), ' '), i,
                        frame_words(frames[i]));
    if (with_line && i == 0) text += line_text(frames[i], style);
  }
  return text;
}

std::string locks_text(const ReportedSide& side) {
  std::string text;
  for (const ReportedLock& lock : side.locks) {
    const std::string type = lock.type.empty() ? "lock" : lock.type;
    text += fmt::format("\n    holding {}{}", lock.name.empty() ? "a lock" : lock.name,
                        lock.for_reading ? ", for reading" : "");
    text += fmt::format(" ({} at {:#x})", type, lock.address);
  }
  if (side.more_locks) text += fmt::format("\n    holding {} more locks", side.more_locks);
  return text;
}

std::string side_text(const ReportedSide& side, const char* when, const Style& style) {
  const ReportedTask& task = side.task;
  std::string text = fmt::format(
      "\n  {}: {}{} by {}", painted(Paint::kStrong, when, style.has_colours), access_words(side),
      side.address ? fmt::format(" at {:#x}", side.address) : "", task_words(task));
  if (!task.is_main && task.has_creator) {
    text += " (created ";
    if (!task.made_at.empty()) text += fmt::format("at {} ", place_words(task.made_at));
    text += fmt::format("by {})", task.creator_name);
  }
  text += side.has_context ? stack_text(side.frames, true, 4, style)
                           : "\n    (where it was made is not known any more)";
  return text + locks_text(side);
}

const char* kind_of_memory(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::kHeap: return "a heap block";
    case ObjectKind::kStatic: return "a static variable";
    case ObjectKind::kStack: return "a stack";
    case ObjectKind::kMapping: return "mapped memory";
    case ObjectKind::kUnknown: break;
  }
  return "memory";
}

}  // namespace

std::string shown_path(const std::string& path) {
  static const std::string kHere = [] {
    std::error_code error;
    const std::string here = std::filesystem::current_path(error).string();
    return here.empty() || here == "/" ? here : here + "/";
  }();
  return kHere.size() > 1 && path.starts_with(kHere) ? path.substr(kHere.size()) : path;
}

std::string without_indices(const std::string& name) {
  std::string text;
  bool is_inside = false;
  for (const char c : name) {
    if (c == ']') is_inside = false;
    if (!is_inside) text += c;
    if (c == '[') is_inside = true;
  }
  return text;
}

std::string place_words(const Frame& frame) {
  if (!frame.file.empty()) return fmt::format("{}:{}", shown_path(frame.file), frame.line);
  if (!frame.module.empty()) return fmt::format("{}+{:#x}", shown_path(frame.module), frame.offset);
  return fmt::format("{:#x}", frame.address);
}

bool is_of_program(const Frame& frame) {
  const auto is_below = [&](const char* folder) { return frame.module.starts_with(folder); };
  return !frame.file.empty() && !frame.file.starts_with("/usr/") && !is_below("/usr/lib/") &&
         !is_below("/lib/") && !is_below("/lib64/");
}

std::string place_words(const Frames& frames) {
  if (frames.empty()) return "an unknown place";
  const auto own = std::ranges::find_if(frames, is_of_program);
  return place_words(own == frames.end() ? frames.front() : *own);
}

std::string frame_words(const Frame& frame) {
  std::string text = frame.function.empty() ? "??" : frame.function;
  if (!frame.file.empty()) {
    text += fmt::format(" {}:{}", shown_path(frame.file), frame.line);
    if (frame.column) text += fmt::format(":{}", frame.column);
  } else if (!frame.module.empty()) {
    text += fmt::format(" ({}+{:#x})", shown_path(frame.module), frame.offset);
  } else {
    text += fmt::format(" ({:#x})", frame.address);
  }
  return text;
}

std::string task_words(const ReportedTask& task) {
  if (task.is_main) return "the main thread";
  if (!task.is_known) return fmt::format("thread T{}", task.number);
  return task.name.empty() ? fmt::format("thread T{}", task.number)
                           : fmt::format("thread T{} \"{}\"", task.number, task.name);
}

std::string access_words(const ReportedSide& side, bool with_size) {
  using namespace findings;
  if (side.kind & kFree) return "free";
  if (!side.wanted.words.empty()) return side.wanted.words;
  if (side.kind & kLockCall) return "call of the lock";
  if (side.kind & kChange) return "change of the sharing policy";
  const bool reads = side.kind & kRead, writes = side.kind & kWrite;
  std::string text = reads && writes ? "read and write"
                     : writes        ? "write"
                     : reads         ? "read"
                                     : "access";
  if (side.kind & kAtomic) text = "atomic " + text;
  if (with_size && side.size)
    text += fmt::format(" of {} {}", side.size, side.size == 1 ? "byte" : "bytes");
  if (side.kind & kByLibrary) text += " (in a function of the C library)";
  if (side.kind & kByKernel) text += " (by a system call)";
  return text;
}

const char* kind_words(const ReportedRace& race) {
  if (!race.doubt.empty()) return "possible race";
  switch (race.why) {
    case Why::kPolicy: return "violation of a sharing policy";
    case Why::kMisuse: return race.is_of_lock ? "wrong use of a lock" : "wrong annotation";
    case Why::kHazard: return hazard_kind(race.rule);
    case Why::kUnordered:
    case Why::kCollision: break;
  }
  return "data race";
}

namespace {

// Of the heap. What follows is the stack of its allocation, if that is known.
std::string block_words(const ReportedObject& object) {
  std::string text = fmt::format("a heap block of {} bytes at {:#x}", object.size, object.start);
  if (object.task.is_known || object.task.is_main)
    text += fmt::format(", allocated by {}", task_words(object.task));
  if (!object.allocated_at.empty()) text += " at";
  return text;
}

}  // namespace

std::string object_words(const ReportedObject& object) {
  std::string text;
  const Variable& variable = object.variable;
  if (object.has_variable) {
    text = variable.name;
    if (!variable.type.empty()) text += fmt::format(" ({})", variable.type);
    if (variable.size && object.kind == ObjectKind::kHeap) {
      text += fmt::format(": byte {} of {} bytes at {:#x}", variable.offset, variable.size,
                          variable.start);
    } else if (variable.size) {
      const std::string of = variable.whole == variable.name ? "" : " of " + variable.whole;
      text += fmt::format(": byte {}{}, {} bytes at {:#x}", variable.offset, of, variable.size,
                          variable.start);
    }
    if (object.kind == ObjectKind::kHeap) text += ", in " + block_words(object);
    else if (variable.is_thread_local) text += ", a thread-local variable";
    else if (!variable.function.empty())
      text += fmt::format(", a variable of {} on the stack of {}", variable.function,
                          task_words(object.task));
    else text += ", a static variable";
    if (object.kind == ObjectKind::kHeap) return text;
    if (!variable.file.empty())
      text += fmt::format(" declared at {}:{}", shown_path(variable.file), variable.line);
    else if (!object.module.empty()) text += fmt::format(" of {}", shown_path(object.module));
  } else if (object.kind == ObjectKind::kHeap) {
    text = fmt::format("byte {} of {}", object.offset, block_words(object));
  } else if (object.kind == ObjectKind::kStack) {
    text = fmt::format("on the stack of {}", task_words(object.task));
  } else if (object.size) {
    text = fmt::format("byte {} of {} of {} bytes at {:#x}", object.offset,
                       kind_of_memory(object.kind), object.size, object.start);
  } else if (!object.module.empty()) {
    text = fmt::format("{} of {}", kind_of_memory(object.kind), shown_path(object.module));
  }
  return text;
}

std::string title_words(const ReportedRace& race) {
  const ReportedSide &first = race.sides[0], &second = race.sides[1];
  const std::string name = race.object.name();
  std::string text;
  if (!name.empty()) text += fmt::format("{}: ", name);
  else if (race.object.kind == ObjectKind::kHeap)
    text += fmt::format("heap block of {} bytes: ", race.object.size);
  if (!race.change.empty()) {
    text += fmt::format("{} at {}", race.change, place_words(second.frames));
    if (first.exists)
      text +=
          fmt::format(", against {} at {}", access_words(first, false), place_words(first.frames));
    return text;
  }
  text += fmt::format("{} at {}", access_words(second, false), place_words(second.frames));
  if (first.exists)
    text += fmt::format(", {} at {}", access_words(first, false), place_words(first.frames));
  return text;
}

std::string race_text(const ReportedRace& race, const Style& style) {
  const auto strong = [&](const char* word) {
    return painted(Paint::kStrong, word, style.has_colours);
  };
  std::string text = fmt::format(
      "{}: {}", painted(Paint::kBad, kind_words(race), style.has_colours), title_words(race));
  const bool at_once = race.why == Why::kCollision;
  if (race.sides[0].exists)
    text += side_text(race.sides[0], at_once ? "one access" : "first", style);
  for (const ReportedSide& side : race.more) text += side_text(side, "next", style);
  text += side_text(race.sides[1],
                    !race.sides[0].exists ? "where"
                    : at_once             ? "the other"
                                          : "then",
                    style);
  const std::string object = object_words(race.object);
  if (!object.empty()) text += fmt::format("\n  {}: {}", strong("object"), object);
  text += stack_text(race.object.allocated_at, false, 4, style);
  if (!race.object.policy.empty())
    text += fmt::format("\n  {}: declared as {}", strong("policy"), race.object.policy);
  text += fmt::format("\n  {}: {}", strong("why"), race.because);
  if (!race.met.empty()) text += fmt::format("\n  {}: {}", strong("met"), race.met);
  if (!race.doubt.empty())
    text += fmt::format(
        "\n  {}: {}, and then it is none: {}", strong("doubt"),
        race.is_moved ? "the source may not read there" : "both accesses may be atomic operations",
        race.doubt);
  return text;
}

}  // namespace weir::cli
