// WEIR_DSM_TIMELINE: what every thread of every node did when, in one file in the trace-event
// format that chrome://tracing and Perfetto open.
// Implemented in dsm/diagnostics/timeline.cc.
//
// Each node keeps events of fixed size in memory; at the end node 0 asks for them and writes the
// file. Guarded by: Node::mutex.
#pragma once

#include <stdint.h>

#include <mutex>
#include <string>
#include <vector>

#include "dsm/base/counters.h"
#include "dsm/base/message.h"

namespace weir::dsm {

class Node;
struct Thread;

// The name of this process's clock. It is the same in two processes that see the same clock.
const std::vector<char>& clock_name();

class Timeline {
 public:
  // Tracks of the library's own threads.
  static constexpr uint16_t kServer = 0xffff, kPeers = 0xfffe, kCollector = 0xfffd;

  // Layout: as it is sent.
  struct Event {
    uint64_t start = 0, duration = 0;  // nanoseconds, by this node's clock
    ReplyTo flow;                      // the request that this is, or serves
    uint32_t object = 0;               // unit, lock, barrier
    uint32_t amount = 0;               // bytes; of diffs applied, their number
    uint16_t track = 0;
    uint16_t peer = 0;  // node: the one asked first, the sender of the message
    Doing doing = Doing::kNothing;
    uint8_t detail = 0;  // of a fault: it writes; of what is served: its Kind
    uint16_t none = 0;
  };
  static_assert(sizeof(Event) == 40);

  Timeline(Node& node, bool on, uint64_t most) : node_(node), on_(on), most_(most) {}

  bool on() const { return on_; }
  void add(const Event& event);

  // By how much node 0's clock is ahead of this one's: at the start, and once more at the end,
  // since clocks drift.
  void measure_clock(Thread& thread, std::unique_lock<std::mutex>& held);

  // What node 0 asks for: events from `first` on, as many as fit into one message, behind what
  // belongs to the node.
  void put(uint64_t first, Message& message);
  // Node 0: asks all nodes, and writes the file. Returns what must be said about it.
  std::string write(const std::string& path, Thread& thread, std::unique_lock<std::mutex>& held);

 private:
  struct Clock {
    uint64_t at = 0;
    int64_t ahead = 0;
  };

  Node& node_;
  const bool on_;
  const uint64_t most_;
  std::vector<std::vector<Event>> pieces_;
  uint64_t count_ = 0, dropped_ = 0, dropped_from_ = 0;
  const uint64_t created_ = nanoseconds_now();
  Clock clocks_[2];
};

}  // namespace weir::dsm
