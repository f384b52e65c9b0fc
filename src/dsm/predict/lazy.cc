// Lazy release consistency, and the home-based variant, as weir::dsm has them (dsm/protocol/lrc.cc,
// dsm/protocol/hlrc.cc), without the data.
//
// Each unit has a history: the writes of all nodes' intervals to it, in the order in which the
// model gets to them. A node's copy holds some of them, its own always. An access misses if the
// history has a write that the node knows of (its interval is within what the node knows) and that
// its copy does not hold. So nothing is done for a copy when notices arrive, and a barrier of a
// thousand nodes costs the model what is accessed afterwards, not what could be.
//
// LRC asks the last writers at once. It need not ask a writer if the node of another missing write
// knew of that writer's when it wrote. Writes of one node are one diff until it is made, which
// happens when a node requests it or when its own node learns of another's write. The diff is as
// large as the largest of them, because programs write the same places again. If diffs together are
// larger than the unit, the unit is sent. What came by a tape helps if nothing else is missing;
// else all is requested. HLRC sends diffs home as an interval closes, and a copy is fetched whole
// from there. The home itself never misses, but waits for diffs on their way.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

#include "dsm/predict/coherence.h"
#include "dsm/predict/lazy_units.h"

namespace weir::predict {

namespace {

using lazy::Asked;
using lazy::Copy;
using lazy::Open;
using lazy::Question;
using lazy::Round;
using lazy::Unit;
using lazy::Write;

constexpr uint64_t kDiffHeader = 28;  // of a diff in a message
constexpr Time kLookAgain = 1000;     // a home, for diffs that are on their way

class Lazy : public Coherence {
 public:
  Lazy(Engine& engine, const Workload& workload, const Settings& settings)
      : engine_(engine),
        workload_(workload),
        settings_(settings),
        nodes_(workload.nodes),
        known_(nodes_, std::vector<uint32_t>(nodes_)),
        news_(nodes_, std::vector<uint64_t>(1)),
        at_barrier_(nodes_),
        dirty_(nodes_),
        written_(nodes_),
        copies_(nodes_) {}

  std::optional<Time> access(uint32_t node, uint32_t number, bool write, Action done) override {
    Unit& unit = this->unit(number, node);
    Copy& copy = copies_[node][number];
    Time cost = settings_.trap;
    if (write) cost += copy_time(unit.size);  // a twin
    if (copy.fetching) {
      copy.waiting.push_back(std::move(done));
      return std::nullopt;
    }
    if (copy.pushed) {
      copy.pushed = false;
      engine_.counters[node].used++;
    }
    const std::vector<uint32_t> missing = this->missing(node, unit, copy);
    if (missing.empty()) return engine_.now() + cost;
    engine_.at(engine_.now() + cost, [this, node, number, done = std::move(done)]() mutable {
      fetch(node, {number}, true, std::move(done));
    });
    copy.fetching = true;
    return std::nullopt;
  }

  std::optional<Time> touch(uint32_t node, const std::vector<UnitBytes>& units, bool write,
                            Action done) override {
    std::vector<uint32_t> numbers;
    Time cost = settings_.trap;
    for (const UnitBytes& one : units) {
      Unit& unit = this->unit(one.unit, node);
      Copy& copy = copies_[node][one.unit];
      if (write) cost += copy_time(unit.size);
      if (copy.fetching || missing(node, unit, copy).empty()) continue;
      copy.fetching = true;
      numbers.push_back(one.unit);
    }
    if (numbers.empty()) return engine_.now() + cost;
    engine_.at(engine_.now() + cost, [this, node, numbers, done = std::move(done)]() mutable {
      fetch(node, std::move(numbers), false, std::move(done));
    });
    return std::nullopt;
  }

  std::optional<Time> wrote(uint32_t node, const std::vector<UnitBytes>& units, bool told,
                            Action) override {
    for (const UnitBytes& unit : units) {
      Open& open = dirty_[node][unit.unit];
      open = {std::max(open.bytes, unit.bytes), told || open.told};
    }
    return engine_.now();
  }

