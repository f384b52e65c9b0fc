// Sets of events, their encoding and their file.
//
// The problem: a tape names what may be millions of accesses, is combined with others at every
// barrier, and travels in messages that exist to save messages. The paper keeps tapes as sequential
// records of events, and says that they could become too large.
//
// The mechanism: events that agree in kind, node and interval are one track, whose units are an
// extent. For a program that writes blocks of an array in each iteration a track is one range. So
// all operations on tapes are operations on extents, track by track, and the encoding of a track
// takes about seven bytes.
//
// Invariants:
//   1. No track's extent is empty. So two tapes are equal if their tracks are, and an empty tape
//      has none. (not checkable: a walk through the tape at each change; tape_test.cc compares
//      tapes)
//   2. What read_from() accepts, append_to() writes again byte by byte. (not checkable: it would
//      write all that it reads; tape_test.cc does)
//   3. What is read is never trusted: each count is bounded by the bytes that are left, because
//      each counted thing takes at least one. (not checkable: what is read may be anything)
#include "tape/tape.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <iterator>

namespace weir::tape {

namespace {

constexpr char kMagic[8] = {'W', 'E', 'I', 'R', 'T', 'A', 'P', 'E'};
constexpr uint32_t kVersion = 1;
constexpr size_t kHeader = 24, kSummed = 16;  // bytes; from where on the sum counts

constexpr std::array<uint32_t, 256> crc_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t value = i;
    for (int k = 0; k < 8; k++) value = value >> 1 ^ (value & 1 ? 0xedb88320u : 0);
    table[i] = value;
  }
  return table;
}

uint32_t crc_of(const uint8_t* bytes, size_t size) {
  static constexpr std::array<uint32_t, 256> kTable = crc_table();
  uint32_t value = ~uint32_t{0};
  for (size_t i = 0; i < size; i++) value = value >> 8 ^ kTable[(value ^ bytes[i]) & 0xff];
  return ~value;
}

void put_fixed(uint64_t value, size_t size, Bytes* to) {
  for (size_t i = 0; i < size; i++) to->push_back(static_cast<uint8_t>(value >> i * 8));
}

uint64_t get_fixed(const uint8_t* from, size_t size) {
  uint64_t value = 0;
  for (size_t i = 0; i < size; i++) value |= uint64_t{from[i]} << i * 8;
  return value;
}

std::string failure(const std::string& path, const std::string& why) { return path + ": " + why; }
std::string failure_of_system(const std::string& path) { return failure(path, strerror(errno)); }

bool write_all(int descriptor, const Bytes& bytes) {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t written = write(descriptor, bytes.data() + done, bytes.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    done += static_cast<size_t>(written);
  }
  return true;
}

// change(source, units) for each track; those that are left without units go.
template <typename Change>
void change_tracks(Tape::Tracks* tracks, Change change) {
  for (auto at = tracks->begin(); at != tracks->end();) {
    change(at->first, &at->second);
    at = at->second.empty() ? tracks->erase(at) : std::next(at);
  }
}

}  // namespace

void Tape::add(const Source& source, const Extent& units) {
  if (!units.empty()) tracks_[source] += units;
}

Tape& Tape::operator+=(const Tape& other) {
  auto hint = tracks_.begin();
  for (const auto& [source, units] : other.tracks_) {
    hint = tracks_.try_emplace(hint, source);
    hint->second += units;
  }
  return *this;
}

Tape& Tape::operator-=(const Tape& other) {
  if (this == &other) return clear(), *this;
  for (const auto& [source, units] : other.tracks_) {
    const auto at = tracks_.find(source);
    if (at == tracks_.end()) continue;
    at->second -= units;
    if (at->second.empty()) tracks_.erase(at);
  }
  return *this;
}

Tape& Tape::operator&=(const Tape& other) {
  if (this == &other) return *this;
  change_tracks(&tracks_, [&](const Source& source, Extent* units) {
    const auto at = other.tracks_.find(source);
    if (at == other.tracks_.end()) units->clear();
    else *units &= at->second;
  });
  return *this;
}

