// Commands of files, terminals, block devices, sockets and the like. What the number encodes
// (direction and size) is believed only where it is known to be true: FS_IOC_GETFLAGS says long and
// writes an int.

#include "effects/ioctl.h"

#include <asm/ioctls.h>
#include <asm/termbits.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/if_tun.h>
#include <linux/kd.h>
#include <linux/loop.h>
#include <linux/random.h>
#include <linux/sockios.h>
#include <linux/vt.h>
#include <stddef.h>

namespace weir::effects {

namespace {

constexpr IoctlEffect nothing() { return {true, 0, 0}; }
constexpr IoctlEffect writes(int size) { return {true, uint16_t(size), 0}; }
constexpr IoctlEffect reads(int size) { return {true, 0, uint16_t(size)}; }
constexpr IoctlEffect both(int size) { return {true, uint16_t(size), uint16_t(size)}; }
constexpr IoctlEffect as_encoded(uint32_t command) {
  const int size = _IOC_SIZE(command);
  return {true, uint16_t(_IOC_DIR(command) & _IOC_READ ? size : 0),
          uint16_t(_IOC_DIR(command) & _IOC_WRITE ? size : 0)};
}

constexpr int kTermios = 36, kTermios2 = 44, kTermio = 18, kSerial = 72, kInterface = 40,
              kLoopStatus = 232;

IoctlEffect terminal(uint32_t command) {
  switch (command) {
    case TCGETS: return writes(kTermios);
    case TCSETS:
    case TCSETSW:
    case TCSETSF: return reads(kTermios);
    case TCGETS2: return writes(kTermios2);
    case TCSETS2:
    case TCSETSW2:
    case TCSETSF2: return reads(kTermios2);
    case TCGETA: return writes(kTermio);
    case TCSETA:
    case TCSETAW:
    case TCSETAF: return reads(kTermio);
    case TIOCGWINSZ: return writes(8);
    case TIOCSWINSZ: return reads(8);
    case TIOCGSERIAL: return writes(kSerial);
    case TIOCSSERIAL: return reads(kSerial);
    case TIOCSTI: return reads(1);
    case TIOCGPGRP:
    case TIOCOUTQ:
    case TIOCMGET:
    case TIOCGSOFTCAR:
    case FIONREAD:
    case TIOCGETD:
    case TIOCGSID:
    case TIOCGPTN:
    case TIOCGDEV:
    case TIOCGPKT:
    case TIOCGPTLCK:
    case TIOCGEXCL: return writes(4);
    case TIOCSPGRP:
    case TIOCMBIS:
    case TIOCMBIC:
    case TIOCMSET:
    case TIOCSSOFTCAR:
    case TIOCPKT:
    case FIONBIO:
    case TIOCSETD:
    case TIOCSPTLCK:
    case FIOASYNC: return reads(4);
    case TCSBRK:
    case TCXONC:
    case TCFLSH:
    case TIOCEXCL:
    case TIOCNXCL:
    case TIOCSCTTY:
    case TIOCCONS:
    case TIOCNOTTY:
    case TCSBRKP:
    case TIOCSBRK:
    case TIOCCBRK:
    case TIOCSIG:
    case TIOCVHANGUP:
    case TIOCGPTPEER:
    case TIOCMIWAIT:
    case FIONCLEX:
    case FIOCLEX: return nothing();
    case FIOQSIZE: return writes(8);
    case KDGKBTYPE: return writes(1);
    case KDGETMODE:
    case KDGKBMODE:
    case VT_OPENQRY: return writes(4);
    case VT_GETSTATE: return writes(6);
    case VT_GETMODE: return writes(8);
    case VT_SETMODE: return reads(8);
    case KDSETMODE:
    case KDSKBMODE:
    case VT_ACTIVATE:
    case VT_WAITACTIVE: return nothing();
    default: return {};
  }
}

IoctlEffect block_device(uint32_t command) {
  constexpr uint32_t kGeometry = 0x301;
  switch (command) {
    case BLKROGET:
    case BLKSSZGET:
    case BLKIOMIN:
    case BLKIOOPT:
    case BLKALIGNOFF:
    case BLKPBSZGET:
    case BLKDISCARDZEROES:
    case BLKBSZGET: return writes(4);
    case BLKSECTGET:
    case BLKROTATIONAL: return writes(2);
    case BLKGETSIZE:
    case BLKGETSIZE64:
    case BLKRAGET:
    case BLKFRAGET:
    case BLKGETDISKSEQ: return writes(8);
    case BLKROSET:
    case BLKBSZSET: return reads(4);
    case BLKDISCARD:
    case BLKSECDISCARD:
    case BLKZEROOUT: return reads(16);
    case BLKRRPART:
    case BLKFLSBUF:
    case BLKRASET:
    case BLKFRASET: return nothing();
    case kGeometry: return writes(16);
    case LOOP_SET_STATUS64: return reads(kLoopStatus);
    case LOOP_GET_STATUS64: return writes(kLoopStatus);
    case LOOP_CONFIGURE: return reads(304);
    case LOOP_SET_FD:
    case LOOP_CLR_FD:
    case LOOP_CHANGE_FD:
    case LOOP_SET_CAPACITY:
    case LOOP_SET_DIRECT_IO:
    case LOOP_SET_BLOCK_SIZE:
    case LOOP_CTL_ADD:
    case LOOP_CTL_REMOVE:
    case LOOP_CTL_GET_FREE: return nothing();
    default: return {};
  }
}

IoctlEffect socket(uint32_t command) {
  constexpr uint32_t kSocketNamespace = 0x894c;
  switch (command) {
    case SIOCATMARK:
    case FIOGETOWN:
    case SIOCGPGRP:
    case SIOCOUTQNSD: return writes(4);
    case FIOSETOWN:
    case SIOCSPGRP: return reads(4);
    case SIOCGSTAMP_OLD:
    case SIOCGSTAMPNS_OLD:
    case SIOCGSTAMP_NEW:
    case SIOCGSTAMPNS_NEW: return writes(16);
    case SIOCGIFCONF: return both(16);
    case SIOCGIFNAME:
    case SIOCGIFFLAGS:
    case SIOCGIFADDR:
    case SIOCGIFDSTADDR:
    case SIOCGIFBRDADDR:
    case SIOCGIFNETMASK:
    case SIOCGIFMETRIC:
    case SIOCGIFMEM:
    case SIOCGIFMTU:
    case SIOCGIFENCAP:
    case SIOCGIFHWADDR:
    case SIOCGIFSLAVE:
    case SIOCGIFPFLAGS:
    case SIOCGIFINDEX:
    case SIOCGIFCOUNT:
    case SIOCGIFTXQLEN:
    case SIOCGIFMAP:
    case TUNSETIFF:
    case TUNGETIFF: return both(kInterface);
    case SIOCSIFFLAGS:
    case SIOCSIFADDR:
    case SIOCSIFDSTADDR:
    case SIOCSIFBRDADDR:
    case SIOCSIFNETMASK:
    case SIOCSIFMETRIC:
    case SIOCSIFMTU:
    case SIOCSIFNAME:
    case SIOCSIFHWADDR:
    case SIOCSIFTXQLEN:
    case SIOCSIFPFLAGS:
    case SIOCADDMULTI:
    case SIOCDELMULTI: return both(kInterface);
    case SIOCGARP:
    case SIOCGRARP: return both(68);
    case TUNGETFEATURES:
    case TUNGETSNDBUF:
    case TUNGETVNETHDRSZ: return writes(4);
    case TUNSETSNDBUF:
    case TUNSETVNETHDRSZ: return reads(4);
    case TUNSETPERSIST:
    case TUNSETOWNER:
    case TUNSETGROUP:
    case TUNSETOFFLOAD:
    case TUNSETLINK:
    case TUNSETNOCSUM:
    case TUNSETDEBUG:
    case kSocketNamespace: return nothing();
    default: return {};
  }
}

IoctlEffect file(uint32_t command) {
  constexpr uint32_t kFatAttributes = _IOR('r', 0x10, uint32_t),
                     kFileSystemId = _IOC(_IOC_READ, 0x15, 0, 17),
                     kFileSystemPath = _IOC(_IOC_READ, 0x15, 1, 129),
                     kInotifyNext = _IOW('I', 0, int32_t), kTimerTicks = _IOW('T', 0, uint64_t),
                     kEpollGet = _IOC(_IOC_READ, 0x8A, 2, 8),
                     kEpollSet = _IOC(_IOC_WRITE, 0x8A, 1, 8), kNamespaceOwner = _IO(0xb7, 4);
  switch (command) {
    case FS_IOC_GETFLAGS:
    case FS_IOC_GETVERSION:
    case FIGETBSZ:
    case kNamespaceOwner:
    case RNDGETENTCNT: return writes(4);
    case FS_IOC_SETFLAGS:
    case FS_IOC_SETVERSION:
    case RNDADDTOENTCNT: return reads(4);
    case FIBMAP: return both(4);
    case FICLONE:
    case FIFREEZE:
    case FITHAW:
    case RNDZAPENTCNT:
    case RNDCLEARPOOL:
    case RNDRESEEDCRNG:
    case kTimerTicks: return command == kTimerTicks ? reads(8) : nothing();
    case RNDADDENTROPY: return reads(8);
    case FS_IOC_FSGETXATTR:
    case FS_IOC_FSSETXATTR:
    case FS_IOC_GETFSLABEL:
    case FS_IOC_SETFSLABEL:
    case FICLONERANGE:
    case FITRIM:
    case FS_IOC_FIEMAP:
    case FIDEDUPERANGE:
    case kFatAttributes:
    case kFileSystemId:
    case kFileSystemPath:
    case kInotifyNext:
    case kEpollGet:
    case kEpollSet: return as_encoded(command);
    default: return {};
  }
}

// Whole families in which number and truth agree, and arguments point nowhere.
IoctlEffect family(uint32_t command) {
  constexpr uint32_t kClock = 'p', kInput = 'E', kNamespace = 0xb7, kProcess = 0xff;
  const uint32_t type = _IOC_TYPE(command), number = _IOC_NR(command);
  if (type == kClock && number <= 0x14) {
    const bool is_long =
        number >= 0x0b &&
        number <= 0x0e;  // RTC_IRQP_READ to RTC_EPOCH_SET: reads are long, sets by value
    if (is_long && !(_IOC_DIR(command) & _IOC_READ)) return nothing();
    return as_encoded(command);
  }
  // EVIOCG*; not force feedback, nor masks, which point on.
  if (type == kInput && _IOC_DIR(command) == _IOC_READ && number < 0x80) return as_encoded(command);
  if (type == kNamespace && command == _IO(kNamespace, number) && number <= 3) return nothing();
  if (type == kProcess && command == _IO(kProcess, number) && number >= 1 && number <= 10)
    return nothing();
  if (type == kProcess && number == 11) return as_encoded(command);
  return {};
}

}  // namespace

IoctlEffect ioctl_effect(uint32_t command) {
  IoctlEffect effect = terminal(command);
  if (!effect.known) effect = file(command);
  if (!effect.known) effect = socket(command);
  if (!effect.known) effect = block_device(command);
  if (!effect.known) effect = family(command);
  return effect;
}

void ioctl_written_beyond(uint32_t command, uint64_t argument, const Visitor& visitor) {
  switch (command) {
    case SIOCGIFCONF: {
      struct {
        int32_t size;
        uint32_t pad;
        uint64_t buffer;
      } list;
      if (fetch(list, argument) && list.size > 0)
        visitor(list.buffer, static_cast<uint64_t>(list.size));
      return;
    }
    case FS_IOC_FIEMAP: {
      fiemap map;
      if (!fetch(&map, argument, sizeof map)) return;
      const uint64_t count =
          map.fm_mapped_extents < map.fm_extent_count ? map.fm_mapped_extents : map.fm_extent_count;
      return visitor(argument + sizeof map, count * sizeof(fiemap_extent));
    }
    case FIDEDUPERANGE: {
      file_dedupe_range range;
      if (fetch(&range, argument, sizeof range))
        visitor(argument + sizeof range, range.dest_count * sizeof(file_dedupe_range_info));
      return;
    }
    default: return;
  }
}

}  // namespace weir::effects
