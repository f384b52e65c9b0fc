// A thread finds its part by a thread-local pointer, so a span knows whose it is wherever it is; a
// thread without one is the server.
#include "dsm/node/span.h"

#include <algorithm>

#include "dsm/node/node.h"

namespace weir::dsm {

namespace {

thread_local ThreadDiagnostics* g_of_this_thread = nullptr;

}  // namespace

ThreadDiagnostics* ThreadDiagnostics::of_this_thread() { return g_of_this_thread; }

ThreadDiagnostics::ThreadDiagnostics(Thread& its) : thread(its), address(its.mailbox->address()) {
  g_of_this_thread = this;
  if (!its.is_of_program()) {
    track = its.role == Thread::Role::kPeers ? Timeline::kPeers : Timeline::kCollector;
    return;
  }
  const std::lock_guard<std::mutex> held(its.node.mutex);
  auto& all = its.node.diagnostics.threads;
  const auto is_free = [&](unsigned number) {
    return std::none_of(all.begin(), all.end(),
                        [&](const ThreadDiagnostics* other) { return other->track == number; });
  };
  track = its.worker;
  while (!is_free(track)) track++;
  all.push_back(this);
}

ThreadDiagnostics::~ThreadDiagnostics() {
  if (g_of_this_thread == this) g_of_this_thread = nullptr;
  const std::lock_guard<std::mutex> held(thread.node.mutex);
  std::erase(thread.node.diagnostics.threads, this);
}

const Span* ThreadDiagnostics::wait() const {
  const Span* span = doing;
  while (span && !is_wait(span->doing())) span = span->outer();
  return span;
}

uint32_t& ThreadDiagnostics::asks(NodeId to) {
  if (!doing) return no_ticket;
  asked.push_back({to,
                   {address.node, address.channel, 0},
                   thread.node.diagnostics.timeline.on() ? nanoseconds_now() : 0});
  return asked.back().flow.ticket;
}

Span::Span(Node& node, Doing doing, uint32_t object, uint64_t* sum)
    : node_(node),
      thread_(ThreadDiagnostics::of_this_thread()),
      sum_(sum),
      object_(object),
      doing_(doing) {
  if (sum || is_wait(doing) || node.diagnostics.timeline.on()) start_ = nanoseconds_now();
  if (!thread_) return;
  outer_ = thread_->doing;
  first_asked_ = thread_->asked.size();
  thread_->doing = this;
}

void Span::set_message(const Header& header) {
  detail_ = header.kind;
  peer_ = header.from;
  flow_ = header.reply_to;
  amount_ = header.size;
}

Span::~Span() {
  Timeline& timeline = node_.diagnostics.timeline;
  const uint64_t end = sum_ || timeline.on() ? nanoseconds_now() : 0;
  if (sum_) *sum_ += end - start_;
  const auto kind = static_cast<size_t>(doing_);
  node_.counters.done[kind]++;
  const uint16_t track = thread_ ? static_cast<uint16_t>(thread_->track) : Timeline::kServer;
  if (thread_) {
    thread_->doing = outer_;
    auto& asked = thread_->asked;
    if (asked.size() > first_asked_) {
      node_.counters.asked[kind]++;
      peer_ = static_cast<uint16_t>(asked[first_asked_].to);
      if (timeline.on()) {
        for (size_t i = first_asked_; i < asked.size(); i++) {
          if (asked[i].to == node_.me()) continue;
          timeline.add({asked[i].at, end - asked[i].at, asked[i].flow, 0, 0, track,
                        static_cast<uint16_t>(asked[i].to), Doing::kAsked, 0, 0});
        }
      }
      asked.resize(first_asked_);
    } else {
      peer_ = static_cast<uint16_t>(node_.me());
    }
  }
  if (timeline.on())
    timeline.add({start_, end - start_, flow_, object_, amount_, track, peer_, doing_, detail_, 0});
}

}  // namespace weir::dsm
