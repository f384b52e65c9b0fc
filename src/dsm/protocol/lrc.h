// Multi-writer lazy release consistency, as TreadMarks and CVM's LmwProtocol have it; and what the
// home-based variant shares with it.
// Implemented in collect.cc, diff.cc, lrc.cc and lrc_answers.cc.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "dsm/base/intervals.h"
#include "dsm/base/protocol.h"
#include "dsm/segment/segment.h"

namespace weir::dsm {

class Node;

// What one node wrote to one unit in its intervals first to last.
struct Diff {
  NodeId node = 0;
  uint32_t prev = 0;  // `last` of the same node's diff of the same unit before this one
  uint32_t first = 0, last = 0;
  uint64_t stamp = 0;  // stamp_of the time when the writing began: order of application
  std::vector<uint8_t> bytes;
};
using DiffPtr = std::shared_ptr<const Diff>;
void put_diff(const Diff& diff, Message& message);
DiffPtr get_diff(Message& message);

// Source: region/diff.h. From `twin` to `now`; empty bytes: they are equal.
std::vector<uint8_t> make_bytes(const uint8_t* twin, const uint8_t* now, size_t size);
// To one or two places (the second may be NULL). False: the diff is damaged.
[[nodiscard]] bool apply_bytes(const std::vector<uint8_t>& bytes, size_t size, uint8_t* to,
                               uint8_t* second);
// Whether it changes any byte from `begin` to before `end`.
bool has_some(const std::vector<uint8_t>& bytes, size_t begin, size_t end);

// What both lazy protocols keep of a unit.
class LazyPage : public Page {
 public:
  // `floor`: the collector's. Who wrote the unit before that would have given notice of it.
  LazyPage(NodeId nodes, NodeId me, const VectorTime& floor) : applied(floor), noticed(nodes) {
    applied[me] = 0;
  }
  // Invariant: the copy holds what node n wrote up to interval applied[n], for all n; it is valid
  // where applied[n] >= noticed[n] for all others. (not checkable: the writes are the other nodes')
  bool valid(NodeId me) const {
    for (NodeId node = 0; node < applied.size(); node++) {
      if (node != me && applied[node] < noticed[node]) return false;
    }
    return !base;
  }
  // Whether the copy holds all that others wrote up to `upto`, the collector's floor.
  bool has_all(const VectorTime& upto, NodeId me) const {
    for (NodeId node = 0; node < applied.size(); node++) {
      if (node != me && applied[node] < std::min(noticed[node], upto[node])) return false;
    }
    return true;
  }

  // Another node gets what is written here.
  void share() { exact = kExact; }

  static constexpr uint8_t kExact = 4;  // a program may ask in every second or third interval: each
                                        // time that one is not exact costs an interval of its own
  VectorTime applied, noticed;
  std::unique_ptr<uint8_t[]> twin;  // set: there is something in the copy that no diff holds yet
  uint32_t twin_first = 0;          // interval in which that began
  uint64_t twin_stamp = 0;
  bool dirty = false;  // in Node::dirty, at dirty_at
  size_t dirty_at = 0;
  // Another node has asked for it: how many more of the intervals that write it are exact.
  uint8_t exact = 0;
  std::unique_ptr<uint8_t[]> base;  // the home's copy, of which `applied` tells, and which takes
                                    // the place of this one's once it has all that lacks
  uint32_t base_own = 0;  // up to which of this node's intervals the base has what it wrote
  // The start of the last of this node's diffs that garbage collection has dropped; 0: none.
  uint32_t dropped = 0;
  bool left_open = false;  // no page, and dirty still when a diff was made of it: whether it was
                           // written since is seen by comparison
  bool predicted = false;  // made writable by a tape: whether it was written is seen by comparison
  bool foreseen = false;   // ... at a barrier's end, this one:
  uint32_t foreseen_at = 0;
  bool counts_once = false;        // ... and counts as used then
  bool has_asked_writers = false;  // the last writers did not have all
  // Own and received ones, a list for each node that has some, in order of nodes; each by age. A
  // unit may have thousands, of which the last few are wanted.
  struct DiffsOf {
    NodeId node;
    std::vector<DiffPtr> list;
  };
  std::vector<DiffsOf> diffs;
  std::span<const DiffPtr> diffs_after(NodeId node, uint32_t last) const;
  bool add_diff(const DiffPtr& diff);  // false: it is there
};

inline LazyPage& as_lazy(Page& page) { return static_cast<LazyPage&>(page); }

class LrcProtocol : public Protocol {
 public:
  explicit LrcProtocol(Node& node) : node_(node) {}
  std::unique_ptr<Page> make_page() override;
  void on_fault(Page& page, bool write, Thread& thread,
                std::unique_lock<std::mutex>& held) override;
  void on_interval_closed(const Interval& interval, const std::vector<Page*>& pages) override;
  void on_notice(Page& page, IntervalId id) override;
  void before_noticed(const std::vector<Page*>& pages) override;
  void on_noticed(const std::vector<Page*>& pages) override;
  void begin_at(Page& page, const VectorTime& born) override;
  void on_free(Page& page) override;
  void on_message(Message&& message) override;

