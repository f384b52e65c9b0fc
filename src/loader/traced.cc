#include "loader/traced.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "base/bytes.h"
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

// Copies `size` bytes by process_vm_readv or process_vm_writev.
bool copy_at_once(long call, int pid, iovec here, iovec there) {
  return sys::raw(call, pid, reinterpret_cast<long>(&here), 1, reinterpret_cast<long>(&there), 1,
                  0) == static_cast<long>(here.iov_len);
}

// Calls act(address, the word there, first byte of it in the range, number of these, where they
// are in the range) for each word of the range. False if one cannot be read or act is false.
template <typename Act>
bool each_word(int pid, uint64_t start, uint64_t size, Act act) {
  for (uint64_t at = start & ~(kWord - 1); at < start + size; at += kWord) {
    uint8_t word[kWord];
    if (sys::failed(trace(PTRACE_PEEKDATA, pid, at, word))) return false;
    const uint64_t first = at < start ? start - at : 0, rest = start + size - at;
    const uint64_t limit = rest < kWord ? rest : kWord;
    if (!act(at, word, first, limit - first, at + first - start)) return false;
  }
  return true;
}

}  // namespace

bool Traced::read(uint64_t from, void* to, uint64_t size) const {
  if (copy_at_once(SYS_process_vm_readv, pid_, {to, size}, {reinterpret_cast<void*>(from), size}))
    return true;
  return each_word(pid_, from, size,
                   [&](uint64_t, const uint8_t* word, uint64_t first, uint64_t count, uint64_t at) {
                     copy_bytes(static_cast<uint8_t*>(to) + at, word + first, count);
                     return true;
                   });
}

bool Traced::write(uint64_t to, const void* from, uint64_t size) const {
  if (copy_at_once(SYS_process_vm_writev, pid_, {const_cast<void*>(from), size},
                   {reinterpret_cast<void*>(to), size}))
    return true;
  return each_word(
      pid_, to, size,
      [&](uint64_t address, uint8_t* bytes, uint64_t first, uint64_t count, uint64_t at) {
        uint64_t word;
        copy_bytes(bytes + first, static_cast<const uint8_t*>(from) + at, count);
        copy_bytes(&word, bytes, sizeof word);
        return !sys::failed(trace(PTRACE_POKEDATA, pid_, address, reinterpret_cast<void*>(word)));
      });
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

long Traced::call(long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
                  uint64_t f) const {
  user_regs_struct saved, after;
  if (!get(&saved)) return -ESRCH;
  user_regs_struct call = saved;
  call.orig_rax = ~0ull;  // not to be taken for an interrupted call
  call.rax = static_cast<unsigned long long>(number);
  call.rdi = a, call.rsi = b, call.rdx = c, call.r10 = d, call.r8 = e, call.r9 = f;
  call.rip = instruction_;
  if (!set(call)) return -ESRCH;
  for (;;) {  // a stop by SIGSTOP comes between: it is the process's again when this is done
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
