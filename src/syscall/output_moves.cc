// Recorded, what reaches the user's output must be known, and a call that moves bytes inside the
// kernel does not tell them: sendfile, splice, tee, copy_file_range to an output become reads and
// writes by way of the runtime's memory. The kernel still says what is wrong with the call.
// vmsplice, whose bytes the program could change later, becomes writev or readv, wherever it goes,
// and not only in a recording.

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "control/control.h"
#include "control/process.h"
#include "memory/program_memory.h"
#include "record/input.h"
#include "sync/event.h"
#include "syscall/transfer.h"

namespace weir::syscalls {

namespace {

constexpr long kPiece = 16 << 10;  // on the runtime's stack
constexpr long kDoesNotWait = 2;   // SPLICE_F_NONBLOCK

struct Move {
  // Offsets: where they are in program memory, 0 the descriptor's own.
  long in, in_offset, out, out_offset, length;
};

Move move_of(const Call& call) {
  switch (call.number) {
    case SYS_sendfile: return {call.b, call.c, call.a, 0, call.d};
    case SYS_tee: return {call.a, 0, call.b, 0, call.c};
    default: return {call.a, call.b, call.c, call.d, call.e};  // splice, copy_file_range
  }
}

// One call of those that this one becomes, as if the program had made it.
long part(Call& call, long number, long a, long b = 0, long c = 0, long d = 0) {
  Call one{call.frame, number, a, b, c, d, 0, 0};
  long result;
  do {
    one.again = false;
    result = make_simple(one);
  } while (result == -EINTR && number == SYS_write);  // what has been read is not lost
  call.again = one.again;
  return result;
}

// All of it, as far as there is room at all. What has been written, or an error.
long write_out(Call& call, const Move& move, char* bytes, long size, int64_t& out_offset) {
  long done = 0;
  while (done < size) {
    const long at = reinterpret_cast<long>(bytes + done);
    const long written = move.out_offset
                             ? part(call, SYS_pwrite64, move.out, at, size - done, out_offset)
                             : part(call, SYS_write, move.out, at, size - done);
    if (written <= 0) return done ? done : written;
    done += written;
    out_offset += written;
  }
  return done;
}

// As write_out, but waits where there is no room: the bytes are in no other place any more.
long write_whole(Call& call, const Move& move, char* bytes, long size, int64_t& out_offset) {
  for (long done = 0;;) {
    const long written = write_out(call, move, bytes + done, size - done, out_offset);
    if (written < 0 && written != -EAGAIN) return written;
    if (written > 0) done += written;
    if (done == size) return done;
    pollfd poll{static_cast<int>(move.out), POLLOUT, 0};
    part(call, SYS_poll, reinterpret_cast<long>(&poll), 1, -1);
  }
}

bool is_pipe(Call& call, long descriptor) {
  return part(call, SYS_fcntl, descriptor, F_GETPIPE_SZ) > 0;
}

// 0 where the kernel would begin.
long refusal(Call& call, const Move& move) {
  switch (call.number) {
    case SYS_sendfile:
    case SYS_copy_file_range: {  // of no bytes it says it, too
      Call none = call;
      (call.number == SYS_sendfile ? none.d : none.e) = 0;
      const long wrong = call_kernel(none);
      if (wrong < 0) return wrong;
      return part(call, SYS_lseek, move.in, 0, SEEK_CUR) < 0 ? -EINVAL : 0;
    }
    case SYS_tee: return is_pipe(call, move.in) && is_pipe(call, move.out) ? 0 : -EINVAL;
    default: {
      const bool from_pipe = is_pipe(call, move.in), to_pipe = is_pipe(call, move.out);
      if ((from_pipe && move.in_offset) || (to_pipe && move.out_offset)) return -ESPIPE;
      if (!from_pipe && !to_pipe) return -EINVAL;
      const long flags = part(call, SYS_fcntl, move.out, F_GETFL);
      return flags < 0 ? flags : !to_pipe && (flags & O_APPEND) ? -EINVAL : 0;
    }
  }
}

// From a file, which can be read once more.
long move_from_file(Call& call, const Move& move, int64_t& in_offset, int64_t& out_offset) {
  char bytes[kPiece];
  long done = 0;
  while (done < move.length) {
    const long left = move.length - done;
    const long got = part(call, SYS_pread64, move.in, reinterpret_cast<long>(bytes),
                          left < kPiece ? left : kPiece, in_offset);
    if (got <= 0) return done ? done : got;
    const long written = write_out(call, move, bytes, got, out_offset);
    if (written <= 0) return done ? done : written;
    done += written;
    in_offset += written;
    if (written < got) break;
  }
  return done;
}

long move_from_stream(Call& call, const Move& move, int64_t& out_offset) {
  char bytes[kPiece];
  if ((call.f & kDoesNotWait) && would_sleep(move.in, POLLIN)) return -EAGAIN;
  const long got = part(call, SYS_read, move.in, reinterpret_cast<long>(bytes),
                        move.length < kPiece ? move.length : kPiece);
  return got <= 0 ? got : write_whole(call, move, bytes, got, out_offset);
}

long move_copy(Call& call, const Move& move) {
  int ends[2];
  char bytes[kPiece];
  int64_t none = 0;
  pollfd poll{static_cast<int>(move.in), POLLIN, 0};  // tee itself would wait in the turn
  long result =
      call.d & kDoesNotWait ? 0 : part(call, SYS_poll, reinterpret_cast<long>(&poll), 1, -1);
  if (result < 0) return result;
  result = part(call, SYS_pipe2, reinterpret_cast<long>(ends), O_CLOEXEC);
  if (result < 0) return result;
  result =
      part(call, SYS_tee, move.in, ends[1], move.length < kPiece ? move.length : kPiece, call.d);
  const bool again = call.again;
  if (result > 0) {
    const long got = part(call, SYS_read, ends[0], reinterpret_cast<long>(bytes), result);
    result = got <= 0 ? got : write_whole(call, move, bytes, got, none);
  }
  part(call, SYS_close, ends[0]);
  part(call, SYS_close, ends[1]);
  call.again = again;
  return result;
}

// vmsplice. Where it must not wait, what there is room for at least is written, of one part.
long move_memory(Call& call) {
  if (!is_pipe(call, call.a)) return -EBADF;
  const bool reads = (part(call, SYS_fcntl, call.a, F_GETFL) & O_ACCMODE) == O_RDONLY;
  const long whole = reads ? SYS_readv : SYS_writev;
  if (!(call.d & kDoesNotWait) || call.c <= 0) return part(call, whole, call.a, call.b, call.c);
  if (would_sleep(call.a, reads ? POLLIN : POLLOUT)) return -EAGAIN;
  if (reads) return part(call, whole, call.a, call.b, call.c);
  iovec first;
  if (trap::from_program(first, call.b) != 0) return -EFAULT;
  return part(call, SYS_write, call.a, reinterpret_cast<long>(first.iov_base),
              static_cast<long>(first.iov_len < kWhole ? first.iov_len : kWhole));
}

// The offset is in program memory, where there is one.
long load_offset(long at, int64_t& offset) { return at ? trap::from_program(offset, at) : 0; }

long store_offset(long at, int64_t offset) {
  if (!at) return 0;
  const TurnScope turn(EventKind::kSyscall);
  note_written();
  return trap::to_program(at, offset);
}

}  // namespace

bool goes_through_memory(const Call& call) {
  switch (call.number) {
    case SYS_vmsplice: return input::is_on() || g_tasks_active;
    case SYS_sendfile:
    case SYS_splice:
    case SYS_tee:
    case SYS_copy_file_range: return input::is_visible(move_of(call).out);
    default: return false;
  }
}

long move_through_memory(Call& call) {
  if (call.number == SYS_vmsplice) return move_memory(call);
  const Move move = move_of(call);
  if (const long wrong = refusal(call, move)) return wrong;
  if (move.length == 0) return 0;
  if (call.number == SYS_tee) return move_copy(call, move);
  int64_t in_offset = 0, out_offset = 0;
  if (load_offset(move.in_offset, in_offset) != 0 || load_offset(move.out_offset, out_offset) != 0)
    return -EFAULT;
  const long position = move.in_offset ? in_offset : part(call, SYS_lseek, move.in, 0, SEEK_CUR);
  const bool is_file = position >= 0;
  if (is_file) in_offset = position;
  const long result = is_file ? move_from_file(call, move, in_offset, out_offset)
                              : move_from_stream(call, move, out_offset);
  if (result <= 0) return result;
  if (is_file && !move.in_offset) part(call, SYS_lseek, move.in, in_offset, SEEK_SET);
  call.again = false;  // something has been moved
  const bool wrong = store_offset(is_file ? move.in_offset : 0, in_offset) != 0 ||
                     store_offset(move.out_offset, out_offset) != 0;
  return wrong ? -EFAULT : result;
}

}  // namespace weir::syscalls
