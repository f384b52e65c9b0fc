// Each node replies with what its threads' spans say. The node that asked puts the replies
// together, because only together they tell which node holds a lock, or which has not come to a
// barrier. A snapshot of nodes that go on is not of one moment, so only waits that have lasted are
// searched for a circle.
//
// A node that has just told another does not ask itself: a signal to all processes of a job prints
// one text.
//
// Invariant: a job ends for a deadlock only if its threads can never go on. A thread that waits for
// a lock does nothing else, and only the thread that holds the lock gives it back. Replies take up
// to kReplies. So of threads that have waited for longer than that, each waited when the question
// was asked, and held what it holds now. A barrier in the circle proves nothing: another thread of
// that node may come to it. (not checkable: what other nodes do is known by their replies only)
#include "dsm/node/waits.h"

#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "dsm/base/failure.h"
#include "dsm/node/node.h"

namespace weir::dsm {

namespace {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kLasting = kSecond / 10, kReplies = 2 * kSecond;
constexpr uint64_t kLook = 5 * kSecond;  // into a wait for a lock, and from one look to the next
enum : uint8_t { kAsk, kAskQuietly, kAnswer };
constexpr uint16_t kNone = 0xffff;

std::vector<char> chars_of(const std::string& text) { return {text.begin(), text.end()}; }
std::string get_string(Message& message) {
  const std::vector<char> text = message.get_list<char>();
  return {text.begin(), text.end()};
}

using States = std::vector<std::optional<Waits::NodeState>>;
using Place = std::pair<NodeId, uint32_t>;  // a thread: node, track

// Those questions about a snapshot that need all of it.
class Snapshot {
 public:
  explicit Snapshot(const States& nodes) : nodes_(nodes) {
    for (NodeId node = 0; node < nodes.size(); node++) {
      if (!nodes[node]) continue;
      for (const auto& thread : nodes[node]->running) threads_[{node, thread.track}] = &thread;
      for (const auto& lock : nodes[node]->locks) {
        if (lock.taken) holder_[lock.number] = node;
      }
    }
  }

  const Waits::LockState* lock_at(NodeId node, uint32_t number) const {
    if (node >= nodes_.size() || !nodes_[node]) return nullptr;
    for (const auto& lock : nodes_[node]->locks) {
      if (lock.number == number) return &lock;
    }
    return nullptr;
  }
  std::optional<NodeId> holder(uint32_t lock) const {
    const auto found = holder_.find(lock);
    return found == holder_.end() ? std::nullopt : std::optional(found->second);
  }
  std::optional<Place> holding_thread(uint32_t lock) const {
    for (const auto& [place, thread] : threads_) {
      if (holder(lock) == place.first &&
          std::count(thread->holds.begin(), thread->holds.end(), lock))
        return place;
    }
    return std::nullopt;
  }
  // Nodes in the order in which they will have the lock after its holder.
  std::vector<NodeId> queue(uint32_t lock) const {
    std::vector<NodeId> queue;
    for (auto at = holder(lock); at && queue.size() < nodes_.size();) {
      const Waits::LockState* state = lock_at(*at, lock);
      if (!state || state->next == kNone) break;
      at = state->next;
      queue.push_back(*at);
    }
    return queue;
  }
  // Threads that have not come to where this one waits; of a node that has not answered: none.
  std::vector<Place> missing_at_barrier(NodeId of, uint32_t barrier) const {
    std::vector<Place> missing;
    for (NodeId node = 0; node < nodes_.size(); node++) {
      if (!nodes_[node]) continue;
      unsigned here = 0;
      for (const auto& thread : nodes_[node]->running)
        here += thread.doing == Doing::kBarrier && nodes_[node]->passed == nodes_[of]->passed;
      if (here >= (is_collective(barrier) ? 1 : nodes_[node]->threads)) continue;
      for (const auto& thread : nodes_[node]->running) {
        if (thread.doing != Doing::kBarrier || nodes_[node]->passed != nodes_[of]->passed)
          missing.emplace_back(node, thread.track);
      }
    }
    return missing;
  }

  std::vector<Place> waited_for(const Place& place, bool only_locks) const {
    const auto& thread = *threads_.at(place);
    if (thread.age < (only_locks ? kReplies + kSecond : kLasting)) return {};
    if (thread.doing == Doing::kLock) {
      const auto holder = holding_thread(thread.object);
      return holder ? std::vector<Place>{*holder} : std::vector<Place>();
    }
    return thread.doing == Doing::kBarrier && !only_locks
               ? missing_at_barrier(place.first, thread.object)
               : std::vector<Place>();
  }
  // Threads of which each waits for the next and the last for the first; empty: there are none.
  // Both waits need all that they wait for, so a circle never ends.
  std::vector<Place> circle(bool only_locks) const {
    std::set<Place> done;
    std::vector<Place> path;
    const std::function<bool(const Place&)> visit = [&](const Place& place) {
      const auto seen = std::find(path.begin(), path.end(), place);
      if (seen != path.end()) {
        path.erase(path.begin(), seen);
        return true;
      }
      if (!done.insert(place).second) return false;
      path.push_back(place);
      for (const Place& next : waited_for(place, only_locks)) {
        if (visit(next)) return true;
      }
      path.pop_back();
      return false;
    };
    for (const auto& [place, thread] : threads_) {
      if (visit(place)) return path;
    }
    return {};
  }