Tape& Tape::operator&=(const Extent& extent) {
  change_tracks(&tracks_, [&](const Source&, Extent* units) { *units &= extent; });
  return *this;
}

Tape& Tape::operator-=(const Extent& extent) {
  change_tracks(&tracks_, [&](const Source&, Extent* units) { *units -= extent; });
  return *this;
}

template <typename Passes>
Tape Tape::filtered(Passes passes) const {
  Tape result;
  for (const auto& track : tracks_) {
    if (passes(track.first)) result.tracks_.insert(result.tracks_.end(), track);
  }
  return result;
}

Tape Tape::of_kind(Kind kind) const {
  return filtered([&](const Source& source) { return source.kind == kind; });
}
Tape Tape::of_node(uint32_t node) const {
  return filtered([&](const Source& source) { return source.node == node; });
}
Tape Tape::known_at(std::span<const uint32_t> time) const {
  return filtered([&](const Source& source) {
    return source.node < time.size() && source.interval <= time[source.node];
  });
}
Tape Tape::unknown_at(std::span<const uint32_t> time) const {
  return filtered([&](const Source& source) {
    return source.node >= time.size() || source.interval > time[source.node];
  });
}

Extent Tape::flatten() const {
  Extent all;
  for (const auto& [source, units] : tracks_) all += units;
  return all;
}
Extent Tape::flatten(Kind kind) const {
  Extent all;
  for (const auto& [source, units] : tracks_) {
    if (source.kind == kind) all += units;
  }
  return all;
}
std::map<uint32_t, Extent> Tape::flatten_by_node() const {
  std::map<uint32_t, Extent> nodes;
  for (const auto& [source, units] : tracks_) nodes[source.node] += units;
  return nodes;
}
std::map<uint32_t, Extent> Tape::flatten_by_node(Kind kind) const {
  std::map<uint32_t, Extent> nodes;
  for (const auto& [source, units] : tracks_) {
    if (source.kind == kind) nodes[source.node] += units;
  }
  return nodes;
}

bool Tape::contains(const Event& event) const {
  const auto at = tracks_.find({event.kind, event.node, event.interval});
  return at != tracks_.end() && at->second.contains(event.unit);
}

uint64_t Tape::size() const {
  uint64_t events = 0;
  for (const auto& [source, units] : tracks_) events += units.size();
  return events;
}

std::vector<Event> Tape::events() const {
  std::vector<Event> all;
  for (const auto& [source, units] : tracks_) {
    for (const uint32_t unit : units)
      all.push_back({source.kind, source.node, source.interval, unit});
  }
  return all;
}

size_t Tape::memory() const {
  constexpr size_t kMapNode = 32;  // what a node of std::map has besides
  size_t bytes = sizeof(Tape);
  for (const auto& [source, units] : tracks_) bytes += kMapNode + sizeof(Source) + units.memory();
  return bytes;
}

void Tape::append_to(Bytes* to) const {
  put_number(tracks_.size(), to);
  const Source* before = nullptr;
  for (const auto& [source, units] : tracks_) {
    if (before && before->kind == source.kind && before->node == source.node) {
      put_number(0, to);
      put_number(source.interval - before->interval - 1, to);
    } else {
      put_number(1 + static_cast<uint64_t>(source.kind) + kKinds * uint64_t{source.node}, to);
      put_number(source.interval, to);
    }
    units.append_to(to);
    before = &source;
  }
}

