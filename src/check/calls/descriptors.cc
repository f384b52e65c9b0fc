#include "check/core/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <initializer_list>

#include "base/atomic_enum.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "check/core/attach.h"
#include "check/core/state.h"
#include "memory/backing.h"
#include "memory/program_memory.h"
#include "sys/syscall_x86_64.h"

namespace weir::checking {

using happens::kAnyDescriptor;
using happens::kSignals;

bool read_program(void* to, long from, uint64_t size) {
  if (!is_replayed()) return trap::from_program(to, from, size) == 0;
  auto* bytes = static_cast<uint8_t*>(to);
  for (uint64_t done = 0; done < size;) {
    const uint64_t at = static_cast<uint64_t>(from) + done;
    const uint64_t rest = page_down(at) + kPageSize - at, left = size - done;
    const uint64_t part = rest < left ? rest : left;
    const uint64_t shared_view = page::shared_view_of(at);
    if (shared_view == at || page::backing_bytes_at(at) < part ||
        trap::from_program(bytes + done, static_cast<long>(shared_view), part) != 0)
      return false;
    done += part;
  }
  return true;
}

long read_text(char* to, long from, long capacity) {
  if (!is_replayed()) {
    const long length = trap::string_from_program(to, from, static_cast<uint64_t>(capacity));
    return length < 0 ? -1 : length;
  }
  for (long i = 0; i < capacity; i++) {
    if (!read_program(to[i], from + i)) return -1;
    if (!to[i]) return i;
  }
  return capacity;
}

Descriptors& descriptors() { return view::checked::state().descriptors; }

uint64_t name_of_file(uint64_t number, uint64_t device) {
  return kFileName | (mix(number ^ device << 32) & kNameBits);
}

namespace {

constexpr Descriptor kElsewhere{kAnyDescriptor, 0, Sort::kAnywhere, 0};

bool is_in_table(long descriptor) { return descriptor >= 0 && descriptor < Descriptors::kMost; }

uint32_t forks() { return __atomic_load_n(&descriptors().forks, __ATOMIC_ACQUIRE); }

void keep(long descriptor, const Descriptor& made) {
  if (is_in_table(descriptor)) descriptors().table[descriptor] = made;
}

uint64_t next_name() {
  return kMadeName | __atomic_add_fetch(&descriptors().made, 1, __ATOMIC_RELAXED);
}

// An end of a connection by its own address and the other's. 0: such an address says nothing.
uint64_t end_name(const sockaddr_storage& own, const sockaddr_storage& other) {
  uint64_t hash = 1;
  const auto add = [&](uint64_t word) { hash = mix(hash ^ word) ^ hash >> 29; };
  for (const auto* address : {&own, &other}) {
    if (address->ss_family == AF_INET) {
      const auto& in = reinterpret_cast<const sockaddr_in&>(*address);
      add(uint64_t{in.sin_port} << 32 | in.sin_addr.s_addr);
    } else if (address->ss_family == AF_INET6) {
      const auto& in = reinterpret_cast<const sockaddr_in6&>(*address);
      uint64_t words[2];
      copy_bytes(words, &in.sin6_addr, sizeof words);
      if (words[0] == 0 && (words[1] & 0xffffffff) == 0xffff0000) {  // of IPv4
        add(uint64_t{in.sin6_port} << 32 | words[1] >> 32);
      } else {
        add(words[0]);
        add(words[1]);
        add(in.sin6_port);
      }
    } else {
      return 0;
    }
  }
  return kSocketName | (hash & kNameBits);
}

// False: there is no room.
bool note_seen(uint64_t end) {
  auto& seen = descriptors().seen;
  for (uint32_t i = 0; i < 16; i++) {
    uint64_t& place = seen[((mix(end) >> 40) + i) & (Descriptors::kSeen - 1)];
    uint64_t there = __atomic_load_n(&place, __ATOMIC_ACQUIRE);
    if (!there &&
        __atomic_compare_exchange_n(&place, &there, end, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
      return true;
    if (there == end) return true;
  }
  return false;
}

bool was_seen(uint64_t end) {
  const auto& seen = descriptors().seen;
  for (uint32_t i = 0; i < 16; i++) {
    if (__atomic_load_n(&seen[((mix(end) >> 40) + i) & (Descriptors::kSeen - 1)],
                        __ATOMIC_ACQUIRE) == end)
      return true;
  }
  return false;
}

// One end of a stream connection that has two addresses.
Descriptor describe_socket(long descriptor) {
  int type = 0;
  uint32_t size = sizeof type;
  if (sys::raw(SYS_getsockopt, descriptor, SOL_SOCKET, SO_TYPE, reinterpret_cast<long>(&type),
               reinterpret_cast<long>(&size)) != 0 ||
      type != SOCK_STREAM)
    return kElsewhere;
  sockaddr_storage own{}, other{};
  const auto ask = [&](long number, sockaddr_storage& address) {
    uint32_t length = sizeof address;
    return sys::raw(number, descriptor, reinterpret_cast<long>(&address),
                    reinterpret_cast<long>(&length)) == 0;
  };
  if (!ask(SYS_getsockname, own) || !ask(SYS_getpeername, other)) return kElsewhere;
  const uint64_t here = end_name(own, other), there = end_name(other, own);
  if (!here || !note_seen(here)) return kElsewhere;
  return {here < there ? here : there, there, Sort::kSocket, forks()};
}

Descriptor look_at(long descriptor) {
  constexpr uint32_t kMemoryDevices = 1;  // null, zero, random, ...
  struct stat status;
  if (is_replayed()) return kElsewhere;  // there is none
  if (sys::raw(SYS_fstat, descriptor, reinterpret_cast<long>(&status)) != 0) return kElsewhere;
  const uint64_t name = name_of_file(status.st_ino, status.st_dev);
  switch (status.st_mode & S_IFMT) {
    case S_IFSOCK: return describe_socket(descriptor);
    case S_IFIFO: return {name, 0, Sort::kStream, 0};
    case S_IFREG:
    case S_IFDIR:
    case S_IFBLK: return {name, 0, Sort::kFile, 0};
    case S_IFCHR:
      return (status.st_rdev >> 8 & 0xfff) == kMemoryDevices ? Descriptor{name, 0, Sort::kFile, 0}
                                                             : kElsewhere;
    default: return kElsewhere;
  }
}

}  // namespace

Descriptor describe(long descriptor) {
  if (!is_in_table(descriptor)) return kElsewhere;
  Descriptor& kept = descriptors().table[descriptor];
  if (kept.sort == Sort::kUnknown) {
    const Descriptor found = look_at(descriptor);
    kept.name = found.name;
    kept.other = found.other;
    kept.forks = found.forks;
    store_enum<__ATOMIC_RELEASE>(kept.sort, found.sort);
  }
  return kept;
}

void acquire_any_descriptor() {
  happens::acquire(kAnyDescriptor);
  happens::acquire(kAnyDescriptor | kClosed);
}

void acquire_descriptor(long descriptor, Told told) {
  const Descriptor of = describe(descriptor);
  const bool may_be_relayed = descriptors().relays || of.forks != forks();
  const auto learn = [&](uint64_t name) {
    happens::acquire(name);
    if (told == Told::kAnything) happens::acquire(name | kClosed);
  };
  switch (of.sort) {
    case Sort::kFile:
    case Sort::kSignals: return learn(of.name);
    case Sort::kCounter:
    case Sort::kStream:
      learn(of.name);
      if (may_be_relayed) learn(kAnyDescriptor);
      return;
    case Sort::kSocket:
      learn(was_seen(of.other) ? of.name : kAnyDescriptor);
      if (may_be_relayed) learn(kAnyDescriptor);
      return;
    default: return acquire_any_descriptor();
  }
}

void release_descriptor(long descriptor) {
  const Descriptor of = describe(descriptor);
  if (of.name != kAnyDescriptor) happens::release(of.name);
  happens::release(kAnyDescriptor);
}

void release_end(long descriptor) {
  const Descriptor of = describe(descriptor);
  if (of.name != kAnyDescriptor) happens::release(of.name | kClosed);
  happens::release(kAnyDescriptor | kClosed);
}

void forget_descriptor(long descriptor) { keep(descriptor, {}); }

namespace {

void note_two(long at, Sort sort) {
  int both[2];
  if (!read_program(both, at)) return;
  const Descriptor made{next_name(), 0, sort, forks()};
  keep(both[0], made);
  keep(both[1], made);
}

void copy(long from, long to) {
  if (is_in_table(from)) keep(to, descriptors().table[from]);
  else keep(to, {});
}

}  // namespace

void note_made(long number, const long* arguments, long result) {
  const auto make = [&](Sort sort) { keep(result, {next_name(), 0, sort, forks()}); };
  if (result < 0) return;
  switch (number) {
    case SYS_pipe:
    case SYS_pipe2:
      if (!is_replayed()) return;  // its file says more, also where it is opened by a name
      return note_two(arguments[0], Sort::kStream);
    case SYS_socketpair: return note_two(arguments[3], Sort::kStream);
    case SYS_eventfd:
    case SYS_eventfd2: return make(Sort::kCounter);
    case SYS_timerfd_create: return make(Sort::kFile);
    case SYS_epoll_create:
    case SYS_epoll_create1: return make(Sort::kEpoll);
    case SYS_signalfd:
    case SYS_signalfd4: return keep(result, {kSignals, 0, Sort::kSignals, 0});
    case SYS_dup:
    case SYS_dup2:
    case SYS_dup3:
      if (result != arguments[0]) copy(arguments[0], result);
      return;
    case SYS_fcntl:
      if (arguments[1] == F_DUPFD || arguments[1] == F_DUPFD_CLOEXEC) copy(arguments[0], result);
      return;
    case SYS_listen: return keep(arguments[0], {kConnections, 0, Sort::kFile, 0});
    case SYS_open:
    case SYS_openat:
    case SYS_creat:
    case SYS_pidfd_getfd:
    case SYS_socket: return keep(result, {});
    case SYS_accept:
    case SYS_accept4:
      keep(result, {});
      (void)describe(result);
      return;
    case SYS_close_range:
      for (long i = arguments[0]; i <= arguments[1] && is_in_table(i); i++) keep(i, {});
      return;
    default: return;
  }
}

namespace {

uint32_t first_place(long epoll, uint64_t data) {
  return static_cast<uint32_t>(mix(data ^ static_cast<uint64_t>(epoll) << 48) >> 40);
}
constexpr uint32_t kPlaces = 64;  // that are looked at
Registration& place(uint32_t at) {
  return descriptors().registrations[at & (Descriptors::kRegistrations - 1)];
}

}  // namespace

void note_registration(const long* arguments) {
  epoll_event event{};
  if (arguments[1] == EPOLL_CTL_DEL || !read_program(event, arguments[3])) return;
  const uint64_t data = event.data.u64;
  const auto epoll = arguments[0];
  const Registration wanted{data, static_cast<uint32_t>(epoll) + 1,
                            static_cast<uint32_t>(arguments[2])};
  const SpinGuard guard(view::checked::state().findings_lock);
  const uint32_t first = first_place(epoll, data);
  for (uint32_t i = 0; i < kPlaces; i++) {
    Registration& there = place(first + i);
    if (there.epoll == wanted.epoll && there.data == data && there.descriptor == wanted.descriptor)
      return;
    if (there.epoll) continue;
    there.data = data;
    there.descriptor = wanted.descriptor;
    __atomic_store_n(&there.epoll, wanted.epoll, __ATOMIC_RELEASE);
    return;
  }
  descriptors().lost = 1;
}

void acquire_ready(long descriptor, uint32_t events) {
  constexpr uint32_t kTold = POLLIN | POLLPRI | POLLHUP | POLLERR | POLLRDHUP | POLLRDNORM |
                             POLLRDBAND | POLLMSG | POLLNVAL;
  if (events & kTold) acquire_descriptor(descriptor);
  if (events & (POLLOUT | POLLWRNORM | POLLWRBAND))
    happens::acquire(describe(descriptor).name | kRoom);
}

void acquire_event(long epoll, uint64_t data, uint32_t events) {
  bool is_known = false;
  const uint32_t first = first_place(epoll, data);
  for (uint32_t i = 0; i < kPlaces; i++) {
    const Registration& there = place(first + i);
    const uint32_t of = __atomic_load_n(&there.epoll, __ATOMIC_ACQUIRE);
    if (!of) break;
    if (of != static_cast<uint32_t>(epoll) + 1 || there.data != data) continue;
    is_known = true;
    happens::acquire(kRegistered | there.descriptor);
    acquire_ready(there.descriptor, events);
  }
  if (!is_known || descriptors().lost) acquire_any_descriptor();
}

}  // namespace weir::checking
