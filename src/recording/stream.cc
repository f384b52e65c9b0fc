#include "recording/stream.h"

#include <zstd.h>

#include <charconv>
#include <cstring>

#include "channel/ring.h"

namespace weir::recording {
namespace {

static_assert(kOrderStream == channel::kOrderTask);

constexpr const char* kOrderName = "order";
constexpr std::string_view kPointsName = "-objects";

// A number as it is printed, and nothing else.
std::optional<uint32_t> number_of(std::string_view text) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() ||
      (text.size() > 1 && text[0] == '0'))
    return std::nullopt;
  return number;
}

std::string_view view(const ChunkHeader& header) {
  return {reinterpret_cast<const char*>(&header), sizeof header};
}

uint64_t sum_of_header(const ChunkHeader& header) {
  return sum_of(view(header).substr(0, offsetof(ChunkHeader, header_sum)));
}

std::string place(uint64_t sequence, uint64_t offset) {
  return "chunk " + std::to_string(sequence) + " (byte " + std::to_string(offset) + ")";
}

// The chunk's header at `offset`; nothing with `damage` set where there is none that belongs here.
std::optional<ChunkHeader> header_at(const File& file, uint64_t offset, uint64_t recording, Key key,
                                     uint64_t sequence, uint64_t first_entry, std::string* damage) {
  const std::string bytes = file.read(offset, sizeof(ChunkHeader));
  const auto refuse = [&](const char* why) {
    *damage = place(sequence, offset) + ": " + why;
    return std::nullopt;
  };
  ChunkHeader header;
  if (bytes.size() != sizeof header) return refuse("cut in its header");
  memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != kChunkMagic) return refuse("is no chunk");
  if (header.header_sum != sum_of_header(header)) return refuse("the header's sum is wrong");
  if (header.recording != recording) return refuse("belongs to another recording");
  if (header.process != key.process || header.task != key.task)
    return refuse("belongs to another stream");
  if (header.sequence != sequence ||
      (first_entry != ~uint64_t{0} && header.first_entry != first_entry))
    return refuse("is not the one that should follow");
  if (header.flags & ~kGroupGoesOn) return refuse("has flags of another version");
  if (header.raw_size == 0 || header.raw_size > kMaxRaw || header.raw_size % 8 != 0 ||
      header.packed_size > ZSTD_COMPRESSBOUND(kMaxRaw)) {
    return refuse("has a size that none has");
  }
  return header;
}

}  // namespace

std::string Key::name() const {
  const std::string of = std::to_string(process) + "-";
  if (task == kOrderStream) return of + kOrderName;
  return of + std::to_string(task & ~channel::kPointsOf) +
         std::string(channel::is_points(task) ? kPointsName : "");
}

std::optional<Key> Key::from_name(std::string_view name) {
  const size_t dash = name.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto process = number_of(name.substr(0, dash));
  std::string_view rest = name.substr(dash + 1);
  if (process && rest == kOrderName) return Key{*process, kOrderStream};
  const bool is_points = rest.ends_with(kPointsName);
  if (is_points) rest.remove_suffix(kPointsName.size());
  const auto task = number_of(rest);
  if (!process || !task || (*task & channel::kPointsOf)) return std::nullopt;
  return Key{*process, *task | (is_points ? channel::kPointsOf : 0)};
}

std::string packed(const Chunk& chunk, uint64_t recording, int level) {
  std::string room;
  return std::string(pack_into(room, chunk, recording, level));
}

std::string_view pack_into(std::string& room, const Chunk& chunk, uint64_t recording, int level) {
  const size_t bound = sizeof(ChunkHeader) + ZSTD_compressBound(chunk.raw.size());
  if (room.size() < bound) room.resize(bound);
  const size_t size =
      ZSTD_compress(room.data() + sizeof(ChunkHeader), room.size() - sizeof(ChunkHeader),
                    chunk.raw.data(), chunk.raw.size(), level);
  if (ZSTD_isError(size)) throw Damage(std::string("zstd: ") + ZSTD_getErrorName(size));
  const std::string_view bytes(room.data(), sizeof(ChunkHeader) + size);
  ChunkHeader header{kChunkMagic,
                     chunk.flags,
                     recording,
                     chunk.key.process,
                     chunk.key.task,
                     chunk.sequence,
                     chunk.first_entry,
                     static_cast<uint32_t>(chunk.raw.size()),
                     static_cast<uint32_t>(size),
                     sum_of(bytes.substr(sizeof(ChunkHeader))),
                     0};
  header.header_sum = sum_of_header(header);
  memcpy(room.data(), &header, sizeof header);
  return bytes;
}

