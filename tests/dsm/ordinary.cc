// What ordinary programs give libc and the kernel: structures, sets, lists, names and arguments in
// shared memory that is not accessible at that moment. Each node in turn makes each call with what
// another has written, and all look at what it has returned. Ends with "ordinary: well" of node 0.
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "weir/dsm.hpp"

namespace dsm = weir::dsm;

namespace {

constexpr size_t kSize = 100'000, kPage = 4096, kAll = 100 * kPage;
constexpr auto kDone = static_cast<ssize_t>(kSize);
unsigned me, nodes, fill = 0;
unsigned char* shared;  // kAll bytes
bool well = true;

void check(bool is_well, const char* what, const char* where = "") {
  if (is_well) return;
  printf("ordinary: node %u: %s%s: wrong (%s)\n", me, what, where, strerror(errno));
  well = false;
}

using Test = std::function<bool()>;

// For each node: another writes all of shared memory, and what `prepare` writes; this node makes
// the call; then all look.
void turn(const char* what, const std::function<void()>& prepare, const Test& call,
          const Test& seen_by_all) {
  for (unsigned caller = 0; caller < nodes; caller++) {
    fill++;
    if (me == (caller + 1) % nodes) {
      memset(shared, 0xee, kAll);
      prepare();
    }
    weir_dsm_barrier(0);
    errno = 0;
    if (me == caller) check(call(), what);
    weir_dsm_barrier(1);
    check(seen_by_all(), what, ", as all see it");
    weir_dsm_barrier(2);
  }
}

// At a page of its own.
template <typename T>
T* at(size_t page) {
  return reinterpret_cast<T*>(shared + page * kPage);
}

unsigned char value(size_t i) { return static_cast<unsigned char>(i * 7 + i / kPage + fill); }
void put(unsigned char* bytes, size_t size) {
  for (size_t i = 0; i < size; i++) bytes[i] = value(i);
}
bool holds(const unsigned char* bytes, size_t size, size_t from = 0) {
  for (size_t i = 0; i < size; i++) {
    if (bytes[i] != value(from + i)) return false;
  }
  return true;
}
void put_all() { put(shared, kSize); }
bool all_is_there() { return holds(shared, kSize); }
void nothing() {}
// What this node has written goes to the next synchronization, and is written anew after it.
void synchronize() { const dsm::locked held(2); }

// A file without a name that has values, or nothing.
FILE* new_file(bool has_values) {
  FILE* const file = tmpfile();
  std::vector<unsigned char> bytes(kSize);
  put(bytes.data(), kSize);
  if (has_values) fwrite(bytes.data(), 1, kSize, file);
  rewind(file);
  return file;
}
bool file_holds(FILE* file) {
  std::vector<unsigned char> bytes(kSize + 1);
  return pread(fileno(file), bytes.data(), kSize + 1, 0) == kDone && holds(bytes.data(), kSize);
}

void streams() {
  turn(
      "a stream's buffer", put_all,
      [] {
        FILE* const file = new_file(false);
        setvbuf(file, at<char>(50), _IOFBF, 20 * kPage);
        for (size_t i = 0; i < kSize; i++) {
          if (fputc(value(i), file) == EOF) return false;
          if (i % 20'000 == 0) synchronize();
        }
        return fflush(file) == 0 && file_holds(file) && fclose(file) == 0;
      },
      all_is_there);
  turn(
      "a stream's buffer, read", nothing,
      [] {
        FILE* const file = fdopen(dup(fileno(new_file(true))), "r");
        setvbuf(file, at<char>(50), _IOFBF, 20 * kPage);
        for (size_t i = 0, some; i < kSize; i += some) {
          some = fread(shared + i, 1, std::min<size_t>(333, kSize - i), file);
          if (some == 0) return false;
          if (i % 7 == 0) synchronize();
        }
        return fclose(file) == 0;
      },
      all_is_there);
  turn(
      "lines and numbers", [] { strcpy(at<char>(3) - 10, "%d words\nsecond line\n42 3.5\n"); },
      [] {
        FILE* const file = tmpfile();
        char* line = at<char>(3) - 10;
        size_t size = kPage;
        fprintf(file, line, 17);
        rewind(file);
        return getline(&line, &size, file) == 9 && fgets(at<char>(10), 100, file) &&
               fscanf(file, "%d %lf", at<int>(20), at<double>(21)) == 2 && fclose(file) == 0;
      },
      [] {
        return !strcmp(at<char>(3) - 10, "17 words\n") && !strcmp(at<char>(10), "second line\n") &&
               *at<int>(20) == 42 && *at<double>(21) == 3.5;
      });
}

void files() {
  turn(
      "sendfile, splice, copy_file_range",
      [] {
        for (int i = 0; i < 4; i++) *at<off_t>(static_cast<size_t>(i)) = i * 100;
      },
      [] {
        FILE *const from = new_file(true), *const to = tmpfile();
        unsigned char got[1000];
        int ends[2];
        const bool is_well =
            pipe(ends) == 0 && sendfile(ends[1], fileno(from), at<off_t>(1), 1000) == 1000 &&
            read(ends[0], got, 1000) == 1000 && holds(got, 1000, 100) &&
            splice(fileno(from), at<off_t>(2), ends[1], nullptr, 1000, 0) == 1000 &&
            read(ends[0], got, 1000) == 1000 && holds(got, 1000, 200) &&
            copy_file_range(fileno(from), at<off_t>(3), fileno(to), at<off_t>(0), 1000, 0) ==
                1000 &&
            pread(fileno(to), got, 1000, 0) == 1000 && holds(got, 1000, 300);
        close(ends[0]), close(ends[1]), fclose(from), fclose(to);
        return is_well;
      },
      [] {
        return *at<off_t>(0) == 1000 && *at<off_t>(1) == 1100 && *at<off_t>(2) == 1200 &&
               *at<off_t>(3) == 1300;
      });
  // Parts of 20,000 bytes, which a pipe takes.
  const auto splices = [](bool is_to_pipe) {
    int ends[2];
    std::vector<unsigned char> bytes(kSize);
    put(bytes.data(), kSize);
    bool is_well = pipe(ends) == 0;
    for (size_t i = 0; i < kSize && is_well; i += 20'000) {
      const iovec list[] = {{shared + i, 5000}, {shared + i + 5000, 15'000}};
      if (is_to_pipe) {
        is_well = vmsplice(ends[1], list, 2, 0) == 20'000 &&
                  read(ends[0], bytes.data(), 20'000) == 20'000 && holds(bytes.data(), 20'000, i);
      } else {
        is_well = write(ends[1], bytes.data() + i, 20'000) == 20'000 &&
                  vmsplice(ends[0], list, 2, 0) == 20'000;
      }
    }
    close(ends[0]), close(ends[1]);
    return is_well;
  };
  turn(
      "vmsplice to a pipe", put_all, [&] { return splices(true); }, all_is_there);
  turn(
      "vmsplice from a pipe", nothing, [&] { return splices(false); }, all_is_there);
  const auto moves = [](bool is_read) {
    FILE* const file = new_file(is_read);
    const iovec list[] = {{shared, 5000}, {shared + 5000, kSize - 5000}};
    const ssize_t done =
        is_read ? preadv2(fileno(file), list, 2, 0, 0) : pwritev2(fileno(file), list, 2, 0, 0);
    const bool is_well = done == kDone && file_holds(file);
    fclose(file);
    return is_well;
  };
  turn(
      "pwritev2", put_all, [&] { return moves(false); }, all_is_there);
  turn(
      "preadv2", nothing, [&] { return moves(true); }, all_is_there);
}

void sockets() {
  turn(
      "TCP", put_all,
      [] {
        const int listening = socket(AF_INET, SOCK_STREAM, 0),
                  sending = socket(AF_INET, SOCK_STREAM, 0), one = 1;
        auto* const address = at<sockaddr_in>(90);
        auto* const size = at<socklen_t>(91);
        *address = {};
        address->sin_family = AF_INET;
        address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        *size = sizeof *address;
        synchronize();
        auto* const any = reinterpret_cast<sockaddr*>(address);
        if (bind(listening, any, *size) || listen(listening, 1) ||
            getsockname(listening, any, size) || connect(sending, any, *size) ||
            setsockopt(sending, SOL_SOCKET, SO_ZEROCOPY, &one, sizeof one))
          return false;
        const int receiving = accept4(listening, at<sockaddr>(92), size, 0);
        std::vector<unsigned char> got(kSize);
        std::thread other([&] {
          for (size_t done = 0; done < kSize;) {
            const ssize_t some = recv(receiving, got.data() + done, kSize - done, 0);
            if (some <= 0) return;
            done += static_cast<size_t>(some);
          }
        });
        for (size_t done = 0; done < kSize;) {
          iovec list = {shared + done, kSize - done};
          msghdr message = {};
          message.msg_iov = &list;
          message.msg_iovlen = 1;
          const ssize_t some = sendmsg(sending, &message, MSG_ZEROCOPY);
          if (some <= 0) break;
          done += static_cast<size_t>(some);
        }
        shutdown(sending, SHUT_WR);
        other.join();
        close(sending), close(receiving), close(listening);
        return holds(got.data(), kSize);
      },
      [] { return all_is_there() && at<sockaddr>(92)->sa_family == AF_INET; });
  turn(
      "poll, epoll, select", nothing,
      [] {
        int ends[2];
        if (pipe(ends) || write(ends[1], "x", 1) != 1) return false;
        const int watching = epoll_create1(0);
        *at<pollfd>(0) = {ends[0], POLLIN, 0};
        *at<timespec>(1) = {1, 0};
        *at<timeval>(2) = {1, 0};
        sigfillset(at<sigset_t>(3));
        at<epoll_event>(4)->events = EPOLLIN;
        at<epoll_event>(4)->data.u64 = 77;
        FD_ZERO(at<fd_set>(6));
        FD_SET(ends[0], at<fd_set>(6));
        synchronize();
        const bool is_well =
            poll(at<pollfd>(0), 1, 10) == 1 &&
            ppoll(at<pollfd>(0), 1, at<timespec>(1), at<sigset_t>(3)) == 1 &&
            select(ends[0] + 1, at<fd_set>(6), nullptr, nullptr, at<timeval>(2)) == 1 &&
            pselect(ends[0] + 1, at<fd_set>(6), nullptr, nullptr, at<timespec>(1),
                    at<sigset_t>(3)) == 1 &&
            epoll_ctl(watching, EPOLL_CTL_ADD, ends[0], at<epoll_event>(4)) == 0 &&
            epoll_pwait(watching, at<epoll_event>(8) - 1, 10, 100, at<sigset_t>(3)) == 1;
        close(watching), close(ends[0]), close(ends[1]);
        return is_well;
      },
      [] { return at<pollfd>(0)->revents == POLLIN && (at<epoll_event>(8) - 1)->data.u64 == 77; });
}

void structures() {
  turn(
      "what is asked of the system",
      [] { strcpy(at<char>(50), "/tmp"), strcpy(at<char>(51), "/proc/self/exe"); },
      [] {
        *at<timespec>(20) = {0, 1000};
        synchronize();
        return clock_gettime(CLOCK_MONOTONIC, at<timespec>(0)) == 0 &&
               getrandom(at<char>(4), 5000, 0) == 5000 &&
               stat(at<char>(50), at<struct stat>(7)) == 0 &&
               statx(AT_FDCWD, at<char>(50), 0, STATX_ALL, at<struct statx>(8)) == 0 &&
               uname(at<utsname>(9)) == 0 && getrlimit(RLIMIT_NOFILE, at<rlimit>(10)) == 0 &&
               readlink(at<char>(51), at<char>(11), 100) > 0 &&
               realpath(at<char>(51), at<char>(12)) &&
               nanosleep(at<timespec>(20), at<timespec>(21)) == 0;
      },
      [] {
        return at<timespec>(0)->tv_nsec < 1'000'000'000 && S_ISDIR(at<struct stat>(7)->st_mode) &&
               S_ISDIR(at<struct statx>(8)->stx_mode) &&
               !strcmp(at<utsname>(9)->sysname, "Linux") && *at<char>(11) == '/' &&
               *at<char>(12) == '/';
      });
  turn(
      "timers",
      [] {
        *at<itimerspec>(0) = {{0, 0}, {0, 1'000'000}};
      },
      [] {
        const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
        const bool is_well = timerfd_settime(timer, 0, at<itimerspec>(0), at<itimerspec>(1)) == 0 &&
                             read(timer, at<uint64_t>(2), 8) == 8;
        close(timer);
        return is_well;
      },
      [] { return *at<uint64_t>(2) == 1; });
}

volatile sig_atomic_t handled;

// Of SIGUSR1: what is blocked is what the sets say, and the set before is returned.
bool signals_come() {
  auto* const action = at<struct sigaction>(0);
  sigset_t* const one = at<sigset_t>(1);
  handled = 0;
  *action = {};
  action->sa_handler = [](int) { handled = handled + 1; };
  sigemptyset(one), sigaddset(one, SIGUSR1), sigemptyset(at<sigset_t>(9));
  *at<timespec>(6) = {1, 0};
  synchronize();
  bool is_well = sigaction(SIGUSR1, action, at<struct sigaction>(2)) == 0 && raise(SIGUSR1) == 0 &&
                 handled == 1 && sigprocmask(SIG_BLOCK, one, at<sigset_t>(3)) == 0 &&
                 raise(SIGUSR1) == 0 && sigpending(at<sigset_t>(4)) == 0 &&
                 sigismember(at<sigset_t>(4), SIGUSR1) == 1;
  is_well = is_well && sigwaitinfo(one, at<siginfo_t>(5)) == SIGUSR1 && raise(SIGUSR1) == 0 &&
            sigtimedwait(one, at<siginfo_t>(7), at<timespec>(6)) == SIGUSR1 && handled == 1;
  synchronize();
  is_well = is_well && raise(SIGUSR1) == 0 && sigsuspend(at<sigset_t>(9)) == -1 && errno == EINTR &&
            handled == 2;
  const int file = signalfd(-1, one, 0);
  is_well = is_well && raise(SIGUSR1) == 0 &&
            read(file, at<char>(10), sizeof(signalfd_siginfo)) == sizeof(signalfd_siginfo);
  close(file);
  synchronize();
  is_well = is_well && sigprocmask(SIG_UNBLOCK, one, at<sigset_t>(12)) == 0 &&
            sigismember(at<sigset_t>(12), SIGUSR1) == 1 && raise(SIGUSR1) == 0 && handled == 3;
  is_well = is_well && pthread_sigmask(SIG_BLOCK, nullptr, at<sigset_t>(13)) == 0 &&
            sigismember(at<sigset_t>(13), SIGUSR1) == 0;
  return is_well && sigaction(SIGUSR1, at<struct sigaction>(2), nullptr) == 0;
}

void threads() {
  turn(
      "a mutex and a condition of a node's threads", [] { memset(shared, 0, 3 * kPage); },
      [] {
        auto* const mutex = new (at<char>(0)) std::mutex;
        auto* const changed = new (at<char>(0) + 100) std::condition_variable;
        std::vector<std::thread> all;
        for (int i = 0; i < 3; i++) {
          all.emplace_back([=] {
            {
              std::unique_lock<std::mutex> held(*mutex);
              changed->wait(held, [] { return *at<bool>(2); });
            }
            for (int k = 0; k < 200; k++) {
              const std::lock_guard<std::mutex> held(*mutex);
              ++*at<long>(1);
              if (k % 10 == 0) synchronize();
            }
          });
        }
        usleep(1000);
        {
          const std::lock_guard<std::mutex> held(*mutex);
          *at<bool>(2) = true;
        }
        changed->notify_all();
        for (std::thread& thread : all) thread.join();
        return true;
      },
      [] { return *at<long>(1) == 600; });
  turn(
      "a word of a futex",
      [] {
        *at<int>(0) = 5, *at<timespec>(1) = {5, 0};
      },
      [] {
        auto* const word = at<std::atomic<int>>(0);
        std::thread other([=] {
          usleep(10'000);
          *word = 6;
          syscall(SYS_futex, word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
        });
        while (*word == 5) syscall(SYS_futex, word, FUTEX_WAIT, 5, at<timespec>(1), nullptr, 0);
        other.join();
        return true;
      },
      [] { return *at<int>(0) == 6; });
}

// Names and arguments of programs, and the process that is made.
void programs() {
  const auto prepare = [] {
    strcpy(at<char>(50), "/bin/sh"), strcpy(at<char>(51), "-c");
    strcpy(at<char>(52), "exit $CODE"), strcpy(at<char>(53), "CODE=5");
    strcpy(at<char>(54), "echo hello");
    strcpy(at<char>(55), "exit 6");
    const std::vector<char*> words = {at<char>(50), at<char>(51), at<char>(52),
                                      nullptr,      at<char>(53), nullptr};
    memcpy(at<char*>(0), words.data(), words.size() * sizeof(char*));
  };
  turn(
      "programs", prepare,
      [] {
        char** const words = at<char*>(0);
        if ((errno = posix_spawn(at<pid_t>(1), at<char>(50), nullptr, nullptr, words, words + 4)))
          return false;
        return waitpid(*at<pid_t>(1), at<int>(2), 0) == *at<pid_t>(1);
      },
      [] { return WEXITSTATUS(*at<int>(2)) == 5; });
  turn(
      "system", prepare, [] { return system(at<char>(55)) == 6 << 8; }, [] { return true; });
  turn(
      "popen", prepare,
      [] {
        FILE* const stream = popen(at<char>(54), "r");
        return stream && fgets(at<char>(3), 100, stream) && pclose(stream) == 0;
      },
      [] { return !strcmp(at<char>(3), "hello\n"); });
  // A child by fork has what is accessible; of what is not it says so, and ends. (Tapes may have
  // brought all.)
  for (const bool is_here : {true, false}) {
    turn(
        "a child that executes", prepare,
        [=] {
          if (is_here) weir_dsm_touch(shared, kAll, 0);
          fflush(stdout);
          const pid_t child = fork();
          if (child == 0) {
            if (me % 2) execve(at<char>(50), at<char*>(0), at<char*>(0) + 4);
            const char* const none[] = {"CODE=5", nullptr};
            execle(at<char>(50), at<char>(50), at<char>(51), at<char>(52), nullptr, none);
            _exit(9);
          }
          int status = 0;
          return waitpid(child, &status, 0) == child &&
                 (WEXITSTATUS(status) == 5 || (!is_here && WEXITSTATUS(status) == 125));
        },
        [] { return true; });
  }
}

}  // namespace

int main(int argc, char** argv) {
  dsm::session session(argc, argv);
  me = session.node(), nodes = session.nodes();
  if (me == 0) shared = static_cast<unsigned char*>(weir_dsm_alloc(kAll));
  dsm::share(shared);
  streams();
  files();
  sockets();
  structures();
  turn("signals", nothing, signals_come, [] {
    return at<siginfo_t>(5)->si_signo == SIGUSR1 && at<siginfo_t>(7)->si_signo == SIGUSR1 &&
           at<signalfd_siginfo>(10)->ssi_signo == SIGUSR1;
  });
  threads();
  programs();
  const int wrong = dsm::reduce_sum(well ? 0 : 1);
  if (me == 0 && wrong == 0) puts("ordinary: well");
  return wrong != 0;
}
