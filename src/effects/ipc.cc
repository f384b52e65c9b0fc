// The commands have the same numbers for all three kinds; what they fill in has not.

#include "effects/ipc.h"

#include <linux/ipc.h>
#include <linux/msg.h>
#include <linux/sem.h>
#include <linux/shm.h>

#include "effects/parts.h"
#include "sys/syscall_x86_64.h"

namespace weir::effects {

namespace {

constexpr uint64_t kSemaphores = 104, kQueue = 120,
                   kShared = 112;  // semid64_ds, msqid64_ds, shmid64_ds
constexpr uint64_t kSemaphoreLimits = 40, kQueueLimits = 32, kSharedLimits = 72, kSharedUse = 48;
constexpr uint64_t kMessageHead = 8, kMaxMessage = 1 << 20;
constexpr uint32_t kAnySemaphores = 20, kAnyQueue = 13,
                   kAnyShared = 15;  // SEM_STAT_ANY, MSG_STAT_ANY, SHM_STAT_ANY

// How many semaphores a set has: only the kernel knows.
uint64_t semaphores_of(long set) {
  uint64_t state[kSemaphores / 8] = {};
  const long result = sys::raw(SYS_semctl, set, 0, IPC_STAT, reinterpret_cast<long>(state));
  constexpr int kCount = 10;  // behind the permissions and four words of times
  return result == 0 ? state[kCount] : 0;
}

uint64_t semaphores_written(const Request& request) {
  switch (low_half(request, 2)) {
    case IPC_STAT:
    case SEM_STAT:
    case kAnySemaphores: return kSemaphores;
    case IPC_INFO:
    case SEM_INFO: return kSemaphoreLimits;
    case GETALL: return semaphores_of(request.a[0]) * 2;
    default: return 0;
  }
}

uint64_t queue_written(uint32_t command) {
  switch (command) {
    case IPC_STAT:
    case MSG_STAT:
    case kAnyQueue: return kQueue;
    case IPC_INFO:
    case MSG_INFO: return kQueueLimits;
    default: return 0;
  }
}

uint64_t shared_written(uint32_t command) {
  switch (command) {
    case IPC_STAT:
    case SHM_STAT:
    case kAnyShared: return kShared;
    case IPC_INFO: return kSharedLimits;
    case SHM_INFO: return kSharedUse;
    default: return 0;
  }
}

}  // namespace

void ipc_written(const Request& request, long result, const Visitor& visitor) {
  if (is_error(result) && !is_partial(result)) return;
  switch (request.number) {
    case SYS_semctl: return visitor(address_of(request, 3), semaphores_written(request));
    case SYS_msgctl: return visitor(address_of(request, 2), queue_written(low_half(request, 1)));
    case SYS_shmctl: return visitor(address_of(request, 2), shared_written(low_half(request, 1)));
    case SYS_msgrcv:
      return visitor(address_of(request, 1), kMessageHead + filled(result, address_of(request, 2)));
    default: return;
  }
}

void ipc_read(const Request& request, long result, const Visitor& visitor) {
  switch (request.number) {
    case SYS_semctl:
      if (low_half(request, 2) == IPC_SET) visitor(address_of(request, 3), kSemaphores);
      if (low_half(request, 2) == SETALL && result == 0)
        visitor(address_of(request, 3), semaphores_of(request.a[0]) * 2);
      return;
    case SYS_msgctl:
      if (low_half(request, 1) == IPC_SET) visitor(address_of(request, 2), kQueue);
      return;
    case SYS_shmctl:
      if (low_half(request, 1) == IPC_SET) visitor(address_of(request, 2), kShared);
      return;
    case SYS_msgsnd:
      if (address_of(request, 2) <= kMaxMessage)
        visitor(address_of(request, 1), kMessageHead + address_of(request, 2));
      return;
    default: return;
  }
}

}  // namespace weir::effects
