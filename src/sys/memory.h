// Memory that the runtime takes for itself, and the protection of mapped ranges. Addresses and
// sizes are page multiples, but where memory is read that may not be readable.
#pragma once

#include <stdint.h>
#include <sys/mman.h>

#include "sys/syscall_x86_64.h"

namespace weir::sys {

// The address of the runtime's next private mapping: in a range of its own, so that no View takes
// it for the program's memory.
inline uint64_t g_private_memory = 0x310000000000;

// New zeroed memory, private to this process and inherited by its children as a copy; reserved
// without being charged. `flags` are added (MAP_FIXED_NOREPLACE with an address, MAP_POPULATE,
// ...). The address, or -errno.
inline long map_anonymous(uint64_t size, int protection = PROT_READ | PROT_WRITE,
                          uint64_t address = 0, int flags = 0) {
  if (!address) {
    address = g_private_memory;
    flags |= MAP_FIXED_NOREPLACE;
    g_private_memory += (size + 0xfff) & ~uint64_t{0xfff};
  }
  return raw(SYS_mmap, static_cast<long>(address), static_cast<long>(size), protection,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
}

// 0 or -errno.
inline long protect(uint64_t address, uint64_t size, int protection) {
  return raw(SYS_mprotect, static_cast<long>(address), static_cast<long>(size), protection);
}

// All of it will be written: one call of the kernel instead of a fault a page. A hint. Keeps what
// is there.
inline void expect_writes(uint64_t address, uint64_t size) {
  constexpr long kPopulateWrite = 23;  // MADV_POPULATE_WRITE, since Linux 5.14
  raw(SYS_madvise, static_cast<long>(address), static_cast<long>((size + 0xfff) & ~uint64_t{0xfff}),
      kPopulateWrite);
}

inline long unmap(uint64_t address, uint64_t size) {
  return raw(SYS_munmap, static_cast<long>(address), static_cast<long>(size));
}

// Whether all of these pages can be read. Also false if the kernel does not know that question
// (before Linux 5.14).
inline bool is_readable(uint64_t start, uint64_t size) {
  constexpr long kPopulateRead = 22;  // MADV_POPULATE_READ
  return raw(SYS_madvise, static_cast<long>(start), static_cast<long>(size), kPopulateRead) == 0;
}

// Copies `size` bytes, or as many as can be read from `address` on, through the kernel: nothing
// faults. Their number, or -errno.
inline long read_safely(void* to, uint64_t address, uint64_t size) {
  struct {
    void* base;
    uint64_t size;
  } local{to, size}, remote{reinterpret_cast<void*>(address), size};
  return raw(SYS_process_vm_readv, raw(SYS_getpid), reinterpret_cast<long>(&local), 1,
             reinterpret_cast<long>(&remote), 1, 0);
}

}  // namespace weir::sys
