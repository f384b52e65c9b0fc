// What a checked program tells the command (`weir check`): the races, with all that is needed to
// name thread, code and object of each access. It is one sparse memory file (memfd), made by the
// command. The program's runtime maps it at kFindings, the command anywhere. It has no pointers:
// references are indices, and addresses are the program's.
//
// Layout: Findings; all arrays have fixed places. A writer takes the next index by an atomic
// addition, fills the element, and sets its `ready` last (release). A reader looks at `ready` first
// (acquire). An element is not changed afterwards, except for counters. Shared: by all processes of
// the program and the command.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "check/findings/hazards.h"
#include "check/findings/programs.h"

namespace weir::findings {

inline constexpr uint64_t kMagic = 0x31646e6946726957;  // "WirFind1"
inline constexpr uint32_t kVersion = 4;

inline constexpr uint32_t kMaxRaces = 4096, kMaxModules = 1024, kMaxContexts = 1 << 16,
                          kMaxTasks = 1 << 14, kMaxLocks = 8;
inline constexpr uint32_t kNoContext = 0;  // index 0 is none

// Where a task was: enough to unwind its stack later (call frame information of the modules, and
// the bytes of the stack from rsp on).
struct Context {
  // Rax rcx rdx rbx rsp rbp rsi rdi r8 ... r15, as instructions number them.
  uint64_t registers[16];
  uint64_t rip;  // the instruction that made the access; of a call into the runtime: the return
                 // address into the program
  uint64_t key;  // for finding it again; 0: not in use
  uint32_t stack_bytes;  // of `stack` in use: the program's memory from registers[4] on
  uint32_t is_call;      // rip is a return address: the call before it is meant
  uint8_t stack[4096 - 16 * 8 - 24];
};
static_assert(sizeof(Context) == 4096);

// An executable mapping of a file. `image`: names the program that has it (Race::image).
struct Module {
  uint64_t start, limit;
  uint64_t offset;  // in the file
  uint32_t ready, image;
  char path[480];
};
static_assert(sizeof(Module) == 512);

struct TaskInfo {
  uint32_t ready;
  int32_t tid;       // what gettid returns in it
  uint32_t creator;  // number of the task that made it; the first: its own
  uint32_t context;  // where it was made
  uint64_t start;    // program function that it runs; 0: main
  char name[16];     // as of now: prctl, pthread_setname_np
};
static_assert(sizeof(TaskInfo) == 40);

enum Kind : uint32_t {
  kRead = 1,
  kWrite = 2,
  kAtomic = 4,       // a locked instruction: atomic whatever the source says
  kMayBeAtomic = 8,  // an aligned load or store of 1, 2, 4 or 8 bytes by one mov: what compilers
                     // make of atomic loads and stores, too
  kFree = 16,        // the memory was given back (free counts as a write)
  // By a function of the C library, on its caller's account; context is the caller's call.
  kByLibrary = 32,
  kByKernel = 64,   // by a system call, likewise
  kChange = 128,    // a change of policy (weir.h)
  kLockCall = 256,  // a call of a lock
  kComputes =
      512,  // with kMayBeAtomic: an instruction that computes with what it reads, or compares
  kUnchanged = 1024,  // a word is stored that is there already
  kUnread = 2048,     // with kAtomic: what it found there nobody looks at
};

struct Side {
  uint64_t address, size;     // bytes touched
  uint32_t kind;              // Kind
  uint32_t task;              // number: index into tasks
  uint32_t context;           // 0: it is not known any more
  uint32_t lock_count;        // locks held; more than kMaxLocks are not listed
  uint64_t locks[kMaxLocks];  // addresses of the lock objects; lowest bit: held for reading
};

enum class Why : uint32_t {
  kUnordered = 1,  // by happens-before nothing orders the one before the other
  kCollision = 2,  // both tasks were about to make their access
  kPolicy = 3,     // a declared policy does not allow it: `fault` says which rule
                   // (check/core/policy.h's Fault)
  kMisuse = 4,     // an annotation that cannot be carried out: `fault` is a Misuse
  kHazard = 5,     // no race: `fault` is a Hazard
};

// What can be wrong with a call of weir.h, apart from the rules of policies, or with a use of a
// lock: unlocked by a task that does not hold it, destroyed while held, waited for by its holder,
// locked after its end.
enum class Misuse : uint32_t {
  kNull = 1,
  kFreed,
  kForeign /* no memory of the program's */,
  kOverlaps,
  kUnknownObject,
  kUnbalancedLock,
  kTooMany,
  kDestroyedLock,
  kLockedAgain,
  kLockedGone,
};

// In Object::policy: a block by `new` that the program has not named since.
inline constexpr uint32_t kUnnamedNew = 0x100;

enum class ObjectKind : uint32_t { kUnknown, kHeap, kStatic, kStack, kMapping };

struct Object {
  ObjectKind kind;
  uint32_t context;  // heap: where it was allocated; 0 unknown
  uint32_t task;     // heap: by whom; stack: whose
  uint32_t policy;   // declared: check/core/policy.h's Policy + 1; 0: none
  // Heap, stack, mapping, declared; 0 for static ones: the command looks the symbol up.
  uint64_t start, size;
};

// Race::fault of kUnordered: nothing but plain moves may order the two. It is a race if the program
// has no atomic operation that is a plain move.
inline constexpr uint32_t kOrderedByMemory = 1, kMaxByMemory = 128;
inline constexpr uint32_t kTellsNone = 0, kTellsAll = 1, kTellsNoMore = 2;

struct Race {
  uint32_t ready;
  Why why;
  uint32_t fault;
  uint32_t change;  // kPolicy and kMisuse: check/core/policy.h's Change + 1 that was asked for;
                    // 0: an access
  Object object;
  Side sides[2];   // [0]: the one that came first; [1]: at which it was found. kMisuse, and kPolicy
                   // without another side: [0].kind is 0
  uint64_t count;  // how often it was met again
  // Sorts the races of a checked replay, in the same order each time; 0 if this is no replay.
  uint64_t order;
  uint32_t image;  // of the executable: programs that are executed one by the other have other
                   // modules at the same addresses
  uint32_t more;   // kHazard: index + 1 of its further sides; 0: none
};

// Sides of a hazard between the first and the last.
struct MoreSides {
  uint32_t count, unused;
  Side sides[kMaxMoreSides];
};

// --- For suggestions (weir check --suggest): who shared what, of each 8 bytes that were checked.

inline constexpr uint32_t kMaxCells = 1 << 16, kMaxPhases = 8, kMaxReaders = 4, kMaxLasts = 8,
                          kMaxCandidates = 4;

// While it lasts the bytes are one task's, or only read, or touched under one lock.
enum PhaseKind : uint32_t { kNoPhase, kExclusive, kShared };
struct OwnershipPhase {
  PhaseKind kind;
  uint32_t writes;  // it has
  // It began by an access that conflicts with one before, and that nothing orders.
  uint32_t unordered;
  uint32_t lock_count;
  uint64_t locks[kMaxCandidates];  // held at each access, by address; lowest bit: at some only for
                                   // reading
  uint64_t tasks;                  // a bit for each, by number modulo 64
  uint64_t accesses;
  uint64_t times;        // that such an ownership phase came
  uint64_t from, to;     // of all accesses to cells, counted: its first and last
  uint32_t first, last;  // contexts
  struct Reader {
    uint32_t task, first, last;
  } readers[kMaxReaders];  // kShared: the first few tasks' own
  uint32_t reader_count, unused;
};
static_assert(sizeof(OwnershipPhase) == 152);

struct Cell {
  uint32_t ready;  // 1 taken, 2 to be read
  ObjectKind kind;
  uint64_t address;        // of 8 bytes
  uint64_t start, size;    // of a heap block
  uint32_t context, task;  // of a heap block: where it was allocated, and by whom
  uint32_t is_new;         // the memory has been allocated anew since
  uint32_t phase_count;    // that are over and differ; more than kMaxPhases are not kept
  uint64_t accesses, atomics;
  uint64_t atomic_tasks;  // as OwnershipPhase::tasks
  OwnershipPhase phases[kMaxPhases], now;
  struct Last {               // access of a task
    uint64_t clock, written;  // epoch; that of its last write
    uint32_t slot, number;
  } lasts[kMaxLasts];
  uint32_t last_count, unused;
};

// A replay that is checked runs twice. The first run notes which tasks touch which page. The second
// checks every access to the pages that several tasks touch.
enum class Pass : uint32_t { kNone, kNotes, kChecks };

// Which tasks have touched a page of a process. An element is claimed once, by its key.
struct Touched {
  uint64_t key;      // 0: not in use
  uint32_t toucher;  // TaskIdentity::creation + 1 of the first
  uint32_t flags;
};
inline constexpr uint32_t kTouchedBySeveral = 1, kTouchedToWrite = 2, kTouchedAsCode = 4;
inline constexpr uint32_t kMaxTouched = 1 << 20;

// Memory that the program has mapped shared and may write, which is not looked at.
struct UnwatchedMemory {
  uint64_t size;
  char name[104];  // its beginning; of the file, as the kernel has it
  uint32_t ready, unused;
};
inline constexpr uint32_t kMaxUnwatched = 64;

struct Findings {
  uint64_t magic;
  uint32_t version;
  // The runtime has mapped it: 1. Stays 0 where the program could not be entered.
  uint32_t attached;
  uint32_t races, modules, contexts,
      tasks;       // taken so far; may be more than there is room for: then the rest was not kept
  uint32_t bell;   // futex: incremented at each race
  uint32_t multi;  // the program has made a thread
  uint64_t accesses;         // that were checked, by page
  uint64_t untrapped_pages;  // page states in which accesses go by untrapped (figures for --stat)
  uint32_t suggests;         // by the command: cells are kept
  uint32_t cells;            // taken; more than there is room for: the rest was not kept
  uint64_t cell_accesses;
  Pass pass;
  uint32_t touched_pages;  // taken so far
  uint32_t failed;         // Weir has ended a process of the program itself (sys/report.h)
  uint32_t hazards;        // by the command: bits of what is looked for beside races
  uint32_t more_sides;     // taken so far
  uint32_t samples;        // by the command: accesses are sampled, though all were asked for
  // Pages that several tasks touched: of which accesses were checked; of which accesses were not
  // checked, while several tasks had them untrapped. Many pages are both.
  uint64_t shared_pages, unchecked_pages;
  uint32_t unwatched_count;  // taken so far; more than there is room for: not kept
  // Pairs that only plain moves may order are told (kOrderedByMemory). By the runtime: kTellsNone
  // to kTellsAll. By the command: kTellsNoMore, since in this program plain moves may order.
  uint32_t tells_by_memory;
  uint64_t reserved[9];
  Module module[kMaxModules];
  TaskInfo task[kMaxTasks];
  Race race[kMaxRaces];
  Context context[kMaxContexts];
  Cell cell[kMaxCells];  // by a hash of the address
  Touched touched[kMaxTouched];
  Programs programs;
  MoreSides more[kMaxMore];
  UnwatchedMemory unwatched[kMaxUnwatched];
};

inline constexpr uint64_t kFindingsSize = (sizeof(Findings) + 4095) & ~uint64_t{4095};

}  // namespace weir::findings
