// What a checked program tells the command (`weir check`): races, with all that is needed to say in words who did what where. One sparse
// file of memory, made by the command (memfd), mapped by the program's runtime at kFindings, by the command anywhere. No pointers: places
// in it are indices, addresses are the program's.
//
// Layout: Findings; all arrays have fixed places. Who appends takes the next index by an atomic addition, fills the element, and
// sets its `ready` last (release); who reads looks at `ready` first (acquire). Elements are never changed afterwards, but for counters.
// Shared: by all processes of the program and the command.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace weir::findings {

inline constexpr uint64_t kMagic = 0x31646e6946726957;  // "WirFind1"
inline constexpr uint32_t kVersion = 1;

inline constexpr uint32_t kMostRaces = 4096, kMostModules = 1024, kMostContexts = 1 << 16, kMostTasks = 1 << 14, kMostLocks = 8;
inline constexpr uint32_t kNoContext = 0;  // index 0 is none

// Where a task stood: enough to walk its stack later (call frame information of the modules, the bytes of the stack from rsp on).
struct Context {
  uint64_t registers[16];  // rax rcx rdx rbx rsp rbp rsi rdi r8 ... r15, as instructions number them
  uint64_t rip;            // the instruction that made the access; of a call into the runtime: the return address into the program
  uint64_t key;            // of whoever looks whether it is known already; 0: not in use
  uint32_t stack_bytes;    // of `stack` in use: the program's memory from registers[4] on
  uint32_t is_call;        // rip is a return address: the call before it is meant
  uint8_t stack[4096 - 16 * 8 - 24];
};
static_assert(sizeof(Context) == 4096);

// An executable mapping of a file.
struct Module {
  uint64_t start, limit;
  uint64_t offset;  // in the file
  uint32_t ready;
  char path[484];
};
static_assert(sizeof(Module) == 512);

struct TaskInfo {
  uint32_t ready;
  int32_t tid;            // what gettid answers in it
  uint32_t creator;       // number of the task that made it; the first: its own
  uint32_t context;       // where it was made
  uint64_t start;         // program function that it runs; 0: main
  char name[16];          // as of now: prctl, pthread_setname_np
};
static_assert(sizeof(TaskInfo) == 40);

enum Kind : uint32_t {
  kRead = 1,
  kWrite = 2,
  kAtomic = 4,      // a locked instruction: atomic whatever the source says
  kMayBeAtomic = 8, // an aligned load or store of 1, 2, 4 or 8 bytes by one mov: what compilers make of atomic loads and stores, too
  kFree = 16,       // the memory was given back (free counts as a write)
  kByLibrary = 32,  // by a function of the C library, on its caller's account; context is the caller's call
  kByKernel = 64,   // by a system call, likewise
  kChange = 128,    // a change of policy (weir.h)
};

struct Side {
  uint64_t address, size;  // bytes touched
  uint32_t kind;           // Kind
  uint32_t task;           // number: index into tasks
  uint32_t context;        // 0: it is not known any more
  uint32_t lock_count;     // locks held; more than kMostLocks are not listed
  uint64_t locks[kMostLocks];  // addresses of the lock objects; lowest bit: held for reading
};

enum class Why : uint32_t {
  kUnordered = 1,  // by happens-before nothing orders the one before the other
  kCollision = 2,  // both stood before their access at the same moment
  kPolicy = 3,     // a declared policy does not allow it: `fault` says which rule (view/guarded_policy.h's Fault)
  kMisuse = 4,     // an annotation that cannot be carried out: `fault` is a Misuse
};

// What can be wrong with a call of weir.h, apart from the rules of policies.
enum class Misuse : uint32_t {
  kNull = 1, kFreed, kForeign /* no memory of the program's */, kOverlaps, kUnknownObject, kUnbalancedLock, kTooMany,
};

enum class ObjectKind : uint32_t { kUnknown, kHeap, kStatic, kStack, kMapping };

struct Object {
  ObjectKind kind;
  uint32_t context;    // heap: where it was allocated; 0 unknown
  uint32_t task;       // heap: by whom; stack: whose
  uint32_t policy;     // declared: view/guarded_policy.h's Policy + 1; 0: none
  uint64_t start, size;  // heap, stack, mapping, declared; 0 for static ones: the command looks the symbol up
};

struct Race {
  uint32_t ready;
  Why why;
  uint32_t fault;
  uint32_t change;     // kPolicy and kMisuse: view/guarded_policy.h's Change + 1 that was asked for; 0: an access
  Object object;
  Side sides[2];       // [0]: the one that came first; [1]: at which it was found. kMisuse, and kPolicy without another side: [0].kind is 0
  uint64_t count;      // how often it was met again
};

struct Findings {
  uint64_t magic;
  uint32_t version;
  uint32_t attached;      // the runtime has mapped it: 1. Stays 0 where the program could not be entered
  uint32_t races, modules, contexts, tasks;  // taken so far; may be more than there is room for: then the rest was not kept
  uint32_t bell;          // futex: incremented at each race
  uint32_t multi;         // the program has made a thread
  uint64_t accesses;      // that were looked at
  uint64_t unseen_pages;  // page states in which accesses go by unseen (figures for --stat)
  uint64_t reserved[16];
  Module module[kMostModules];
  TaskInfo task[kMostTasks];
  Race race[kMostRaces];
  Context context[kMostContexts];
};

inline constexpr uint64_t kFindingsSize = (sizeof(Findings) + 4095) & ~uint64_t{4095};

}  // namespace weir::findings