std::optional<Tape> Tape::read_from(Reader* from) {
  Tape tape;
  const uint64_t tracks = from->number(~uint64_t{0}, "");
  for (uint64_t i = 0; i < tracks && from->good(); i++) {
    Source source;
    const uint64_t head = from->number(kKinds * (uint64_t{1} << 32), "there is no such node");
    const uint64_t interval = from->number(UINT32_MAX, "there is no such interval");
    if (!from->good()) break;
    const bool is_first = tape.tracks_.empty();
    const Source before = is_first ? Source{} : tape.tracks_.rbegin()->first;
    if (head == 0) {
      if (is_first) from->damaged("the first track is said to be like the one before");
      if (uint64_t{before.interval} + 1 + interval > UINT32_MAX)
        from->damaged("there is no such interval");
      source = before;
      source.interval += 1 + static_cast<uint32_t>(interval);
    } else {
      source = {static_cast<Kind>((head - 1) % kKinds), static_cast<uint32_t>((head - 1) / kKinds),
                static_cast<uint32_t>(interval)};
      if (!is_first &&
          (source <= before || (source.kind == before.kind && source.node == before.node)))
        from->damaged("tracks are not in order");
    }
    std::optional<Extent> units = Extent::read_from(from);
    if (units && units->empty()) from->damaged("a track has no units");
    if (!from->good()) break;
    tape.tracks_.emplace_hint(tape.tracks_.end(), source, std::move(*units));
  }
  if (!from->good()) return std::nullopt;
  return tape;
}

std::string Tape::store(const std::string& path) const {
  Bytes tape, summed, bytes(kMagic, kMagic + sizeof kMagic);
  append_to(&tape);
  put_fixed(tape.size(), 8, &summed);
  summed.insert(summed.end(), tape.begin(), tape.end());
  put_fixed(kVersion, 4, &bytes);
  put_fixed(crc_of(summed.data(), summed.size()), 4, &bytes);
  bytes.insert(bytes.end(), summed.begin(), summed.end());

  const std::string unfinished = path + ".XXXXXX";
  std::vector<char> name(unfinished.c_str(), unfinished.c_str() + unfinished.size() + 1);
  const int descriptor = mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0) return failure_of_system(path);
  const mode_t mask = umask(0);
  umask(mask);
  bool done = write_all(descriptor, bytes) && fchmod(descriptor, 0666 & ~mask) == 0;
  int error = errno;
  if (close(descriptor) != 0 && done) {
    done = false;
    error = errno;
  }
  if (done && rename(name.data(), path.c_str()) != 0) {
    done = false;
    error = errno;
  }
  if (done) return "";
  unlink(name.data());
  errno = error;
  return failure_of_system(path);
}

std::string Tape::reload(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return failure_of_system(path);
  Bytes bytes;
  for (size_t done = 0;;) {
    bytes.resize(done + (size_t{1} << 16) + done / 2);
    const ssize_t count = read(descriptor, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const std::string why = failure_of_system(path);
      close(descriptor);
      return why;
    }
    done += static_cast<size_t>(count);
    if (count == 0) {
      bytes.resize(done);
      break;
    }
  }
  close(descriptor);

  if (bytes.size() < sizeof kMagic || memcmp(bytes.data(), kMagic, sizeof kMagic) != 0)
    return failure(path, "this is no tape");
  if (bytes.size() < kHeader) return failure(path, "the tape is cut short");
  const uint64_t version = get_fixed(bytes.data() + 8, 4),
                 size = get_fixed(bytes.data() + kSummed, 8);
  if (version != kVersion)
    return failure(path, "the tape is of version " + std::to_string(version) +
                             ", this Weir reads version " + std::to_string(kVersion));
  if (bytes.size() - kHeader < size) return failure(path, "the tape is cut short");
  if (bytes.size() - kHeader > size) return failure(path, "something follows the tape");
  if (crc_of(bytes.data() + kSummed, bytes.size() - kSummed) != get_fixed(bytes.data() + 12, 4))
    return failure(path, "the tape is damaged: its sum is wrong");
  Reader reader({bytes.data() + kHeader, static_cast<size_t>(size)});
  std::optional<Tape> tape = read_from(&reader);
  if (tape && reader.left() > 0)
    return failure(path, "the tape is damaged: something follows its last track");
  if (!tape) return failure(path, std::string("the tape is damaged: ") + reader.reason());
  *this = std::move(*tape);
  return "";
}

}  // namespace weir::tape
