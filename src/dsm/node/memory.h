// The allocated parts of the segment, and the units in them. Node 0 hands blocks out. Every node
// knows each block before its address is given to any thread. Small allocations are slots in blocks
// that a node has for itself (heap.h).
// Implemented in dsm/core/freeing.cc, dsm/core/memory.cc and dsm/checkpoint/checkpoint.cc.
#pragma once

#include <stdint.h>

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "dsm/base/message.h"
#include "dsm/base/page.h"
#include "dsm/node/heap.h"
#include "dsm/segment/segment.h"
#include "tape/extent.h"
#include "weir/dsm.h"

namespace weir::dsm {

class Node;
struct Thread;

// Allocated at once, with one set of attributes. Small allocations share one.
// Layout: as it is sent.
struct Block {
  uint32_t number = 0;
  UnitKind kind = UnitKind::kPages;
  uint8_t protocol = WEIR_DSM_LRC;  // no default any more
  uint8_t home = WEIR_DSM_BLOCK;
  uint8_t freed = 0;
  uint32_t home_node = 0;
  uint32_t unit_pages = 1;
  uint64_t offset = 0, size = 0;  // in the segment; a region's size, in bytes
  NodeId owner = kNoNode;         // whose heap it is for; none: one allocation, or node 0's
  uint32_t unused = 0;
  char name[64] = {};
};

struct Allocation {
  uint64_t offset = 0, size = 0;
  uint32_t block = 0;
  char name[64] = {};
};

// Units that are no pages are numbered by their block from here on.
inline constexpr UnitId kObjectUnits = 0x8000'0000;

class Memory {
 public:
  Memory(Node& node, uint64_t address, uint64_t size) : segment(address, size), node_(node) {}

  // Makes an allocation, and returns its address in this node's view (for a region: none, see
  // region()).
  uint8_t* allocate(uint64_t size, const Block& attributes, const char* name, Thread& thread,
                    std::unique_lock<std::mutex>& held, uint32_t* number = nullptr);
  // Allocates from this node's heap. Not with diagnostics that name each allocation.
  bool is_for_heap(uint64_t size, const Block& attributes) const;
  // `is_used`: it is not zero yet, and the caller makes it so.
  uint8_t* allocate_small(uint64_t size, const Block& attributes, bool& is_used, Thread& thread,
                          std::unique_lock<std::mutex>& held);
  void free(void* memory, Thread& thread, std::unique_lock<std::mutex>& held);
  void on_message(Message&& message);

  bool is_freed(UnitId unit) const;
  // Advice may name units of the past: whether there is this one now.
  bool exists(UnitId unit) const;
  // Whether that interval's writes to the unit were to what lay there before: its notice and its
  // diffs mean nothing to the unit of now.
  bool is_past(UnitId unit, IntervalId id) const;
  // Ends the job where there is no such unit; the second, where it is not of this protocol: another
  // node has named it.
  Page& page(UnitId unit);
  Page& page(UnitId unit, const Protocol& protocol);
  // The unit at an address in the segment; NULL: nothing is allocated there.
  Page* page_at(const void* address);
  // The unit of a block that is no pages.
  Page& object(uint32_t block) { return page(kObjectUnits + block); }
  // Units in a stretch of the segment; what is not allocated is left out.
  tape::Extent extent_of(const uint8_t* address, uint64_t size);
  const Block* block_at(uint64_t offset) const;
  const Allocation* allocation_at(uint64_t offset) const;  // of node 0; NULL: none, or it was freed
  const Block& block(uint32_t number) const { return blocks_[number]; }
  size_t blocks() const { return blocks_.size(); }
  // For reports: "grid + 4096 (64 KiB, app.cc:12)". Node 0 knows single allocations, others their
  // blocks.
  std::string describe(UnitId unit) const;
  // A byte of a unit, and the allocation that it lies in: on node 0 the single one, elsewhere its
  // block.
  struct Found {
    const uint8_t* address;  // NULL: in a region
    uint64_t offset, size;
    std::string name;
  };
  Found find(UnitId unit, uint64_t offset) const;
  template <typename Visit>
  void each_page(Visit visit) {
    for (auto& [id, page] : pages_) visit(*page);
  }

  // Returns the home of a first-touch unit; asks node 0 the first time.
  void find_home(Page& page, Thread& thread, std::unique_lock<std::mutex>& held);

  // A checkpoint's: all blocks and allocations as they were.
  void put_all(Message& message, Thread& thread, std::unique_lock<std::mutex>& held);
  void restore(Message& message);

  Segment segment;

 private:
  struct Pending {         // node 0: what is answered when all nodes know of a block
    uint32_t missing = 0;  // nodes
    bool is_reusable = true;
    std::vector<std::pair<ReplyTo, Message>> answers;
  };
  struct Returned {  // a slot of this node's heap, by another node
    uint64_t block, at;
    VectorTime known;  // by that node then
  };

  void add_block(const Block& block, const VectorTime& born);
  // Returns whether its place may be used again, as far as this node is concerned.
  bool drop_block(uint32_t number);
  void check_news(const Block& block) const;
  void on_allocate(Message&& message);
  void on_free(Message&& message);
  void on_free_small(Message&& message);
  void take_back(Thread& thread, std::unique_lock<std::mutex>& held, bool must);
  void announce(const Block& block, Message&& answer, const ReplyTo& reply_to);
  const Block* block_of(UnitId unit) const;
  bool reuses() const;  // places of what was freed
  void forget_range(uint64_t offset, uint64_t size);
  // Node 0: places of freed blocks.
  uint64_t find_place(uint64_t size);
  void retire(uint32_t number);
  void end_quarantine(size_t blocks, uint64_t bytes);
  void add_place(uint64_t offset, uint64_t size);
  void take_place(uint64_t offset, uint64_t size);

  Node& node_;
  std::unordered_map<UnitId, std::unique_ptr<Page>> pages_;
  std::vector<std::unique_ptr<Page>> dead_;  // of blocks that were dropped; a thread may be at one
  std::vector<Block> blocks_;                // by number
  // Of each block: up to which interval of each node what is written there was written to blocks
  // before it; empty: nothing.
  std::vector<VectorTime> born_;
  std::map<uint64_t, uint32_t> by_offset_;
  uint64_t reached_ = kPageSize;  // no block has lain behind that
  Heap heap_;
  std::vector<std::deque<Returned>> returned_;  // by node
  // Node 0 only
  std::map<uint64_t, Allocation> allocations_;  // by offset
  // Attributes: block that small allocations go to, and how much of it is used.
  std::map<std::string, std::pair<uint32_t, uint64_t>> small_;
  std::unordered_map<uint32_t, uint32_t> alive_;  // block: allocations in it
  std::unordered_map<UnitId, NodeId> homes_;
  std::unordered_map<uint32_t, Pending> pending_;
  uint64_t used_ = kPageSize;  // of the segment; its first page is nobody's
  VectorTime retired_;         // what each node had closed when it dropped a block, the latest
  std::deque<uint32_t> quarantine_;      // freed blocks whose places are not used again yet
  uint64_t quarantined_ = 0;             // bytes
  std::map<uint64_t, uint64_t> places_;  // free ones: offset, size
  std::set<std::pair<uint64_t, uint64_t>> by_size_;  // the same: size, offset
  std::vector<uint32_t> numbers_;                    // of blocks that are no more
};

}  // namespace weir::dsm
