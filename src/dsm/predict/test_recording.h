// Recordings made by hand, and a machine whose costs are easy to add up. A message takes 100 ns of
// its sender, 1,000 to get there, and 10 of a server or 20 of a thread that waits for it. A fault
// takes 5. Nothing else takes time.
#pragma once

#include <utility>
#include <vector>

#include "dsm/predict/recording.h"
#include "dsm/predict/simulation.h"

namespace weir::predict {

class HandMade {
 public:
  explicit HandMade(uint32_t nodes) { recording.nodes.resize(nodes); }

  HandMade& on(uint32_t node, uint32_t thread = 0) {
    node_ = node;
    thread_ = thread;
    return *this;
  }
  // Before the next event.
  HandMade& compute(uint64_t nanoseconds) {
    computed_ += nanoseconds;
    return *this;
  }
  HandMade& put(EventKind kind, uint32_t object = 0, uint32_t count = 0, uint64_t bytes = 0,
                uint64_t value = 0, std::vector<UnitBytes> units = {}) {
    recording.nodes[node_].events.push_back({kind, thread_, std::exchange(computed_, 0), object,
                                             count, bytes, value, std::move(units)});
    return *this;
  }
  HandMade& read(uint32_t unit) { return put(EventKind::kAccess, unit); }
  HandMade& write(uint32_t unit) { return put(EventKind::kAccess, unit, 0, 0, 1); }
  HandMade& interval(std::vector<UnitBytes> units) {
    return put(EventKind::kInterval, 1, 0, 0, 0, std::move(units));
  }
  HandMade& barrier() { return put(EventKind::kArrive), put(EventKind::kLeave); }
  HandMade& acquire(uint32_t lock, std::vector<UnitBytes> brought = {}) {
    return put(EventKind::kAcquire, lock),
           put(EventKind::kGranted, lock, 0, 0, 0, std::move(brought));
  }
  HandMade& release(uint32_t lock) { return put(EventKind::kRelease, lock); }
  // By the server, which answers while the thread does something else.
  HandMade& give(uint32_t lock, uint32_t to) {
    recording.nodes[node_].events.push_back(
        {EventKind::kGive, kServerThread, 0, lock, 0, 0, to, {}});
    return *this;
  }
  HandMade& home(uint32_t first, uint32_t units, uint32_t node) {
    recording.allocations[first] = {first, units, 4096, 3, node};
    return *this;
  }

  Recording recording;

 private:
  uint32_t node_ = 0, thread_ = 0;
  uint64_t computed_ = 0;
};

inline Settings simple_settings(Protocol protocol = Protocol::kLrc, Tapes tapes = Tapes::kNone) {
  Settings settings;
  settings.protocol = protocol;
  settings.tapes = tapes;
  settings.network = {"simple", "", 1000, 1e9, 100, 10, 20, 0};
  settings.trap = 5;
  settings.diff = 0;
  return settings;
}

inline Prediction predicted(const HandMade& made, const Settings& settings) {
  const Workload workload = workload_of(made.recording);
  return Simulation(workload, settings).run();
}

}  // namespace weir::predict
