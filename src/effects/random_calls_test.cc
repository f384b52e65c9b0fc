// Calls with random arguments: whatever the kernel makes of them, each byte that it changes must be
// in a visited range. Only calls that ask; every argument that may be an address has memory of its
// own, which ends before a hole.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "effects/effects.h"
#include "sys/syscall_x86_64.h"

namespace weir::effects {
namespace {

constexpr size_t kSlot = 8192, kStride = 3 * 4096,
                 kSlots = 10;  // six for arguments, four for what they point to
constexpr size_t kNearHole = 400;
constexpr int kRounds = 800;

struct Span {
  uint64_t start, limit;
};

void collect(void* context, uint64_t address, uint64_t size) {
  static_cast<std::vector<Span>*>(context)->push_back({address, address + size});
}

bool fetch_mapped(void* to, uint64_t from, uint64_t size);

struct RandomCalls : ::testing::Test {
  RandomCalls() {
    start = static_cast<uint8_t*>(
        mmap(nullptr, kSlots * kStride, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    for (size_t i = 0; i < kSlots; i++) mprotect(slot(i), kSlot, PROT_READ | PROT_WRITE);
    self = this;
    set_fetch(fetch_mapped);
    open_descriptors();
    struct sigaction action {};
    action.sa_handler = [](int) {};
    sigaction(SIGALRM, &action, nullptr);
    const itimerval time{{0, 2000}, {0, 2000}};
    setitimer(ITIMER_REAL, &time, nullptr);
  }
  ~RandomCalls() override {
    const itimerval none{};
    setitimer(ITIMER_REAL, &none, nullptr);
    set_fetch([](void* to, uint64_t from, uint64_t size) {
      std::memcpy(to, reinterpret_cast<const void*>(from), size);
      return true;
    });
    for (long one : descriptors) close(static_cast<int>(one));
    munmap(start, kSlots * kStride);
  }
  RandomCalls(const RandomCalls&) = delete;
  RandomCalls& operator=(const RandomCalls&) = delete;

  uint8_t* slot(size_t i) const { return start + i * kStride; }
  bool holds(uint64_t from, uint64_t size) const {
    const uint64_t at = from - reinterpret_cast<uint64_t>(start);
    return at < kSlots * kStride && at % kStride + size <= kSlot;
  }

  void open_descriptors() {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_NONBLOCK), 0);
    EXPECT_EQ(write(ends[1], std::string(3000, 'p').data(), 3000), 3000);
    descriptors.insert(descriptors.end(), ends, ends + 2);
    for (int type : {SOCK_STREAM, SOCK_DGRAM}) {
      EXPECT_EQ(socketpair(AF_UNIX, type | SOCK_NONBLOCK, 0, ends), 0);
      descriptors.insert(descriptors.end(), ends, ends + 2);
    }
    server = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    EXPECT_EQ(bind(server, reinterpret_cast<sockaddr*>(&address), sizeof(sa_family_t)),
              0);  // the kernel finds a name
    EXPECT_EQ(listen(server, 5), 0);
    descriptors.push_back(server);
    const int epoll = epoll_create1(0);
    epoll_event event{};
    event.events = EPOLLOUT;
    epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event);
    descriptors.push_back(epoll);
    descriptors.push_back(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK));
    descriptors.push_back(open("/etc/passwd", O_RDONLY));
    descriptors.push_back(open("/etc", O_RDONLY | O_DIRECTORY));
    descriptors.push_back(open("/dev/zero", O_RDONLY));
    descriptors.push_back(open("/proc/self/status", O_RDONLY));
    descriptors.push_back(open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK));
  }

  // So that there is something to receive.
  void refill() {
    for (size_t i = 1; i < 6; i++) {
      const uint64_t words[4] = {random(), random(), random(), random()};
      sys::raw(SYS_write, descriptors[i], reinterpret_cast<long>(words), sizeof words);
    }
    if (random() % 4) return;
    const int client = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    sockaddr_un address{};
    socklen_t size = sizeof address;
    getsockname(server, reinterpret_cast<sockaddr*>(&address), &size);
    connect(client, reinterpret_cast<sockaddr*>(&address), size);
    close(client);
  }

  uint64_t below(uint64_t limit) { return random() % limit; }
  long small() {
    constexpr long kNumbers[] = {0,  1,  2,   3,   4,   7,    8,    16,  24,
                                 31, 64, 100, 128, 200, 1000, 4096, 9000};
    return kNumbers[below(std::size(kNumbers))];
  }
  long place(size_t slot_number) {
    const uint64_t at =
        below(3) ? below(kSlot / 16) * 16 : kSlot - below(below(2) ? 40 : kNearHole);
    return reinterpret_cast<long>(slot(slot_number) + at);
  }
  long argument(size_t number) {
    switch (below(10)) {
      case 0: return small();
      case 1: return static_cast<long>(below(70));
      case 2: return descriptors[below(descriptors.size())];
      case 3: return below(3) ? 0 : -static_cast<long>(below(3));
      default: return place(number);
    }
  }
  void fill() {
    for (size_t i = 0; i < kSlots; i++) {
      auto* words = reinterpret_cast<uint64_t*>(slot(i));
      for (size_t w = 0; w < kSlot / 8; w++) {
        if (i >= 6) {
          words[w] = random();
        } else if (w % 2 == 0) {
          words[w] = below(3) ? static_cast<uint64_t>(place(6 + below(kSlots - 6)))
                              : 64;  // no memory is there
        } else {
          words[w] = below(4) ? static_cast<uint64_t>(small()) : random();
        }
      }
    }
  }

  void check(long number, const Request& request) {
    static Before before;
    prepare(request, &before);
    const std::vector<uint8_t> old = memory();
    const long* v = request.a;
    const long result = sys::raw(number, v[0], v[1], v[2], v[3], v[4], v[5]);
    const std::vector<uint8_t> now = memory();
    if (old == now) return;
    std::vector<Span> visited;
    written_memory(request, before, result, collect, &visited);
    changes++;
    for (size_t i = 0; i < now.size(); i++) {
      if (old[i] == now[i]) continue;
      const uint64_t at = reinterpret_cast<uint64_t>(slot(i / kSlot)) + i % kSlot;
      bool is_said = false;
      for (const Span& span : visited) is_said |= at >= span.start && at < span.limit;
      if (is_said || (result > 0 && reaches_hole(request, before))) continue;  // effects.h, 3
      ADD_FAILURE() << name_of(number) << std::hex << "(" << v[0] << ", " << v[1] << ", " << v[2]
                    << ", " << v[3] << ", " << v[4] << ", " << v[5] << std::dec << ") = " << result
                    << " wrote byte " << i % kSlot << " of slot " << i / kSlot;
      return;
    }
  }
  bool reaches_hole(const Request& request, const Before& before) const {
    std::vector<Span> offered;
    written_memory(request, before, -EFAULT, collect, &offered);
    for (const Span& span : offered) {
      if (!holds(span.start, span.limit - span.start)) return true;
    }
    return false;
  }
  std::vector<uint8_t> memory() const {
    std::vector<uint8_t> all(kSlots * kSlot);
    for (size_t i = 0; i < kSlots; i++) std::memcpy(all.data() + i * kSlot, slot(i), kSlot);
    return all;
  }

  // `set(request)` puts what must not be random.
  template <typename Set>
  void run(long number, Set set, int rounds = kRounds) {
    const int failures =
        ::testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count();
    for (int round = 0; round < rounds; round++) {
      if (round % 32 == 0) fill();
      if (round % 8 == 0) refill();
      Request request{number, {}};
      for (size_t i = 0; i < 6; i++) request.a[i] = argument(i);
      set(request);
      check(number, request);
      sys::raw(SYS_close_range, 100, ~0u, 0);
      if (::testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count() >
          failures)
        return;
    }
  }
  void run(long number) {
    run(number, [](Request&) {});
  }

  static uint64_t seed() {
    const char* chosen = getenv("EFFECTS_SEED");
    return chosen ? strtoull(chosen, nullptr, 10) : 42;
  }

  static inline RandomCalls* self = nullptr;
  uint8_t* start;
  int server = -1;
  std::vector<long> descriptors;
  std::mt19937_64 random{seed()};
  long changes = 0;
};

