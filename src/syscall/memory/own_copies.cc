// process_vm_readv and process_vm_writev of the program itself. The kernel would read and write in
// one process, where the task's own changes may be missing and what the program has given back is
// still there; so it is done here, like a copy that the program makes.
#include <errno.h>
#include <limits.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "control/control.h"
#include "control/process.h"
#include "memory/program_memory.h"
#include "record/input.h"
#include "record/shared_memory.h"
#include "sys/syscall_x86_64.h"
#include "syscall/syscall.h"
#include "task/spawn.h"
#include "view/view.h"

namespace weir::syscalls {

namespace {

bool is_own(long id) {
  if (!has_monitor())
    return input::log_value(input::What::kFlags, [=] { return id == sys::raw(SYS_getpid); });
  return id == shared().program.shown_pid || tasks::find_by_virtual_tid(static_cast<int>(id));
}

// Walks through a list of buffers, a page at most at a time.
class Pieces {
 public:
  Pieces(long vector, long count) : vector_(vector), count_(count) {}

  // The next piece, of at most `most` bytes and on one page; of none where the list is over.
  long next(uint64_t most, iovec& piece) {
    while (!left_.iov_len) {
      if (!count_) return piece.iov_len = 0, 0;
      if (const long wrong = trap::from_program(left_, vector_)) return wrong;
      vector_ += static_cast<long>(sizeof left_);
      count_--;
    }
    const auto at = reinterpret_cast<uint64_t>(left_.iov_base);
    const uint64_t on_page = page_down(at) + kPageSize - at;
    piece = left_;
    if (piece.iov_len > on_page) piece.iov_len = on_page;
    if (piece.iov_len > most) piece.iov_len = most;
    return 0;
  }
  void advance(uint64_t size) {
    left_.iov_base = static_cast<char*>(left_.iov_base) + size;
    left_.iov_len -= size;
  }

 private:
  long vector_, count_;
  iovec left_{};
};

void touch(const iovec& piece, bool writes) {
  const auto at = reinterpret_cast<uint64_t>(piece.iov_base);
  if (plan().gives_pages() && g_tasks_active) view::current().touch(at, piece.iov_len, writes);
  if (shared_memory::g_active) shared_memory::touch(self(), at, piece.iov_len, !writes);
}

}  // namespace

bool copies_own(const Call& call) {
  if (call.number != SYS_process_vm_readv && call.number != SYS_process_vm_writev) return false;
  if (!input::is_on() && !has_monitor()) return false;
  return !self().identity.in_vfork && is_own(call.a);
}

long copy_own(const Call& call) {
  if (call.f) return -EINVAL;
  if (call.c < 0 || call.c > IOV_MAX || call.e < 0 || call.e > IOV_MAX) return -EINVAL;
  const bool reads = call.number == SYS_process_vm_readv;
  Pieces local(call.b, call.c), remote(call.d, call.e);
  Pieces &from = reads ? remote : local, &to = reads ? local : remote;
  long done = 0;
  for (;;) {
    iovec source{}, target{};
    uint8_t bytes[kPageSize];
    long wrong = from.next(kPageSize, source);
    if (!wrong && source.iov_len) wrong = to.next(source.iov_len, target);
    if (!wrong && (!source.iov_len || !target.iov_len)) return done;
    if (!wrong) {
      source.iov_len = target.iov_len;
      touch(source, false);
      wrong = trap::from_program(bytes, reinterpret_cast<long>(source.iov_base), source.iov_len);
    }
    if (!wrong) {
      touch(target, true);
      wrong = trap::to_program(reinterpret_cast<long>(target.iov_base), bytes, target.iov_len);
    }
    if (wrong) return done ? done : wrong;
    from.advance(source.iov_len);
    to.advance(source.iov_len);
    done += static_cast<long>(source.iov_len);
  }
}

}  // namespace weir::syscalls
