// Copies between the nodes' processes out of shared memory and into it (process_vm_readv,
// process_vm_writev), as MPI makes them, against a model; asynchronous input and output (POSIX's
// aio). Meanwhile a thread of each node locks and writes in the same pages, so that rights come and
// go. argv: rounds, seed. Ends with "peers: well" of node 0.
#include <aio.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <random>
#include <thread>
#include <vector>

#include "weir/dsm.hpp"

namespace dsm = weir::dsm;

namespace {

using Random = std::mt19937;
constexpr size_t kPage = 4096, kPages = 40, kSize = kPages * kPage;
constexpr size_t kModelled = 4032;  // of a page; a counter lies behind
constexpr size_t kPrivate = 30000;

unsigned me, nodes;
unsigned char *shared, *scratch;  // scratch: kSize bytes for each node
std::vector<unsigned char> model(kSize), mine(kPrivate);
bool well = true;

struct Node {
  pid_t process;
  unsigned char* memory;  // private: kPrivate bytes, each the node's number + 1
};
Node all[64];

void check(bool is_well, const char* what, unsigned round) {
  if (is_well || !well) return;
  printf("peers: node %u: %s, round %u: wrong (%s)\n", me, what, round, strerror(errno));
  well = false;
}

// A piece of what is modelled, within a page or over many.
struct Piece {
  size_t at, size;
};
Piece any_piece(Random& random) {
  const size_t at = random() % kSize;
  const size_t most = random() % 3 ? 9000 : kSize;
  return {at, 1 + random() % std::min(most, kSize - at)};
}
Piece piece_of_page(Random& random) {
  const size_t page = random() % kPages, at = random() % kModelled;
  return {page * kPage + at, 1 + random() % (kModelled - at)};
}

bool is_as_modelled(const unsigned char* bytes, Piece piece) {
  for (size_t i = 0; i < piece.size; i++) {
    const size_t at = piece.at + i;
    if (at % kPage < kModelled && bytes[i] != model[at]) return false;
  }
  return true;
}

// By the copy of the kernel: pieces of another node's view, and of its private memory, into private
// and shared memory of this one.
void read_from(unsigned node, Random& random, unsigned round) {
  std::vector<iovec> its, to;
  std::vector<Piece> pieces;
  size_t size = 0;
  for (unsigned i = 0, count = 1 + random() % 6; i < count; i++) {
    pieces.push_back(any_piece(random));
    its.push_back({shared + pieces.back().at, pieces.back().size});
    size += pieces.back().size;
    const size_t from_private = random() % 2 ? random() % kPrivate : 0;
    its.push_back({all[node].memory, from_private});
    size += from_private;
  }
  std::vector<unsigned char> heap(size);
  unsigned char* const own = scratch + me * kSize;
  const size_t in_scratch = std::min<size_t>(random() % kSize, size);
  if (random() % 2) {
    to = {{own, in_scratch}, {heap.data(), size - in_scratch}};
  } else {
    to = {{heap.data(), size - in_scratch}, {own, in_scratch}};
  }
  const bool is_first = to[0].iov_base == own;
  const ssize_t result =
      process_vm_readv(all[node].process, to.data(), 2, its.data(), its.size(), 0);
  check(result == static_cast<ssize_t>(size), "process_vm_readv", round);
  std::vector<unsigned char> got(is_first ? own : heap.data(),
                                 is_first ? own + in_scratch : heap.data() + size - in_scratch);
  if (is_first) got.insert(got.end(), heap.begin(), heap.begin() + (size - in_scratch));
  else got.insert(got.end(), own, own + in_scratch);
  size_t at = 0;
  for (size_t i = 0; i < its.size(); i++) {
    if (i % 2 == 0) {
      check(is_as_modelled(got.data() + at, pieces[i / 2]), "what is read", round);
    } else {
      for (size_t k = 0; k < its[i].iov_len; k++)
        check(got[at + k] == node + 1, "what is read of private memory", round);
    }
    at += its[i].iov_len;
  }
}

// Each node writes pages of its own, in the view of any node: everybody knows what, by the seed.
void write_to_others(unsigned seed, unsigned round) {
  for (unsigned writer = 0; writer < nodes; writer++) {
    Random random(seed * 977 + round * 31 + writer);
    const unsigned to = random() % nodes;
    std::vector<iovec> its, from;
    std::vector<std::vector<unsigned char>> bytes;
    size_t size = 0;
    for (unsigned i = 0, count = 1 + random() % 5; i < count; i++) {
      Piece piece = piece_of_page(random);
      piece.at = (piece.at / kPage / nodes * nodes + writer) * kPage + piece.at % kPage;
      if (piece.at >= kSize) continue;
      bytes.emplace_back(piece.size);
      for (unsigned char& byte : bytes.back()) byte = static_cast<unsigned char>(random());
      memcpy(model.data() + piece.at, bytes.back().data(), piece.size);
      its.push_back({shared + piece.at, piece.size});
      size += piece.size;
    }
    if (writer != me || its.empty()) continue;
    for (auto& one : bytes) from.push_back({one.data(), one.size()});
    const ssize_t result =
        process_vm_writev(all[to].process, from.data(), from.size(), its.data(), its.size(), 0);
    check(result == static_cast<ssize_t>(size), "process_vm_writev", round);
  }
}

// A file's calls move all, also if pages are taken away while the kernel is at them.
void check_file(int file, unsigned round) {
  check(pwrite(file, shared, kSize, 5) == static_cast<ssize_t>(kSize), "pwrite", round);
  std::vector<unsigned char> got(kSize);
  check(pread(file, got.data(), kSize, 5) == static_cast<ssize_t>(kSize) &&
            is_as_modelled(got.data(), {0, kSize}),
        "what pwrite wrote", round);
  check(lseek(file, 0, SEEK_SET) == 0 && write(file, shared, kSize) == static_cast<ssize_t>(kSize),
        "write", round);
  check(pread(file, got.data(), kSize, 0) == static_cast<ssize_t>(kSize) &&
            is_as_modelled(got.data(), {0, kSize}),
        "what write wrote", round);
}

void copy_between(unsigned rounds, unsigned seed) {
  std::atomic<bool> stops{false};
  std::atomic<unsigned long> counted{0};
  std::thread counts([&] {
    Random random(seed + me);
    while (!stops) {
      const unsigned page = random() % kPages;
      const dsm::locked held(page);
      ++*reinterpret_cast<unsigned long*>(shared + page * kPage + kModelled);
      counted++;
    }
  });
  Random common(seed), own(seed * 64 + me);
  const int file = memfd_create("peers", 0);
  for (unsigned round = 0; round < rounds; round++) {
    const unsigned writer = common() % nodes;
    for (unsigned i = 0; i < 6; i++) {
      const Piece piece = piece_of_page(common);
      const auto value = static_cast<unsigned char>(common());
      memset(model.data() + piece.at, value, piece.size);
      if (me == writer) memset(shared + piece.at, value, piece.size);
    }
    // A node's view is as that node knows it: so all have to be past the barrier that tells.
    dsm::barrier(0).arrive_and_wait();
    dsm::barrier(9).arrive_and_wait();
    for (unsigned node = 0; node < nodes; node++) read_from(node, own, round);
    dsm::barrier(1).arrive_and_wait();
    write_to_others(seed, round);
    // What is written into a node's view is that node's write: its next release tells the others.
    dsm::barrier(2).arrive_and_wait();
    dsm::barrier(9).arrive_and_wait();
    check(is_as_modelled(shared, {0, kSize}), "what was written", round);
    check_file(file, round);
    dsm::barrier(3).arrive_and_wait();
  }
  stops = true;
  counts.join();
  close(file);
  const unsigned long sum = dsm::reduce_sum(counted.load());
  unsigned long there = 0;
  for (size_t page = 0; page < kPages; page++)
    there += *reinterpret_cast<unsigned long*>(shared + page * kPage + kModelled);
  check(there == sum, "counters", rounds);
  dsm::barrier(4).arrive_and_wait();
}

// What stays an error.
void refused() {
  unsigned char byte;
  iovec to = {&byte, 1}, nowhere = {reinterpret_cast<void*>(8), 1}, its = {shared, 1};
  const pid_t peer = all[nodes - 1 - me].process;
  check(process_vm_readv(peer, &to, 1, &nowhere, 1, 0) == -1 && errno == EFAULT, "nowhere", 0);
  check(process_vm_readv(peer, &to, 1, &its, 1, 1) == -1 && errno == EINVAL, "flags", 0);
  check(process_vm_readv(0x3fffffff, &to, 1, &its, 1, 0) == -1 && errno == ESRCH, "nobody", 0);
  check(process_vm_readv(peer, &nowhere, 1, &its, 1, 0) == -1 && errno == EFAULT, "to nowhere", 0);
  check(process_vm_writev(peer, &nowhere, 1, &its, 1, 0) == -1 && errno == EFAULT, "from nowhere",
        0);
  iovec two[] = {its, nowhere};
  unsigned char bytes[2];
  iovec room = {bytes, 2};
  const ssize_t some = process_vm_readv(peer, &room, 1, two, 2, 0);
  check(some == 1, "what is there before what is not", 0);
}

std::atomic<int> notified{0};

void asynchronous() {
  constexpr size_t kBytes = 50000;
  if (me == 1) memset(shared, 77, kBytes);
  dsm::barrier(5).arrive_and_wait();
  if (me == 0) {
    const int file = memfd_create("peers", 0);
    aiocb block = {};
    block.aio_fildes = file;
    block.aio_buf = shared;
    block.aio_nbytes = kBytes;
    block.aio_offset = 10;
    block.aio_sigevent.sigev_notify = SIGEV_THREAD;
    block.aio_sigevent.sigev_notify_function = [](sigval) { notified++; };
    const aiocb* const list[] = {&block};
    check(aio_write(&block) == 0 && aio_suspend(list, 1, nullptr) == 0 && aio_error(&block) == 0 &&
              aio_return(&block) == static_cast<ssize_t>(kBytes),
          "aio_write", 0);
    for (int i = 0; i < 2000 && !notified; i++) usleep(1000);
    check(notified == 1, "aio_write's end", 0);
    std::vector<unsigned char> got(kBytes);
    check(pread(file, got.data(), kBytes, 10) == static_cast<ssize_t>(kBytes) && got[0] == 77 &&
              got[kBytes - 1] == 77,
          "what aio_write wrote", 0);
    memset(got.data(), 5, kBytes);
    check(pwrite(file, got.data(), kBytes, 10) == static_cast<ssize_t>(kBytes), "pwrite", 0);
    aiocb other = {}, read = block;
    read.aio_sigevent.sigev_notify = SIGEV_NONE;
    read.aio_lio_opcode = LIO_READ;
    other = read;
    other.aio_buf = got.data();
    aiocb* const both[] = {&read, nullptr, &other};
    check(lio_listio(LIO_WAIT, both, 3, nullptr) == 0 &&
              aio_return(&read) == static_cast<ssize_t>(kBytes) &&
              aio_return(&other) == static_cast<ssize_t>(kBytes),
          "lio_listio", 0);
    read.aio_fildes = -1;
    check(aio_read(&read) == 0 && aio_error(&read) == EBADF && aio_return(&read) == -1,
          "aio_read that fails", 0);
    close(file);
  }
  dsm::barrier(6).arrive_and_wait();
  for (size_t i = 0; i < kBytes; i++) check(shared[i] == 5, "what lio_listio read", 0);
  dsm::barrier(7).arrive_and_wait();
}

}  // namespace

int main(int argc, char** argv) {
  dsm::session session(argc, argv);
  const auto rounds = static_cast<unsigned>(argc > 1 ? atoi(argv[1]) : 30),
             seed = static_cast<unsigned>(argc > 2 ? atoi(argv[2]) : 1);
  me = session.node(), nodes = session.nodes();
  if (me == 0) {
    shared = static_cast<unsigned char*>(weir_dsm_alloc(kSize));
    scratch = static_cast<unsigned char*>(weir_dsm_alloc(kSize * nodes));
  }
  dsm::share(shared), dsm::share(scratch);
  memset(mine.data(), static_cast<int>(me + 1), mine.size());
  for (unsigned node = 0; node < nodes; node++) {
    all[node] = {getpid(), mine.data()};
    dsm::share(all[node], node);
  }
  copy_between(rounds, seed);
  refused();
  dsm::barrier(8).arrive_and_wait();
  if (nodes > 1) asynchronous();
  const int wrong = static_cast<int>(dsm::reduce_sum(well ? 0 : 1));
  if (me == 0 && wrong == 0) puts("peers: well");
  return wrong != 0;
}
