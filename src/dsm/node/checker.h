// WEIR_DSM_CHECK=1: races between nodes, found by their diffs. Two intervals of two nodes that the
// program's synchronization does not order, and of which both changed the same byte: that is one.
// Implemented in dsm/races/checker.cc and dsm/races/checker_report.cc.
// All with the node's mutex held; those that are given it may let go of it while they wait.
#pragma once

#include <stdint.h>

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "dsm/base/intervals.h"
#include "dsm/base/message.h"
#include "dsm/base/source_lines.h"

namespace weir::dsm {

class LazyPage;
class Node;
class Page;
struct Thread;
struct Diff;
using DiffPtr = std::shared_ptr<const Diff>;

// What an interval begins with.
struct Synchronization {
  enum Kind : uint32_t { kStart, kLock, kUnlock, kBarrier, kPost, kTake } kind = kStart;
  uint32_t number = 0;
  uint32_t times = 0;  // it has happened on this node, with this
  std::string describe() const;
};

// One of the two writers.
struct RaceSide {
  NodeId node = 0;
  std::string host;
  uint32_t interval = 0;
  Synchronization began;
  CodePlace place;             // first write of the interval to the unit
  std::vector<uint8_t> value;  // of the first run that both wrote; at most 16 bytes
};

struct Race {
  struct Run {
    uint32_t offset, size;  // in the unit
    bool operator==(const Run&) const = default;
  };
  UnitId unit = 0;
  std::vector<Run> runs;  // that both wrote
  RaceSide sides[2];
};

class Checker {
 public:
  explicit Checker(Node& node) : node_(node) {}

  // --- Gathering. Each does nothing where the setting is off.
  // A thread of this node synchronizes: what it has written until now gets into an interval of its
  // own.
  void synchronize(Synchronization::Kind kind, uint32_t number);
  // A thread has got the right to write the unit.
  void on_write(Page& page, Thread& thread);
  // What a closed interval of this node changed in a unit.
  void on_made(LazyPage& page, const DiffPtr& diff);

  // --- After a barrier: compares what this node and those with higher numbers wrote since the last
  //     one.
  void compare(Thread& thread, std::unique_lock<std::mutex>& held);
  // Collective, at the end: all nodes' races, as often as they happened; node 0 has printed them.
  uint64_t finish(Thread& thread, std::unique_lock<std::mutex>& held);
  void on_message(Message&& message);

  // For tests: those that this node has found, where it keeps them, and how many diffs it had to
  // ask for.
  std::vector<Race> races;
  bool keeps = false;
  uint64_t asked = 0;

 private:
  struct Written {
    DiffPtr diff;
    const void* place;
  };
  struct Closed {  // an interval
    Synchronization began;
    std::map<UnitId, Written> units;
  };
  struct Pair {
    UnitId unit;
    uint32_t mine;
    IntervalId its;
    DiffPtr diff;  // the other's
  };
  // A diff, and the interval and unit that name it where it is asked for.
  struct Named {
    uint32_t index;
    UnitId unit;
  };

  std::vector<Pair> concurrent(const VectorTime& upto) const;
  void ask_diffs(std::span<Pair> pairs, Thread& thread, std::unique_lock<std::mutex>& held);
  void ask_sides(std::vector<Race>& races, Thread& thread, std::unique_lock<std::mutex>& held);
  std::map<NodeId, Message> ask(uint8_t kind, const std::map<NodeId, std::vector<Named>>& named,
                                Thread& thread, std::unique_lock<std::mutex>& held);
  bool race_of(const Pair& pair, const Diff& its, Race& race) const;
  RaceSide side_of(uint32_t index, UnitId unit) const;
  void report(std::vector<Race>& found, std::unique_lock<std::mutex>& held);
  void on_race(Message&& message);

  Node& node_;
  Synchronization began_;                                    // the open interval
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> times_;  // kind and number
  std::unordered_map<UnitId, const void*> places_;  // last that a unit was made writable at
  std::map<uint32_t, Closed>
      closed_;           // by index: since the last barrier but one, as others may ask still
  VectorTime compared_;  // all nodes' intervals up to here
  // What was found here
  std::set<std::string> told_;
  uint64_t happened_ = 0, sent_ = 0;
  // Node 0: what all have found
  std::set<std::string> known_;  // bytes and places of a race; other pairs of nodes may have it too
  std::map<std::string, uint32_t> printed_;  // allocation and places: races
  uint64_t received_ = 0;
};

inline constexpr int kRaces = 66;  // weir check's status
// The process ends with `status` where the program ends with 0.
void end_with(int status);

}  // namespace weir::dsm
