// The parts of what all tasks of a program share, by the module that knows what they mean; Shared
// (control/control.h) is made of them.
#pragma once

#include <stdint.h>
#include <sys/resource.h>

#include "base/frame.h"
#include "base/types.h"
#include "control/address_map.h"
#include "control/task.h"
#include "sys/spinlock.h"

namespace weir {

// One runtime stack; as much again is its signal stack.
inline constexpr uint64_t kStackSize = 128 << 10;
// Where the runtime's stack of the task of this process begins.
constexpr uint64_t stack_top_of(uint32_t process) {
  return kStacks + (2 * process + 2) * kStackSize;
}
inline constexpr uint64_t kDiffSize = uint64_t{768}
                                      << 20;  // one task's diff buffer, address space only

inline constexpr uint64_t kNotedSize = 8 << 20;  // half of it is a vfork child's
inline constexpr uint32_t kNotedCapacity = kNotedSize / 2 / sizeof(PendingSignal);
inline constexpr uint32_t kSignalNodeCount = 1 << 18;

inline constexpr uint32_t kMaxTasks = 1024;
inline constexpr uint32_t kMaxProcesses = 1536;
inline constexpr uint32_t kMaxMemorySegments = 1024;
inline constexpr uint32_t kIntervalLengths = 1024;
inline constexpr uint32_t kComputeGaps = 4096;
inline constexpr uint32_t kMappingRecords = 8192;
inline constexpr uint32_t kForkedRanges = 512;
// Each is a mapping at least, of which the kernel allows 65530.
inline constexpr uint32_t kProtectedRanges = 65536;
inline constexpr uint32_t kCodeRanges = 4096;
inline constexpr uint32_t kMaxChildren = 4096;
inline constexpr uint32_t kMaxTimers = 64;
inline constexpr uint32_t kVisibleDescriptors = 256;
inline constexpr uint32_t kMappedFiles = 4096;
inline constexpr uint32_t kRecordedChildren = 256;
// Ended tasks that have a line of their own in what --stat prints.
inline constexpr uint32_t kMaxEnded = 64;
inline constexpr int kHiddenDescriptors = 65536;  // none is hidden at this number or above

static_assert(kArenaSize == uint64_t{1} << 40);

// A converted range of program memory outside the arena.
struct MemorySegment {
  uint64_t start;
  uint64_t size;
  uint64_t offset;  // in the backing
  uint32_t protection;
  uint32_t live;
};

struct ProtectedRange {
  Range range;
  int32_t protection;
  int32_t unused;
};

enum class MappingKind : uint32_t {
  kMapFile,
  kMapBacking,
  kUnmap,
  kProtect,
  kSigaction,
  kPatchText,
  kMapSharedMemory,
  kAttachSharedMemory,
  kReserve,
  kProfile,
  kMove
};

// One change of the address space that every process repeats before it runs program code again.
// MappingRecord::flags of a move: the memory keeps its protection. Else it is first given that one.
inline constexpr int32_t kAsItIs = -1;

struct MappingRecord {
  MappingKind kind;
  int32_t protection;
  int32_t flags;
  int32_t descriptor;
  uint64_t start;
  uint64_t size;
  uint64_t offset;
  uint32_t waiting;  // processes that have yet to apply it; the last closes the descriptor
  uint32_t author;   // process that made it
};

inline constexpr uint32_t kGoTask = 1, kGoCatchUp = 2;

inline constexpr int kContinued = 0xffff;  // the wait status of a continuation

struct ProcessEntry {
  int32_t pid;        // 0 = entry free
  uint32_t idle;      // 1 while it waits in the pool
  uint32_t taken;     // a task's, the pool's or the in-place process's (where tasks are processes).
                      // Changes in turns
  uint32_t given_up;  // how many had been given up when this was, 0: never
  uint32_t go;  // futex: kGoTask, a task was put into `task`; kGoCatchUp, apply what was missed
  TaskId task;
  uint64_t mapping_sequence;
  char name[16];  // that its next task has, where any was given a name
};

struct ComputeGap {  // see sync/coalesce.h
  uint32_t key;
  uint16_t doubt;  // how often the gap was long
  uint16_t skip;   // so often it is taken for long untried
  uint16_t pages;  // changed in the parallel phase that followed last
  uint16_t sure;   // how often in a row the gap was short
};

struct EndedTask {
  uint64_t creation;
  TaskCounters counters;
};

inline constexpr uint32_t kKnownPidfds = 1024;
struct ChildProcess {  // a process that the program itself made while tasks are processes
  int32_t pid;
  uint32_t ended;
  int32_t status;      // wait status of its end
  int32_t change;      // ... of a stop or continuation that nobody has waited for; 0: none
  int32_t group;       // its process group, as the kernel said before it was forgotten there
  int32_t signal;      // that tells the program of its end; 0: none
  uint32_t forgotten;  // it has ended, nobody is to wait for it, and its maker has yet to note it
  uint32_t user;
  uint32_t untold;  // the program is about to get the signal of this, and no wait ends before
  uint32_t unused;
  uint8_t usage[144];  // struct rusage
};

// A task's registers while it moves between its process and the in-place process
// (control/in_place_process.h).
struct MovedState {
  uint64_t rsp;
  uint32_t components;  // of the processor's state: bits of XCR0
  uint32_t unused;
  uint64_t fs_base;
  alignas(64) uint8_t vectors[4032];  // as XSAVE lays them out
};

// The state of the task that executes instruction-counted code (src/code/translate), or did so
// last. One for the program, because only the task that has the turn does.
struct CountState {
  int64_t left;   // instructions that it may still execute; read by translate::left()
  int64_t given;  // what `left` began with
  uint64_t rip;   // where program code goes on that leaves the cache
  uint64_t jump;
  uint64_t
      saved[3];   // registers of the program while generated code uses them: rcx, rdx, some other
  uint32_t exit;  // the exit, or the block, that it left by
  uint32_t unused;
};

struct InPlaceProcess {
  Task record;  // what %gs points to while no task is there
  uint32_t made, tried;
  int32_t tid;
  uint32_t components;
  uint32_t wishes;  // turns that would have moved there, before it was made
  uint32_t closed;  // nobody goes there: a timer of the program's watches the time of a process
  uint32_t calls;   // futex: 1 = look at what follows
  uint32_t sleeps;
  uint32_t request;     // task + 1 that comes from its own process
  uint32_t waiting;     // tasks that wait for their turn there
  uint64_t since;       // cycles: when the task that runs there began
  uint64_t ns_a_cycle;  // in units of 2^-32
};

// A file of which private memory has bytes.
struct FileSource {
  char path[232];
  uint64_t device, inode;
  uint64_t distance;  // from an address to the place in the file
};
inline constexpr uint32_t kFileSources = 1024, kFileRanges = 2048;

// The program as a whole.
struct ProgramState {
  uint32_t named;        // the program has given a thread a name
  uint32_t multi;        // tasks exist (first pthread_create happened)
  int32_t parent;        // what getppid answers; isolated only
  int32_t monitor;       // pid of the program's first process; isolated only
  int32_t shown_pid;     // the pid that the program believes to be its own: another one in a replay
  int32_t constant_pid;  // the same where ids are constant (constant/), else 0
  uint32_t has_cpu_timer;   // the program has made one on its CPU time (syscall/timer.cc)
  uint32_t cpu_timer_told;  // and it has been said what it watches. Changed atomically
  // It has been said: of a trap flag, of SS_AUTODISARM, of keys, of a count. Changed atomically
  uint32_t step_told, disarm_told, keys_told, count_told;
  uint32_t forked_by_thread;  // another task than the first has forked this process, and it has not
                              // been said what that means (syscall/confine.cc). Changed atomically
  uint32_t forked_beside_tasks;  // the program that has forked this process had tasks
  uint32_t exiting;              // a task ended the program
  uint32_t is_broken;            // a check failed in some process: none waits for what it held
  int32_t exit_code;
  int32_t proc_folder;    // sys::g_proc_folder
  uint32_t end_reported;  // somebody prints, or has printed, what the run spent
  uint32_t is_forked;     // the process is a forked child of another, of the same program
  uint32_t sets_timers;   // tasks have set timers of real time
  uint64_t start_cycles;  // both when the library's constructor ran, or the process was forked
  uint64_t start_ns;
  uint64_t first_thread_cycles;  // when the program made its first thread, 0 if it has none
  uint64_t arguments;            // lowest address of the program's argument strings
  uint64_t stack_begin;          // where the first thread's stack is empty
  uint64_t stack_limit;          // end of the first thread's stack
  uint64_t left_out_calls[8];    // by number, one bit each: system calls that were answered as by a
                                 // kernel without them. Changed atomically
  uint32_t told_device;          // 1: the user knows of a device that does not fit. Atomically
};

// Which task has the turn, and which comes next. Guarded by: `lock`, unless something else is said.
struct OrderState {
  SpinLock lock;
  uint32_t running;
  uint32_t serial;     // a serial phase is on
  TaskId turn;         // who has the turn, kNoTask
  uint32_t live;       // tasks that exist
  uint32_t high_task;  // slots in use are below
  uint64_t round;
  uint64_t virtual_now;   // nanoseconds
  uint64_t constant_now;  // what constant clocks show (constant/clock.cc). Guarded by: the turn
  uint64_t
      constant_seen;  // how much of virtual_now is in it, under Order serial. Guarded by: the turn
  uint64_t next_sequence;
  uint64_t created;
  uint32_t tid_base;  // virtual ids of tasks lie above; another one in each forked child
  uint32_t children_made;
  uint64_t schedule_hash;  // over (task, kind of event) in order of turns
  uint32_t idle_watch;     // a task sleeps until the earliest deadline
  uint32_t deadlock_told;
  uint32_t stall_told;
  uint32_t phase_tasks;             // active tasks when the parallel phase began
  TaskId phase_task;                // the last of them
  uint32_t began_with_sole_runner;  // the serial phase began with a task that had run alone, not
                                    // with the lowest number
  TaskId made_ahead;     // the task of the parallel phase that made tasks without a turn, kNoTask
  TaskId first_running;  // the lowest number that went on into the parallel phase
  uint64_t clock;        // of the task that had the turn last (order/admission.h)
  uint32_t throttled_phases;  // in a row, with somebody throttled
  uint32_t throttle_credit;
  uint32_t leave_be;  // chances to throttle that are still passed over
  // When the serial phase that is on began; all earlier ones together.
  uint64_t serial_since, serial_cycles;
  struct {
    uint64_t key;
    uint32_t length;
    uint32_t unused;
  } interval_lengths[kIntervalLengths];
  ComputeGap gaps[kComputeGaps];  // Guarded by: the turn
  uint64_t arrivals;              // by arrival: how often a task began to want the turn
  uint64_t passed_over;  // by arrival: TaskOrder::arrival of the sleeper whose turn others take,
                         // and since when (cycles)
  uint64_t passed_since;
  uint32_t unnoted;   // order only: there are tasks whose arrival is not in the recording yet
  uint32_t is_ended;  // replaying: no turn is recorded any more
  uint32_t lookers;   // tasks that look at their word instead of sleeping. Changed atomically
  uint32_t asker;     // task + 1: it waits, and asks overdue tasks for all that do (order/probe.h),
  uint64_t asker_due;         // in so many cycles. Changed atomically
  uint32_t waits_by_looking;  // a task has been found to spin in a turn that it kept; likewise
  uint32_t coming;            // tasks with TaskOrder::comes. Guarded by: `lock`
  uint32_t turn_sleepers;  // replaying: who waits, without a turn, for so many turns to have been
                           // given, sleeps on turn_calls
  uint32_t turn_calls;
  uint64_t decisions;  // who has the turn next: how often that was decided. Guarded by: `lock`
};

// A file that the program has mapped shared (memory/code/mapped_twice.h).
inline constexpr uint32_t kSharedMappings = 256;
struct SharedMapping {
  Range range;
  uint64_t file;
  uint64_t offset;
  int32_t protection;  // that the program asked for
  uint32_t unused;
};

// Memory for code that has other bytes in the backing than before: what a process has opened of it
// for execution is looked at again (memory/code/executed.h). Guarded by: the turn
struct CodeChanges {
  static constexpr uint32_t kMax = 256;  // who lags behind by more looks at everything again
  uint64_t sequence;
  Range range[kMax];
};

// The program's memory and its backing. Guarded by: `lock`, where nothing else is said.
struct MemoryState {
  SpinLock lock;
  int32_t backing;         // descriptor of the backing
  uint64_t pages_awaited;  // View coherent. Guarded by: the turn
  uint32_t tracker;        // page::Tracker (memory/userfault.h), and the error of userfaultfd
  int32_t tracker_error;
  uint32_t maps_are_read;  // the program has opened a list of its mappings. Only rises
  uint32_t told_growing;   // the user knows that MAP_GROWSDOWN does nothing. Changed atomically
  uint32_t has_made_code;  // there is code of the program's own making, or there may be
  uint32_t text_pending;   // code was mapped whose sites are not patched yet
  uint64_t segment_bump;
  uint64_t map_bump;
  uint32_t free_count;
  uint32_t segment_count;
  uint64_t segments_version;  // counts changes of `segments`
  uint64_t brk_start, brk_now, brk_limit;
  MemorySegment segments[kMaxMemorySegments];
  Range free_extents[16384];
  uint32_t protected_count;
  ProtectedRange protected_ranges[kProtectedRanges];  // see memory/backing.h
  // Private mappings of files (page/file_bytes.h): `protection` is the number of one of the
  // sources. Guarded by: the turn
  uint32_t file_range_count, file_source_high;
  uint32_t file_room_told;  // there are too many. Changed atomically
  ProtectedRange file_ranges[kFileRanges];
  FileSource file_sources[kFileSources];
  uint32_t code_count;
  uint32_t code_refused;  // a task has said why the program cannot go on (signal/made_code.cc).
                          // Changed atomically
  ProtectedRange code_ranges[kCodeRanges];  // executable memory of the program's own making, as it
                                            // asked for it. Guarded by: the turn
  CodeChanges code_changes;
  uint32_t shared_count, shared_incomplete;
  SharedMapping shared_mappings[kSharedMappings];
  // Memory that a forked child gets in another way than as it is (memory/forked.h). Guarded by: the
  // turn, if tasks exist.
  uint32_t forked_count;
  ProtectedRange forked_ranges[kForkedRanges];
  // Files that a program of one task has mapped shared into the arena (syscall/memory/calls.cc)
  uint32_t fixed_count;
  Range fixed_ranges[64];
  // Reserved addresses (memory/reserve.h): how much of their range is in use, and is mapped; what
  // was given back. Guarded by: the turn
  uint64_t reserve_used, reserve_high;
  uint32_t reserve_free_count;
  Range reserve_free[1024];
};

// Changes of the address space that each process repeats (task/mapping_log.h).
struct MappingLog {
  uint64_t sequence;
  uint32_t catch_up;  // > 0: whoever is woken or gets the probe signal applies what it has missed
  MappingRecord records[kMappingRecords];
  // Descriptors that the runtime keeps away from the program, one bit each (page::hide_descriptor).
  // Changed atomically.
  uint64_t hidden_descriptors[kHiddenDescriptors / 64];
};

// The processes that run tasks, where tasks are processes, and the children of the program.
struct ProcessTable {
  SpinLock lock;
  uint32_t high;
  uint32_t idle;
  uint32_t given_up;
  ProcessEntry entries[kMaxProcesses];
  uint32_t children_epoch;  // futex: a child ended
  uint32_t monitor_stands;  // futex: 1 when the first task may go on
  uint32_t child_high;
  ChildProcess children[kMaxChildren];
  int32_t making_signal;  // of the child that is being made, as ChildProcess has it; -1: none is.
                          // Guarded by: the turn; read by the monitor
  uint32_t subreaper;  // orphans below the program come to it (PR_SET_CHILD_SUBREAPER). Guarded by:
                       // the turn
  // Descriptors of processes that the program has made or opened (task/pidfd.cc), the last ones.
  // Guarded by: the turn, where tasks exist
  struct {
    uint64_t key;
    int32_t pid;
    uint32_t unused;
  } pidfds[kKnownPidfds];
  uint32_t pidfd_count;
  rusage children_usage;  // what the children used that the program has waited for. Guarded by: the
                          // turn
};

// A timer of the monitor's (signal/timers.h).
struct ProgramTimer {
  int32_t id;
  int32_t target;     // the one task that it tells, by its virtual id; 0: the program
  uint32_t used;      // the entry: free, being taken, used
  uint32_t waits;     // a signal of it is on its way to a task
  int32_t process;    // where that waits; 0: for the program
  int32_t missed;     // what has gone off since
  int32_t overruns;   // of the last signal that a task has got
  uint32_t has_told;  // there was one
};

// Signals and timers, as the program believes them.
struct SignalState {
  SpinLock lock;
  sys::KernelSigaction actions[sys::kSignals + 1];
  uint64_t signalfd_mask;    // signals that the program reads from a descriptor
  TaskId signalfd_task;      // the task that made the descriptor
  uint32_t signalfd_reader;  // 1 + the task that came last to read one, in whose process they are
                             // left pending; 0: none has come yet
  uint64_t program_pending;  // signals to the program as a whole that no task could take yet: what
                             // program_signals has
  SignalList program_signals;
  uint64_t program_raising;  // numbers of those that somebody hands on to a task at the moment
  uint32_t free_signal_node, signal_nodes_made, signals_queued;
  ProgramTimer timers[kMaxTimers];
  // By ITIMER_VIRTUAL and ITIMER_PROF, microseconds (task/profile.h). `armed`: some process has had
  // it. Guarded by: the turn
  struct {
    uint64_t value, interval;
    uint32_t armed, unused;
  } profiles[3];
};

// A system call that the monitor makes for a task (task/monitor_call.h).
struct MonitorCall {
  uint32_t state;
  uint32_t unused;
  int64_t number;
  int64_t arguments[4];
  int64_t result;
  uint8_t given[64];
  uint8_t answer[64];
};

// An execve that is requested of the monitor.
struct ExecRequest {
  uint32_t requested;
  int32_t directory, flags;  // as execveat has them
  uint64_t path, argv, envp, mask;
  uint8_t* buffer;
  uint32_t users[3], groups[3];  // real, effective, saved ids of the task that asked
  uint32_t more_groups[256];
  int32_t group_count;
};

// Heaps. Guarded by: the turn; the entry of a heap by its task.
struct HeapState {
  uint64_t reserve[kMaxTasks];  // a segment that a heap has before it asks for one
  uint8_t reserved[kMaxTasks];
  uint32_t user;  // task + 1 that works on the heap, where all have one
                  // (interpose/alloc/heap_scope.h). Guarded by: the turn
};

// A child that stops the world (syscall/stop_world.h). Guarded by: `task` alone uses it
struct StoppedWorld {
  enum class State : uint32_t { kNone, kMade, kRuns, kEnded };
  State state;
  TaskId task;
  uint32_t listed;     // of what it reads of threads, what it has read
  int32_t status;      // as wait4 has it
  Frame maker, child;  // where the task goes on as the one and the other
};

// A recording that is made or replayed (record/stream.h).
struct RecordingState {
  uint8_t descriptor_kinds[kVisibleDescriptors];  // recording: what they are (syscall/read.cc)
  uint8_t visible_output[kVisibleDescriptors];  // of a replay: the output of the command's, 1 or 2,
                                                // that the descriptor was; 0 none
  uint32_t compares_memory;  // at its end; not of what the program executes itself, which has other
                             // random bytes, nor of its children
  struct {
    int32_t pid;
    uint32_t ordinal;
  } children[kRecordedChildren];  // of a replay, the last ones; by the pid it is shown
  uint32_t child_count;
  uint32_t is_dying;            // recording: a task's fault ends this process
  uint32_t ordinal;             // of this process among the program's
  uint32_t order_stream;        // slot + 1
  uint32_t streams[kMaxTasks];  // of the tasks' slots: slot + 1, 0 none yet
  uint32_t point_streams[kMaxTasks];
  struct MappedFile {
    uint64_t device, inode, size;  // what it is known by; recording
    int64_t modified;              // nanoseconds
    uint32_t number;
    bool is_shared;
    int copy;                    // replaying, of a shared one: the descriptor of this run's copy
  } mapped_files[kMappedFiles];  // Guarded by: the turn
  uint32_t mapped_file_count;
};

// What ended tasks have spent: of all of them, and of the first ones each.
struct ProgramSpent {
  TaskCounters totals;  // of all of them
  uint32_t ended_count;
  EndedTask ended[kMaxEnded];  // the first ones
  uint64_t pool_reuses, forks, conversions_us;
  uint64_t ended_processor_ns;  // processor time of processes that have ended
  EndedTask inherited;  // of a forked child: what its one task had counted before, and the numbers
                        // below had been
  uint64_t inherited_created, inherited_round;
  Floor floor;
  EndedFloor ended_floor;
};

}  // namespace weir
