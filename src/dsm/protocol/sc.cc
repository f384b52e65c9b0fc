// The home of a unit serves one request after the other. For a read it asks the owner to give up
// writing and to send the bytes. For a write it asks all nodes that have a copy to drop it, and the
// owner to send the bytes too. When all have replied it sends the unit to the node that asked, and
// goes on when that one says that it has it.
//
// Messages: request: unit, 1 for write. Take (to a node that has a copy): unit, 1: drop it, 0: keep
// reading; 1: send the bytes. Reply: unit, bytes or none. Grant: 1 with bytes, 0 without.
//
// Invariants:
//   1. While a request is served, no other of the same unit is: `serving` is set from its start
//      until its asker has said that it is done. So no right is taken from a node that does not
//      have it yet. (checked in on_message)
//   2. The union of rights is right at all times: a right is given only after the replies of all
//      nodes that had a conflicting one. (checked in on_message)
//   3. A page is not taken away before the thread that faulted for it had time to run on: the
//      server gives way to it for as long as kHold. So two writers make progress by turns. The
//      thread does not need the mutex any more by then. (not checkable: when a thread has run on
//      nobody sees)
//   4. If a unit is no page, it is not protected, or pointers into it are in registers, and no
//      fault would tell that its right has gone. So the thread that has announced an access, or
//      trapped, holds the unit until it synchronizes, and what the home demands waits. A region
//      that no thread holds is closed, so that the next access traps. Threads of a node share a
//      region's level, so while one that may write holds it, another may go past without a trap:
//      where both are seen, the job ends. (not checkable: what pointers point to nobody sees)
//   5. A thread waits for a unit only while it holds none but units of lower numbers: no circle of
//      threads waits. If an access needs a lower unit, or another thread waits for one that this
//      thread holds, it releases the units from there on, and takes them again after it. In
//      between, nothing of its own is half done: it is inside of the call. (not checkable: it is
//      about several nodes; a circle would stand still)
#include "dsm/protocol/sc.h"

#include <sched.h>
#include <string.h>
#include <sys/mman.h>

#include <algorithm>
#include <utility>

#include "dsm/base/failure.h"
#include "dsm/node/node.h"
#include "weir/region.h"

