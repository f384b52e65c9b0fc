// The patched places of this process: found by index from a stub, by address from an int3 or from a
// signal.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/types.h"
#include "code/sites/atomic_op.h"
#include "code/sites/processor_x86_64.h"

namespace weir {

enum class SiteKind : uint8_t {
  kSyscall,
  kAtomic,
  kRdtsc,
  kCpuid,
  kRandom,
  kBase,  // wrgsbase: the program wants the register that leads to the task's record
};
// What is said of such a program, behind how it does that.
inline constexpr char kNeedsBase[] =
    "which Weir needs: a result would be wrong. `weir run` (--order free --view direct) runs it as "
    "it is";
inline constexpr unsigned kSiteKinds = 6;
enum PatchKinds : uint8_t {
  kPatchSyscall = 1u << static_cast<unsigned>(SiteKind::kSyscall),
  kPatchAtomic = 1u << static_cast<unsigned>(SiteKind::kAtomic),
  kPatchRdtsc = 1u << static_cast<unsigned>(SiteKind::kRdtsc),
  kPatchCpuid = 1u << static_cast<unsigned>(SiteKind::kCpuid),
  kPatchRandom = 1u << static_cast<unsigned>(SiteKind::kRandom),
  kPatchBase = 1u << static_cast<unsigned>(SiteKind::kBase),
};
constexpr PatchKinds operator|(PatchKinds a, PatchKinds b) {
  return static_cast<PatchKinds>(+a | +b);
}

struct Site {
  static constexpr unsigned kMaxDisplaced = 8;

  uint64_t address = 0;  // of the instruction that is intercepted
  uint64_t resume = 0;   // where the task goes on after it
  uint64_t stub = 0;     // 0 for a trap
  uint64_t window = 0;   // first byte that was overwritten: by the jump, or by the int3
  AtomicOp atomic;       // kAtomic only
  RandomOp random;       // kRandom only
  SiteKind kind = SiteKind::kSyscall;
  uint8_t length = 0;       // of the instruction
  bool is_late = false;     // found when it was executed (code/patch/doubt.h)
  bool is_trap = false;     // int3 in place of its first byte
  uint8_t window_size = 0;  // bytes of program text that the stub stands for; 1 for a trap
  uint8_t stub_size = 0;
  uint8_t enter_at = 0;   // offset in the stub of the four instructions that enter the runtime
  uint8_t native_at = 0;  // offset in the stub of the copy of the `syscall`, 0 where there is none
  uint8_t displaced_count = 0;
  uint8_t displaced_stub[kMaxDisplaced] =
      {};  // offsets in the stub of the instructions that were moved there,
  uint8_t displaced_window[kMaxDisplaced] = {};  // and in the window, where they come from
  uint8_t original[5] = {};                      // the bytes that were overwritten
};

// A place in a stub, in the program's own terms.
struct StubPlace {
  const Site* site = nullptr;
  uint64_t program_address = 0;   // the instruction of the program that this place stands for
  bool on_runtime_stack = false;  // rsp is the runtime's already; the program's is at %gs:0x10
};

// Private to the process, inherited by fork as a copy. One task at a time adds sites.
// Signal-safe, and safe beside who adds sites: the lookups.
const Site* site_at(uint32_t index);
uint32_t site_count();

// Returns the site whose int3 is at `rip` (after the trap: the saved rip less one), or null if it
// is not Weir's.
const Site* find_trap_site(uint64_t rip);

// Whether `rip` lies in a stub. A signal handler of the program must see program_address there, or
// an unwinder is lost.
[[nodiscard]] bool find_stub_place(uint64_t rip, StubPlace& place);

// The site's index, for site_at().
uint32_t index_of(const Site* site);

// Sites that this process has found by itself, while others may have found none or others.
inline constexpr uint32_t kLateSites = 1u << 22;
[[nodiscard]] bool add_late_site(const Site& site);
uint32_t late_site_count();
// The sites keep their indices; one that is forgotten has no address.
void forget_late_site(uint32_t number);

// For patch.cc. So many sites are going to be added: a hint.
void expect_sites(uint32_t count);
// Index of the new site, or -1 when there is no memory.
int64_t add_site(const Site& site);

// From here on other threads of this process look while sites are added.
void share_sites();
// Other code lies there now: nothing of the text is patched.
void forget_sites(Range text);

// Notes that the stubs in `area` belong to sites [first, limit), all with a stub and in ascending
// order. Returns false if there is no memory.
[[nodiscard]] bool add_stub_area(Range area, uint32_t first, uint32_t limit);

}  // namespace weir