  Time close(uint32_t node, Time start, bool by_server) override {
    if (dirty_[node].empty()) return start;
    std::vector<UnitBytes> units;
    for (const auto& [unit, open] : std::exchange(dirty_[node], {}))
      units.push_back({unit, open.bytes});
    const std::vector<uint32_t> places = close_interval(node, units);
    if (settings_.protocol != Protocol::kHlrc) return start;
    // Unit, place in its history.
    std::map<uint32_t, std::vector<std::pair<uint32_t, uint32_t>>> homes;
    for (size_t i = 0; i < units.size(); i++) {
      const Unit& unit = units_[units[i].unit];
      if (unit.home != node) homes[unit.home].push_back({units[i].unit, places[i]});
    }
    Time free = start + settings_.diff * units.size();
    for (auto& [home, places] : homes) {
      uint64_t bytes = 4;
      for (const auto& [number, place] : places)
        bytes += 4 + kDiffHeader + units_[number].history[place].bytes + request_bytes();
      free = engine_.send(free, {node, home, Group::kData, bytes, by_server, false},
                          [this, home = home, places = places] {
                            engine_.serve(home, settings_.diff * places.size());
                            for (const auto& [number, place] : places)
                              units_[number].history[place].home = true;
                          });
    }
    return free;
  }

  // --- Knowledge

  Stamp stamp(uint32_t node) override {
    return std::make_shared<std::vector<uint32_t>>(known_[node]);
  }
  Stamp merged() override {
    auto all = std::make_shared<std::vector<uint32_t>>(nodes_);
    for (uint32_t node = 0; node < nodes_; node++) {
      for (uint32_t of = 0; of < nodes_; of++) (*all)[of] = std::max((*all)[of], known_[node][of]);
    }
    return all;
  }
  void learn(uint32_t node, const Stamp& stamp) override {
    if (!stamp) return;
    for (uint32_t of = 0; of < nodes_; of++)
      known_[node][of] = std::max(known_[node][of], (*stamp)[of]);
  }
  uint64_t request_bytes() const override { return 4 + 4 * uint64_t{nodes_}; }
  uint64_t news_bytes(const Stamp& stamp, uint32_t node) const override {
    uint64_t bytes = 4;
    for (uint32_t of = 0; of < nodes_; of++) {
      if ((*stamp)[of] > known_[node][of])
        bytes += news_[of][(*stamp)[of]] - news_[of][known_[node][of]];
    }
    return bytes;
  }
  uint64_t own_news_bytes(uint32_t node) const override {
    return news_[node].back() - news_[node][at_barrier_[node]];
  }
  void barrier_passed() override {
    for (uint32_t node = 0; node < nodes_; node++) at_barrier_[node] = known_[node][node];
  }

  // --- Tapes

  void made_diff(uint32_t node, uint32_t number) override { make_diff(node, &unit(number, node)); }

  Updates updates(uint32_t from, uint32_t to, const std::vector<uint32_t>& numbers, bool own,
                  const Stamp& until) override {
    Updates found;
    for (const uint32_t number : numbers) {
      Unit& unit = this->unit(number, from);
      const Copy& has = copies_[from][number];
      make_diff(from, &unit);
      Copy& lacks = copies_[to][number];
      std::map<std::pair<uint32_t, uint32_t>, uint32_t> bytes;  // of each writer's diffs
      missing(to, unit, lacks);
      for (uint32_t place = lacks.from; place < unit.history.size(); place++) {
        const Write& write = unit.history[place];
        if (until && write.interval > (*until)[write.node]) continue;
        if (write.node == to || lacks.holds(place) ||
            (write.node != from && (own || !has.holds(place))))
          continue;
        found.writes.push_back({number, place});
        uint32_t& of_diff = bytes[{write.node, write.diff}];
        of_diff = std::max(of_diff, write.bytes);
      }
      if (bytes.empty()) continue;
      found.units.push_back(number);
      for (const auto& [diff, size] : bytes) found.bytes += kDiffHeader + size;
    }
    return found;
  }

