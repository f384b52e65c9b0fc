// What the runtime takes for itself (descriptors, a sparse file of a terabyte) should not count
// against what the program may have. A process may raise its soft limits up to the hard ones. The
// runtime does so for the length of a call, in its own process, while no code of the program runs
// there. Only the hard limits remain.
//
// Invariants
// 1. A hidden descriptor's bit is set while the descriptor is open, and clear before it is closed:
//    once closed, its number may be anybody's. (checked in hide)
// 2. No call of the runtime goes past the limit on file sizes: the kernel would send SIGXFSZ. (not
//    checkable: the kernel knows the limit and answers with the signal)

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>

#include "control/options.h"
#include "memory/backing.h"
#include "sys/futex.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"

namespace weir::page {

namespace {

// Numbers under the limit that are left for hidden descriptors.
constexpr uint64_t kHiddenRoom = 1400;
constexpr uint64_t kHiddenFloor = 700;  // where the limit is too low for that
// The kernel's table of descriptors is as long as the highest number.
constexpr uint64_t kHiddenHighest = 60000;

uint64_t descriptor_bit(int descriptor) { return uint64_t{1} << (descriptor % 64); }

// The lowest number for a hidden descriptor: above all that the program may have, or at least high.
// Under Order serial few are hidden, and beside those that the command has passed on: a copy of the
// process copies the table up to the highest one, for each run of `weir hunt`.
uint64_t hidden_floor(const LimitLifted& limit) {
  const int schedule = options().schedule_memory;
  if (schedule >= 0 && static_cast<uint64_t>(schedule) < limit.now)
    return static_cast<uint64_t>(schedule);
  if (limit.now > limit.was && limit.was < kHiddenHighest) return limit.was;
  uint64_t floor = limit.now > 2 * kHiddenRoom ? limit.now - kHiddenRoom : kHiddenFloor;
  if (floor > kHiddenHighest) floor = kHiddenHighest;
  return floor < limit.now ? floor : limit.now / 2;
}

int hide(int descriptor, const LimitLifted& limit) {
  long high =
      sys::raw(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, static_cast<long>(hidden_floor(limit)));
  if (sys::failed(high)) high = descriptor;  // none is left up there: its bit hides it where it is
  else sys::raw(SYS_close, descriptor);
  if (g_control_mapped && high < kHiddenDescriptors) {
    // relaxed: who asks has the turn, or asks for a descriptor of its own
    const uint64_t bit = descriptor_bit(static_cast<int>(high));
    [[maybe_unused]] const uint64_t before = __atomic_fetch_or(
        &shared().mapping_log.hidden_descriptors[high / 64], bit, __ATOMIC_RELAXED);
    WEIR_DEBUG_CHECK(!(before & bit));  // invariant 1 of hidden_descriptors.cc
  }
  return static_cast<int>(high);
}

}  // namespace

LimitLifted::LimitLifted(int resource) : resource_(resource) {
  rlimit limit{RLIM_INFINITY, RLIM_INFINITY};  // where the question is forbidden
  sys::raw(SYS_prlimit64, 0, resource, 0, reinterpret_cast<long>(&limit));
  was = now = limit.rlim_cur;
  most_ = limit.rlim_max;
  if (was >= most_) return;
  rlimit lifted{most_, most_};
  if (sys::raw(SYS_prlimit64, 0, resource, reinterpret_cast<long>(&lifted), 0) == 0) now = most_;
}

LimitLifted::~LimitLifted() {
  if (now == was) return;
  rlimit limit{was, most_}, between{};
  sys::raw(SYS_prlimit64, 0, resource_, reinterpret_cast<long>(&limit),
           reinterpret_cast<long>(&between));
  if (between.rlim_cur == now && between.rlim_max == most_) return;
  sys::raw(SYS_prlimit64, 0, resource_, reinterpret_cast<long>(&between),
           0);  // another task has set it meanwhile
}

void keep_hidden(int descriptor) {
  if (descriptor < kHiddenDescriptors)
    __atomic_fetch_or(&shared().mapping_log.hidden_descriptors[descriptor / 64],
                      descriptor_bit(descriptor), __ATOMIC_RELAXED);
}

int hide_descriptor(int descriptor) { return hide(descriptor, LimitLifted(RLIMIT_NOFILE)); }

long open_hidden(long number, long a, long b, long c, long d, long e) {
  LimitLifted limit(RLIMIT_NOFILE);
  const long descriptor = sys::raw(number, a, b, c, d, e);
  return sys::failed(descriptor) ? descriptor : hide(static_cast<int>(descriptor), limit);
}

// All processes have one table of descriptors, and who looks whether it has room for one more
// process (task/spawn.cc) holds those that it counts for a moment.
long open_hidden_patiently(long number, long a, long b, long c) {
  constexpr uint64_t kMaxWaitNs = 100'000'000;
  const uint64_t begin = sys::monotonic_ns();
  for (;;) {
    const long file = open_hidden(number, a, b, c);
    if (file != -EMFILE || sys::monotonic_ns() - begin > kMaxWaitNs) return file;
    sys::raw(SYS_sched_yield);
  }
}

bool descriptors_left(uint32_t count) {
  LimitLifted limit(RLIMIT_NOFILE);
  const long first = sys::raw(SYS_fcntl, shared().memory.backing, F_DUPFD_CLOEXEC, 3);
  if (sys::failed(first)) return false;
  const bool left = count <= 1 || descriptors_left(count - 1);
  sys::raw(SYS_close, first);
  return left;
}

void close_hidden(int descriptor) {
  if (is_hidden(descriptor))
    __atomic_fetch_and(&shared().mapping_log.hidden_descriptors[descriptor / 64],
                       ~descriptor_bit(descriptor), __ATOMIC_RELAXED);
  sys::raw(SYS_close, descriptor);
}

bool is_hidden(int descriptor) {
  if (!g_control_mapped || descriptor < 0 || descriptor >= kHiddenDescriptors) return false;
  return __atomic_load_n(&shared().mapping_log.hidden_descriptors[descriptor / 64],
                         __ATOMIC_RELAXED) &
         descriptor_bit(descriptor);
}

long set_file_size(int file, uint64_t size) {
  LimitLifted limit(RLIMIT_FSIZE);
  return limit.now < size ? -EFBIG : sys::raw(SYS_ftruncate, file, static_cast<long>(size));
}

}  // namespace weir::page
