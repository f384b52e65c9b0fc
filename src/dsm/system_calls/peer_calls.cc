// Problem: MPI sends large messages within a host by one copy: the receiver calls process_vm_readv
// on the sender's buffer (UCX's and Open MPI's "cma"). If that buffer is shared memory that the
// sender may not access at that moment, the kernel returns EFAULT to the receiver, and the sender,
// whose memory it is, learns nothing. MPI does not go on, or ends the process.
//
// Mechanism: both are nodes of one job, so functions of libc's names stand before libc's. What the
// kernel cannot read in another node's view that node is asked for (peers.h): its own thread makes
// the access. Copies into another node's view always go by that node, for the kernel's copy holds a
// page while it writes: a release of that node in between would take its right away, and what is
// written afterwards would be in no diff.
//
// Before a copy the other node learns what this one knows, else its view may have bytes that are
// outdated for the caller; after a write this one learns of it (peers.h).
//
// A copy within this process is a call with buffers like others.
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "dsm/base/failure.h"
#include "dsm/node/this_node.h"
#include "dsm/system_calls/kernel_calls.h"

namespace weir::dsm {
namespace {

using Copy = decltype(process_vm_readv);

constexpr uint64_t kChunk = 128 << 10;  // bytes that lie in other memory on their way

struct Lists {
  const iovec *mine, *its;
  unsigned long mine_count, its_count;
};

uint64_t size_of(const iovec* list, unsigned long count) {
  uint64_t size = 0;
  for (unsigned long i = 0; i < count; i++) size += list[i].iov_len;
  return size;
}

// Where a byte stands in a list.
struct Place {
  const iovec* list;
  unsigned long count;
  uint64_t at = 0;  // in the first of them
  void go_on(uint64_t bytes) {
    at += bytes;
    while (count > 0 && at >= list->iov_len) {
      at -= list->iov_len;
      list++;
      count--;
    }
  }
  uint8_t* address() const { return static_cast<uint8_t*>(list->iov_base) + at; }
  uint64_t left() const { return list->iov_len - at; }
};

// Between memory of this process that may not be there, and the runtime's own. False: EFAULT.
bool copy_own(const Segment& segment, void* to, const void* from, uint64_t size) {
  if (segment.contains(to) || segment.contains(from)) {
    memcpy(to, from, size);  // faults as the program would
    return true;
  }
  const iovec one = {to, size}, other = {const_cast<void*>(from), size};
  return syscall(SYS_process_vm_readv, getpid(), &one, 1, &other, 1, 0) == static_cast<long>(size);
}

// What lies behind `done` bytes, piece by piece. Returns how much of it has been copied altogether.
ssize_t copy_pieces(Node& node, NodeId peer, pid_t process, const Lists& lists, uint64_t done,
                    bool is_written, Copy* libc) {
  Thread& thread = this_thread();
  const Segment& segment = node.memory.segment;
  const auto begin = reinterpret_cast<uint64_t>(segment.program()), end = begin + segment.size();
  Place mine = {lists.mine, lists.mine_count}, its = {lists.its, lists.its_count};
  mine.go_on(done);
  its.go_on(done);
  while (mine.count > 0 && its.count > 0) {
    uint64_t size = std::min(mine.left(), its.left());
    const auto address = reinterpret_cast<uint64_t>(its.address());
    if (address >= begin && address < end) {
      size = std::min({size, end - address, kChunk});
      std::vector<uint8_t> bytes(size);
      if (!is_written) node.peers.read(peer, address - begin, bytes.data(), size, thread);
      if (!(is_written ? copy_own(segment, bytes.data(), mine.address(), size)
                       : copy_own(segment, mine.address(), bytes.data(), size))) {
        errno = EFAULT;
        return done > 0 ? static_cast<ssize_t>(done) : -1;
      }
      if (is_written) node.peers.write(peer, address - begin, bytes.data(), size, thread);
    } else {
      if (address < begin) size = std::min(size, begin - address);
      const iovec one = {mine.address(), size}, other = {its.address(), size};
      CallBuffers buffers;
      buffers.add(one.iov_base, size, !is_written);
      const ssize_t some = buffers.make([&] { return libc(process, &one, 1, &other, 1, 0); });
      if (some < 0) return done > 0 ? static_cast<ssize_t>(done) : some;
      if (static_cast<uint64_t>(some) < size) return static_cast<ssize_t>(done) + some;
    }
    done += size;
    mine.go_on(size);
    its.go_on(size);
  }
  return static_cast<ssize_t>(done);
}

ssize_t copy_between(pid_t process, const Lists& lists, unsigned long flags, bool is_written,
                     Copy* libc) {
  const auto by_kernel = [&] {
    return libc(process, lists.mine, lists.mine_count, lists.its, lists.its_count, flags);
  };
  if (flags || lists.mine_count > IOV_MAX || lists.its_count > IOV_MAX) return by_kernel();
  CallBuffers mine, its;
  for (unsigned long i = 0; i < lists.mine_count; i++)
    mine.add(lists.mine[i].iov_base, lists.mine[i].iov_len, !is_written);
  Node* const node = served_node();
  if (!node) return mine.make(by_kernel);
  const NodeId peer = node_of_process(process);
  bool names_shared = false;
  for (unsigned long i = 0; i < lists.its_count; i++)
    names_shared |= its.add(lists.its[i].iov_base, lists.its[i].iov_len, is_written);
  const bool is_own = peer == node->me() || process == getpid();
  if (is_own) {
    for (unsigned long i = 0; i < lists.its_count; i++)
      mine.add(lists.its[i].iov_base, lists.its[i].iov_len, is_written);
  }
  const uint64_t size =
      std::min(size_of(lists.mine, lists.mine_count), size_of(lists.its, lists.its_count));
  if (is_own || peer == kNoNode || !names_shared) return mine.make(by_kernel, size);
  Thread& thread = this_thread();
  node->peers.teach(peer, process, thread);
  if (is_written) {
    const ssize_t written = copy_pieces(*node, peer, process, lists, 0, true, libc);
    const int error = errno;
    node->peers.learn(peer, thread);
    errno = error;
    return written;
  }
  mine.make_accessible();
  const ssize_t done = by_kernel();
  if (done < 0 && errno != EFAULT) return done;
  if (done >= 0 && static_cast<uint64_t>(done) >= size) return done;
  return copy_pieces(*node, peer, process, lists, static_cast<uint64_t>(std::max<ssize_t>(done, 0)),
                     false, libc);
}

}  // namespace
}  // namespace weir::dsm

using namespace weir::dsm;

#define WEIR_COPY_CALL(name, is_written)                                                  \
  __attribute__((visibility("default"))) ssize_t name(                                    \
      pid_t process, const iovec* list, unsigned long count, const iovec* its,            \
      unsigned long its_count, unsigned long flags) {                                     \
    static auto* const libc = reinterpret_cast<Copy*>(dlsym(RTLD_NEXT, #name));           \
    return copy_between(process, {list, its, count, its_count}, flags, is_written, libc); \
  }

extern "C" {
WEIR_COPY_CALL(process_vm_readv, false)
WEIR_COPY_CALL(process_vm_writev, true)
}
