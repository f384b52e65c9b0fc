// What a protocol knows of one unit: CVM's Page. Protocols derive their own.
//
// Layout: a page unit lies in the segment, which is mapped twice: `program` is what the program
// sees, protected as `right` says; `open` is the same physical memory, always readable and
// writable, for the runtime. So the runtime reads and writes a unit that no thread of the program
// may touch, and never protects for its own sake.
#pragma once

#include <stdint.h>

#include "dsm/base/types.h"

namespace weir::dsm {

class Protocol;

enum class Right : uint8_t { kNone, kRead, kWrite };
enum class UnitKind : uint8_t { kPages, kAnnotated, kRegion };

class Page {
 public:
  virtual ~Page() = default;

  UnitId id = kNoUnit;
  UnitKind kind = UnitKind::kPages;
  Right right = Right::kNone;             // of this node's threads
  Right opened = Right::kNone;            // annotated: the highest that it has had
  bool busy = false;                      // a thread is fetching it; others wait for Node::changed
  bool pushed = false;                    // made valid by a tape, and not touched since
  bool is_dead = false;                   // another may lie there now (Memory::drop_block)
  bool attached = false;                  // of a region: its level is set
  uint32_t prefetched_by = ~uint32_t{0};  // a lock; none: a push
  uint32_t prefetched_at = 0;             // barrier that the push came with
  uint32_t updates = 0;                   // that tapes have brought since it was last used
  NodeId home = 0;
  uint64_t size = 0;  // bytes
  uint8_t* program = nullptr;
  uint8_t* open = nullptr;
  Protocol* protocol = nullptr;
};

}  // namespace weir::dsm
