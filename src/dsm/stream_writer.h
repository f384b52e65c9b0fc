// Writes what a node does to a file that weir-dsm-predict replays (dsm_predict/stream.h). One object for each node; all calls with the node's mutex held, or by one thread.
#pragma once

#include <stdint.h>

#include <span>
#include <string>
#include <vector>

#include "dsm_predict/stream.h"

namespace weir::dsm {

// What a thread of the program has computed between two calls of the runtime. leave() where it gets back to the program's code, computed() where it comes from there.
class ThreadClock {
 public:
  static uint64_t now();  // nanoseconds of processor time of the calling thread
  void leave() { left_ = now(); }
  // Nanoseconds since leave(). Counted once: 0 until the thread has left again.
  uint64_t computed() {
    const uint64_t since = left_ ? now() - left_ : 0;
    left_ = 0;
    return since;
  }

 private:
  uint64_t left_ = 0;
};

class StreamWriter {
 public:
  struct Run {
    uint32_t node = 0, nodes = 1, threads = 1;
    uint32_t protocol = 2;  // as weir_dsm_protocol
    bool tapes = false;
  };

  // Makes the directory, if it is not there, and the file in it. failed() says whether that went well; after a failure all calls do nothing.
  StreamWriter(const std::string& directory, const Run& run);
  ~StreamWriter();
  StreamWriter(const StreamWriter&) = delete;
  StreamWriter& operator=(const StreamWriter&) = delete;

  // `thread`: of the node, or predict::kServerThread. `computed`: ThreadClock's.
  struct Allocated {
    uint32_t first = 0, numbers = 1;  // units have numbers from [first, first + numbers),
    uint32_t step = 1;                // each so much more than the one before
    uint64_t unit_bytes = 4096;
    uint32_t home_policy = 0;         // as weir_dsm_home
    uint32_t home_node = 0;
  };
  void allocate(uint32_t thread, uint64_t computed, const Allocated& allocated);
  void free(uint32_t thread, uint64_t computed, uint32_t first, uint32_t numbers);
  void access(uint32_t thread, uint64_t computed, uint32_t unit, bool write);
  void miss(uint32_t thread, uint64_t computed, uint32_t unit, bool write, std::span<const uint32_t> asked, uint64_t bytes);
  void interval(uint32_t thread, uint64_t computed, uint32_t index, std::span<const predict::UnitBytes> units);  // ascending
  void diff(uint32_t thread, uint64_t computed, uint32_t unit, uint64_t bytes);
  void push(uint32_t thread, uint64_t computed, uint32_t to, std::span<const predict::UnitBytes> units, uint64_t bytes);
  void touch(uint32_t thread, uint64_t computed, std::span<const predict::UnitBytes> units, bool write);
  void wait(uint32_t thread, uint64_t computed, uint32_t condition, uint32_t lock);
  void woken(uint32_t thread, uint64_t computed, uint32_t condition, uint32_t lock);
  void arrive(uint32_t thread, uint64_t computed, uint32_t barrier, uint64_t reduced_bytes);
  void fork(uint32_t thread, uint64_t computed, uint32_t threads);
  // Those that have an object only, or nothing (object 0): acquire, granted, release, leave, signal, broadcast, post, semaphores; begin, finish, join, mark, stop.
  void note(predict::EventKind kind, uint32_t thread, uint64_t computed, uint32_t object = 0);

  // Writes the end. The answer is empty where all is on its way to the disk, else why not, with the file's name. Nothing is written afterwards.
  [[nodiscard]] std::string finish(uint32_t thread, uint64_t computed, const predict::Measured& measured);

  const std::string& failed() const { return failed_; }

 private:
  void put(const predict::Event& event);
  void put_number(uint64_t number);
  void flush();
  void fail();

  std::string path_, failed_;
  int descriptor_ = -1;
  std::vector<uint8_t> buffer_;
};

}  // namespace weir::dsm
