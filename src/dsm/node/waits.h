// Which node waits for which. At SIGQUIT, or if a wait lasts longer than WEIR_DSM_WAITS says, one
// node asks all for what their threads wait for, and prints it in one piece. So it does without a
// word if a thread waits long for a lock: if the locks are waited for in a circle, the job ends.
// Implemented in dsm/diagnostics/waits.cc.
#pragma once

#include <stdint.h>

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "dsm/base/counters.h"
#include "dsm/base/message.h"

namespace weir::dsm {

class Node;

class Waits {
 public:
  // `limit`: seconds; 0: no wait is too long.
  Waits(Node& node, unsigned limit) : node_(node), limit_(uint64_t{limit} * 1'000'000'000) {}

  // In a signal's handler too.
  void ask() { asked_.store(true, std::memory_order_relaxed); }
  // On the server's thread, now and then, with the mutex held.
  void on_idle();
  void on_message(Message&& message);

  struct ThreadState {
    uint32_t track = 0;
    Doing doing = Doing::kNothing;  // a wait, or kNothing
    uint32_t object = 0;
    uint64_t age = 0;
    std::string unit;  // of a miss
    std::vector<NodeId> asked;
    std::vector<uint32_t> holds;  // locks
  };
  struct LockState {
    uint32_t number = 0;
    uint16_t next = 0xffff;  // node that waits for this one's turn to end; 0xffff: none
    uint16_t taken = 0;
    uint32_t track = 0;  // thread that holds it
    uint32_t none = 0;
    uint64_t age = 0;  // of being held
  };
  struct NodeState {
    std::string host, details;
    uint32_t process = 0, threads = 1, passed = 0;
    std::vector<ThreadState> running;
    std::vector<LockState> locks;
  };
  // Returns the text that is printed. `nodes`: by number; empty if the node has not replied.
  static std::string describe(const std::vector<std::optional<NodeState>>& nodes);
  // A circle of threads that wait for locks only, and have done so for so long that all waited at
  // one moment; empty: there is none.
  static std::string deadlock(const std::vector<std::optional<NodeState>>& nodes);

 private:
  bool looks_for_deadlock(uint64_t now) const;
  void put(Message& message, bool is_quiet);
  static NodeState get(Message& message);
  void gather(const std::string& why, bool is_quiet = false);
  void print();

  Node& node_;
  const uint64_t limit_;
  std::atomic<bool> asked_{false};
  uint64_t answered_ = 0;  // when this node last told another
  uint64_t looked_ = 0;    // when it last looked for a deadlock
  // While this node asks
  std::string why_;
  bool is_quiet_ = false;
  uint64_t since_ = 0;  // 0: it does not
  uint32_t missing_ = 0;
  std::vector<std::optional<NodeState>> states_;
};

}  // namespace weir::dsm
