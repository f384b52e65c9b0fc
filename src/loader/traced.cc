#include "loader/traced.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "sys/syscall_x86_64.h"

namespace weir::loader {

namespace {

constexpr uint64_t kWord = 8;

long trace(int request, int pid, uint64_t address, const void* data) {
  return sys::raw(SYS_ptrace, request, pid, static_cast<long>(address),
                  reinterpret_cast<long>(data));
}

// Its next stop, as wait4 has it; -1: it is gone.
int next_stop(int pid) {
  int status = 0;
  long stopped;
  do stopped = sys::raw(SYS_wait4, pid, reinterpret_cast<long>(&status), __WALL);
  while (stopped == -EINTR);
  return stopped == pid && WIFSTOPPED(status) ? status : -1;
}

}  // namespace

bool Traced::read(uint64_t from, void* to, uint64_t size) const {
  iovec here{to, size}, there{reinterpret_cast<void*>(from), size};
  if (sys::raw(SYS_process_vm_readv, pid_, reinterpret_cast<long>(&here), 1,
               reinterpret_cast<long>(&there), 1, 0) == static_cast<long>(size))
    return true;
  for (uint64_t at = from & ~(kWord - 1); at < from + size; at += kWord) {
    uint8_t word[kWord];
    if (sys::failed(trace(PTRACE_PEEKDATA, pid_, at, word))) return false;
    for (uint64_t i = 0; i < kWord; i++) {
      if (at + i >= from && at + i < from + size)
        static_cast<uint8_t*>(to)[at + i - from] = word[i];
    }
  }
  return true;
}

bool Traced::write(uint64_t to, const void* from, uint64_t size) const {
  iovec here{const_cast<void*>(from), size}, there{reinterpret_cast<void*>(to), size};
  if (sys::raw(SYS_process_vm_writev, pid_, reinterpret_cast<long>(&here), 1,
               reinterpret_cast<long>(&there), 1, 0) == static_cast<long>(size))
    return true;
  for (uint64_t at = to & ~(kWord - 1); at < to + size; at += kWord) {
    uint8_t bytes[kWord];
    if (sys::failed(trace(PTRACE_PEEKDATA, pid_, at, bytes))) return false;
    for (uint64_t i = 0; i < kWord; i++) {
      if (at + i >= to && at + i < to + size)
        bytes[i] = static_cast<const uint8_t*>(from)[at + i - to];
    }
    uint64_t word;
    __builtin_memcpy(&word, bytes, sizeof word);
    if (sys::failed(trace(PTRACE_POKEDATA, pid_, at, reinterpret_cast<void*>(word)))) return false;
  }
  return true;
}

long Traced::read_string(uint64_t from, char* to, uint64_t room) const {
  constexpr uint64_t kPage = 4096;
  uint64_t length = 0;
  while (length < room) {
    uint64_t piece = kPage - ((from + length) & (kPage - 1));  // what is behind may not be there
    if (piece > room - length) piece = room - length;
    if (!read(from + length, to + length, piece)) return -1;
    for (uint64_t i = 0; i < piece; i++) {
      if (to[length + i] == 0) return static_cast<long>(length + i);
    }
    length += piece;
  }
  return -1;
}

bool Traced::get(user_regs_struct* registers) const {
  return !sys::failed(trace(PTRACE_GETREGS, pid_, 0, registers));
}

bool Traced::set(const user_regs_struct& registers) const {
  return !sys::failed(trace(PTRACE_SETREGS, pid_, 0, &registers));
}

bool Traced::stop_between_instructions() const {
  trace(PTRACE_INTERRUPT, pid_, 0, nullptr);
  long signal = 0;
  for (;;) {
    if (sys::failed(trace(PTRACE_CONT, pid_, 0, reinterpret_cast<void*>(signal)))) return false;
    const int status = next_stop(pid_);
    if (status < 0) return false;
    if (status >> 16 == PTRACE_EVENT_STOP) return true;
    signal = status >> 16 == 0 ? WSTOPSIG(status) : 0;
  }
}

bool Traced::begin_call(user_regs_struct* saved, long number, uint64_t a, uint64_t b, uint64_t c,
                        uint64_t d, uint64_t e, uint64_t f) const {
  if (!get(saved)) return false;
  user_regs_struct call = *saved;
  call.orig_rax = ~0ull;  // not to be taken for an interrupted call
  call.rax = static_cast<unsigned long long>(number);
  call.rdi = a, call.rsi = b, call.rdx = c, call.r10 = d, call.r8 = e, call.r9 = f;
  call.rip = instruction_;
  return set(call);
}

long Traced::call(long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
                  uint64_t f) const {
  user_regs_struct saved, after;
  if (!begin_call(&saved, number, a, b, c, d, e, f)) return -ESRCH;
  for (;;) {  // a stop by SIGSTOP comes between: it is the process's again when this is done
    if (sys::failed(trace(PTRACE_SINGLESTEP, pid_, 0, nullptr))) return -ESRCH;
    const int status = next_stop(pid_);
    if (status < 0) return -ESRCH;
    if (status >> 8 == SIGTRAP) break;
    if (status >> 8 == SIGSEGV || status >> 8 == SIGILL) return set(saved), -EFAULT;
  }
  if (!get(&after) || !set(saved)) return -ESRCH;
  return static_cast<long>(after.rax);
}

long Traced::call_execve(uint64_t path, uint64_t arguments, uint64_t variables) const {
  user_regs_struct saved, after;
  if (!begin_call(&saved, SYS_execve, path, arguments, variables, 0, 0, 0)) return -ESRCH;
  for (;;) {
    if (sys::failed(trace(PTRACE_SINGLESTEP, pid_, 0, nullptr))) return -ESRCH;
    const int status = next_stop(pid_);
    if (status < 0) return -ESRCH;
    if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8)) return 0;
    if (status >> 8 == SIGTRAP) break;
    if (status >> 8 == SIGSEGV || status >> 8 == SIGILL) return set(saved), -EFAULT;
  }
  if (!get(&after) || !set(saved)) return -ESRCH;
  return static_cast<long>(after.rax);
}

uint64_t Traced::block_signals() const {
  uint64_t was = 0;
  const uint64_t all = ~uint64_t{0};
  trace(PTRACE_GETSIGMASK, pid_, sizeof was, &was);
  trace(PTRACE_SETSIGMASK, pid_, sizeof all, &all);
  return was;
}

void Traced::restore_signals(uint64_t mask) const {
  trace(PTRACE_SETSIGMASK, pid_, sizeof mask, &mask);
}

}  // namespace weir::loader
