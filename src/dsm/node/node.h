// One node: its memory, its protocols, its part of each lock and barrier, and the mutex that guards
// them all.
// Implemented in dsm/core/node.cc.
//
// Two kinds of threads run here. The program's threads (faults, synchronization) may wait for other
// nodes, with the mutex released. The server thread takes messages, one after the other, and never
// waits.
//
// Invariants:
//   1. State of the classes below is read and written with `mutex` held, unless marked otherwise.
//      (not checkable: a mutex does not say who holds it)
//   2. No thread waits for a message with `mutex` held. So a server always makes progress, and a
//      thread that waits for one waits for no cycle of mutexes. (not checkable: a mutex does not
//      say who holds it)
//   3. The runtime never touches the program's view of shared memory, so its code never faults.
//      (not checkable: an access that does not fault is not seen)
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "dsm/base/counters.h"
#include "dsm/base/intervals.h"
#include "dsm/base/protocol.h"
#include "dsm/base/settings.h"
#include "dsm/base/stream_writer.h"
#include "dsm/net/transport.h"
#include "dsm/node/barrier.h"
#include "dsm/node/checker.h"
#include "dsm/node/collect.h"
#include "dsm/node/conditions.h"
#include "dsm/node/diagnostics.h"
#include "dsm/node/locks.h"
#include "dsm/node/memory.h"
#include "dsm/node/peers.h"
#include "dsm/node/regions.h"
#include "dsm/node/tapeworm.h"
#include "dsm/threads/thread.h"

namespace weir::dsm {

class LrcProtocol;
class Node;

// A thread's hold on a unit that is no page (sc.cc).
struct Hold {
  Page* page;
  bool write;
};

// A thread of the program, as this library knows it.
struct Thread {
  // The library has threads that wait as the program's do: one accesses memory for other nodes
  // (peers.h), one collects. They are none of the program's: nothing that is said of the program's
  // threads counts them, shows them as waiting or records them.
  enum class Role : uint8_t { kProgram, kPeers, kCollector };
  explicit Thread(Node& node, unsigned worker = 0, Role role = Role::kProgram);
  ~Thread();
  Node& node;
  std::unique_ptr<Mailbox> mailbox;
  unsigned worker;  // within the node
  const Role role;
  bool is_of_program() const { return role == Role::kProgram; }
  ThreadDiagnostics diagnostics{*this};
  std::vector<uint32_t> locks;  // held
  ThreadClock clock;            // for a recording
  std::vector<Hold> holds;      // in order of their units
  // Tapeworm's
  Advice advice;                       // for the next acquire
  bool records_lock = false;           // the lock that is being acquired
  std::vector<UnitId> prefetched;      // by the lock that was acquired last
  uint32_t fault_at = kNowhere;        // offset in its unit of the access that faults
  tape::Extent requested;              // what a producer's reply says of more to request
  NodeId requested_of = kNoNode;       // that producer
  std::vector<Recording*> recordings;  // running
  std::vector<std::unique_ptr<Recording>> lock_recordings;
  std::optional<Recording> produce, flush;
};

// The calling thread is not cancelled while it lives: it may hold the mutex, and others count on
// what it has begun.
class NotCancelled {
 public:
  NotCancelled();
  ~NotCancelled() noexcept(false);  // a thread that may be cancelled at any time ends here
  NotCancelled(const NotCancelled&) = delete;
  NotCancelled& operator=(const NotCancelled&) = delete;

 private:
  int before_ = 0;
};

// A thread of the program comes into the runtime, and has the node's mutex; for a recording, what
// it computed before goes with the first thing that it does here.
class InRuntime : private NotCancelled, private Entered, public std::unique_lock<std::mutex> {
 public:
  explicit InRuntime(Thread& thread);
  ~InRuntime();

 private:
  Thread& thread_;
};

class Node {
 public:
  Node(Transport& transport, const Settings& settings);
  ~Node();

