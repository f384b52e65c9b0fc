// How threads wait at a worker that only one of them can use.
//
// Problem: a UCX worker must be driven by some thread for replies to come in, and has one
// descriptor to sleep on. Threads that wait at once would need a worker each, and a node may have
// any number of threads. Mechanism: the threads that share a channel elect one. The first that
// waits polls the worker for all, spins for a moment and then sleeps on the descriptor. The others
// sleep on their mailboxes' conditions. A thread that has polled and got its reply wakes one of the
// others to go on.
//
// Invariants:
//   1. While any thread waits at a channel, one of them polls, or has been woken to do so. (not
//      checkable: between two threads that change places nobody polls for a moment)
//   2. A reply is put into its mailbox before any thread is told. A thread that goes to sleep looks
//      into its mailbox after it has said, under the same lock, that it sleeps. (not checkable: the
//      order of two stores shows in another thread only)
//   3. Other threads may drive the worker while the polling thread sleeps (they send, or the server
//      drives). They tell it by wake_descriptor_ what they take in for it, because its worker's
//      descriptor may then stay quiet. What comes after it armed the worker makes the descriptor
//      readable, whichever thread drove in between. (not checkable: UCX does not say what it has
//      taken in)
//   4. No lock is held while sleeping. A spinning thread holds worker_mutex_ for no more than one
//      progress(); if another thread wants it, spinning ends. (not checkable: a mutex does not say
//      who holds it)
//   5. What is unsent is driven by the polling thread, or else by the server: it is never left
//      lying. (not checkable: UCX does not say what is unsent)
#include "dsm/net/ucx_channel.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>

#include "dsm/base/failure.h"

namespace weir::dsm {
namespace {

constexpr int kHalfSentMicroseconds = 50;  // there is a message that its sender has begun to write,
                                           // and it may have lost the processor
constexpr int kPollMilliseconds = 100;
constexpr int kUnsentMilliseconds = 1;  // shared memory does not tell when there is room again
constexpr size_t kUnsentBytesLimit = 8u << 20;  // beyond it, senders wait

}  // namespace

UcxChannel::UcxChannel(const UcxContext& context, unsigned spin_microseconds)
    : worker_(context, [this](Message&& message) { deliver(std::move(message)); }),
      spin_time_(spin_microseconds),
      wake_descriptor_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (wake_descriptor_ < 0) fail("eventfd failed: %s", strerror(errno));
}

UcxChannel::~UcxChannel() { ::close(wake_descriptor_); }

unsigned UcxChannel::open(Box* box) {
  const std::lock_guard lock(boxes_mutex_);
  auto free = std::find(boxes_.begin(), boxes_.end(), nullptr);
  if (free == boxes_.end()) {
    if (boxes_.size() == kPlaces)
      fail("more than %u threads wait for replies at one channel", kPlaces);
    free = boxes_.insert(free, nullptr);
  }
  *free = box;
  boxes_in_use_.fetch_add(1, std::memory_order_relaxed);
  return static_cast<unsigned>(free - boxes_.begin());
}

void UcxChannel::close(unsigned place) {
  const std::lock_guard lock(boxes_mutex_);
  boxes_[place] = nullptr;
  boxes_in_use_.fetch_sub(1, std::memory_order_relaxed);
}

bool UcxChannel::progress() {
  const std::lock_guard lock(worker_mutex_);
  return worker_.progress();
}

void UcxChannel::reach_all(NodeId me) {
  const std::lock_guard lock(worker_mutex_);
  worker_.reach_all(me);
}

bool UcxChannel::send(NodeId node, unsigned worker, Message&& message) {
  wanted_.fetch_add(1, std::memory_order_relaxed);
  std::unique_lock lock(worker_mutex_);
  wanted_.fetch_sub(1, std::memory_order_relaxed);
  worker_.send(node, worker, std::move(message));
  if (!worker_.unsent()) return true;
  const Clock::time_point limit = Clock::now() + spin_time_;
  while (true) {
    while (worker_.progress()) {}
    if (!worker_.unsent()) return true;
    if (Clock::now() < limit) continue;
    if (worker_.unsent_bytes() < kUnsentBytesLimit) return false;
    // So much is on its way that its receiver is to catch up first.
    lock.unlock();
    usleep(200);
    lock.lock();
  }
}

