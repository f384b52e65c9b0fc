// Writes what a node does to a file that weir-dsm-predict replays (dsm/predict/stream.h). One
// object for each node; all calls with the node's mutex held, or by one thread.
#pragma once

#include <stdint.h>

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dsm/predict/stream.h"

namespace weir::dsm {

// Processor time that a thread of the program spends in the program's code: leave() where it gets
// there from the runtime, enter() where it comes back.
class ThreadClock {
 public:
  static uint64_t now();  // nanoseconds of processor time of the calling thread
  void leave() { left_ = now(); }
  void enter() {
    if (left_) computed_ += now() - left_;
    left_ = 0;
  }
  // Returns what has been computed and not taken yet.
  uint64_t take() { return std::exchange(computed_, 0); }

 private:
  uint64_t left_ = 0, computed_ = 0;
};

class StreamWriter {
 public:
  struct Run {
    uint32_t node = 0, nodes = 1, threads = 1;
    uint32_t protocol = 2;  // as weir_dsm_protocol
    bool tapes = false;
  };

  // Makes the directory, if it is not there, and the file in it. failed() says whether that went
  // well; after a failure all calls do nothing.
  StreamWriter(const std::string& directory, const Run& run);
  ~StreamWriter();
  StreamWriter(const StreamWriter&) = delete;
  StreamWriter& operator=(const StreamWriter&) = delete;

  // The thread that makes an event: a thread of the node, or predict::kServerThread, and what it
  // has computed before (ThreadClock's).
  struct By {
    uint32_t thread = predict::kServerThread;
    uint64_t computed = 0;
  };
  struct Allocated {
    uint32_t first = 0, numbers = 1;  // units have numbers from [first, first + numbers),
    uint32_t step = 1;                // each so much more than the one before
    uint64_t unit_bytes = 4096;
    uint32_t home_policy = 0;  // as weir_dsm_home
    uint32_t home_node = 0;
  };
  void allocate(const By& by, const Allocated& allocated);
  void free(const By& by, uint32_t first, uint32_t numbers);
  void access(const By& by, uint32_t unit, bool write);
  void miss(const By& by, uint32_t unit, bool write);
  void interval(const By& by, uint32_t index,
                std::span<const predict::UnitBytes> units);  // ascending
  void diff(const By& by, uint32_t unit, uint64_t bytes);
  void push(const By& by, uint32_t to, std::span<const predict::UnitBytes> units, uint64_t bytes);
  void touch(const By& by, std::span<const predict::UnitBytes> units, bool write);
  void wait(const By& by, uint32_t condition, uint32_t lock);
  void woken(const By& by, uint32_t condition, uint32_t lock);
  void arrive(const By& by, uint32_t barrier, uint64_t reduced_bytes);
  void fork(const By& by, uint32_t threads);
  void granted(const By& by, uint32_t lock, std::span<const predict::UnitBytes> brought);
  void give(const By& by, uint32_t lock, uint32_t to);
  // Those that have an object only, or nothing (object 0): acquire, release, leave, signal,
  // broadcast, post, semaphores; begin, finish, join.
  void note(const By& by, predict::EventKind kind, uint32_t object);

  // Counters were reset, and read. `counted`: since the last mark; its time is measured here.
  void mark(const By& by);
  void stop(const By& by, const predict::Measured& counted);
  // Writes the end, with what was counted by the last stop, or by now if there was none. Returns an
  // empty text if all is on its way to the disk, otherwise why not, with the file's name. Nothing
  // is written afterwards.
  [[nodiscard]] std::string finish(const By& by, const predict::Measured& counted);

  const std::string& failed() const { return failed_; }

 private:
  void put(const predict::Event& event);
  void put_number(uint64_t number);
  void flush();
  void fail();

  std::string path_, failed_;
  int descriptor_ = -1;
  std::vector<uint8_t> buffer_;
  uint64_t marked_ = 0;  // nanoseconds by the clock
  std::optional<predict::Measured> stopped_;
};

}  // namespace weir::dsm
