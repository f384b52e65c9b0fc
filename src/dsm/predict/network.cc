// Presets. Those called "here" are fitted to measured round trips between processes of one machine,
// with a server thread that sleeps until it is asked (64 bytes, reply of 4 KiB: 18 us over shared
// memory, 35 us over TCP). The others are fitted to what such networks usually have, with the same
// server behind them. It is better to measure a network and to give its values by --latency and its
// like.
#include "dsm/predict/network.h"

namespace weir::predict {

const std::vector<Network>& networks() {
  static const std::vector<Network> kNetworks = {
      {"shared-memory", "processes of one machine", 300, 5.0, 500, 11000, 4000, 0.1},
      {"tcp-loopback", "processes of one machine over TCP", 4000, 2.0, 3000, 12000, 8000, 0.15},
      {"1gbe", "1 Gbit/s Ethernet, TCP", 25000, 0.117, 3000, 12000, 8000, 0.15},
      {"10gbe", "10 Gbit/s Ethernet, TCP", 10000, 1.17, 3000, 12000, 8000, 0.15},
      {"ib100", "100 Gbit/s InfiniBand", 900, 12.0, 300, 6000, 1000, 0.1},
  };
  return kNetworks;
}

const Network* network_of(const std::string& name) {
  for (const Network& network : networks()) {
    if (network.name == name) return &network;
  }
  return nullptr;
}

}  // namespace weir::predict
