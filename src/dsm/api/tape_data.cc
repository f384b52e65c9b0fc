// Parcels, and updates: what a tape's events stand for, found, sent, and taken in (Tapeworm,
// section 4).
//
// A diff says where in its writer's chain for the unit it belongs, so it may come early, late,
// twice or without what is before it. The protocol keeps it, and applies it when the copy lacks
// nothing else. Nothing here decides when, so wrong advice costs only time.
//
// Invariants:
//   1. What comes from a tape or a parcel is checked before the protocol sees it: kinds, nodes and
//      units that are none of this run's are left out. (not checkable: what comes from outside may
//      be anything)
//   2. A unit of which a diff is handed out is exact from then on (lrc.cc, invariant 4), as one
//      that is requested is. (not checkable: what threads write between two faults nobody sees)
#include <algorithm>

#include "dsm/api/tape_states.h"
#include "dsm/base/failure.h"
#include "dsm/node/this_node.h"

namespace weir::dsm {

namespace {

// What is wanted of one writer's diffs of one unit.
struct Range {
  uint32_t first = ~uint32_t{0}, last = 0;
};
using Ranges = std::map<std::pair<UnitId, NodeId>, Range>;

Ranges ranges_of(Node& node, const tape::Tape& events) {
  Ranges ranges;
  for (const auto& [source, units] : events.tracks()) {
    if (source.kind != tape::Kind::kWrite || source.node >= node.nodes() || source.interval == 0)
      continue;
    for (const UnitId unit : units) {
      if (!node.memory.exists(unit)) continue;
      Range& range = ranges[{unit, source.node}];
      range.first = std::min(range.first, source.interval);
      range.last = std::max(range.last, source.interval);
    }
  }
  return ranges;
}

// Writes of a node's intervals after `after` and up to `upto`, to these units.
void add_writes(Node& node, NodeId of, uint32_t after, uint32_t upto, const tape::Extent& units,
                tape::Tape& to) {
  for (uint32_t index = after + 1; index <= upto; index++) {
    const Interval* interval = node.intervals.find({of, index});
    if (!interval) continue;
    for (const UnitId unit : interval->units) {
      if (units.contains(unit)) to.add({tape::Kind::kWrite, of, index, unit});
    }
  }
}

tape::Tape missing(Node& node, const tape::Extent& units) {
  tape::Tape tape;
  for (const UnitId unit : units) {
    if (!node.memory.exists(unit)) continue;
    Page& page = node.memory.page(unit);
    LrcProtocol* protocol = node.lazy_of(page);
    if (!protocol) continue;
    std::vector<LrcProtocol::Requested> requested;
    protocol->put_missing(as_lazy(page), requested);
    for (const auto& one : requested) {
      add_writes(node, one.node, one.after, one.upto, {unit}, tape);
      tape.add({tape::Kind::kWrite, one.node, one.upto, unit});  // be its interval forgotten
    }
  }
  return tape;
}

}  // namespace

// --- Updates

std::vector<Parcel::State::Update> Access::find(Node& node, const tape::Tape& events) {
  std::vector<Parcel::State::Update> updates;
  for (const auto& [key, range] : ranges_of(node, events)) {
    Page& page = node.memory.page(key.first);
    LrcProtocol* protocol = node.lazy_of(page);
    if (!protocol) continue;
    as_lazy(page).share();
    std::vector<DiffPtr> found;
    protocol->find_diffs(as_lazy(page), {key.first, key.second, range.first - 1, range.last},
                         found);
    for (const DiffPtr& diff : found) updates.push_back({key.first, diff});
  }
  return updates;
}

// As Tapeworm::push, and others' diffs too.
void Access::send(Node& node, NodeId to, const tape::Tape& events) {
  if (to >= node.nodes()) fail("a tape is sent to node %u, of %u", to, node.nodes());
  Tapeworm& tapeworm = node.tapeworm;
  if (to == node.me() || !tapeworm.enabled()) return;
  tapeworm.sent_.resize(node.nodes());
  Tapeworm::ForAll data;
  for (const auto& [key, range] : ranges_of(node, events)) {
    const auto [unit, of] = key;
    Page& page = node.memory.page(unit);
    LrcProtocol* protocol = node.lazy_of(page);
    if (!protocol || of == to) continue;
    LrcProtocol::Requested requested{unit, of, range.first - 1, range.last};
    const auto sent = tapeworm.sent_[to].find(unit);
    if (of == node.me() && sent != tapeworm.sent_[to].end()) requested.after = sent->second;
    if (requested.after >= requested.upto) continue;
    as_lazy(page).share();
    std::vector<DiffPtr> found;
    protocol->find_diffs(as_lazy(page), requested, found);
    for (const DiffPtr& diff : found) {
      data.diffs.put(unit);
      put_diff(*diff, data.diffs);
      data.count++;
      if (of == node.me()) tapeworm.sent_[to][unit] = diff->last;
    }
    if (!found.empty() && (data.units.empty() || data.units.back() != unit))
      data.units.push_back(unit);
  }
  node.counters.now.updates_sent += data.units.size();
  tapeworm.tell_push(to, data);
}

size_t Access::take(Node& node, const std::vector<Parcel::State::Update>& updates) {
  std::vector<UnitId> units;
  UnitId last = kNoUnit;
  for (const auto& [unit, diff] : updates) {
    if (!node.memory.exists(unit) || diff->node >= node.nodes() || diff->node == node.me())
      continue;
    Page& page = node.memory.page(unit);
    LrcProtocol* protocol = node.lazy_of(page);
    if (!protocol) continue;
    protocol->keep(as_lazy(page), diff);
    if (unit == last) continue;
    last = unit;
    node.counters.now.updates_received++;
    if (!as_lazy(page).valid(node.me()))
      units.push_back(unit);  // else it is for what this node does not know yet
  }
  node.tapeworm.open_pages(std::move(units), 0, false);
  return updates.size();
}

std::size_t Tape::add_data(Parcel& parcel) const {
  const tape::Tape& events = Access::events(*this);
  if (events.empty()) return parcel.updates();
  const Inside inside;
  auto& state = Access::state(parcel);
  for (auto& update : Access::find(inside.node, events)) state.updates.push_back(std::move(update));
  return state.updates.size();
}

std::size_t Tape::read_data(Parcel& parcel) {
  if (parcel.updates() == 0) return 0;
  const Inside inside;
  const auto updates = std::exchange(Access::state(parcel).updates, {});
  tape::Tape& events = Access::events(*this);
  for (const auto& [unit, diff] : updates)
    events.add({tape::Kind::kWrite, diff->node, diff->last, unit});
  return Access::take(inside.node, updates);
}

Tape missing_data_tape(const Extent& units) {
  const Inside inside;
  return Access::make(missing(inside.node, Access::units(units)));
}

Tape new_data_tape(const Extent& extent) {
  const Inside inside;
  Node& node = inside.node;
  const tape::Extent& units = Access::units(extent);
  const VectorTime* theirs = node.tapeworm.hooks.theirs();
  tape::Tape tape;
  if (theirs) {
    const VectorTime known = node.intervals.known();
    for (NodeId of = 0; of < node.nodes(); of++)
      add_writes(node, of, (*theirs)[of], known[of], units, tape);
  } else {
    tape = missing(node, units).unknown_at(node.tapeworm.known_before());
  }
  return Access::make(std::move(tape));
}

std::vector<std::uint32_t> vector_time() {
  const Inside inside;
  return inside.node.intervals.known();
}

// --- Moving

void send(unsigned to, const Tape& tape) {
  const tape::Tape& events = Access::events(tape);
  const Inside inside;
  Access::send(inside.node, to, events);
}

void send_all(const Tape& tape) {
  const tape::Tape& events = Access::events(tape);
  const Inside inside;
  for (NodeId to = 0; to < inside.node.nodes(); to++) Access::send(inside.node, to, events);
}

void fetch(const Tape& tape) {
  if (HookList::is_running()) fail("weir::dsm::fetch is called from a hook");
  const tape::Extent units = Access::events(tape).flatten(tape::Kind::kWrite);
  Inside inside;
  tape::Extent here;
  for (const UnitId unit : units) {
    if (inside.node.memory.exists(unit)) here.add(unit);
  }
  inside.node.tapeworm.prefetch(here, kNoNode, this_thread(), inside.held);
}

void post(unsigned to, Parcel&& parcel) {
  const Inside inside;
  if (to >= inside.node.nodes())
    fail("a parcel is posted to node %u, of %u", to, inside.node.nodes());
  const Parcel taken = std::exchange(parcel, {});
  inside.node.tell(to, HookList::posted(taken));
}

// --- Parcels

Parcel::State& Access::state(Parcel& parcel) {
  if (!parcel.state_) parcel.state_ = new Parcel::State;
  return *parcel.state_;
}

void Access::put(const Parcel& parcel, Message& message) {
  static const Parcel::State none;
  const Parcel::State& state = parcel.state_ ? *parcel.state_ : none;
  message.put(static_cast<uint32_t>(state.entries.size()));
  for (const auto& [number, bytes] : state.entries) {
    message.put(number);
    message.put_list(bytes);
  }
  message.put(static_cast<uint32_t>(state.updates.size()));
  for (const auto& [unit, diff] : state.updates) {
    message.put(unit);
    put_diff(*diff, message);
  }
}

Parcel Access::get_parcel(Message& message) {
  Parcel parcel;
  Parcel::State& state = Access::state(parcel);
  for (uint32_t count = message.get<uint32_t>(); count > 0 && !message.bad(); count--) {
    const uint32_t number = message.get<uint32_t>();
    state.entries.push_back({number, message.get_list<uint8_t>()});
  }
  for (uint32_t count = message.get<uint32_t>(); count > 0 && !message.bad(); count--) {
    const UnitId unit = message.get<UnitId>();
    state.updates.push_back({unit, get_diff(message)});
  }
  if (message.bad()) fail("a damaged parcel from node %u", message.header.from);
  return parcel;
}

Parcel::Parcel(const Parcel& other) : state_(other.state_ ? new State(*other.state_) : nullptr) {}
Parcel::~Parcel() { delete state_; }
Parcel& Parcel::operator=(const Parcel& other) {
  if (this != &other) *this = Parcel(other);
  return *this;
}

void Parcel::add(std::uint32_t number, const void* bytes, std::size_t size) {
  const auto* from = static_cast<const uint8_t*>(bytes);
  Access::state(*this).entries.push_back({number, {from, from + size}});
}
void Parcel::add(std::uint32_t number, const Tape& tape) {
  Access::state(*this).entries.push_back({number, tape.bytes()});
}
void Parcel::add(std::uint32_t number, const Extent& extent) {
  Access::state(*this).entries.push_back({number, extent.bytes()});
}

namespace {

// The first entry of this number goes where `takes` wants it, if it does.
template <typename Entries, typename Takes>
bool take_entry(Entries& entries, uint32_t number, Takes takes) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const auto& entry) { return entry.number == number; });
  if (found == entries.end() || !takes(found->bytes)) return false;
  entries.erase(found);
  return true;
}

}  // namespace

bool Parcel::retrieve(std::uint32_t number, std::vector<std::uint8_t>* bytes) {
  return state_ && take_entry(state_->entries, number,
                              [&](auto& from) { return *bytes = std::move(from), true; });
}
bool Parcel::retrieve(std::uint32_t number, Tape* tape) {
  return state_ && take_entry(state_->entries, number, [&](auto& from) {
           return tape->from_bytes(from.data(), from.size());
         });
}
bool Parcel::retrieve(std::uint32_t number, Extent* extent) {
  return state_ && take_entry(state_->entries, number, [&](auto& from) {
           return extent->from_bytes(from.data(), from.size());
         });
}

bool Parcel::empty() const noexcept {
  return !state_ || (state_->entries.empty() && state_->updates.empty());
}
std::size_t Parcel::size() const noexcept {
  Message message(0);
  if (!empty()) Access::put(*this, message);
  return message.body.size();
}
std::size_t Parcel::updates() const noexcept { return state_ ? state_->updates.size() : 0; }

}  // namespace weir::dsm
