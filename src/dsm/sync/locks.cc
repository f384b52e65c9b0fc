// A request goes to the lock's home, from there to the node that asked last, and waits there until
// that node releases the lock. The grant goes directly to the thread that waits, with all that it
// must know: intervals, and by Tapeworm's hooks the diffs that it will want. So one message hands a
// lock over.
//
// The home numbers requests. A forwarded one says after whose turn it comes; a node that has the
// lock knows which turn it has. A try takes no turn: if it succeeds, the lock goes on with the
// giver's, and the home need not know.
//
// Messages: request: lock, flags (1: only if it is free), asker's vector time, then what Tapeworm
// adds. Forward: lock, flags, the turn before, its own, and the rest of the request. Grant: 1 (or
// 0: refused), the turn, the lock's order if races are looked for, what Tapeworm adds, intervals.
//
// Invariants:
//   1. At most one node has the lock (`here`), in one turn. A node asks only while it does not have
//      it, and only by one thread at a time. (checked in grant)
//   2. A request that comes after turn t is served by the node that has turn t. If that node has
//      given the lock away in the same turn, the request follows `given_to`. A node that waits for
//      a turn of its own keeps the node that comes after that one (`next`); there is only one.
//      (checked in on_forward, send_on)
//   3. An interval is closed when the lock leaves the node, not when it is released: threads of one
//      node share its memory, and what no other node asks for costs nothing. (not checkable: the
//      time of a lock's way is another node's)
#include "dsm/node/locks.h"

#include <algorithm>
#include <utility>

#include "dsm/base/failure.h"
#include "dsm/node/node.h"

