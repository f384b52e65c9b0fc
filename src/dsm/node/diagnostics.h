// What a user sees of a run beside its results: statistics, the timeline, false sharing, which node
// waits for which.
// Implemented in dsm/diagnostics/counters_table.cc and dsm/diagnostics/diagnostics.cc.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "dsm/base/message.h"
#include "dsm/node/false_sharing.h"
#include "dsm/node/span.h"
#include "dsm/node/timeline.h"
#include "dsm/node/waits.h"

namespace weir::dsm {

class Node;
struct Settings;

// What node 0 asks for; of kTime, any node asks node 0.
enum class DiagnosticsQuestion : uint8_t { kTime, kCounters, kTimeline, kSharing };

class Diagnostics {
 public:
  Diagnostics(Node& node, const Settings& settings);

  // At the start, of a job: files that cannot be written end it now, not after hours; and clocks
  // are compared.
  void start(Thread& thread);
  // At the end, before the last barrier.
  void before_finish(Thread& thread);
  // Called after it: node 0 asks the others, which still serve, and prints and writes what was
  // asked for.
  void report(Thread& thread);
  void on_message(Message&& message);

  Timeline timeline;
  Sharing sharing;
  Waits waits;
  std::vector<ThreadDiagnostics*> threads;  // of the program, that have called the library
  bool was_reset = false;                   // the counters, by the program

 private:
  std::string statistics(Thread& thread, std::unique_lock<std::mutex>& held, bool json);
  void put_counters(Message& message);

  Node& node_;
  const uint64_t started_;
  bool is_finished_ = false;  // this node's thread has left the last barrier, and counts no more
  ReplyTo counters_asker_;    // before that: the thread that gets the counters then
};

// A table, or JSON, of what each node counted.
struct NodeCounters {
  weir_dsm_counters now = {};
  Counters counters;
  uint64_t bytes[4] = {};
};
std::string counters_table(const std::vector<NodeCounters>& nodes, const std::string& title);
std::string counters_json(const std::vector<NodeCounters>& nodes, double seconds);

// To `path`, or to stderr where it is "1". False, and errno: it was not written.
bool write_report(const std::string& path, const std::string& text);
// "12.3 MB", "1.20 s"
std::string text_of_bytes(uint64_t bytes);
std::string text_of_time(uint64_t nanoseconds);

}  // namespace weir::dsm