namespace weir::dsm {

namespace {

constexpr uint64_t kHold = 20'000;  // nanoseconds

ScPage& sc(Page& page) { return static_cast<ScPage&>(page); }

Message message_about(Kind kind, const Page& page) {
  Message message(static_cast<uint8_t>(kind), kGroupData);
  message.put(page.id);
  return message;
}

// The first of a thread's holds that is of `unit` or a later one.
std::vector<Hold>::iterator place_of(UnitId unit, std::vector<Hold>& holds) {
  return std::lower_bound(holds.begin(), holds.end(), unit,
                          [](const Hold& one, UnitId of) { return one.page->id < of; });
}

// By a thread whose access the demand would take away.
bool is_held(const ScPage& page, const ScPage::Take& take) {
  return (take.drop ? page.held : page.held_for_write) > 0;
}

}  // namespace

std::unique_ptr<Page> ScProtocol::make_page() {
  auto page = std::make_unique<ScPage>();
  page->readers.resize(node_.nodes());
  return page;
}

// The home has the first copy: zeros, which it may write.
void ScProtocol::start(ScPage& page) {
  if (page.started) return;
  page.started = true;
  page.owner = node_.me();
}

void ScProtocol::on_fault(Page& page, bool write, Thread& thread,
                          std::unique_lock<std::mutex>& held) {
  if (get_right(sc(page), write, thread, held))
    node_.tell(page.home, message_about(Kind::kOwnerDone, page));
}

bool ScProtocol::get_right(ScPage& page, bool write, Thread& thread,
                           std::unique_lock<std::mutex>& held) {
  node_.memory.find_home(page, thread, held);
  const bool is_home = page.home == node_.me();
  RightChanges changes(node_.memory.segment);
  if (is_home) {
    start(page);
    if (!page.serving && page.owner == node_.me()) return changes.add(page, Right::kWrite), false;
    if (!page.serving && !write && page.readers[node_.me()])
      return changes.add(page, Right::kRead), false;
  }
  node_.counters.now.misses++;
  const Span waits(node_, Doing::kMiss, page.id, &node_.counters.now.miss_nanoseconds);
  node_.diagnostics.sharing.on_miss(page);
  Message request = message_about(Kind::kOwnerRequest, page);
  request.put(static_cast<uint8_t>(write));
  Message grant = node_.ask(page.home, std::move(request), thread, held);
  if (grant.get<uint8_t>()) {
    const uint8_t* bytes = grant.get_bytes(page.size);
    if (bytes) memcpy(page.open, bytes, page.size);
    node_.diagnostics.sharing.on_received(page, 0, page.size);
  }
  if (grant.bad()) fail("a damaged copy of unit %u from node %u", page.id, page.home);
  page.granted = nanoseconds_now();
  changes.add(page, write ? Right::kWrite : Right::kRead);
  return true;
}

// --- Holding

void ScProtocol::hold(Page& page, bool write, Thread& thread, std::unique_lock<std::mutex>& held) {
  UnitId first = page.id;
  if (takes_ > 0) {
    const auto demanded =
        std::find_if(thread.holds.begin(), thread.holds.end(),
                     [](const Hold& one) { return sc(*one.page).take.has_value(); });
    if (demanded != thread.holds.end()) first = std::min(first, demanded->page->id);
  }
  const auto place = place_of(page.id, thread.holds);
  const bool has_it = place != thread.holds.end() && place->page == &page && place->write >= write;
  if (has_it && first == page.id && !sc(page).take) return;
  std::vector<Hold> wanted = let_go_from(first, thread);
  const auto at = place_of(page.id, wanted);
  if (at != wanted.end() && at->page == &page) {
    at->write |= write;
  } else {
    wanted.insert(at, Hold{&page, write});
  }
  for (const Hold& one : wanted) hold_one(sc(*one.page), one.write, thread, held);
}

void ScProtocol::hold_one(ScPage& page, bool write, Thread& thread,
                          std::unique_lock<std::mutex>& held) {
  while (page.busy || page.take) node_.changed.wait(held);
  bool owes = false;
  if (page.right != Right::kWrite && (write || page.right != Right::kRead)) {
    page.busy = true;
    node_.tapeworm.on_fault(page, write, thread);
    owes = get_right(page, write, thread, held);
    page.busy = false;
    node_.changed.notify_all();
  }
  page.held++;
  page.held_for_write += write;
  thread.holds.push_back({&page, write});
  if (page.kind == UnitKind::kRegion && page.held > 1 && page.held_for_write > 0)
    fail(
        "two threads of this node use region %u under sc at once, and one writes: they share the "
        "pointers' levels; use lrc or hlrc for it, or one thread a node",
        page.id - kObjectUnits);
  if (page.kind == UnitKind::kRegion)
    weir_region_protect(page.open, write
                                       ? PROT_READ | PROT_WRITE
                                       : PROT_READ);  // a write traps first, whatever the node may
  if (owes)
    node_.tell(page.home,
               message_about(Kind::kOwnerDone, page));  // from here on it may be demanded
}

// Answers what was let go of: units from `first` on.
std::vector<Hold> ScProtocol::let_go_from(UnitId first, Thread& thread) {
  const auto at = place_of(first, thread.holds);
  const std::vector<Hold> gone(at, thread.holds.end());
  thread.holds.erase(at, thread.holds.end());
  for (const Hold& one : gone) {
    ScPage& page = sc(*one.page);
    page.held--;
    page.held_for_write -= one.write;
    if (page.held == 0 && page.kind == UnitKind::kRegion) weir_region_protect(page.open, PROT_NONE);
    if (!page.take || is_held(page, *page.take)) continue;
    takes_--;
    take_away(page, *std::exchange(page.take, std::nullopt));
    node_.changed.notify_all();
  }
  return gone;
}

std::string ScProtocol::describe() const {
  std::string text;
  node_.memory.each_page([&](Page& page) {
    if (page.protocol != this || !sc(page).take) return;
    text += "unit " + std::to_string(page.id) + " (" + node_.memory.describe(page.id) +
            "): asked for, until " + std::to_string(sc(page).held) + " threads here synchronize\n";
  });
  return text;
}

void ScProtocol::on_message(Message&& message) {
  const UnitId unit = message.get<UnitId>();
  const NodeId from = message.header.from;
  if (message.bad()) fail("a damaged message from node %u about a unit", from);
  ScPage& page = sc(node_.memory.page(unit, *this));
  const auto expect = [&](bool is_expected) {
    if (!is_expected)
      fail("a message of kind %u from node %u about unit %u, which nobody waits for",
           message.header.kind, from, unit);
  };
  switch (static_cast<Kind>(message.header.kind)) {
    case Kind::kOwnerRequest:
      expect(page.home == kNoNode || page.home == node_.me());
      page.home = node_.me();
      start(page);
      if (page.serving) {
        page.waiting.push_back(std::move(message));
        return;
      }
      return serve(page, std::move(message));
    case Kind::kOwnerTake: {
      expect(page.home == kNoNode || page.home == from);
      const bool drop = message.get<uint8_t>(), send = message.get<uint8_t>();
      if (message.bad())
        fail("a damaged message from node %u about unit %u", message.header.from, page.id);
      const ScPage::Take take{message.header.from, drop, send};
      if (is_held(page, take)) {
        page.take = take;
        takes_++;
        return;
      }
      while (page.kind == UnitKind::kPages && page.right != Right::kNone &&
             nanoseconds_now() - page.granted < kHold)
        sched_yield();
      return take_away(page, take);
    }
    case Kind::kOwnerAnswer:
      expect(page.serving && page.missing > 0);  // invariant 2 of sc.cc
      if (message.get<uint8_t>()) {
        const uint8_t* bytes = message.get_bytes(page.size);
        if (!bytes) fail("a damaged copy of unit %u from node %u", page.id, message.header.from);
        memcpy(page.open, bytes, page.size);
      }
      if (--page.missing == 0) give(page);
      return;
    default: {  // kOwnerDone
      // Invariant 1 of sc.cc.
      expect(page.serving && page.missing == 0 && page.asker.node == from);
      page.serving = false;
      if (page.waiting.empty()) return;
      Message next = std::move(page.waiting.front());
      page.waiting.pop_front();
      return serve(page, std::move(next));
    }
  }
}

void ScProtocol::serve(ScPage& page, Message&& request) {
  page.serving = true;
  page.for_write = request.get<uint8_t>();
  if (request.bad())
    fail("a damaged request from node %u for unit %u", request.header.from, page.id);
  page.asker = request.header.reply_to;
  const NodeId asker = page.asker.node;
  page.missing = 1;  // until all have been asked
  for (NodeId node = 0; node < node_.nodes(); node++) {
    const bool owns = page.owner == node;
    if (node == asker && !owns) continue;
    if (!owns && !(page.for_write && page.readers[node])) continue;
    if (node == asker) continue;
    Message take = message_about(Kind::kOwnerTake, page);
    take.put(static_cast<uint8_t>(page.for_write));
    take.put(static_cast<uint8_t>(owns && node != node_.me()));
    page.missing++;
    node_.tell(node, std::move(take));
  }
  if (--page.missing == 0) give(page);
}

// All others have answered. The home's memory has the bytes, unless the asker has a copy itself.
void ScProtocol::give(ScPage& page) {
  const NodeId asker = page.asker.node, me = node_.me();
  const bool has_copy = page.readers[asker] || page.owner == asker;
  Message grant(static_cast<uint8_t>(Kind::kReply), kGroupData);
  grant.put(static_cast<uint8_t>(!has_copy && asker != me));
  if (!has_copy && asker != me) grant.put_bytes(page.open, page.size);
  if (page.for_write) {
    page.readers.assign(node_.nodes(), false);
    page.owner = asker;
  } else {
    if (page.owner != kNoNode) page.readers[page.owner] = true;
    page.owner = kNoNode;
    page.readers[asker] = true;
  }
  node_.reply(page.asker, std::move(grant));
}

void ScProtocol::take_away(ScPage& page, const ScPage::Take& take) {
  RightChanges changes(node_.memory.segment);
  if (take.drop || page.right == Right::kWrite)
    changes.add(page, take.drop ? Right::kNone : Right::kRead);
  if (page.kind == UnitKind::kRegion && page.held == 0) weir_region_protect(page.open, PROT_NONE);
  changes.apply();
  Message answer = message_about(Kind::kOwnerAnswer, page);
  answer.put(static_cast<uint8_t>(take.send));
  if (take.send) answer.put_bytes(page.open, page.size);
  node_.tell(take.from, std::move(answer));
}

}  // namespace weir::dsm
