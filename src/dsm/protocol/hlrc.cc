// Intervals and notices are those of the base class; only where the data is differs. A diff is made
// when its interval is closed, and goes to the home, which applies it. A notice may arrive before
// the diff has. So a fetch says what it must contain, and the home replies when it has that.
//
// Messages: flush: number of diffs, then for each the unit, the diff, and what the writer's copy
// had (one number for each node). Fetch: number of units, for each the unit and what its copy must
// have. Reply: for each unit what it has, and the bytes.
//
// Invariants:
//   1. The home's copy takes a diff when it has what the writer's copy had when the diff was made.
//      So diffs that overlap are applied in their order, even if the writer got what it builds on
//      from a tape, which may be quicker than the way to the home. A diff may be in the home's
//      copy, and in copies of it, before its notice is known there. What is written behind the
//      notice still gets a later stamp (lrc.cc, invariant 1). (not checkable: what the writer's
//      copy had is gone)
//   2. The home's own writes are in its copy at once; it needs a diff of them only for tapes. (not
//      checkable: the home has nothing to compare its copy with)
//   3. Diffs are kept afterwards for tapes to send, and because a copy from the home that is on its
//      way here may lack them. At a barrier they can be dropped. (not checkable: it is about
//      several nodes)
#include "dsm/protocol/hlrc.h"

#include <string.h>

#include <algorithm>
#include <utility>

#include "dsm/base/failure.h"
#include "dsm/node/node.h"

