// Reads streams, and refuses what does not fit together: nodes of different runs, files that were
// cut, events with impossible numbers. A few bytes may name very many units, as a run; so the units
// of all runs of a file are counted, and bounded (16 million take 128 MiB).
#include "dsm/predict/recording.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include "tape/varint.h"

namespace weir::predict {

namespace {

constexpr uint64_t kMaxUnits = 16u << 20;  // in the lists of one file

std::vector<UnitBytes> read_units(tape::Reader* from, uint64_t* units_read) {
  std::vector<UnitBytes> units;
  uint64_t next = 0;
  for (uint64_t runs = from->number(UINT32_MAX, "too many units"); runs > 0 && from->good();
       runs--) {
    const uint64_t first = next + from->number(UINT32_MAX, "there is no such unit");
    const uint64_t last = first + from->number(UINT32_MAX, "there is no such unit");
    const auto bytes = static_cast<uint32_t>(from->number(kMaxUnitBytes, "a diff is too large"));
    *units_read += last - first + 1;
    if (last > UINT32_MAX) from->damaged("there is no such unit");
    if (*units_read > kMaxUnits) from->damaged("it has too many units");
    if (!from->good()) break;
    for (uint64_t unit = first; unit <= last; unit++)
      units.push_back({static_cast<uint32_t>(unit), bytes});
    next = last + 1;
  }
  return units;
}

Event read_event(tape::Reader* from, uint64_t* units_read) {
  Event event;
  const uint8_t* kind = from->bytes(1);
  if (!kind) return event;
  if (*kind == 0 || *kind > kLastKind) {
    from->damaged("there is no such kind of event");
    return event;
  }
  event.kind = static_cast<EventKind>(*kind);
  const Fields has = fields_of(event.kind);
  event.thread = static_cast<uint32_t>(from->number(kServerThread, "there is no such thread"));
  event.computed = from->number(INT64_MAX, "a time is too long");
  if (has.object)
    event.object = static_cast<uint32_t>(from->number(UINT32_MAX, "a number is too large"));
  if (has.count)
    event.count = static_cast<uint32_t>(from->number(UINT32_MAX, "a number is too large"));
  if (has.bytes) event.bytes = from->number(INT64_MAX, "a size is too large");
  if (has.value) event.value = from->number(INT64_MAX, "a number is too large");
  if (has.units) event.units = read_units(from, units_read);
  return event;
}

void add_allocation(const std::string& path, const Event& event, Recording* recording) {
  if (event.bytes == 0 || event.bytes > kMaxUnitBytes || event.count == 0 ||
      event.count - 1 > UINT32_MAX - event.object) {
    throw Damage(path + ": an allocation has an impossible size");
  }
  recording->allocations[event.object] = {
      event.object,
      event.count,
      static_cast<uint32_t>(event.bytes),
      static_cast<uint32_t>(event.value % 4),
      static_cast<uint32_t>(event.value / 4 % kMaxNodes),
      static_cast<uint32_t>(event.value / 4 / kMaxNodes % event.count) + 1};
}

}  // namespace

uint32_t read_stream(const std::string& path, const std::vector<uint8_t>& bytes,
                     Recording* recording) {
  if (bytes.size() < sizeof kStreamMagic ||
      memcmp(bytes.data(), kStreamMagic, sizeof kStreamMagic) != 0)
    throw Damage(path + ": this is no node's recording");
  tape::Reader reader({bytes.data() + sizeof kStreamMagic, bytes.size() - sizeof kStreamMagic});
  const auto refuse_damage = [&] {
    if (reader.good()) return;
    throw Damage(path + ": it is damaged at byte " +
                 std::to_string(sizeof kStreamMagic + reader.read()) + ": " + reader.reason());
  };
  const uint64_t version = reader.number(UINT64_MAX, "");
  if (reader.good() && version != kStreamVersion) {
    throw Damage(path + ": it is of version " + std::to_string(version) + ", this reads version " +
                 std::to_string(kStreamVersion));
  }
  const auto node = static_cast<uint32_t>(reader.number(kMaxNodes - 1, "there is no such node"));
  const uint64_t nodes = reader.number(kMaxNodes, "too many nodes");
  const auto threads = static_cast<uint32_t>(reader.number(kMaxThreads, "too many threads"));
  const auto protocol = static_cast<uint32_t>(reader.number(3, "there is no such protocol"));
  const bool tapes = reader.number(1, "a flag is neither 0 nor 1") != 0;
  refuse_damage();
  if (node >= nodes || threads == 0)
    throw Damage(path + ": it is damaged: node " + std::to_string(node) + " of " +
                 std::to_string(nodes));
  if (recording->nodes.empty()) {
    recording->nodes.resize(nodes);
    recording->threads = threads;
    recording->protocol = protocol;
    recording->tapes = tapes;
  } else if (recording->nodes.size() != nodes || recording->protocol != protocol) {
    throw Damage(path + ": it is of another run than the other nodes' files");
  }
  recording->threads = std::max(recording->threads, threads);

  NodeStream& stream = recording->nodes[node];
  uint64_t units_read = 0;
  for (;;) {
    if (reader.good() && reader.left() == 0)
      throw Damage(path + ": it was cut short: the run did not end, or the disk was full");
    Event event = read_event(&reader, &units_read);
    refuse_damage();
    if (event.thread >= kMaxThreads && event.thread != kServerThread)
      throw Damage(path + ": it is damaged: there is no thread " + std::to_string(event.thread));
    if (event.kind == EventKind::kEnd) {
      stream.measured.nanoseconds = event.value;
      for (uint64_t& count : stream.measured.messages)
        count = reader.number(INT64_MAX, "a counter is too large");
      Measured& its = stream.measured;
      for (uint64_t* counter :
           {&its.bytes, &its.misses, &its.lock_wait, &its.barrier_wait, &its.miss_wait})
        *counter = reader.number(INT64_MAX, "a counter is too large");
      refuse_damage();
      if (reader.left() > 0) throw Damage(path + ": something follows its end");
      return node;
    }
    if (event.kind == EventKind::kAllocate) add_allocation(path, event, recording);
    if (event.kind == EventKind::kPush && event.object < kWithBarrier && event.object >= nodes) {
      throw Damage(path + ": it is damaged: something was sent to node " +
                   std::to_string(event.object));
    }
    if (event.kind == EventKind::kGive && event.value >= nodes) {
      throw Damage(path + ": it is damaged: a lock was given to node " +
                   std::to_string(event.value));
    }
    stream.events.push_back(std::move(event));
  }
}

Measured Recording::measured() const {
  Measured sum;
  for (const NodeStream& node : nodes) {
    sum.nanoseconds = std::max(sum.nanoseconds, node.measured.nanoseconds);
    for (int i = 0; i < 4; i++) sum.messages[i] += node.measured.messages[i];
    sum.bytes += node.measured.bytes;
    sum.misses += node.measured.misses;
    sum.lock_wait += node.measured.lock_wait;
    sum.barrier_wait += node.measured.barrier_wait;
    sum.miss_wait += node.measured.miss_wait;
  }
  return sum;
}

Recording read_recording(const std::string& directory) {
  Recording recording;
  for (uint32_t node = 0; node == 0 || node < recording.nodes.size(); node++) {
    const std::string path = directory + "/node-" + std::to_string(node);
    std::ifstream file(path, std::ios::binary);
    if (!file) throw Damage(path + ": " + (errno ? strerror(errno) : "it cannot be read"));
    const std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
    if (read_stream(path, bytes, &recording) != node)
      throw Damage(path + ": it is another node's file");
  }
  return recording;
}

}  // namespace weir::predict
