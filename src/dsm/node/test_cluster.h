// For tests: several nodes in one process over the loopback transport, each with its own segment at
// its own address, and real faults.
#pragma once

#include <memory>
#include <thread>
#include <vector>

#include "dsm/net/loopback.h"
#include "dsm/node/this_node.h"

namespace weir::dsm {

class TestCluster {
 public:
  // Wherever settings.address says: each segment lies where there is room.
  TestCluster(NodeId nodes, Settings settings, const LoopbackOptions& options = {},
              unsigned threads = 1)
      : TestCluster(make_loopback(nodes, options), settings, threads) {}
  TestCluster(std::vector<std::unique_ptr<Transport>> transports, Settings settings,
              unsigned threads = 1)
      : threads_(threads), transports_(std::move(transports)) {
    settings.address = 0;
    for (auto& transport : transports_) {
      nodes_.push_back(std::make_unique<Node>(*transport, settings));
      nodes_.back()->threads = threads;
      watch_faults(*nodes_.back());
    }
  }
  ~TestCluster() {
    uint32_t begun;
    {
      std::unique_lock<std::mutex> held(nodes_[0]->mutex);
      nodes_[0]->collector.end_beginning();
      begun = nodes_[0]->collector.begun();
    }
    for (auto& node : nodes_) {
      std::unique_lock<std::mutex> held(node->mutex);
      node->collector.wait_for(begun, held);
    }
    for (auto& node : nodes_) forget_faults(*node);
  }

  // body(worker), a thread each; workers count through the first node's threads first.
  template <typename Body>
  void run(Body body) {
    std::vector<std::thread> workers;
    for (unsigned worker = 0; worker < nodes_.size() * threads_; worker++) {
      workers.emplace_back([&, worker] {
        use_node(&node(worker), worker % threads_);
        body(worker);
        use_node(nullptr, 0);
      });
    }
    for (std::thread& worker : workers) worker.join();
  }
  Node& node(unsigned worker) { return *nodes_[worker / threads_]; }
  // Returns the address of one shared byte in the view of the worker's node.
  uint8_t* view(unsigned worker, uint64_t offset) {
    return node(worker).memory.segment.program() + offset;
  }

 private:
  const unsigned threads_;
  std::vector<std::unique_ptr<Transport>> transports_;
  std::vector<std::unique_ptr<Node>> nodes_;  // before the transports go
};

}  // namespace weir::dsm
