#include "order/serial/schedule.h"

#include "base/bytes.h"
#include "base/sort.h"
#include "control/schedule_memory.h"

namespace weir::order {
namespace {

constexpr const char* kNames[] = {"default", "list", "random", "pct", "pos", "pb", "race", "surw"};
constexpr uint32_t kNameCount = sizeof kNames / sizeof kNames[0];

// Reads from the text; `wrong` says why it went no further.
class Reader {
 public:
  explicit Reader(const char* text) : text_(text) {}

  uint32_t at() const { return at_; }
  bool is_at_end() const { return text_[at_] == 0; }
  char next() const { return text_[at_]; }
  bool take(char c) {
    if (text_[at_] != c) return false;
    at_++;
    return true;
  }
  // A word of small letters.
  bool take(const char* word) {
    uint32_t i = 0;
    while (word[i] && text_[at_ + i] == word[i]) i++;
    const char after = text_[at_ + i];
    if (word[i] || (after >= 'a' && after <= 'z')) return false;
    at_ += i;
    return true;
  }
  bool number(uint64_t& value) {
    const uint32_t begin = at_;
    value = 0;
    for (; text_[at_] >= '0' && text_[at_] <= '9'; at_++) {
      if (__builtin_mul_overflow(value, uint64_t{10}, &value) ||
          __builtin_add_overflow(value, static_cast<uint64_t>(text_[at_] - '0'), &value))
        return false;
    }
    return at_ != begin;
  }
  // 0x and hexadecimal digits.
  bool address(uint64_t& value) {
    if (!take('0') || !take('x')) return false;
    const uint32_t begin = at_;
    value = 0;
    for (;; at_++) {
      const char c = text_[at_];
      const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
      if (digit < 0) return at_ != begin && at_ - begin <= 16;
      value = value << 4 | static_cast<uint64_t>(digit);
    }
  }
  // A number with at most six digits behind the point, as millionths.
  bool millionths(uint64_t& value) {
    uint64_t whole = 0;
    if (!number(whole) || whole > 1) return false;
    value = whole * 1'000'000;
    if (!take('.')) return true;
    uint64_t unit = 100'000;
    for (; text_[at_] >= '0' && text_[at_] <= '9'; at_++, unit /= 10)
      value += static_cast<uint64_t>(text_[at_] - '0') * unit;
    return value <= 1'000'000;
  }