  std::string text_of_circle(const std::vector<Place>& circle) const {
    std::string text = "deadlock: ";
    for (const Place& place : circle)
      text += name(place) + (place == circle.front() ? " waits for " : ", which waits for ") +
              what(place) + ", so for ";
    return text + name(circle.front());
  }

  std::string what(const Place& place) const {
    const auto& thread = *threads_.at(place);
    switch (thread.doing) {
      case Doing::kMiss: return "a page";
      case Doing::kLock: return "lock " + std::to_string(thread.object);
      case Doing::kBarrier: return name_of_barrier(thread.object);
      case Doing::kCondition: return "condition " + std::to_string(thread.object);
      case Doing::kSemaphore: return "semaphore " + std::to_string(thread.object);
      case Doing::kMemory: return "an allocation";
      default: return "";
    }
  }
  std::string name(const Place& place) const {
    const bool several = nodes_[place.first]->running.size() > 1;
    return "node " + std::to_string(place.first) +
           (several ? " thread " + std::to_string(place.second) : "");
  }
  std::string list(const std::vector<Place>& places, bool with_what) const {
    std::string text;
    for (size_t i = 0; i < places.size(); i++) {
      if (i == 16) return text + " and " + std::to_string(places.size() - i) + " more";
      const std::string its = with_what ? what(places[i]) : "";
      text += (i ? ", " : "") + name(places[i]) +
              (with_what ? its.empty() ? " (runs)" : " (waits for " + its + ")" : "");
    }
    return text;
  }

  std::string describe(const Place& place) const {
    const auto& thread = *threads_.at(place);
    std::string text;
    if (thread.doing == Doing::kNothing) {
      text = "runs";
    } else {
      text = "has waited " + text_of_time(thread.age) + " for ";
      if (thread.doing == Doing::kMiss) {
        text += thread.unit;
        for (size_t i = 0; i < thread.asked.size(); i++)
          text += (i ? ", " : " from node ") + std::to_string(thread.asked[i]);
      } else {
        text += what(place);
      }
      if (thread.doing == Doing::kLock) text += of_lock(thread.object, place.first);
      if (thread.doing == Doing::kBarrier) {
        const auto missing = missing_at_barrier(place.first, thread.object);
        text += missing.empty() ? ", where all who answered are"
                                : ", where these are missing: " + list(missing, true);
      }
      if ((thread.doing == Doing::kCondition || thread.doing == Doing::kSemaphore) &&
          !thread.asked.empty())
        text += " (kept by node " + std::to_string(thread.asked[0]) + ")";
    }
    for (const uint32_t lock : thread.holds) {
      const Waits::LockState* state = lock_at(place.first, lock);
      text += "; holds lock " + std::to_string(lock) +
              (state && state->taken ? ", for " + text_of_time(state->age) : "");
    }
    return text;
  }

 private:
  std::string of_lock(uint32_t lock, NodeId asker) const {
    const auto node = holder(lock);
    if (!node) return ", which nobody who answered holds: it is on its way";
    const auto thread = holding_thread(lock);
    std::string text = ", held by " + (thread ? name(*thread) : "node " + std::to_string(*node)) +
                       " for " + text_of_time(lock_at(*node, lock)->age);
    std::string before;
    for (const NodeId next : queue(lock)) {
      if (next == asker) break;
      before += (before.empty() ? "" : ", ") + std::to_string(next);
    }
    return before.empty() ? text : text + "; before this one comes node " + before;
  }

