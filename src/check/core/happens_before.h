// Which task knows of which other task's past. Whatever orders tasks tells it here, and the checked
// View asks it when two tasks touch the same bytes.
// Implemented in check/.
//
// An object that orders tasks (a mutex, a semaphore, a word that atomic operations change, a
// thread's end, ...) is named by its address. All functions but create() and start() are of the
// current task, and are called in the runtime or in a SoleSection (signals wait). They do nothing
// in a program that is not checked.
#pragma once

#include <stdint.h>

#include "base/frame.h"
#include "control/control.h"
#include "control/task.h"

namespace weir::happens {

// Names of what orders tasks and is no memory of theirs: descriptors whose other end is not known,
// signals, memory that processes share.
inline constexpr uint64_t kAnyDescriptor = 1, kSignals = 2, kSharedMemory = 3;
// Of what the C library calls back when the program ends, or forks; ends of threads, of which who
// finds a robust mutex in a dead one's hands knows.
inline constexpr uint64_t kAtExit = 4, kAtFork = 5, kEnds = 6;
// What helpers of the C library's own have done by system calls, and what they were asked to do.
inline constexpr uint64_t kHelpers = 7, kWork = 8;

// Per process: the checked View, and tasks run.
extern bool g_checked;
// True in a replay that is checked. Program code then notifies the checker without a trace
// (weir_notify), and otherwise does what it did in the recorded run.
extern bool g_replayed;
// True under Order serial if accesses are looked at one by one (check/serial/races.h): no page is
// closed to a task, so that none has to be opened, borrowed or given up.
extern bool g_serial;
// What becomes of calls of the C library: nothing; the checked View replaces them; a checked replay
// is told of them before they are made.
enum class Calls : uint8_t { kPlain, kReplaced, kNotified };
extern Calls g_calls;
template <Calls kHow>
[[gnu::always_inline]] inline bool calls_are() {
  return !weir_flag_is_not<kHow>(g_calls);
}
template <Calls kHow>
[[gnu::always_inline]] inline bool calls_are_not() {
  return weir_flag_is_not<kHow>(g_calls);
}
// Per process: the program makes a thread by a function that is interposed. Any other thread that
// is made in the C library is a helper of its own.
extern bool g_makes_thread;
extern bool g_makes_detached;  // likewise, one that nobody can join

inline bool is_on_program_stack() { return weir_room_below_runtime() >= 2 * kStackSize; }

// What weir_notify says.
enum class NoticeKind : uint32_t {
  kAcquire,
  kRelease,
  kLock,
  kUnlock,
  kJoined,
  kBeginsOrder,
  kEndsOrder,
  kEndsProgram,
  kAllocated,
  kFreed,
  kReads,
  kShares,
  kCalls
};
void on_notice(const Frame& frame, const Notice& notice);
template <NoticeKind kWhat>
[[gnu::always_inline]] inline void notify(uint64_t a, uint64_t b = 0, uint64_t c = 0) {
  weir_notify<static_cast<uint32_t>(kWhat)>(a, b, c);
}
template <NoticeKind kWhat>
[[gnu::always_inline]] inline void notify() {
  weir_notify<static_cast<uint32_t>(kWhat)>();
}
[[gnu::always_inline]] inline bool notifies() {
  return __builtin_expect(g_replayed, 0) && is_on_program_stack();
}

void on_acquire(uint64_t object);
void on_release(uint64_t object);
void on_lock(uint64_t lock, bool is_shared);
void on_unlock(uint64_t lock);

// The task acquires the object: from here on it knows what the tasks knew that have released it.
inline void acquire(uint64_t object) {
  if (g_checked) notifies() ? notify<NoticeKind::kAcquire>(object) : on_acquire(object);
  level_registers();
}
// The task releases the object: a task that acquires it later knows what this one has done until
// here.
inline void release(uint64_t object) {
  if (g_checked) notifies() ? notify<NoticeKind::kRelease>(object) : on_release(object);
  level_registers();
}
// The task holds the lock from here on; for reading, perhaps beside others (`is_shared`), who are
// then not ordered among themselves. A lock that is taken several times is notified several times.
inline void lock(uint64_t lock, bool is_shared = false) {
  if (g_checked) notifies() ? notify<NoticeKind::kLock>(lock, is_shared) : on_lock(lock, is_shared);
  level_registers();
}
// REQUIRES: nobody has it yet. Of a lock that the task is known not to hold: orders nothing.
inline void unlock(uint64_t lock) {
  if (g_checked) notifies() ? notify<NoticeKind::kUnlock>(lock) : on_unlock(lock);
  level_registers();
}

// The atomic operations and futexes inside the C library order its own affairs, and are not told
// here; except in the functions by which a program orders its tasks.
uint32_t& library_orders();
void end_library_call();
// (In a replay memory that processes share is not checked: pages of it that change hands order
// tasks, shared_memory/page_order.cc.)
template <typename Function>
auto by_library(Function function) {
  if (g_checked && !g_replayed) {
    library_orders()++;
    const auto result = function();
    library_orders()--;
    end_library_call();
    return result;
  }
  if (g_replayed) notify<NoticeKind::kBeginsOrder>();
  const auto result = function();
  asm volatile("" ::
                   : "memory");  // recorded and replayed it is a call, not a jump: what is left on
                                 // the stack is the same
  if (g_replayed) notify<NoticeKind::kEndsOrder>();
  return result;
}

// The task begins an initialization that runs once. A task that began it before has left it by an
// exception, and is ordered before this one.
void begin_once(uint64_t control);

// `creator` makes `task`, whose record is filled.
void create(Task& creator, Task& task);
// The task is about to begin, in a process of its own.
void await_creator(const Task& task);
// [start, limit) is the stack of a new task. The new thread's own data lie between `limit` and just
// behind `thread`. Earlier accesses to this memory were to something else.
void begin_stack(const Task& task, uint64_t start, uint64_t limit, uint64_t descriptor);
// The task ends. `thread`: the handle by which other tasks wait for its end.
void end(Task& task, uint64_t handle);

// The task returns to program code, and gives up what it had been lent. In the runtime.
// has_to_leave() may be asked anywhere.
void leave();
bool has_borrowed();
inline bool has_to_leave() { return g_checked && !g_replayed && has_borrowed(); }
// By protection keys (plan().has_keys()): program code is about to touch an object of
// synchronization, which it may do whatever the policy of the surrounding object says;
// close_objects() ends that. open_object() does nothing if the page was not closed at the last
// touch; if it is closed now, the touch traps.
inline constexpr uint64_t kClosedPages = 1024;
extern uint64_t g_closed_pages[kClosedPages];  // numbers of pages; one in each place
void open_objects();
void close_objects();
inline void open_object(uint64_t at) {
  const uint64_t page = at / kPageSize;
  if (__atomic_load_n(&g_closed_pages[page % kClosedPages], __ATOMIC_RELAXED) == page)
    open_objects();
}
inline void note_closed(uint64_t at) {
  __atomic_store_n(&g_closed_pages[at / kPageSize % kClosedPages], at / kPageSize,
                   __ATOMIC_RELAXED);
}
// `creator` is about to make a thread with this `argument`. Other tasks will touch what the
// argument refers to on the creator's stack.
void share_stack(uint64_t argument);

// The heap gives out a block, or takes one back, for the function that called `where` (a return
// address; `stack` is the stack pointer there, `frame` is rbp). In program code.
void on_allocated(uint64_t start, uint64_t size, uint64_t usable, uint64_t where, uint64_t stack,
                  uint64_t frame);
void on_freed(uint64_t start, uint64_t size, uint64_t where, uint64_t stack, uint64_t frame);
// The stream has been given this buffer; null: one of its own. Called before there are tasks too.
void on_stream_buffer(const void* stream, const void* buffer, uint64_t size);
extern bool g_knows_blocks;
// True if blocks are told in a replay, before there are tasks too. Program code then tells without
// a trace. The runtime asks the heap, because in program code that might be an event. An allocation
// tells the block, its size and the caller's stack pointer; freeing tells the block and the stack
// pointer.
extern bool g_notifies_blocks;

// A function of the C library, called at `where` (see on_allocated()), accesses memory on its
// caller's account. In the runtime.
void on_library(uint64_t start, uint64_t size, bool writes, uint64_t where, uint64_t stack,
                uint64_t frame);
// In a replay: what a function of the C library may touch of what its instructions load.
enum class CallKind : uint32_t {
  kExact,    // it touches what it may touch and nothing beside
  kWhole,    // `most` bytes from `first` and `second` on, whichever of them it looks at
  kText,     // it reads strings, by wide loads: `first` and `second` are where they begin
  kUntil,    // one string, as far as the character `second`
  kSpan,     // `most` bytes from `first` on, as far as the byte `second`, if that is one
  kCompare,  // two strings, as far as they are equal, or `most` bytes
  kWide,     // strings of wide characters
  kBuffer,   // nothing: the stream `first` has the buffer `second` of `most` bytes from here on
};
// Describes a function that program code tells by the number NoticeKind::kCalls and following: the
// kind, and which of its arguments, counted from 0, are `first`, `second` and `most`.
struct CallRule {
  static constexpr int8_t kNone = -1, kNul = -2;  // kNul: the byte 0
  CallKind kind;
  int8_t first, second, most;
  uint8_t shares = 0;  // 1 + findings::SharingNumber, if it keeps something for all threads
};
extern const CallRule* g_call_rules;  // by number
// Variables of the C library's that lie in the program, if that refers to them by their addresses.
inline constexpr uint32_t kLibraryVariables = 3;
extern uint64_t g_library_variable[kLibraryVariables];
// True if an access need not be told, because what the task does there is not checked. In program
// code of a task.
bool is_untrapped(uint64_t start, uint64_t size, bool writes);

}  // namespace weir::happens
