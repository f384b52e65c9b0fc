// Update locks (Tapeworm, sections 3.2 and 4, figure 5). The request names the units that will be
// wanted, S, and which diffs of them are known and missing, miss(S). The granting node adds what
// the grant itself tells of, new(S), and puts in those of both that it has: its own, and others'
// that it has kept. So the lock comes with its data.
//
// Auto-locks take for S what was accessed when the lock was last held here. Only the compare at the
// end of the interval, or the sampled fault, shows which of the brought diffs are not used each
// time. What came twice in vain is dropped. In automatic mode a lock whose advice is mostly in vain
// pauses.
#include <algorithm>
#include <utility>

#include "dsm/base/failure.h"
#include "dsm/node/node.h"
#include "dsm/node/tapeworm.h"
#include "dsm/protocol/lrc.h"

namespace weir::dsm {

namespace {

constexpr uint32_t kWindow = 64;  // units brought, after which a lock's accuracy is looked at
constexpr uint32_t kPause = 64;   // acquisitions

}  // namespace

// Added to a request: the units, and what of them is missing. None: an empty list.
void Tapeworm::add_to_lock_request(uint32_t number, Thread& thread, Message& request) {
  const Advice advice = std::exchange(thread.advice, {});
  const bool is_auto = advice.kind == Advice::kAuto ||
                       (advice.kind == Advice::kNone && node_.settings.tapes == Tapes::kAuto);
  thread.records_lock = enabled() && is_auto;
  tape::Extent extent;
  if (enabled() && advice.kind == Advice::kUser) extent = advice.user;
  if (thread.records_lock) {
    LockTape& lock = locks_[number];
    if (lock.prefetched >= kWindow) {
      if (lock.used * 4 < lock.prefetched && node_.settings.tapes == Tapes::kAuto)
        lock.pause = kPause;
      lock.prefetched = lock.used = 0;
    }
    if (lock.pause > 0) {
      lock.pause--;
    } else {
      for (const auto& [unit, use] : lock.units) extent.add(unit);
    }
  }
  std::vector<uint8_t> bytes;
  std::vector<LrcProtocol::Requested> missing;
  if (!extent.empty()) {
    extent.append_to(&bytes);
    for (UnitId unit : extent) {
      if (!node_.memory.exists(unit)) continue;
      Page& page = node_.memory.page(unit);
      if (LrcProtocol* protocol = node_.lazy_of(page))
        protocol->put_missing(as_lazy(page), missing);
    }
  }
  request.put_list(bytes);
  request.put_list(missing);
  hooks.put_request(number, request);
}

void Tapeworm::add_to_lock_grant(uint32_t number, const VectorTime& theirs, Message& request,
                                 Message& added) {
  const std::vector<uint8_t> bytes = request.get_list<uint8_t>();
  const auto missing = request.get_list<LrcProtocol::Requested>();
  std::map<std::pair<UnitId, NodeId>, LrcProtocol::Requested> requested;
  if (!bytes.empty()) {
    tape::Reader reader(bytes);
    const auto extent = tape::Extent::read_from(&reader);
    if (!extent) fail("a damaged extent from node %u", request.header.from);
    if (request.bad() || theirs.size() != node_.nodes())
      fail("a damaged request for lock %u from node %u", number, request.header.from);
    for (const auto& one : missing) requested[{one.unit, one.node}] = one;
    const VectorTime& ours = node_.intervals.known();
    for (NodeId node = 0; node < ours.size(); node++) {
      for (uint32_t index = node_.intervals.kept_after(node, theirs[node]) + 1; index <= ours[node];
           index++) {
        for (UnitId unit : node_.intervals.at({node, index}).units) {
          if (!extent->contains(unit)) continue;
          requested
              .try_emplace({unit, node}, LrcProtocol::Requested{unit, node, theirs[node], index})
              .first->second.upto = index;
        }
      }
    }
  }
  uint32_t count = 0;
  Message data(0);
  UnitId last = kNoUnit;
  for (const auto& [key, one] : requested) {
    if (!node_.memory.exists(one.unit) || one.node >= node_.nodes()) continue;
    Page& page = node_.memory.page(one.unit);
    LrcProtocol* protocol = node_.lazy_of(page);
    if (!protocol) continue;
    as_lazy(page).share();
    std::vector<DiffPtr> found;
    protocol->find_diffs(as_lazy(page), one, found);
    for (const DiffPtr& diff : found) {
      data.put(one.unit);
      put_diff(*diff, data);
      count++;
    }
    if (!found.empty() && one.unit != last) node_.counters.now.updates_sent++, last = one.unit;
  }
  added.put(count);
  added.put_bytes(data.body.data(), data.body.size());
  hooks.grant(number, theirs, request, added);
}

void Tapeworm::before_grant(uint32_t number, Thread& thread, Message& grant) {
  Message data(0);
  data.body = grant.get_list<uint8_t>();
  std::vector<UnitId> others = std::exchange(prefetched_, {});
  keep_data(data);
  hooks.keep_grant(data);
  known_before_ = node_.intervals.known();
  thread.prefetched = std::exchange(prefetched_, std::move(others));
  node_.counters.now.updates_received += thread.prefetched.size();
  locks_[number].prefetched += static_cast<uint32_t>(thread.prefetched.size());
}

void Tapeworm::on_acquired(uint32_t number, Thread& thread, Message* grant) {
  if (grant) {
    open_pages(thread.prefetched, number, true);
  } else {
    thread.prefetched.clear();
    const Advice advice = std::exchange(thread.advice, {});
    thread.records_lock =
        enabled() && (advice.kind == Advice::kAuto ||
                      (advice.kind == Advice::kNone && node_.settings.tapes == Tapes::kAuto));
  }
  hooks.acquired(number, grant);
  if (!thread.records_lock) return;
  thread.records_lock = false;
  thread.lock_recordings.push_back(std::make_unique<Recording>());
  thread.lock_recordings.back()->lock = number;
  thread.recordings.push_back(thread.lock_recordings.back().get());
}

void Tapeworm::on_release(uint32_t number, Thread& thread) {
  hooks.release(number);
  const auto is_its = [&](const auto& recording) { return recording->lock == number; };
  const auto found =
      std::find_if(thread.lock_recordings.begin(), thread.lock_recordings.end(), is_its);
  if (found == thread.lock_recordings.end()) return;
  const std::unique_ptr<Recording> recording = std::move(*found);
  thread.lock_recordings.erase(found);
  std::erase(thread.recordings, recording.get());
  LockTape& lock = locks_[number];
  std::erase_if(lock.units, [](const auto& entry) { return entry.second.unused >= 2; });
  for (UnitId unit : recording->read) {
    Use& use = lock.units[unit];
    use.unused = 0;
    use.written |= recording->written.contains(unit);
  }
}

}  // namespace weir::dsm
