#include "cli/hunt/report/story.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "cli/hunt/report/conflicts.h"
#include "cli/hunt/run/heap_words.h"

namespace weir::cli::hunt {
namespace {

constexpr size_t kMostConflicts = 20;  // chosen switches of which the accesses are looked at

// Where the task leaves the turn next, from switch number `from` on; null: nowhere.
const LoggedSwitch* leaves_after(const ScheduleLog& log, size_t from, uint32_t task,
                                 size_t* index) {
  for (size_t i = from; i < log.switches.size(); i++) {
    if (log.switches[i].at.task != task) continue;
    *index = i;
    return &log.switches[i];
  }
  return nullptr;
}

std::string way_words(const LoggedSwitch& left, const ToldPlace& place) {
  const std::string where = place_words(place);
  if (left.reason == "end") return "to its end";
  if (place.is_over) return "to the end of its function";
  const char* const in = is_in_call(place) ? "in" : "at";
  if (left.reason == "block") return fmt::format("until it waits {} {}", in, where);
  if (left.reason == "yield") return fmt::format("until it yields {} {}", in, where);
  if (left.reason == "forced") return fmt::format("for very long, and stops {} {}", in, where);
  if (left.reason == "spin") return fmt::format("until it waits in a loop {} {}", in, where);
  if (left.reason == "within")
    return fmt::format("until it is within {}, between reading and writing", where);
  if (left.reason == "parted") return fmt::format("until it has written a part {} {}", in, where);
  return fmt::format("to {}", where);
}

bool is_runtimes(const Frame& frame) { return frame.module.ends_with("/libweir.so"); }

std::vector<Place> calls_of(const HeapMisuse& heap) {
  std::vector<Place> all;
  for (const HeapMisuse::Stack& stack : heap.stacks)
    all.insert(all.end(), stack.calls.begin(), stack.calls.end());
  return all;
}

class Telling {
 public:
  Telling(const Outcome& failing, const Switches& list, const std::vector<Outcome>& without,
          const std::string& why_no_detail)
      : log_(failing.log),
        heap_(heap_misuse_in(failing.words)),
        places_(failing.log, calls_of(heap_)),
        list_(list),
        without_(without),
        why_no_detail_(why_no_detail) {}

  Story tell() {
    tell_switches();
    tell_delays();
    tell_waits();
    tell_heap();
    tell_end();
    for (const uint32_t number : numbers_) story_.tasks.push_back(places_.task(number));
    note_what_lacks();
    return std::move(story_);
  }

 private:
  const std::string& name(uint32_t number) {
    numbers_.insert(number);
    return places_.task(number).words;
  }

  const LoggedStack* stack_of(size_t index) const {
    const auto found = log_.stacks.find(index);
    return found == log_.stacks.end() ? nullptr : &found->second;
  }

  // In the run without the switch: what its task does.
  std::string instead_of(const Switch& one, const Outcome& without) {
    for (size_t i = 0; i < without.log.switches.size(); i++) {
      const LoggedSwitch& other = without.log.switches[i];
      if (other.at.task != one.task || other.at.events < one.events ||
          (other.at.events == one.events && other.at.instructions < one.instructions))
        continue;
      Places places(without.log);
      return "it goes on " + way_words(other, places.at_switch(i));
    }
    return "it goes on to its end";
  }

  ToldTouch told_touch(const LoggedTouch& touch) {
    ToldTouch told;
    told.task = name(touch.task);
    told.is_write = touch.is_write;
    told.turn = touch.changes;
    told.place = places_.at_instruction(touch.rip);
    told.updates = touch.is_update;
    return told;
  }

  std::optional<ToldConflict> told_conflict(size_t index, const ScheduleLog* without) {
    const std::optional<Conflict> found = conflict_at(log_, index, without);
    if (!found) return std::nullopt;
    ToldConflict told;
    const LoggedTouch& later = found->later;
    // At the place where the task has stopped its stack is known.
    const bool is_here = later.rip == log_.switches[index].place.address;
    told.memory = places_.memory_words(later.address, later.size, index + 1,
                                       is_here ? stack_of(index) : nullptr);
    if (found->earlier) told.earlier = told_touch(*found->earlier);
    told.meanwhile = told_touch(found->meanwhile);
    told.later = told_touch(later);
    told.is_made = found->is_made;
    return told;
  }

  void tell_chosen(ToldSwitch& told, size_t index, size_t chosen) {
    const bool has_run = chosen < without_.size();
    if (has_run) told.instead = instead_of(told.logged.at, without_[chosen]);
    size_t at = 0;
    if (const LoggedSwitch* const left = leaves_after(log_, index + 1, told.logged.at.to, &at))
      told.onward = way_words(*left, places_.at_switch(at));
    if (chosen >= kMostConflicts) return;
    if (const auto next = next_touch(log_, index)) {
      told.next =
          fmt::format("{} {}",
                      next->is_update  ? "updates"
                      : next->is_write ? "writes"
                                       : "reads",
                      places_.memory_words(next->address, next->size, index + 1, stack_of(index)));
    }
    const bool is_whole =
        has_run && without_[chosen].log.has_detail() && without_[chosen].log.has_all_touches;
    told.conflict = told_conflict(index, is_whole ? &without_[chosen].log : nullptr);
  }

