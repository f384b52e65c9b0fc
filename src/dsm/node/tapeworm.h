// Tapeworm: what was accessed decides what travels before it is requested (Keleher, OSDI 1999,
// section 3). It lies on top of the lazy protocols, which call these hooks. Nothing here can make a
// result wrong: all that travels is diffs that the protocol would have requested, and the protocol
// takes them only in its own order:
//   1. A diff that comes unasked is kept beside the copy. It is applied when the copy can be made
//      valid: with all other diffs that the copy lacks and of which there is notice, by stamp, each
//      behind the one before it of its writer (apply_cached).
//   2. It may hold more than there is notice of: intervals that its writer closed later. What
//      precedes those is known here as well, because what a node knows is closed (intervals.cc),
//      and because the writer had no news of the unit while its twin was there (lrc.cc, invariant
//      1). So nothing that is applied later belongs before it.
//   3. A diff from before the last collection follows none that is here, or is here already. It is
//      not applied (collect.cc, invariant 4).
//
// The node's mutex is held in all functions. Those that are given it may release it while they
// wait.
// Implemented in dsm/tapeworm/.
#pragma once

#include <stdint.h>

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "dsm/base/intervals.h"
#include "dsm/base/message.h"
#include "dsm/node/hooks.h"
#include "tape/extent.h"
#include "tape/tape.h"
#include "weir/dsm.h"

namespace weir::dsm {

class LazyPage;
class LrcProtocol;
class Node;
class Page;
class Tapeworm;
struct Thread;
struct Diff;
using DiffPtr = std::shared_ptr<const Diff>;

inline constexpr uint32_t kNoLock = ~uint32_t{0};
inline constexpr uint32_t kNowhere = ~uint32_t{0};  // offset in a unit: not known
// So many bytes may have been written with the values that they had, which nobody sees.
inline constexpr uint32_t kMargin = 64;

// So often in a row a unit may come, or be made writable, in vain.
inline constexpr uint8_t kUnusedLimit = 2;

// What a thread is told to do at its next synchronization.
struct Advice {
  enum Kind : uint8_t { kNone, kAuto, kUser } kind = kNone;
  tape::Extent user;
};

// Faults of a thread while it holds a lock, produces or flushes.
struct Recording {
  uint32_t lock = 0;
  tape::Extent read, written;
  std::set<UnitId> again;  // written in more than one interval
};

// Tapes of the program's own (weir/tape.hpp) that record now.
struct Recorder {
  tape::Tape tape;
  bool writes = false, reads = false, requests = false;
  bool exact = false;      // what is written is protected again with each interval
  Tapeworm* of = nullptr;  // whose recorders this is one of; NULL: none's, or that node is gone
};

class Tapeworm {
 public:
  explicit Tapeworm(Node& node) : hooks(node), node_(node) {}
  ~Tapeworm() {
    for (Recorder* recorder : recorders) recorder->of = nullptr;
  }

  // --- Faults
  void on_fault(Page& page, bool write, Thread& thread);
  // What is produced gets diffs of its own, apart from what was written before. Before the page is
  // made writable.
  bool begins_anew(const LazyPage& page, const Thread& thread) const;
  // A unit lacks what `of` wrote: this node will ask.
  void on_miss(const Page& page, NodeId of);
  void on_invalidated(Page& page);
  void on_interval_closed(const Interval& interval);
  // Pages that were made writable by prediction and have not been written are taken out.
  void drop_unwritten(std::vector<Page*>& pages);

  // --- Requests from other nodes: a producer's answer has the extent of all that was produced
  //     together
  // `at`: offset of the access that asks; kNowhere: it is asked for in advance.
  void on_request(Page& page, NodeId from, uint32_t at);
  void put_extent(Message& reply);
  tape::Extent read_extent(Message& reply);
  // Fetches units at once of which it is known that they lack something; only what is to be asked
  // for at `from`, if that is a node. Lets go of the mutex.
  void prefetch(const tape::Extent& extent, NodeId from, Thread& thread,
                std::unique_lock<std::mutex>& held);

  // --- Locks
  void add_to_lock_request(uint32_t lock, Thread& thread, Message& request);
  void add_to_lock_grant(uint32_t lock, const VectorTime& theirs, Message& request, Message& added);
  void before_grant(uint32_t lock, Thread& thread, Message& grant);
  // `grant`: NULL where the lock was here.
  void on_acquired(uint32_t lock, Thread& thread, Message* grant);
  void on_release(uint32_t lock, Thread& thread);

