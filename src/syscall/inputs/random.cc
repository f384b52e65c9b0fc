// Random bytes that are asked for by getrandom(), the devices, and /proc/sys/kernel/random/uuid.
// libc's getentropy, arc4random, mkstemp and their like come here too.

#include <errno.h>
#include <fcntl.h>
#include <linux/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "base/bytes.h"
#include "constant/constant.h"
#include "memory/program_memory.h"
#include "sync/event.h"
#include "sys/syscall_x86_64.h"
#include "syscall/constant.h"

namespace weir::syscalls {

namespace {

constexpr char kUuid[] = "/proc/sys/kernel/random/uuid";
constexpr uint64_t kMax = 0x7ffff000;  // of one call, as the kernel

// Which of the program's descriptors is one of the devices is not remembered: it is inherited,
// copied and passed on in too many ways.
bool is_device(long descriptor) {
  struct stat status;
  if (sys::raw(SYS_fstat, descriptor, reinterpret_cast<long>(&status)) != 0) return false;
  constexpr unsigned kMemory = 1, kRandom = 8, kUrandom = 9;
  if (!S_ISCHR(status.st_mode) || major(status.st_rdev) != kMemory) return false;
  const unsigned which = minor(status.st_rdev);
  return which == kRandom || which == kUrandom;
}

bool is_readable(long descriptor) {
  const long flags = sys::raw(SYS_fcntl, descriptor, F_GETFL);
  return flags >= 0 && (flags & O_ACCMODE) != O_WRONLY;
}

// Bytes written, or -EFAULT.
long fill(uint64_t at, uint64_t size) {
  uint8_t piece[256];
  if (size > kMax) size = kMax;
  for (uint64_t done = 0; done < size;) {
    const uint64_t part = size - done < sizeof piece ? size - done : sizeof piece;
    constant::fill_random(piece, part);
    if (trap::to_program(static_cast<long>(at + done), piece, part) != 0)
      return done ? static_cast<long>(done) : -EFAULT;
    done += part;
  }
  return static_cast<long>(size);
}

long fill_vector(const Call& call) {
  long sum = 0;
  trap::each_piece(call.b, call.c, kMax, [&](uint64_t at, uint64_t size) {
    const long filled = sum < 0 ? 0 : fill(at, size);
    sum = filled < 0 ? filled : sum + filled;
  });
  return sum;
}

bool names_uuid(long path) {
  char name[sizeof kUuid + 1];
  return trap::string_from_program(name, path, sizeof name) == sizeof kUuid - 1 &&
         equal_strings(name, kUuid);
}

long make_uuid(long flags) {
  char text[37];
  uint8_t bytes[16];
  constant::fill_random(bytes, sizeof bytes);
  bytes[6] = static_cast<uint8_t>((bytes[6] & 0x0f) | 0x40);  // version 4
  bytes[8] = static_cast<uint8_t>((bytes[8] & 0x3f) | 0x80);
  char* at = text;
  for (int i = 0; i < 16; i++) {
    if (i == 4 || i == 6 || i == 8 || i == 10) *at++ = '-';
    constexpr char kDigits[] = "0123456789abcdef";
    *at++ = kDigits[bytes[i] >> 4];
    *at++ = kDigits[bytes[i] & 15];
  }
  *at = '\n';
  const TurnScope turn(EventKind::kSyscall);
  constexpr long kCloseOnExec = 1;  // MFD_CLOEXEC
  const long file = sys::raw(SYS_memfd_create, reinterpret_cast<long>("uuid"),
                             flags & O_CLOEXEC ? kCloseOnExec : 0);
  if (file >= 0) sys::raw(SYS_pwrite64, file, reinterpret_cast<long>(text), sizeof text, 0);
  return file;
}

}  // namespace

bool has_constant_random(long number) {
  switch (number) {
    case SYS_getrandom:
    case SYS_read:
    case SYS_pread64:
    case SYS_readv:
    case SYS_preadv:
    case SYS_preadv2:
    case SYS_sendfile:
    case SYS_splice:
    case SYS_copy_file_range:
    case SYS_open:
    case SYS_openat: return true;
    default: return false;
  }
}

bool answer_random(Call& call, long& result) {
  constexpr long kFlags = GRND_NONBLOCK | GRND_RANDOM | GRND_INSECURE;
  switch (call.number) {
    case SYS_getrandom:
      if ((call.c & ~kFlags) ||
          (call.c & (GRND_RANDOM | GRND_INSECURE)) == (GRND_RANDOM | GRND_INSECURE)) {
        result = -EINVAL;
      } else {
        result = fill(static_cast<uint64_t>(call.a), static_cast<uint64_t>(call.b));
      }
      return true;
    case SYS_read:
    case SYS_pread64:
      if (!is_device(call.a) || !is_readable(call.a)) return false;
      result = fill(static_cast<uint64_t>(call.b), static_cast<uint64_t>(call.c));
      return true;
    case SYS_readv:
    case SYS_preadv:
    case SYS_preadv2:
      if (!is_device(call.a) || !is_readable(call.a)) return false;
      result = fill_vector(call);
      return true;
    case SYS_sendfile:
      if (!is_device(call.b)) return false;
      result = -EINVAL;  // as kernels before 5.19: the program reads and writes
      return true;
    case SYS_splice:
    case SYS_copy_file_range:
      if (!is_device(call.a)) return false;
      result = -EINVAL;
      return true;
    case SYS_open:
      if (!names_uuid(call.a)) return false;
      result = make_uuid(call.b);
      return true;
    case SYS_openat:
      if (!names_uuid(call.b)) return false;
      result = make_uuid(call.c);
      return true;
    default: return false;
  }
}

}  // namespace weir::syscalls
