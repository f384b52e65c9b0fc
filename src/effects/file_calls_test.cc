// Files, directories, pipes, and what is waited for through descriptors.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "effects/call_check.h"

namespace weir::effects::testing {
namespace {

struct FileCalls : ::testing::Test {
  FileCalls() {
    clear_buffers();
    char name[] = "/tmp/effects_XXXXXX";
    EXPECT_NE(mkdtemp(name), nullptr);
    folder = name;
    file = folder + "/file";
    descriptor = open(file.c_str(), O_RDWR | O_CREAT, 0600);
    EXPECT_EQ(write(descriptor, "0123456789abcdefghij", 20), 20);
    lseek(descriptor, 0, SEEK_SET);
    EXPECT_EQ(pipe(ends), 0);
  }
  ~FileCalls() override {
    close(descriptor);
    close(ends[0]);
    close(ends[1]);
    const std::string remove = "rm -r " + folder;
    EXPECT_EQ(system(remove.c_str()), 0);
  }
  FileCalls(const FileCalls&) = delete;
  FileCalls& operator=(const FileCalls&) = delete;

  Buffer name_of_file() const { return text(file.c_str()); }
  Buffer name_in_folder(const char* name) const { return text((folder + "/" + name).c_str()); }
  // Of three pieces.
  Buffer vectors(size_t size) const {
    iovec parts[3];
    for (auto& part : parts) part = {random_bytes(size).data(), size};
    return value(parts);
  }

