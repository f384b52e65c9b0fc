// Protection keys: a page carries a key of 0 to 15, and a register of each thread's (PKRU) says
// which keys it may read and write.
//
// Layout of PKRU: of key k, bit 2k closes it, bit 2k + 1 closes it for writing. Linux opens key 0
// alone where a signal handler begins, and loads what the handler's frame says when it returns; a
// new thread has what its maker had. The kernel's own accesses for a thread obey its PKRU, too.
#pragma once

#include <stdint.h>
#include <ucontext.h>

#include "sys/cpuid_x86_64.h"
#include "sys/syscall_x86_64.h"

namespace weir::sys {

inline constexpr uint32_t kProtectionKeys = 16;
inline constexpr uint32_t kAllKeysOpen = 0;

// REQUIRES: the processor has protection keys, and the kernel uses them.
inline uint32_t read_key_rights() {
  uint32_t rights;
  asm volatile(".byte 0x0f,0x01,0xee" : "=a"(rights) : "c"(0) : "rdx");  // rdpkru
  return rights;
}
inline void write_key_rights(uint32_t rights) {
  asm volatile(".byte 0x0f,0x01,0xef" ::"a"(rights), "c"(0), "d"(0)
               : "memory");  // wrpkru: no access moves over it
}

// A key that nobody uses yet, or -errno.
inline long take_key() { return raw(SYS_pkey_alloc, 0, 0); }
// 0 or -errno.
inline long tag_pages(uint64_t start, uint64_t size, int protection, uint32_t key) {
  return raw(SYS_pkey_mprotect, static_cast<long>(start), static_cast<long>(size), protection, key);
}

// The rights of what a signal interrupted, in its frame: the processor's state as XSAVE lays it
// out. REQUIRES: the same.
class KeyRightsInFrame {
 public:
  explicit KeyRightsInFrame(const ucontext_t& context)
      : state_(reinterpret_cast<uint64_t>(context.uc_mcontext.fpregs)) {}
  uint32_t get() const { return components() & kComponent ? *word() : 0; }
  void set(uint32_t rights) {
    components() |= kComponent;  // else it would be loaded as 0, whatever the word says
    *word() = rights;
  }

 private:
  static constexpr uint64_t kHeader = 512, kComponent = 1 << 9;
  static uint32_t place() {
    static uint32_t known = 0;  // of the processor's, the same for all
    if (known) return known;
    known = cpuid(0xd, 9).b;
    return known;
  }
  uint64_t& components() const { return *reinterpret_cast<uint64_t*>(state_ + kHeader); }
  uint32_t* word() const { return reinterpret_cast<uint32_t*>(state_ + place()); }

  uint64_t state_;
};

}  // namespace weir::sys
