// The one door to the kernel: raw system calls, answered with the kernel's own convention (negative
// errno).
#pragma once

#include <stdint.h>
#include <sys/syscall.h>

namespace weir::sys {

// Result of a system call: >= 0, or -errno. Signal-safe: touches no memory of libc.
inline long raw(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                long f = 0) {
  long result;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

inline bool failed(long result) { return result < 0 && result > -4096; }

// The kernel lets programs read it by an instruction (HWCAP2_FSGSBASE of AT_HWCAP2).
inline bool g_reads_fs_base = false;

// Also at any instruction of the program, where the runtime may touch nothing.
inline uint64_t fs_base_untouched() {
  constexpr long kGetFs = 0x1003;
  uint64_t base = 0;
  if (g_reads_fs_base) {
    asm volatile("rdfsbase %0" : "=r"(base));
    return base;
  }
  raw(SYS_arch_prctl, kGetFs, reinterpret_cast<long>(&base));
  return base;
}

// A thread's block is one of the glibc that Weir has learned of (sys/libc.h).
inline bool g_has_glibc_thread = true;

// Reads memory of the program's: an access like its own (view/coherent/coherent.h).
inline uint64_t fs_base() {
  if (!g_has_glibc_thread) return fs_base_untouched();
  uint64_t base;
  asm("mov %%fs:0x10,%0" : "=r"(base));  // glibc keeps a pointer to its thread block there
  return base;
}

// In one instruction, so that no signal comes in between. Not for words that several processors
// change.
inline void add_at_once(int64_t& value, int64_t more) {
  asm volatile("addq %1,%0" : "+m"(value) : "r"(more) : "cc");
}

// XCR0: which parts of the processor's state XSAVE stores. REQUIRES: the processor has it, and the
// kernel uses it.
inline uint32_t extended_state() {
  uint32_t low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

inline void cpu_relax() { asm volatile("pause" ::: "memory"); }

inline constexpr uint64_t kCyclesPerNs = 3;  // about: where a guess will do
inline uint64_t cycles() {
  uint32_t low, high;
  asm volatile("rdtsc" : "=a"(low), "=d"(high));
  return uint64_t{high} << 32 | low;
}

}  // namespace weir::sys
