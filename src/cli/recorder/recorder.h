// Takes the entries of all streams out of the rings and appends them to files, while the program
// runs.
#pragma once

#include <sys/stat.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <variant>

#include "cli/common/channel_memory.h"
#include "cli/launch/identity.h"
#include "recording/directory.h"
#include "recording/stream.h"

namespace weir::cli {

class Recorder {
 public:
  // What the recording needs of a file that a program consists of: nothing, a line in its list of
  // copies for content that it has already, or a copy.
  enum class Need { kNothing, kListed, kCopy };
  // Fills `kept` for kListed. It may throw, which ends the recording.
  using Needs = std::function<Need(const std::string& path, const struct stat& status,
                                   recording::Copy& kept)>;

  // The recording's directory exists. `keeping`: installed files that are mapped are kept by it;
  // null: they are copied.
  Recorder(ChannelMemory& memory, const std::string& directory, uint64_t recording,
           Needs needs = {}, const Keeping* keeping = nullptr);
  ~Recorder();

  // Takes all that is there. Returns true if there was something.
  bool take();
  // Cuts chunks of what has waited long enough, at `now` (nanoseconds, any clock).
  void age(uint64_t now);
  // After the program: takes the rest and writes all of it. Then `end` tells the sizes and streams.
  void finish(recording::End& end);
  // Why nothing is written any more; empty: all is well.
  std::string failure() const;

 private:
  struct Stream {
    recording::Chunker chunker;
    uint64_t waits_since = 0;  // the clock when its oldest entry was seen by age(); 0: it has none
  };

  // A mapped file that is copied while the program goes on: a lease keeps everybody from writing it
  // meanwhile.
  struct Leased {
    recording::File file;
    channel::MappedFile wanted;
    recording::Copy copy;
  };

  bool take_from(uint32_t index);
  void take_open_turns();
  void take_open_points();
  bool is_sound(const channel::Ring& ring) const;
  void look_at(const channel::Entry& entry, const char* payload);
  void copy_file(const channel::Entry& entry, const char* payload);
  void keep_image_file(uint64_t number, const channel::MappedFile& wanted, const std::string& path);
  std::string path_of_copy(uint64_t number) const;
  void copy_leased(Leased& leased);
  bool keep_installed(const channel::MappedFile& wanted, recording::Copy& copy);
  void keep_copy(const recording::File& from, const channel::MappedFile& wanted,
                 recording::Copy& copy);
  void add_to_list(const recording::Copy& copy);
  void enqueue(std::optional<recording::Chunk> chunk);
  bool enqueue(Leased&& leased);  // false: there are enough
  void append(const recording::Chunk& chunk);
  void fail(const std::string& why);
  void write_all();  // the writer's thread
  void written(const recording::Chunk& chunk, size_t size);

  ChannelMemory& memory_;
  const std::string directory_;
  const uint64_t recording_;
  const Needs needs_;
  const Keeping* const keeping_;
  std::map<recording::Key, std::unique_ptr<Stream>> streams_;
  std::map<uint32_t, Stream*> by_slot_;
  std::map<uint32_t, uint64_t> turns_;   // in the entries of each process
  std::map<uint32_t, uint64_t> points_;  // words, in the entries of each slot
  // By device, inode, size and time.
  std::map<std::tuple<uint64_t, uint64_t, uint64_t, int64_t>, recording::Copy> images_;

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<std::variant<recording::Chunk, Leased>> queue_;
  std::map<std::pair<uint64_t, uint64_t>, std::string>
      copies_;           // the first file with this size and sum
  unsigned leased_ = 0;  // in queue_ and in the writer's hands
  uint64_t queued_ = 0;  // bytes in queue_ and in the writer's hands
  bool ends_ = false;
  std::string failure_;
  uint64_t packed_ = 0, raw_ = 0;
  std::string room_;  // the writer's alone: for a packed chunk
  std::map<recording::Key, recording::End::Stream> written_;

  std::thread writer_;  // last: it uses all of the above
};

}  // namespace weir::cli