  void tell_switches() {
    for (size_t i = 0; i < log_.switches.size(); i++) {
      const LoggedSwitch& logged = log_.switches[i];
      ToldSwitch told;
      told.logged = logged;
      told.task = name(logged.at.task);
      told.to = name(logged.at.to);
      told.place = places_.at_switch(i);
      const auto chosen = std::ranges::find(list_, logged.at);
      told.is_chosen = chosen != list_.end();
      if (told.is_chosen) tell_chosen(told, i, static_cast<size_t>(chosen - list_.begin()));
      story_.switches.push_back(std::move(told));
    }
  }

  void tell_delays() {
    for (const LoggedDelay& logged : log_.delays) {
      ToldDelay told;
      told.logged = logged;
      told.task = name(logged.at.task);
      const ToldPlace place = places_.at(logged.place, nullptr);
      told.at = place.frames;
      told.shown = place.shown;
      told.source = place.source;
      told.visible = places_.at(logged.visible_at, nullptr).shown;
      told.variable = places_.variable_at(logged.address, log_.switches.size(), nullptr);
      story_.delays.push_back(std::move(told));
    }
  }

  void tell_waits() {
    for (const Wait& wait : log_.waits) {
      ToldWait told;
      told.wait = wait;
      told.task = name(wait.task);
      if (wait.has_holder) told.holder = name(wait.holder);
      const auto end = log_.ends.find(wait.task);
      told.place = places_.at_end(wait.task);
      if (!told.place && wait.place.address) told.place = places_.at(wait.place, nullptr);
      told.variable = places_.variable_at(wait.address, log_.switches.size(),
                                          end == log_.ends.end() ? nullptr : &end->second);
      story_.waits.push_back(std::move(told));
    }
  }

  // "freed by thread T2" becomes "freed by thread T2 (worker)".
  std::string with_name(std::string title) {
    constexpr std::string_view kThread = "thread T";
    const size_t at = title.rfind(kThread);
    if (at == std::string::npos) return title;
    const std::string number = title.substr(at + kThread.size());
    if (number.empty() || number.find_first_not_of("0123456789") != std::string::npos) return title;
    return title.substr(0, at) + name(static_cast<uint32_t>(std::stoul(number)));
  }

  void tell_heap() {
    for (const HeapMisuse::Stack& stack : heap_.stacks) {
      ToldStack told;
      told.title = with_name(stack.title);
      for (const Place& call : stack.calls)
        for (const Frame& frame : places_.at(call, nullptr).frames) told.calls.push_back(frame);
      Frames& calls = told.calls;
      // Of the runtime the function that the program has called is enough.
      while (calls.size() > 1 && is_runtimes(calls[0]) && is_runtimes(calls[1]))
        calls.erase(calls.begin());
      // Below the program's first function stands what has called it.
      while (calls.size() > 1 && (is_of_system(calls.back()) || calls.back().file.empty()))
        calls.pop_back();
      story_.heap.push_back(std::move(told));
    }
  }

  // Who has the turn last ends the program.
  void tell_end() {
    const bool ends_itself =
        log_.end == ScheduleLog::End::kSignal || log_.end == ScheduleLog::End::kExit;
    if (!ends_itself) return;
    const uint32_t last = log_.switches.empty() ? 0 : log_.switches.back().at.to;
    if (auto place = places_.at_end(last); place && place->is_own)
      story_.end = ToldEnd{name(last), std::move(*place)};
  }

  void note_what_lacks() {
    if (story_.switches.empty() && story_.waits.empty()) return;
    if (!log_.has_detail())
      story_.notes.push_back("callers and accesses are not known: " + why_no_detail_);
    else if (!log_.has_all_touches)
      story_.notes.push_back("accesses are known of the first part of the run only");
    if (log_.has_detail() && !places_.has_lines())
      story_.notes.push_back("the program has no debug information: -g gives lines and members");
  }

  const ScheduleLog& log_;
  const HeapMisuse heap_;
  Places places_;
  const Switches& list_;
  const std::vector<Outcome>& without_;
  const std::string why_no_detail_;
  std::set<uint32_t> numbers_;
  Story story_;
};

}  // namespace

Frame shown_of(const Frames& frames) {
  const auto own = std::ranges::find_if(
      frames, [](const Frame& frame) { return !frame.file.empty() && !is_of_system(frame); });
  if (own != frames.end()) return *own;
  Frame frame = frames.front();
  if (!is_of_system(frame)) return frame;
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

Story told(const Outcome& failing, const Switches& list, const std::vector<Outcome>& without,
           const std::string& why_no_detail) {
  return Telling(failing, list, without, why_no_detail).tell();
}

}  // namespace weir::cli::hunt