  std::string folder, file;
  int descriptor, ends[2];
};

TEST_F(FileCalls, Read) {
  EXPECT_EQ(call(SYS_read, {descriptor, random_bytes(100), 100}), 20);
  EXPECT_EQ(last_written(), 20u);
  EXPECT_EQ(call(SYS_read, {descriptor, random_bytes(100), 100}), 0);
  EXPECT_EQ(last_written(), 0u);
  EXPECT_EQ(call(SYS_read, {-1, random_bytes(100), 100}), -EBADF);
  EXPECT_EQ(call(SYS_pread64, {descriptor, random_bytes(8), 8, 15}), 5);
  EXPECT_EQ(call(SYS_readv, {descriptor, vectors(8), 3}), 0);
  lseek(descriptor, 0, SEEK_SET);
  EXPECT_EQ(call(SYS_readv, {descriptor, vectors(8), 3}), 20);
  EXPECT_EQ(last_written(), 20u);
  EXPECT_EQ(call(SYS_preadv, {descriptor, vectors(3), 3, 1, 0}), 9);
  EXPECT_EQ(call(SYS_preadv2, {descriptor, vectors(3), 3, 14, 0, 0}), 6);
  EXPECT_EQ(call(SYS_readv, {descriptor, vectors(8), -1}), -EINVAL);
}

TEST_F(FileCalls, Write) {
  EXPECT_EQ(call(SYS_write, {descriptor, random_bytes(50), 50}), 50);
  EXPECT_EQ(last_read(), 50u);
  EXPECT_EQ(call(SYS_write, {-1, random_bytes(50), 50}), -EBADF);
  EXPECT_EQ(last_read(), 0u);
  EXPECT_EQ(call(SYS_pwrite64, {descriptor, random_bytes(50), 50, 3}), 50);
  EXPECT_EQ(call(SYS_writev, {descriptor, vectors(8), 3}), 24);
  EXPECT_EQ(last_read(), 24u);
  EXPECT_EQ(call(SYS_pwritev, {descriptor, vectors(8), 3, 0, 0}), 24);
  EXPECT_EQ(call(SYS_pwritev2, {descriptor, vectors(8), 2, 0, 0, 0}), 16);
}

TEST_F(FileCalls, Names) {
  const long opened = call(SYS_open, {name_of_file(), O_RDONLY, 0});
  EXPECT_GE(opened, 0);
  EXPECT_EQ(last_read(), file.size() + 1);
  EXPECT_EQ(call(SYS_close, {opened}), 0);
  EXPECT_EQ(call(SYS_open, {name_in_folder("none"), O_RDONLY, 0}), -ENOENT);
  EXPECT_EQ(close(static_cast<int>(call(SYS_openat, {AT_FDCWD, name_of_file(), O_RDONLY, 0}))), 0);
  const uint64_t how[3] = {O_RDONLY, 0, 0};
  EXPECT_EQ(close(static_cast<int>(
                call(SYS_openat2, {AT_FDCWD, name_of_file(), value(how), sizeof how}))),
            0);
  EXPECT_EQ(close(static_cast<int>(call(SYS_creat, {name_in_folder("new"), 0600}))), 0);
  EXPECT_EQ(call(SYS_access, {name_of_file(), R_OK}), 0);
  EXPECT_EQ(call(SYS_faccessat, {AT_FDCWD, name_of_file(), R_OK}), 0);
  EXPECT_EQ(call(SYS_faccessat2, {AT_FDCWD, name_of_file(), R_OK, 0}), 0);
  EXPECT_EQ(call(SYS_mkdir, {name_in_folder("d"), 0700}), 0);
  EXPECT_EQ(call(SYS_mkdirat, {AT_FDCWD, name_in_folder("e"), 0700}), 0);
  EXPECT_EQ(call(SYS_rmdir, {name_in_folder("e")}), 0);
  EXPECT_EQ(call(SYS_rename, {name_in_folder("new"), name_in_folder("newer")}), 0);
  EXPECT_EQ(call(SYS_renameat, {AT_FDCWD, name_in_folder("newer"), AT_FDCWD, name_in_folder("a")}),
            0);
  EXPECT_EQ(call(SYS_renameat2, {AT_FDCWD, name_in_folder("a"), AT_FDCWD, name_in_folder("b"), 0}),
            0);
  EXPECT_EQ(call(SYS_link, {name_in_folder("b"), name_in_folder("c")}), 0);
  EXPECT_EQ(call(SYS_linkat, {AT_FDCWD, name_in_folder("b"), AT_FDCWD, name_in_folder("f"), 0}), 0);
  EXPECT_EQ(call(SYS_unlink, {name_in_folder("c")}), 0);
  EXPECT_EQ(call(SYS_unlinkat, {AT_FDCWD, name_in_folder("f"), 0}), 0);
  EXPECT_EQ(call(SYS_symlink, {text("target"), name_in_folder("s")}), 0);
  EXPECT_EQ(call(SYS_symlinkat, {text("target"), AT_FDCWD, name_in_folder("t")}), 0);
  EXPECT_EQ(call(SYS_readlink, {name_in_folder("s"), random_bytes(64), 64}), 6);
  EXPECT_EQ(call(SYS_readlink, {name_in_folder("s"), random_bytes(4), 4}), 4);
  EXPECT_EQ(call(SYS_readlinkat, {AT_FDCWD, name_in_folder("s"), random_bytes(64), 64}), 6);
  EXPECT_EQ(call(SYS_readlink, {name_of_file(), random_bytes(64), 64}), -EINVAL);
  EXPECT_EQ(call(SYS_chmod, {name_of_file(), 0640}), 0);
  EXPECT_EQ(call(SYS_fchmod, {descriptor, 0640}), 0);
  EXPECT_EQ(call(SYS_fchmodat, {AT_FDCWD, name_of_file(), 0640}), 0);
  EXPECT_EQ(call(SYS_chown, {name_of_file(), -1, -1}), 0);
  EXPECT_EQ(call(SYS_fchown, {descriptor, -1, -1}), 0);
  EXPECT_EQ(call(SYS_lchown, {name_of_file(), -1, -1}), 0);
  EXPECT_EQ(call(SYS_fchownat, {AT_FDCWD, name_of_file(), -1, -1, 0}), 0);
  EXPECT_EQ(call(SYS_mknod, {name_in_folder("fifo"), S_IFIFO | 0600, 0}), 0);
  EXPECT_EQ(call(SYS_mknodat, {AT_FDCWD, name_in_folder("fifo2"), S_IFIFO | 0600, 0}), 0);
  EXPECT_EQ(call(SYS_truncate, {name_of_file(), 10}), 0);
  EXPECT_EQ(call(SYS_ftruncate, {descriptor, 10}), 0);
  const int64_t times[4] = {1, 2, 3, 4};
  EXPECT_EQ(call(SYS_utime, {name_of_file(), value(times)}), 0);
  EXPECT_EQ(call(SYS_utimes, {name_of_file(), value(times)}), 0);
  EXPECT_EQ(call(SYS_futimesat, {AT_FDCWD, name_of_file(), value(times)}), 0);
  EXPECT_EQ(call(SYS_utimensat, {AT_FDCWD, name_of_file(), value(times), 0}), 0);
}

TEST_F(FileCalls, State) {
  EXPECT_EQ(call(SYS_stat, {name_of_file(), random_bytes(144)}), 0);
  EXPECT_EQ(call(SYS_lstat, {name_of_file(), random_bytes(144)}), 0);
  EXPECT_EQ(call(SYS_fstat, {descriptor, random_bytes(144)}), 0);
  EXPECT_EQ(call(SYS_newfstatat, {AT_FDCWD, name_of_file(), random_bytes(144), 0}), 0);
  EXPECT_EQ(call(SYS_newfstatat, {descriptor, text(""), random_bytes(144), AT_EMPTY_PATH}), 0);
  EXPECT_EQ(call(SYS_stat, {name_in_folder("none"), random_bytes(144)}), -ENOENT);
  EXPECT_EQ(last_written(), 0u);
  EXPECT_EQ(call(SYS_statx, {AT_FDCWD, name_of_file(), 0, 0xfff, random_bytes(256)}), 0);
  EXPECT_EQ(call(SYS_statfs, {name_of_file(), random_bytes(120)}), 0);
  EXPECT_EQ(call(SYS_fstatfs, {descriptor, random_bytes(120)}), 0);
  struct stat state;
  fstat(descriptor, &state);
  call(SYS_ustat, {static_cast<long>(state.st_dev), random_bytes(32)});
  EXPECT_GT(call(SYS_getcwd, {random_bytes(4096), 4096}), 0);
  EXPECT_EQ(call(SYS_getcwd, {random_bytes(1), 1}), -ERANGE);
  EXPECT_EQ(call(SYS_lseek, {descriptor, 0, SEEK_END}), 20);
  EXPECT_EQ(call(SYS_sysfs, {2, 0, random_bytes(4096)}), 0);
  EXPECT_GT(call(SYS_sysfs, {3}), 0);
}

TEST_F(FileCalls, Folders) {
  const int open_folder = open(folder.c_str(), O_RDONLY | O_DIRECTORY);
  EXPECT_GT(call(SYS_getdents64, {open_folder, random_bytes(1024), 1024}, 40), 0);
  EXPECT_EQ(call(SYS_getdents64, {open_folder, random_bytes(1024), 1024}), 0);
  lseek(open_folder, 0, SEEK_SET);
  EXPECT_GT(call(SYS_getdents, {open_folder, random_bytes(1024), 1024}, 40), 0);
  lseek(open_folder, 0, SEEK_SET);
  EXPECT_EQ(call(SYS_getdents64, {open_folder, random_bytes(8), 8}), -EINVAL);
  close(open_folder);
}

TEST_F(FileCalls, Attributes) {
  if (call(SYS_setxattr, {name_of_file(), text("user.a"), random_bytes(30), 30, 0}) != 0)
    GTEST_SKIP() << "no attributes here";
  EXPECT_EQ(call(SYS_lsetxattr, {name_of_file(), text("user.b"), random_bytes(30), 30, 0}), 0);
  EXPECT_EQ(call(SYS_fsetxattr, {descriptor, text("user.c"), random_bytes(30), 30, 0}), 0);
  EXPECT_EQ(call(SYS_getxattr, {name_of_file(), text("user.a"), random_bytes(64), 64}), 30);
  EXPECT_EQ(call(SYS_getxattr, {name_of_file(), text("user.a"), random_bytes(64), 0}), 30);
  EXPECT_EQ(last_written(), 0u);
  EXPECT_EQ(call(SYS_getxattr, {name_of_file(), text("user.a"), random_bytes(4), 4}), -ERANGE);
  EXPECT_EQ(call(SYS_lgetxattr, {name_of_file(), text("user.a"), random_bytes(64), 64}), 30);
  EXPECT_EQ(call(SYS_fgetxattr, {descriptor, text("user.a"), random_bytes(64), 64}), 30);
  EXPECT_EQ(call(SYS_listxattr, {name_of_file(), random_bytes(64), 64}), 21);
  EXPECT_EQ(call(SYS_llistxattr, {name_of_file(), random_bytes(64), 64}), 21);
  EXPECT_EQ(call(SYS_flistxattr, {descriptor, random_bytes(64), 0}), 21);
  struct {
    uint64_t value;
    uint32_t size, flags;
  } get{random_bytes(64).at, 64, 0};
  const long found =
      call(464, {AT_FDCWD, name_of_file(), 0, text("user.a"), value(get), sizeof get});
  EXPECT_TRUE(found == 30 || found == -ENOSYS);
  call(465, {AT_FDCWD, name_of_file(), 0, random_bytes(64), 64});
  EXPECT_EQ(call(SYS_removexattr, {name_of_file(), text("user.a")}), 0);
  EXPECT_EQ(call(SYS_lremovexattr, {name_of_file(), text("user.b")}), 0);
  EXPECT_EQ(call(SYS_fremovexattr, {descriptor, text("user.c")}), 0);
}

TEST_F(FileCalls, Moving) {
  EXPECT_EQ(call(SYS_pipe, {random_bytes(8)}), 0);
  const Buffer both = random_bytes(8);
  EXPECT_EQ(call(SYS_pipe2, {both, O_CLOEXEC}), 0);
  close(both.as<int>());
  close(both.as<int>(4));
  EXPECT_EQ(call(SYS_pipe2, {random_bytes(8), -1}), -EINVAL);
  EXPECT_EQ(call(SYS_sendfile, {ends[1], descriptor, zeroes(8), 6}, 8), 6);
  EXPECT_EQ(call(SYS_sendfile, {ends[1], descriptor, 0, 6}), 6);
  EXPECT_EQ(call(SYS_splice, {descriptor, value(int64_t{3}), ends[1], 0, 6, 0}, 8), 6);
  EXPECT_EQ(call(SYS_splice, {ends[0], 0, descriptor, value(int64_t{300}), 6, 0}, 8), 6);
  EXPECT_EQ(call(SYS_copy_file_range,
                 {descriptor, value(int64_t{0}), descriptor, value(int64_t{100}), 20, 0}, 16),
            20);
  int other[2];
  EXPECT_EQ(pipe(other), 0);
  EXPECT_GT(call(SYS_tee, {ends[0], other[1], 100, 0}), 0);
  close(other[0]);
  close(other[1]);
}

TEST_F(FileCalls, Control) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  EXPECT_EQ(call(SYS_fcntl, {descriptor, F_GETLK, value(lock)}, 32), 0);
  EXPECT_EQ(last_written(), 32u);
  EXPECT_EQ(call(SYS_fcntl, {descriptor, F_SETLK, value(lock)}), 0);
  EXPECT_EQ(last_read(), 32u);
  lock.l_pid = 0;
  EXPECT_EQ(call(SYS_fcntl, {descriptor, F_OFD_GETLK, value(lock)}, 32), 0);
  EXPECT_EQ(call(SYS_fcntl, {descriptor, F_GETFL}), O_RDWR | 0100000);
  EXPECT_EQ(call(SYS_fcntl, {ends[0], F_GETOWN_EX, random_bytes(8)}), 0);
  const struct f_owner_ex owner { F_OWNER_PID, 0 };
  EXPECT_EQ(call(SYS_fcntl, {ends[0], F_SETOWN_EX, value(owner)}), 0);
  EXPECT_EQ(call(SYS_fcntl, {ends[0], F_GETPIPE_SZ}), 65536);
  EXPECT_EQ(call(SYS_fcntl, {ends[0], 17, random_bytes(8)}), 0);  // F_GETOWNER_UIDS
  EXPECT_EQ(call(SYS_fcntl, {descriptor, F_GET_RW_HINT, random_bytes(8)}), 0);
  EXPECT_EQ(call(SYS_fcntl, {descriptor, F_SET_RW_HINT, value(uint64_t{0})}), 0);
  EXPECT_EQ(call(SYS_flock, {descriptor, 2}), 0);
  EXPECT_EQ(call(SYS_fallocate, {descriptor, 0, 0, 4096}), 0);
  EXPECT_EQ(call(SYS_fadvise64, {descriptor, 0, 0, 0}), 0);
  EXPECT_EQ(call(SYS_readahead, {descriptor, 0, 4096}), 0);
  EXPECT_EQ(call(SYS_fsync, {descriptor}), 0);
  EXPECT_EQ(call(SYS_fdatasync, {descriptor}), 0);
  EXPECT_EQ(call(SYS_sync_file_range, {descriptor, 0, 0, 0}), 0);
  const long copy = call(SYS_dup, {descriptor});
  EXPECT_EQ(call(SYS_dup2, {descriptor, copy}), copy);
  EXPECT_EQ(call(SYS_dup3, {descriptor, copy, 0}), copy);
  EXPECT_EQ(call(SYS_close_range, {copy, copy, 0}), 0);
  const uint64_t range[2] = {0, 4096};
  const long cached = call(451, {descriptor, value(range), random_bytes(40), 0});
  EXPECT_TRUE(cached == 0 || cached < 0);
}

TEST_F(FileCalls, Handles) {
  struct {
    uint32_t size;
    int32_t type;
  } none{0, 0};
  call(SYS_name_to_handle_at, {AT_FDCWD, name_of_file(), value(none), random_bytes(4), 0}, 12);
  const Buffer handle = zeroes(8 + 128);
  handle.as<uint32_t>() = 128;
  const long found =
      call(SYS_name_to_handle_at, {AT_FDCWD, name_of_file(), handle, random_bytes(4), 0}, 40);
  if (found != 0) GTEST_SKIP() << "no handles here";
  const int mount = open(folder.c_str(), O_RDONLY);
  const long opened = call(SYS_open_by_handle_at, {mount, handle, O_RDONLY});
  if (opened >= 0) close(static_cast<int>(opened));
  close(mount);
}

TEST_F(FileCalls, Waiting) {
  pollfd polls[3] = {{ends[0], POLLIN, 0x7777}, {ends[1], POLLOUT, 0x7777}, {-1, POLLIN, 0x7777}};
  EXPECT_EQ(call(SYS_poll, {value(polls), 3, 0}, 24), 1);
  EXPECT_EQ(last_written(), 24u);
  const int64_t no_time[2] = {0, 0}, little_time[2] = {0, 2000};
  EXPECT_EQ(call(SYS_ppoll, {value(polls), 3, value(no_time), 0, 8}, 40), 1);
  EXPECT_EQ(call(SYS_ppoll, {value(polls), 1, value(little_time), zeroes(8), 8}, 40), 0);
  EXPECT_EQ(call(SYS_poll, {value(polls), 100000000, 0}), -EINVAL);
  const Buffer to_read = zeroes(128), to_write = zeroes(8);
  to_read.as<uint64_t>() = uint64_t{1} << ends[0];
  to_write.as<uint64_t>() = uint64_t{1} << ends[1];
  EXPECT_EQ(call(SYS_select, {ends[1] + 1, to_read, to_write, 0, value(little_time)}, 40), 1);
  const uint64_t mask[2] = {zeroes(8).at, 8};
  EXPECT_EQ(
      call(SYS_pselect6, {ends[1] + 1, to_read, to_write, 0, value(little_time), value(mask)}, 40),
      1);
  EXPECT_EQ(call(SYS_select, {0, 0, 0, 0, value(little_time)}, 16), 0);
  EXPECT_EQ(call(SYS_select, {-1, to_read, 0, 0, 0}), -EINVAL);
}

TEST_F(FileCalls, Epoll) {
  close(static_cast<int>(call(SYS_epoll_create, {1})));
  const long epoll = call(SYS_epoll_create1, {0});
  epoll_event event{};
  event.events = EPOLLOUT;
  event.data.u64 = 0x1234567812345678;
  EXPECT_EQ(call(SYS_epoll_ctl, {epoll, EPOLL_CTL_ADD, ends[1], value(event)}), 0);
  EXPECT_EQ(last_read(), 12u);
  EXPECT_EQ(call(SYS_epoll_wait, {epoll, random_bytes(48), 4, 0}), 1);
  EXPECT_EQ(last_written(), 12u);
  EXPECT_EQ(call(SYS_epoll_pwait, {epoll, random_bytes(48), 4, 0, zeroes(8), 8}), 1);
  const int64_t time[2] = {0, 1};
  EXPECT_EQ(call(SYS_epoll_pwait2, {epoll, random_bytes(48), 4, value(time), 0, 8}), 1);
  EXPECT_EQ(call(SYS_epoll_wait, {epoll, random_bytes(48), 0, 0}), -EINVAL);
  close(static_cast<int>(epoll));
}

TEST_F(FileCalls, DescriptorsOfEvents) {
  const long event = call(SYS_eventfd2, {3, 0});
  EXPECT_EQ(call(SYS_read, {event, random_bytes(8), 8}), 8);
  EXPECT_EQ(call(SYS_write, {event, value(uint64_t{1}), 8}), 8);
  const long timer = call(SYS_timerfd_create, {CLOCK_MONOTONIC, 0});
  const int64_t soon[4] = {0, 0, 0, 1};
  EXPECT_EQ(call(SYS_timerfd_settime, {timer, 0, value(soon), random_bytes(32)}), 0);
  EXPECT_EQ(call(SYS_read, {timer, random_bytes(8), 8}), 8);
  EXPECT_EQ(call(SYS_timerfd_gettime, {timer, random_bytes(32)}), 0);
  const long signals = call(SYS_signalfd4, {-1, zeroes(8), 8, SFD_NONBLOCK});
  EXPECT_EQ(call(SYS_signalfd, {signals, zeroes(8), 8}), signals);
  EXPECT_EQ(call(SYS_read, {signals, random_bytes(128), 128}), -EAGAIN);
  const long watch = call(SYS_inotify_init1, {IN_NONBLOCK});
  EXPECT_EQ(call(SYS_inotify_add_watch, {watch, text(folder.c_str()), IN_CREATE}), 1);
  close(open((folder + "/seen").c_str(), O_CREAT | O_WRONLY, 0600));
  EXPECT_EQ(call(SYS_read, {watch, random_bytes(256), 256}), 32);
  EXPECT_EQ(call(SYS_inotify_rm_watch, {watch, 1}), 0);
  for (long one : {event, timer, signals, watch}) close(static_cast<int>(one));
  close(static_cast<int>(call(SYS_eventfd, {0})));
  close(static_cast<int>(call(SYS_inotify_init, {})));
  close(static_cast<int>(call(SYS_memfd_create, {text("memory"), 0})));
}

}  // namespace
}  // namespace weir::effects::testing
