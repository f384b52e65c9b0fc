// TCP connections between nodes, by which they watch each other.
#pragma once

#include <stdint.h>

#include <array>
#include <string>
#include <vector>

#include "dsm/net/bootstrap.h"

namespace weir::dsm {

// What a node tells the others of itself.
struct Identity {
  std::string host;
  std::string machine;  // equal: a process number means the same process there as here
  std::string network;  // equal: 127.0.0.1 is the same
  uint32_t pid = 0;
  uint64_t token = 0;                              // what a connecting node must know
  uint16_t port4 = 0, port6 = 0;                   // 0: none
  std::vector<std::array<uint8_t, 16>> addresses;  // IPv6, or IPv4 in it
};

struct Links {
  struct Link {
    NodeId node;
    int socket;  // not blocking, closed by exec
  };
  std::vector<Identity> nodes;
  std::vector<Link> links;  // of this node
};

// The nodes that `node` is linked with: those at distances of 1, 2, 4, 8, ... in both directions,
// so that all are linked with all up to five nodes, no node's end parts the others, and what one
// says reaches everybody in a few steps.
std::vector<NodeId> neighbours(NodeId node, NodeId nodes);

// Collective. Only addresses of the interfaces named in `interfaces` (with commas between them;
// NULL: all) are told.
Links connect_nodes(Bootstrap& bootstrap, const char* interfaces);

}  // namespace weir::dsm
