#include "signal/context/refused_access.h"

#include "control/control.h"
#include "control/process.h"
#include "memory/backing.h"
#include "memory/program_memory.h"

extern "C" {
extern const char weir_refused_access[] __attribute__((visibility("hidden")));
extern const char weir_refused_access_end[] __attribute__((visibility("hidden")));
}

namespace weir::trap {

bool is_refused(uint64_t address, uint64_t size) {
  const auto refuses = [](uint64_t at) {
    return plan().has_processes() && page::backing_bytes_at(at)
               ? !page::may_access(page_down(at), true)
               : weir_safe_touch(reinterpret_cast<void*>(at)) != 0;
  };
  const uint64_t last = address + size - 1;
  return refuses(address) || (page_down(last) != page_down(address) && refuses(last));
}

void access_refused(Task& task, Frame& frame, uint64_t address, uint64_t again) {
  task.signals.refused = {frame.rax, frame.rflags, again};
  frame.rax = address;
  frame.rip = reinterpret_cast<uint64_t>(weir_refused_access);
}

bool meet_refused(Task& task, int signal, ucontext_t& context) {
  auto& gregs = context.uc_mcontext.gregs;
  const auto rip = static_cast<uint64_t>(gregs[REG_RIP]);
  const auto first = reinterpret_cast<uint64_t>(weir_refused_access),
             last = reinterpret_cast<uint64_t>(weir_refused_access_end) + 1;  // int3 is behind it
  if (rip < first || rip > last) return false;
  const RefusedAccess& refused = task.signals.refused;
  gregs[REG_RAX] = static_cast<greg_t>(refused.rax);
  gregs[REG_EFL] = static_cast<greg_t>(refused.rflags);
  gregs[REG_RIP] = static_cast<greg_t>(refused.again);
  return signal == SIGTRAP && rip == last;
}

}  // namespace weir::trap
