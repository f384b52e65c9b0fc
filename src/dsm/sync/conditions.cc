// A condition orders nothing itself; its lock does. A thread that waits tells the home, gets its
// reply, releases the lock, and sleeps until the home passes a signal on. A signal that is sent
// while the lock is held cannot overtake the waiter's message to the home, because that was replied
// to before the lock was released. Nor does a signal come late, to a thread that waits only after
// something that the signaller has done next (a barrier, another lock), because the signal gets a
// reply too.
//
// A semaphore does order. A post brings what its poster has come to know since the last barrier, of
// whichever node, and the home passes that to the thread that takes the post. Only since the last
// barrier, because before it every node knows all. The barrier's number goes along: its release may
// come later to the thread that takes the post, if only other threads of the nodes are at it (a
// shared value).
#include "dsm/node/conditions.h"

#include "dsm/base/failure.h"
#include "dsm/node/node.h"

namespace weir::dsm {

NodeId Conditions::home(uint32_t number) const { return number % node_.nodes(); }

void Conditions::wait(uint32_t condition, uint32_t lock, Thread& thread,
                      std::unique_lock<std::mutex>& held) {
  node_.end_accesses(thread);
  const Span waits(node_, Doing::kCondition, condition, &node_.counters.condition_nanoseconds);
  const ReplyTo address = thread.mailbox->address();
  Message request(static_cast<uint8_t>(Kind::kConditionWait), kGroupLock);
  request.put(condition);
  request.put(address);
  request.put(lock);
  node_.ask(home(condition), std::move(request), thread, held);
  node_.locks.release(lock, thread);
  held.unlock();
  thread.mailbox->wait(address.ticket);
  held.lock();
  node_.locks.acquire(lock, thread, held);
}

void Conditions::signal(uint32_t condition, bool all, Thread& thread,
                        std::unique_lock<std::mutex>& held) {
  node_.end_accesses(thread);
  Message message(static_cast<uint8_t>(Kind::kConditionSignal), kGroupLock);
  message.put(condition);
  message.put(static_cast<uint8_t>(all));
  node_.ask(home(condition), std::move(message), thread, held);
}

void Conditions::post(uint32_t semaphore, Thread& thread) {
  node_.end_accesses(thread);
  node_.tapeworm.send_for_all();
  node_.close_interval(true);
  node_.checker.synchronize(Synchronization::kPost, semaphore);
  Message message(static_cast<uint8_t>(Kind::kSemaphorePost), kGroupLock);
  message.put(semaphore);
  if (node_.settings.check) message.put_list(node_.intervals.order());
  message.put(node_.barrier.round());
  node_.intervals.put_missing(node_.barrier.everybody_knows(), message);
  node_.tell(home(semaphore), std::move(message));
  node_.collector.consider();
}

void Conditions::take(uint32_t semaphore, Thread& thread, std::unique_lock<std::mutex>& held) {
  node_.end_accesses(thread);
  const Span waits(node_, Doing::kSemaphore, semaphore, &node_.counters.condition_nanoseconds);
  Message request(static_cast<uint8_t>(Kind::kSemaphoreWait), kGroupLock);
  request.put(semaphore);
  Message reply = node_.ask(home(semaphore), std::move(request), thread, held);
  const VectorTime order = node_.settings.check ? reply.get_list<uint32_t>() : VectorTime();
  const uint32_t round = reply.get<uint32_t>();
  if (round > node_.barrier.round() + 1) fail("a damaged post of semaphore %u", semaphore);
  while (node_.barrier.round() < round) node_.changed.wait(held);
  node_.checker.synchronize(Synchronization::kTake, semaphore);
  node_.incorporate(reply);
  node_.intervals.order_after(order);
  node_.collector.consider();
}

void Conditions::on_message(Message&& message) {
  const uint32_t number = message.get<uint32_t>();
  const auto check = [&] {
    if (message.bad() || home(number) != node_.me())
      fail("a damaged message from node %u for condition or semaphore %u", message.header.from,
           number);
  };
  check();
  switch (static_cast<Kind>(message.header.kind)) {
    case Kind::kConditionWait: {
      Waiters& waiting = waiting_[number];
      const ReplyTo thread = message.get<ReplyTo>();
      const uint32_t lock = message.get<uint32_t>();
      check();
      if (thread.node >= node_.nodes())
        fail("node %u waits for condition %u, of %u nodes", thread.node, number, node_.nodes());
      if (!waiting.threads.empty() && waiting.lock != lock) {
        fail("node %u waits for condition %u with lock %u, while node %u waits for it with lock %u",
             thread.node, number, lock, waiting.threads.front().node, waiting.lock);
      }
      waiting.lock = lock;
      waiting.threads.push_back(thread);
      return node_.reply(message.header.reply_to,
                         Message(static_cast<uint8_t>(Kind::kReply), kGroupLock));
    }
    case Kind::kConditionSignal: {
      auto& waiting = waiting_[number].threads;
      const bool all = message.get<uint8_t>();
      check();
      while (!waiting.empty()) {
        node_.reply(waiting.front(), Message(static_cast<uint8_t>(Kind::kReply), kGroupLock));
        waiting.pop_front();
        if (!all) break;
      }
      return node_.reply(message.header.reply_to,
                         Message(static_cast<uint8_t>(Kind::kReply), kGroupLock));
    }
    default: break;
  }
  Semaphore& semaphore = semaphores_[number];
  if (static_cast<Kind>(message.header.kind) == Kind::kSemaphorePost) {
    Message grant(static_cast<uint8_t>(Kind::kReply), kGroupLock);
    grant.put_bytes(message.body.data() + sizeof number, message.body.size() - sizeof number);
    if (semaphore.waiters.empty()) {
      semaphore.posts.push_back(std::move(grant));
    } else {
      node_.reply(semaphore.waiters.front(), std::move(grant));
      semaphore.waiters.pop_front();
    }
  } else if (semaphore.posts.empty()) {
    semaphore.waiters.push_back(message.header.reply_to);
  } else {
    node_.reply(message.header.reply_to, std::move(semaphore.posts.front()));
    semaphore.posts.pop_front();
  }
}

}  // namespace weir::dsm
