// The rules, by number. A call whose effect others notice releases before it is made, because they
// may notice it before it returns. What it has noticed itself it acquires afterwards, whatever its
// result: a name that is not there any more tells something, too.

#include "check/calls/call_order.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "check/calls/names_of_files.h"
#include "check/core/attach.h"
#include "check/core/check.h"
#include "check/core/descriptors.h"
#include "check/core/happens_before.h"
#include "check/core/hazards.h"
#include "check/core/state.h"
#include "check/core/words.h"
#include "control/control.h"
#include "sys/syscall_x86_64.h"

namespace weir::checking {

namespace {

using happens::acquire;
using happens::kAnyDescriptor;
using happens::kSignals;
using happens::release;

constexpr uint64_t kAnyFutex = (uint64_t{7} << 60) + 4;

uint32_t waits() {
  const Task& task = self();
  return task.order.waits + task.order.kernel_sleeps;
}

// Per process: a write found no room. The next one that is made knows who made it.
bool g_had_no_room = false;

// A futex of the program's own, by syscall(); those of libc's functions are told where these are
// interposed.
bool asks_itself(const Task& task) {
  constexpr uint64_t kLength = 96;
  return happens::library_orders() || !task.frame ||
         !view::checked::is_ignored(task.frame->shown) ||
         task.frame->shown - reinterpret_cast<uint64_t>(&syscall) < kLength;
}

enum class Role : uint8_t {
  kNone,
  kWrites,  // to descriptor 0
  kReads,   // from descriptor 0
  kCloses,
  kChanges,  // descriptor 0, or says what it is like
  kLooks,    // at descriptor 0
  kMoves,    // between two
  kPolls,
  kConnects,
  kAccepts,
  kListens,
  kWaits,     // for a child
  kSends,     // a signal, or has one sent later
  kSetsTime,  // of descriptor 0
  kFutex,
  kLocks,     // a file
  kMessages,  // of System V
  kPath,      // in argument 0
  kPathAt,    // in argument 1, seen from the folder in 0
  kLists,     // a folder
  kRegisters,
  kForks,
  kReplaces,  // descriptor 1
};

Role role_of(long number) {
  switch (number) {
    case SYS_write:
    case SYS_pwrite64:
    case SYS_writev:
    case SYS_pwritev:
    case SYS_pwritev2:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_sendmmsg:
    case SYS_vmsplice:
    case SYS_mq_timedsend: return Role::kWrites;
    case SYS_read:
    case SYS_pread64:
    case SYS_readv:
    case SYS_preadv:
    case SYS_preadv2:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_recvmmsg:
    case SYS_mq_timedreceive: return Role::kReads;
    case SYS_close:
    case SYS_close_range:
    case SYS_shutdown: return Role::kCloses;
    case SYS_ftruncate:
    case SYS_lseek:
    case SYS_fallocate:
    case SYS_ioctl: return Role::kChanges;
    case SYS_fstat: return Role::kLooks;
    case SYS_sendfile:
    case SYS_splice:
    case SYS_tee:
    case SYS_copy_file_range: return Role::kMoves;
    case SYS_poll:
    case SYS_ppoll:
    case SYS_select:
    case SYS_pselect6:
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2: return Role::kPolls;
    case SYS_connect: return Role::kConnects;
    case SYS_accept:
    case SYS_accept4: return Role::kAccepts;
    case SYS_bind:
    case SYS_listen: return Role::kListens;
    case SYS_wait4:
    case SYS_waitid: return Role::kWaits;
    case SYS_kill:
    case SYS_tkill:
    case SYS_tgkill:
    case SYS_rt_sigqueueinfo:
    case SYS_rt_tgsigqueueinfo:
    case SYS_pidfd_send_signal:
    case SYS_setitimer:
    case SYS_alarm:
    case SYS_timer_create:
    case SYS_timer_settime: return Role::kSends;
    case SYS_timerfd_settime: return Role::kSetsTime;
    case SYS_futex: return Role::kFutex;
    case SYS_flock:
    case SYS_fcntl: return Role::kLocks;
    case SYS_semop:
    case SYS_semtimedop:
    case SYS_semctl:
    case SYS_msgsnd:
    case SYS_msgrcv: return Role::kMessages;
    case SYS_open:
    case SYS_creat:
    case SYS_stat:
    case SYS_lstat:
    case SYS_access:
    case SYS_mkdir:
    case SYS_rmdir:
    case SYS_unlink:
    case SYS_readlink:
    case SYS_truncate:
    case SYS_chmod:
    case SYS_utime:
    case SYS_utimes:
    case SYS_mknod:
    case SYS_link:
    case SYS_symlink:
    case SYS_rename: return Role::kPath;
    case SYS_openat:
    case SYS_openat2:
    case SYS_newfstatat:
    case SYS_statx:
    case SYS_faccessat:
    case SYS_faccessat2:
    case SYS_mkdirat:
    case SYS_unlinkat:
    case SYS_readlinkat:
    case SYS_fchmodat:
    case SYS_utimensat:
    case SYS_mknodat:
    case SYS_linkat:
    case SYS_symlinkat:
    case SYS_renameat:
    case SYS_renameat2: return Role::kPathAt;
    case SYS_getdents:
    case SYS_getdents64: return Role::kLists;
    case SYS_epoll_ctl: return Role::kRegisters;
    case SYS_fork:
    case SYS_vfork:
    case SYS_clone:
    case SYS_clone3: return Role::kForks;
    case SYS_dup2:
    case SYS_dup3: return Role::kReplaces;
    default: return Role::kNone;
  }
}

// --- locks of files

struct LockCall {
  bool takes = false, gives = false;
};

LockCall lock_call(const CallArguments& call) {
  if (call.number == SYS_flock) {
    const long what = call.word[1] & ~long{LOCK_NB};
    return {what != LOCK_UN, what != LOCK_EX};
  }
  switch (call.word[1]) {
    case F_SETLK:
    case F_SETLKW:
    case F_OFD_SETLK:
    case F_OFD_SETLKW: {
      short type = F_WRLCK;
      (void)read_program(type, call.word[2]);
      return {type != F_UNLCK, type != F_WRLCK};
    }
    case F_GETLK:
    case F_OFD_GETLK: return {true, false};
    default: return {};
  }
}

uint64_t name_of_locks(long descriptor) { return describe(descriptor).name | kLocks; }

// --- messages and semaphores of System V

uint64_t name_of_messages(const CallArguments& call) {
  const bool is_messages = call.number == SYS_msgsnd || call.number == SYS_msgrcv;
  return kMessagesName | uint64_t{is_messages} << 32 | static_cast<uint32_t>(call.word[0]);
}

// --- futexes

// A futex is told by what it is changed by: libc takes a lock by an instruction where it can, and
// by a call where it cannot.
constexpr uint64_t kFutexSize = 4;
void release_futex(uint64_t word) { happens::release_word(word, kFutexSize, release); }
void acquire_futex(uint64_t word) { happens::acquire_word(word, kFutexSize, acquire); }

void before_futex(const CallArguments& call) {
  if (!asks_itself(self())) return;
  const auto word = static_cast<uint64_t>(call.word[0]),
             other = static_cast<uint64_t>(call.word[4]);
  switch (call.word[1] & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
    case FUTEX_LOCK_PI:
    case FUTEX_WAIT_REQUEUE_PI: return;
    case FUTEX_REQUEUE:
    case FUTEX_CMP_REQUEUE:
    case FUTEX_CMP_REQUEUE_PI:
      __atomic_store_n(&descriptors().requeues, 1u, __ATOMIC_RELEASE);
      break;
    case FUTEX_WAKE_OP: release_futex(other); break;
    default: break;
  }
  release_futex(word);
  if (descriptors().requeues) release(kAnyFutex);
}

void after_futex(const CallArguments& call) {
  if (!asks_itself(self())) return;
  switch (call.word[1] & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
    case FUTEX_LOCK_PI:
    case FUTEX_WAIT_REQUEUE_PI: break;
    default: return;
  }
  acquire_futex(static_cast<uint64_t>(call.word[0]));
  if (descriptors().requeues) acquire(kAnyFutex);
}

// --- descriptors

bool is_stream(long descriptor) {
  const Sort sort = describe(descriptor).sort;
  return sort != Sort::kFile && sort != Sort::kSignals;
}

// The kernel lets who writes wait, and nothing here is told.
bool has_to_wait_unseen(long descriptor) {
  if (describe(descriptor).sort != Sort::kCounter) return false;
  pollfd one{static_cast<int>(descriptor), POLLOUT, 0};
  return is_replayed() || sys::raw(SYS_poll, reinterpret_cast<long>(&one), 1, 0) == 0;
}

bool is_thread(const CallArguments& call) {
  uint64_t flags = call.number == SYS_clone ? static_cast<uint64_t>(call.word[0]) : 0;
  if (call.number == SYS_clone3) (void)read_program(flags, call.word[0]);
  return flags & CLONE_THREAD;
}

// Descriptors that go to another socket's reader have names of their own there.
bool sends_descriptors(const CallArguments& call) {
  msghdr header;
  return call.number == SYS_sendmmsg ||
         (call.number == SYS_sendmsg && read_program(header, call.word[1]) &&
          header.msg_controllen);
}

void release_closed(long descriptor) {
  const uint64_t name = describe(descriptor).name;
  release_end(descriptor);
  release(name | kRoom);
  release(name | kLocks);
}

// What the child does, and that it ends, comes after all that is done here.
void before_fork(const CallArguments& call) {
  if (is_thread(call)) return;
  release(kSignals);
  release(kAnyDescriptor);
}

void before_close(const CallArguments& call) {
  const long last = call.number == SYS_close_range ? call.word[1] : call.word[0];
  for (long i = call.word[0]; i <= last && i < Descriptors::kMost; i++) {
    if (i != call.word[0] && descriptors().table[i].sort == Sort::kUnknown) continue;
    release_closed(i);
  }
  if (call.number == SYS_close) forget_descriptor(call.word[0]);
}

// Bytes came, and they were not the last ones before an end, for which the call may have waited.
Told told_by_read(const CallArguments& call, long result) {
  const bool waits_for_all = (call.number == SYS_recvfrom && call.word[3] & MSG_WAITALL) ||
                             (call.number == SYS_recvmsg && call.word[2] & MSG_WAITALL);
  const bool is_one = call.number != SYS_recvmmsg;
  return result > 0 && is_one && !waits_for_all ? Told::kBytes : Told::kAnything;
}

struct Move {
  long from, to;
};
Move move_of(const CallArguments& call) {
  switch (call.number) {
    case SYS_sendfile: return {call.word[1], call.word[0]};
    case SYS_tee: return {call.word[0], call.word[1]};
    default: return {call.word[0], call.word[2]};
  }
}

void before_move(const CallArguments& call) {
  const Move move = move_of(call);
  if (is_stream(move.from))  // more may come while the call is made
    __atomic_store_n(&descriptors().relays, 1u, __ATOMIC_RELEASE);
  acquire_descriptor(move.from);
  if (is_stream(move.from)) release(describe(move.from).name | kRoom);
  release_descriptor(move.to);
}

void acquire_set(long set, long count, uint32_t events) {
  for (long first = 0; set && first < count; first += 64) {
    uint64_t word;
    if (!read_program(word, set + first / 8)) return;
    for (; word; word &= word - 1) {
      const long descriptor = first + __builtin_ctzll(word);
      if (descriptor < count) acquire_ready(descriptor, events);
    }
  }
}

void after_poll(const CallArguments& call, long result) {
  if (result <= 0) return;
  const long* word = call.word;
  switch (call.number) {
    case SYS_poll:
    case SYS_ppoll:
      for (long i = 0; i < word[1]; i++) {
        pollfd one;
        if (!read_program(one, word[0] + i * static_cast<long>(sizeof one))) return;
        if (one.fd >= 0 && one.revents) acquire_ready(one.fd, static_cast<uint16_t>(one.revents));
      }
      return;
    case SYS_select:
    case SYS_pselect6:
      acquire_set(word[1], word[0], POLLIN);
      acquire_set(word[2], word[0], POLLOUT);
      acquire_set(word[2], word[0], POLLHUP);  // an error, too, makes it ready
      acquire_set(word[3], word[0], POLLPRI);
      return;
    default:
      for (long i = 0; i < result; i++) {
        epoll_event event;
        if (!read_program(event, word[1] + i * static_cast<long>(sizeof event))) return;
        acquire_event(word[0], event.data.u64, event.events);
      }
  }
}

void before(const CallArguments& call) {
  const long first = call.word[0];
  switch (role_of(call.number)) {
    case Role::kWrites:
      if (sends_descriptors(call)) __atomic_store_n(&descriptors().relays, 1u, __ATOMIC_RELEASE);
      release_descriptor(first);
      if (has_to_wait_unseen(first)) g_had_no_room = true;
      if (call.number == SYS_mq_timedsend) release(kSignals);
      return;
    case Role::kReads:
      if (is_stream(first)) release(describe(first).name | kRoom);
      return;
    case Role::kCloses: return before_close(call);
    case Role::kSetsTime:
    case Role::kChanges: return release_descriptor(first);
    case Role::kMoves: return before_move(call);
    case Role::kConnects: release(kConnections); return release(kAnyDescriptor);
    case Role::kAccepts:
    case Role::kListens: return release(kListeners);
    case Role::kSends: release(kSignals); return release(kAnyDescriptor);  // a child may end by it
    case Role::kFutex: return before_futex(call);
    case Role::kLocks:
      if (lock_call(call).gives) release(name_of_locks(first));
      return;
    case Role::kMessages: return release(name_of_messages(call));
    case Role::kPath:
    case Role::kPathAt: return release_names(call, role_of(call.number) == Role::kPathAt);
    case Role::kForks: return before_fork(call);
    case Role::kReplaces:
      if (first != call.word[1]) release_closed(call.word[1]);
      return;
    case Role::kRegisters: return release(kRegistered | static_cast<uint32_t>(call.word[2]));
    default: return;
  }
}

}  // namespace

CallOrder::CallOrder(const CallArguments& call, bool is_on) : call_(call), is_on_(is_on) {
  if (role_of(call.number) == Role::kForks && !is_thread(call))
    __atomic_fetch_add(&descriptors().forks, 1u, __ATOMIC_RELEASE);
  if (call.number == SYS_epoll_ctl) note_registration(call.word);
  if (is_on) {
    waits_ = waits();
    if (happens::library_orders()) acquire(happens::kWork);
    hazards::before_descriptors(call.number, call.word);
    hazards::before_send(call.number, call.word);
    if (call.number == SYS_munmap) {  // before it: another task may be given the place at once
      const auto start = static_cast<uint64_t>(call.word[0]);
      hazards::forget(start, page_up(static_cast<uint64_t>(call.word[1])));
    }
    before(call);
  } else if (call.number == SYS_close) {
    forget_descriptor(call.word[0]);
  }
}

void CallOrder::end(long result) {
  note_made(call_.number, call_.word, result);
  if (!is_on_) return;
  const long first = call_.word[0];
  hazards::after_descriptors(call_.number, call_.word, result);
  view::checked::note_name(call_.number, first, call_.word[1], result);
  switch (role_of(call_.number)) {
    case Role::kWrites: {
      if (result == -EPIPE || result == -ECONNRESET) acquire_descriptor(first);
      const bool waited = waits() != waits_ || g_had_no_room;
      if (waited && result > 0) acquire(describe(first).name | kRoom);
      g_had_no_room = result == -EAGAIN;
      break;
    }
    case Role::kChanges:
    case Role::kLooks: acquire_descriptor(first); break;
    case Role::kReads: acquire_descriptor(first, told_by_read(call_, result)); break;
    case Role::kMoves:
      acquire_descriptor(move_of(call_).from);
      acquire(describe(move_of(call_).to).name | kRoom);
      break;
    case Role::kPolls: after_poll(call_, result); break;
    case Role::kConnects: acquire(kListeners); break;
    case Role::kAccepts: acquire(kConnections); break;
    case Role::kWaits:
      acquire_any_descriptor();
      acquire(kSignals);
      break;
    case Role::kFutex: after_futex(call_); break;
    case Role::kLocks:
      if (result == 0 && lock_call(call_).takes) acquire(name_of_locks(first));
      break;
    case Role::kMessages: acquire(name_of_messages(call_)); break;
    case Role::kPath:
    case Role::kPathAt: acquire_names(call_, role_of(call_.number) == Role::kPathAt, result); break;
    case Role::kLists: acquire(kFolders); break;
    default: break;
  }
  if (happens::library_orders()) release(happens::kHelpers);
  if (result == -EINTR || call_.number == SYS_rt_sigtimedwait || call_.number == SYS_rt_sigsuspend)
    acquire(kSignals);
}

}  // namespace weir::checking