  void take(uint32_t node, const Updates& updates) override {
    for (const auto& [number, place] : updates.writes) {
      Copy& copy = copies_[node][number];
      if (!copy.holds(place)) copy.kept.insert(place);
    }
    for (const uint32_t number : updates.units) copies_[node][number].pushed = true;
  }

  std::vector<std::pair<uint32_t, std::vector<uint32_t>>> wanted(uint32_t node) override {
    std::map<uint32_t, std::vector<uint32_t>> by_asker;
    for (const uint32_t number : written_[node]) {
      const Unit& unit = units_[number];
      const auto at = unit.asked.find(node);
      if (at == unit.asked.end()) continue;
      for (const uint32_t asker : at->second) by_asker[asker].push_back(number);
    }
    written_[node].clear();
    return {by_asker.begin(), by_asker.end()};
  }

 private:
  // The places in the units' histories.
  std::vector<uint32_t> close_interval(uint32_t node, const std::vector<UnitBytes>& units) {
    const uint32_t interval = ++known_[node][node];
    uint64_t runs = 0;
    std::vector<uint32_t> places;
    for (size_t i = 0; i < units.size(); i++) {
      if (i == 0 || units[i].unit != units[i - 1].unit + 1) runs++;
      Unit& unit = this->unit(units[i].unit, node);
      Copy& copy = copies_[node][units[i].unit];
      missing(node, unit, copy);  // moves copy.from on
      make_diff_of_known(node, &unit);
      places.push_back(static_cast<uint32_t>(unit.history.size()));
      unit.history.push_back(
          {node, interval, units[i].bytes, unit.home == node, 0, unknown(node, unit, copy)});
      if (settings_.tapes == Tapes::kReplay) written_[node].insert(units[i].unit);
    }
    news_[node].push_back(news_[node].back() + 10 + 4 * uint64_t{nodes_} + 4 + 8 * runs);
    return places;
  }

  Time copy_time(uint64_t bytes) const {
    return static_cast<Time>(std::llround(settings_.network.copy * static_cast<double>(bytes)));
  }

  Unit& unit(uint32_t number, uint32_t toucher) {
    Unit& unit = units_[number];
    if (!unit.known) {
      unit.known = true;
      unit.size = workload_.unit_bytes(number);
      unit.home = workload_.home_of(number);
      if (unit.home == Workload::kNoHome) unit.home = toucher;
    }
    return unit;
  }

  void make_diff(uint32_t node, Unit* unit) const {
    const uint32_t diff = ++unit->diffs;
    for (size_t place = unit->history.size(); place-- > 0;) {
      Write& write = unit->history[place];
      if (write.node != node) continue;
      if (write.diff != 0) break;
      write.diff = diff;
    }
  }
  // Before the node writes again: what it has learned of since it wrote last has made its diff.
  void make_diff_of_known(uint32_t node, Unit* unit) const {
    const auto is_known = [&](const Write& write) {
      return write.interval <= known_[node][write.node];
    };
    bool learned = false;
    for (size_t place = unit->history.size(); place-- > 0;) {
      const Write& write = unit->history[place];
      if (write.node != node) {
        learned |= is_known(write);
        continue;
      }
      if (write.diff != 0) return;
      for (const uint32_t other : write.unknown) learned |= is_known(unit->history[other]);
      break;
    }
    if (learned) make_diff(node, unit);
  }

  // Places of the writes that the node knows of and its copy does not hold.
  std::vector<uint32_t> missing(uint32_t node, const Unit& unit, Copy& copy) const {
    const std::vector<Write>& history = unit.history;
    size_t held = 0;
    while (copy.from < history.size()) {
      if (held < copy.more.size() && copy.more[held] == copy.from) held++;
      else if (history[copy.from].node != node) break;
      copy.from++;
    }
    copy.more.erase(copy.more.begin(), copy.more.begin() + static_cast<ptrdiff_t>(held));
    std::vector<uint32_t> places;
    bool lacks = false;
    size_t next = 0;  // of those held
    const auto holds = [&](uint32_t place) {
      while (next < copy.more.size() && copy.more[next] < place) next++;
      return next < copy.more.size() && copy.more[next] == place;
    };
    for (uint32_t place = copy.from; place < history.size(); place++) {
      const Write& write = history[place];
      if (write.node == node || write.interval > known_[node][write.node] || holds(place)) continue;
      places.push_back(place);
      lacks |= copy.kept.count(place) == 0;
    }
    if (lacks) return places;
    for (const uint32_t place : places) copy.add(place);
    return {};
  }

