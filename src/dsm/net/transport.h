// How messages get from node to node. Two of them: UCX active messages (ucx.cc), and loopback, all
// nodes in one process, for tests.
//
// Each node has a server, one thread that takes what is addressed to the node, and mailboxes, at
// which threads wait for replies. Invariants that each transport keeps:
//   1. A message arrives once, whole, unchanged. Two messages of one thread to one node's server
//      arrive in the order in which they were sent. Nothing else is ordered: not a reply with what
//      the replying node posts, not two threads' messages. (not checkable: it is about several
//      nodes; transport_test.cc takes each at its word)
//   2. Sending never waits for what the receiver's program does, only for its server or its waiting
//      thread to take messages in. (not checkable: it is about several nodes; transport_test.cc
//      takes each at its word)
//   3. The server calls back without holding anything of the transport; the callback may send and
//      reply, and may not wait for a reply. (not checkable: a mutex does not say who holds it)
//   4. Any number of threads may wait; one that waits costs no processor time for longer than the
//      spin time. (not checkable: it is about processor time)
#pragma once

#include <stdint.h>

#include <functional>
#include <memory>

#include "dsm/base/message.h"

namespace weir::dsm {

struct Traffic {  // sent by this node, by Header::group, with headers; messages to itself are not
                  // counted
  uint64_t messages[4] = {};
  uint64_t bytes[4] = {};
};

// A thread's place to wait at. Obtained from Transport::mailbox, used by one thread, given back by
// its destructor, by then with no ticket open.
class Mailbox {
 public:
  virtual ~Mailbox() = default;
  // Sends a request, whose reply_to this sets. Returns the ticket to wait with. `to` may be the
  // node itself.
  virtual uint32_t ask(NodeId to, Message&& request) = 0;
  // A ticket without a request: for what somebody else will reply to.
  virtual ReplyTo address() = 0;
  // Waits for the reply to a ticket of this mailbox. Ends the job (through Failure) where a node is
  // gone.
  virtual Message wait(uint32_t ticket) = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;
  virtual NodeId node() const = 0;
  virtual NodeId nodes() const = 0;

  // A mailbox for the calling thread. Never fails, never waits for another thread's.
  virtual std::unique_ptr<Mailbox> mailbox() = 0;
  // To a node's server, which may be this one's. Any thread, the server too.
  virtual void post(NodeId to, Message&& message) = 0;
  // Sends a reply to the thread that waits, which may be a thread of this node. Any thread may call
  // it, the server too.
  virtual void reply(const ReplyTo& to, Message&& message) = 0;

  // Starts the server: `receive` is called on its thread for each message to this node, one after
  // the other; `idle` now and then, at least every 100 ms.
  virtual void serve(std::function<void(Message&&)> receive, std::function<void()> idle) = 0;
  // Ends the server. REQUIRES: no node will send to this one any more (a barrier of the bootstrap
  // is behind).
  virtual void stop() = 0;

  virtual Traffic traffic() const = 0;
};

}  // namespace weir::dsm
