// How a task waits that spins on memory.
#include "memory/backing.h"
#include "sync/event.h"
#include "sync/turn_rules.h"
#include "sys/syscall_x86_64.h"

namespace weir {
namespace {

constexpr uint64_t kPollNs = 1'000'000;  // nanoseconds

}  // namespace

bool spins_on_foreign_memory(const Task& task) {
  for (uint32_t i = 0; i < task.spin.read_count; i++) {
    if (page::backing_bytes_at(task.spin.read[i].address) == 0) return true;
  }
  return false;
}

void TurnRules::wait_in_spin(Task& task) {
  block(0, 0, task.spin.read_count ? kPollNs : 1, "spinning on memory");
}

void wait_in_spin_of_process(Task& task) {
  if (spins_on_foreign_memory(task)) {
    int64_t pause[2] = {0, kPollNs};
    outside_begin("spinning on memory that programs share");
    sys::raw(SYS_nanosleep, reinterpret_cast<long>(pause), 0);
    outside_end();
  } else {
    block(0, 0, task.spin.read_count ? task.spin.limit : 1, "spinning on memory");
  }
}

}  // namespace weir
