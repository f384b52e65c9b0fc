// System calls on shared memory that is not accessible at that moment, made by the program, by libc
// and by libstdc++. Node 1 writes what node 0's call reads; what node 0's call writes node 1 reads.
// Ends with "calls: well" of node 0.
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <fstream>
#include <functional>
#include <thread>
#include <vector>

#include "weir/dsm.hpp"

namespace dsm = weir::dsm;

namespace {

constexpr size_t kSize = 100'000, kLarge = 1'500'000;
unsigned me;
unsigned char* shared;  // kLarge bytes
unsigned fill = 1;
bool well = true;

void check(bool is_well, const char* what) {
  if (is_well) return;
  printf("calls: node %u: %s: wrong (%s)\n", me, what, strerror(errno));
  well = false;
}

unsigned char value(size_t i) { return static_cast<unsigned char>(i * 7 + i / 4096 + fill); }
bool holds(const unsigned char* bytes, size_t from, size_t size) {
  for (size_t i = 0; i < size; i++) {
    if (bytes[i] != value(from + i)) return false;
  }
  return true;
}
std::vector<unsigned char> values(size_t size) {
  std::vector<unsigned char> all(size);
  for (size_t i = 0; i < size; i++) all[i] = value(i);
  return all;
}

int new_file() { return memfd_create("calls", 0); }
bool file_holds(int file, size_t size) {
  std::vector<unsigned char> bytes(size + 1);
  return pread(file, bytes.data(), size + 1, 0) == static_cast<ssize_t>(size) &&
         holds(bytes.data(), 0, size);
}

// Node 1 writes `size` bytes, and node 0's call is to read them.
void reads(const char* what, size_t size, const std::function<bool()>& call) {
  fill++;
  if (me == 1) {
    for (size_t i = 0; i < size; i++) shared[i] = value(i);
  }
  dsm::barrier(0).arrive_and_wait();
  if (me == 0) check(call(), what);
  dsm::barrier(1).arrive_and_wait();
}

// Node 1 has written other bytes; node 0's call is to write all of them, and node 1 sees them.
void writes(const char* what, size_t size, const std::function<bool()>& call) {
  if (me == 1) memset(shared, 0xee, size);
  fill++;
  dsm::barrier(2).arrive_and_wait();
  if (me == 0) check(call(), what);
  dsm::barrier(3).arrive_and_wait();
  if (me == 1) check(holds(shared, 0, size), what);
  dsm::barrier(4).arrive_and_wait();
}

bool is_all(ssize_t result, size_t size) { return result == static_cast<ssize_t>(size); }

// A descriptor to read values(size) from, which another thread writes.
struct Source {
  int ends[2];
  std::thread thread;
  Source(int type, size_t size, useconds_t late = 0) {
    if (type == 0) check(pipe(ends) == 0, "pipe");
    else check(socketpair(AF_UNIX, type, 0, ends) == 0, "socketpair");
    thread = std::thread([this, type, size, late] {
      usleep(late);
      const auto all = values(size);
      for (size_t at = 0; at < size;) {
        const ssize_t written = type == 0 ? write(ends[1], all.data() + at, size - at)
                                          : send(ends[1], all.data() + at, size - at, 0);
        if (written <= 0) break;
        at += static_cast<size_t>(written);
      }
    });
  }
  ~Source() {
    thread.join();
    close(ends[0]);
    close(ends[1]);
  }
};

// Until all is there, as streams need.
bool in_parts(size_t size, const std::function<ssize_t(size_t)>& call) {
  for (size_t at = 0; at < size;) {
    const ssize_t some = call(at);
    if (some <= 0) return false;
    at += static_cast<size_t>(some);
  }
  return true;
}

void test_reading_calls() {
  const auto whole = [](size_t size, const std::function<ssize_t(int)>& call) {
    const int file = new_file();
    const bool is_well = is_all(call(file), size) && file_holds(file, size);
    close(file);
    return is_well;
  };
  reads("write", kSize,
        [&] { return whole(kSize, [](int file) { return write(file, shared, kSize); }); });
  reads("write, large", kLarge,
        [&] { return whole(kLarge, [](int file) { return write(file, shared, kLarge); }); });
  reads("pwrite", kSize,
        [&] { return whole(kSize, [](int file) { return pwrite(file, shared, kSize, 0); }); });
  reads("syscall", kSize, [&] {
    return whole(kSize, [](int file) { return syscall(SYS_write, file, shared, kSize); });
  });
  const auto list = [] {
    return std::vector<iovec>{{shared, 5000}, {shared + 5000, 1}, {shared + 5001, kSize - 5001}};
  };
  reads("writev", kSize,
        [&] { return whole(kSize, [&](int file) { return writev(file, list().data(), 3); }); });
  reads("pwritev", kSize,
        [&] { return whole(kSize, [&](int file) { return pwritev(file, list().data(), 3, 0); }); });
  reads("send, datagram", kSize, [] {
    int ends[2];
    std::vector<unsigned char> got(kSize + 1);
    const bool is_well = socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0 &&
                         is_all(send(ends[0], shared, kSize, 0), kSize) &&
                         is_all(recv(ends[1], got.data(), kSize + 1, 0), kSize);
    close(ends[0]), close(ends[1]);
    return is_well && holds(got.data(), 0, kSize);
  });
  reads("sendmsg, sendmmsg", kSize, [&] {
    int ends[2];
    std::vector<unsigned char> got(kSize + 1);
    auto parts = list();
    mmsghdr message = {};
    message.msg_hdr.msg_iov = parts.data();
    message.msg_hdr.msg_iovlen = 3;
    bool is_well = socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0 &&
                   is_all(sendmsg(ends[0], &message.msg_hdr, 0), kSize) &&
                   is_all(recv(ends[1], got.data(), kSize + 1, 0), kSize);
    is_well = is_well && holds(got.data(), 0, kSize) && sendmmsg(ends[0], &message, 1, 0) == 1 &&
              is_all(recv(ends[1], got.data(), kSize + 1, 0), kSize) && holds(got.data(), 0, kSize);
    close(ends[0]), close(ends[1]);
    return is_well;
  });
  reads("fwrite by rows", kSize, [] {
    char name[] = "/tmp/weir-calls-XXXXXX";
    FILE* file = fdopen(mkstemp(name), "w+");
    for (size_t row = 0; row < kSize / 5000; row++) {
      if (fwrite(shared + row * 5000, 100, 50, file) != 50) return false;
    }
    const bool is_well = fflush(file) == 0 && file_holds(fileno(file), kSize) && fclose(file) == 0;
    unlink(name);
    return is_well;
  });
  reads("ofstream", kSize, [] {
    const std::string name = "/tmp/weir-calls-" + std::to_string(getpid());
    std::ofstream(name, std::ios::binary).write(reinterpret_cast<char*>(shared), kSize);
    const int file = open(name.c_str(), O_RDONLY);
    const bool is_well = file_holds(file, kSize);
    close(file);
    unlink(name.c_str());
    return is_well;
  });
  reads("a path", kSize, [] {
    strcpy(reinterpret_cast<char*>(shared + 9000), "/dev/null");
    dsm::touch(shared, kSize);
    return access(reinterpret_cast<char*>(shared + 9000), F_OK) == 0;
  });
  reads("a thread that blocks all signals", kSize, [&] {
    bool is_well = false;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread([&] {
      is_well = whole(kSize, [](int file) { return write(file, shared, kSize); }) &&
                holds(shared, 0, kSize);
    }).join();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return is_well;
  });
}

void test_writing_calls() {
  const auto from_file = [](size_t size, const std::function<ssize_t(int)>& call) {
    const int file = new_file();
    const auto all = values(size);
    const bool is_well = is_all(write(file, all.data(), size), size) &&
                         lseek(file, 0, SEEK_SET) == 0 && is_all(call(file), size);
    close(file);
    return is_well;
  };
  writes("read", kSize,
         [&] { return from_file(kSize, [](int file) { return read(file, shared, kSize); }); });
  writes("read, large", kLarge,
         [&] { return from_file(kLarge, [](int file) { return read(file, shared, kLarge); }); });
  writes("pread", kSize,
         [&] { return from_file(kSize, [](int file) { return pread(file, shared, kSize, 0); }); });
  const auto list = [] {
    return std::vector<iovec>{{shared, 5000}, {shared + 5000, 1}, {shared + 5001, kSize - 5001}};
  };
  writes("readv", kSize,
         [&] { return from_file(kSize, [&](int file) { return readv(file, list().data(), 3); }); });
  writes("preadv", kSize, [&] {
    return from_file(kSize, [&](int file) { return preadv(file, list().data(), 3, 0); });
  });
  writes("a list in shared memory", kSize, [&] {
    return from_file(kSize, [&](int file) {
      auto* const its = reinterpret_cast<iovec*>(shared + kSize);
      its[0] = {shared, 40000};
      its[1] = {shared + 40000, kSize - 40000};
      return syscall(SYS_readv, file, its, 2);
    });
  });
  writes("fread", kSize, [&] {
    return from_file(kSize, [](int file) {
      FILE* stream = fdopen(dup(file), "r");
      const size_t got = fread(shared, 1, kSize, stream);
      fclose(stream);
      return static_cast<ssize_t>(got);
    });
  });
  writes("a pipe, late", 5000, [] {
    Source source(0, 5000, 20000);
    return in_parts(5000, [&](size_t at) { return read(source.ends[0], shared + at, 5000 - at); });
  });
  writes("recv, stream", kSize, [] {
    Source source(SOCK_STREAM, kSize, 1000);
    return in_parts(kSize,
                    [&](size_t at) { return recv(source.ends[0], shared + at, kSize - at, 0); });
  });
  writes("recvmsg", 9000, [] {
    Source source(SOCK_SEQPACKET, 9000);
    iovec parts[] = {{shared, 10}, {shared + 10, 8990}};
    msghdr message = {};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    return is_all(recvmsg(source.ends[0], &message, 0), 9000);
  });
}

// What has a result of its own.
void test_structures() {
  writes("structures", 0, [] {
    auto* const status = reinterpret_cast<struct stat*>(shared + 20000);
    auto* const ends = reinterpret_cast<int*>(shared + 30000);
    auto* const polled = reinterpret_cast<pollfd*>(shared + 40000);
    auto* const set = reinterpret_cast<fd_set*>(shared + 50000);
    if (stat("/dev/null", status) != 0 || !S_ISCHR(status->st_mode)) return false;
    if (pipe(ends) != 0 || write(ends[1], "x", 1) != 1) return false;
    *polled = {ends[0], POLLIN, 0};
    dsm::touch(shared, kSize);
    if (poll(polled, 1, 0) != 1 || polled->revents != POLLIN) return false;
    FD_ZERO(set);
    FD_SET(ends[0], set);
    if (select(ends[0] + 1, set, nullptr, nullptr, nullptr) != 1 || !FD_ISSET(ends[0], set))
      return false;
    if (getrandom(shared + 60000, 5000, 0) != 5000 ||
        !getcwd(reinterpret_cast<char*>(shared + 70000), 4000))
      return false;
    return close(ends[0]) == 0 && close(ends[1]) == 0;
  });
  reads("EFAULT stays EFAULT", 5000, [] {
    const int file = new_file();
    void* volatile nowhere = reinterpret_cast<void*>(8);
    const iovec parts[] = {{shared, 100}, {nowhere, 100}};
    const ssize_t some = writev(file, parts, 2);
    const bool is_well = (some == 100 || (some == -1 && errno == EFAULT)) &&
                         write(file, nowhere, 1) == -1 && errno == EFAULT;
    close(file);
    return is_well;
  });
  reads("a child by fork", 5000, [] {
    dsm::touch(shared, 5000);
    const int file = new_file();
    const pid_t child = fork();
    if (child == 0) _exit(is_all(write(file, shared, 5000), 5000) ? 0 : 1);
    int status = 1;
    const bool is_well =
        waitpid(child, &status, 0) == child && status == 0 && file_holds(file, 5000);
    close(file);
    return is_well;
  });
  writes("a signal", 100, [] {
    struct sigaction action = {}, before;
    action.sa_handler = [](int) {};
    sigaction(SIGUSR1, &action, &before);
    int ends[2];
    if (pipe(ends)) return false;
    const pthread_t self = pthread_self();
    std::thread other([&] {
      usleep(50000);
      pthread_kill(self, SIGUSR1);
    });
    const bool is_interrupted = read(ends[0], shared, 100) == -1 && errno == EINTR;
    other.join();
    sigaction(SIGUSR1, &before, nullptr);
    close(ends[0]), close(ends[1]);
    memcpy(shared, values(100).data(), 100);
    return is_interrupted;
  });
}

// Threads of this node synchronize meanwhile, so that rights go and come.
void test_among_threads() {
  constexpr unsigned kRounds = 60;
  std::atomic<bool> stops{false};
  std::vector<std::thread> threads;
  // In the same pages as what is written.
  auto* const counters = reinterpret_cast<unsigned long*>(shared + kSize);
  if (me == 1) memset(shared + kSize, 0, 1000);
  dsm::barrier(8).arrive_and_wait();
  std::atomic<unsigned long> counted{0};
  for (unsigned number = 0; number < 2; number++) {
    threads.emplace_back([&, number] {
      while (!stops) {
        const dsm::locked held(20 + number);
        counters[number * 8]++;
        counted++;
      }
    });
  }
  unsigned char* const mine = shared + kSize - 2000 + me * 700;  // this node's own
  int ends[2];
  check(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0, "socketpair");
  for (unsigned round = 0; round < kRounds; round++) {
    unsigned char sent[500], got[500];
    memset(sent, static_cast<int>(round + me), sizeof sent);
    std::thread other([&] {
      usleep(500);
      send(ends[1], sent, sizeof sent, 0);
    });
    check(recv(ends[0], mine, 500, 0) == 500, "recv among threads");
    other.join();
    { const dsm::locked held(30); }
    check(send(ends[0], mine, 500, 0) == 500 && recv(ends[1], got, 500, 0) == 500 &&
              memcmp(sent, got, 500) == 0,
          "send among threads");
  }
  stops = true;
  for (std::thread& thread : threads) thread.join();
  close(ends[0]), close(ends[1]);
  const unsigned long all = dsm::reduce_sum(counted.load());
  dsm::barrier(9).arrive_and_wait();
  if (me == 0) check(counters[0] + counters[8] == all, "counters among threads");
  dsm::barrier(10).arrive_and_wait();
}

// Handlers that the program installs after the start, of which one blocks all signals while it
// accesses shared memory.
std::atomic<int> handled{0};
void test_handlers() {
  fill++;
  struct sigaction action = {}, before, none;
  action.sa_sigaction = [](int, siginfo_t*, void*) { _exit(77); };
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, &before);
  check(signal(SIGSYS, SIG_DFL) == SIG_DFL, "SIGSYS as it was");
  sigaction(SIGSEGV, nullptr, &none);
  check(none.sa_sigaction == action.sa_sigaction, "SIGSEGV as it is");
  if (me == 1) memcpy(shared, values(kSize).data(), kSize);
  dsm::barrier(15).arrive_and_wait();
  if (me == 0) check(holds(shared, 0, kSize), "faults go to the library first");
  dsm::barrier(16).arrive_and_wait();
  if (me == 1) memset(shared, 9, kSize);
  dsm::barrier(17).arrive_and_wait();
  if (me == 0) {
    struct sigaction blocks = {}, usual;
    sigfillset(&blocks.sa_mask);
    blocks.sa_handler = [](int) {
      const int file = new_file();
      handled = shared[3 * 4096] == 9 && write(file, shared, kSize) == static_cast<ssize_t>(kSize)
                    ? 1
                    : 2;
      close(file);
    };
    sigaction(SIGUSR2, &blocks, &usual);
    raise(SIGUSR2);
    check(handled == 1, "a handler that blocks all");
    sigaction(SIGUSR2, &usual, nullptr);
    const pid_t child = fork();
    if (child == 0) {
      void* volatile nowhere = reinterpret_cast<void*>(8);
      *static_cast<char*>(nowhere) = 1;
    }
    int status = 0;
    check(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 77,
          "a fault of the program's own");
  }
  sigaction(SIGSEGV, &before, nullptr);
  dsm::barrier(18).arrive_and_wait();
}