namespace weir::dsm {

namespace {

constexpr uint8_t kTry = 1;

}  // namespace

NodeId Locks::home(uint32_t lock) const { return lock % node_.nodes(); }

Locks::Lock& Locks::find(uint32_t number) {
  const auto [found, is_new] = locks_.try_emplace(number);
  Lock& lock = found->second;
  if (is_new && home(number) == node_.me()) {
    lock.last = node_.me();
    lock.here = true;  // it starts at home, free, in turn 0
    lock.turn = 0;
  }
  return lock;
}

void Locks::take_here(uint32_t number, Lock& lock, Thread& thread) {
  take(lock, thread);
  node_.checker.synchronize(Synchronization::kLock, number);
  node_.tapeworm.on_acquired(number, thread, nullptr);
}

void Locks::take(Lock& lock, const Thread& thread) {
  lock.taken = true;
  lock.since = nanoseconds_now();
  lock.track = thread.diagnostics.track;
}

void Locks::acquire(uint32_t number, Thread& thread, std::unique_lock<std::mutex>& held) {
  node_.end_accesses(thread);
  Lock& lock = find(number);
  const Span waits(node_, Doing::kLock, number, &node_.counters.now.lock_nanoseconds);
  lock.waiting++;
  // A successor on another node goes first where a thread of this one has had the lock since that
  // one asked.
  while (lock.taken || lock.asking || (lock.here && lock.next)) {
    if (lock.here && !lock.taken && lock.next) {
      grant(number, lock, std::move(*std::exchange(lock.next, nullptr)));
      continue;
    }
    node_.changed.wait(held);
  }
  lock.waiting--;
  if (lock.here) return take_here(number, lock, thread);
  Message grant = ask_for(number, 0, thread, held);
  grant.get<uint8_t>();  // only a try is refused
  take_over(number, thread, grant);
}

// The reply: a grant, or a refusal of a try.
Message Locks::ask_for(uint32_t number, uint8_t flags, Thread& thread,
                       std::unique_lock<std::mutex>& held) {
  Lock& lock = find(number);
  lock.asking = true;
  Message request(static_cast<uint8_t>(Kind::kLockRequest), kGroupLock);
  request.put(number);
  request.put(flags);
  request.put_list(node_.intervals.known());
  node_.tapeworm.add_to_lock_request(number, thread, request);
  Message reply = node_.ask(home(number), std::move(request), thread, held);
  lock.asking = false;
  return reply;
}

void Locks::take_over(uint32_t number, Thread& thread, Message& grant) {
  Lock& lock = find(number);
  lock.here = true;
  take(lock, thread);
  lock.turn = grant.get<uint64_t>();
  if (node_.settings.check) lock.order = grant.get_list<uint32_t>();
  node_.checker.synchronize(Synchronization::kLock, number);
  node_.tapeworm.before_grant(number, thread, grant);
  node_.incorporate(grant);
  node_.intervals.order_after(lock.order);
  node_.tapeworm.on_acquired(number, thread, &grant);
  if (grant.bad()) fail("a damaged grant of lock %u", number);
  node_.collector.consider();
}

bool Locks::try_acquire(uint32_t number, Thread& thread, std::unique_lock<std::mutex>& held) {
  node_.end_accesses(thread);
  Lock& lock = find(number);
  if (lock.taken || lock.asking || lock.next) return false;
  if (lock.here) {
    take_here(number, lock, thread);
    return true;
  }
  Message grant = ask_for(number, kTry, thread, held);
  node_.changed.notify_all();
  if (!grant.get<uint8_t>()) return false;
  take_over(number, thread, grant);
  return true;
}

void Locks::release(uint32_t number, Thread& thread) {
  node_.end_accesses(thread);
  Lock& lock = find(number);
  node_.tapeworm.on_release(number, thread);
  node_.tapeworm.send_for_all();
  node_.checker.synchronize(Synchronization::kUnlock, number);
  if (node_.settings.check) lock.order = node_.intervals.order();
  lock.taken = false;
  if (node_.diagnostics.timeline.on())
    node_.diagnostics.timeline.add({lock.since,
                                    nanoseconds_now() - lock.since,
                                    {},
                                    number,
                                    0,
                                    static_cast<uint16_t>(lock.track),
                                    0,
                                    Doing::kHold,
                                    0,
                                    0});
  if (lock.next) grant(number, lock, std::move(*std::exchange(lock.next, nullptr)));
  node_.changed.notify_all();
}

void Locks::on_message(Message&& message) {
  if (static_cast<Kind>(message.header.kind) == Kind::kLockRequest)
    return on_request(std::move(message));
  on_forward(std::move(message));
}

void Locks::on_request(Message&& message) {
  const uint32_t number = message.get<uint32_t>();
  const uint8_t flags = message.get<uint8_t>();
  if (message.bad() || home(number) != node_.me())
    fail("a damaged request for lock %u from node %u", number, message.header.from);
  Lock& lock = find(number);
  const NodeId last = lock.last;
  Message forward(static_cast<uint8_t>(Kind::kLockForward), kGroupLock);
  forward.header.reply_to = message.header.reply_to;
  forward.put(number);
  forward.put(flags);
  forward.put(lock.turns);
  if (!(flags & kTry)) {
    lock.last = message.header.reply_to.node;
    lock.turns++;
  }
  forward.put(lock.turns);
  const size_t read = sizeof number + sizeof flags;
  forward.put_bytes(message.body.data() + read, message.body.size() - read);
  node_.tell(last, std::move(forward));
}

void Locks::on_forward(Message&& message) {
  const uint32_t number = message.get<uint32_t>();
  const uint8_t flags = message.get<uint8_t>();
  const uint64_t after = message.get<uint64_t>();
  if (message.bad())
    fail("a damaged request for lock %u from node %u", number, message.header.from);
  Lock& lock = find(number);
  if (lock.here && !lock.taken && !lock.next) return grant(number, lock, std::move(message));
  if (!lock.here && lock.turn == after) return send_on(number, lock.given_to, std::move(message));
  if (flags & kTry) {
    Message refusal(static_cast<uint8_t>(Kind::kReply), kGroupLock);
    refusal.put(uint8_t{0});
    return node_.reply(message.header.reply_to, std::move(refusal));
  }
  // Invariant 2 of dsm/sync/locks.cc.
  if (lock.next || !(lock.here || lock.asking))
    fail("the queue of lock %u is broken at node %u", number, node_.me());
  lock.next = std::make_unique<Message>(std::move(message));
}

void Locks::send_on(uint32_t number, NodeId to, Message&& message) {
  if (to == kNoNode)  // invariant 2 of dsm/sync/locks.cc
    fail("lock %u is lost: node %u neither has it nor gave it away", number, node_.me());
  Message forward(static_cast<uint8_t>(Kind::kLockForward), kGroupLock);
  forward.header.reply_to = message.header.reply_to;
  forward.body = std::move(message.body);
  node_.tell(to, std::move(forward));
}

// REQUIRES: the lock is here and free. `request` is read up to its turn.
void Locks::grant(uint32_t number, Lock& lock, Message&& request) {
  const uint64_t turn = request.get<uint64_t>();
  const VectorTime theirs = request.get_list<uint32_t>();
  if (request.bad() || theirs.size() != node_.nodes())
    fail("a damaged request for lock %u", number);
  // Who asks does not have it (invariant 1 of dsm/sync/locks.cc). Given to itself, it would be sent
  // on to itself for ever.
  if (request.header.reply_to.node == node_.me())
    fail("the queue of lock %u is broken at node %u", number, node_.me());
  if (!node_.settings.check)
    node_.close_interval();  // else its release has, and what was written since is not the lock's
  node_.record(&StreamWriter::give, number, request.header.reply_to.node);
  Message grant(static_cast<uint8_t>(Kind::kReply), kGroupLock);
  grant.put(uint8_t{1});
  const bool is_try = request.body[sizeof number] & kTry;
  grant.put(is_try ? lock.turn : turn);
  if (node_.settings.check) grant.put_list(lock.order);
  Message added(0);
  node_.tapeworm.add_to_lock_grant(number, theirs, request, added);
  grant.put_list(added.body);
  node_.intervals.put_missing(theirs, grant);
  lock.here = false;
  lock.given_to = request.header.reply_to.node;
  node_.reply(request.header.reply_to, std::move(grant));
  node_.changed.notify_all();
}

std::vector<Waits::LockState> Locks::states(uint64_t now) const {
  std::vector<Waits::LockState> states;
  for (const auto& [number, lock] : locks_) {
    if (!lock.taken && !lock.asking && lock.waiting == 0 && !lock.next) continue;
    Waits::LockState state;
    state.number = number;
    if (lock.next) state.next = lock.next->header.reply_to.node;
    state.taken = lock.taken;
    state.track = lock.track;
    if (lock.taken) state.age = now - lock.since;
    states.push_back(state);
  }
  return states;
}

}  // namespace weir::dsm
