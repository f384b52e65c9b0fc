// A loop that waits is `while (!flag);`, a lock that is tried again, a queue that is asked under
// its lock with sched_yield() in between. Without more, it would run until Schedule::fair:
// thousands of steps that mean nothing, in which the change points of a strategy are lost.
//
// After some steps in a row a task is stopped before each further one. If it comes back to the same
// instruction with the same registers, x87 and vectors among them, and the same stack, and all that
// it has written holds what it held before, then what it does next depends on nothing but the words
// that it has read.
//
// Invariants
// 1. What is found depends on the task's path and on how it got the turn, not on where a strategy
//    has stopped it without a switch. So a list of switches repeats a run. (not checkable: it is
//    about two runs)
// 2. A mistake costs schedules, never a right result: a task that waits goes on when no other can
//    (serial.cc). One that counts in memory which is relative to %fs, or far up on its stack, is
//    taken for one that waits. (not checkable: it is about steps that are not made)
//
// Not looked at: what the C library does between two steps. A call into it ends the look.

#include "order/serial/spin_watch.h"

#include <pthread.h>
#include <sys/syscall.h>

#include "base/hash.h"
#include "code/decode/decoder.h"
#include "code/emulate/vector_state_x86_64.h"
#include "code/translate/step.h"
#include "memory/program_memory.h"
#include "sys/syscall_x86_64.h"

namespace weir::order::serial {
namespace {

// Bytes below and above the stack pointer that belong to the state.
constexpr uint64_t kBelow = 128, kAbove = 1024;
// Of a lock: what pthread_mutex_t has, which no other has much less of.
constexpr uint64_t kObject = 40;

// Of as much as can be read.
uint64_t hash_stack(uint64_t stack_pointer) {
  uint64_t hash = 0;
  uint64_t part[16];
  const uint64_t from = (stack_pointer - kBelow) & ~uint64_t{7};
  for (uint64_t at = from; at < from + kBelow + kAbove; at += sizeof part) {
    if (trap::from_program(part, static_cast<long>(at)) != 0) break;
    for (const uint64_t word : part) hash = mix(hash ^ word) ^ hash >> 29;
  }
  return hash;
}

void keep_state(const Frame& frame, uint64_t (&state)[17]) {
  for (unsigned i = 0; i < 16; i++) state[i] = general_register(frame, i);
  state[16] = frame.rip;
}

// An indirect call or jump goes there; 0: it is none, or not known.
uint64_t indirect_target(const Instruction& instruction, const Shape& shape, const AccessList& list,
                         const Frame& frame) {
  const Flow flow = flow_of(shape);
  if (flow != Flow::kIndirectCall && flow != Flow::kIndirectJump) return 0;
  if (shape.mod() == 3)
    return general_register(frame, shape.rm() | static_cast<unsigned>(shape.rex & 1) << 3);
  for (size_t i = 0; i < list.count && instruction.operand_count; i++) {
    uint64_t target;
    if (!list.accesses[i].read || list.accesses[i].size != sizeof target) continue;
    if (trap::from_program(target, static_cast<long>(list.accesses[i].address)) == 0) return target;
  }
  return 0;
}

// What was decoded last, by address: a loop's few instructions are looked at again and again.
class Decoded {
 public:
  // Null: no instruction.
  const Decoded* at(uint64_t address) {
    const auto* const code = reinterpret_cast<const uint8_t*>(address);
    if (instruction.address == address && instruction.length > 0 &&
        __builtin_memcmp(code, bytes_, instruction.length) == 0)
      return this;
    instruction.length = 0;
    Instruction found;
    if (!decode(address, found) || found.length > sizeof bytes_ ||
        !read_shape(code, kMaxInstructionSize, shape))
      return nullptr;
    __builtin_memcpy(bytes_, code, found.length);
    instruction = found;
    return this;
  }

  Instruction instruction;
  Shape shape;

