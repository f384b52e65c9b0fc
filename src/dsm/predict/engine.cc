// A queue of events in the order of their times, and three kinds of things for which a thread may
// have to wait: cores, servers, links.
//
// Cores shared by all nodes (ranks of one machine): all threads that compute get on equally fast,
// at rate min(1, cores / threads). So each has got the same amount of work done since any moment.
// It is enough to keep one number for all, `work`, and for each thread the value of it up to which
// the thread computes. If cores are shared, taking a message in is work too, and waits for its
// share of a core as computing does.
//
// A message: the sender takes `send` and copies. Its link takes bytes / bandwidth, after the
// messages before it if links are modelled. `latency` later the first byte is at the receiver's
// link, which takes as long, after what it is still taking in. Then the receiver takes `serve` (its
// server, one message after the other) or `wake`, and copies.
//
// Invariants:
//   1. now() never goes back. (not checkable: at() asks for it as it puts the event in)
//   2. Of two events of one time, the one made first is first, so a prediction is the same whenever
//      it is made. (not checkable: it is about two runs)
#include "dsm/predict/engine.h"

#include <algorithm>
#include <cmath>

namespace weir::predict {

namespace {

Time rounded(double nanoseconds) { return static_cast<Time>(std::llround(nanoseconds)); }

}  // namespace

Engine::Engine(uint32_t nodes, const Network& network, uint32_t cores, bool links)
    : counters(nodes),
      network_(network),
      cores_(cores),
      links_(links),
      server_free_(nodes),
      servers_(nodes),
      out_free_(nodes),
      in_free_(nodes) {}

void Engine::at(Time when, Action action) {
  events_.push({std::max(when, now_), order_++, std::move(action)});
}

bool Engine::step() {
  if (events_.empty()) return false;
  now_ = events_.top().when;
  const Action action = std::move(events_.top().action);
  events_.pop();
  action();
  return true;
}

void Engine::compute(Time duration, Action done) {
  if (cores_ == 0) return at(now_ + duration, std::move(done));
  advance_work();
  computing_.push({work_ + static_cast<double>(duration), order_++, std::move(done)});
  schedule_computing();
}

void Engine::advance_work() {
  if (!computing_.empty())
    work_ += static_cast<double>(now_ - work_at_) *
             std::min(1.0, static_cast<double>(cores_) / static_cast<double>(computing_.size()));
  work_at_ = now_;
}

void Engine::schedule_computing() {
  if (computing_.empty()) return;
  const double rate =
      std::min(1.0, static_cast<double>(cores_) / static_cast<double>(computing_.size()));
  const double left = std::max(0.0, computing_.top().until - work_);
  at(now_ + rounded(std::ceil(left / rate)), [this, round = ++computing_round_] {
    if (round != computing_round_) return;  // somebody has begun or ended since
    advance_work();
    std::vector<Action> done;
    while (!computing_.empty() && computing_.top().until <= work_ + 0.5) {
      done.push_back(std::move(computing_.top().done));
      computing_.pop();
    }
    schedule_computing();
    for (const Action& action : done) action();
  });
}

void Engine::serve(uint32_t node, Time duration) {
  server_free_[node] = std::max(server_free_[node], now_) + duration;
}

// The server takes the next message, if there is one, as soon as it is done with the one before.
void Engine::take_next(uint32_t node) {
  Server& server = servers_[node];
  if (server.busy || server.letters.empty()) return;
  server.busy = true;
  const Time wait = std::max(server_free_[node], now_) - now_;
  at(now_ + wait, [this, node] {
    auto [duration, received] = std::move(servers_[node].letters.front());
    servers_[node].letters.pop_front();
    compute(duration, [this, node, received = std::move(received)] {
      received();
      servers_[node].busy = false;
      take_next(node);
    });
  });
}

Time Engine::send(Time start, const Letter& letter, Action received) {
  if (letter.from == letter.to) {
    at(start, std::move(received));
    return start;
  }
  const uint64_t bytes = letter.bytes + kHeaderBytes;
  counters[letter.from].messages[static_cast<int>(letter.group)]++;
  counters[letter.from].bytes += bytes;
  if (letter.by_server) start = std::max(start, server_free_[letter.from]);
  const Time departs = start + rounded(network_.send + network_.copy * static_cast<double>(bytes));
  if (letter.by_server) server_free_[letter.from] = departs;
  const Time transfer = rounded(static_cast<double>(bytes) / network_.bandwidth);
  Time first_byte = departs;
  if (links_) {
    first_byte = std::max(first_byte, out_free_[letter.from]);
    out_free_[letter.from] = first_byte + transfer;
  }
  // Of an uncontended link the receiver's part runs at the same time, `latency` behind.
  at(first_byte + rounded(network_.latency),
     [this, letter, transfer, received = std::move(received)]() mutable {
       Time arrived = now_ + transfer;
       if (links_) {
         arrived = std::max(now_, in_free_[letter.to]) + transfer;
         in_free_[letter.to] = arrived;
       }
       at(arrived, [this, letter, received = std::move(received)]() mutable {
         arrive(letter, std::move(received));
       });
     });
  return departs;
}

void Engine::arrive(const Letter& letter, Action received) {
  const Time copied = rounded(network_.copy * static_cast<double>(letter.bytes + kHeaderBytes));
  if (letter.to_thread) return compute(rounded(network_.wake) + copied, std::move(received));
  if (cores_ > 0) {
    servers_[letter.to].letters.push_back({rounded(network_.serve) + copied, std::move(received)});
    return take_next(letter.to);
  }
  Time& is_free = server_free_[letter.to];
  is_free = std::max(is_free, now_) + rounded(network_.serve) + copied;
  at(is_free, std::move(received));
}

}  // namespace weir::predict