  const States& nodes_;
  std::map<Place, const Waits::ThreadState*> threads_;
  std::map<uint32_t, NodeId> holder_;
};

}  // namespace

std::string Waits::describe(const States& nodes) {
  const Snapshot snapshot(nodes);
  std::string text;
  for (NodeId node = 0; node < nodes.size(); node++) {
    const std::string name = "node " + std::to_string(node);
    if (!nodes[node]) {
      text += name + " has not answered for " + text_of_time(kReplies) +
              ": it is stopped, or does not get to run\n";
      continue;
    }
    const NodeState& state = *nodes[node];
    text += name + (state.host.empty() ? " (" : " (" + state.host + ", ") + "process " +
            std::to_string(state.process) + ")";
    if (state.running.empty()) text += ": no thread has called the library\n";
    for (const ThreadState& thread : state.running) {
      text += state.running.size() == 1
                  ? ": "
                  : (&thread == &state.running.front() ? "\n" : "") + std::string("  thread ") +
                        std::to_string(thread.track) + ": ";
      text += snapshot.describe({node, thread.track}) + "\n";
    }
    text += state.details;
  }
  const auto circle = snapshot.circle(false);
  return circle.empty() ? text : text + snapshot.text_of_circle(circle) + "\n";
}

std::string Waits::deadlock(const States& nodes) {
  const Snapshot snapshot(nodes);
  const auto circle = snapshot.circle(true);
  return circle.empty() ? "" : snapshot.text_of_circle(circle);
}

// --- Asking

void Waits::on_idle() {
  const uint64_t now = nanoseconds_now();
  if (since_) {
    if (now - since_ > kReplies) print();
    return;
  }
  if (asked_.exchange(false, std::memory_order_relaxed) && now - answered_ > kSecond)
    return gather("node " + std::to_string(node_.me()) + " was asked by a signal");
  if (looks_for_deadlock(now)) {
    looked_ = now;
    return gather("", true);
  }
  if (!limit_) return;
  for (const ThreadDiagnostics* thread : node_.diagnostics.threads) {
    if (const Span* span = thread->wait();
        span && now - span->start() > limit_ && thread->told != span->start()) {
      return gather("a thread of node " + std::to_string(node_.me()) + " has waited for long");
    }
  }
}

bool Waits::looks_for_deadlock(uint64_t now) const {
  return now - looked_ > kLook &&
         std::any_of(node_.diagnostics.threads.begin(), node_.diagnostics.threads.end(),
                     [now](const ThreadDiagnostics* thread) {
                       const Span* const span = thread->wait();
                       return span && span->doing() == Doing::kLock && now - span->start() > kLook;
                     });
}

void Waits::gather(const std::string& why, bool is_quiet) {
  why_ = why;
  is_quiet_ = is_quiet;
  since_ = nanoseconds_now();
  states_.assign(node_.nodes(), std::nullopt);
  missing_ = node_.nodes();
  for (NodeId node = 0; node < node_.nodes(); node++) {
    Message question(static_cast<uint8_t>(Kind::kWaits));
    question.put(is_quiet ? uint8_t{kAskQuietly} : uint8_t{kAsk});
    node_.tell(node, std::move(question));
  }
}

void Waits::on_message(Message&& message) {
  if (const auto what = message.get<uint8_t>(); what != kAnswer) {
    Message answer(static_cast<uint8_t>(Kind::kWaits));
    answer.put(uint8_t{kAnswer});
    put(answer, what == kAskQuietly);
    if (message.header.from != node_.me() && what == kAsk) answered_ = nanoseconds_now();
    return node_.tell(message.header.from, std::move(answer));
  }
  if (!since_ || states_[message.header.from]) return;
  states_[message.header.from] = get(message);
  if (--missing_ == 0) print();
}

void Waits::print() {
  if (is_quiet_) {
    since_ = 0;
    const std::string circle = deadlock(states_);
    if (circle.empty()) return;
    const std::string all = "weir-dsm: who waits for whom\n" + describe(states_);
    fwrite(all.data(), 1, all.size(), stderr);
    fail("%s", circle.c_str());
  }
  const std::string text = "weir-dsm: who waits for whom (" + why_ + ")\n" + describe(states_);
  fwrite(text.data(), 1, text.size(), stderr);
  since_ = 0;
}

// --- One node's

void Waits::put(Message& message, bool is_quiet) {
  const uint64_t now = nanoseconds_now();
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  message.put_list(chars_of(host));
  message.put_list(chars_of(node_.describe_waits()));
  message.put(static_cast<uint32_t>(getpid()));
  message.put(node_.threads);
  message.put(node_.barrier.passed());
  message.put_list(node_.locks.states(now));
  message.put(static_cast<uint32_t>(node_.diagnostics.threads.size()));
  for (ThreadDiagnostics* thread : node_.diagnostics.threads) {
    const Span* span = thread->wait();
    message.put(thread->track);
    message.put(span ? span->doing() : Doing::kNothing);
    message.put(span ? span->object() : 0);
    message.put(span ? now - span->start() : 0);
    message.put_list(chars_of(
        span && span->doing() == Doing::kMiss ? node_.memory.describe(span->object()) : ""));
    std::vector<NodeId> asked;
    for (size_t i = span ? span->first_asked() : thread->asked.size(); i < thread->asked.size();
         i++)
      asked.push_back(thread->asked[i].to);
    message.put_list(asked);
    if (span && !is_quiet) thread->told = span->start();
  }
}

Waits::NodeState Waits::get(Message& message) {
  NodeState state;
  state.host = get_string(message);
  state.details = get_string(message);
  state.process = message.get<uint32_t>();
  state.threads = message.get<uint32_t>();
  state.passed = message.get<uint32_t>();
  state.locks = message.get_list<LockState>();
  for (uint32_t count = message.get<uint32_t>(); count > 0 && !message.bad(); count--) {
    ThreadState thread;
    thread.track = message.get<uint32_t>();
    thread.doing = message.get<Doing>();
    thread.object = message.get<uint32_t>();
    thread.age = message.get<uint64_t>();
    thread.unit = get_string(message);
    thread.asked = message.get_list<NodeId>();
    for (const LockState& lock : state.locks) {
      if (lock.taken && lock.track == thread.track) thread.holds.push_back(lock.number);
    }
    state.running.push_back(std::move(thread));
  }
  std::sort(state.running.begin(), state.running.end(),
            [](const ThreadState& a, const ThreadState& b) { return a.track < b.track; });
  return state;
}

}  // namespace weir::dsm
