// Two threads keep a recording. The caller's takes entries out of the rings, so that no program
// waits for the disk or for zstd unless both are far behind. The writer's packs chunks and appends
// them. A chunk goes to disk when it is full or a quarter of a second old. That much is lost if
// everything is killed at once.
//
// 1. An entry leaves its ring when it has been copied. A kFile entry leaves it when its file has
//    been copied; or when the file is open and leased (fcntl(2)) and its copying is in the writer's
//    queue, because nobody writes the file then until the copy is done.
// 2. The queue is worked off in order. So what comes to disk after a file was mapped comes there
//    after the file's copy.
// 3. What a program puts is not trusted: entries that are none end the recording, as a full disk
//    does.
// 4. After a failure nothing is appended any more, to no stream, and what was appended in part is
//    cut off.
#include "cli/recorder/recorder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>

#include "base/atomic_enum.h"
#include "channel/wait.h"
#include "cli/common/failure.h"
#include "cli/common/thread.h"
#include "recording/store.h"

namespace weir::cli {
namespace {

using recording::File;
using recording::Key;

constexpr uint64_t kOldest = 250'000'000;  // nanoseconds
constexpr int kLevel = 1;                  // of zstd
// What the program reads (files, the network) is packed with next to no effort: at kLevel that
// would take more processor time than most programs spend on the data.
constexpr int kDataLevel = -20;
constexpr uint64_t kDataEntry = 512;           // bytes: entries of data are longer in the mean
constexpr uint64_t kMaxQueued = 128ull << 20;  // bytes; then the rings fill and programs wait
constexpr uint64_t kMinLeased = 1 << 20;       // bytes
constexpr unsigned kMaxLeased = 16;            // each has a descriptor

// Shared with the file where the file system can. False with errno.
bool make_copy(const File& from, const std::string& name, uint64_t size, mode_t mode,
               recording::Copy& copy) {
  const File to(open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  if (!from.is_open() || !to.is_open()) return false;
  const auto sum = recording::copy_content(from, to, size);
  if (!sum) return false;
  copy.sum = *sum;
  copy.size = to.size();
  return true;
}

int level_of(const recording::Chunk& chunk) {
  return chunk.raw.size() / std::max<uint64_t>(chunk.entries, 1) >= kDataEntry ? kDataLevel
                                                                               : kLevel;
}

bool is_the_one(const struct stat& status, const channel::MappedFile& wanted) {
  if (!S_ISREG(status.st_mode) || status.st_dev != wanted.device || status.st_ino != wanted.inode)
    return false;
  const auto size = static_cast<uint64_t>(status.st_size);
  if (wanted.modified == channel::MappedFile::kAnyTime) return size >= wanted.size;
  return size == wanted.size && recording::modified(status) == wanted.modified;
}

bool is_the_one(const File& file, const channel::MappedFile& wanted) {
  struct stat status;
  return file.is_open() && fstat(file.descriptor(), &status) == 0 && is_the_one(status, wanted);
}

// Who opens the file for writing, or cuts it, waits from now on until it is closed here. False
// where the system does not allow it, and where it is open for writing already: as memory that
// programs share is.
bool lease(const File& file) {
  return fcntl(file.descriptor(), F_SETSIG, SIGURG) ==
             0 &&  // who waits is told of by a signal: by one that does nothing
         fcntl(file.descriptor(), F_SETLEASE, F_RDLCK) == 0;
}

}  // namespace

Recorder::Recorder(ChannelMemory& memory, const std::string& directory, uint64_t recording,
                   Needs needs, const Keeping* keeping)
    : memory_(memory),
      directory_(directory),
      recording_(recording),
      needs_(std::move(needs)),
      keeping_(keeping) {
  writer_ = thread_without_signals([this] { write_all(); });
}

Recorder::~Recorder() {
  if (!writer_.joinable()) return;
  fail("it was given up");
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  writer_.join();
}

std::string Recorder::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void Recorder::fail(const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    if (failure_.empty()) failure_ = why;
    queue_.clear();
    queued_ = 0;
  }
  memory_.set_gone(why);
  changed_.notify_all();
}

bool Recorder::take() {
  bool any = false;
  const uint32_t slots =
      std::min(__atomic_load_n(&memory_.header().slots, __ATOMIC_ACQUIRE), channel::kMaxStreams);
  for (uint32_t i = 0; i < slots; i++) any |= take_from(i);
  return any;
}

bool Recorder::is_sound(const channel::Ring& ring) const {
  const uint64_t used = ring.used(), tail = ring.slot->tail;
  return used <= channel::kRingSize && used % 8 == 0 && tail % 8 == 0;
}

bool Recorder::take_from(uint32_t index) {
  channel::Ring ring = memory_.ring(index);
  if (load_enum<__ATOMIC_ACQUIRE>(ring.slot->state) == channel::State::kFree || ring.used() == 0)
    return false;
  if (memory_.header().gone) return false;
  Stream*& stream = by_slot_[index];
  if (!stream) {
    const Key key{ring.slot->process, ring.slot->task};
    auto& owned = streams_[key];
    if (!owned) owned = std::make_unique<Stream>(Stream{recording::Chunker(key)});
    stream = owned.get();
  }
  const auto overwritten = [&] {
    fail(fmt::format("the program has overwritten the recording's memory (stream {})",
                     stream->chunker.key().name()));
    return false;
  };
  // As far as it was put when we came: a program that puts without end must not keep us from the
  // others.
  const uint64_t head = __atomic_load_n(&ring.slot->head, __ATOMIC_ACQUIRE);
  while (ring.slot->tail != head) {
    if (!is_sound(ring)) break;
    const channel::Entry* there = ring.peek();
    if (!there) break;
    const uint64_t left =
        std::min(channel::kRingSize - ring.slot->tail % channel::kRingSize, ring.used());
    channel::Entry entry;  // looked at once: the memory is the program's
    memcpy(&entry, there, sizeof entry);
    if (!recording::is_entry(reinterpret_cast<const char*>(&entry), left)) return overwritten();
    const char* payload = reinterpret_cast<const char*>(there + 1);
    look_at(entry, payload);
    if (entry.kind == channel::Kind::kTurns)
      turns_[stream->chunker.key().process] =
          static_cast<uint64_t>(entry.result) + entry.size / sizeof(uint16_t);
    if (entry.kind == channel::Kind::kPoints)
      points_[index] = static_cast<uint64_t>(entry.result) + entry.size / sizeof(uint64_t);
    if (memory_.header().gone) return false;
    stream->chunker.add(entry, payload);
    ring.take(&entry);
    if (stream->chunker.is_full()) {
      channel::wake(*ring.slot);
      enqueue(stream->chunker.cut());
    }
  }
  if (!is_sound(ring)) return overwritten();
  channel::wake(*ring.slot);
  return true;
}

void Recorder::age(uint64_t now) {
  for (auto& [key, stream] : streams_) {
    if (stream->chunker.is_empty()) {
      stream->waits_since = 0;
    } else if (stream->waits_since == 0) {
      stream->waits_since = now;
    } else if (now - stream->waits_since >= kOldest) {
      enqueue(stream->chunker.cut());
      stream->waits_since = stream->chunker.is_empty() ? 0 : now;
    }
  }
}

void Recorder::enqueue(std::optional<recording::Chunk> chunk) {
  if (!chunk) return;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return queued_ <= kMaxQueued || !failure_.empty(); });
  if (!failure_.empty()) return;
  queued_ += chunk->raw.size();
  queue_.emplace_back(std::move(*chunk));
  lock.unlock();
  changed_.notify_all();
}