  // --- For tapes (Tapeworm's table 1). What of `pages` is known and missing here, as a list of
  //     diffs requested.
  struct Requested {
    UnitId unit;
    NodeId node;
    uint32_t after, upto;  // diffs whose last is above `after` and whose first is at most `upto`
  };
  void put_missing(LazyPage& page, std::vector<Requested>& requested);
  // Those diffs that this node has; its own are made. Returns false if some may be missing.
  bool find_diffs(LazyPage& page, const Requested& requested, std::vector<DiffPtr>& found);
  // One that came, for later.
  void keep(LazyPage& page, const DiffPtr& diff);
  // Keeps diffs that came unasked. Returns whether the page is valid, now or by them.
  bool take_diffs(LazyPage& page, const std::vector<DiffPtr>& diffs);

  // Whether some of what the page lacks is to be had of that node.
  bool would_ask(const LazyPage& page, NodeId of) const;

  // Applies what is kept, if with it nothing is missing any more. Returns whether the page is valid
  // now.
  bool apply_cached(LazyPage& page);
  // Asks for all that the pages lack, at once. They may lack something still. REQUIRES: they are
  // busy. Lets go of the mutex.
  virtual void fetch(const std::vector<LazyPage*>& pages, Thread& thread,
                     std::unique_lock<std::mutex>& held);

  // Makes a diff of what this node has written to the copy; the page is no longer writable. If the
  // open interval wrote it, this begins the interval that the diff needs. `closed`: the interval
  // that wrote it is closed already.
  void make_diff(LazyPage& page, RightChanges& changes, bool closed = false);
  void make_writable(LazyPage& page, RightChanges& changes);

  // Whether the open interval, which is being closed, has to tell of the page, which was dirty.
  bool was_written(LazyPage& page, RightChanges& changes);

  // Garbage collection (collect.cc): this node's homes get all that was written up to `upto`; diffs
  // up to there are dropped.
  virtual void make_homes_current(const VectorTime& upto, Thread& thread,
                                  std::unique_lock<std::mutex>& held);
  // Whether a copy lacks something up to `upto` is seen from here on by its applied times alone,
  // without the log.
  virtual void settle(const VectorTime& upto);
  void forget(const VectorTime& upto);
  // Diffs alone cannot make the copy valid any more, as some were dropped: the home's is needed.
  virtual bool needs_base(const LazyPage& page) const;
  // Whether what the page lacks is asked for; else it comes by itself.
  virtual bool asks_others(const LazyPage&) const { return true; }

 protected:
  virtual void on_made(LazyPage& page, const DiffPtr& diff);
  void add_dirty(LazyPage& page);
  void drop_dirty(LazyPage& page);
  void drop_twin(LazyPage& page);
  // Takes another node's copy of the page. REQUIRES: it holds all that the copy here holds, except
  // what was written here since the twin was made, which stays.
  static void take_copy(LazyPage& page, const uint8_t* bytes);
  std::vector<LazyPage*> all_pages() const;  // of this protocol, but for freed ones
  // Something that the node wrote up to there, and of which there is notice.
  bool lacks(const LazyPage& page, NodeId of, uint32_t upto) const;
  bool lacks(const LazyPage& page, const VectorTime& upto) const;
  Node& node_;

 private:
  void close_for(LazyPage& page);
  std::vector<std::pair<NodeId, NodeId>> plan(const LazyPage& page) const;
  NodeId writer_of(const LazyPage& page, uint32_t at) const;
  void take_answer(LazyPage& page, NodeId from, Message& reply);
  void answer(LazyPage& page, const std::vector<Requested>& requested, const VectorTime& theirs,
              bool whole, Message& reply);
  void fetch_base(LazyPage& page, Thread& thread, std::unique_lock<std::mutex>& held);
  void on_diff_request(Message&& message);
  void on_page_request(Message&& message);
};

}  // namespace weir::dsm