namespace weir::dsm {

namespace {

HomePage& home_page(Page& page) { return static_cast<HomePage&>(page); }

}  // namespace

std::unique_ptr<Page> HlrcProtocol::make_page() {
  return std::make_unique<HomePage>(node_.nodes(), node_.me(), node_.collector.floor());
}

void HlrcProtocol::on_fault(Page& page, bool write, Thread& thread,
                            std::unique_lock<std::mutex>& held) {
  node_.memory.find_home(page, thread, held);
  LrcProtocol::on_fault(page, write, thread, held);
}

// --- Writing

void HlrcProtocol::on_interval_closed(const Interval&, const std::vector<Page*>& pages) {
  RightChanges changes(node_.memory.segment);
  const bool tapes = node_.tapeworm.closes_exactly();
  const auto stays_home = [&](Page& page) {
    return page.kind == UnitKind::kPages && page.home == node_.me() && home_page(page).exact == 0 &&
           !tapes;
  };
  for (Page* page : pages) {
    if (page->kind == UnitKind::kPages && page->right == Right::kWrite && !stays_home(*page))
      changes.add(*page, Right::kRead);
  }
  changes.apply();
  batches_ = true;
  for (Page* base : pages) {
    LazyPage& page = home_page(*base);
    if (stays_home(
            page)) {  // nobody else has it: it stays writable, and each interval has a notice of it
      add_dirty(page);
      continue;
    }
    if (page.exact > 0 && !node_.stream) page.exact--;
    const bool stays = page.kind != UnitKind::kPages && !node_.closing_for_program;
    page.dirty = stays;
    if (!stays && page.right == Right::kWrite) changes.add(page, Right::kRead);
    make_diff(page, changes, true);
    if (stays) add_dirty(page);
  }
  batches_ = false;
  send_flushes();
}

void HlrcProtocol::on_made(LazyPage& page, const DiffPtr& diff) {
  if (page.home == node_.me()) return;
  Flush& flush = batch_[page.home];
  flush.count++;
  flush.diffs.put(page.id);
  put_diff(*diff, flush.diffs);
  flush.diffs.put_list(page.applied);
  if (!batches_) send_flushes();
}

void HlrcProtocol::send_flushes() {
  for (auto& [home, flush] : std::exchange(batch_, {})) {
    Message message(static_cast<uint8_t>(Kind::kHomeFlush), kGroupData);
    message.put(flush.count);
    message.put_bytes(flush.diffs.body.data(), flush.diffs.body.size());
    node_.tell(home, std::move(message));
  }
}

// --- At home

void HlrcProtocol::on_message(Message&& message) {
  if (static_cast<Kind>(message.header.kind) == Kind::kHomeFlush)
    return on_flush(std::move(message));
  on_fetch(std::move(message));
}

bool HlrcProtocol::has_all(LazyPage& page, const VectorTime& needs) const {
  for (NodeId node = 0; node < needs.size(); node++) {
    if (node != node_.me() && page.applied[node] < needs[node]) return false;
  }
  return true;
}

HomePage& HlrcProtocol::page_at_home(UnitId unit, const Message& message) {
  if (message.bad()) fail("a damaged message from node %u to a home", message.header.from);
  HomePage& page = home_page(node_.memory.page(unit, *this));
  if (page.home != kNoNode && page.home != node_.me())
    fail("node %u takes this one for the home of unit %u, which is node %u", message.header.from,
         unit, page.home);
  page.home = node_.me();
  return page;
}

void HlrcProtocol::on_flush(Message&& message) {
  for (uint32_t count = message.get<uint32_t>(); count > 0; count--) {
    const UnitId unit = message.get<UnitId>();
    const DiffPtr diff = get_diff(message);
    VectorTime needs = message.get_list<uint32_t>();
    if (message.bad() || needs.size() != node_.nodes() || diff->node >= node_.nodes())
      fail("damaged diffs from node %u", message.header.from);
    if (node_.memory.is_past(unit, {diff->node, diff->last})) continue;
    HomePage& page = page_at_home(unit, message);
    needs[diff->node] = diff->prev;
    page.pending.push_back({diff, std::move(needs)});
    while (take_pending(page)) {}
  }
  serve_waiting();
}

void HlrcProtocol::serve_waiting() {
  for (Message& waiting : std::exchange(waiting_, {})) on_fetch(std::move(waiting));
  node_.changed.notify_all();  // a thread of this node may wait for it
}

bool HlrcProtocol::take_pending(HomePage& page) {
  for (size_t i = 0; i < page.pending.size(); i++) {
    const DiffPtr diff = page.pending[i].diff;
    if (diff->last > page.applied[diff->node] && !has_all(page, page.pending[i].needs)) continue;
    if (diff->last > page.applied[diff->node]) {
      if (!apply_bytes(diff->bytes, page.size, page.open, page.twin.get()))
        fail("a damaged diff of unit %u from node %u", page.id, diff->node);
      page.applied[diff->node] = diff->last;
      node_.diagnostics.sharing.on_received(page, 1, diff->bytes.size());
      node_.counters.now.diffs_applied++;
      if (node_.settings.tapes != Tapes::kOff) keep(page, diff);
    }
    page.pending.erase(page.pending.begin() + static_cast<ptrdiff_t>(i));
    return true;
  }
  return false;
}

void HlrcProtocol::on_fetch(Message&& message) {
  Message reply(static_cast<uint8_t>(Kind::kReply), kGroupData);
  std::vector<std::pair<LazyPage*, uint32_t>> pages;  // and where they are accessed
  for (uint32_t count = message.get<uint32_t>(); count > 0; count--) {
    const UnitId unit = message.get<UnitId>();
    HomePage& page = page_at_home(unit, message);
    const uint32_t at = message.get<uint32_t>();
    const VectorTime needs = message.get_list<uint32_t>();
    if (message.bad() || needs.size() != node_.nodes())
      fail("a damaged request from node %u", message.header.from);
    if (!has_all(page, needs) && !node_.memory.is_freed(unit)) {  // of freed ones no more comes
      message.rewind();
      waiting_.push_back(std::move(message));
      return;
    }
    if (page.twin && page.twin_first <= needs[node_.me()]) {
      RightChanges changes(node_.memory.segment);
      make_diff(page, changes);
    }
    pages.emplace_back(&page, at);
  }
  for (const auto& [page, at] : pages) {
    VectorTime has = page->applied;
    has[node_.me()] = page->twin ? page->twin_first - 1 : node_.intervals.known()[node_.me()];
    page->share();
    reply.put_list(has);
    reply.put_bytes(page->twin ? page->twin.get() : page->open, page->size);  // as of `has`
    node_.tapeworm.on_request(*page, message.header.reply_to.node, at);
  }
  node_.tapeworm.put_extent(reply);
  node_.reply(message.header.reply_to, std::move(reply));
}

std::string HlrcProtocol::describe() const {
  const auto text_of = [](const VectorTime& time) {
    std::string text;
    for (uint32_t index : time) text += " " + std::to_string(index);
    return text;
  };
  std::string text;
  for (Message request : waiting_) {
    for (uint32_t count = request.get<uint32_t>(); count > 0; count--) {
      HomePage& page = home_page(node_.memory.page(request.get<UnitId>()));
      request.get<uint32_t>();
      text += "unit " + std::to_string(page.id) + ": node " +
              std::to_string(request.header.reply_to.node) + " wants" +
              text_of(request.get_list<uint32_t>()) + ", here is" + text_of(page.applied) + ", " +
              std::to_string(page.pending.size()) + " diffs are early\n";
      for (const auto& one : page.pending)
        text += "  early: of node " + std::to_string(one.diff->node) + " up to " +
                std::to_string(one.diff->last) + ", needs" + text_of(one.needs) + "\n";
    }
  }
  return text;
}

// --- Reading

void HlrcProtocol::fetch(const std::vector<LazyPage*>& pages, Thread& thread,
                         std::unique_lock<std::mutex>& held) {
  struct PendingRequest {
    std::vector<LazyPage*> pages;
    Message list{0};
    uint32_t ticket = 0;
  };
  const Collector::Asking asking(node_.collector);
  std::map<NodeId, PendingRequest> requests;
  const NodeId me = node_.me();
  for (LazyPage* page : pages) {
    for (NodeId node = 0; node < node_.nodes(); node++) {
      if (node != me && page->applied[node] < page->noticed[node])
        node_.tapeworm.on_miss(*page, node);
    }
    if (page->home == kNoNode) node_.memory.find_home(*page, thread, held);
    PendingRequest& what = requests[page->home];
    what.pages.push_back(page);
    what.list.put(page->id);
    what.list.put(thread.fault_at);
    VectorTime needs = page->noticed;
    for (NodeId node = 0; node < needs.size(); node++)
      needs[node] = std::max(needs[node], page->applied[node]);
    what.list.put_list(needs);
  }
  for (auto& [home, what] : requests) {
    if (home == me) continue;
    Message request(static_cast<uint8_t>(Kind::kHomeFetch), kGroupData);
    request.put(static_cast<uint32_t>(what.pages.size()));
    request.put_bytes(what.list.body.data(), what.list.body.size());
    uint32_t& pending_at = thread.diagnostics.asks(home);
    what.ticket = pending_at = thread.mailbox->ask(home, std::move(request));
  }
  // What this node is the home of itself: until the diffs are here.
  for (LazyPage* page : requests[me].pages) {
    while (!page->valid(me) && !node_.memory.is_freed(page->id)) node_.changed.wait(held);
  }
  requests.erase(me);
  held.unlock();
  std::vector<Message> replies;
  for (auto& [home, what] : requests) replies.push_back(thread.mailbox->wait(what.ticket));
  held.lock();
  size_t next = 0;
  for (auto& [home, what] : requests) {
    Message& reply = replies[next++];
    for (LazyPage* page : what.pages) {
      const VectorTime has = reply.get_list<uint32_t>();
      const uint8_t* bytes = reply.get_bytes(page->size);
      if (!bytes || has.size() != page->applied.size())
        fail("a damaged copy of unit %u from node %u", page->id, home);
      node_.diagnostics.sharing.on_received(*page, 0, page->size);
      // Other threads of this node may have flushed more meanwhile. None of it was known to whom
      // the home's copy is of.
      std::vector<uint8_t> copy;
      for (const DiffPtr& diff : page->diffs_after(me, has[me])) {
        if (copy.empty()) copy.assign(bytes, bytes + page->size);
        if (!apply_bytes(diff->bytes, page->size, copy.data(), nullptr))
          fail("a damaged diff of unit %u", page->id);
      }
      take_copy(*page, copy.empty() ? bytes : copy.data());
      for (NodeId node = 0; node < has.size(); node++) {
        if (node != me) page->applied[node] = std::max(page->applied[node], has[node]);
      }
    }
    thread.requested += node_.tapeworm.read_extent(reply);
    if (reply.bad()) fail("a damaged reply from node %u", home);
  }
}

}  // namespace weir::dsm
