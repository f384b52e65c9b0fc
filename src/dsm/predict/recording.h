// A recording of a real run, read from the files that stream.h describes.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "dsm/predict/stream.h"

namespace weir::predict {

// A recording that cannot be read: the message is for the user and names the file.
struct Damage : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Allocation {
  uint32_t first = 0, numbers = 0;  // units have numbers from [first, first + numbers)
  uint32_t unit_bytes = 4096;
  uint32_t policy = 0;     // as weir_dsm_home
  uint32_t home_node = 0;  // where that is explicit
  uint32_t step = 1;       // between the numbers of two units
};

struct NodeStream {
  std::vector<Event> events;  // without the end; in the order in which the node wrote them
  Measured measured;
};

struct Recording {
  uint32_t threads = 1;   // of a node, the most at once
  uint32_t protocol = 2;  // as weir_dsm_protocol
  bool tapes = false;
  std::vector<NodeStream> nodes;
  std::map<uint32_t, Allocation> allocations;  // by their first unit, of all nodes

  Measured measured() const;  // all nodes added up; time: the longest
};

// Throws Damage.
Recording read_recording(const std::string& directory);
// One node's file, given as bytes; `path` is for messages. Sets what the header says of the run in
// `recording`, and answers the node's number.
uint32_t read_stream(const std::string& path, const std::vector<uint8_t>& bytes,
                     Recording* recording);

}  // namespace weir::predict
