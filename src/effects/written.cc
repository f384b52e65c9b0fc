// What memory the kernel writes, if the table's simple rules do not say it. Sizes and offsets are
// those of the kernel's structures.
//
// Structures that hold pointers and lengths are read after the call. The kernel changes only their
// lengths. Before has those that the kernel raises above the room that was there.

#include <errno.h>
#include <linux/capability.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/futex.h>
#include <linux/keyctl.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "base/types.h"
#include "effects/commands.h"
#include "effects/ioctl.h"
#include "effects/ipc.h"
#include "effects/parts.h"

namespace weir::effects {

namespace {

constexpr uint32_t kMaxAddress = 128;
constexpr uint64_t kMessageNameSize = 8, kMessageControlSize = 40,
                   kMessageLength = 56;  // offsets in a (m)msghdr
static_assert(offsetof(msghdr, msg_namelen) == kMessageNameSize &&
              offsetof(msghdr, msg_controllen) == kMessageControlSize);
static_assert(sizeof(msghdr) == kMessageLength &&
              offsetof(msghdr, msg_flags) == kMessageControlSize + 8);

uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

// At most what an address has. A negative size the kernel refuses.
uint32_t address_room(uint64_t pointer) {
  const auto room = fetch_or<int32_t>(pointer, 0);
  return room < 0 ? 0 : static_cast<uint32_t>(smaller(static_cast<uint32_t>(room), kMaxAddress));
}

uint64_t message_at(const Request& request, uint64_t index) {
  return address_of(request, 1) + index * sizeof(mmsghdr);
}
uint64_t messages_of(const Request& request) {
  return smaller(low_half(request, 2), Before::kMaxMessages);
}

// Where a value-result pair has its length; the address is before it.
int length_argument(long number) { return number == SYS_recvfrom ? 5 : 2; }

void address(const Request& request, const Before& before, long result, const Visitor& visitor) {
  const int place = length_argument(request.number);
  const uint64_t at = address_of(request, place - 1), length = address_of(request, place);
  // A negative length is noticed when the data is there.
  if (request.number == SYS_recvfrom && at && result == -EINVAL)
    visitor(address_of(request, 1), address_of(request, 2));
  if (is_error(result) && !is_partial(result)) return;
  const bool is_required = request.number == SYS_getsockname || request.number == SYS_getpeername;
  if (at || is_required) visitor(length, 4);
  const uint64_t size =
      is_partial(result) ? before.room : smaller(before.room, fetch_or<uint32_t>(length, 0));
  visitor(at, size);
}

void socket_option(const Request& request, const Before& before, long result,
                   const Visitor& visitor) {
  visitor(address_of(request, 4), 4);
  if (is_error(result) && !is_partial(result)) return;
  constexpr uint32_t kFilterInstruction = 8;
  const bool is_filter = low_half(request, 1) == SOL_SOCKET &&
                         low_half(request, 2) == SO_GET_FILTER;  // its length counts instructions
  visitor(address_of(request, 3), before.room * uint64_t{is_filter ? kFilterInstruction : 1});
}

void message(const Visitor& visitor, uint64_t at, uint64_t name_room, long result) {
  msghdr header;
  if (!fetch(&header, at, sizeof header)) return;
  if (header.msg_name) {
    visitor(at + kMessageNameSize, 4);
    visitor(reinterpret_cast<uint64_t>(header.msg_name),
            is_partial(result) ? name_room : smaller(name_room, header.msg_namelen));
  }
  visitor(at + kMessageControlSize, 8 + 4);  // and the flags behind it
  visitor(reinterpret_cast<uint64_t>(header.msg_control), header.msg_controllen);
  visit_vectors(visitor, reinterpret_cast<uint64_t>(header.msg_iov), header.msg_iovlen,
                filled(result, kAddressLimit));
}

void messages(const Request& request, const Before& before, long result, const Visitor& visitor) {
  const uint64_t count = filled(result, messages_of(request));
  for (uint64_t i = 0; i < count; i++) {
    const uint64_t at = message_at(request, i);
    visitor(at + kMessageLength, 4);
    if (request.number == SYS_sendmmsg) continue;
    const long size = is_partial(result) ? result : fetch_or<uint32_t>(at + kMessageLength, 0);
    message(visitor, at, before.name_room[i], size);
  }
}

void descriptor_sets(const Request& request, long result, const Visitor& visitor) {
  const auto count = static_cast<int32_t>(request.a[0]);
  if (count <= 0 || (is_error(result) && !is_partial(result))) return;
  constexpr int32_t kMax = 1 << 20;
  const auto size = static_cast<uint64_t>(((count < kMax ? count : kMax) + 63) / 64 * 8);
  for (int set = 1; set <= 3; set++) visitor(address_of(request, set), size);
}

void ioctl(const Request& request, long result, const Visitor& visitor) {
  const uint32_t command = low_half(request, 1);
  const IoctlEffect effect = ioctl_effect(command);
  if (is_error(result) && !is_partial(result) && command != FS_IOC_FIEMAP) return;
  visitor(address_of(request, 2), effect.written);
  ioctl_written_beyond(command, address_of(request, 2), visitor);
}

uint32_t fcntl_size(uint32_t command) {
  constexpr uint32_t kGetLock = 5, kGetOwner = 16, kGetOwnerIds = 17, kGetOpenFileLock = 36,
                     kGetHint = 1035, kGetFileHint = 1037, kGetDelegation = 1039;
  switch (command) {
    case kGetLock:
    case kGetOpenFileLock: return 32;
    case kGetOwner:
    case kGetOwnerIds:
    case kGetHint:
    case kGetFileHint:
    case kGetDelegation: return 8;
    default: return 0;
  }
}

void prctl(const Request& request, long result, const Visitor& visitor) {
  if (is_error(result) && !is_partial(result)) return;
  const uint64_t at = address_of(request, 1);
  switch (low_half(request, 0)) {
    case PR_GET_PDEATHSIG:
    case PR_GET_UNALIGN:
    case PR_GET_FPEMU:
    case PR_GET_FPEXC:
    case PR_GET_ENDIAN:
    case PR_GET_TSC:
    case PR_GET_CHILD_SUBREAPER: return visitor(at, 4);
    case PR_GET_TID_ADDRESS: return visitor(at, 8);
    case PR_GET_NAME: return visitor(at, 16);
    case kGetAuxiliaryVector: return visitor(at, filled(result, address_of(request, 2)));
    case PR_SCHED_CORE:
      if (at == PR_SCHED_CORE_GET) visitor(address_of(request, 4), 8);
      return;
    default: return;
  }
}

void arch_prctl(const Request& request, long result, const Visitor& visitor) {
  if (is_error(result) && !is_partial(result)) return;
  switch (low_half(request, 0)) {
    case 0x1003:
    case 0x1004:  // FS and GS
    case 0x1021:
    case 0x1022:
    case 0x1024:  // components of XSAVE
    case 0x5005:  // shadow stacks
      return visitor(address_of(request, 1), 8);
    default: return;
  }
}

void futex(const Request& request, const Visitor& visitor) {
  switch (low_half(request, 1) & FUTEX_CMD_MASK) {
    case FUTEX_LOCK_PI:
    case FUTEX_LOCK_PI2:
    case FUTEX_UNLOCK_PI:
    case FUTEX_TRYLOCK_PI: return visitor(address_of(request, 0), 4);
    case FUTEX_WAKE_OP:
    case FUTEX_CMP_REQUEUE_PI:
    case FUTEX_WAIT_REQUEUE_PI: return visitor(address_of(request, 4), 4);
    default: return;
  }
}

void keyctl(const Request& request, long result, const Visitor& visitor) {
  switch (low_half(request, 0)) {
    case KEYCTL_DESCRIBE:
    case KEYCTL_READ:
    case KEYCTL_GET_SECURITY:
    case KEYCTL_DH_COMPUTE:
      return visitor(address_of(request, 2), filled(result, address_of(request, 3)));
    case KEYCTL_PKEY_QUERY:
      if (!is_error(result)) visitor(address_of(request, 4), sizeof(keyctl_pkey_query));
      return;
    case KEYCTL_PKEY_ENCRYPT:
    case KEYCTL_PKEY_DECRYPT:
    case KEYCTL_PKEY_SIGN:
      return visitor(
          address_of(request, 4),
          filled(result, fetch_or(address_of(request, 1), keyctl_pkey_params{}).out_len));
    case KEYCTL_CAPABILITIES:
      if (!is_error(result)) visitor(address_of(request, 1), address_of(request, 2));
      return;
    default: return;
  }
}

void file_handle(const Request& request, long result, const Visitor& visitor) {
  if (is_error(result) && !is_partial(result) && result != -EOVERFLOW) return;
  constexpr uint32_t kHead = 8, kMax = 128, kIsUniqueMount = 1;
  const uint64_t handle = address_of(request, 2);
  const uint64_t size = result == -EOVERFLOW ? 0 : smaller(fetch_or<uint32_t>(handle, 0), kMax);
  visitor(handle, kHead + size);
  visitor(address_of(request, 3), low_half(request, 4) & kIsUniqueMount ? 8 : 4);
}

void capabilities(const Request& request, long result, const Visitor& visitor) {
  const uint64_t head = address_of(request, 0);
  visitor(head, 4);  // where the version is unknown, one that is known
  if (is_error(result) && !is_partial(result)) return;
  visitor(address_of(request, 1),
          fetch_or<uint32_t>(head, 0) == _LINUX_CAPABILITY_VERSION_1 ? 12 : 24);
}

void clone(uint64_t flags, uint64_t pidfd, uint64_t parent, uint64_t child, long result,
           const Visitor& visitor) {
  if (flags & CLONE_PIDFD) visitor(pidfd, 4);
  if (flags & CLONE_PARENT_SETTID) visitor(parent, 4);
  if ((flags & CLONE_CHILD_SETTID) && (result == 0 || (flags & CLONE_VM))) visitor(child, 4);
}

void clone3(const Request& request, long result, const Visitor& visitor) {
  clone_args arguments{};
  if (fetch(&arguments, address_of(request, 0),
            smaller(address_of(request, 1), sizeof arguments))) {
    clone(arguments.flags, arguments.pidfd, arguments.parent_tid, arguments.child_tid, result,
          visitor);
  }
}

void nodes(const Request& request, long result, const Visitor& visitor) {
  const uint64_t count = address_of(request, 2);
  if ((!is_error(result) || is_partial(result)) && count)
    visitor(address_of(request, 1), (count - 1 + 63) / 64 * 8);
}

void sized_list(const Request& request, const Before& before, int list, long result,
                const Visitor& visitor) {
  visitor(address_of(request, list + 1), 4);
  if (!is_error(result) || is_partial(result)) visitor(address_of(request, list), before.room);
}

// Calls of which the table knows nothing, or not all.
void visit_special(const Request& request, const Before& before, long result,
                   const Visitor& visitor) {
  const bool is_done = !is_error(result) || is_partial(result);
  switch (request.number) {
    case SYS_accept:
    case SYS_accept4:
    case SYS_getsockname:
    case SYS_getpeername:
    case SYS_recvfrom: return address(request, before, result, visitor);
    case SYS_getsockopt: return socket_option(request, before, result, visitor);
    case SYS_recvmsg:
      if (is_done) message(visitor, address_of(request, 1), before.room, result);
      return;
    case SYS_recvmmsg:
    case SYS_sendmmsg: return messages(request, before, result, visitor);
    case SYS_select:
    case SYS_pselect6: return descriptor_sets(request, result, visitor);
    case SYS_ioctl: return ioctl(request, result, visitor);
    case SYS_fcntl:
      if (is_done) visitor(address_of(request, 2), fcntl_size(low_half(request, 1)));
      return;
    case SYS_prctl: return prctl(request, result, visitor);
    case SYS_arch_prctl: return arch_prctl(request, result, visitor);
    case SYS_futex: return futex(request, visitor);
    case SYS_keyctl: return keyctl(request, result, visitor);
    case SYS_semctl:
    case SYS_msgctl:
    case SYS_shmctl:
    case SYS_msgrcv: return ipc_written(request, result, visitor);
    case SYS_name_to_handle_at: return file_handle(request, result, visitor);
    case SYS_capget: return capabilities(request, result, visitor);
    case SYS_clone:
      return clone(address_of(request, 0), address_of(request, 2), address_of(request, 2),
                   address_of(request, 3), result, visitor);
    case SYS_clone3: return clone3(request, result, visitor);
    case SYS_get_mempolicy: return nodes(request, result, visitor);
    case SYS_mincore:
      if (is_done || result == -ENOMEM)
        visitor(address_of(request, 2), page_up(address_of(request, 1)) / kPageSize);
      return;
    case SYS_sysfs:
      if (is_done && request.a[0] == 2) visit_string(visitor, address_of(request, 2), kPageSize);
      return;
    case SYS_syslog:
      if (request.a[0] >= 2 && request.a[0] <= 4)
        visitor(address_of(request, 1), filled(result, low_half(request, 2)));
      return;
    case SYS_sched_setattr:
      if (result == -E2BIG) visitor(address_of(request, 1), 4);
      return;
    case SYS_seccomp:
      if (is_done && request.a[0] == SECCOMP_GET_NOTIF_SIZES) visitor(address_of(request, 2), 6);
      return;
    case kCall_statmount:
      if (is_done)
        visitor(address_of(request, 1),
                smaller(address_of(request, 2), fetch_or<uint32_t>(address_of(request, 1), 0)));
      return;
    case kCall_lsm_get_self_attr: return sized_list(request, before, 1, result, visitor);
    case kCall_lsm_list_modules: return sized_list(request, before, 0, result, visitor);
    case kCall_getxattrat: {
      const auto arguments = fetch_or(address_of(request, 4), AttributeArguments{});
      return visitor(arguments.value, filled(result, arguments.size));
    }
    default: return;
  }
}

}  // namespace

void prepare(const Request& request, Before* before) {
  before->room = 0;
  switch (request.number) {
    case SYS_accept:
    case SYS_accept4:
    case SYS_getsockname:
    case SYS_getpeername:
    case SYS_recvfrom:
      before->room = address_room(address_of(request, length_argument(request.number)));
      return;
    case SYS_recvmsg:
      before->room = address_room(address_of(request, 1) + kMessageNameSize);
      return;
    case SYS_recvmmsg:
      for (uint64_t i = 0; i < messages_of(request); i++) {
        before->name_room[i] =
            static_cast<uint8_t>(address_room(message_at(request, i) + kMessageNameSize));
      }
      return;
    case SYS_getsockopt: {
      const auto room = fetch_or<int32_t>(address_of(request, 4), 0);
      before->room = room < 0 ? 0 : static_cast<uint32_t>(room);
      return;
    }
    case kCall_lsm_get_self_attr:
      before->room = fetch_or<uint32_t>(address_of(request, 2), 0);
      return;
    case kCall_lsm_list_modules:
      before->room = fetch_or<uint32_t>(address_of(request, 1), 0);
      return;
    default: return;
  }
}

void written_memory(const Request& request, const Before& before, long result, Visit visit,
                    void* context) {
  const Row* row = row_of(request.number);
  if (!row) return;
  const Visitor visitor{visit, context};
  visit_special(request, before, result, visitor);
  visit_parts(*row, request, result, true, visitor);
}

}  // namespace weir::effects
