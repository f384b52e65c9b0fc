#include "cli/hunt/schedule/schedule_log.h"

#include <fmt/format.h>

#include <charconv>
#include <sstream>

#include "cli/common/failure.h"

namespace weir::cli::hunt {
namespace {

constexpr std::string_view kFirstWord = "weir-schedule";

// MODULE+OFFSET, to the end of the line: a path may hold spaces. "-" and "?": none.
void read_module(std::istream& words, Place& place) {
  std::string text;
  std::getline(words >> std::ws, text);
  const size_t plus = text.rfind('+');
  if (plus == std::string::npos || plus == 0 || text == "-") return;
  std::string_view digits = std::string_view(text).substr(plus + 1);
  if (digits.starts_with("0x")) digits.remove_prefix(2);
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), place.offset, 16);
  if (error == std::errc()) place.module = text.substr(0, plus);
}

Place read_place(std::istream& words) {
  Place place;
  std::string address;
  words >> address;
  place.address = strtoull(address.c_str(), nullptr, 0);
  read_module(words, place);
  return place;
}

uint64_t read_hex(std::istream& words) {
  std::string text;
  words >> text;
  return strtoull(text.c_str(), nullptr, 16);
}

// Hexadecimal numbers with a separator between; none between two is 0. False: there is something
// else.
template <typename Put>
bool read_list(std::string_view text, char separator, Put put) {
  const char *at = text.data(), *const limit = at + text.size();
  for (;;) {
    uint64_t value = 0;
    if (at < limit && *at != separator) {
      const auto [end, error] = std::from_chars(at, limit, value, 16);
      if (error != std::errc()) return false;
      at = end;
    }
    if (!put(value)) return false;
    if (at == limit) return true;
    if (*at++ != separator) return false;
  }
}

constexpr size_t kMostStack = 1 << 16;  // bytes

// CALL RIP OBJECT REGISTER,... STACK
bool read_stack(std::istream& words, LoggedStack& stack) {
  std::string registers, bytes;
  words >> stack.is_call;
  stack.rip = read_hex(words);
  stack.object = read_hex(words);
  if (!(words >> registers)) return false;
  words >> bytes;  // may be none
  size_t count = 0;
  const auto put_register = [&](uint64_t value) {
    if (count == 16) return false;
    stack.registers[count++] = value;
    return true;
  };
  const auto put_word = [&](uint64_t value) {
    const auto* const byte = reinterpret_cast<const uint8_t*>(&value);
    stack.bytes.insert(stack.bytes.end(), byte, byte + sizeof value);
    return stack.bytes.size() <= kMostStack;
  };
  if (!read_list(registers, ',', put_register) || count != 16) return false;
  return bytes.empty() || read_list(bytes, '.', put_word);
}

// place switch|start|end|run NUMBER ...
void read_kept(std::istream& words, ScheduleLog& log) {
  std::string what;
  uint64_t number = 0;
  LoggedStack stack;
  if (!(words >> what >> number) || !read_stack(words, stack)) return;
  const auto task = static_cast<uint32_t>(number);
  if (what == "switch") log.stacks[number] = std::move(stack);
  else if (what == "start") log.starts[task] = std::move(stack);
  else if (what == "end") log.ends[task] = std::move(stack);
  else if (what == "run") log.runs.emplace(task, std::move(stack));
}

// touch CHANGES TASK r|w SIZE ADDRESS RIP
void read_touch(std::istream& words, ScheduleLog& log) {
  LoggedTouch touch;
  char kind = 0;
  if (!(words >> touch.changes >> touch.task >> kind >> touch.size)) return;
  touch.is_write = kind == 'w';
  touch.address = read_hex(words);
  touch.rip = read_hex(words);
  if (!words || touch.size == 0) return;
  if (touch.is_write && !log.touches.empty()) {
    LoggedTouch& last = log.touches.back();
    touch.is_update = !last.is_write && last.changes == touch.changes && last.task == touch.task &&
                      last.rip == touch.rip && last.address == touch.address;
    if (touch.is_update) last.is_update = true;
  }
  log.touches.push_back(touch);
}

// map START LIMIT OFFSET PATH
void read_mapping(std::istream& words, ScheduleLog& log) {
  LoggedMapping one;
  one.start = read_hex(words);
  one.limit = read_hex(words);
  one.offset = read_hex(words);
  if (words && std::getline(words >> std::ws, one.path) && one.start < one.limit)
    log.code.push_back(one);
}

// switch N T.E.I U REASON ADDRESS MODULE+OFFSET
LoggedSwitch read_switch(std::istream& words) {
  LoggedSwitch one;
  uint64_t number;
  char dot;
  words >> number >> one.at.task >> dot >> one.at.events >> dot >> one.at.instructions >>
      one.at.to >> one.reason;
  one.place = read_place(words);
  return one;
}

// access T.E.I r|w ADDRESS
LoggedAccess read_access(std::istream& words) {
  LoggedAccess one;
  char dot, kind;
  std::string address;
  words >> one.at.task >> dot >> one.at.events >> dot >> one.at.instructions >> kind >> address;
  one.is_write = kind == 'w';
  one.address = strtoull(address.c_str(), nullptr, 0);
  return one;
}

