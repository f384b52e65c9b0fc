// Calls that consume what they return (datagrams, connections, messages, dead children, events),
// and others that programs seldom make, on shared memory. Another thread of the node locks and
// writes in the same pages meanwhile, so that rights go while a call waits: nothing may be lost.
// argv: rounds. Ends with "receiving: well" of node 0.
#include <aio.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/random.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <functional>
#include <thread>
#include <vector>

#include "weir/dsm.hpp"

namespace dsm = weir::dsm;

namespace {

constexpr size_t kPage = 4096, kPart = 112 * kPage, kLarge = 64 * kPage;
// Of the thread that locks: in pages that the calls use, and beside what they use there.
constexpr size_t kCounters[] = {2000,  15000, 29504, 40000, 48000, 55000, 65000,
                                72504, 78000, 80504, 82504, 88000, 94000};
unsigned me, round_now;
unsigned char* mine;  // this node's part
bool well = true;

void check(bool is_well, const char* what) {
  if (is_well) return;
  printf("receiving: node %u, round %u: %s: wrong (%s)\n", me, round_now, what, strerror(errno));
  well = false;
}

// Calls while another thread does something a little later.
template <typename Later, typename Call>
void meanwhile(Later later, Call call) {
  std::thread other([&] {
    usleep(3000);
    later();
  });
  call();
  other.join();
}

unsigned char value(size_t i) { return static_cast<unsigned char>(i * 11 + round_now + me); }
std::vector<unsigned char> values(size_t size) {
  std::vector<unsigned char> all(size);
  for (size_t i = 0; i < size; i++) all[i] = value(i);
  return all;
}
bool holds(const unsigned char* bytes, size_t size) {
  for (size_t i = 0; i < size; i++) {
    if (bytes[i] != value(i)) return false;
  }
  return true;
}

// A call that is begun again if it was interrupted: the end of an io_uring does that.
template <typename Call>
long again(Call call) {
  long result;
  do result = call();
  while (result < 0 && errno == EINTR);
  return result;
}

template <typename T>
T& shared_at(size_t at) {
  return *reinterpret_cast<T*>(mine + at);
}

void test_messages() {
  int ends[2];
  check(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0, "socketpair");
  const auto sent = values(9000);
  meanwhile([&] { check(send(ends[1], sent.data(), 9000, 0) == 9000, "send"); },
            [&] {
              iovec parts[] = {{mine + 4000, 200}, {mine + 3 * kPage - 1, 2}, {mine + 20000, 9000}};
              msghdr message = {};
              message.msg_iov = parts;
              message.msg_iovlen = 3;
              const bool is_whole = recvmsg(ends[0], &message, 0) == 9000;
              check(is_whole, "recvmsg");
              memmove(mine + 4200, mine + 3 * kPage - 1, 2);
              memmove(mine + 4202, mine + 20000, 8798);
              check(holds(mine + 4000, 9000), "what recvmsg has read");
            });
  meanwhile(
      [&] {
        check(
            send(ends[1], sent.data(), 5000, 0) == 5000 && send(ends[1], sent.data(), 70, 0) == 70,
            "send two");
      },
      [&] {
        iovec one = {mine + 4000, 6000}, other = {mine + 30000, 6000};
        auto* const messages = &shared_at<mmsghdr>(50000);  // the headers, too
        memset(messages, 0, 2 * sizeof *messages);
        messages[0].msg_hdr.msg_iov = &one;
        messages[1].msg_hdr.msg_iov = &other;
        messages[0].msg_hdr.msg_iovlen = messages[1].msg_hdr.msg_iovlen = 1;
        check(recvmmsg(ends[0], messages, 2, 0, nullptr) == 2 && messages[0].msg_len == 5000 &&
                  messages[1].msg_len == 70 && holds(mine + 4000, 5000) && holds(mine + 30000, 70),
              "recvmmsg");
      });
  meanwhile([&] { check(write(ends[1], sent.data(), 5000) == 5000, "write"); },
            [&] {
              iovec parts[] = {{mine + 8000, 1000}, {mine + 9000, 7000}};
              check(readv(ends[0], parts, 2) == 5000 && holds(mine + 8000, 5000), "readv");
            });
  // A descriptor in a message, whose control data lies in shared memory.
  int pipe_ends[2];
  check(pipe(pipe_ends) == 0, "pipe");
  char byte = 1;
  iovec one = {&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &one;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* part = CMSG_FIRSTHDR(&message);
  *part = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
  memcpy(CMSG_DATA(part), &pipe_ends[1], sizeof(int));
  meanwhile([&] { check(sendmsg(ends[1], &message, 0) == 1, "sendmsg"); },
            [&] {
              msghdr& got = shared_at<msghdr>(60000);
              iovec& list = shared_at<iovec>(61000);
              list = {mine + 100, 1};
              got = {};
              got.msg_iov = &list;
              got.msg_iovlen = 1;
              got.msg_control = mine + 62000 / 16 * 16;
              got.msg_controllen = 100;
              check(recvmsg(ends[0], &got, 0) == 1 && CMSG_FIRSTHDR(&got), "a descriptor");
              int file;
              memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&got)), sizeof file);
              check(write(file, "x", 1) == 1, "the descriptor");
              close(file);
            });
  close(pipe_ends[0]), close(pipe_ends[1]), close(ends[0]), close(ends[1]);
}