bool fetch_mapped(void* to, uint64_t from, uint64_t size) {
  if (!RandomCalls::self->holds(from, size)) return false;
  std::memcpy(to, reinterpret_cast<const void*>(from), size);
  return true;
}

TEST_F(RandomCalls, Descriptors) {
  for (long number :
       {SYS_read,        SYS_pread64,  SYS_readv,      SYS_preadv,          SYS_preadv2,
        SYS_fstat,       SYS_getdents, SYS_getdents64, SYS_fstatfs,         SYS_getsockname,
        SYS_getpeername, SYS_recvfrom, SYS_accept,     SYS_accept4,         SYS_getsockopt,
        SYS_socketpair,  SYS_pipe,     SYS_pipe2,      SYS_timerfd_gettime, SYS_fgetxattr,
        SYS_flistxattr}) {
    run(number, [&](Request& request) {
      if (below(4) && number != SYS_pipe && number != SYS_pipe2)
        request.a[0] = descriptors[below(descriptors.size())];
      if (number == SYS_getsockopt) {
        request.a[1] = below(4) ? SOL_SOCKET : request.a[1];
        request.a[2] = static_cast<long>(below(80));
        if (request.a[1] != SOL_SOCKET) request.a[1] = static_cast<long>(below(50));
      }
      if (number == SYS_socketpair && below(2))
        request.a[0] = AF_UNIX, request.a[1] = SOCK_STREAM, request.a[2] = 0;
      if (below(3) == 0) request.a[2] = small();
      if (number == SYS_readv && below(2)) request.a[2] = static_cast<long>(below(6));
    });
  }
  EXPECT_GT(changes, 500);
}