  NodeId me() const { return transport.node(); }
  NodeId nodes() const { return transport.nodes(); }

  // To a node, which may be this one: then it is taken in at once. REQUIRES: mutex held.
  void tell(NodeId to, Message&& message);
  // A request, and its reply. Lets go of the mutex meanwhile.
  Message ask(NodeId to, Message&& request, Thread& thread, std::unique_lock<std::mutex>& held);
  void reply(const ReplyTo& to, Message&& message) { transport.reply(to, std::move(message)); }

  // A thread of the program accesses `address` and may not. Returns false if that is not shared
  // memory.
  bool on_fault(void* address, bool write, Thread& thread);
  // Makes the unit accessible, of which offset `at` is accessed. Lets go of the mutex while it
  // waits.
  void fetch(Page& page, bool write, Thread& thread, std::unique_lock<std::mutex>& held,
             uint32_t at = 0);

  // First of all that a thread does when it synchronizes: the accesses that it has announced are
  // over.
  void end_accesses(Thread& thread);
  // Release: what was written until now gets into an interval of its own, if anything was.
  // `by_program`: by a thread's own release, so it has no pointers at hand into units that are no
  // pages.
  void close_interval(bool by_program = false);
  // Acquire: what `message` holds (IntervalLog::put_*) is known from now on, and copies that it
  // outdates are invalid or made current. `named`: as IntervalLog::get has it.
  void incorporate(Message& message, VectorTime* named = nullptr);

  Protocol& protocol(uint8_t number) { return *protocols[number]; }
  LrcProtocol* lazy_of(Page& page);  // NULL: it has another kind of protocol

  // weir_dsm_touch.
  void touch(const uint8_t* address, size_t size, bool write, Thread& thread,
             std::unique_lock<std::mutex>& held);
  weir_dsm_counters counters_now() const;
  Traffic traffic_now() const;  // since the counters were reset
  void reset_counters();

  // Tells the recording what the calling thread does, if one is made (WEIR_DSM_RECORD): one of
  // StreamWriter's functions, and its parameters.
  template <typename... Parameters, typename... Arguments>
  void record(void (StreamWriter::*what)(const StreamWriter::By&, Parameters...),
              Arguments&&... arguments) {
    if (stream) (stream.get()->*what)(recorded_by(), std::forward<Arguments>(arguments)...);
  }
  void record_interval(const Interval& interval);
  void record(predict::EventKind kind, uint32_t object = 0) {
    record(&StreamWriter::note, kind, object);
  }
  // Returns the calling thread, for a recording: the server, if no thread of the program is
  // InRuntime.
  StreamWriter::By recorded_by() const;
  predict::Measured measured() const;

  // Describes what is waited for here beside what the threads themselves wait for, a line each.
  std::string describe_waits();

  Transport& transport;
  const Settings settings;
  std::mutex mutex;
  // A page is no longer busy, a lock is free, a home has got its diffs.
  std::condition_variable changed;
  Counters counters;
  Diagnostics diagnostics;
  IntervalLog intervals;
  Memory memory;
  Regions regions;
  std::array<std::unique_ptr<Protocol>, 4> protocols;  // by weir_dsm_protocol; [0] is empty
  Locks locks;
  Barrier barrier;
  Collector collector;
  Conditions conditions;
  Tapeworm tapeworm;
  std::unique_ptr<StreamWriter> stream;  // NULL: nothing is recorded
  Checker checker;
  std::vector<Page*> dirty;  // written in the open interval
  unsigned threads = 1;      // in weir_dsm_run
  std::atomic<unsigned> known_threads{
      0};  // that have called, the program's own too, and have not ended
  bool closing_for_program = false;
  unsigned fetching = 0;  // threads in fetch()
  Peers peers;            // last: its thread uses the others

 private:
  void receive(Message&& message);
  void on_learn(Message&& message);
  Traffic traffic_before;
};

}  // namespace weir::dsm