void test_connections() {
  const int server = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  check(bind(server, reinterpret_cast<sockaddr*>(&address), size) == 0 && listen(server, 4) == 0 &&
            getsockname(server, reinterpret_cast<sockaddr*>(&address), &size) == 0,
        "listen");
  int accepted = -1;
  meanwhile(
      [&] { check(connect(client, reinterpret_cast<sockaddr*>(&address), size) == 0, "connect"); },
      [&] {
        auto& its_size = shared_at<socklen_t>(70000);
        its_size = 100;
        accepted = accept(server, reinterpret_cast<sockaddr*>(mine + 71000), &its_size);
        check(accepted >= 0 && its_size == sizeof(sockaddr_in) &&
                  shared_at<sockaddr_in>(71000).sin_family == AF_INET,
              "accept");
      });
  const int poller = epoll_create1(0);
  epoll_event wanted = {EPOLLIN | EPOLLONESHOT, {}};
  wanted.data.u64 = 77;
  check(epoll_ctl(poller, EPOLL_CTL_ADD, accepted, &wanted) == 0, "epoll_ctl");
  meanwhile([&] { check(send(client, "hello", 5, 0) == 5, "send"); },
            [&] {
              auto* const events = &shared_at<epoll_event>(72000);
              check(again([&] { return epoll_wait(poller, events, 8, 10000); }) == 1 &&
                        events[0].data.u64 == 77,
                    "epoll_wait");
              auto& count = shared_at<int>(73000);
              check(ioctl(accepted, FIONREAD, &count) == 0 && count == 5, "ioctl");
              auto& its_size = shared_at<socklen_t>(74000);
              its_size = 100;
              check(recvfrom(accepted, mine + 75000, 100, 0,
                             reinterpret_cast<sockaddr*>(mine + 76000), &its_size) == 5 &&
                        memcmp(mine + 75000, "hello", 5) == 0,
                    "recvfrom");
            });
  for (const int file : {server, client, accepted, poller}) close(file);
}

void test_queues() {
  const int queue = msgget(IPC_PRIVATE, 0600), semaphore = semget(IPC_PRIVATE, 1, 0600);
  struct {
    long type = 7;
    char text[500];
  } sent;
  memset(sent.text, static_cast<int>(round_now), sizeof sent.text);
  meanwhile([&] { check(msgsnd(queue, &sent, 500, 0) == 0, "msgsnd"); },
            [&] {
              check(msgrcv(queue, mine + 2 * kPage - 8, 600, 0, 0) == 500 &&
                        shared_at<long>(2 * kPage - 8) == 7 &&
                        memcmp(mine + 2 * kPage, sent.text, 500) == 0,
                    "msgrcv");
            });
  auto& operation = shared_at<sembuf>(80000);
  operation = {0, 1, 0};
  check(semop(semaphore, &operation, 1) == 0 && semctl(semaphore, 0, GETVAL) == 1, "semop");
  msgctl(queue, IPC_RMID, nullptr), semctl(semaphore, 0, IPC_RMID);
  const std::string name = "/weir-receiving-" + std::to_string(getpid());
  mq_attr about = {};
  about.mq_maxmsg = 2, about.mq_msgsize = 600;
  const mqd_t messages = mq_open(name.c_str(), O_CREAT | O_RDWR, 0600, &about);
  check(messages >= 0, "mq_open");
  meanwhile([&] { check(mq_send(messages, sent.text, 500, 3) == 0, "mq_send"); },
            [&] {
              auto& priority = shared_at<unsigned>(81000);
              check(mq_receive(messages, reinterpret_cast<char*>(mine + 5 * kPage - 100), 600,
                               &priority) == 500 &&
                        priority == 3 && memcmp(mine + 5 * kPage - 100, sent.text, 500) == 0,
                    "mq_receive");
            });
  mq_close(messages), mq_unlink(name.c_str());
}