bool Recorder::enqueue(Leased&& leased) {
  {
    const std::lock_guard lock(mutex_);
    if (leased_ == kMaxLeased || !failure_.empty()) return false;
    leased_++;
    queue_.emplace_back(std::move(leased));
  }
  changed_.notify_all();
  return true;
}

void Recorder::write_all() {
  for (;;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !queue_.empty() || ends_; });
    if (queue_.empty()) return;
    auto next = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    if (auto* leased = std::get_if<Leased>(&next)) {
      copy_leased(*leased);
    } else {
      append(std::get<recording::Chunk>(next));
    }
  }
}

// A file is open while a chunk is appended only: there may be more streams than descriptors.
void Recorder::append(const recording::Chunk& chunk) {
  const std::string path =
      fmt::format("{}/{}/{}", directory_, recording::kStreams, chunk.key.name());
  try {
    const std::string_view bytes = recording::pack_into(room_, chunk, recording_, level_of(chunk));
    const File file = File::appending(path);
    if (!file.is_open()) throw recording::Damage(fmt::format("{}: {}", path, strerror(errno)));
    const uint64_t before = file.size();
    if (!file.write(bytes)) {
      const int cause = errno;
      if (ftruncate(file.descriptor(), static_cast<off_t>(before)) != 0)
        errno = cause;  // its sums show that it is cut
      throw recording::Damage(fmt::format("{}: {}", path, strerror(cause)));
    }
    written(chunk, bytes.size());
  } catch (const std::exception& error) { fail(error.what()); }
}

