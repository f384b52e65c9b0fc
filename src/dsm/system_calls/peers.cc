// A thread of its own makes the accesses: they fault as the program's do, and a fault waits for
// messages, which the server may not do.
//
// Problem: a copy may be all that two nodes do together. A window of MPI's is read (MPI_Get) while
// its own node does nothing. That node may still be on its way out of the barrier that orders what
// is read, or know nothing of a lock that the reader had. Its view then has old bytes, accessible.
//
// Mechanism: before a copy the other node learns what this one knows, and after a write this one
// learns of it. That takes a message only if the other lacks something. Each process keeps what it
// knows in numbers that others read by the kernel; where they lie is in the first reply.
//
// Messages: kPeerRead has the offset and the size (uint64_t each), and the reply the bytes.
// kPeerWrite has the offset and then the bytes, and the reply nothing. kPeerLearn has, with
// WEIR_DSM_CHECK, the order; then the number of the last barrier (uint32_t) and intervals; and the
// reply the place of the numbers.
#include "dsm/node/peers.h"

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>

#include "dsm/base/failure.h"
#include "dsm/node/this_node.h"
#include "dsm/threads/thread.h"

namespace weir::dsm {
namespace {

constexpr uint64_t kChunk = 128 << 10;  // bytes in one message

Message ask_peer(Node& node, NodeId peer, Message&& request, Thread& thread) {
  InRuntime held(thread);
  return node.ask(peer, std::move(request), thread, held);
}

}  // namespace

Peers::Peers(Node& node, NodeId nodes) : node_(node), known_(nodes), places_(nodes) {}

Peers::~Peers() {
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    stops_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

// Release: who reads a number finds the rights of pages as they are with it.
void Peers::publish() {
  const VectorTime& known = node_.intervals.known();
  for (NodeId node = 0; node < known.size(); node++)
    known_[node].store(known[node], std::memory_order_release);
}

bool Peers::knows_all(NodeId peer, pid_t process, const VectorTime& wanted) const {
  VectorTime its(wanted.size());
  if (const uint64_t place = places_[peer].load(std::memory_order_acquire)) {
    const size_t size = its.size() * sizeof its[0];
    const iovec mine = {its.data(), size}, theirs = {reinterpret_cast<void*>(place), size};
    if (syscall(SYS_process_vm_readv, process, &mine, 1, &theirs, 1, 0) != static_cast<long>(size))
      return false;
  }
  for (NodeId node = 0; node < its.size(); node++) {
    if (node != peer && its[node] < wanted[node]) return false;
  }
  return true;
}

void Peers::teach(NodeId peer, pid_t process, Thread& thread) {
  InRuntime held(thread);
  if (knows_all(peer, process, node_.intervals.known())) return;
  Message request(static_cast<uint8_t>(Kind::kPeerLearn), kGroupData);
  if (node_.settings.check) request.put_list(node_.intervals.order());
  request.put(node_.barrier.round());
  node_.intervals.put_missing(node_.barrier.everybody_knows(), request);
  Message reply = node_.ask(peer, std::move(request), thread, held);
  places_[peer].store(reply.get<uint64_t>(), std::memory_order_release);
  if (!reply.at_end()) fail("a damaged reply from node %u, which learns", peer);
}

void Peers::learn(NodeId peer, Thread& thread) {
  InRuntime held(thread);
  Message request(static_cast<uint8_t>(Kind::kLearn), kGroupData);
  request.put_list(node_.intervals.known());
  Message reply = node_.ask(peer, std::move(request), thread, held);
  node_.incorporate(reply);
}

void Peers::read(NodeId peer, uint64_t offset, void* mine, uint64_t size, Thread& thread) {
  for (uint64_t done = 0; done < size;) {
    const uint64_t part = std::min(kChunk, size - done);
    Message request(static_cast<uint8_t>(Kind::kPeerRead), kGroupData);
    request.put(offset + done);
    request.put(part);
    Message reply = ask_peer(node_, peer, std::move(request), thread);
    const uint8_t* bytes = reply.get_bytes(part);
    if (!bytes || !reply.at_end()) fail("damaged bytes from node %u", peer);
    memcpy(static_cast<uint8_t*>(mine) + done, bytes, part);
    done += part;
  }
}

void Peers::write(NodeId peer, uint64_t offset, const void* mine, uint64_t size, Thread& thread) {
  for (uint64_t done = 0; done < size;) {
    const uint64_t part = std::min(kChunk, size - done);
    Message request(static_cast<uint8_t>(Kind::kPeerWrite), kGroupData);
    request.put(offset + done);
    request.put_bytes(static_cast<const uint8_t*>(mine) + done, part);
    ask_peer(node_, peer, std::move(request), thread);
    done += part;
  }
}

void Peers::on_message(Message&& message) {
  if (static_cast<Kind>(message.header.kind) != Kind::kPeerLearn) {
    const bool is_read = static_cast<Kind>(message.header.kind) == Kind::kPeerRead;
    const auto offset = message.get<uint64_t>();
    const uint64_t size = is_read ? message.get<uint64_t>() : message.body.size() - sizeof offset;
    const uint64_t all = node_.memory.segment.size();
    if (message.bad() || (is_read && !message.at_end()) || size > kChunk || offset > all ||
        size > all - offset)
      fail("a damaged request for memory from node %u", message.header.from);
    message.rewind();
  }
  const std::lock_guard<std::mutex> guard(mutex_);
  requests_.push_back(std::move(message));
  if (!thread_.joinable()) thread_ = start_thread("weir-dsm peer", [this] { run(); });
  changed_.notify_one();
}

void Peers::run() {
  use_node(&node_, 0, Thread::Role::kPeers);
  std::unique_lock<std::mutex> held(mutex_);
  for (;;) {
    changed_.wait(held, [this] { return stops_ || !requests_.empty(); });
    if (requests_.empty()) break;
    Message request = std::move(requests_.front());
    requests_.pop_front();
    held.unlock();
    serve(std::move(request));
    held.lock();
  }
  held.unlock();
  use_node(nullptr, 0);
}

void Peers::serve(Message&& request) {
  Message reply(static_cast<uint8_t>(Kind::kReply), kGroupData);
  if (static_cast<Kind>(request.header.kind) == Kind::kPeerLearn) {
    serve_learning(request);
    reply.put(reinterpret_cast<uint64_t>(known_.data()));
    node_.reply(request.header.reply_to, std::move(reply));
    return;
  }
  uint8_t* const program = node_.memory.segment.program() + request.get<uint64_t>();
  if (static_cast<Kind>(request.header.kind) == Kind::kPeerRead) {
    const auto size = request.get<uint64_t>();
    reply.body.resize(size);
    memcpy(reply.body.data(), program, size);
  } else {
    const uint64_t size = request.body.size() - sizeof(uint64_t);
    memcpy(program, request.get_bytes(size), size);
  }
  node_.reply(request.header.reply_to, std::move(reply));
}

// The barrier's release may come later to this node than to the other one; its intervals are those
// that come after it.
void Peers::serve_learning(Message& request) {
  InRuntime held(this_thread());
  const VectorTime order = node_.settings.check ? request.get_list<uint32_t>() : VectorTime();
  const auto round = request.get<uint32_t>();
  const bool has_order = order.size() == (node_.settings.check ? node_.nodes() : 0);
  if (request.bad() || !has_order || round > node_.barrier.round() + 1)
    fail("a damaged request to learn from node %u", request.header.from);
  while (node_.barrier.round() < round) node_.changed.wait(held);
  node_.incorporate(request);
  node_.intervals.order_after(order);
}

}  // namespace weir::dsm