void test_processes() {
  const pid_t child = fork();
  if (child == 0) usleep(4000), _exit(9);
  auto& status = shared_at<int>(82000);
  check(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 9,
        "waitpid");
  sigset_t usual;
  auto& set = shared_at<sigset_t>(83000);
  sigemptyset(&set), sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, &usual);
  const pthread_t self = pthread_self();
  meanwhile([&] { pthread_kill(self, SIGUSR1); },
            [&] {
              auto& about = shared_at<siginfo_t>(84000);
              check(again([&] { return sigwaitinfo(&set, &about); }) == SIGUSR1 &&
                        about.si_signo == SIGUSR1,
                    "sigwaitinfo");
            });
  pthread_sigmask(SIG_SETMASK, &usual, nullptr);
  auto& word = shared_at<std::atomic<int>>(85000);
  word = 5;
  meanwhile(
      [&] { word = 6, syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0); },
      [&] {
        while (word == 5) syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 5, nullptr, nullptr, 0);
      });
}

void test_files() {
  unsigned char* const large = mine + kLarge;
  char name[] = "/tmp/weir-receiving-XXXXXX";
  int file = mkstemp(name);
  const auto all = values(40 * kPage);
  check(write(file, all.data(), all.size()) == static_cast<ssize_t>(all.size()), "write");
  const int direct = open(name, O_RDWR | O_DIRECT);
  if (direct >= 0) {  // not every file system has it
    check(read(direct, large + kPage, 512) == 512 && holds(large + kPage, 512), "O_DIRECT, little");
    check(pread(direct, large + kPage, 40 * kPage, 0) == static_cast<ssize_t>(40 * kPage) &&
              holds(large + kPage, 40 * kPage),
          "O_DIRECT");
    check(pwrite(direct, large + kPage, 8 * kPage, 8 * kPage) == static_cast<ssize_t>(8 * kPage),
          "O_DIRECT, written");
    memset(large, 0, kPage);
    iovec parts[] = {{large + 42 * kPage, kPage}, {large + 44 * kPage, 2 * kPage}};
    check(preadv(direct, parts, 2, 8 * kPage) == static_cast<ssize_t>(3 * kPage) &&
              holds(large + 42 * kPage, kPage) == (kPage * 11 % 256 == 0),
          "O_DIRECT, a list");
    close(direct);
  }
  auto& offset = shared_at<off_t>(86000);
  offset = 4096;
  int ends[2];
  check(pipe(ends) == 0 && sendfile(ends[1], file, &offset, 100) == 100 && offset == 4196,
        "sendfile");
  check(splice(file, &offset, ends[1], nullptr, 50, 0) == 50 && offset == 4246, "splice");
  iovec piece = {mine + 90000, 3000};
  memcpy(mine + 90000, all.data(), 3000);
  std::vector<unsigned char> got(3150);
  size_t taken = 0;  // in parts, as a pipe may
  while (taken < 3000) {
    const iovec rest = {mine + 90000 + taken, 3000 - taken};
    const ssize_t some = vmsplice(ends[1], &rest, 1, 0);
    if (some <= 0) break;
    taken += static_cast<size_t>(some);
  }
  check(taken == 3000 && read(ends[0], got.data(), 3150) == 3150 && holds(got.data() + 150, 3000),
        "vmsplice");
  void* const mapped = mmap(nullptr, 8 * kPage, PROT_READ, MAP_SHARED, file, 0);
  memcpy(large, mapped, 8 * kPage);
  check(pwrite(file, mapped, 8 * kPage, 0) == static_cast<ssize_t>(8 * kPage) &&
            memcmp(large, mapped, 8 * kPage) == 0,
        "a mapped file");
  munmap(mapped, 8 * kPage);
  check(preadv2(file, &piece, 1, 0, 0) == 3000 && memcmp(mine + 90000, large, 3000) == 0,
        "preadv2");
  check(getrandom(large + kPage - 10, 9000, 0) == 9000, "getrandom");
  close(file), unlink(name), close(ends[0]), close(ends[1]);
}