  std::vector<uint32_t> unknown(uint32_t node, const Unit& unit, const Copy& copy) const {
    std::vector<uint32_t> places;
    for (uint32_t place = copy.from; place < unit.history.size(); place++) {
      const Write& write = unit.history[place];
      if (write.interval > known_[node][write.node]) places.push_back(place);
    }
    return places;
  }
  static bool knew(const Write& write, uint32_t place) {
    return !std::binary_search(write.unknown.begin(), write.unknown.end(), place);
  }

  // `counts`: as a miss; what is fetched ahead of accesses is none.
  void fetch(uint32_t node, std::vector<uint32_t> numbers, bool counts, Action done) {
    auto round = std::make_shared<Round>();
    *round = {node, std::move(numbers), {}, 0, engine_.now(), 0, counts, std::move(done)};
    std::map<uint32_t, Question> questions;
    for (size_t index = 0; index < round->numbers.size(); index++) {
      const uint32_t number = round->numbers[index];
      Unit& unit = units_[number];
      round->places.push_back(missing(node, unit, copies_[node][number]));
      if (settings_.tapes == Tapes::kReplay) {
        for (const uint32_t place : round->places.back())
          unit.asked[unit.history[place].node].insert(node);
      }
      if (settings_.protocol == Protocol::kHlrc)
        ask_home(number, unit, round->places.back(), &questions);
      else ask_writers(index, number, unit, round->places.back(), &questions);
    }
    const bool at_home = questions.size() == 1 && questions.begin()->first == node;
    if (counts && !questions.empty() && !at_home) engine_.counters[node].misses++;
    round->open = static_cast<uint32_t>(questions.size());
    if (round->open == 0) return finish(round);
    Time free = engine_.now();
    for (const auto& [at, question] : questions) {
      free = engine_.send(
          free, {node, at, Group::kData, question.bytes, false, false},
          [this, round, at = at, question = question] { answer(round, at, question); });
    }
  }

  void ask_home(uint32_t number, const Unit& unit, const std::vector<uint32_t>& places,
                std::map<uint32_t, Question>* questions) const {
    Question& question = (*questions)[unit.home];
    question.bytes += request_bytes() + 4;
    question.reply_bytes += unit.size + request_bytes();
    for (const uint32_t place : places) question.needed.push_back({number, place});
  }

  void ask_writers(size_t index, uint32_t number, const Unit& unit,
                   const std::vector<uint32_t>& places,
                   std::map<uint32_t, Question>* questions) const {
    // Of each: the first and the last missing write.
    std::map<uint32_t, std::pair<uint32_t, uint32_t>> writers;
    for (const uint32_t place : places)
      writers.try_emplace(unit.history[place].node, place, place).first->second.second = place;
    std::map<uint32_t, std::vector<Asked>> of_unit;
    for (const auto& [writer, its] : writers) {
      uint32_t at = writer, latest = its.second;
      for (const auto& [other, others] : writers) {
        if (others.second > latest && knew(unit.history[others.second], its.second))
          at = other, latest = others.second;
      }
      of_unit[at].push_back({index, number, writer, its.first, its.second, false});
    }
    for (auto& [at, asked] : of_unit) {
      Question& question = (*questions)[at];
      question.bytes += request_bytes() + 7 + 6 * asked.size();
      question.reply_bytes += 9;
      asked.back().ends_unit = true;
      for (const Asked& one : asked) question.asked.push_back(one);
      question.alone.push_back(of_unit.size() == 1);
    }
  }