// delay N AFTER T.E.I~STEPS DATA SIZE VALUE STORES ADDRESS MODULE+OFFSET
LoggedDelay read_delay(std::istream& words) {
  LoggedDelay one;
  uint64_t number;
  char dot;
  std::string address, value;
  words >> number >> one.after >> one.at.task >> dot >> one.at.events >> dot >>
      one.at.instructions >> dot >> one.at.delay >> address >> one.size >> value >> one.stores;
  one.address = strtoull(address.c_str(), nullptr, 0);
  one.value = strtoull(value.c_str(), nullptr, 0);
  one.place = read_place(words);
  return one;
}

// visible N AFTER T.E.I CAUSE ADDRESS MODULE+OFFSET
void read_visible(std::istream& words, std::vector<LoggedDelay>& delays) {
  uint64_t number = 0, after = 0;
  std::string place;
  words >> number >> after >> place;
  if (number >= delays.size()) return;
  LoggedDelay& one = delays[number];
  one.visible_after = after;
  words >> one.cause;
  one.visible_at = read_place(words);
}

// waits T WHAT ADDRESS for U, where what holds it is known
Wait read_wait(std::istream& words) {
  Wait wait;
  std::string address, word;
  words >> wait.task >> wait.what >> address;
  wait.address = strtoull(address.c_str(), nullptr, 0);
  while (words >> word) {
    if (word == "for" && words >> wait.holder) wait.has_holder = true;
    else if (word == "at") wait.place = read_place(words);
  }
  return wait;
}

void read_end(std::istream& words, ScheduleLog& log) {
  std::string how;
  words >> how;
  if (how == "exit") log.end = ScheduleLog::End::kExit;
  else if (how == "signal") log.end = ScheduleLog::End::kSignal;
  else if (how == "deadlock") log.end = ScheduleLog::End::kDeadlock;
  else if (how == "limit") log.end = ScheduleLog::End::kLimit;
  else if (how == "heap") log.end = ScheduleLog::End::kHeap;
  words >> log.status;
}

std::string rest_of(std::istream& words) {
  std::string text;
  std::getline(words >> std::ws, text);
  return text;
}

}  // namespace

ScheduleLog parsed_log(std::string_view text) {
  ScheduleLog log;
  std::istringstream lines{std::string(text)};
  std::string line, word;
  while (std::getline(lines, line)) {
    if (lines.eof()) break;  // cut in the middle
    std::istringstream words(line);
    words >> word;
    if (!log.has_begun) {
      uint64_t version = 0;
      words >> version;
      if (word != kFirstWord || version != 1) {
        throw Failure(kWeirFailed,
                      fmt::format("the schedule's log begins with '{}': the weir command and "
                                  "libweir.so are not of the same version",
                                  line));
      }
      log.has_begun = true;
    } else if (word == "schedule") {
      log.schedule = rest_of(words);
    } else if (word == "list") {
      log.list = rest_of(words);
      if (log.list == "-") log.list.clear();  // too many switches
    } else if (word == "switch") {
      log.switches.push_back(read_switch(words));
    } else if (word == "delay") {
      log.delays.push_back(read_delay(words));
    } else if (word == "visible") {
      read_visible(words, log.delays);
    } else if (word == "task") {  // task T CREATOR ADDRESS MODULE+OFFSET
      uint32_t number = 0, creator = 0;
      if (!(words >> number >> creator)) continue;
      LoggedTask& task = log.named[number];
      task.has_creator = true;
      task.creator = creator;
      task.start = read_place(words);
    } else if (word == "name") {
      uint32_t number = 0;
      if (words >> number) log.named[number].name = rest_of(words);
    } else if (word == "place") {
      read_kept(words, log);
    } else if (word == "touch") {
      read_touch(words, log);
    } else if (word == "touches-cut") {
      log.has_all_touches = false;
    } else if (word == "block") {
      const uint64_t start = read_hex(words), limit = read_hex(words);
      if (words && start < limit) log.blocks.emplace_back(start, limit);
    } else if (word == "map") {
      read_mapping(words, log);
    } else if (word == "steps") {
      words >> log.steps;
    } else if (word == "events") {
      words >> log.events;
    } else if (word == "instructions") {
      words >> log.instructions;
    } else if (word == "tasks") {
      words >> log.tasks;
    } else if (word == "not-followed") {
      words >> log.not_followed;
    } else if (word == "heap") {
      words >> log.guarded >> log.marked;
      log.looked_at_heap = true;
    } else if (word == "access") {
      log.accesses.push_back(read_access(words));
    } else if (word == "function") {
      uint32_t number = 0;
      std::string address;
      words >> number >> address;
      log.functions[number] = strtoull(address.c_str(), nullptr, 0);
    } else if (word == "waits") {
      log.waits.push_back(read_wait(words));
    } else if (word == "task-steps") {
      words >> log.task_steps;
    } else if (word == "task-events") {
      words >> log.task_events;
    } else if (word == "state") {
      size_t switches = 0;
      words >> switches >> word;
      log.states.emplace_back(switches, strtoull(word.c_str(), nullptr, 0));
    } else if (word == "shared") {
      SharedMemory memory;
      words >> word >> memory.counts;
      memory.address = strtoull(word.c_str(), nullptr, 0);
      log.shared.push_back(std::move(memory));
    } else if (word == "end") {
      read_end(words, log);
    }
  }
  return log;
}

}  // namespace weir::cli::hunt