  // --- Barriers
  // Diffs of the time before are gone.
  void forget() { produced_.clear(); }
  void before_barrier(uint32_t barrier);
  void add_to_barrier(std::vector<uint32_t>& pushes, Message& advice);
  // What goes to all nodes, and is little enough to go with the barrier's own messages. What
  // take_for_all returns on each node comes to keep_of_all on the others.
  struct ForAll {
    uint32_t count = 0;
    Message diffs{0};
    std::vector<UnitId> units;
  };
  ForAll take_for_all() { return std::exchange(for_all_, {}); }
  void keep_of_all(Message& message);
  // Before a release that is no barrier.
  void send_for_all();
  void before_barrier_release(uint32_t pushes, std::vector<uint8_t> advice,
                              std::unique_lock<std::mutex>& held);
  void after_barrier();
  void replay_next(weir_dsm_pattern pattern) { called_replay_ = true, pattern_ = pattern; }

  // --- Producers, and what goes to all
  void produce_start(Thread& thread);
  void produce_end(Thread& thread);
  void flush_start(Thread& thread);
  void flush_end(Thread& thread);

  // From here on every write faults, so that a recording sees it.
  void record_exactly();
  bool closes_exactly() const;  // whether what is written is to be protected, shared or not
  std::vector<Recorder*> recorders;
  HookList hooks;
  // What this node has known when it was last granted a lock or passed a barrier, before that.
  const VectorTime& known_before() const { return known_before_; }

  void on_message(Message&& message);

 private:
  friend struct Access;  // tapes of the program's own: tape_states.h
  struct Use {           // of a unit that a lock or a push brings
    bool written = false;
    // Times in a row; from kUnusedLimit on it is not sent until it is asked for again.
    uint8_t unused = 0;
  };
  struct LockTape {
    std::map<UnitId, Use> units;
    uint32_t prefetched = 0, used = 0;  // lately
    uint32_t pause = 0;                 // acquisitions without advice
  };
  struct Asker {  // at one barrier, one node
    std::map<UnitId, Use> units;
  };

  bool enabled() const;
  bool measures() const;
  void start(std::optional<Recording>& recording, Thread& thread);
  void keep_data(Message& message);
  void open_pages(std::vector<UnitId> units, uint32_t by, bool is_lock);
  void push(NodeId to, const std::vector<UnitId>& units);
  void add_what_is_like_it(std::map<NodeId, Asker>& askers) const;
  void came_in_vain(Page& page);
  // What is written after a barrier, as far as it is known from earlier times: made writable, with
  // its twins, by one change of rights for each row of neighbours.
  void foresee_writes();
  void learn_writes();
  uint8_t* unused_of(const LazyPage& page);
  void add_of_others(uint32_t barrier);
  // Returns this node's diffs of the units that not all of `to` have. They count as sent from then
  // on.
  ForAll gather(const std::vector<NodeId>& to, const std::vector<UnitId>& units);
  void tell_push(NodeId to, const ForAll& data);

  Node& node_;
  // Locks
  std::unordered_map<uint32_t, LockTape> locks_;
  // Barriers: kind and who asked for what after which
  bool called_replay_ = false, replaying_ = false;
  weir_dsm_pattern pattern_ = WEIR_DSM_STATIC;
  uint32_t barrier_ = 0, last_barrier_ = 0;
  std::map<uint32_t, std::map<NodeId, Asker>> asked_;
  std::map<uint32_t, uint32_t> replayed_;  // how often each has been
  // By barrier: units that are written after it, and how often in a row one was not.
  std::map<uint32_t, std::map<UnitId, uint8_t>> writes_;
  std::set<UnitId> write_faults_;  // since the last barrier
  std::vector<UnitOf> misses_;     // since the last barrier: what was missed, and whose
  struct Unused {                  // came and was not touched: with which barrier, and whose
    UnitId unit;
    NodeId of;
    uint32_t barrier;
  };
  std::vector<Unused> unused_;
  std::vector<std::map<UnitId, uint32_t>> sent_;  // to each node: this node's diffs up to which
  std::vector<uint32_t> pushes_;                  // messages since the last barrier, to each node
  uint32_t pushes_received_ = 0;  // messages, less those that barriers have waited for
  ForAll for_all_;
  std::vector<UnitId> prefetched_;  // by the message that is read
  // Units that pushes brought, by the round of barriers that they belong to: a fast node's are
  // early.
  std::map<uint32_t, std::vector<UnitId>> pushed_;
  uint32_t sample_ = 0;
  bool closes_exactly_ = false;
  VectorTime known_before_;
  // Producers
  struct Produced {
    struct Part {
      uint32_t begin, end;  // bytes
    };
    bool covers(UnitId unit, uint32_t at, uint32_t margin) const;
    tape::Extent extent;
    std::map<UnitId, Part> edges;  // of units that it may share with other data
    std::set<NodeId> told;         // nodes that have been told that these belong together
  };
  Produced::Part produced_part(Page& page, bool is_first, bool is_last) const;
  std::unordered_map<UnitId, std::vector<std::shared_ptr<Produced>>> produced_;
  std::vector<std::shared_ptr<Produced>> to_tell_;
};

}  // namespace weir::dsm
