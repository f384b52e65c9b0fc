// Sequential consistency: one writer or many readers of a unit at any time (Li and Hudak's fixed distributed manager).
#pragma once

#include <deque>
#include <vector>

#include "dsm/protocol.h"

namespace weir::dsm {

class Node;

class ScPage : public Page {
 public:
  bool started = false;            // the home's copy counts as the first one
  uint64_t granted = 0;            // when this node got its right (nanoseconds_now)

  // At home
  bool serving = false;            // a request is being served; others wait
  bool for_write = false;
  uint32_t missing = 0;            // answers
  ReplyTo asker;
  NodeId owner = kNoNode;          // may write, or none
  std::vector<bool> readers;
  std::deque<Message> waiting;
};

class ScProtocol : public Protocol {
 public:
  explicit ScProtocol(Node& node) : node_(node) {}
  std::unique_ptr<Page> make_page() override;
  void on_fault(Page& page, bool write, Thread& thread, std::unique_lock<std::mutex>& held) override;
  void on_message(Message&& message) override;

 private:
  void start(ScPage& page);
  void serve(ScPage& page, Message&& request);
  void give(ScPage& page);
  void take_away(ScPage& page, Message&& message);

  Node& node_;
};

}  // namespace weir::dsm
