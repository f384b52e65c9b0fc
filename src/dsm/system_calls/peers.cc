// A thread of its own makes the accesses: they fault as the program's do, and a fault waits for
// messages, which the server may not do.
//
// Messages: kPeerRead has the offset and the size (uint64_t each), and the reply the bytes.
// kPeerWrite has the offset and then the bytes, and the reply nothing.
#include "dsm/system_calls/peers.h"

#include <algorithm>

#include "dsm/api/api.h"
#include "dsm/base/failure.h"
#include "dsm/core/thread.h"

namespace weir::dsm {
namespace {

constexpr uint64_t kChunk = 128 << 10;  // bytes in one message

Message ask_peer(Node& node, NodeId peer, Message&& request, Thread& thread) {
  InRuntime held(thread);
  return node.ask(peer, std::move(request), thread, held);
}

}  // namespace

Peers::~Peers() {
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    stops_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
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
  const bool is_read = static_cast<Kind>(message.header.kind) == Kind::kPeerRead;
  const auto offset = message.get<uint64_t>();
  const uint64_t size = is_read ? message.get<uint64_t>() : message.body.size() - sizeof offset;
  const uint64_t all = node_.memory.segment.size();
  if (message.bad() || (is_read && !message.at_end()) || size > kChunk || offset > all ||
      size > all - offset)
    fail("a damaged request for memory from node %u", message.header.from);
  message.rewind();
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

}  // namespace weir::dsm
