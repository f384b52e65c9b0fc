// Mutexes, as pthread_mutex_* and mtx_* and conditions need them.
#pragma once

#include <pthread.h>

#include "interpose/event_call.h"

namespace weir::interpose {

using Mutex = decltype(pthread_mutex_t::__data);

// Kinds (bits of __kind): 0 normal, 1 recursive, 2 error-checking, 3 adaptive. Robust,
// priority-inheriting, priority-protected and process-shared mutexes have one of these bits and
// stay the C library's business.
inline constexpr int kMutexKind = 3, kRecursive = 1, kErrorCheck = 2;
inline constexpr int kForeignKinds = 0xf0;

inline bool is_ours(const pthread_mutex_t* mutex) {
  return !(__atomic_load_n(&beside(mutex)->__data.__kind, __ATOMIC_RELAXED) & kForeignKinds);
}

// Within a turn, on the runtime's stack. Waits until the mutex is this task's. Answers an error
// number, or kAgain. `count_user` as in lock, not as in a wait for a condition; `through_signals`:
// waits on though signals are pending.
long acquire(long address, const Until& until, bool count_user, bool through_signals);
// Within a turn. `forget_user` as in unlock, not as in a wait for a condition. Answers an error
// number.
int release(long address, bool forget_user);

// The checked View, in the runtime and without a turn: the mutex of a wait for a condition. Whether
// it may be: the plain kind, held by the task. False: it has not been given back, or taken, and
// takes a turn.
bool may_be_given_turn_free(const Task& task, const pthread_mutex_t* mutex);
bool give_turn_free(Task& task, const pthread_mutex_t* mutex);
bool take_turn_free(Task& task, const pthread_mutex_t* mutex);

// On the program's stack, with whatever is_event() says.
int lock_mutex(pthread_mutex_t* mutex);
int try_mutex(pthread_mutex_t* mutex);
int lock_mutex_until(pthread_mutex_t* mutex, clockid_t clock, const timespec* time);
int unlock_mutex(pthread_mutex_t* mutex);

// An event inside a section that keeps the turn (mutex.cc), which belongs to the section: while
// this lives, begin_turn() nests in the section's turn instead of ending it.
class SectionEvent {
 public:
  explicit SectionEvent(Task& task) : task_(task) {
    if (is_in_section(task)) begin_section_event(task);
  }
  ~SectionEvent() {
    if (goes_on()) end_section_event(task_);
  }
  SectionEvent(const SectionEvent&) = delete;
  SectionEvent& operator=(const SectionEvent&) = delete;
  // It holds other mutexes than `mutex`.
  bool of_more_than(uint64_t mutex) const {
    return task_.turn.held > 1 || (task_.turn.held && task_.turn.section != mutex);
  }
  bool goes_on() const { return is_in_section_event(task_); }

 private:
  Task& task_;
};

}  // namespace weir::interpose
