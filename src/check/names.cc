// The names that tasks have in reports: given while they run, by themselves (prctl) or by others,
// who write to /proc/PID/comm (pthread_setname_np). A task that has ended keeps its last one.
//
// The kernel lets a process write the name of its own threads only, and here each is a process: it
// refuses (EINVAL). signal/names.cc brings it to that task; for reports it is kept here.
//
// A task's name in the vector clocks is its slot. There are 64, and programs make threads by the
// thousand, so slots are used again. Who knows a later task of a slot seems to know the earlier
// ones, and their races are missed. So a task takes a slot whose tasks have ended and are known to
// its creator, if there is one.

#include <asm/unistd.h>

#include "base/atomic_enum.h"
#include "base/bytes.h"
#include "check/core/attach.h"
#include "check/core/happens_before.h"
#include "check/core/state.h"
#include "memory/backing.h"
#include "sys/descriptor.h"
#include "sys/memory.h"
#include "sys/syscall_x86_64.h"

namespace weir::view::checked {

namespace {

constexpr long kSetName = 15, kGetName = 16;  // PR_SET_NAME, PR_GET_NAME
constexpr long kInvalid = -22;                // -EINVAL

findings::TaskInfo* info_of(uint32_t number) {
  return number < findings::kMaxTasks ? &found().task[number] : nullptr;
}

// The number in "/proc/NUMBER/comm" or "/proc/NUMBER/task/NUMBER/comm"; 0: it is no such path.
int process_of_name_file(const char* path) {
  constexpr char kStart[] = "/proc/";
  if (!starts_with(path, kStart) || !ends_with(path, "/comm")) return 0;
  int number = 0;
  for (const char* at = path + sizeof kStart - 1; *at >= '0' && *at <= '9'; at++)
    number = number * 10 + (*at - '0');
  return number;
}

// As much as there is of a name in the program's memory.
void take_name(uint64_t address, char (&name)[16]) {
  zero_bytes(name, sizeof name);
  for (uint32_t i = 0; i + 1 < sizeof name; i++) {
    char c = 0;
    if (page::backing_bytes_at(address + i))
      c = *reinterpret_cast<const char*>(page::shared_view_of(address + i));
    else if (sys::read_safely(&c, address + i, 1) != 1) return;
    if (c == 0 || c == '\n') return;
    name[i] = c;
  }
}

void name_other(long descriptor, uint64_t text) {
  char path[64];
  const long length = sys::name_of_descriptor(descriptor, path, sizeof path - 1);
  if (sys::failed(length)) return;
  path[length] = 0;
  const int pid = process_of_name_file(path);
  for (uint32_t i = 0; pid && i < shared().order.high_task; i++) {
    const Task& task = task_at(i);
    if (task.identity.tid != pid) continue;
    if (findings::TaskInfo* info = info_of(thread_of(task).number)) take_name(text, info->name);
    return;
  }
}

}  // namespace

void note_name(long number, long first, long second, long result) {
  if (number == SYS_prctl && first == kSetName && result == 0) {
    if (findings::TaskInfo* info = info_of(thread_of(self()).number))
      sys::raw(SYS_prctl, kGetName, reinterpret_cast<long>(info->name));
  }
  if (number == SYS_write && result == kInvalid) name_other(first, static_cast<uint64_t>(second));
}

uint32_t free_slot(const ThreadState& thread, const Task& task) {
  const uint64_t creation = task.identity.creation;
  if (!creation) return 0;  // the first task lives as long as any
  const auto first = static_cast<uint32_t>(1 + (creation - 1) % (kSlots - 1));
  // In a replay each creation has the slot that it had.
  if (creation < kSlots || happens::g_replayed) return first;
  State& s = state();
  uint64_t taken = 1;
  for (uint32_t i = 0; i < shared().order.high_task; i++) {
    const ThreadState& other = s.threads[i];
    if (&other != &thread &&
        load_enum<__ATOMIC_RELAXED>(shared().tasks[i].order.state) != TaskState::kFree)
      taken |= bit_of(other);
  }
  for (uint32_t i = 0; i < kSlots; i++) {
    const uint32_t slot = (first + i) % kSlots;
    if (!(taken >> slot & 1) &&
        thread.now.knows({__atomic_load_n(&s.over[slot], __ATOMIC_RELAXED), slot}))
      return slot;
  }
  return first;
}

}  // namespace weir::view::checked
