// The settings of the environment (docs/guide/dsm-settings.md has the list for users).
#pragma once

#include <stdint.h>

#include <string>
#include <vector>

#include "weir/dsm.h"

namespace weir::dsm {

enum class Tapes : uint8_t { kOff, kCalled, kAuto };  // WEIR_DSM_TAPES=off|called|auto

struct Settings {
  weir_dsm_protocol protocol = WEIR_DSM_LRC;
  Tapes tapes = Tapes::kCalled;
  uint64_t size = uint64_t{64} << 30;  // of the segment: address space, not memory
  // The segment's address; 0: anywhere (tests with several nodes in one process).
  uint64_t address = 0x1000'0000'0000;
  uint64_t collect =
      uint64_t{256}
      << 20;  // bytes of diffs and twins on all nodes from which on garbage is collected
  unsigned threads = 1;
  unsigned tree = 4;        // children of a node in a barrier's tree
  bool statistics = false;  // see Tapeworm::measures
  // The destination of each: a file's name, "1" for stderr (of the first and the last), or empty
  // for none.
  std::string statistics_to, timeline, sharing;
  uint64_t timeline_events = 256 << 10;  // that a node keeps
  unsigned waits = 0;                    // seconds after which a wait is told; 0: never

  std::string record;  // directory for what weir-dsm-predict replays; empty: nothing is recorded
  bool check = false;  // look for races

  // Reads the environment. Ends the job where a value makes no sense.
  static Settings from_environment();
  // Returns the settings that must be equal on all nodes, as text: "VARIABLE=value".
  std::vector<std::string> common() const;
};

}  // namespace weir::dsm
