// All nodes in one process, for tests: no MPI, no UCX, and delays by chance that show what a
// protocol takes for granted.
#pragma once

#include <memory>
#include <vector>

#include "dsm/net/transport.h"

namespace weir::dsm {

struct LoopbackOptions {
  uint64_t seed = 1;
  uint32_t delay_microseconds = 0;  // the most by which a message is late. Messages of different
                                    // threads overtake each other then, and replies all others
};

// The transports of nodes 0 to nodes - 1. They share what carries the messages: each may be
// destroyed when it has been stopped, in any order.
std::vector<std::unique_ptr<Transport>> make_loopback(NodeId nodes,
                                                      const LoopbackOptions& options = {});

}  // namespace weir::dsm
