// The interface of a consistency protocol: CVM's Protocol. The node calls these hooks at faults,
// synchronization and messages. A new protocol is a class derived from this one and one from Page.
// Implemented in dsm/core/node.cc.
//
// All hooks are called with the node's mutex held. Only on_fault may release it while it waits for
// other nodes.
#pragma once

#include <memory>
#include <mutex>

#include "dsm/base/message.h"
#include "dsm/base/page.h"

namespace weir::dsm {

struct Interval;
struct Thread;

// Message kinds. The contents of each are described where it is sent.
enum class Kind : uint8_t {
  kReply,
  kAllocate,
  kFree,
  kFreeSmall,
  kLearn,  // node.cc
  kCollectWish,
  kCollectCall,
  kCollectMeet,  // collector.cc
  kHeap,
  kBlock,
  kBlockKnown,
  kFindHome,  // memory.cc
  kLockRequest,
  kLockForward,  // locks.cc
  kBarrierArrive,
  kBarrierRelease,  // barrier.cc
  kConditionWait,
  kConditionSignal,
  kSemaphorePost,
  kSemaphoreWait,  // conditions.cc
  kDiffRequest,
  kPageRequest,  // lrc.cc
  kHomeFlush,
  kHomeFetch,  // hlrc.cc
  kOwnerRequest,
  kOwnerTake,
  kOwnerAnswer,
  kOwnerDone,    // sc.cc
  kPush,         // tapeworm.cc
  kDiagnostics,  // dsm/diagnostics/diagnostics.cc
  kWaits,        // waits.cc
  kCheckDiffs,
  kCheckSides,
  kRace,  // checker.cc
  kPeerRead,
  kPeerWrite,
  kPeerLearn,  // peers.cc
};
const char* name_of_kind(uint8_t kind);  // "page request"
constexpr uint8_t kGroupLock = 0, kGroupBarrier = 1, kGroupFlush = 2, kGroupData = 3;

class Protocol {
 public:
  virtual ~Protocol() = default;
  virtual std::unique_ptr<Page> make_page() = 0;

  // A thread wants to read, or write, and page.right does not allow it. Afterwards it does (or
  // another thread of this node has taken it away again, and the fault repeats).
  virtual void on_fault(Page& page, bool write, Thread& thread,
                        std::unique_lock<std::mutex>& held) = 0;

  // Release side: the interval is closed; `pages` are those of this protocol that it wrote.
  virtual void on_interval_closed(const Interval&, const std::vector<Page*>& /*pages*/) {}
  // Acquire side. on_notice: another node's interval wrote the page. The other two follow for all
  // pages on which it was called. before_noticed sets apart what this node wrote itself. on_noticed
  // makes the copies current or invalidates them, once the intervals count as known.
  virtual void on_notice(Page&, IntervalId) {}
  virtual void before_noticed(const std::vector<Page*>&) {}
  virtual void on_noticed(const std::vector<Page*>&) {}

  // A new page, where another was: what nodes wrote up to there was to that one.
  virtual void begin_at(Page&, const VectorTime& /*born*/) {}
  // Memory is freed: nobody will touch the page any more.
  virtual void on_free(Page&) {}
  // Whether messages about it may be under way, when it is freed, that this node waits for.
  virtual bool is_in_use(const Page&) const { return false; }
  virtual void on_message(Message&& message) = 0;
};

}  // namespace weir::dsm
