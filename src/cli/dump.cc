// weir dump: a recording as text, one line an entry, stream after stream.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <optional>

#include "channel/ring.h"
#include "cli/command_line/commands.h"
#include "cli/common/failure.h"
#include "cli/common/messages.h"
#include "control/execution_point.h"
#include "effects/effects.h"
#include "recording/directory.h"

namespace weir::cli {
namespace {

using channel::Entry;
using channel::Kind;
using recording::signal_name;

constexpr size_t kMaxShown = 48;  // bytes of memory in a line
constexpr uint64_t kPage = 4096;

const std::vector<std::pair<std::string, Kind>> kKinds = {{"call", Kind::kCall},
                                                          {"memory", Kind::kMemory},
                                                          {"signal", Kind::kSignal},
                                                          {"order", Kind::kOrder},
                                                          {"turns", Kind::kTurns},
                                                          {"task", Kind::kTask},
                                                          {"file", Kind::kFile},
                                                          {"end", Kind::kEnd},
                                                          {"value", Kind::kValue},
                                                          {"image", Kind::kImage},
                                                          {"place", Kind::kExecutionPoint},
                                                          {"page", Kind::kPage},
                                                          {"points", Kind::kPoints}};

struct Filter {
  std::string directory, kind, page;
  std::optional<uint32_t> process, task;
  uint32_t from = 0, to = UINT32_MAX;
};

std::string call_name(uint32_t number) {
  const char* name = effects::name_of(number);
  return name ? name : fmt::format("call {}", number);
}

const char* kind_name(Kind kind) {
  for (const auto& [name, which] : kKinds) {
    if (which == kind) return name.c_str();
  }
  return "?";
}

// As a string where it is text, else in hex.
std::string shown(const char* bytes, size_t size) {
  const size_t count = std::min(size, kMaxShown);
  size_t plain = 0;
  for (size_t i = 0; i < count; i++)
    plain += isprint(static_cast<unsigned char>(bytes[i])) || strchr("\n\t\r", bytes[i]) != nullptr;
  std::string text;
  if (plain * 4 >= count * 3 && count > 0) {
    text = "\"";
    for (size_t i = 0; i < count; i++) {
      const char c = bytes[i];
      if (c == '\n') text += "\\n";
      else if (c == '\t') text += "\\t";
      else if (c == '\r') text += "\\r";
      else if (c == '"' || c == '\\') text += {'\\', c};
      else if (isprint(static_cast<unsigned char>(c))) text += c;
      else text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
    text += '"';
  } else {
    for (size_t i = 0; i < count; i++)
      text += fmt::format("{:02x}", static_cast<unsigned char>(bytes[i]));
  }
  return size > count ? text + "..." : text;
}

// As the kernel answers: a value, or an error.
std::string answer(int64_t result) {
  const char* error =
      result < 0 && result >= -4095 ? strerrorname_np(static_cast<int>(-result)) : nullptr;
  if (error) return fmt::format("-1 {}", error);
  return result > 0xffff'ffff || result < -4095
             ? fmt::format("{:#x}", static_cast<uint64_t>(result))
             : fmt::format("{}", result);
}

template <typename T>
T front_of(const char* bytes, size_t size) {
  T value{};
  memcpy(&value, bytes, std::min(size, sizeof value));
  return value;
}

std::string order_words(const Entry& entry) {
  const char* what = "does something unknown";
  switch (static_cast<channel::OrderKind>(entry.number)) {
    case channel::OrderKind::kReturns: what = "returns"; break;
    case channel::OrderKind::kTimeJumps: what = "waits no longer: time jumps"; break;
    case channel::OrderKind::kSignal: what = "gets a signal"; break;
    case channel::OrderKind::kStands: what = "waits, and nobody can go on"; break;
  }
  return fmt::format("task {} {} after {} turns", entry.check, what, entry.result);
}

// Who had the turn next, what for, and by what: docs/reference/recording-format.md has the letters.
std::string turns_words(const Entry& entry, const char* payload) {
  std::string text;
  for (size_t at = 0; at + 2 <= entry.size; at += 2) {
    const channel::Turn turn = channel::decoded(front_of<uint16_t>(payload + at, 2));
    constexpr const char* kHow[] = {"", "+t", "+s", "?"};  // by TurnHow
    constexpr const char* kWhat[] = {"",  "a", "s", "x", "m", "c", "b", "r",
                                     "e", "p", "n", "q", "y", "h", "o", "f"};  // by EventKind
    text += fmt::format("{}{}{}{}", text.empty() ? "" : " ", turn.task, kWhat[turn.what],
                        kHow[static_cast<size_t>(turn.how)]);
  }
  return text;
}

// What was not as expected, each after how many points that were: # another task was there last, !
// a turn, > after so many turns, T@N after task T's Nth operation without one; + goes on with the
// same point.
std::string points_words(const Entry& entry, const char* payload) {
  std::string text;
  for (size_t at = 0; at + 8 <= entry.size; at += 8) {
    const channel::Point point = channel::decoded_point(front_of<uint64_t>(payload + at, 8));
    const auto low = [&](uint32_t bits) { return point.value & ((uint64_t{1} << bits) - 1); };
    text += fmt::format("{}{}", text.empty() ? "" : " ", point.skip);
    switch (point.kind) {
      case channel::PointKind::kExpected: text += "="; break;
      case channel::PointKind::kNumber:
        text += fmt::format("#{:03x}.{}", point.value >> channel::kPointNumberBits,
                            low(channel::kPointNumberBits));
        break;
      case channel::PointKind::kTurn: text += "!"; break;
      case channel::PointKind::kAfter: text += fmt::format(">{}", point.value); break;
      case channel::PointKind::kAwait:
        text += fmt::format("@{}:{}", point.value >> channel::kPointCountBits,
                            low(channel::kPointCountBits));
        break;
      case channel::PointKind::kEnd: text += "."; break;
    }
    if (point.more) text += "+";
  }
  return text;
}

std::string end_words(const Entry& entry, const char* payload) {
  if (channel::is_death(entry)) {
    const auto death = front_of<channel::Death>(payload, entry.size);
    const std::string signal = signal_name(static_cast<int>(entry.result));
    return entry.number == channel::kProgramFaults
               ? fmt::format("the program dies of {} at {:#x}, address {:#x}", signal, death.rip,
                             death.address)
               : fmt::format("{} is sent to the program itself at {:#x}", signal, death.rip);
  }
  const auto end = front_of<channel::End>(payload, entry.size);
  const std::string sums =
      fmt::format(", schedule {:016x}{}", end.schedule,
                  end.memory ? fmt::format(", memory {:016x}", end.memory) : "");
  return fmt::format("the program exits with {}{}", entry.result, sums);
}

std::string words(const Entry& entry) {
  const char* payload = reinterpret_cast<const char*>(&entry + 1);
  switch (entry.kind) {
    case Kind::kCall:
      return fmt::format("{} = {}  asked {:08x}", call_name(entry.number), answer(entry.result),
                         entry.check);
    case Kind::kMemory:
      return fmt::format("{:#x} {} bytes {}", static_cast<uint64_t>(entry.result), entry.size,
                         shown(payload, entry.size));
    case Kind::kSignal: {
      const auto details = front_of<siginfo_t>(payload, entry.size);
      if (details.si_code > 0)
        return fmt::format("{} code {} at {:#x}", signal_name(entry.number), details.si_code,
                           reinterpret_cast<uint64_t>(details.si_addr));
      return fmt::format("{} code {} from process {}", signal_name(entry.number), details.si_code,
                         details.si_pid);
    }
    case Kind::kOrder: return order_words(entry);
    case Kind::kTask: return fmt::format("task {} begins", entry.result);
    case Kind::kFile: {
      const size_t head = std::min<size_t>(entry.size, sizeof(channel::MappedFile));
      const auto file = front_of<channel::MappedFile>(payload, entry.size);
      const std::string path(payload + head, strnlen(payload + head, entry.size - head));
      return fmt::format("files/{} is {} ({} bytes)", entry.result, recording::escaped(path),
                         file.size);
    }
    case Kind::kEnd: return end_words(entry, payload);
    case Kind::kValue: return fmt::format("value {} = {}", entry.number, answer(entry.result));
    case Kind::kImage:
      return recording::escaped(std::string(payload, strnlen(payload, entry.size)));
    case Kind::kTurns: return turns_words(entry, payload);
    case Kind::kExecutionPoint:
      return fmt::format("stopped at {:#x}", front_of<ExecutionPoint>(payload, entry.size).rip);
    case Kind::kPage: {
      if (entry.number == static_cast<uint16_t>(channel::PageKind::kTaken)) {
        const auto from = front_of<channel::PreviousHolder>(payload, entry.size);
        const auto head = std::min<uint32_t>(entry.size, sizeof from);
        const std::string had = from.points ? fmt::format(" from {}-{} at its point {}",
                                                          from.process, from.task, from.points)
                                            : "";
        return fmt::format("{:#x} taken{}, {} bytes {}", static_cast<uint64_t>(entry.result), had,
                           entry.size - head, shown(payload + head, entry.size - head));
      }
      if (entry.number == static_cast<uint16_t>(channel::PageKind::kTakenAlso))
        return fmt::format("{:#x} taken, as the page at {:#x}", static_cast<uint64_t>(entry.result),
                           front_of<uint64_t>(payload, entry.size));
      const bool is_nothing = entry.number == static_cast<uint16_t>(channel::PageKind::kNoMemory);
      return fmt::format("{:#x} {}", static_cast<uint64_t>(entry.result),
                         is_nothing ? "taken, without memory" : "given");
    }
    case Kind::kPoints: return points_words(entry, payload);
    case Kind::kPad: break;
  }
  return "?";
}

bool touches(const Entry& entry, uint64_t page) {
  const auto start = static_cast<uint64_t>(entry.result);
  return entry.kind == Kind::kMemory && start < page + kPage && start + entry.size > page;
}

uint64_t address_of(const std::string& text) {
  size_t used = 0;
  uint64_t address = 0;
  try {
    address = std::stoull(text, &used, 0);
  } catch (const std::exception&) {}
  if (used == 0 || used != text.size())
    throw Failure(kWeirFailed, fmt::format("--page {}: this is no address", text));
  return address & ~(kPage - 1);
}

int dump(const Filter& filter) {
  std::optional<Kind> kind;
  for (const auto& [name, which] : kKinds) {
    if (name == filter.kind) kind = which;
  }
  if (!filter.kind.empty() && !kind)
    throw Failure(kWeirFailed, fmt::format("--kind {}: there is no such kind", filter.kind));
  const uint64_t page = filter.page.empty() ? 0 : address_of(filter.page);
  const recording::Recording recording(chosen_recording(filter.directory));
  std::vector<std::string> damages = recording.damages;
  for (const recording::StreamFile& stream : recording.streams) {
    if (filter.process && stream.key.process != *filter.process) continue;
    if (filter.task && (channel::is_points(stream.key.task) ? stream.key.task & ~channel::kPointsOf
                                                            : stream.key.task) != *filter.task)
      continue;
    recording::File file = recording::File::reading(stream.path);
    if (!file.is_open()) {
      damages.push_back(fmt::format("{}: {}", stream.path, strerror(errno)));
      continue;
    }
    const recording::Extent extent = scan(file, recording.manifest.recording, stream.key);
    recording::StreamReader reader(std::move(file), recording.manifest.recording, stream.key,
                                   extent.whole_size);
    const std::string name = stream.key.name();
    for (uint64_t number = 0; const Entry* entry = reader.peek(); reader.take(), number++) {
      if ((kind && entry->kind != *kind) || entry->event < filter.from || entry->event > filter.to)
        continue;
      if (!filter.page.empty() && !touches(*entry, page)) continue;
      fmt::print("{:<8} {:>7} event {:<8} {:<7}{} {}\n", name, number, entry->event,
                 kind_name(entry->kind), entry->flags & channel::kMore ? "+" : " ", words(*entry));
    }
    const std::string& damage = reader.damage().empty() ? extent.damage : reader.damage();
    if (!damage.empty())
      damages.push_back(fmt::format("{}/{}: {}", recording::kStreams, name, damage));
  }
  fflush(stdout);
  for (const std::string& damage : damages) say("", damage);
  return damages.empty() ? 0 : 1;
}

}  // namespace

Command add_dump(CLI::App& app) {
  auto filter = std::make_shared<Filter>();
  CLI::App* command =
      app.add_subcommand("dump", "Print a recording as text, a line for each entry");
  command->add_option("RECORDING", filter->directory,
                      "The recording, by its path or as weir ls names it; default: the newest one");
  command->add_option("--process", filter->process, "Only of this process: 0 is the program")
      ->type_name("N");
  command->add_option("--task", filter->task, "Only of this task")->type_name("N");
  command
      ->add_option("--kind", filter->kind,
                   "Only of this kind: call memory signal place order turns points page task file "
                   "end value image")
      ->type_name("KIND");
  command->add_option("--from", filter->from, "Only from this event of a task on")
      ->type_name("EVENT");
  command->add_option("--to", filter->to, "Only to this event of a task")->type_name("EVENT");
  command->add_option("--page", filter->page, "Only memory of the page with this address")
      ->type_name("ADDRESS");
  return {command, false, [filter](const Words&) { return dump(*filter); }};
}

}  // namespace weir::cli
