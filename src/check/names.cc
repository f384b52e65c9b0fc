// The names that tasks have in reports: given while they run, by themselves (prctl) or by others,
// who write to /proc/PID/comm (pthread_setname_np). A task that has ended keeps its last one.
//
// The kernel lets a process write the name of its own threads only, and here each is a process: it
// refuses (EINVAL). signal/names.cc brings it to that task; for reports it is kept here.

#include <asm/unistd.h>

#include "base/bytes.h"
#include "check/attach.h"
#include "check/happens_before.h"
#include "check/state.h"
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

}  // namespace weir::view::checked
