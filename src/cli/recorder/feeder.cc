// All sums are looked at before the program starts: so a stream ends where a replay can go on no
// further, and never inside a group of entries that belong together. A file that changes after that
// closes its stream at the chunk that cannot be read.
#include "cli/recorder/feeder.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "base/atomic_enum.h"
#include "channel/wait.h"
#include "cli/common/failure.h"

namespace weir::cli {

using recording::File;

Feeder::Feeder(ChannelMemory& memory, const recording::Recording& recording,
               std::vector<std::string>* damages)
    : memory_(memory), damages_(damages) {
  if (recording.streams.size() > channel::kMaxStreams) {
    throw Failure(kWeirFailed,
                  fmt::format("{} has {} streams; at most {} can be replayed", recording.directory,
                              recording.streams.size(), channel::kMaxStreams));
  }
  for (const recording::StreamFile& stream : recording.streams) {
    File file = File::reading(stream.path);
    recording::Extent extent;
    if (file.is_open()) extent = scan(file, recording.manifest.recording, stream.key);
    else extent.damage = strerror(errno);
    if (recording.end && extent.damage.empty()) {
      const auto said = recording.end->streams.find(stream.key.name());
      if (said == recording.end->streams.end() || said->second.chunks != extent.chunks)
        extent.damage = "chunks are missing at its end";
    }
    if (!extent.damage.empty())
      damages->push_back(
          fmt::format("{}/{}: {}", recording::kStreams, stream.key.name(), extent.damage));
    channel::Slot& slot = memory.header().slot[sources_.size()];
    slot.process = stream.key.process;
    slot.task = stream.key.task;
    slot.state = channel::State::kOpen;
    sources_.push_back({recording::StreamReader(std::move(file), recording.manifest.recording,
                                                stream.key, extent.good_size)});
    const bool is_said = recording.end && extent.damage.empty();
    sources_.back().entries =
        is_said ? recording.end->streams.at(stream.key.name()).entries : UINT64_MAX;
  }
  memory.header().damaged = !damages->empty();
  memory.header().cut =
      memory.header().damaged || !recording.end || recording.end->reason == recording::kKilled;
  __atomic_store_n(&memory.header().slots, static_cast<uint32_t>(sources_.size()),
                   __ATOMIC_RELEASE);
}

void Feeder::put_into(uint32_t index, Source& source) {
  channel::Ring ring = memory_.ring(index);
  bool moved = false;
  while (const channel::Entry* entry = source.reader.peek()) {
    const uint64_t before = ring.slot->head;
    if (!ring.put(*entry, entry + 1, entry->size)) break;
    source.death_at.reset();
    if (channel::is_death(*entry)) {
      source.death_at = before;
      source.death_signal = static_cast<int>(entry->result);
    }
    source.reader.take();
    moved = true;
  }
  if (!source.reader.peek()) {
    source.closed = moved = true;
    store_enum<__ATOMIC_RELEASE>(ring.slot->state, channel::State::kClosed);
    const bool too_few = source.entries != UINT64_MAX && source.reader.entries() != source.entries;
    const std::string damage = !source.reader.damage().empty() ? source.reader.damage()
                               : too_few                       ? "entries are missing in it"
                                                               : "";
    if (!damage.empty()) {
      damages_->push_back(
          fmt::format("{}/{}: {}", recording::kStreams, source.reader.key().name(), damage));
      __atomic_store_n(&memory_.header().damaged, 1u, __ATOMIC_RELEASE);
      __atomic_store_n(&memory_.header().cut, 1u, __ATOMIC_RELEASE);
    }
  }
  if (moved) channel::wake(*ring.slot);
}

void Feeder::put() {
  for (uint32_t i = 0; i < sources_.size(); i++) {
    // Not for every entry that was taken: half a ring at a time.
    if (!sources_[i].closed && memory_.ring(i).used() <= channel::kRingSize / 2)
      put_into(i, sources_[i]);
  }
}

uint64_t Feeder::taken() const {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < sources_.size(); i++)
    sum += __atomic_load_n(&memory_.header().slot[i].tail, __ATOMIC_ACQUIRE);
  return sum;
}

bool Feeder::is_used_up(std::string* stream) const {
  for (uint32_t i = 0; i < sources_.size(); i++) {
    if (sources_[i].closed && memory_.ring(i).used() == 0) continue;  // peek is the other side's
    if (channel::is_points(memory_.header().slot[i].task))
      continue;  // its last word is of a point that nobody comes to
    *stream = sources_[i].reader.key().name();
    return false;
  }
  return true;
}

bool Feeder::awaits_death(std::string* stream, int* signal) const {
  for (uint32_t i = 0; i < sources_.size(); i++) {
    const Source& source = sources_[i];
    const channel::Ring ring = memory_.ring(i);
    const uint64_t taken = __atomic_load_n(&ring.slot->tail, __ATOMIC_ACQUIRE);
    if (!source.closed || !source.death_at || taken < *source.death_at || ring.used() == 0)
      continue;
    *stream = source.reader.key().name();
    *signal = source.death_signal;
    return true;
  }
  return false;
}

}  // namespace weir::cli
