// Regions of libweir-region as units: on each node one of its own memory, whose level is the unit's
// right.
// Implemented in dsm/core/regions.cc.
#pragma once

#include <stdint.h>

#include <unordered_map>

namespace weir::dsm {

class Node;

class Regions {
 public:
  explicit Regions(Node& node) : node_(node) {}
  ~Regions();
  // Returns an address in this node's region for a block, which is made the first time.
  void* create(uint32_t block, uint64_t size);
  void attach(uint32_t block, void** pointer);

 private:
  Node& node_;
  // Those that are attached are bounded by `pointer`: a change of level then moves a region's own
  // pointers, not all that there are.
  struct Made {
    void* region = nullptr;
    void* pointer = nullptr;
  };
  std::unordered_map<uint32_t, Made> made_;
};

}  // namespace weir::dsm