void Chunker::add(const channel::Entry& entry, const void* payload) {
  raw_.append(reinterpret_cast<const char*>(&entry), sizeof entry);
  raw_.append(static_cast<const char*>(payload), entry.size);
  raw_.append(channel::padded(entry.size) - entry.size, '\0');
  entries_++;
  if (entry.flags & channel::kMore) return;
  whole_ = raw_.size();
  whole_entries_ = entries_;
}

std::optional<Chunk> Chunker::cut() {
  const bool long_group = whole_ == 0 && raw_.size() >= kLongGroup;
  const size_t size = long_group ? raw_.size() : whole_;
  if (size == 0) return std::nullopt;
  const uint64_t next_entry = long_group ? entries_ : whole_entries_;
  Chunk chunk{key_,         long_group ? kGroupGoesOn : 0, sequence_++,
              first_entry_, next_entry - first_entry_,     raw_.substr(0, size)};
  first_entry_ = next_entry;
  raw_.erase(0, size);
  whole_ = 0;
  return chunk;
}

Extent scan(const File& file, uint64_t recording, Key key) {
  Extent extent;
  extent.file_size = file.size();
  while (extent.whole_size < extent.file_size) {
    const auto header = header_at(file, extent.whole_size, recording, key, extent.chunks,
                                  ~uint64_t{0}, &extent.damage);
    if (!header) break;
    const std::string bytes = file.read(extent.whole_size + sizeof *header, header->packed_size);
    if (bytes.size() != header->packed_size)
      extent.damage = place(extent.chunks, extent.whole_size) + ": cut";
    else if (sum_of(bytes) != header->packed_sum)
      extent.damage = place(extent.chunks, extent.whole_size) + ": the sum is wrong";
    if (!extent.damage.empty()) break;
    extent.whole_size += sizeof *header + header->packed_size;
    extent.chunks++;
    extent.raw_size += header->raw_size;
    if (!(header->flags & kGroupGoesOn)) extent.good_size = extent.whole_size;
  }
  if (extent.damage.empty() && extent.good_size != extent.whole_size)
    extent.damage = "ends inside a group of entries";
  return extent;
}

StreamReader::StreamReader(File file, uint64_t recording, Key key, uint64_t limit)
    : file_(std::move(file)), recording_(recording), key_(key), limit_(limit) {}

bool is_entry(const char* at, size_t left) {
  channel::Entry entry;
  if (left < sizeof entry) return false;
  memcpy(&entry, at, sizeof entry);
  return entry.kind > channel::Kind::kPad && entry.kind <= channel::kLastKind &&
         !(entry.flags & ~channel::kMore) && entry.size <= channel::kMaxPayload &&
         channel::bytes_of(entry) <= left;
}

const channel::Entry* StreamReader::peek() {
  if (at_ == raw_.size() && !next_chunk()) return nullptr;
  return reinterpret_cast<const channel::Entry*>(raw_.data() + at_);
}

void StreamReader::take() {
  at_ += channel::bytes_of(*peek());
  entries_++;
  if (at_ == raw_.size()) raw_ = std::string(), at_ = 0;
}

// All of the chunk is looked at before the first entry of it is handed out.
bool StreamReader::next_chunk() {
  if (offset_ >= limit_ || !damage_.empty()) return false;
  const auto header = header_at(file_, offset_, recording_, key_, sequence_, entries_, &damage_);
  if (!header) return false;
  const auto refuse = [&](const char* why) {
    damage_ = place(sequence_, offset_) + ": " + why;
    raw_ = std::string();
    at_ = 0;
    return false;
  };
  const std::string bytes = file_.read(offset_ + sizeof *header, header->packed_size);
  if (bytes.size() != header->packed_size) return refuse("cut");
  if (sum_of(bytes) != header->packed_sum) return refuse("the sum is wrong");
  if (ZSTD_getFrameContentSize(bytes.data(), bytes.size()) != header->raw_size)
    return refuse("its size is not what was written");
  raw_.resize(header->raw_size);
  const size_t size = ZSTD_decompress(raw_.data(), raw_.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(size) || size != raw_.size()) return refuse("zstd cannot unpack it");
  bool open = false;
  for (size_t at = 0; at < raw_.size();) {
    if (!is_entry(raw_.data() + at, raw_.size() - at))
      return refuse("holds something that is no entry");
    channel::Entry entry;
    memcpy(&entry, raw_.data() + at, sizeof entry);
    open = entry.flags & channel::kMore;
    at += channel::bytes_of(entry);
  }
  if (open != !!(header->flags & kGroupGoesOn))
    return refuse("its last group does not end as it says");
  offset_ += sizeof *header + header->packed_size;
  sequence_++;
  return true;
}

}  // namespace weir::recording