TEST_F(RandomCalls, Messages) {
  for (long number : {SYS_recvmsg, SYS_recvmmsg}) {
    run(number, [&](Request& request) {
      request.a[0] = descriptors[below(6)];
      request.a[1] = place(1) & ~7;
      for (uint64_t i = 0; i < 3; i++) {
        mmsghdr one{};
        one.msg_hdr.msg_name = below(2) ? reinterpret_cast<void*>(place(6)) : nullptr;
        one.msg_hdr.msg_namelen = static_cast<uint32_t>(small());
        one.msg_hdr.msg_control = below(2) ? reinterpret_cast<void*>(place(7)) : nullptr;
        one.msg_hdr.msg_controllen = static_cast<size_t>(small());
        one.msg_hdr.msg_iov = reinterpret_cast<iovec*>(place(2) & ~15);
        one.msg_hdr.msg_iovlen = below(5);
        const uint64_t at = static_cast<uint64_t>(request.a[1]) + i * sizeof one;
        if (holds(at, sizeof one)) std::memcpy(reinterpret_cast<void*>(at), &one, sizeof one);
      }
      request.a[2] = number == SYS_recvmmsg ? static_cast<long>(below(4))
                                            : MSG_DONTWAIT | (below(3) ? 0 : MSG_PEEK | MSG_TRUNC);
      request.a[3] = MSG_DONTWAIT;
      if (below(2)) request.a[4] = 0;
    });
  }
  EXPECT_GT(changes, 100);
}

