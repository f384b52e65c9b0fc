// Home-based lazy release consistency (Zhou, Iftode and Li, OSDI 1996): diffs go to the unit's home
// at the end of each interval, and who misses a unit fetches it whole.
// Implemented in collect.cc and hlrc.cc.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "dsm/node/node.h"
#include "dsm/protocol/lrc.h"

namespace weir::dsm {

class HomePage : public LazyPage {
 public:
  using LazyPage::LazyPage;
  struct Pending {
    DiffPtr diff;
    VectorTime needs;  // what the writer's copy had
  };
  std::vector<Pending> pending;  // at home: came before what it builds on
};

class HlrcProtocol : public LrcProtocol {
 public:
  explicit HlrcProtocol(Node& node) : LrcProtocol(node) {}
  std::unique_ptr<Page> make_page() override;
  void on_fault(Page& page, bool write, Thread& thread,
                std::unique_lock<std::mutex>& held) override;
  void on_interval_closed(const Interval& interval, const std::vector<Page*>& pages) override;
  void on_message(Message&& message) override;
  void fetch(const std::vector<LazyPage*>& pages, Thread& thread,
             std::unique_lock<std::mutex>& held) override;
  void make_homes_current(const VectorTime& upto, Thread& thread,
                          std::unique_lock<std::mutex>& held) override;
  void settle(const VectorTime& upto) override;
  bool needs_base(const LazyPage&) const override {
    return false;
  }  // each fetch is of the home's copy
  bool asks_others(const LazyPage& page) const override {
    return page.home != node_.me();
  }  // a home waits for diffs on their way
  // Fetches that waited: diffs have come, or a block was freed.
  void serve_waiting();
  // A line for each fetch that waits for diffs here.
  std::string describe() const;

 protected:
  void on_made(LazyPage& page, const DiffPtr& diff) override;

 private:
  struct Flush {
    uint32_t count = 0;
    Message diffs{0};
  };

  // A unit that the message names; this node is its home.
  HomePage& page_at_home(UnitId unit, const Message& message);
  void on_flush(Message&& message);
  void on_fetch(Message&& message);
  bool take_pending(HomePage& page);
  void send_flushes();
  bool has_all(LazyPage& page, const VectorTime& needs) const;

  bool batches_ = false;
  std::map<NodeId, Flush> batch_;
  std::vector<Message> waiting_;  // fetches that need diffs which are on their way
};

}  // namespace weir::dsm
