// How races are reported. The node that finds one has the places looked up and sends its text to
// node 0, once. Node 0 knows all allocations. It adds the memory and prints the text, unless as
// many races of the same allocation and the same two places have been printed already.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "dsm/base/failure.h"
#include "dsm/node/checker.h"
#include "dsm/node/node.h"

namespace weir::dsm {

namespace {

constexpr uint32_t kMaxAlike = 3;

std::string times_text(uint32_t times) {
  const uint32_t last = times % 10;
  const bool is_teen = times / 10 % 10 == 1;
  return std::to_string(times) +
         (is_teen || last == 0 || last > 3 ? "th"
          : last == 1                      ? "st"
          : last == 2                      ? "nd"
                                           : "rd") +
         " time";
}

std::string hex(const std::vector<uint8_t>& bytes) {
  std::string text;
  char digits[4];
  for (uint8_t byte : bytes) {
    snprintf(digits, sizeof digits, " %02x", byte);
    text += digits;
  }
  return text;
}

// Each place is looked up once; that starts a process.
std::mutex g_lines_mutex;
SourceLines g_lines;

std::string line_of(const CodePlace& place) {
  const std::lock_guard<std::mutex> guard(g_lines_mutex);
  g_lines.want(place);
  g_lines.look_up();
  return g_lines.at(place);
}

std::string name_of(const std::string& allocation) {
  const std::lock_guard<std::mutex> guard(g_lines_mutex);
  g_lines.want(allocation);
  g_lines.look_up();
  return g_lines.name(allocation);
}

std::string side_text(const RaceSide& side, uint32_t size) {
  return "  node " + std::to_string(side.node) + (side.host.empty() ? "" : " (" + side.host + ")") +
         " wrote" + hex(side.value) + (size > side.value.size() ? " ..." : "") + " " +
         side.began.describe() +
         "\n    first write to the unit in that interval: " + line_of(side.place) + "\n";
}

void print(const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const ssize_t written = write(2, text.data() + at, text.size() - at);
    if (written <= 0) return;
    at += static_cast<size_t>(written);
  }
}

}  // namespace

std::string Synchronization::describe() const {
  const std::string number_text = std::to_string(number), often = " (" + times_text(times) + ")";
  switch (kind) {
    case kStart: return "since the start";
    case kLock: return "since it took lock " + number_text + often;
    case kUnlock: return "since it let go of lock " + number_text + often;
    case kBarrier: return "since " + name_of_barrier(number) + often;
    case kPost: return "since it posted semaphore " + number_text + often;
    case kTake: return "since it took semaphore " + number_text + often;
  }
  return {};
}

// Message: unit, first run, number of runs, what says whether others are alike, text of both sides.
void Checker::report(std::vector<Race>& found, std::unique_lock<std::mutex>& held) {
  for (Race& race : found) {
    happened_++;
    std::string places[2] = {text_of(race.sides[0].place), text_of(race.sides[1].place)};
    std::sort(places, places + 2);
    const std::string key = places[0] + " " + places[1];
    if (!told_
             .insert(key + " " + std::to_string(race.unit) + " " +
                     std::to_string(race.runs[0].offset))
             .second)
      continue;
    held.unlock();  // a symbolizer takes its time
    const std::string text =
        side_text(race.sides[0], race.runs[0].size) + side_text(race.sides[1], race.runs[0].size);
    held.lock();
    Message message(static_cast<uint8_t>(Kind::kRace), kGroupData);
    message.put(race.unit);
    message.put(race.runs[0]);
    message.put(static_cast<uint32_t>(race.runs.size()));
    message.put_list(std::vector<char>(key.begin(), key.end()));
    message.put_list(std::vector<char>(text.begin(), text.end()));
    sent_++;
    node_.tell(0, std::move(message));
  }
}

void Checker::on_race(Message&& message) {
  const UnitId unit = message.get<UnitId>();
  const Race::Run run = message.get<Race::Run>();
  const uint32_t runs = message.get<uint32_t>();
  const std::vector<char> key = message.get_list<char>(), sides = message.get_list<char>();
  if (message.bad()) fail("a damaged message from node %u", message.header.from);
  received_++;
  node_.changed.notify_all();
  const std::string places(key.begin(), key.end());
  if (!known_.insert(places + " " + std::to_string(unit) + " " + std::to_string(run.offset)).second)
    return;
  const Memory::Found memory = node_.memory.find(unit, run.offset);
  if (++printed_[memory.name + " " + places] > kMaxAlike) return;
  char where[200];
  if (memory.address) {
    snprintf(where, sizeof where, " at %p, ", static_cast<const void*>(memory.address));
  } else {
    strcpy(where, " of a region, ");
  }
  print("weir-dsm: race: " + std::to_string(run.size) + (run.size == 1 ? " byte" : " bytes") +
        where + "offset " + std::to_string(memory.offset) + " in " + std::to_string(memory.size) +
        " bytes of " + name_of(memory.name) +
        (runs > 1 ? ", and " + std::to_string(runs - 1) + " more runs of bytes" : "") +
        ", changed by two nodes without order\n" + std::string(sides.begin(), sides.end()));
}

uint64_t Checker::finish(Thread& thread, std::unique_lock<std::mutex>& held) {
  if (!node_.settings.check) return 0;
  const uint64_t mine[2] = {sent_, happened_};
  const auto* bytes = reinterpret_cast<const uint8_t*>(mine);
  const auto all = node_.barrier.arrive(kChecked, {bytes, bytes + sizeof mine}, true, thread, held);
  uint64_t sent = 0, happened = 0;
  for (const std::vector<uint8_t>& one : *all) {
    uint64_t its[2];
    memcpy(its, one.data(), sizeof its);
    sent += its[0];
    happened += its[1];
  }
  if (node_.me() != 0) return happened;
  while (received_ < sent) node_.changed.wait(held);
  if (happened == 0) {
    print("weir-dsm: no races\n");
    return 0;
  }
  uint64_t places = 0, unprinted = 0;
  for (const auto& [key, count] : printed_) {
    places += std::min(count, kMaxAlike);
    unprinted += count - std::min(count, kMaxAlike);
  }
  print("weir-dsm: " + std::to_string(places) + (places == 1 ? " race" : " races") +
        (unprinted
             ? ", and " + std::to_string(unprinted) + " more of the same lines and allocations"
             : "") +
        "; in all " + std::to_string(happened) + (happened == 1 ? " pair" : " pairs") +
        " of intervals\n");
  return happened;
}

void end_with(int status) {
  static int wanted = 0;
  if (!wanted) {
    // glibc goes on with the handlers that are left, and ends with the second status.
    on_exit(
        [](int given, void*) {
          if (given == 0) exit(wanted);
        },
        nullptr);
  }
  wanted = status;
}

}  // namespace weir::dsm