TEST_F(RandomCalls, Waits) {
  for (long number :
       {SYS_poll, SYS_ppoll, SYS_select, SYS_pselect6, SYS_epoll_wait, SYS_epoll_pwait,
        SYS_epoll_pwait2, SYS_nanosleep, SYS_clock_nanosleep, SYS_rt_sigtimedwait}) {
    run(
        number,
        [&](Request& request) {
          if (number == SYS_select || number == SYS_pselect6) {
            request.a[0] = static_cast<long>(below(40));
            request.a[5] = 0;
          }
          if (number == SYS_poll || number == SYS_epoll_wait || number == SYS_epoll_pwait) {
            request.a[1 + (number != SYS_poll)] = small();
            if (number != SYS_poll) request.a[3] = static_cast<long>(below(4));
            if (number == SYS_poll) request.a[2] = static_cast<long>(below(4));
          }
          if (number >= SYS_epoll_pwait2 || number == SYS_epoll_wait || number == SYS_epoll_pwait)
            request.a[0] = descriptors[7];
          // All else may wait for ever, but not for the alarm; a mask could keep that out.
          if (number == SYS_ppoll) request.a[3] = 0;
          if (number == SYS_epoll_pwait || number == SYS_epoll_pwait2) request.a[4] = 0;
        },
        kRounds / 3);
  }
  EXPECT_GT(changes, 100);
}

TEST_F(RandomCalls, Moves) {
  for (long number : {SYS_sendfile, SYS_splice, SYS_copy_file_range, SYS_sendmsg, SYS_sendmmsg,
                      SYS_write, SYS_writev, SYS_sendto}) {
    run(number, [&](Request& request) {
      const bool is_send = number == SYS_sendmsg || number == SYS_sendmmsg || number == SYS_sendto;
      request.a[0] = descriptors[is_send ? 2 + below(4) : below(6)];
      if (number == SYS_sendfile) request.a[1] = descriptors[8 + below(2)];
      if (number == SYS_splice || number == SYS_copy_file_range)
        request.a[2] = descriptors[below(descriptors.size())];
      if (is_send) request.a[2 + (number != SYS_sendmsg)] = MSG_DONTWAIT | MSG_NOSIGNAL;
      if (number == SYS_sendmmsg) request.a[2] = static_cast<long>(below(4));
      for (long from : {2, 4}) {
        char text[256];
        sys::raw(SYS_read, descriptors[static_cast<size_t>(from)], reinterpret_cast<long>(text),
                 sizeof text);
      }
    });
  }
}

TEST_F(RandomCalls, Commands) {
  constexpr long kControls[] = {F_GETLK, F_OFD_GETLK, F_GETOWN_EX, 17,         F_GET_RW_HINT,
                                F_GETFL, F_GETFD,     F_GETOWN,    F_GETLEASE, F_GETPIPE_SZ};
  constexpr long kProcess[] = {PR_GET_PDEATHSIG,       PR_GET_NAME,        PR_GET_TSC,
                               PR_GET_CHILD_SUBREAPER, PR_GET_TID_ADDRESS, PR_GET_DUMPABLE,
                               PR_GET_UNALIGN,         PR_GET_FPEMU,       PR_GET_ENDIAN,
                               PR_GET_TIMERSLACK,      PR_GET_SECUREBITS,  0x41555856};
  constexpr long kSystemV[] = {2, 3, 11, 12, 13, 14, 15, 18, 19, 20};
  constexpr long kDevices[] = {
      0x5401,     0x5405,     0x540f,     0x5411,     0x5413,     0x5415,     0x5419,
      0x541b,     0x541e,     0x5424,     0x5429,     0x5460,     0x8901 + 2, 0x8904,
      0x8905,     0x8906,     0x8907,     0x8910,     0x8912,     0x8913,     0x8915,
      0x891b,     0x8921,     0x8927,     0x8933,     0x8970,     0x894b,     2,
      0x1260,     0x1268,     0x80086601, 0x80087601, 0x801c581f, 0x80045430, 0x80045432,
      0x80045438, 0x80045439, 0x802c542a, 0xc020660b, 0x80811501, 0x80111500};
  for (long number :
       {SYS_fcntl, SYS_prctl, SYS_arch_prctl, SYS_msgctl, SYS_semctl, SYS_shmctl, SYS_ioctl}) {
    run(number, [&](Request& request) {
      const auto any = [&](const auto& list) { return list[below(std::size(list))]; };
      if (number == SYS_prctl) request.a[0] = any(kProcess);
      if (number == SYS_arch_prctl) request.a[0] = 0x1003 + static_cast<long>(below(2));
      if (number == SYS_fcntl) request.a[1] = any(kControls);
      if (number == SYS_ioctl) request.a[1] = any(kDevices);
      if (number == SYS_fcntl || number == SYS_ioctl)
        request.a[0] = descriptors[below(descriptors.size())];
      if (number == SYS_msgctl || number == SYS_shmctl) request.a[1] = any(kSystemV);
      if (number == SYS_semctl) request.a[2] = any(kSystemV);
      if (number == SYS_msgctl || number == SYS_shmctl || number == SYS_semctl)
        request.a[0] = static_cast<long>(below(3));
    });
  }
  EXPECT_GT(changes, 500);
}

