// WEIR_DSM_SHARING: false sharing, that is units which several nodes write at the same time at
// different bytes, so that each has to ask the others for what it never reads.
// Implemented in dsm/diagnostics/false_sharing.cc and dsm/diagnostics/false_sharing_report.cc.
//
// Each node notes what its own diffs hold, when they were made, by which instructions it writes,
// and what the unit costs it; at the end node 0 asks for that and compares. Guarded by:
// Node::mutex.
#pragma once

#include <stdint.h>

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "dsm/base/message.h"
#include "dsm/base/page.h"
#include "dsm/base/source_lines.h"

namespace weir::dsm {

class Node;
struct Diff;
struct Thread;

class Sharing {
 public:
  // One diff. Words are of grain() bytes.
  struct Written {
    uint32_t first = 0;  // interval in which the writing began
    VectorTime known;    // by its node, when the diff was made; empty: of a protocol without diffs
    std::vector<uint64_t> words;  // a bit for each
  };
  struct Line {  // of the program, whose write trapped
    CodePlace at;
    uint32_t count = 0;
  };
  struct Unit {
    uint64_t misses = 0, diffs = 0, bytes = 0;  // of diffs that came, and of other copies
    std::vector<Written> written;
    std::vector<Line> lines;
  };
  struct OfNode {
    std::map<UnitId, Unit> units;
    uint64_t misses = 0, diffs = 0, bytes = 0,
             dropped = 0;  // of all units; dropped: diffs that were not kept for lack of room
  };

  Sharing(Node& node, bool on) : node_(node), on_(on) {}

  bool on() const { return on_; }
  void on_miss(const Page& page) {
    if (on_) units_[page.id].misses++;
  }
  void on_received(const Page& page, uint64_t diffs, uint64_t bytes) {
    if (on_) add_received(page, diffs, bytes);
  }
  void on_made(const Page& page, const Diff& diff) {
    if (on_) add_made(page, diff);
  }
  void on_write_fault(const Page& page, const void* address, const void* program_counter) {
    if (on_) add_fault(page, address, program_counter);
  }

  // What node 0 asks for: units from `first` on, as many as fit into one message.
  void put(UnitId first, Message& message);
  // Node 0: asks all nodes, and returns the report.
  std::string report(Thread& thread, std::unique_lock<std::mutex>& held);
  // Returns the report of what has been gathered, by node.
  std::string describe(const std::vector<OfNode>& nodes);

  static uint64_t grain(uint64_t unit_size);

 private:
  struct Kept : Unit {
    std::vector<std::pair<const void*, uint32_t>> traps;  // program counter, how often
    uint32_t kept_at = 0, kept = 0;                       // barrier, and how many diffs since
  };

  void add_received(const Page& page, uint64_t diffs, uint64_t bytes);
  void add_made(const Page& page, const Diff& diff);
  void add_fault(const Page& page, const void* address, const void* program_counter);
  bool has_room(Kept& unit, uint64_t bytes);

  Node& node_;
  const bool on_;
  std::map<UnitId, Kept> units_;
  uint64_t memory_ = 0, dropped_ = 0;
};

}  // namespace weir::dsm
