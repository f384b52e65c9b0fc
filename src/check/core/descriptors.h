// What descriptors are of, as far as that orders tasks: one name for all that what is written to
// one of them may come out of. Implemented in check/calls/.
//
// Descriptors are told apart where that is certain: the ends of a pipe (one file), of a socket pair
// (made here), of a connection whose two ends are both this program's (their addresses say so), an
// eventfd, a timer. All others have the name kAnyDescriptor, which every writer releases.
//
// Invariant: a writer releases the name of its descriptor and kAnyDescriptor. So a reader that
// acquires either of the two, and the one that its descriptor surely has, knows what the writer
// knew. (not checkable: which way the bytes went only the kernel knows)
//
// That a descriptor was closed is told by the end of what comes out of it, not by the bytes before.
// So who closes releases those two names with kClosed, which only who may have seen an end
// acquires.
#pragma once

#include <stdint.h>

#include "check/core/happens_before.h"

namespace weir::checking {

enum class Sort : uint32_t {
  kUnknown,   // not looked at yet
  kFile,      // has no ends: files, memory, eventfd, timers
  kStream,    // who writes may wait for room; another process may have the other end
  kCounter,   // the same: an eventfd
  kSocket,    // one end of a connection: the other is known if its address has been seen
  kAnywhere,  // what comes out of it may have been written to any descriptor
  kEpoll,
  kSignals,
};

// Of a task's table of descriptors, which all tasks share. In State.
struct Descriptor {
  uint64_t name;
  uint64_t other;  // kSocket: the name by which the other end would be seen
  Sort sort;
  uint32_t forks;  // State::Descriptors::forks when it was made
};

// What was registered with epoll_ctl(): which descriptor an event is of.
struct Registration {
  uint64_t data;
  uint32_t epoll;  // + 1; 0: none
  uint32_t descriptor;
};

struct Descriptors {
  static constexpr uint32_t kMost = 1 << 16, kSeen = 1 << 14, kRegistrations = 1 << 14;
  Descriptor table[kMost];
  uint64_t seen[kSeen];  // ends of connections, by address
  Registration registrations[kRegistrations];
  uint64_t made;      // eventfds and their like so far, for names
  uint32_t forks;     // other processes that got the program's descriptors
  uint32_t relays;    // bytes went from one descriptor to another within the kernel
  uint32_t requeues;  // a futex's waiters went to another
  uint32_t lost;      // a registration had no room
};

// Beside names of descriptors. Addresses of programs end below 2^47.
inline constexpr uint64_t kFileName = uint64_t{1} << 62;
inline constexpr uint64_t kMadeName = uint64_t{3} << 60;
inline constexpr uint64_t kSocketName = uint64_t{5} << 60;
inline constexpr uint64_t kConnections = (uint64_t{7} << 60) + 1;  // who connects, who accepts
inline constexpr uint64_t kListeners = (uint64_t{7} << 60) + 2;
inline constexpr uint64_t kFolders = (uint64_t{7} << 60) + 3;  // names come and go in them
inline constexpr uint64_t kPathName = uint64_t{9} << 60;       // by its last part
inline constexpr uint64_t kMessagesName = uint64_t{11} << 60;  // of System V, and semaphores
inline constexpr uint64_t kRegistered = uint64_t{13} << 60;    // with epoll_ctl(), by descriptor
inline constexpr uint64_t kRoom = uint64_t{1} << 59;           // of a name: who reads makes room
inline constexpr uint64_t kLocks = uint64_t{1} << 58;          // of a name: locks of the file
inline constexpr uint64_t kClosed = uint64_t{1} << 57;         // of a name: its end was seen
inline constexpr uint64_t kNameBits = (uint64_t{1} << 57) - 1;

Descriptors& descriptors();

// Program memory, read without a trace: in a replay the task may lack the right to it, and to ask
// for that would be an event. False: it cannot be read.
bool read_program(void* to, long from, uint64_t size);
template <typename T>
bool read_program(T& to, long from) {
  return read_program(&to, from, sizeof to);
}
// A string's length without its end, or `capacity`; -1: it cannot be read.
long read_text(char* to, long from, long capacity);

// A file, by what stat() says.
uint64_t name_of_file(uint64_t number, uint64_t device);

Descriptor describe(long descriptor);
// What the task may have read there, or been told of, is known to it. kBytes: it has read some, so
// it was told of no end.
enum class Told : uint8_t { kBytes, kAnything };
void acquire_descriptor(long descriptor, Told told = Told::kAnything);
// What it writes there others may read.
void release_descriptor(long descriptor);
// Likewise, before it is closed or shut down.
void release_end(long descriptor);
// What may have come out of a descriptor that nobody here knows.
void acquire_any_descriptor();

// After calls that make, copy or connect descriptors, also before there are tasks.
void note_made(long number, const long* arguments, long result);
// Before one is closed.
void forget_descriptor(long descriptor);

// Before epoll_ctl(), also before there are tasks: an event may come at once.
void note_registration(const long* arguments);
// An event that epoll_wait() has returned.
void acquire_event(long epoll, uint64_t data, uint32_t events);
// A descriptor is ready for these events, as poll() says.
void acquire_ready(long descriptor, uint32_t events);

}  // namespace weir::checking