// What is refused, with a line on stderr.
void test_refused() {
  unsigned long context = 0;
  if (syscall(SYS_io_setup, 4, &context)) return;  // a kernel without it
  uint64_t block[8] = {}, own[8] = {};
  std::vector<unsigned char> private_memory(100);
  const int file = memfd_create("receiving", 0);
  block[2] = own[2] = 1 | static_cast<uint64_t>(file) << 32;  // writes
  block[3] = reinterpret_cast<uint64_t>(mine + 1000);
  own[3] = reinterpret_cast<uint64_t>(private_memory.data());
  block[4] = own[4] = 100;
  uint64_t* list[] = {own};
  check(syscall(SYS_io_submit, context, 1, list) == 1, "io_submit");
  list[0] = block;
  check(syscall(SYS_io_submit, context, 1, list) == -1 && errno == EFAULT, "io_submit, refused");
  syscall(SYS_io_destroy, context);
  close(file);
  uint32_t parameters[30] = {};
  const long ring = syscall(SYS_io_uring_setup, 4, parameters);
  if (ring < 0) return;
  iovec buffers[] = {{private_memory.data(), 100}, {mine + 1000, 100}};
  check(syscall(SYS_io_uring_register, ring, 0, buffers, 2) == -1 && errno == EFAULT,
        "io_uring_register, refused");
  check(syscall(SYS_io_uring_register, ring, 0, buffers, 1) == 0, "io_uring_register");
  close(static_cast<int>(ring));
}

// Asynchronous input and output of pipes and sockets: it waits, and in its order.
void test_asynchronous() {
  int ends[2];
  check(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
  aiocb blocks[3] = {};
  for (int i = 0; i < 3; i++) {
    blocks[i].aio_fildes = i < 2 ? ends[0] : ends[1];
    blocks[i].aio_buf = mine + static_cast<size_t>(i) * 20000 + 3000;
    blocks[i].aio_nbytes = i < 2 ? 2000 : 4000;
    blocks[i].aio_sigevent.sigev_notify = SIGEV_NONE;
  }
  check(aio_read(&blocks[0]) == 0 && aio_read(&blocks[1]) == 0, "aio_read");
  check(aio_error(&blocks[0]) == EINPROGRESS && aio_cancel(ends[0], nullptr) == AIO_NOTCANCELED,
        "aio_read of what is not there");
  const aiocb* const list[] = {&blocks[1], nullptr};
  const timespec soon = {0, 1'000'000};
  check(aio_suspend(list, 2, &soon) == -1 && errno == EAGAIN, "aio_suspend, its limit");
  const auto all = values(4000);
  memcpy(mine + 43000, all.data(), 4000);
  check(aio_write(&blocks[2]) == 0 && aio_suspend(list, 2, nullptr) == 0, "aio_suspend");
  while (aio_error(&blocks[2]) == EINPROGRESS) usleep(100);
  check(aio_return(&blocks[2]) == 4000 && aio_return(&blocks[0]) == 2000 &&
            aio_return(&blocks[1]) == 2000 && holds(mine + 3000, 2000) &&
            memcmp(mine + 23000, all.data() + 2000, 2000) == 0,
        "aio of a socket");
  aiocb* both[] = {&blocks[0], &blocks[2]};
  blocks[0].aio_lio_opcode = LIO_READ, blocks[2].aio_lio_opcode = LIO_WRITE;
  blocks[2].aio_nbytes = 2000;
  memset(mine + 3000, 0, 2000);
  check(lio_listio(LIO_WAIT, both, 2, nullptr) == 0 && holds(mine + 3000, 2000), "lio_listio");
  close(ends[0]), close(ends[1]);
}

}  // namespace

int main(int argc, char** argv) {
  dsm::session session(argc, argv);
  me = session.node();
  const unsigned nodes = session.nodes(),
                 rounds = argc > 1 ? static_cast<unsigned>(atoi(argv[1])) : 3;
  unsigned char* all = nullptr;
  if (me == 0) all = static_cast<unsigned char*>(weir_dsm_alloc(nodes * kPart + kPage));
  dsm::share(all);
  mine = all + me * kPart + kPage;
  std::atomic<bool> stops{false};
  std::atomic<unsigned long> counted{0};
  std::thread locks([&] {
    while (!stops) {
      const dsm::locked held(5);
      for (unsigned node = 0; node < nodes; node++) {
        for (const size_t at : kCounters)
          ++*reinterpret_cast<unsigned long*>(all + kPage + node * kPart + at);
      }
      counted++;
    }
  });
  for (round_now = 0; round_now < rounds; round_now++) {
    for (const auto test : {test_messages, test_connections, test_queues, test_processes,
                            test_files, test_refused, test_asynchronous})
      test();
  }
  stops = true;
  locks.join();
  const int wrong = static_cast<int>(dsm::reduce_sum(well ? 0 : 1));
  if (me == 0 && wrong == 0) puts("receiving: well");
  return wrong != 0;
}
