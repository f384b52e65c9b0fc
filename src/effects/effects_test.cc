#include "effects/effects.h"

#include <asm/prctl.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "effects/table.h"
#include "sys/syscall_x86_64.h"

namespace weir::effects {
namespace {

struct Span {
  uint64_t address, size;
  bool operator==(const Span& other) const {
    return address == other.address && size == other.size;
  }
};

void collect(void* context, uint64_t address, uint64_t size) {
  static_cast<std::vector<Span>*>(context)->push_back({address, size});
}

std::vector<Span> visited(decltype(written_memory)& visit, const Request& request, long result) {
  static Before before;
  prepare(request, &before);
  std::vector<Span> found;
  visit(request, before, result, collect, &found);
  return found;
}

std::vector<Span> written(const Request& request, long result) {
  return visited(written_memory, request, result);
}
std::vector<Span> read(const Request& request, long result) {
  return visited(read_memory, request, result);
}

bool fetch_nothing(void*, uint64_t, uint64_t) { return false; }
// By the kernel: what is fetched may reach beyond the variable that it begins in, as far as the
// page does (visit_string).
bool fetch_copy(void* to, uint64_t from, uint64_t size) {
  const iovec here{to, size}, there{reinterpret_cast<void*>(from), size};
  return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == static_cast<ssize_t>(size);
}
const bool g_fetches = (set_fetch(fetch_copy), true);

long address(const void* at) { return reinterpret_cast<long>(at); }

TEST(EffectsTest, EveryNumberUpTo467IsKnown) {
  for (long number = 0; number <= 467; number++) {
    const bool is_gap = number > 336 && number < 424;
    EXPECT_EQ(name_of(number) == nullptr, is_gap) << number;
    EXPECT_TRUE(!is_gap || replay_of({number, {}}) == Replay::kRefuse) << number;
  }
  EXPECT_STREQ(name_of(0), "read");
  EXPECT_STREQ(name_of(334), "rseq");
  EXPECT_STREQ(name_of(467), "open_tree_attr");
  for (long number : {-1l, 400l, 511l, 512l, 1l << 40}) {
    EXPECT_EQ(name_of(number), nullptr);
    EXPECT_EQ(replay_of({number, {}}), Replay::kRefuse);
    EXPECT_TRUE(written({number, {}}, 0).empty());
  }
}

TEST(EffectsTest, PlacesInAReplay) {
  EXPECT_EQ(replay_of({SYS_read, {}}), Replay::kAnswer);
  EXPECT_EQ(replay_of({SYS_mmap, {}}), Replay::kMake);
  EXPECT_EQ(replay_of({SYS_clone3, {}}), Replay::kProcess);
  EXPECT_EQ(replay_of({SYS_io_uring_setup, {}}), Replay::kRefuse);
  EXPECT_EQ(replay_of({SYS_shmat, {}}), Replay::kRefuse);
  EXPECT_EQ(replay_of({SYS_ioctl, {0, 0x5401}}), Replay::kAnswer);
  EXPECT_EQ(replay_of({SYS_ioctl, {0, 0xae01}}), Replay::kRefuse);
  EXPECT_EQ(replay_of({SYS_fcntl, {0, F_GETLK}}), Replay::kAnswer);
  EXPECT_EQ(replay_of({SYS_fcntl, {0, 999}}), Replay::kRefuse);
  EXPECT_EQ(replay_of({SYS_prctl, {PR_SET_NAME}}), Replay::kMake);
  EXPECT_EQ(replay_of({SYS_prctl, {PR_GET_NAME}}), Replay::kAnswer);
  EXPECT_EQ(replay_of({SYS_prctl, {PR_SET_SECCOMP, 1}}), Replay::kRefuse);
  EXPECT_EQ(replay_of({SYS_prctl, {12345}}), Replay::kRefuse);
  EXPECT_EQ(replay_of({SYS_arch_prctl, {ARCH_SET_FS}}), Replay::kMake);
  EXPECT_EQ(replay_of({SYS_arch_prctl, {0x4001}}), Replay::kRefuse);
  EXPECT_EQ(replay_of({SYS_futex, {0, FUTEX_WAIT | FUTEX_PRIVATE_FLAG}}), Replay::kMake);
  EXPECT_EQ(replay_of({SYS_futex, {0, FUTEX_FD}}), Replay::kRefuse);
  EXPECT_EQ(replay_of({SYS_getsockopt, {0, 6, 35}}), Replay::kRefuse);
  EXPECT_EQ(replay_of({SYS_getsockopt, {0, 6, 11}}), Replay::kAnswer);
  EXPECT_EQ(replay_of({SYS_setsockopt, {0, 263, 5}}), Replay::kRefuse);
  EXPECT_EQ(replay_of({SYS_socket, {AF_XDP}}), Replay::kRefuse);
  EXPECT_EQ(replay_of({SYS_process_madvise, {0, 0, 0, MADV_DONTNEED}}), Replay::kRefuse);
}

TEST(EffectsTest, WhatAKernelWithoutTheCallReturns) {
  for (const long number : {SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register,
                            SYS_io_setup, SYS_userfaultfd, SYS_memfd_secret, SYS_perf_event_open,
                            SYS_bpf, 453, SYS_quotactl, 400, 511}) {
    EXPECT_EQ(error_without({number, {}}), -ENOSYS) << number;
    EXPECT_EQ(replay_of({number, {}}), Replay::kRefuse) << number;
  }
  EXPECT_EQ(error_without({SYS_iopl, {3}}), -EPERM);
  EXPECT_EQ(error_without({SYS_ptrace, {}}), -EPERM);
  EXPECT_EQ(error_without({SYS_ioctl, {0, 0xae01}}), -ENOTTY);
  EXPECT_EQ(error_without({SYS_ioctl, {0, 0x5401}}), 0);  // TCGETS
  EXPECT_EQ(error_without({SYS_prctl, {12345}}), -EINVAL);
  EXPECT_EQ(error_without({SYS_getsockopt, {0, 6, 35}}), -ENOPROTOOPT);
  EXPECT_EQ(error_without({SYS_socket, {AF_XDP}}), -EAFNOSUPPORT);
  EXPECT_EQ(error_without({SYS_process_madvise, {0, 0, 0, MADV_DONTNEED}}), -EINVAL);
  EXPECT_EQ(error_without({SYS_process_madvise, {0, 0, 0, MADV_COLD}}), 0);
  for (const long number : {SYS_read, SYS_shmat, SYS_vmsplice, -1})
    EXPECT_EQ(error_without({number, {}}), 0) << number;
}

TEST(EffectsTest, UpperHalfOfAnIntDoesNotCount) {
  const long garbage = 0x7777'0000'0000;
  EXPECT_EQ(written({SYS_poll, {64, garbage | 2, 0}}, 1), (std::vector<Span>{{64, 16}}));
  EXPECT_EQ(read({SYS_connect, {0, 64, garbage | 16}}, 0), (std::vector<Span>{{64, 16}}));
  EXPECT_EQ(replay_of({SYS_fcntl, {0, garbage | F_GETLK}}), Replay::kAnswer);
  EXPECT_EQ(written({SYS_ioctl, {0, garbage | 0x5401, 64}}, 0), (std::vector<Span>{{64, 36}}));
}

TEST(EffectsTest, AfterABadAddressEverythingMayHaveBeenWritten) {
  EXPECT_EQ(written({SYS_read, {0, 64, 100}}, -EFAULT), (std::vector<Span>{{64, 100}}));
  EXPECT_EQ(written({SYS_read, {0, 64, 100}}, -EIO), (std::vector<Span>{{64, 100}}));
  EXPECT_EQ(written({SYS_read, {0, 64, 100}}, -EBADF), std::vector<Span>{});
  EXPECT_EQ(written({SYS_read, {0, 64, -1}}, -EFAULT), std::vector<Span>{});
  EXPECT_EQ(written({SYS_read, {0, -64, 100}}, -EFAULT), std::vector<Span>{});
  EXPECT_EQ(read({SYS_write, {0, 64, 100}}, -EFAULT), std::vector<Span>{});
}

TEST(EffectsTest, ReadIntoAHole) {
  auto* pages = static_cast<char*>(
      mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  munmap(pages + 4096, 4096);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(write(ends[1], std::string(200, 'x').data(), 200), 200);
  const long at = address(pages + 4096 - 100);
  const long result = sys::raw(SYS_read, ends[0], at, 200);
  bool is_covered = false;
  for (const Span& span : written({SYS_read, {ends[0], at, 200}}, result)) {
    is_covered |= span.address <= static_cast<uint64_t>(at) &&
                  span.address + span.size >= static_cast<uint64_t>(at + 100);
  }
  EXPECT_EQ(pages[4095] != 0, is_covered);
  close(ends[0]);
  close(ends[1]);
  munmap(pages, 4096);
}

std::vector<Span> leading(const Request& request) {
  std::vector<Span> spans;
  leading_memory(
      request,
      [](void* to, uint64_t at, uint64_t size) {
        static_cast<std::vector<Span>*>(to)->push_back({at, size});
      },
      &spans);
  return spans;
}

TEST(EffectsTest, StructuresThatLeadToTheRest) {
  char text[8];
  iovec parts[2] = {{text, 4}, {text + 4, 4}};
  msghdr header{};
  header.msg_iov = parts;
  header.msg_iovlen = 2;
  mmsghdr headers[2] = {{header, 0}, {header, 0}};
  const Span array{static_cast<uint64_t>(address(parts)), sizeof parts};
  EXPECT_EQ(leading({SYS_writev, {1, address(parts), 2}}), std::vector<Span>{array});
  EXPECT_EQ(leading({SYS_preadv, {0, address(parts), 2}}), std::vector<Span>{array});
  EXPECT_EQ(leading({SYS_recvmsg, {0, address(&header)}}),
            (std::vector<Span>{{static_cast<uint64_t>(address(&header)), sizeof header}, array}));
  EXPECT_EQ(leading({SYS_sendmmsg, {0, address(headers), 2}}),
            (std::vector<Span>{{static_cast<uint64_t>(address(&headers[0])), sizeof header},
                               array,
                               {static_cast<uint64_t>(address(&headers[1])), sizeof header},
                               array}));
  EXPECT_TRUE(leading({SYS_writev, {1, address(parts), 5000}}).empty());
  EXPECT_TRUE(leading({SYS_write, {1, address(text), 8}}).empty());
}

TEST(EffectsTest, StructuresThatAreNotThere) {
  set_fetch(fetch_nothing);
  for (long number = 0; number <= 470; number++) {
    for (long result : {0l, 1l, 100l, -long{EFAULT}, -long{EINTR}, -long{EINVAL}}) {
      for (long argument : {0l, 1l, 64l, -1l, 1l << 40}) {
        const Request request{number, {argument, argument, argument, argument, argument, argument}};
        for (const Span& span : written(request, result))
          EXPECT_LE(span.address + span.size, 0x7ffffffff000u) << number;
        for (const Span& span : read(request, result))
          EXPECT_LE(span.address + span.size, 0x7ffffffff000u) << number;
      }
    }
  }
  set_fetch(fetch_copy);
}

TEST(EffectsTest, ReadOneWithItsOwnResult) {
  char name[] = "name";  // readlink(name, name, 5)
  const Request request{SYS_readlink, {address(name), address(name), 5}};
  EXPECT_EQ(written(request, 3), (std::vector<Span>{{static_cast<uint64_t>(address(name)), 3}}));
  EXPECT_TRUE(read(request, 3).empty());
  EXPECT_EQ(read(request, -EINVAL).size(), 1u);
}

TEST(EffectsTest, NewTasks) {
  const long flags = CLONE_PARENT_SETTID | CLONE_CHILD_SETTID;
  EXPECT_EQ(written({SYS_clone, {flags, 0, 64, 128}}, 77), (std::vector<Span>{{64, 4}}));
  EXPECT_EQ(written({SYS_clone, {flags, 0, 64, 128}}, 0), (std::vector<Span>{{64, 4}, {128, 4}}));
  EXPECT_EQ(written({SYS_clone, {flags | CLONE_VM, 0, 64, 128}}, 77),
            (std::vector<Span>{{64, 4}, {128, 4}}));
  EXPECT_EQ(written({SYS_clone, {SIGCHLD, 0, 64, 128}}, 77), std::vector<Span>{});
  clone_args arguments{};
  arguments.flags = CLONE_PIDFD | CLONE_PARENT_SETTID;
  arguments.pidfd = 64;
  arguments.parent_tid = 128;
  EXPECT_EQ(written({SYS_clone3, {address(&arguments), sizeof arguments}}, 77),
            (std::vector<Span>{{64, 4}, {128, 4}}));
}

TEST(EffectsTest, VectorsOfManyPieces) {
  std::vector<iovec> parts(1025, iovec{reinterpret_cast<void*>(64), 3});
  EXPECT_EQ(written({SYS_readv, {0, address(parts.data()), 1024}}, 3000).size(), 1000u);
  EXPECT_TRUE(written({SYS_readv, {0, address(parts.data()), 1025}}, 3000).empty());
  EXPECT_EQ(read({SYS_writev, {0, address(parts.data()), 4}}, 7),
            (std::vector<Span>{{64, 3}, {64, 3}, {64, 1}}));
}

TEST(EffectsTest, NamesThatEndWithThePage) {
  auto* page = static_cast<char*>(
      mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  munmap(page + 4096, 4096);
  std::memcpy(page + 4096 - 4, "abc", 4);
  EXPECT_EQ(read({SYS_chdir, {address(page + 4096 - 4)}}, 0),
            (std::vector<Span>{{static_cast<uint64_t>(address(page)) + 4092, 4}}));
  munmap(page, 4096);
}

}  // namespace
}  // namespace weir::effects