void Recorder::written(const recording::Chunk& chunk, size_t size) {
  {
    const std::lock_guard lock(mutex_);
    packed_ += size;
    raw_ += chunk.raw.size();
    written_[chunk.key].chunks++;
    written_[chunk.key].entries += chunk.entries;
    queued_ -= std::min(queued_, static_cast<uint64_t>(chunk.raw.size()));
  }
  changed_.notify_all();
}

// What must be done before the program goes on.
void Recorder::look_at(const channel::Entry& entry, const char* payload) {
  if (entry.kind == channel::Kind::kFile) copy_file(entry, payload);
}

std::string Recorder::path_of_copy(uint64_t number) const {
  return fmt::format("{}/{}/{}", directory_, recording::kFiles, number);
}

// Its copy is executed: the same file, executed again, is one more name of it.
void Recorder::keep_image_file(uint64_t number, const channel::MappedFile& wanted,
                               const std::string& path) {
  const std::string process = fmt::format("/proc/{}/", wanted.process);
  struct stat status;
  std::string at = path.starts_with("/") ? path : process + "cwd/" + path;
  if (stat(at.c_str(), &status) != 0 || !is_the_one(status, wanted)) at = process + "exe";
  if (stat(at.c_str(), &status) != 0 || !is_the_one(status, wanted)) {
    return fail(
        fmt::format("{}: is executed, and has changed or gone before it could be copied", path));
  }
  try {
    if (!needs_) return;
    recording::Copy kept{number, 0, 0, path};
    const Need need = needs_(path, status, kept);
    if (need == Need::kListed) add_to_list(kept);
    if (need != Need::kCopy) return;
  } catch (const std::exception& error) { return fail(error.what()); }
  const std::string name = path_of_copy(number);
  const auto key = std::tuple(wanted.device, wanted.inode, wanted.size, wanted.modified);
  const auto known = images_.find(key);
  recording::Copy copy{number, 0, 0, path};
  bool done = true;
  if (known != images_.end()) {
    copy.size = known->second.size;
    copy.sum = known->second.sum;
    done = link(path_of_copy(known->second.number).c_str(), name.c_str()) == 0;
  } else {
    done = make_copy(File::reading(at), name, wanted.size, 0700, copy);
    images_[key] = copy;
  }
  if (!done) return fail(fmt::format("{}: cannot be copied: {}", path, strerror(errno)));
  add_to_list(copy);
}

void Recorder::add_to_list(const recording::Copy& copy) {
  const File list = File::appending(fmt::format("{}/{}", directory_, recording::kFileList));
  if (!list.is_open() || !list.write(copy.line()))
    fail(fmt::format("{}: cannot be listed: {}", copy.path, strerror(errno)));
}

// The payload is the program's, and may be anything.
void Recorder::copy_file(const channel::Entry& entry, const char* payload) {
  channel::MappedFile wanted;
  if (entry.size < sizeof wanted)
    return fail("the program has overwritten the recording's memory (a mapped file)");
  if (entry.number == channel::kMappedBefore) return;
  memcpy(&wanted, payload, sizeof wanted);
  const std::string path(payload + sizeof wanted,
                         strnlen(payload + sizeof wanted, entry.size - sizeof wanted));
  const auto number = static_cast<uint64_t>(entry.result);
  if (entry.number == channel::kOfImage) return keep_image_file(number, wanted, path);
  Leased leased{File::reading(fmt::format("/proc/{}/fd/{}", wanted.process, wanted.descriptor)),
                wanted,
                {number, 0, 0, path}};
  File& from = leased.file;
  if (keep_installed(wanted, leased.copy)) return;
  if (!is_the_one(from, wanted)) from = File::reading(path);
  // Before the last look.
  const bool is_leased = wanted.size >= kMinLeased && from.is_open() && lease(from);
  if (!is_the_one(from, wanted))
    return fail(
        fmt::format("{}: is mapped, and has changed or gone before it could be copied", path));
  if (is_leased && enqueue(std::move(leased))) return;
  keep_copy(from, wanted, leased.copy);
}