 private:
  uint8_t bytes_[kMaxInstructionSize] = {};
};

// Guarded by: the turn, which the task that is looked at has.
Decoded* decoded_at(uint64_t address) {
  constexpr size_t kKept = 64;
  constinit static Decoded kept[kKept];
  return &kept[(address ^ address >> 6) % kKept];
}

}  // namespace

bool SpinWatch::Words::add(uint64_t address, uint64_t size) {
  for (uint64_t done = 0; done < size;) {
    const auto part = static_cast<uint32_t>(size - done < 8 ? size - done : 8);
    Word word{address + done, 0, part};
    done += part;
    bool is_known = false;
    for (uint32_t i = 0; i < count_ && !is_known; i++)
      is_known = words_[i].address == word.address && words_[i].size >= part;
    if (is_known) continue;
    if (count_ == kMaxWords ||
        trap::from_program(&word.value, static_cast<long>(word.address), part) != 0)
      return false;
    words_[count_++] = word;
  }
  return true;
}

bool SpinWatch::Words::are_same() const {
  for (uint32_t i = 0; i < count_; i++) {
    uint64_t now = 0;
    const Word& word = words_[i];
    if (trap::from_program(&now, static_cast<long>(word.address), word.size) != 0 ||
        now != word.value)
      return false;
  }
  return true;
}

void SpinWatch::restart() {
  constexpr uint32_t kFew = 4;
  const bool is_same_loop = has_yielded_ || is_suspect_;
  has_yielded_ = false;
  if (is_same_loop && is_on_) return;
  is_on_ = false;
  postponed_ = 0;
  next_look_ = is_same_loop && vain_ < kFew ? 0 : kFirstLook << vain_;
}

void SpinWatch::give_up(uint64_t in_row) {
  is_on_ = has_entered_ = is_suspect_ = false;
  moves_ = 0;
  if (vain_ < kMaxVain) vain_++;
  look_later(in_row);
}

void SpinWatch::postpone(uint64_t in_row) {
  if (postponed_ < kMaxPostponed && vain_ + postponed_ < kMaxVain) postponed_++;
  look_later(in_row);
}

void SpinWatch::look_at_entry(uint64_t in_row) {
  if (has_entered_) give_up(in_row);
}

void SpinWatch::start(const Frame& frame) {
  is_on_ = true;
  has_entered_ = moves_on_ = is_to_move_ = false;
  lock_count_ = 0;
  steps_ = 0;
  read_.clear();
  written_.clear();
  keep_state(frame, state_);
  stack_ = hash_stack(frame.rsp);
  vectors_ = trap::hash_vectors_now();
}

void SpinWatch::note_step(const Frame& frame) {
  steps_++;
  const Decoded* const decoded = decoded_at(frame.rip)->at(frame.rip);
  if (!decoded || decoded->instruction.is_syscall) {
    has_entered_ = true;
    return;
  }
  const Instruction& instruction = decoded->instruction;
  Registers registers = registers_of(frame);
  const AccessList list = accesses_of(instruction, registers, sys::fs_base(), 0);
  bool is_known = !list.unknown_read && !list.unknown_write;
  for (size_t i = 0; i < list.count && is_known; i++) {
    const Access& access = list.accesses[i];
    if (access.read) is_known = read_.add(access.address, access.size);
    if (access.written && is_known) is_known = written_.add(access.address, access.size);
  }
  has_entered_ = !is_known || translate::is_quiet_text(
                                  indirect_target(instruction, decoded->shape, list, frame));
}

void SpinWatch::note_event(const Frame& frame, EventKind kind) {
  steps_++;
  const bool is_lock = kind == EventKind::kMutex || kind == EventKind::kRwlock ||
                       kind == EventKind::kSemaphore || kind == EventKind::kCondition;
  // A mutex that it takes it gives back, or holds_lock() knows.
  const bool is_known = frame.site == kUpcall
                            ? is_lock && read_.add(frame.rsi, kObject) &&
                                  (kind == EventKind::kMutex || written_.add(frame.rsi, kObject))
                            : frame.rax == SYS_sched_yield;
  has_entered_ = !is_known;
  is_to_move_ = moves_on_;
  if ((kind != EventKind::kMutex && kind != EventKind::kRwlock) || !is_known) return;
  for (uint32_t i = 0; i < lock_count_; i++)
    if (locks_[i].address == frame.rsi) return;
  if (lock_count_ == kMaxLocks) has_entered_ = true;
  else locks_[lock_count_++] = {frame.rsi, kind};
}

// A lock that others read may be taken for one of this task's: then it is looked at a few times
// more (kMaxMoves).
bool SpinWatch::holds_lock(int32_t me) const {
  constexpr unsigned kWritten = 3, kWritePhase = 1, kReader = 8;  // of __readers, in glibc's words
  const auto is_held = [=](auto& lock, const Lock& held) {
    if (trap::from_program(lock, static_cast<long>(held.address)) != 0) return false;
    if constexpr (requires { lock.__cur_writer; }) {
      if ((lock.__readers & kWritten) == kWritten) return lock.__cur_writer == me;
      return !(lock.__readers & kWritePhase) && lock.__readers >= kReader;
    } else {
      return lock.__lock && lock.__owner == me;
    }
  };
  for (uint32_t i = 0; i < lock_count_; i++) {
    decltype(pthread_mutex_t{}.__data) mutex;
    decltype(pthread_rwlock_t{}.__data) rwlock;
    const bool reads = locks_[i].kind == EventKind::kRwlock;
    if (reads ? is_held(rwlock, locks_[i]) : is_held(mutex, locks_[i])) return true;
  }
  return false;
}

bool SpinWatch::has_come_back(const Frame& frame, uint64_t in_row, int32_t me) {
  if (steps_ == 0) return false;
  if (is_to_move_) {
    start(frame);
    return false;
  }
  uint64_t state[17];
  keep_state(frame, state);
  bool is_same = true;
  for (unsigned i = 0; i < 17; i++) is_same = is_same && state[i] == state_[i];
  if (is_same && moves_ < kMaxMoves && holds_lock(me)) {
    moves_++;
    moves_on_ = true;
    return false;
  }
  if (!is_same) {
    if (steps_ >= kMaxSteps) give_up(in_row);
  } else if (!written_.are_same() || hash_stack(frame.rsp) != stack_ ||
             trap::hash_vectors_now() != vectors_) {
    give_up(in_row);  // it has done something
  } else if (!read_.are_same()) {
    start(frame);  // another has
  } else {
    is_on_ = false;
    vain_ = moves_ = calls_ = 0;
    patience_ = 1;
    waits_ = is_suspect_ = true;
    return true;
  }
  return false;
}

bool SpinWatch::sees_change() const { return !read_.are_same(); }

}  // namespace weir::order::serial