TEST_F(RandomCalls, Questions) {
  for (long number : {SYS_stat,
                      SYS_lstat,
                      SYS_newfstatat,
                      SYS_statx,
                      SYS_uname,
                      SYS_getcwd,
                      SYS_readlink,
                      SYS_readlinkat,
                      SYS_gettimeofday,
                      SYS_getrlimit,
                      SYS_getrusage,
                      SYS_sysinfo,
                      SYS_times,
                      SYS_getgroups,
                      SYS_getresuid,
                      SYS_getresgid,
                      SYS_capget,
                      SYS_rt_sigpending,
                      SYS_statfs,
                      SYS_ustat,
                      SYS_sched_getparam,
                      SYS_sched_rr_get_interval,
                      SYS_sched_getaffinity,
                      SYS_sched_getattr,
                      SYS_time,
                      SYS_clock_gettime,
                      SYS_clock_getres,
                      SYS_get_mempolicy,
                      SYS_mincore,
                      SYS_waitid,
                      SYS_wait4,
                      SYS_get_robust_list,
                      SYS_getitimer,
                      SYS_timer_gettime,
                      SYS_timer_create,
                      SYS_getcpu,
                      SYS_getrandom,
                      SYS_getxattr,
                      SYS_lgetxattr,
                      SYS_listxattr,
                      SYS_name_to_handle_at,
                      451,
                      457,
                      458,
                      459,
                      461,
                      464,
                      465,
                      468}) {
    run(number, [&](Request& request) {
      constexpr const char* kNames[] = {"/etc/passwd", "/proc/self/exe", "", "/none", "/etc"};
      const bool is_at = number == SYS_newfstatat || number == SYS_statx ||
                         number == SYS_readlinkat || number == SYS_name_to_handle_at;
      const size_t name = is_at || number >= 464 ? 1 : 0;
      const bool is_named = is_at || number == SYS_stat || number == SYS_lstat ||
                            number == SYS_readlink || number == SYS_statfs || number >= 464;
      if (is_named && below(3)) {
        request.a[name] = reinterpret_cast<long>(slot(name));
        std::strcpy(reinterpret_cast<char*>(slot(name)), kNames[below(std::size(kNames))]);
        if (name) request.a[0] = AT_FDCWD;
      }
      if (number == SYS_mincore) {
        request.a[0] = reinterpret_cast<long>(slot(0));
        request.a[1] = static_cast<long>(below(20000));
      }
      if (number == SYS_statx || number == SYS_newfstatat)
        request.a[3 - (number == SYS_statx)] = below(2) ? 0 : AT_EMPTY_PATH;
      if (below(3) == 0) request.a[0] = static_cast<long>(below(3));
      if (number == SYS_sched_getaffinity) request.a[1] = below(2) ? 64 : small();
      if (number == SYS_timer_create) request.a[1] = 0;
      if (number == SYS_getcpu) request.a[2] = 0;
    });
  }
  EXPECT_GT(changes, 2500);
}

}  // namespace
}  // namespace weir::effects
