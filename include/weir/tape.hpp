// Tapes for C++14: what was accessed in shared memory, as objects that can be combined, kept, and
// turned into data that travels before it is asked for. With weir/dsm.h only; whoever just wants
// replay barriers and auto-locks finds them there, ready. This is what they are made of, for those
// who write their own.
//
// 1. A unit is what the protocol keeps consistent (docs/guide/dsm.md: a page, several, a region, an
//    annotated allocation). Units have numbers, the same on every node.
// 2. An interval is a node's execution between two of its synchronizations. Each node counts its
//    own from 1.
// 3. An event says that a unit was written or read by a node in an interval, or that a node asked
//    this one for it. A tape is a set of events, an extent a set of units. Neither holds data: what
//    was written stays with the protocol until add_data or send looks for it.
// 4. Advice never changes what a program computes. An update that is sent and not needed is
//    ignored; one that is not sent is fetched when it is missed.
// 5. Tape, Extent and Parcel are values: copied deeply, cheap to move. One of them is used by one
//    thread at a time; while a tape records, events come in from all of this node's threads.
// 6. Hooks run while the node's state is locked, some of them on the thread that answers other
//    nodes. They call nothing of weir/dsm.h, no fetch, install or remove, wait for nobody, and
//    access no shared memory; whatever else is declared here may be used in them. They are called
//    one at a time on each node.
// 7. REQUIRES, for all that names no other rule: between weir_dsm_start and weir_dsm_finish.
//    Extents, and tapes that do not record, may be used at any time.
// 8. Protocols: LRC and HLRC know updates one by one, HLRC those of units that are pages. Of
//    requests, HLRC's homes hear. SC has no versions: it records reads and writes as they trap, no
//    requests, and has no updates: data tapes (missing, new) are empty, and nothing is sent.
// 9. With WEIR_DSM_TAPES=off, tapes record and hooks are called, and send does nothing.
// Source: Keleher, Tapeworm: High-Level Abstractions of Shared Accesses (OSDI 1999), section 2 and
// table 1.
//
// A replay barrier of one's own (the paper's figure 3):
//
//   weir::dsm::Tape writes, requests;                  // of each node
//   std::map<unsigned, weir::dsm::Extent> asked;       // by each other node, ever
//   writes.start_writing(), requests.start_requesting();
//   ...
//   void my_barrier(uint32_t barrier) {
//     for (const auto& [node, extent] : requests.take().flatten_by_node()) asked[node] += extent;
//     const weir::dsm::Tape written = writes.take();
//     for (const auto& [node, extent] : asked) weir::dsm::send(node, written & extent);
//     weir_dsm_barrier(barrier);
//   }
#ifndef WEIR_TAPE_HPP
#define WEIR_TAPE_HPP

#if __cplusplus < 201402L
#error "weir/tape.hpp needs C++14 or later"
#endif

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "weir/dsm.h"

#ifndef WEIR_NODISCARD /* the attribute's own name came with C++17 */
#if __cplusplus >= 201703L
#define WEIR_NODISCARD [[nodiscard]]
#else
#define WEIR_NODISCARD
#endif
#endif

#pragma GCC visibility push(default)

namespace weir {
namespace dsm {

class Tape;
class Parcel;

// A set of units.
class Extent {
 public:
  struct Range {  // both included
    std::uint32_t first, last;
  };

