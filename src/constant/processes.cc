// The processes of a run and what they are known by.
//
// A process has a record at the kernel's id of it, in memory that all processes of the run have.
// Identities are hashes of the way that leads to a process, so a program that makes the same
// children gets the same ids for them, whatever the kernel gives. Two processes of a run have the
// same hash by a chance of one in sixty millions: the one that comes later then has the next free
// id. A process that has ended keeps its record until the kernel gives its id to another of the
// run: a SIGCHLD may be handled after the wait.
//
// A vfork child runs in its maker's memory, but is a process: what it is asked for is its own.

#include <fcntl.h>
#include <sys/mman.h>

#include "constant/constant.h"
#include "constant/place.h"
#include "control/control.h"
#include "memory/backing.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"

namespace weir::constant {

bool g_has_other_id = false;

namespace {

int g_process = 0;  // the kernel's id of the program's first process
// If g_has_other_id: of the process that stands for another, the kernel's id and the one shown.
int g_real = 0, g_shown = 0;

int own_pid() {
  return self().identity.in_vfork ? static_cast<int>(sys::raw(SYS_getpid)) : g_process;
}

// Takes a free id for the process, or finds the one that it has.
int take_id(int pid, uint64_t identity) {
  constexpr uint64_t kTries = 1024;
  for (uint64_t i = 0; i < kTries; i++) {
    const uint64_t at = (identity + i) % kIds;
    int32_t none = 0;
    if (__atomic_compare_exchange_n(&memory().ids[at], &none, pid, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE) ||
        none == pid)
      return kFirstId + static_cast<int32_t>(at);
  }
  return pid;
}

void forget_id(const Record& record, int pid) {
  int32_t expected = pid;
  if (record.id < kFirstId) return;
  __atomic_compare_exchange_n(&memory().ids[record.id - kFirstId], &expected, 0, false,
                              __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

// Processes outside of the run that programs ask for: whoever started it, its group and session.
void name_outside(int pid, uint64_t number) {
  if (pid <= 1 || pid >= kMaxRealIds || memory().records[pid].id) return;
  memory().records[pid].id = take_id(pid, number);
}

void show_as(int pid, int shown) {
  g_has_other_id = true;
  g_real = pid;
  g_shown = shown;
}

void begin_run(int pid) {
  constexpr uint64_t kParent = 1, kGroup = 2, kSession = 3, kFirst = 10;
  uint64_t seed = options().seed;
  note_process(pid, (mixed(seed) & ~uint64_t{0xffffff}) | kFirst);
  name_outside(static_cast<int>(sys::raw(SYS_getppid)), kParent);
  name_outside(static_cast<int>(sys::raw(SYS_getpgid, 0)), kGroup);
  name_outside(static_cast<int>(sys::raw(SYS_getsid, 0)), kSession);
}

}  // namespace

int own_process() { return own_pid(); }

Record& own_record() { return memory().records[own_pid()]; }

bool attach() {
  if (!is_on()) return true;
  const int descriptor = options().constant_memory;
  const long at =
      sys::raw(SYS_mmap, static_cast<long>(kConstants), sizeof(Memory), PROT_READ | PROT_WRITE,
               MAP_SHARED | MAP_FIXED_NOREPLACE | MAP_NORESERVE, descriptor, 0);
  if (at != static_cast<long>(kConstants)) {
    report("--virtual: cannot map the memory of the run's processes (error %d)", int64_t{-at});
    return false;
  }
  if (memory().magic != kMagic) {
    report(
        "--virtual: descriptor %d was closed by a program that is not under Weir; programs that it "
        "executes cannot be held",
        int64_t{descriptor});
    return false;
  }
  sys::raw(SYS_madvise, at, sizeof(Memory), MADV_DONTDUMP);
  page::keep_hidden(descriptor);
  g_process = static_cast<int>(sys::raw(SYS_getpid));
  Record& own = memory().records[g_process];
  if (!own.identity) begin_run(g_process);
  own.images++;
  if (own.stands_for) show_as(g_process, own.stands_for);  // an earlier image of it was forked
  if (has_pid()) shared().program.constant_pid = own.id;
  shared().order.constant_now = own.elapsed;
  return true;
}

uint64_t next_child() { return mixed(own_record().identity + ++own_record().children); }

void note_process(int pid, uint64_t identity) {
  if (pid <= 0 || pid >= kMaxRealIds) return;
  Record& record = memory().records[pid];
  if (record.identity == identity) return;
  forget_id(record, pid);
  record.children = record.images = 0;
  record.stands_for = 0;
  record.elapsed = 0;
  record.id = take_id(pid, identity);
  __atomic_store_n(&record.identity, identity, __ATOMIC_RELEASE);
}

void begin_process(uint64_t identity) {
  const int pid = static_cast<int>(sys::raw(SYS_getpid));
  if (!self().identity.in_vfork) g_process = pid;
  note_process(pid, identity);
  if (has_pid() && !self().identity.in_vfork)
    shared().program.constant_pid = memory().records[pid].id;
  memory().records[pid].elapsed = shared().order.constant_now;
}

void stand_for_parent() {
  const int pid = static_cast<int>(sys::raw(SYS_getpid)), parent = g_process;
  if (pid >= kMaxRealIds || parent == pid) return;
  g_process = pid;
  Record& record = memory().records[pid];
  forget_id(record, pid);
  record = memory().records[parent];
  if (record.id >= kFirstId)
    __atomic_store_n(&memory().ids[record.id - kFirstId], pid, __ATOMIC_RELEASE);
  if (has_pid()) return;
  record.stands_for = parent;
  show_as(pid, parent);
}

void end_process(int pid) {
  if (pid <= 0 || pid >= kMaxRealIds) return;
  const Record& record = memory().records[pid];
  if (record.identity && has_time()) pass(0, record.elapsed);
}

int shown_id(int real) {
  if (g_has_other_id) return real == g_real ? g_shown : real;
  const int id = real > 0 && real < kMaxRealIds ? memory().records[real].id : 0;
  return id ? id : real;
}

int real_id(int shown) {
  if (g_has_other_id) return shown == g_shown ? g_real : shown;
  if (shown < kFirstId || shown >= kFirstId + kIds) return shown;
  const int real = __atomic_load_n(&memory().ids[shown - kFirstId], __ATOMIC_ACQUIRE);
  return real ? real : shown;
}

}  // namespace weir::constant
