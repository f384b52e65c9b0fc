// What memory the kernel reads, if the table's simple rules do not say it.

#include <errno.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/kcmp.h>
#include <linux/keyctl.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "base/types.h"
#include "effects/commands.h"
#include "effects/ioctl.h"
#include "effects/ipc.h"
#include "effects/parts.h"

namespace weir::effects {

namespace {

constexpr uint64_t kTime = 16;

// Passes on what the call does not write.
struct Filter {
  const Request& request;
  const Before& before;
  long result;
  Visitor visitor;
  uint64_t start, limit;
  bool is_written;

  static void compare(void* context, uint64_t address, uint64_t size) {
    auto* self = static_cast<Filter*>(context);
    if (address < self->limit && self->start < address + size) self->is_written = true;
  }
  static void pass(void* context, uint64_t address, uint64_t size) {
    auto* self = static_cast<Filter*>(context);
    self->start = address;
    self->limit = address + size;
    self->is_written = false;
    written_memory(self->request, self->before, self->result, compare, self);
    if (!self->is_written) self->visitor(address, size);
  }
};

uint64_t taken(long result) { return result > 0 ? static_cast<uint64_t>(result) : 0; }

void message(const Visitor& visitor, uint64_t at, uint64_t bytes) {
  msghdr header;
  if (!fetch(&header, at, sizeof header)) return;
  if (header.msg_namelen <= sizeof(sockaddr_storage))
    visitor(reinterpret_cast<uint64_t>(header.msg_name), header.msg_namelen);
  if (bytes) visitor(reinterpret_cast<uint64_t>(header.msg_control), header.msg_controllen);
  visit_vectors(visitor, reinterpret_cast<uint64_t>(header.msg_iov), header.msg_iovlen, bytes);
}

// Without the filter: what is sent is not where the kernel writes the lengths, and there may be a
// thousand messages.
void messages(const Request& request, long result, const Visitor& visitor) {
  const uint64_t count = taken(result);
  for (uint64_t i = 0; i < count; i++) {
    const uint64_t at = address_of(request, 1) + i * sizeof(mmsghdr);
    message(visitor, at, fetch_or<uint32_t>(at + offsetof(mmsghdr, msg_len), 0));
  }
}

uint64_t fcntl_size(uint32_t command) {
  constexpr uint32_t kSetLock = 6, kWaitLock = 7, kSetOwner = 15, kSetOpenFileLock = 37,
                     kWaitOpenFileLock = 38, kSetHint = 1036, kSetFileHint = 1038;
  switch (command) {
    case kSetLock:
    case kWaitLock:
    case kSetOpenFileLock:
    case kWaitOpenFileLock: return 32;
    case kSetOwner:
    case kSetHint:
    case kSetFileHint: return 8;
    default: return 0;
  }
}

bool has_time_limit(uint32_t operation) {
  switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
    case FUTEX_LOCK_PI:
    case FUTEX_LOCK_PI2:
    case FUTEX_WAIT_REQUEUE_PI: return true;
    default: return false;
  }
}

// A filter of system calls: its length and where it is.
void filter_program(const Visitor& visitor, uint64_t at) {
  sock_fprog program;
  visitor(at, sizeof program);
  if (fetch(program, at))
    visitor(reinterpret_cast<uint64_t>(program.filter), program.len * sizeof *program.filter);
}

// A set of memory nodes. The kernel takes one off the count of bits that it is given.
uint64_t nodes_size(uint64_t count) { return count > 1 ? (count - 1 + 63) / 64 * 8 : 0; }

void key_operation(const Request& request, const Visitor& visitor) {
  visitor(address_of(request, 1), sizeof(keyctl_pkey_params));
  visit_string(visitor, address_of(request, 2), kPageSize);
  const auto sizes = fetch_or(address_of(request, 1), keyctl_pkey_params{});
  visitor(address_of(request, 3), sizes.in_len);
  if (low_half(request, 0) == KEYCTL_PKEY_VERIFY) visitor(address_of(request, 4), sizes.in2_len);
}

void keyctl(const Request& request, const Visitor& visitor) {
  switch (low_half(request, 0)) {
    case KEYCTL_JOIN_SESSION_KEYRING:
      return visit_string(visitor, address_of(request, 1), kPageSize);
    case KEYCTL_UPDATE:
    case KEYCTL_INSTANTIATE: return visitor(address_of(request, 2), address_of(request, 3));
    case KEYCTL_SEARCH:
    case KEYCTL_RESTRICT_KEYRING:
      visit_string(visitor, address_of(request, 2), kPageSize);
      return visit_string(visitor, address_of(request, 3), kPageSize);
    case KEYCTL_DH_COMPUTE:
      visitor(address_of(request, 1), sizeof(keyctl_dh_params));
      if (address_of(request, 4)) visitor(address_of(request, 4), sizeof(keyctl_kdf_params));
      return;
    case KEYCTL_PKEY_QUERY: return visit_string(visitor, address_of(request, 3), kPageSize);
    case KEYCTL_PKEY_ENCRYPT:
    case KEYCTL_PKEY_DECRYPT:
    case KEYCTL_PKEY_SIGN:
    case KEYCTL_PKEY_VERIFY: return key_operation(request, visitor);
    default: return;
  }
}

void visit_special(const Request& request, long result, const Visitor& visitor) {
  switch (request.number) {
    case SYS_ioctl: return visitor(address_of(request, 2), ioctl_effect(low_half(request, 1)).read);
    case SYS_fcntl: return visitor(address_of(request, 2), fcntl_size(low_half(request, 1)));
    case SYS_prctl:
      if (request.a[0] == PR_SET_NAME) visit_string(visitor, address_of(request, 1), 4096);
      if (request.a[0] == PR_SET_VMA) visit_string(visitor, address_of(request, 4), 80);
      if (request.a[0] == PR_SET_SECCOMP && request.a[1] == SECCOMP_MODE_FILTER)
        filter_program(visitor, address_of(request, 2));
      return;
    case SYS_seccomp:
      if (request.a[0] == SECCOMP_SET_MODE_FILTER) filter_program(visitor, address_of(request, 2));
      if (request.a[0] == SECCOMP_GET_ACTION_AVAIL) visitor(address_of(request, 2), 4);
      return;
    case SYS_futex:
      if (has_time_limit(low_half(request, 1))) visitor(address_of(request, 3), kTime);
      return;
    case SYS_pselect6: {
      struct {
        uint64_t mask, size;
      } signals;
      if (request.a[5] && fetch(signals, address_of(request, 5)) && signals.size == 8)
        visitor(signals.mask, signals.size);
      return;
    }
    case SYS_mq_open: {
      constexpr uint32_t kCreate = 0100;
      if (low_half(request, 1) & kCreate) visitor(address_of(request, 3), 64);
      return;
    }
    case SYS_keyctl: return keyctl(request, visitor);
    case SYS_kcmp:
      if (low_half(request, 2) == KCMP_EPOLL_TFD)
        visitor(address_of(request, 4), sizeof(kcmp_epoll_slot));
      return;
    case SYS_mbind: return visitor(address_of(request, 3), nodes_size(address_of(request, 4)));
    case SYS_set_mempolicy:
      return visitor(address_of(request, 1), nodes_size(address_of(request, 2)));
    case SYS_migrate_pages:
      visitor(address_of(request, 2), nodes_size(address_of(request, 1)));
      return visitor(address_of(request, 3), nodes_size(address_of(request, 1)));
    case SYS_semctl:
    case SYS_msgctl:
    case SYS_shmctl:
    case SYS_msgsnd: return ipc_read(request, result, visitor);
    case SYS_sched_setattr: {  // its first word is its size, 0 for that of the first kernels with
                               // this call
      constexpr uint32_t kFirst = 48, kMax = 4096;
      const auto size = fetch_or<uint32_t>(address_of(request, 1), 0);
      return visitor(address_of(request, 1), size == 0 ? kFirst : size < kMax ? size : kMax);
    }
    case SYS_open_by_handle_at:
      if (!is_error(result))
        visitor(address_of(request, 1),
                8 + uint64_t{fetch_or<uint32_t>(address_of(request, 1), 0)});
      return;
    case SYS_capset: {
      const bool is_short =
          fetch_or<uint32_t>(address_of(request, 0), 0) == _LINUX_CAPABILITY_VERSION_1;
      return visitor(address_of(request, 1), is_short ? 12 : 24);
    }
    case SYS_landlock_add_rule: {
      constexpr uint32_t kBeneath = 1;
      return visitor(address_of(request, 2), low_half(request, 1) == kBeneath ? 12 : 16);
    }
    case kCall_setxattrat: {
      const auto arguments = fetch_or(address_of(request, 4), AttributeArguments{});
      if (result == 0) visitor(arguments.value, arguments.size);
      return;
    }
    default: return;
  }
}

// A header of a message, with the array that it leads to.
void header(const Visitor& visitor, uint64_t at) {
  const auto read = fetch_or(at, msghdr{});
  visitor(at, sizeof read);
  if (read.msg_iovlen <= kMaxVectors)
    visitor(reinterpret_cast<uint64_t>(read.msg_iov), read.msg_iovlen * sizeof(iovec));
}

}  // namespace

void leading_memory(const Request& request, Visit visit, void* context) {
  const Visitor visitor{visit, context};
  const uint64_t second = address_of(request, 1);
  switch (request.number) {
    case SYS_sendmsg:
    case SYS_recvmsg: return header(visitor, second);
    case SYS_sendmmsg:
    case SYS_recvmmsg:
      for (uint64_t i = 0; i < low_half(request, 2) && i < Before::kMaxMessages; i++)
        header(visitor, second + i * sizeof(mmsghdr));
      return;
    default: break;
  }
  if (const Row* row = row_of(request.number)) visit_leading_parts(*row, request, visitor);
}

void read_memory(const Request& request, const Before& before, long result, Visit visit,
                 void* context) {
  const Row* row = row_of(request.number);
  if (!row || result == -EFAULT) return;
  const Visitor visitor{visit, context};
  if (request.number == SYS_sendmsg) return message(visitor, address_of(request, 1), taken(result));
  if (request.number == SYS_sendmmsg) return messages(request, result, visitor);
  Filter filter{request, before, result, visitor, 0, 0, false};
  const Visitor unwritten{Filter::pass, &filter};
  visit_special(request, result, unwritten);
  visit_parts(*row, request, result, false, unwritten);
}

}  // namespace weir::effects
