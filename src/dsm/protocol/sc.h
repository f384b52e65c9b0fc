// Sequential consistency: one writer or many readers of a unit at any time (Li and Hudak's fixed
// distributed manager).
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "dsm/node/node.h"

namespace weir::dsm {

class ScPage : public Page {
 public:
  bool started = false;  // the home's copy counts as the first one
  uint64_t granted = 0;  // when this node got its right (nanoseconds_now)

  // For a unit that is no page: the threads of this node that hold it, and the home's demand that
  // waits for them.
  struct Take {
    NodeId from;
    bool drop, send;
  };
  uint32_t held = 0, held_for_write = 0;
  std::optional<Take> take;

  // At home
  bool serving = false;  // a request is being served; others wait
  bool for_write = false;
  uint32_t missing = 0;  // answers
  ReplyTo asker;
  NodeId owner = kNoNode;  // may write, or none
  std::vector<bool> readers;
  std::deque<Message> waiting;
};

class ScProtocol : public Protocol {
 public:
  explicit ScProtocol(Node& node) : node_(node) {}
  std::unique_ptr<Page> make_page() override;
  void on_fault(Page& page, bool write, Thread& thread,
                std::unique_lock<std::mutex>& held) override;
  void on_message(Message&& message) override;
  bool is_in_use(const Page& page) const override {
    const auto& its = static_cast<const ScPage&>(page);
    return its.serving || its.held > 0 || its.take || !its.waiting.empty();
  }

  // An access of a unit that is no page: the thread holds it until it synchronizes, or until an
  // access of another unit needs its place in the order.
  void hold(Page& page, bool write, Thread& thread, std::unique_lock<std::mutex>& held);
  // The thread synchronizes, or ends.
  void let_go(Thread& thread) { let_go_from(0, thread); }
  // A line for each unit that a node waits for here.
  std::string describe() const;

 private:
  // Returns whether the home waits to hear that it is done.
  bool get_right(ScPage& page, bool write, Thread& thread, std::unique_lock<std::mutex>& held);
  void hold_one(ScPage& page, bool write, Thread& thread, std::unique_lock<std::mutex>& held);
  std::vector<Hold> let_go_from(UnitId first, Thread& thread);
  void start(ScPage& page);
  void serve(ScPage& page, Message&& request);
  void give(ScPage& page);
  void take_away(ScPage& page, const ScPage::Take& take);

  Node& node_;
  uint32_t takes_ = 0;  // that wait
};

}  // namespace weir::dsm
