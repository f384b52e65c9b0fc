// The public Extent and Tape: sets by src/tape, recording by Tapeworm's recorders.
//
// The problem: a tape is a value of the program's, while events come in from any thread, also from
// the one that answers other nodes. So a tape that records has a recorder, which its node knows;
// the recorder's events are moved to the tape's own when somebody looks at it.
//
// Invariants:
//   1. A recorder is read and written with its node's mutex held, and is one of Tapeworm::recorders
//      just while it records something. (not checkable: a mutex does not say who holds it)
//   2. A node that ends before a tape does tells the tape's recorder (Tapeworm's destructor). The
//      tape keeps what it has heard. (not checkable: the tape is gone by then)
#include "dsm/api/tape_states.h"

#include <algorithm>

#include "dsm/base/failure.h"
#include "dsm/node/this_node.h"

namespace weir::dsm {

// --- Extents

const tape::Extent& Access::units(const Extent& extent) {
  static const tape::Extent none;
  return extent.state_ ? extent.state_->units : none;
}

tape::Extent& Access::units(Extent& extent) {
  if (!extent.state_) extent.state_ = new Extent::State;
  return extent.state_->units;
}

Extent Access::make(tape::Extent&& units) {
  Extent extent;
  if (!units.empty()) Access::units(extent) = std::move(units);
  return extent;
}

Extent::Extent(const void* address, std::size_t size) : state_(nullptr) {
  const Inside inside;
  Memory& memory = inside.node.memory;
  const auto program = reinterpret_cast<uint64_t>(memory.segment.program()),
             limit = program + memory.segment.size();
  const auto start = reinterpret_cast<uint64_t>(address),
             end = size > UINT64_MAX - start ? UINT64_MAX : start + size;
  const uint64_t first = std::max(start, program), last = std::min(end, limit);
  if (first < last)
    Access::units(*this) =
        memory.extent_of(memory.segment.program() + (first - program), last - first);
}

Extent::Extent(const Extent& other) : state_(other.state_ ? new State(*other.state_) : nullptr) {}
Extent::~Extent() { delete state_; }
Extent& Extent::operator=(const Extent& other) {
  if (this != &other) *this = Extent(other);
  return *this;
}

void Extent::add_range(std::uint32_t first, std::uint32_t last) {
  Access::units(*this).add_range(first, last);
}
void Extent::clear() noexcept { delete std::exchange(state_, nullptr); }

Extent& Extent::operator+=(const Extent& other) {
  Access::units(*this) += Access::units(other);
  return *this;
}
Extent& Extent::operator-=(const Extent& other) {
  Access::units(*this) -= Access::units(other);
  return *this;
}
Extent& Extent::operator&=(const Extent& other) {
  Access::units(*this) &= Access::units(other);
  return *this;
}

bool Extent::equals(const Extent& other) const noexcept {
  return Access::units(*this) == Access::units(other);
}
bool Extent::contains(std::uint32_t unit) const noexcept {
  return Access::units(*this).contains(unit);
}
bool Extent::contains(const void* address) const noexcept {
  const Inside inside;
  Memory& memory = inside.node.memory;
  const Page* page = memory.segment.contains(address) ? memory.page_at(address) : nullptr;
  return page && contains(page->id);
}
bool Extent::empty() const noexcept { return Access::units(*this).empty(); }
std::uint64_t Extent::size() const noexcept { return Access::units(*this).size(); }

std::vector<Extent::Range> Extent::ranges() const {
  std::vector<Range> ranges;
  for (const tape::UnitRange& range : Access::units(*this).ranges())
    ranges.push_back({range.first, range.last});
  return ranges;
}

std::vector<std::uint8_t> Extent::bytes() const {
  std::vector<uint8_t> bytes;
  Access::units(*this).append_to(&bytes);
  return bytes;
}

bool Extent::from_bytes(const void* bytes, std::size_t size) {
  tape::Reader reader({static_cast<const uint8_t*>(bytes), size});
  auto units = tape::Extent::read_from(&reader);
  if (!units || reader.left() > 0) return false;
  Access::units(*this) = std::move(*units);
  return true;
}

// --- Tapes: life

const tape::Tape& Access::events(const Tape& tape) {
  static const tape::Tape none;
  if (!tape.state_) return none;
  Tape::State& state = *tape.state_;
  if (state.recorder) {
    std::optional<Inside> inside;
    if (state.recorder->of) inside.emplace(node(*state.recorder));
    state.events += state.recorder->tape;
    state.recorder->tape.clear();
  }
  return state.events;
}

tape::Tape& Access::events(Tape& tape) {
  if (!tape.state_) tape.state_ = new Tape::State;
  return const_cast<tape::Tape&>(events(std::as_const(tape)));
}

Tape Access::make(tape::Tape&& events) {
  Tape tape;
  if (!events.empty()) Access::events(tape) = std::move(events);
  return tape;
}

Tape::Tape(const Tape& other) : state_(nullptr) {
  if (!other.empty()) Access::events(*this) = Access::events(other);
}
Tape& Tape::operator=(const Tape& other) {
  if (this != &other) *this = Tape(other);
  return *this;
}
Tape::~Tape() {
  if (Recorder* recorder = Access::running(*this)) {
    const Inside inside(Access::node(*recorder));
    recorder->writes = recorder->reads = recorder->requests = false;
    Access::stopped(*recorder);
  }
  delete state_;
}

// --- Recording

Node& Access::node(const Recorder& recorder) { return recorder.of->node_; }

Recorder* Access::running(const Tape& tape) {
  return tape.state_ && tape.state_->recorder && tape.state_->recorder->of
             ? tape.state_->recorder.get()
             : nullptr;
}

Recorder& Access::recorder(Tape& tape) {
  const Inside inside;
  events(tape);
  std::unique_ptr<Recorder>& recorder = tape.state_->recorder;
  if (!recorder) recorder = std::make_unique<Recorder>();
  if (!recorder->of) {
    *recorder = {};
    recorder->of = &inside.node.tapeworm;
    inside.node.tapeworm.recorders.push_back(recorder.get());
  }
  return *recorder;
}

void Access::stopped(Recorder& recorder) {
  if (recorder.writes || recorder.reads || recorder.requests) return;
  std::erase(recorder.of->recorders, &recorder);
  recorder.of = nullptr;
}

void Tape::start_writing(bool thorough) {
  const Inside inside;
  Recorder& recorder = Access::recorder(*this);
  if (thorough && !recorder.exact)
    inside.node.tapeworm
        .record_exactly();  // before it hears: what was written until now is not its
  recorder.writes = true;
  recorder.exact |= thorough;
}

void Tape::start_reading(bool thorough) {
  const Inside inside;
  Access::recorder(*this).reads = true;
  if (!thorough) return;
  Node& node = inside.node;
  node.tapeworm.record_exactly();
  RightChanges changes(node.memory.segment);
  node.memory.each_page([&](Page& page) {
    if (page.kind == UnitKind::kPages && page.right == Right::kRead && !page.busy &&
        node.lazy_of(page))
      changes.add(page, Right::kNone);
  });
}

void Tape::start_requesting() { Access::recorder(*this).requests = true; }

void Tape::stop_writing() {
  Recorder* const recorder = Access::running(*this);
  if (!recorder || !recorder->writes) return;
  const Inside inside(Access::node(*recorder));
  inside.node.close_interval();
  recorder->writes = recorder->exact = false;
  Access::stopped(*recorder);
}

void Tape::stop_reading() {
  Recorder* const recorder = Access::running(*this);
  if (!recorder) return;
  const Inside inside(Access::node(*recorder));
  recorder->reads = false;
  Access::stopped(*recorder);
}

void Tape::stop_requesting() {
  Recorder* const recorder = Access::running(*this);
  if (!recorder) return;
  const Inside inside(Access::node(*recorder));
  recorder->requests = false;
  Access::stopped(*recorder);
}

void Tape::stop() {
  stop_writing();
  stop_reading();
  stop_requesting();
}

bool Tape::records() const noexcept { return Access::running(*this); }

Tape Tape::take() {
  if (Recorder* const recorder = Access::running(*this)) {
    const Inside inside(Access::node(*recorder));
    if (recorder->writes) inside.node.close_interval();
  }
  return state_ ? Access::make(std::exchange(Access::events(*this), {})) : Tape();
}

// --- Sets

void Tape::add(const Event& event) {
  Access::events(*this).add(
      {static_cast<tape::Kind>(event.kind), event.node, event.interval, event.unit});
}
void Tape::add(Kind kind, unsigned node, std::uint32_t interval, const Extent& units) {
  if (!units.empty())
    Access::events(*this).add({static_cast<tape::Kind>(kind), node, interval},
                              Access::units(units));
}
void Tape::clear() {
  if (state_) Access::events(*this).clear();
}

Tape& Tape::operator+=(const Tape& other) {
  if (this != &other) Access::events(*this) += Access::events(other);
  return *this;
}
Tape& Tape::operator-=(const Tape& other) {
  if (this == &other) return clear(), *this;
  Access::events(*this) -= Access::events(other);
  return *this;
}
Tape& Tape::operator&=(const Tape& other) {
  if (this != &other) Access::events(*this) &= Access::events(other);
  return *this;
}
Tape& Tape::operator&=(const Extent& units) {
  Access::events(*this) &= Access::units(units);
  return *this;
}
Tape& Tape::operator-=(const Extent& units) {
  Access::events(*this) -= Access::units(units);
  return *this;
}

bool Tape::equals(const Tape& other) const noexcept {
  return this == &other || Access::events(*this) == Access::events(other);
}
Tape Tape::of_kind(Kind kind) const {
  return Access::make(Access::events(*this).of_kind(static_cast<tape::Kind>(kind)));
}
Tape Tape::of_node(unsigned node) const {
  return Access::make(Access::events(*this).of_node(node));
}
Tape Tape::known_at(const std::vector<std::uint32_t>& time) const {
  return Access::make(Access::events(*this).known_at(time));
}
Tape Tape::unknown_at(const std::vector<std::uint32_t>& time) const {
  return Access::make(Access::events(*this).unknown_at(time));
}

Extent Tape::flatten() const { return Access::make(Access::events(*this).flatten()); }
Extent Tape::flatten(Kind kind) const {
  return Access::make(Access::events(*this).flatten(static_cast<tape::Kind>(kind)));
}
std::map<unsigned, Extent> Tape::flatten_by_node() const {
  std::map<unsigned, Extent> result;
  for (auto& [node, units] : Access::events(*this).flatten_by_node())
    result.emplace(node, Access::make(tape::Extent(units)));
  return result;
}

bool Tape::empty() const noexcept { return Access::events(*this).empty(); }
std::uint64_t Tape::size() const noexcept { return Access::events(*this).size(); }
void Tape::for_each(const std::function<void(const Event&)>& visit) const {
  for (const tape::Event& event : tape::Tape(Access::events(*this)).events())
    visit({static_cast<Kind>(event.kind), event.node, event.interval, event.unit});
}

// --- Files and bytes

std::string Tape::store(const std::string& path) const { return Access::events(*this).store(path); }
std::string Tape::reload(const std::string& path) { return Access::events(*this).reload(path); }

std::vector<std::uint8_t> Tape::bytes() const {
  std::vector<uint8_t> bytes;
  Access::events(*this).append_to(&bytes);
  return bytes;
}

bool Tape::from_bytes(const void* bytes, std::size_t size) {
  tape::Reader reader({static_cast<const uint8_t*>(bytes), size});
  auto events = tape::Tape::read_from(&reader);
  if (!events || reader.left() > 0) return false;
  Access::events(*this) = std::move(*events);
  return true;
}

}  // namespace weir::dsm
