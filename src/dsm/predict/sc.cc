// Sequential consistency with one writer, unit by unit (dsm/protocol/sc.cc). The unit's home knows
// the owner and the nodes that have copies, and takes one request for a unit after the other.
//
// A miss is a request to the home. For each other node that must give up something (for a read: the
// owner, writing; for a write: all copies) there is a message to it and a reply, the owner's with
// the unit. Then comes the grant, with the unit if the asker has no copy, and a message to the home
// that it has arrived. What the home has itself costs nothing.
//
// A recording of a lazy protocol tells only the first access in an interval. A unit that was taken
// away within an interval would have been missed again by the next access, of which nothing is
// known. So what this predicts for false sharing is the least that it can be. That a unit was
// written in an interval is known, so it is written once when that is told.
#include <algorithm>
#include <deque>
#include <functional>
#include <set>
#include <unordered_map>

#include "dsm/predict/coherence.h"

namespace weir::predict {

namespace {

constexpr uint64_t kBody = 8;  // of a message without the unit

struct Request {
  uint32_t node;
  bool write;
  Action done;
};

struct Unit {
  uint32_t number = 0;
  uint32_t manager = 0, size = 0;
  std::set<uint32_t> copies;  // the owner's too
  bool owned = true;          // the only copy may be written
  bool known = false, busy = false;
  std::deque<Request> requests;
};

class Sc : public Coherence {
 public:
  Sc(Engine& engine, const Workload& workload, const Settings& settings)
      : engine_(engine), workload_(workload), settings_(settings) {}

  std::optional<Time> access(uint32_t node, uint32_t number, bool write, Action done) override {
    Unit& unit = this->unit(number, node);
    if (may(unit, node, write)) return engine_.now() + settings_.trap;
    miss(node, unit, write, std::move(done));
    return std::nullopt;
  }

  std::optional<Time> touch(uint32_t node, const std::vector<UnitBytes>& units, bool write,
                            Action done) override {
    auto open = std::make_shared<size_t>(1);
    const Action one_less = [open, done = std::move(done)] {
      if (--*open == 0) done();
    };
    for (const UnitBytes& one : units) {
      Unit& unit = this->unit(one.unit, node);
      if (may(unit, node, write)) continue;
      ++*open;
      miss(node, unit, write, one_less);
    }
    if (*open == 1) return engine_.now() + settings_.trap;
    engine_.at(engine_.now(), one_less);
    return std::nullopt;
  }

  std::optional<Time> wrote(uint32_t node, const std::vector<UnitBytes>& units, bool told,
                            Action done) override {
    for (size_t i = 0; i < units.size(); i++) {
      Unit& unit = this->unit(units[i].unit, node);
      if (may(unit, node, true)) continue;
      const std::vector<UnitBytes> rest(units.begin() + static_cast<ptrdiff_t>(i) + 1, units.end());
      miss(node, unit, true, [this, node, rest, told, done = std::move(done)]() mutable {
        Action again = done;
        if (const std::optional<Time> when = wrote(node, rest, told, std::move(again)))
          engine_.at(*when, std::move(done));
      });
      return std::nullopt;
    }
    return engine_.now();
  }

 private:
  Unit& unit(uint32_t number, uint32_t toucher) {
    Unit& unit = units_[number];
    if (!unit.known) {
      unit.known = true;
      unit.number = number;
      unit.size = workload_.unit_bytes(number);
      unit.manager = workload_.home_of(number);
      if (unit.manager == Workload::kNoHome) unit.manager = toucher;
      unit.copies.insert(unit.manager);
    }
    return unit;
  }

  static bool may(const Unit& unit, uint32_t node, bool write) {
    return unit.copies.count(node) > 0 && (unit.owned || !write);
  }

  void miss(uint32_t node, Unit& unit, bool write, Action done) {
    const Time began = engine_.now();
    Action counted = [this, node, began, done = std::move(done)] {
      engine_.counters[node].miss_wait += engine_.now() - began;
      done();
    };
    engine_.counters[node].misses++;
    engine_.send(engine_.now() + settings_.trap,
                 {node, unit.manager, Group::kData, kBody, false, false},
                 [this, &unit, request = Request{node, write, std::move(counted)}]() mutable {
                   unit.requests.push_back(std::move(request));
                   next(unit);
                 });
  }

  void next(Unit& unit) {
    if (unit.busy || unit.requests.empty()) return;
    unit.busy = true;
    auto request = std::make_shared<Request>(std::move(unit.requests.front()));
    unit.requests.pop_front();
    const uint32_t asker = request->node, manager = unit.manager;

    auto open = std::make_shared<size_t>(1);
    const Action answered = [this, &unit, request, open] {
      if (--*open == 0) give(unit, request);
    };
    for (const uint32_t holder : unit.copies) {
      if (holder == asker || !(request->write || unit.owned)) continue;
      ++*open;
      const uint64_t bytes = kBody + (unit.owned && holder != manager ? unit.size : 0);
      engine_.send(engine_.now(), {manager, holder, Group::kData, kBody, true, false},
                   [this, holder, manager, bytes, answered] {
                     engine_.send(engine_.now(),
                                  {holder, manager, Group::kData, bytes, true, false}, answered);
                   });
    }
    answered();
  }

  void give(Unit& unit, const std::shared_ptr<Request>& request) {
    const uint32_t asker = request->node;
    const uint64_t bytes = kBody + (unit.copies.count(asker) > 0 ? 0 : unit.size);
    if (request->write) unit.copies.clear();
    unit.copies.insert(asker);
    unit.owned = request->write;
    engine_.send(engine_.now(), {unit.manager, asker, Group::kData, bytes, true, true},
                 [this, &unit, request] {
                   const Time free = engine_.send(
                       engine_.now(),
                       {request->node, unit.manager, Group::kData, kBody, false, false},
                       [this, &unit] {
                         unit.busy = false;
                         next(unit);
                       });
                   engine_.at(free, std::move(request->done));
                 });
  }

  Engine& engine_;
  const Workload& workload_;
  const Settings& settings_;
  std::unordered_map<uint32_t, Unit> units_;  // its elements stay where they are
};

}  // namespace

std::unique_ptr<Coherence> make_sc(Engine& engine, const Workload& workload,
                                   const Settings& settings) {
  return std::make_unique<Sc>(engine, workload, settings);
}

}  // namespace weir::predict