  // Makes the diffs, with all that they hold by now; also of the open interval, where it was so
  // when the run was recorded (which node is first there is a matter of microseconds). Answers how
  // many they are; the question's reply becomes longer.
  uint32_t make_diffs(const std::shared_ptr<Round>& round, uint32_t at, Question* question) {
    uint32_t diffs = 0, units = 0;
    uint64_t bytes = 0;  // of the unit's
    for (const Asked& one : question->asked) {
      Unit& unit = units_[one.number];
      if (unit.history[one.last].diff == 0) {
        if (const auto open = dirty_[at].find(one.number);
            one.writer == at && open != dirty_[at].end() && open->second.told) {
          const UnitBytes only{one.number, open->second.bytes};
          dirty_[at].erase(open);
          close_interval(at, {only});
        }
        make_diff(one.writer, &unit);
      }
      const uint32_t first = unit.history[one.first].diff, last = unit.history[one.last].diff;
      std::map<uint32_t, uint32_t> sizes;
      for (uint32_t place = one.first; place < unit.history.size(); place++) {
        const Write& write = unit.history[place];
        if (write.node != one.writer || write.diff < first || write.diff > last) continue;
        sizes[write.diff] = std::max(sizes[write.diff], write.bytes);
        round->places[one.index].push_back(place);
      }
      for (const auto& [diff, size] : sizes) bytes += kDiffHeader + size;
      diffs += static_cast<uint32_t>(sizes.size());
      if (!one.ends_unit) continue;
      const uint64_t whole = unit.size + request_bytes();
      question->reply_bytes += question->alone[units++] ? std::min(bytes, whole) : bytes;
      bytes = 0;
    }
    return diffs;
  }

  void answer(const std::shared_ptr<Round>& round, uint32_t at, Question question) {
    for (const auto& [number, place] : question.needed) {
      if (units_[number].history[place].home) continue;
      engine_.at(engine_.now() + kLookAgain,
                 [this, round, at, question] { answer(round, at, question); });
      return;
    }
    const Time work = settings_.diff * make_diffs(round, at, &question);
    round->applying += work;
    engine_.serve(at, work);
    if (!question.needed.empty()) {  // a whole copy from home: all that is there
      for (size_t i = 0; i < round->numbers.size(); i++) {
        const Unit& unit = units_[round->numbers[i]];
        if (unit.home != at) continue;
        const Copy& copy = copies_[round->node][round->numbers[i]];
        for (uint32_t place = copy.from; place < unit.history.size(); place++) {
          if (unit.history[place].home) round->places[i].push_back(place);
        }
      }
    }
    engine_.send(engine_.now() + work,
                 {at, round->node, Group::kData, question.reply_bytes, true, true}, [this, round] {
                   if (--round->open == 0)
                     engine_.at(engine_.now() + round->applying, [this, round] { finish(round); });
                 });
  }

  void finish(const std::shared_ptr<Round>& round) {
    if (round->counts) engine_.counters[round->node].miss_wait += engine_.now() - round->began;
    for (size_t i = 0; i < round->numbers.size(); i++) {
      Copy& copy = copies_[round->node][round->numbers[i]];
      for (const uint32_t place : round->places[i]) copy.add(place);
      copy.fetching = false;
      for (Action& waiting : std::exchange(copy.waiting, {}))
        engine_.at(engine_.now(), std::move(waiting));
    }
    round->done();
  }

  Engine& engine_;
  const Workload& workload_;
  const Settings& settings_;
  const uint32_t nodes_;
  std::vector<std::vector<uint32_t>> known_;
  // Of each node: bytes of its notices up to and with each interval.
  std::vector<std::vector<uint64_t>> news_;
  std::vector<uint32_t> at_barrier_;             // its interval then
  std::vector<std::map<uint32_t, Open>> dirty_;  // units, in the open interval
  std::vector<std::set<uint32_t>> written_;  // units since the last barrier; for replay barriers
  std::unordered_map<uint32_t, Unit> units_;
  std::vector<std::unordered_map<uint32_t, Copy>> copies_;
};

}  // namespace

std::unique_ptr<Coherence> make_lazy(Engine& engine, const Workload& workload,
                                     const Settings& settings) {
  return std::make_unique<Lazy>(engine, workload, settings);
}

}  // namespace weir::predict