bool UcxChannel::drive() {
  {
    const std::lock_guard lock(boxes_mutex_);
    if (polling_) return has_unsent();
  }
  const std::unique_lock lock(worker_mutex_, std::try_to_lock);
  if (lock) {
    while (worker_.progress()) {}
  }
  return has_unsent();
}

void UcxChannel::deliver(Message&& message) {
  const unsigned place = message.header.reply_to.channel % kPlaces;
  const std::lock_guard lock(boxes_mutex_);
  Box* box = place < boxes_.size() ? boxes_[place] : nullptr;
  if (!box) return;  // its thread is gone: it had no ticket open
  box->arrived.push_back(std::move(message));
  box->count.fetch_add(1, std::memory_order_release);
  if (box->sleeps) box->changed.notify_one();
  if (box == polling_ && in_poll_) wake();
}

void UcxChannel::wake() {
  const uint64_t one = 1;
  if (write(wake_descriptor_, &one, sizeof one) < 0 && errno != EAGAIN)
    fail("eventfd failed: %s", strerror(errno));
}

Message UcxChannel::wait(Box& box, uint32_t ticket) {
  std::unique_lock lock(boxes_mutex_);
  while (true) {
    const auto found = std::find_if(
        box.arrived.begin(), box.arrived.end(),
        [ticket](const Message& message) { return message.header.reply_to.ticket == ticket; });
    if (found != box.arrived.end()) {
      Message message = std::move(*found);
      box.arrived.erase(found);
      if (polling_ == &box) polling_ = nullptr;
      // Also where the caller did not poll: it may have been woken to, and have found its reply.
      if (!polling_) {
        const auto next = std::find_if(boxes_.begin(), boxes_.end(),
                                       [](const Box* other) { return other && other->sleeps; });
        if (next != boxes_.end()) (*next)->changed.notify_one();
      }
      return message;
    }
    if (!polling_) polling_ = &box;
    if (polling_ == &box) {
      const unsigned seen = box.count.load(std::memory_order_relaxed);
      lock.unlock();
      poll_for(box, seen);
      lock.lock();
    } else {
      box.sleeps = true;
      box.changed.wait(lock);
      box.sleeps = false;
    }
  }
}

// Until more than `seen` have arrived in `box`; it may also return without.
void UcxChannel::poll_for(Box& box, unsigned seen) {
  const Clock::time_point limit = Clock::now() + spin_time_;
  do {
    for (int i = 0; i < 8; i++) {
      progress();
      if (box.count.load(std::memory_order_acquire) != seen) return;
      if (wanted_.load(std::memory_order_relaxed)) break;
    }
  } while (Clock::now() < limit && !wanted_.load(std::memory_order_relaxed));
  {
    const std::lock_guard lock(boxes_mutex_);
    if (box.count.load(std::memory_order_relaxed) != seen) return;
    in_poll_ = true;
  }
  bool armed;
  {
    const std::lock_guard lock(worker_mutex_);
    armed = worker_.arm();
  }
  if (armed) {
    pollfd ready[] = {{worker_.descriptor(), POLLIN, 0}, {wake_descriptor_, POLLIN, 0}};
    poll(ready, 2, has_unsent() ? kUnsentMilliseconds : kPollMilliseconds);
    if (ready[1].revents) {
      uint64_t value;
      if (read(wake_descriptor_, &value, sizeof value) < 0 && errno != EAGAIN)
        fail("eventfd failed: %s", strerror(errno));
    }
  }
  {
    const std::lock_guard lock(boxes_mutex_);
    in_poll_ = false;
  }
  if (!progress() && !armed) usleep(kHalfSentMicroseconds);
  while (progress()) {}
}

}  // namespace weir::dsm
