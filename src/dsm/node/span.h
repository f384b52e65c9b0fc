// What a thread of the program, or the server, does in the runtime, for as long as the object
// lives. It counts that and its time, and puts it on the timeline. The report of which node waits
// for which reads it.
// Implemented in dsm/diagnostics/span.cc.
//
// The node's mutex is held at the beginning and at the end. The clock is read only if the time is
// counted, awaited or recorded.
#pragma once

#include <stdint.h>

#include <vector>

#include "dsm/base/counters.h"
#include "dsm/base/message.h"

namespace weir::dsm {

class Node;
class Span;
struct Thread;

// The part of it that a thread of the program keeps.
struct ThreadDiagnostics {
  // A request that the innermost span has sent.
  struct Asked {
    NodeId to;
    ReplyTo flow;  // what its reply will say
    uint64_t at;   // when, for the timeline
  };

  // By the thread itself. Not with the mutex held.
  explicit ThreadDiagnostics(Thread& thread);
  ~ThreadDiagnostics();
  ThreadDiagnostics(const ThreadDiagnostics&) = delete;
  // NULL: the calling thread is a server.
  static ThreadDiagnostics* of_this_thread();

  // The innermost span sends a request. Returns where its ticket must be stored, now or later by
  // this thread, without the mutex.
  uint32_t& asks(NodeId to);

  const Span* wait() const;  // the innermost span that is one; NULL: none

  Thread& thread;
  // Among this node's threads that live: its worker's number, where that is free.
  unsigned track = 0;
  Span* doing = nullptr;  // the innermost
  std::vector<Asked> asked;
  const void* program_counter = nullptr;  // of the access that trapped
  uint64_t told = 0;  // start of the wait that has been printed because it was long
  uint32_t no_ticket = 0;
  ReplyTo address;  // where its replies arrive
};

class Span {
 public:
  // `sum`: nanoseconds are added to it.
  Span(Node& node, Doing doing, uint32_t object = 0, uint64_t* sum = nullptr);
  ~Span();
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

  // For the timeline: a bit of detail (it writes; the kind of message), an amount (of bytes, of
  // diffs), whose message it is about.
  void set_detail(uint8_t detail) { detail_ = detail; }
  void set_amount(uint64_t amount) { amount_ = static_cast<uint32_t>(amount); }
  void set_message(const Header& header);

  Doing doing() const { return doing_; }
  uint32_t object() const { return object_; }
  uint64_t start() const { return start_; }
  size_t first_asked() const { return first_asked_; }
  const Span* outer() const { return outer_; }

 private:
  Node& node_;
  ThreadDiagnostics* const thread_;
  Span* outer_ = nullptr;
  size_t first_asked_ = 0;
  uint64_t start_ = 0;
  uint64_t* const sum_;
  const uint32_t object_;
  uint32_t amount_ = 0;
  uint16_t peer_ = 0;
  ReplyTo flow_;
  const Doing doing_;
  uint8_t detail_ = 0;
};

// Waits for other nodes or threads: these have a start.
inline bool is_wait(Doing doing) {
  return doing == Doing::kMiss || doing == Doing::kLock || doing == Doing::kBarrier ||
         doing == Doing::kCondition || doing == Doing::kSemaphore || doing == Doing::kMemory;
}

}  // namespace weir::dsm