// A thread that is cancelled in a call of the library's ends behind it; one that waits in the
// kernel for shared memory ends there, or with glibc 2.41 when the call returns.
void test_cancelled() {
  if (me == 0) weir_dsm_lock(60);
  dsm::barrier(11).arrive_and_wait();
  bool had_lock = false;
  std::thread waits;
  if (me == 1) {
    waits = std::thread([&] {
      weir_dsm_lock(60);
      had_lock = true;
      weir_dsm_unlock(60);
    });
    usleep(50000);
    pthread_cancel(waits.native_handle());
  }
  dsm::barrier(12).arrive_and_wait();
  if (me == 0) weir_dsm_unlock(60);
  if (waits.joinable()) waits.join();
  dsm::barrier(13).arrive_and_wait();
  if (me == 1) check(had_lock, "a thread cancelled in weir_dsm_lock");
  { const dsm::locked held(60); }
  int ends[2];
  check(pipe(ends) == 0, "pipe");
  pthread_t reads;
  pthread_create(
      &reads, nullptr,
      [](void* end) -> void* { return read(*static_cast<int*>(end), shared, 10) ? nullptr : end; },
      &ends[0]);
  usleep(50000);
  pthread_cancel(reads);
  usleep(50000);
  check(write(ends[1], "0123456789", 10) == 10, "write");
  pthread_join(reads, nullptr);
  close(ends[0]), close(ends[1]);
  { const dsm::locked held(60); }
  dsm::barrier(14).arrive_and_wait();
}

}  // namespace

int main(int argc, char** argv) {
  dsm::session session(argc, argv);
  me = session.node();
  if (me == 0) shared = static_cast<unsigned char*>(weir_dsm_alloc(kLarge));
  dsm::share(shared);
  test_reading_calls();
  test_writing_calls();
  test_structures();
  test_among_threads();
  test_cancelled();
  test_handlers();
  const int all = static_cast<int>(dsm::reduce_sum(well ? 0 : 1));
  if (me == 0 && all == 0) puts("calls: well");
  return all != 0;
}
