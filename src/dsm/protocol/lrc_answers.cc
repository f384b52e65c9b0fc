// Lazy release consistency: diffs for nodes that ask for them, and for tapes.
#include <algorithm>
#include <utility>

#include "dsm/base/failure.h"
#include "dsm/node/node.h"
#include "dsm/protocol/lrc.h"

namespace weir::dsm {

void LrcProtocol::on_diff_request(Message&& request) {
  Message reply(static_cast<uint8_t>(Kind::kReply), kGroupData);
  for (uint32_t count = request.get<uint32_t>(); count > 0; count--) {
    const UnitId unit = request.get<UnitId>();
    const bool whole = request.get<uint8_t>();
    const uint32_t at = request.get<uint32_t>();
    const VectorTime theirs = request.get_list<uint32_t>();
    std::vector<Requested> requested;
    for (uint16_t nodes = request.get<uint16_t>(); nodes > 0; nodes--) {
      const NodeId of = request.get<uint16_t>();
      const uint32_t noticed = request.get<uint32_t>();
      if (of < theirs.size()) requested.push_back({unit, of, theirs[of], noticed});
    }
    if (request.bad() || theirs.size() != node_.nodes())
      fail("a damaged request from node %u", request.header.from);
    LazyPage& page = as_lazy(node_.memory.page(unit, *this));
    if (theirs[node_.me()] < page.dropped)
      fail("node %u asks for diffs of unit %u that garbage collection has dropped",
           request.header.from, unit);
    answer(page, requested, theirs, whole, reply);
    node_.tapeworm.on_request(page, request.header.from, at);
  }
  node_.tapeworm.put_extent(reply);
  node_.reply(request.header.reply_to, std::move(reply));
}

void LrcProtocol::answer(LazyPage& page, const std::vector<Requested>& requested,
                         const VectorTime& theirs, bool whole, Message& reply) {
  const NodeId me = node_.me();
  page.share();
  std::vector<DiffPtr> found;
  bool mine = false,
       lacks = false;  // this node's copy may hold diffs that it has got as part of a copy
  for (const Requested& some : requested) {
    mine |= some.node == me;
    lacks |= !find_diffs(page, some, found);
  }
  size_t size = 0;
  for (const DiffPtr& diff : found) size += diff->bytes.size();
  const uint32_t upto = page.twin ? page.twin_first - 1 : node_.intervals.known()[me];
  VectorTime ours = page.applied;
  ours[me] = upto;
  bool covers = whole && (lacks || size > page.size) && page.valid(me) && !page.busy;
  for (NodeId node = 0; node < theirs.size(); node++) covers = covers && ours[node] >= theirs[node];
  if (covers) {
    reply.put(uint8_t{1});
    reply.put_list(ours);
    // As of `upto`: what was written since may be taken back before it is published.
    reply.put_bytes(page.twin ? page.twin.get() : page.open, page.size);
  } else {
    // What the answer is complete up to: later diffs that are made already are none of it.
    uint32_t complete = mine ? upto : 0;
    for (const Requested& some : requested) {
      if (some.node != me) continue;
      for (const DiffPtr& diff : page.diffs_after(me, some.upto)) {
        if (diff->first > some.upto) complete = std::min(complete, diff->first - 1);
      }
    }
    reply.put(uint8_t{0});
    reply.put(complete);
    reply.put(static_cast<uint32_t>(found.size()));
    for (const DiffPtr& diff : found) put_diff(*diff, reply);
  }
}

bool LrcProtocol::find_diffs(LazyPage& page, const Requested& requested,
                             std::vector<DiffPtr>& found) {
  if (requested.node == node_.me() && page.twin && page.twin_first <= requested.upto) {
    RightChanges changes(node_.memory.segment);
    make_diff(page, changes);
  }
  uint32_t reached = requested.after;
  for (const DiffPtr& diff : page.diffs_after(requested.node, requested.after)) {
    if (diff->first > requested.upto || diff->prev > reached) break;
    found.push_back(diff);
    reached = diff->last;
  }
  return reached >= requested.upto || requested.node == node_.me();
}

void LrcProtocol::put_missing(LazyPage& page, std::vector<Requested>& requested) {
  if (!page.busy && !page.valid(node_.me()) && apply_cached(page))
    return;  // what came before its notice
  if (needs_base(page)) return;
  for (NodeId node = 0; node < page.noticed.size(); node++) {
    if (node != node_.me() && page.applied[node] < page.noticed[node])
      requested.push_back({page.id, node, page.applied[node], page.noticed[node]});
  }
}

bool LrcProtocol::take_diffs(LazyPage& page, const std::vector<DiffPtr>& diffs) {
  for (const DiffPtr& diff : diffs) keep(page, diff);
  if (page.busy) return false;
  return page.valid(node_.me()) || (!page.twin && apply_cached(page));
}

}  // namespace weir::dsm
