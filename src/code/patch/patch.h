// Patching: the instructions that Weir must see, in the text of the program and its libraries, are
// made to enter the runtime at weir_site_entry.
//
// 1. A site becomes a jump to a stub near the text; where no jump fits, an int3 that
//    find_trap_site() knows.
// 2. In the stub of a syscall site, a number whose byte in g_syscall_handled is 0 goes to the
//    kernel at once; else, and at every other site, the runtime is entered: program rsp at
//    %gs:0x10, rsp = %gs:0x18, the site's index pushed. rcx, r11 and flags are undefined there at a
//    syscall site; everything else is the program's, also the upper half of rax, which the kernel
//    does not look at.
// 3. The runtime goes on at Site::resume with the instruction's results in the registers.
// 4. At a trap site of kind kSyscall, the runtime makes also the calls that are not handled.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/types.h"
#include "code/patch/text_file.h"
#include "code/sites/site_table.h"

namespace weir {

inline constexpr unsigned kSyscallNumbers = 512;
// By system call number: 1 enters the runtime. Private to the process.
extern uint8_t g_syscall_handled[kSyscallNumbers] __attribute__((visibility("hidden")));
// All of them enter the runtime: as in a process that is not the task's own.
inline void handle_all_calls() {
  for (uint8_t& handled : g_syscall_handled) handled = 1;
}

struct PatchStats {
  uint32_t jumps[kSiteKinds] = {};
  uint32_t traps[kSiteKinds] = {};
  // Locked instructions that cannot be executed for the program (relative to gs)
  uint32_t refused = 0;
  uint32_t distrusted = 0;  // looked like sites in bytes that may be data: left alone
  uint64_t text_bytes = 0;

  void add(const PatchStats& other);
};

// Patches the executable segment `text` of the ELF image mapped at `object` (an empty range: there
// is no image, only the text). What this process has patched before, or the one that it was forked
// from, stays as it is. So the call may be repeated, also with further kinds. Adds to `stats`,
// which may be null. Returns 0, or -errno (-ENOSPC: too many sites); then the text is unchanged.
// `folder`, which may be null, is where plans are kept from one run to the next
// (code/patch/plan.h); `file`: the one whose bytes the text is, if that is known. REQUIRES: no
// other task of this process runs in `text` meanwhile, and the runtime itself uses nothing in it.
[[nodiscard]] long patch_text(Range text, Range object, PatchKinds kinds, PatchStats* stats,
                              const char* folder = nullptr, const TextFile& file = {});

// Sets the function that stubs jump to; it is weir_site_entry unless this is called before the
// first patch_text(). For tests.
void set_site_entry(void (*entry)());

}  // namespace weir
