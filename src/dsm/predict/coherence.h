// The interface of a modelled protocol, and what all of them do at synchronization.
// Implemented in lazy.cc and sc.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "dsm/predict/engine.h"
#include "dsm/predict/workload.h"

namespace weir::predict {

enum class Protocol : uint8_t { kSc = 1, kLrc = 2, kHlrc = 3 };  // as weir_dsm_protocol
enum class Tapes : uint8_t {
  kNone,
  kRecorded,  // what the recorded run sent by tapes is sent
  kReplay,    // barriers are replay barriers, and locks auto-locks
};

struct Settings {
  Protocol protocol = Protocol::kLrc;
  Tapes tapes = Tapes::kNone;
  Network network;
  bool links = false;           // messages wait for each other on links
  uint32_t cores = 0;           // of all nodes together; 0: one for each thread
  bool recorded_locks = false;  // locks go from node to node as they did, if the workload tells;
                                // else as the model's time has it
  double speed = 1;             // of a modelled core, against the recorded one
  uint32_t arity = 4;           // of the barrier's tree
  Time trap = 3000;             // a fault, with the change of protection
  Time diff = 1500;             // to make or apply one
};

// For each node, up to which interval somebody knows. NULL: the protocol has none.
using Stamp = std::shared_ptr<const std::vector<uint32_t>>;

// Data that travels unasked.
struct Updates {
  uint64_t bytes = 0;
  std::vector<std::pair<uint32_t, uint32_t>> writes;  // unit, place in its history
  std::vector<uint32_t> units;
};

class Coherence {
 public:
  virtual ~Coherence() = default;

  // A thread accesses something. Answers when it goes on, if that is known already; else `done` is
  // called by then.
  virtual std::optional<Time> access(uint32_t node, uint32_t unit, bool write, Action done) = 0;
  virtual std::optional<Time> touch(uint32_t node, const std::vector<UnitBytes>& units, bool write,
                                    Action done) = 0;
  // The node has written `units` in the open interval. `told`: a node that requested one of them
  // was told of that before the interval's end.
  virtual std::optional<Time> wrote(uint32_t node, const std::vector<UnitBytes>& units, bool told,
                                    Action done) = 0;
  // A thread has made the diff of what the node has written to the unit: it has learned of
  // another's writes, or begins to produce.
  virtual void made_diff(uint32_t, uint32_t) {}
  // The node's interval ends, if it wrote anything. Answers until when that takes. `by_server`:
  // else by a thread of the program.
  virtual Time close(uint32_t, Time start, bool) { return start; }

  // --- Knowledge, in messages of synchronization
  virtual Stamp stamp(uint32_t) { return nullptr; }
  virtual Stamp merged() { return nullptr; }  // of all nodes
  virtual void learn(uint32_t, const Stamp&) {}
  virtual uint64_t request_bytes() const { return 0; }  // for a node that says what it knows
  virtual uint64_t news_bytes(const Stamp&, uint32_t) const {
    return 0;
  }  // what the stamp's owner tells a node
  virtual uint64_t own_news_bytes(uint32_t) const {
    return 0;
  }  // what a node has done since the last barrier
  virtual void barrier_passed() {}

  // --- Tapes
  // What `from` has (`own`: has written) and `to` lacks of these units; what it lacks only as it
  // does not know of it yet is included. `until`: nothing later than that.
  virtual Updates updates(uint32_t, uint32_t, const std::vector<uint32_t>&, bool, const Stamp&) {
    return {};
  }
  virtual void take(uint32_t, const Updates&) {}
  // For a replay barrier: what the node has written since the last one, and who has asked for it
  // before.
  virtual std::vector<std::pair<uint32_t, std::vector<uint32_t>>> wanted(uint32_t) { return {}; }
};

std::unique_ptr<Coherence> make_lazy(Engine& engine, const Workload& workload,
                                     const Settings& settings);
std::unique_ptr<Coherence> make_sc(Engine& engine, const Workload& workload,
                                   const Settings& settings);

}  // namespace weir::predict
