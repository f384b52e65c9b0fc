// What the modelled machine and its network cost.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weir::predict {

struct Network {
  std::string name, what;
  double latency = 0;    // nanoseconds from the sender's link to the receiver's
  double bandwidth = 1;  // bytes a nanosecond, of each node's link in each direction
  double send = 0;       // nanoseconds of the sender for a message
  double serve = 0;      // of the receiver's server, which wakes up for it
  double wake = 0;       // of a thread that waits for it
  double copy = 0.1;     // nanoseconds a byte, at both ends
};

const std::vector<Network>& networks();
// NULL: there is none of this name.
const Network* network_of(const std::string& name);

}  // namespace weir::predict
