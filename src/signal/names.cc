// The kernel lets a process write the names of its own threads only (/proc/PID/comm), and each task
// is a process: it says EINVAL. So the name goes to that task, in the siginfo of Weir's own signal,
// and the task gives itself that name. The task that sent it waits for that, for a moment: the name
// can be read from then on.

#include "signal/names.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "base/bytes.h"
#include "control/control.h"
#include "memory/program_memory.h"
#include "record/input.h"
#include "sys/descriptor.h"
#include "sys/signal.h"
#include "sys/syscall_x86_64.h"

namespace weir::trap {

namespace {

constexpr uint64_t kName = 16;  // TASK_COMM_LEN, with a zero
constexpr int kBringsName = -'n';

struct alignas(8) NameSignal {  // as large as a siginfo_t
  int32_t number, error, code, unused;
  char name[112];
};
static_assert(sizeof(NameSignal) == sizeof(siginfo_t));

// The number in "/proc/NUMBER/comm" or "/proc/NUMBER/task/NUMBER/comm"; 0: it is no such path.
int process_of_name_file(long descriptor) {
  char path[64] = {};
  constexpr char kStart[] = "/proc/";
  const long length = sys::name_of_descriptor(descriptor, path, sizeof path - 1);
  if (sys::failed(length) || !starts_with(path, kStart) || !ends_with(path, "/comm")) return 0;
  int number = 0;
  for (const char* at = path + sizeof kStart - 1; *at >= '0' && *at <= '9'; at++)
    number = number * 10 + (*at - '0');
  return number;
}

bool has_name(int pid, const char* name) {
  char path[40], now[kName + 1] = {};
  append_text(append_number(append_text(path, "/proc/"), static_cast<uint64_t>(pid)), "/comm");
  const long file = sys::raw(SYS_open, reinterpret_cast<long>(path), 0);
  if (sys::failed(file)) return true;  // it has ended
  const long length = sys::raw(SYS_read, file, reinterpret_cast<long>(now), long{kName});
  sys::raw(SYS_close, file);
  if (length > 0) now[length - 1] = 0;  // the end of the line
  return equal_strings(now, name);
}

long send_name(int pid, const char* name) {
  constexpr int kMostTries = 200;
  NameSignal info{};
  info.number = sys::g_probe_signal;
  info.code = kBringsName;
  append_text(info.name, name);
  for (int i = 0; i < kMostTries; i++) {  // one may get lost in another that waits there
    if (sys::failed(sys::raw(SYS_rt_tgsigqueueinfo, pid, pid, sys::g_probe_signal,
                             reinterpret_cast<long>(&info))))
      return -EINVAL;
    for (int k = 0; k < 5; k++) {
      if (has_name(pid, name)) return 0;
      int64_t moment[2] = {0, 200'000};
      sys::raw(SYS_nanosleep, reinterpret_cast<long>(moment), 0);
    }
  }
  return -EINVAL;
}

}  // namespace

long name_other(long descriptor, long text, long size) {
  char name[kName] = {};
  const long most = size < long{kName} - 1 ? size : long{kName} - 1;
  if (size < 0 || from_program(name, text, static_cast<uint64_t>(most)) != 0) return -EINVAL;
  for (char& c : name)
    if (c == '\n') c = 0;
  const uint64_t done = input::log_value(input::What::kFlags, [&] {
    const int pid = process_of_name_file(descriptor);
    for (TaskId i = 0; pid && i < shared().order.high_task; i++) {
      if (task_at(i).identity.tid == pid) return send_name(pid, name) == 0;
    }
    return false;
  });
  if (!done) return -EINVAL;
  shared().program.named = 1;
  return size;
}

bool takes_name(int signal, const siginfo_t& info) {
  if (signal != sys::g_probe_signal || info.si_code != kBringsName) return false;
  sys::raw(SYS_prctl, PR_SET_NAME,
           reinterpret_cast<long>(reinterpret_cast<const NameSignal&>(info).name));
  return true;
}

}  // namespace weir::trap
