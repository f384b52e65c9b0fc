// ioctl, on terminals, files, sockets, devices; each either changes what the table says or is not
// allowed here.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/if_tun.h>
#include <linux/random.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <initializer_list>

#include "effects/call_check.h"
#include "effects/ioctl.h"

namespace weir::effects::testing {
namespace {

struct IoctlCalls : ::testing::Test {
  IoctlCalls() { clear_buffers(); }
  ~IoctlCalls() override {
    for (int i = 0; i < used; i++) close(opened[i]);
  }
  IoctlCalls(const IoctlCalls&) = delete;
  IoctlCalls& operator=(const IoctlCalls&) = delete;

  int keep(int descriptor) { return opened[used++] = descriptor; }
  // Room for exactly as much as the table says.
  static long ask(int descriptor, unsigned long command) {
    const IoctlEffect effect = ioctl_effect(static_cast<uint32_t>(command));
    EXPECT_TRUE(effect.known);
    const Buffer buffer = random_bytes(effect.written);
    const long result = call(SYS_ioctl, {descriptor, static_cast<long>(command), buffer});
    EXPECT_EQ(last_written(), result < 0 ? 0 : effect.written);
    return result;
  }

  int opened[8], used = 0;
};

TEST_F(IoctlCalls, Terminal) {
  const int head = keep(open("/dev/ptmx", O_RDWR | O_NOCTTY));
  if (head < 0) GTEST_SKIP() << "no terminals here";
  EXPECT_EQ(call(SYS_ioctl, {head, TIOCSPTLCK, value(0)}), 0);
  const int terminal =
      keep(static_cast<int>(call(SYS_ioctl, {head, TIOCGPTPEER, O_RDWR | O_NOCTTY})));
  ASSERT_GE(terminal, 0);
  for (unsigned long command : std::initializer_list<unsigned long>{
           TCGETS, TIOCGWINSZ, TIOCOUTQ, FIONREAD, TIOCGETD, TIOCGEXCL, 0x802C542A}) {
    EXPECT_EQ(ask(terminal, command), 0) << command;
  }
  EXPECT_EQ(ask(head, TIOCGPTN), 0);
  EXPECT_EQ(ask(head, TIOCGPTLCK), 0);
  EXPECT_EQ(ask(head, TIOCGPKT), 0);
  ask(terminal, TIOCGDEV);
  ask(terminal, TCGETA);
  ask(terminal, TIOCGPGRP);
  ask(terminal, TIOCGSID);
  ask(terminal, TIOCMGET);
  ask(terminal, TIOCGSOFTCAR);
  ask(terminal, TIOCGSERIAL);
  const Buffer state = random_bytes(36);
  EXPECT_EQ(call(SYS_ioctl, {terminal, TCGETS, state}), 0);
  EXPECT_EQ(call(SYS_ioctl, {terminal, TCSETS, state}), 0);
  EXPECT_EQ(last_read(), 36u);
  EXPECT_EQ(call(SYS_ioctl, {terminal, TIOCSWINSZ, zeroes(8)}), 0);
  EXPECT_EQ(call(SYS_ioctl, {terminal, TCFLSH, 0}), 0);
}

TEST_F(IoctlCalls, AnyDescriptor) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  keep(ends[0]);
  keep(ends[1]);
  EXPECT_EQ(ask(ends[0], FIONREAD), 0);
  EXPECT_EQ(ask(ends[0], TCGETS), -ENOTTY);
  EXPECT_EQ(call(SYS_ioctl, {ends[0], FIONBIO, value(1)}), 0);
  EXPECT_EQ(last_read(), 4u);
  EXPECT_EQ(call(SYS_ioctl, {ends[0], FIOASYNC, value(0)}), 0);
  EXPECT_EQ(call(SYS_ioctl, {ends[0], FIOCLEX, 0}), 0);
  EXPECT_EQ(call(SYS_ioctl, {ends[0], FIONCLEX, 0}), 0);
}

TEST_F(IoctlCalls, File) {
  char name[] = "/tmp/effects_XXXXXX";
  const int file = keep(mkstemp(name));
  unlink(name);
  EXPECT_EQ(pwrite(file, name, sizeof name, 100000), static_cast<ssize_t>(sizeof name));
  fsync(file);
  EXPECT_EQ(ask(file, FIGETBSZ), 0);
  EXPECT_EQ(ask(file, FIONREAD), 0);
  ask(file, FIOQSIZE);
  ask(file, FS_IOC_GETFLAGS);
  ask(file, FS_IOC_GETVERSION);
  call(SYS_ioctl, {file, FS_IOC_GETFSLABEL, random_bytes(256)},
       256);              // file systems write as much as their labels may have
  ask(file, 0x80111500);  // FS_IOC_GETFSUUID
  clear_buffers();
  call(SYS_ioctl, {file, FS_IOC_FSGETXATTR, random_bytes(28)}, 28);
  for (uint32_t count : {0u, 1u, 4u}) {
    const Buffer map = zeroes(sizeof(fiemap) + count * sizeof(fiemap_extent));
    map.as<fiemap>().fm_length = ~uint64_t{0};
    map.as<fiemap>().fm_extent_count = count;
    call(SYS_ioctl, {file, FS_IOC_FIEMAP, map}, 400);
  }
  call(SYS_ioctl, {file, FIBMAP, zeroes(4)}, 4);
  call(SYS_ioctl, {file, FICLONE, file});
  const file_clone_range range{file, 0, 0, 0};
  call(SYS_ioctl, {file, FICLONERANGE, value(range)});
  const Buffer same = zeroes(sizeof(file_dedupe_range) + sizeof(file_dedupe_range_info));
  same.as<file_dedupe_range>().dest_count = 1;
  call(SYS_ioctl, {file, FIDEDUPERANGE, same}, same.size);
}

TEST_F(IoctlCalls, Sockets) {
  const int descriptor = keep(socket(AF_INET, SOCK_DGRAM, 0));
  const Buffer interfaces = random_bytes(400);
  struct {
    int32_t size;
    uint32_t pad;
    uint64_t buffer;
  } list{400, 0, interfaces.at};
  EXPECT_EQ(call(SYS_ioctl, {descriptor, SIOCGIFCONF, value(list)}, 60), 0);
  list = {0, 0, 0};
  EXPECT_EQ(call(SYS_ioctl, {descriptor, SIOCGIFCONF, value(list)}, 16), 0);
  ifreq interface {};
  std::strcpy(interface.ifr_name, "lo");
  for (long command :
       {SIOCGIFFLAGS, SIOCGIFADDR, SIOCGIFNETMASK, SIOCGIFBRDADDR, SIOCGIFMTU, SIOCGIFINDEX,
        SIOCGIFHWADDR, SIOCGIFMETRIC, SIOCGIFTXQLEN, SIOCGIFMAP, SIOCGIFDSTADDR}) {
    call(SYS_ioctl, {descriptor, command, value(interface)}, 40);
  }
  interface.ifr_ifindex = 1;
  call(SYS_ioctl, {descriptor, SIOCGIFNAME, value(interface)}, 40);
  EXPECT_EQ(ask(descriptor, FIONREAD), 0);
  EXPECT_EQ(ask(descriptor, SIOCOUTQ), 0);
  EXPECT_EQ(ask(descriptor, FIOGETOWN), 0);
  EXPECT_EQ(ask(descriptor, SIOCGPGRP), 0);
  ask(descriptor, SIOCGSTAMP_OLD);
  ask(descriptor, SIOCGSTAMPNS_NEW);
  const int stream = keep(socket(AF_INET, SOCK_STREAM, 0));
  EXPECT_EQ(ask(stream, SIOCATMARK), 0);
  EXPECT_EQ(ask(stream, SIOCOUTQNSD), 0);
}

TEST_F(IoctlCalls, Devices) {
  const int random = keep(open("/dev/urandom", O_RDONLY));
  EXPECT_EQ(ask(random, RNDGETENTCNT), 0);
  const int names = keep(open("/proc/self/ns/uts", O_RDONLY));
  ask(names, 0xb704);
  EXPECT_GT(call(SYS_ioctl, {names, 0xb703, 0}), 0);
  for (const char* name : {"/dev/vda", "/dev/loop0", "/dev/sda", "/dev/nvme0n1"}) {
    const int disk = open(name, O_RDONLY | O_NONBLOCK);
    if (disk < 0) continue;
    keep(disk);
    constexpr unsigned long kCommands[] = {BLKGETSIZE64,  BLKGETSIZE, BLKSSZGET,   BLKBSZGET,
                                           BLKPBSZGET,    BLKROGET,   BLKRAGET,    BLKFRAGET,
                                           BLKIOMIN,      BLKIOOPT,   BLKALIGNOFF, BLKSECTGET,
                                           BLKROTATIONAL, 0x301,      0x80081280};
    for (unsigned long command : kCommands) ask(disk, command);
    break;
  }
  const int clock = open("/dev/rtc0", O_RDONLY);
  if (clock >= 0) ask(keep(clock), 0x80247009);
  const int tunnel = open("/dev/net/tun", O_RDWR);
  if (tunnel >= 0) ask(keep(tunnel), TUNGETFEATURES);
}

TEST_F(IoctlCalls, UnknownCommandsAreNotKnown) {
  for (uint32_t command : {0u, 0xdeadbeefu, 0xae00u, 0x5600u + 0x7f, 0x541cu, 0x89f0u, 0x2400u}) {
    EXPECT_FALSE(ioctl_effect(command).known) << command;
  }
}

}  // namespace
}  // namespace weir::effects::testing