// A content that many recordings have: a library that is loaded later, a locale.
bool Recorder::keep_installed(const channel::MappedFile& wanted, recording::Copy& copy) {
  struct stat status;
  if (!keeping_ || !is_installed(copy.path) || stat(copy.path.c_str(), &status) != 0 ||
      !is_the_one(status, wanted))
    return false;
  try {
    const recording::Identity kept = identity_of(copy.path, *keeping_);
    const std::string content = fmt::format("{}/{}", directory_, recording::kept_name(kept.sum));
    if (!is_the_one(recording::status_of(kept.facts), wanted) ||
        link(content.c_str(), path_of_copy(copy.number).c_str()) != 0)
      return false;
    copy.size = kept.size;
    copy.sum = kept.sum;
  } catch (const Failure&) { return false; }
  add_to_list(copy);
  return true;
}

void Recorder::keep_copy(const File& from, const channel::MappedFile& wanted,
                         recording::Copy& copy) {
  const std::string name = path_of_copy(copy.number);
  bool done = make_copy(from, name, wanted.size, 0600, copy);
  if (done) {
    // The same content once more (its time would not tell: writes by a mapping may leave it): one
    // file is enough.
    const std::lock_guard lock(mutex_);
    const auto [first, is_new] = copies_.try_emplace({copy.size, copy.sum}, name);
    done = is_new || (unlink(name.c_str()) == 0 && link(first->second.c_str(), name.c_str()) == 0);
  }
  if (!done) return fail(fmt::format("{}: cannot be copied: {}", copy.path, strerror(errno)));
  add_to_list(copy);
}

// The system takes a lease away from who keeps others waiting for long
// (/proc/sys/fs/lease-break-time, 45 s).
void Recorder::copy_leased(Leased& leased) {
  keep_copy(leased.file, leased.wanted, leased.copy);
  if (!is_the_one(leased.file, leased.wanted))
    fail(fmt::format("{}: is mapped, and has changed while it was copied", leased.copy.path));
  const std::lock_guard lock(mutex_);
  leased_--;
}

// The last ones, of which the program has made no entry.
void Recorder::take_open_turns() {
  const channel::Header& header = memory_.header();
  const uint32_t processes = std::min(header.processes, channel::kMaxProcesses);
  for (uint32_t i = 0; i < processes; i++) {
    const channel::OpenTurns open = header.turns[i];
    if (open.count == 0 || open.count > channel::OpenTurns::kMax || open.first != turns_[i])
      continue;
    const Key key{i, channel::kOrderTask};
    auto& stream = streams_[key];
    if (!stream) stream = std::make_unique<Stream>(Stream{recording::Chunker(key)});
    const channel::Entry entry{channel::Kind::kTurns,
                               0,
                               0,
                               open.count * static_cast<uint32_t>(sizeof(uint16_t)),
                               0,
                               0,
                               static_cast<int64_t>(open.first)};
    char payload[sizeof open.turn] = {};
    memcpy(payload, open.turn, entry.size);
    stream->chunker.add(entry, payload);
  }
}

// A last word says how many points were as expected after the others.
void Recorder::take_open_points() {
  const channel::Header& header = memory_.header();
  const uint32_t slots = std::min(header.slots, channel::kMaxStreams);
  for (uint32_t i = 0; i < slots; i++) {
    if (!channel::is_points(header.slot[i].task)) continue;
    const channel::OpenPoints open = header.points[i];
    const auto count = static_cast<uint32_t>(open.state),
               skip = static_cast<uint32_t>(open.state >> 32);
    if (open.state == 0 || count > channel::OpenPoints::kMax || skip > channel::kMaxSkipped ||
        open.first != points_[i])
      continue;
    const Key key{header.slot[i].process, header.slot[i].task};
    auto& stream = streams_[key];
    if (!stream) stream = std::make_unique<Stream>(Stream{recording::Chunker(key)});
    uint64_t words[channel::OpenPoints::kMax + 1];
    memcpy(words, open.word, sizeof open.word);
    words[count] = channel::encoded({channel::PointKind::kEnd, false, skip, 0});
    const auto size = static_cast<uint32_t>((count + 1) * sizeof(uint64_t));
    stream->chunker.add(
        {channel::Kind::kPoints, 0, 0, size, 0, 0, static_cast<int64_t>(open.first)}, words);
  }
}

void Recorder::finish(recording::End& end) {
  while (take()) {}
  if (!memory_.header().gone) {
    take_open_turns();
    take_open_points();
  }
  for (auto& [key, stream] : streams_) {
    while (auto chunk = stream->chunker.cut())
      enqueue(std::move(chunk));  // a group that was not finished is of no use
  }
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  writer_.join();
  end.packed = packed_;
  end.raw = raw_;
  for (const auto& [key, stream] : written_) end.streams[key.name()] = stream;
}

}  // namespace weir::cli