 private:
  const char* text_;
  uint32_t at_ = 0;
};

const char* read_counts(Reader& reader, Schedule& schedule) {
  do {
    uint64_t count = 0;
    if (!reader.number(count)) return "counts are numbers with points between";
    if (schedule.count_count < kMaxCounts) schedule.counts[schedule.count_count++] = count;
  } while (reader.take('.'));
  return nullptr;
}

const char* read_key(Reader& reader, Schedule& schedule) {
  struct Key {
    const char* name;
    uint64_t Schedule::*value;
  };
  static constexpr Key kKeys[] = {{"seed", &Schedule::seed},     {"depth", &Schedule::depth},
                                  {"length", &Schedule::length}, {"bound", &Schedule::bound},
                                  {"fair", &Schedule::fair},     {"look", &Schedule::look},
                                  {"delays", &Schedule::delays}, {"size", &Schedule::size}};
  if (reader.take("points")) {
    if (!reader.take('=')) return "a key is followed by =";
    if (reader.take("all")) schedule.has_all_points = true;
    else if (reader.take("shared")) schedule.has_all_points = false;
    else return "points is all or shared";
    return nullptr;
  }
  if (reader.take("memory")) {
    if (!reader.take('=')) return "a key is followed by =";
    if (reader.take("tso")) schedule.is_tso = true;
    else if (reader.take("sc")) schedule.is_tso = false;
    else return "memory is sc or tso";
    return nullptr;
  }
  if (reader.take("p")) {
    if (!reader.take('=')) return "a key is followed by =";
    return reader.millionths(schedule.per_million) ? nullptr : "p is a number from 0 to 1";
  }
  if (reader.take("at")) {
    if (!reader.take('=')) return "a key is followed by =";
    schedule.has_location = true;
    return reader.address(schedule.location) ? nullptr : "at is an address, such as 0x404040";
  }
  if (reader.take("state")) {
    if (!reader.take('=')) return "a key is followed by =";
    return reader.address(schedule.state) ? nullptr : "state is an address, such as 0x404040";
  }
  if (reader.take("counts")) {
    if (!reader.take('=')) return "a key is followed by =";
    return read_counts(reader, schedule);
  }
  for (const Key& key : kKeys) {
    if (!reader.take(key.name)) continue;
    if (!reader.take('=')) return "a key is followed by =";
    return reader.number(schedule.*key.value) ? nullptr : "a number is expected";
  }
  return "there is no such key: seed, depth, length, bound, p, fair, look, points, at, counts, "
         "memory, delays, state, size";
}

const char* read_switch(Reader& reader, Switch& one) {
  uint64_t number = 0, target = 0;
  if (!reader.number(number) || !reader.take('.') || !reader.number(one.at.event) ||
      !reader.take('.') || !reader.number(one.at.step) || number >= ~uint32_t{0})
    return "a switch is written TASK.EVENT.STEP>TASK";
  one.at.number = static_cast<uint32_t>(number);
  one.delay = 0;
  one.target = 0;
  if (reader.take('~')) {
    if (!reader.number(one.delay) || !one.delay) return "a delay is written TASK.EVENT.STEP~STEPS";
    return nullptr;
  }
  if (!reader.take('>') || !reader.number(target) || target >= ~uint32_t{0})
    return "a switch is written TASK.EVENT.STEP>TASK";
  one.target = static_cast<uint32_t>(target);
  return nullptr;
}

}  // namespace

const char* name_of(StrategyName name) { return kNames[static_cast<uint32_t>(name)]; }

const char* parse_schedule(const char* text, Schedule& schedule, Switch* room, uint32_t capacity,
                           uint32_t& at) {
  schedule = Schedule{};
  at = 0;
  if (!*text) return nullptr;
  Reader reader(text);
  const auto fail = [&](const char* what) {
    at = reader.at();
    return what;
  };
  if (!reader.take('w')) return fail("a schedule begins with " WEIR_SCHEDULE_VERSION ":");
  uint64_t version = 0;
  constexpr uint64_t kVersion = WEIR_SCHEDULE_VERSION[1] - '0';
  if (!reader.number(version) || version != kVersion)
    return fail("this version of Weir knows " WEIR_SCHEDULE_VERSION " only");
  if (!reader.take(':')) return fail("a schedule begins with " WEIR_SCHEDULE_VERSION ":");
  uint32_t name = 0;
  while (name < kNameCount && !reader.take(kNames[name])) name++;
  if (name == kNameCount)
    return fail("there is no such strategy: default, list, random, pct, pos, pb, race, surw");
  schedule.name = static_cast<StrategyName>(name);
  bool in_switches = false, any = false;
  while (!reader.is_at_end()) {
    if (reader.take(':')) {
      in_switches = in_switches || (reader.next() >= '0' && reader.next() <= '9');
    } else if (!any || !reader.take(in_switches ? '+' : ',')) {
      return fail(in_switches ? "+ is expected" : ": or , is expected");
    }
    if (reader.is_at_end()) break;
    if (!in_switches) {
      if (const char* wrong = read_key(reader, schedule)) return fail(wrong);
    } else {
      if (schedule.switch_count == capacity) return fail("there are too many switches");
      Switch& one = room[schedule.switch_count];
      if (const char* wrong = read_switch(reader, one)) return fail(wrong);
      schedule.switch_count++;
    }
    any = true;
  }
  if (schedule.fair == 0) schedule.fair = 1;
  if (schedule.depth == 0) schedule.depth = 1;
  schedule.switches = room;
  struct Key {  // delays behind switches
    bool is_delay;
    Position at;
    auto operator<=>(const Key&) const = default;
  };
  sort_by(room, schedule.switch_count, [](const Switch& one) {
    return Key{one.delay != 0, one.at};
  });
  while (schedule.switch_count && room[schedule.switch_count - 1].delay) {
    schedule.switch_count--;
    schedule.listed_delay_count++;
  }
  schedule.listed_delays = room + schedule.switch_count;
  if (schedule.listed_delay_count && !schedule.is_tso)
    return fail("a delay goes with the key memory=tso");
  return nullptr;
}

}  // namespace weir::order
