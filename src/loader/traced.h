// A stopped process that this one traces: its memory, its registers, and system calls that it makes
// for us. Without libc: the command and libweir.so use it.
#pragma once

#include <stdint.h>
#include <sys/user.h>

namespace weir::loader {

class Traced {
 public:
  explicit Traced(int pid) : pid_(pid) {}
  int pid() const { return pid_; }

  // By process_vm_readv or its kin, and word by word where those are refused (a container's
  // filter). False if the memory is not there.
  bool read(uint64_t from, void* to, uint64_t size) const;
  bool write(uint64_t to, const void* from, uint64_t size) const;
  // The string's length without its NUL, or -1 if it is longer than `room` or not there.
  long read_string(uint64_t from, char* to, uint64_t room) const;

  bool get(user_regs_struct* registers) const;
  bool set(const user_regs_struct& registers) const;

  // Lets it run to a place between two instructions of its own: from a stop at the end of an
  // execve, say. False if it is gone. REQUIRES: it is stopped.
  bool stop_between_instructions() const;

  // Where in its memory a system call instruction lies: to be set before call().
  void use_instruction_at(uint64_t address) { instruction_ = address; }
  uint64_t instruction() const { return instruction_; }

  // Makes it do a system call. Its registers are as before afterwards. An execve that succeeds
  // returns 0 at its end (a trace event), and the registers are the new program's. REQUIRES: it is
  // stopped between two instructions, and its signals are blocked (block_signals).
  long call(long number, uint64_t a = 0, uint64_t b = 0, uint64_t c = 0, uint64_t d = 0,
            uint64_t e = 0, uint64_t f = 0) const;

  // Returns the mask as it was, for restore_signals().
  uint64_t block_signals() const;
  void restore_signals(uint64_t mask) const;

 private:
  const int pid_;
  uint64_t instruction_ = 0;
};

}  // namespace weir::loader