  Extent() noexcept : state_(nullptr) {}
  // The units that [address, address + size) touches. What is not shared memory is left out.
  Extent(const void* address,
         std::size_t size);  // REQUIRES: between weir_dsm_start and weir_dsm_finish
  Extent(const Extent& other);
  Extent(Extent&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  Extent& operator=(const Extent& other);
  Extent& operator=(Extent&& other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~Extent();

  void add(std::uint32_t unit) { add_range(unit, unit); }
  void add_range(std::uint32_t first,
                 std::uint32_t last);  // both included; REQUIRES: first <= last
  void clear() noexcept;

  Extent& operator+=(const Extent& other);  // union
  Extent& operator-=(const Extent& other);  // what is not in `other`
  Extent& operator&=(const Extent& other);  // what is in both
  friend Extent operator+(Extent left, const Extent& right) { return std::move(left += right); }
  friend Extent operator-(Extent left, const Extent& right) { return std::move(left -= right); }
  friend Extent operator&(Extent left, const Extent& right) { return std::move(left &= right); }
  friend bool operator==(const Extent& left, const Extent& right) { return left.equals(right); }
  friend bool operator!=(const Extent& left, const Extent& right) { return !left.equals(right); }

  bool contains(std::uint32_t unit) const noexcept;
  bool contains(const void* address) const noexcept;  // the unit that it lies in
  bool empty() const noexcept;
  std::uint64_t size() const noexcept;  // units
  std::vector<Range> ranges() const;    // ascending, as few as there can be
  template <typename Visit>
  void for_each(Visit visit) const {
    for (const Range& range : ranges()) {
      for (std::uint64_t unit = range.first; unit <= range.last; unit++)
        visit(static_cast<std::uint32_t>(unit));
    }
  }

  // Bytes to keep or to send by other means; the same set has the same bytes.
  std::vector<std::uint8_t> bytes() const;
  // False, and the extent is as it was, where the bytes are not what bytes() has answered.
  WEIR_NODISCARD bool from_bytes(const void* bytes, std::size_t size);

 private:
  friend struct Access;
  struct State;

  bool equals(const Extent& other) const noexcept;

  State* state_;  // NULL: empty
};

// A set of events.
class Tape {
 public:
  enum Kind : std::uint8_t { kWrite, kRead, kRequest };
  struct Event {
    Kind kind;
    unsigned node;  // who wrote, read, or asked
    // Of a write or read: the node's; of a request: this node's in which it came.
    std::uint32_t interval;
    std::uint32_t unit;
  };

  Tape() noexcept : state_(nullptr) {}
  // A copy does not record, whatever the original does.
  Tape(const Tape& other);
  // What records goes on recording where it is moved to.
  Tape(Tape&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  Tape& operator=(const Tape& other);
  Tape& operator=(Tape&& other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~Tape();

  // --- Recording what this node does, into this tape, from now on. A tape may record several kinds
  //     at once, several tapes may record at once. Starting twice is well.

  // Which units are written. An event comes into being as its interval ends, at this node's next
  // synchronization. A unit that no other node has asked for stays writable over intervals and then
  // counts as written in each of them. `thorough` takes that right away, so that all is exact, at
  // the price of a trap for each unit in each interval.
  void start_writing(bool thorough = true);
  // Which units are read. Units that are readable already are seen only where `thorough` takes that
  // right away, once, now. A unit that is written is read too.
  void start_reading(bool thorough = false);
  // Which units other nodes ask this one for, by faults, touches and fetches; not what they are
  // sent without asking.
  void start_requesting();
  // stop_writing ends this node's interval, so that the tape has all that the calling thread has
  // written before; other threads' writes, those that they have ordered before. Stopping what was
  // not started is well.
  void stop_writing();
  void stop_reading();
  void stop_requesting();
  void stop();  // all three
  bool records() const noexcept;
  // What was recorded so far, leaving this tape empty and recording on: each event is in exactly
  // one of the tapes taken. Ends the interval as stop_writing does, where writes are recorded.
  Tape take();

  // --- Sets

  void add(const Event& event);
  void add(Kind kind, unsigned node, std::uint32_t interval, const Extent& units);
  void clear();  // recording goes on

  Tape& operator+=(const Tape& other);    // all events of both
  Tape& operator-=(const Tape& other);    // those that are not in `other`
  Tape& operator&=(const Tape& other);    // those that are in both
  Tape& operator&=(const Extent& units);  // cross: those that refer to these units
  Tape& operator-=(const Extent& units);  // those that refer to other units
  friend Tape operator+(Tape left, const Tape& right) { return std::move(left += right); }
  friend Tape operator-(Tape left, const Tape& right) { return std::move(left -= right); }
  friend Tape operator&(Tape left, const Tape& right) { return std::move(left &= right); }
  friend Tape operator&(Tape left, const Extent& right) { return std::move(left &= right); }
  friend Tape operator-(Tape left, const Extent& right) { return std::move(left -= right); }
  friend Tape operator+(Tape left, const Extent& right) {
    return std::move(left &= right);
  }  // cross, as the paper writes it
  friend bool operator==(const Tape& left, const Tape& right) { return left.equals(right); }
  friend bool operator!=(const Tape& left, const Tape& right) { return !left.equals(right); }

  // By name.
  Tape cross(const Extent& units) const { return *this & units; }
  Tape without(const Extent& units) const { return *this - units; }
  // Only some of the events. `time`: for each node, up to which of its intervals somebody knows
  // (vector_time()); of nodes beyond its end, none.
  Tape of_kind(Kind kind) const;
  Tape of_node(unsigned node) const;
  Tape known_at(const std::vector<std::uint32_t>& time) const;
  Tape unknown_at(const std::vector<std::uint32_t>& time) const;

  // All units that it refers to.
  Extent flatten() const;
  Extent flatten(Kind kind) const;
  std::map<unsigned, Extent> flatten_by_node() const;  // of requests: what each node has asked for

  bool empty() const noexcept;
  std::uint64_t size() const noexcept;  // events
  // In the order of kind, node, interval, unit.
  void for_each(const std::function<void(const Event&)>& visit) const;

  // --- Data

  // Puts the updates that the tape's writes describe into the parcel, and with each what is needed
  // to apply it where and when it should be. An update that this node does not have is left out.
  // Answers how many there are in it now. Does not wait.
  std::size_t add_data(Parcel& parcel) const;
  // Applies the updates that lie in a parcel, and adds them to this tape. Of an update whose
  // predecessors are missing, nothing is lost: it is kept until they are there. Units that lack
  // nothing afterwards are valid. Answers how many updates there were. Does not wait.
  std::size_t read_data(Parcel& parcel);

  // --- Files and bytes

  // Empty: done. Else the reason, for the user, with the file's name. The file is there as a whole
  // or not at all.
  WEIR_NODISCARD std::string store(const std::string& path) const;
  // What cannot be read, is no tape, was cut or is damaged is refused; then this tape is as it was.
  // Its numbers are as they were: intervals mean something to the run that recorded them only,
  // units and nodes to all runs of the program that allocate alike.
  WEIR_NODISCARD std::string reload(const std::string& path);
  std::vector<std::uint8_t> bytes() const;
  WEIR_NODISCARD bool from_bytes(const void* bytes, std::size_t size);

 private:
  friend struct Access;
  struct State;

  bool equals(const Tape& other) const noexcept;

  State* state_;  // NULL: empty, and does not record
};

// What travels: entries of bytes under numbers of the user's choice, and updates. The runtime's own
// messages carry one: a lock's request and its grant, and the reply to a fault (Hooks). One that is
// made here is sent as a message of its own (post).
class Parcel {
 public:
  Parcel() noexcept : state_(nullptr) {}
  Parcel(const Parcel& other);
  Parcel(Parcel&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  Parcel& operator=(const Parcel& other);
  Parcel& operator=(Parcel&& other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~Parcel();

  // The paper's msg->add and msg->retrieve. Entries of one number are kept in their order.
  void add(std::uint32_t number, const void* bytes, std::size_t size);
  void add(std::uint32_t number, const Tape& tape);
  void add(std::uint32_t number, const Extent& extent);
  // Takes out the first entry of this number. False: there is none, or (tape, extent) it is none;
  // then nothing changes.
  WEIR_NODISCARD bool retrieve(std::uint32_t number, std::vector<std::uint8_t>* bytes);
  WEIR_NODISCARD bool retrieve(std::uint32_t number, Tape* tape);
  WEIR_NODISCARD bool retrieve(std::uint32_t number, Extent* extent);

  bool empty() const noexcept;
  std::size_t size() const noexcept;     // bytes on the wire
  std::size_t updates() const noexcept;  // added by add_data and not read yet

 private:
  friend struct Access;
  struct State;

  State* state_;  // NULL: empty
};

// --- What the protocol knows

// The updates that this node knows of and lacks, for the units of the extent (the paper's
// missing_data_tape, miss(S)). With all of them the units are valid.
Tape missing_data_tape(const Extent& units);
// The updates to these units that somebody learns of by a synchronization (the paper's
// get_new_tape, new(S)). In add_to_lock_grant: what the receiver of the grant will learn from it.
// Elsewhere: what this node has learned since it was last granted a lock or passed a barrier, by
// that too; of these, those that it still lacks.
Tape new_data_tape(const Extent& units);
// For each node, up to which of its intervals this one knows.
std::vector<std::uint32_t> vector_time();

// --- Moving data

// Sends the updates of the tape's writes, those that this node has and the receiver is not known to
// have, to that node, which applies them as it learns of the writes. Of this node's own, those in
// between come along that the receiver lacks. Does not wait for it, but the next barrier does. One
// message, of the kind "flush"; none where there is nothing to send. To itself: nothing.
void send(unsigned node, const Tape& tape);
// To all others, each what it lacks.
void send_all(const Tape& tape);
// Makes the units of the tape's writes valid: asks for all that they lack, at once, one request to
// each node that has some, and waits.
void fetch(const Tape& tape);
// To a node's Hooks::received, in the order in which one thread sends them to it. Does not wait.
// The parcel is empty afterwards. May be the node itself: then it is called in here.
void post(unsigned node, Parcel&& parcel);

// --- Upcalls

// What a synchronization library hooks into; each does nothing here. Install the same ones in the
// same order on every node: what one adds, its namesake on the other node reads. With several, they
// are called one after the other in the order of installation, and share the parcels: choose
// different numbers. Locks: the request is made by who wants the lock, and gets to who held it
// last, which grants; where that is the same node, nothing is sent and only lock_acquired and
// lock_release are called. What is to happen before a lock is asked for in any case, a program does
// before it calls weir_dsm_lock.
class Hooks {
 public:
  virtual ~Hooks() = default;

  // The calling thread has got the lock (by a condition too); is about to release it.
  virtual void lock_acquired(std::uint32_t lock) { static_cast<void>(lock); }
  virtual void lock_release(std::uint32_t lock) { static_cast<void>(lock); }

  // In this order. Who asks, before the request is sent:
  virtual void add_to_lock_request(Parcel& request, std::uint32_t lock) {
    static_cast<void>(request), static_cast<void>(lock);
  }
  // Who holds the lock or held it last, as it is going to grant the request:
  virtual void read_from_lock_request(Parcel& request, std::uint32_t lock, unsigned asker) {
    static_cast<void>(request), static_cast<void>(lock), static_cast<void>(asker);
  }
  // The same, after that. `request`: what read_from_lock_request has left in it.
  virtual void add_to_lock_grant(Parcel& request, Parcel& grant, std::uint32_t lock,
                                 unsigned asker) {
    static_cast<void>(request), static_cast<void>(grant), static_cast<void>(lock),
        static_cast<void>(asker);
  }
  // Who has asked, before lock_acquired; what the lock orders before is known by now:
  virtual void read_from_lock_grant(Parcel& grant, std::uint32_t lock) {
    static_cast<void>(grant), static_cast<void>(lock);
  }

  // The thread that arrives last of this node's, before the arrival is told to others, and the same
  // one after what the barrier orders before is known. Not called for reductions, shares and
  // totals.
  virtual void barrier_entry(std::uint32_t barrier) { static_cast<void>(barrier); }
  virtual void barrier_leave(std::uint32_t barrier) { static_cast<void>(barrier); }

  // A trap in shared memory (or a touch), before the protocol makes the unit accessible (which may
  // need no other node).
  virtual void fault(std::uint32_t unit, bool writes) {
    static_cast<void>(unit), static_cast<void>(writes);
  }
  // Another node asks for a unit, and is going to be answered. A request for several units has one
  // reply, and so all of these calls one parcel. LRC and HLRC.
  virtual void page_request(Parcel& reply, std::uint32_t unit, unsigned asker) {
    static_cast<void>(reply), static_cast<void>(unit), static_cast<void>(asker);
  }
  // Who asked, as the reply is read; only where something was added.
  virtual void read_from_page_reply(Parcel& reply, unsigned from) {
    static_cast<void>(reply), static_cast<void>(from);
  }

  // A parcel that a node has posted.
  virtual void received(Parcel& parcel, unsigned from) {
    static_cast<void>(parcel), static_cast<void>(from);
  }
};

// For the calling thread's node. The hooks must live until they are removed; after that none of
// their functions is running. Those for messages of others: install before a barrier on every node,
// remove after one. REQUIRES: not called from a hook.
void install(Hooks& hooks);
void remove(Hooks& hooks);

}  // namespace dsm
}  // namespace weir

#pragma GCC visibility pop

#endif
