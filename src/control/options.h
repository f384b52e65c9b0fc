// What the `weir` command asked of the library: the environment variable WEIR_OPTIONS, read once.
//
// Grammar: `key=value` pairs joined by commas, e.g.
// "order=token,view=isolated,stat=1,log=/tmp/a,delay=7". Unknown keys and values are ignored, so
// that an older library accepts a newer command. A comma in the name of a file is written %2c, a
// percent sign %25.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace weir {

enum class Order : uint8_t { kFree, kToken, kRecord, kSerial };  // kRecord: a replay's, too
enum class View : uint8_t { kDirect, kIsolated, kCoherent, kChecked };
enum class Enforcer : uint8_t {
  kAuto,
  kProcess,
  kMpk
};  // of the checked View: what changes the rights of tasks
enum class Policies : uint8_t {
  kInferred,
  kDeclared
};  // of the checked View: which memory is checked

// What the command adds to GLIBC_TUNABLES: 64 stacks of ended threads are kept for new ones, as
// many as processes in the pool.
inline constexpr char kStackTunable[] = "glibc.pthread.stack_cache_size=536870912";
// What stands behind libweir.so in LD_PRELOAD if the C library is older than glibc 2.34, which has
// threads and dlsym() in libraries of their own: not every program is linked with them.
inline constexpr char kThreadsApart[] = ":libpthread.so.0:libdl.so.2";
// What the command adds as LD_BIND_NOW, if the order promises sameness and the user has not set it.
// Otherwise the loader would bind functions when they are first called, by code that saves the
// processor's state on the stack. Which parts of that state the processor takes for unused depends
// on when the kernel last took the processor away.
inline constexpr char kBindNow[] = "LD_BIND_NOW=weir";

// The last variable of all: the first library of LD_PRELOAD is there for this program only
// (task/exec/environment.cc).
inline constexpr char kPutFirst[] = "WEIR_PUT=8";

// What every program finds in place of the kernel's 16 random bytes (AT_RANDOM). The loader makes
// the stack guard and the pointer guard of them. The low byte is 0, as glibc's stack guard has it.
inline constexpr uint64_t kRandomBytes[2] = {0x5745495257454900, 0x6f6e65206f726465};

struct Options {
  Order order = Order::kFree;
  View view = View::kDirect;
  bool present = false;  // WEIR_OPTIONS exists at all: the program runs under the `weir` command
  bool stat = false;     // count and print
  bool fingerprint = false;    // hash memory and schedule at exit
  uint64_t delay_seed = 0;     // 0: no injected delays
  bool sparse_delays = false;  // few of them, longer, the same in each run with that seed
  int trace = -1;     // descriptor of a recording's shared memory (channel/ring.h), -1: none
  int findings = -1;  // descriptor of the memory for what a checker finds
                      // (check/findings/findings.h), -1: none
  int command = 0, command_findings = 0;  // the process that has made it, and its descriptor there
  Enforcer enforcer = Enforcer::kAuto;
  Policies policies = Policies::kInferred;
  bool lingers = true;  // of the checked View: the end waits for a moment for tasks that run
  bool exact = false;   // of the checked View: all that is shared stays trapped; objects are closed
                        // at each unlock of their lock
  // Of the enforcer by protection keys: another hash function so often, 0 never.
  uint32_t rehash_ms = 1000;
  uint32_t domains = 0;            // likewise: domains at most, 0 for as many as there are
  uint32_t left_out = 0;           // base/coherent_features.h
  bool without_userfault = false;  // as if the kernel had no userfaultfd (memory/userfault.h)
  uint32_t constant = 0;           // inputs that are made constant (constant/layout.h)
  int constant_memory = -1;  // descriptor of the memory that such a run's processes have together
  int schedule_memory = -1;  // descriptor of the memory that says the schedule (Order serial;
                             // control/schedule_memory.h)
  bool guards_heap = false;  // Order serial: heap/guard/guard.h
  bool places = false;       // Weir fixes the addresses of programs (loader/fixed_layout.h)
  uint64_t seed = 0;         // of constant random bytes
  uint64_t start = 0;        // of constant time: seconds since 1970
  char log_path[512] = {};   // empty: standard error
  char json_path[512] = {};  // where the counts go as JSON; empty: nowhere
  char cache_path[512] =
      {};  // folder of what is kept from one run to the next (code/patch/plan.h); empty: nothing is

  bool counts() const { return stat || json_path[0]; }

  // The checked View by protection keys: threads stay threads, and only what is declared is
  // checked.
  bool has_keys() const { return view == View::kChecked && enforcer == Enforcer::kMpk; }

  // True where memory and threads stay the program's own and only counters may be wanted.
  bool passive() const { return order == Order::kFree && view == View::kDirect; }
};

// The options of this process. Signal-safe; usable before any constructor has run, from malloc
// included.
extern Options g_options;
extern bool g_options_known;
[[gnu::cold]] const Options& read_options();
inline const Options& options() {
  return __builtin_expect(g_options_known, 1) ? g_options : read_options();
}

// What a recording's shared memory says instead, since the environment must be the same in a
// replay.
struct LateOptions {
  bool stat, fingerprint, without_userfault;
  const char* log_path;
};
void take_options(const LateOptions& late);

// Reads `text` (NUL-terminated, or null) into options. Pure.
Options parse_options(const char* text);

}  // namespace weir
