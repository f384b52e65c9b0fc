// What a program does beside its computation, on several nodes: it gives the library shared memory
// as arguments, and calls of the kernel's in registers that are none, has timers whose handlers
// access shared memory, also while it is in malloc, runs out of memory of its own, forks, also by
// raw calls, executes others, and changes mappings. argv: which of them. Ends with "beside: well"
// of node 0.
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <functional>
#include <map>
#include <new>
#include <string>

#include "weir/dsm.hpp"

namespace dsm = weir::dsm;

namespace {

constexpr size_t kWords = 100'000, kPage = 4096;
unsigned me, nodes;
long* shared;
bool well = true, is_raw = false;

void check(bool is_well, const char* what) {
  if (is_well || !well) return;
  printf("beside: node %u: %s: wrong (%s)\n", me, what, strerror(errno));
  well = false;
}

// As a program does whose handlers access shared memory: none of them interrupts the library.
void without_signals(const std::function<void()>& call) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  call();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

bool masks = true;
void barrier(unsigned number) {
  if (masks) without_signals([&] { weir_dsm_barrier(number); });
  else weir_dsm_barrier(number);
}

// All nodes write, under locks too, and read what the others have written.
void compute(long rounds) {
  static long done = 0;
  for (const long last = done + rounds; done < last; done++) {
    for (size_t i = me; i < kWords - 10; i += nodes) shared[i] += static_cast<long>(i);
    without_signals([] {
      const dsm::locked held(static_cast<unsigned>(done % 3));
      shared[kWords - 10 + static_cast<size_t>(done % 3)]++;
    });
    barrier(0);
    for (size_t i = 0; i < kWords - 10; i++)
      check(shared[i] == static_cast<long>(i) * (done + 1), "what others have written");
    barrier(1);
  }
}

struct Arguments {
  alignas(kPage) double fractions[1000];
  alignas(kPage) int64_t integers[600];
  alignas(kPage) char bytes[60'000];
  alignas(kPage) weir_dsm_counters counters;
  alignas(kPage) weir_dsm_attributes attributes;
  alignas(kPage) char name[100];
  void* made;
};

// Each round another node has written what a call is given.
void arguments() {
  Arguments* all = nullptr;
  if (me == 0) all = static_cast<Arguments*>(weir_dsm_alloc(nodes * sizeof *all));
  dsm::share(all);
  for (unsigned round = 0; round < 12; round++) {
    Arguments &written = all[(me + round) % nodes], &given = all[(me + round + 1) % nodes];
    for (int i = 0; i < 1000; i++) written.fractions[i] = i + me;
    for (int i = 0; i < 600; i++) written.integers[i] = i == 7 ? INT64_MAX : int64_t{i} - me;
    memset(written.bytes, static_cast<int>(10 * round + me), sizeof written.bytes);
    written.attributes = {};
    written.attributes.protocol = round % 2 ? WEIR_DSM_HLRC : WEIR_DSM_LRC;
    snprintf(written.name, sizeof written.name, "of round %u", round);
    written.attributes.name = written.name;
    dsm::barrier(2).arrive_and_wait();
    weir_dsm_reduce_double(given.fractions, 1000, WEIR_DSM_SUM);
    weir_dsm_reduce_int64(given.integers, 600, round % 2 ? WEIR_DSM_SUM : WEIR_DSM_MIN);
    for (int i = 0; i < 1000; i++)
      check(given.fractions[i] == nodes * (i + (nodes - 1) / 2.0), "a reduction in place");
    for (int i = 0; i < 600; i++) {
      const int64_t sum = i == 7 ? static_cast<int64_t>(nodes * uint64_t{INT64_MAX})
                                 : int64_t{i} * nodes - nodes * (nodes - 1) / 2;
      const int64_t least = i == 7 ? INT64_MAX : int64_t{i} - (nodes - 1);
      check(given.integers[i] == (round % 2 ? sum : least), "integers in place");
    }
    const unsigned from = round % nodes;
    weir_dsm_share(given.bytes, sizeof given.bytes, from);
    const auto sent = static_cast<char>(10 * round + (from + 1) % nodes);
    check(given.bytes[0] == sent && given.bytes[59'999] == sent, "what is shared in place");
    weir_dsm_counters_get(&given.counters);
    check(nodes == 1 || given.counters.messages[1] > 0, "counters");
    weir_dsm_counters_total(&given.counters);
    given.made = weir_dsm_alloc_with(10'000, &given.attributes);
    memset(given.made, 1, 10'000);
    dsm::barrier(3).arrive_and_wait();
    weir_dsm_free(written.made);
  }
}

// A wake-up takes three arguments. What the other registers hold is not looked at, be it an address
// of shared memory that is not here: malloc wakes so who waits for its lock, the library among
// them.
void wake_with_rubbish(const void* elsewhere) {
  weir_dsm_counters before, after;
  static int nobody_waits;
  weir_dsm_counters_get(&before);
  check(syscall(SYS_futex, &nobody_waits, FUTEX_WAKE_PRIVATE, 1, elsewhere, elsewhere, elsewhere) ==
            0,
        "a wake-up");
  weir_dsm_counters_get(&after);
  check(after.messages[3] == before.messages[3], "registers that are no arguments");
}

void rubbish() {
  for (long round = 1; round <= 5; round++) {
    if (me == 0) std::fill(shared, shared + kWords, round);
    weir_dsm_barrier(4);
    if (me != 0) wake_with_rubbish(shared);
    check(shared[0] == round, "what is looked at later");
    weir_dsm_barrier(5);
  }
}

volatile sig_atomic_t ticks;
void on_timer(int) {
  ticks = ticks + 1;
  volatile long* const words = shared + kWords + me * 1000;
  words[ticks % 1000] = words[(ticks + 500) % 1000] + 1;
}

void start_timers(time_t microseconds) {
  const itimerval time = {{0, microseconds}, {0, microseconds}};
  setitimer(ITIMER_REAL, &time, nullptr);
  setitimer(ITIMER_PROF, &time, nullptr);
}

// A thread of MPI's may be in a handler for long on a busy machine.
std::atomic<int> in_handlers;
void (*the_handler)(int);

void timers(void (*handler)(int)) {
  the_handler = handler;
  for (const int number : {SIGALRM, SIGPROF})
    signal(number, [](int which) { in_handlers++, the_handler(which), in_handlers--; });
  start_timers(700);
  bool goes_on = true;  // until each node has been interrupted, however fast it computes
  for (int times = 0; times < 100 && goes_on; times++) {
    compute(40);
    without_signals([&] { goes_on = dsm::reduce_sum(ticks > 10 ? 0 : 1) > 0; });
  }
  start_timers(0);
  do usleep(1000);
  while (in_handlers > 0);
  check(ticks > 10, "timers");
}

// A handler accesses memory that is not accessible while the program is in malloc: the library's
// part of the fault must not need malloc's locks. Each node's word is written in each round.
void on_timer_far(int) {
  ticks = ticks + 1;
  volatile long* const words = shared + kWords;
  for (unsigned node = 0; node < nodes; node++) words[me * 1000 + 1] = words[node * 1000];
}

void mallocs() {
  the_handler = on_timer_far;
  signal(SIGALRM, [](int which) { in_handlers++, the_handler(which), in_handlers--; });
  const itimerval time = {{0, 300}, {0, 300}};
  setitimer(ITIMER_REAL, &time, nullptr);
  for (long round = 0; round < 60; round++) {
    for (size_t i = 0; i < 4000; i++) {
      void* volatile made[4];
      for (size_t k = 0; k < 4; k++) made[k] = malloc(2000 + (i * 37 + k) % 3000);
      for (void* const one : made) free(one);
    }
    shared[kWords + me * 1000] = round;
    barrier(4);
    for (unsigned node = 0; node < nodes; node++)
      check(shared[kWords + node * 1000] == round, "what others have written");
    barrier(5);
  }
  setitimer(ITIMER_REAL, nullptr, nullptr);
  do usleep(1000);
  while (in_handlers > 0);
  check(ticks > 0, "timers");
  // Too little memory is the program's own matter, if it is the program that wants it.
  bool is_thrown = false;
  try {
    volatile size_t size = size_t{1} << 50;
    operator delete(operator new(size));
  } catch (const std::bad_alloc&) { is_thrown = true; }
  check(is_thrown, "bad_alloc");
}

// Runs in a process that is forked; its end.
int status_of(const std::function<void()>& child) {
  fflush(stdout);
  const pid_t process =
      is_raw ? static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)) : fork();
  if (process == 0) {
    child();
    exit(7);
  }
  int status = -1;
  check(waitpid(process, &status, 0) == process, "waitpid");
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Calls of the kernel on what is not here: EFAULT would be lost, as by fclose.
void forked_calls(long* elsewhere) {
  constexpr size_t kSize = 3 * kPage;
  const iovec list[] = {{shared + 1, 8}, {elsewhere, kSize}};
  const auto ends = [&](const char* what, const std::function<void(FILE*)>& child) {
    check(status_of([&] { child(tmpfile()), exit(9); }) == 125, what);
  };
  ends("fwrite", [&](FILE* to) { fwrite(elsewhere, 1, kSize, to), fclose(to); });
  ends("pwrite of a last page", [&](FILE* to) {
    if (pwrite(fileno(to), shared + 1, 5 * kPage * sizeof(long), 0) < 0) exit(8);
  });
  ends("writev", [&](FILE* to) { exit(writev(fileno(to), list, 2) < 0 ? 8 : 9); });
  ends("pread", [&](FILE* from) {
    fputs("12345678", from), fflush(from);
    exit(pread(fileno(from), elsewhere, 8, 0) < 0 ? 8 : 9);
  });
  ends("readv", [&](FILE* from) {
    fputs("123456789", from), rewind(from);
    exit(readv(fileno(from), list, 2) < 0 ? 8 : 9);
  });
  ends("sendmsg", [&](FILE*) {
    int sockets[2];
    msghdr message = {};
    message.msg_iov = const_cast<iovec*>(list), message.msg_iovlen = 2;
    exit(socketpair(AF_UNIX, SOCK_DGRAM, 0, sockets) || sendmsg(sockets[0], &message, 0) < 0 ? 8
                                                                                             : 9);
  });
  ends("process_vm_readv", [&](FILE*) {
    long word;
    const iovec mine = {&word, 8}, its = {elsewhere, 8};
    exit(process_vm_writev(getpid(), &its, 1, &mine, 1, 0) < 0 ? 8 : 9);
  });
}

void forks() {
  compute(2);
  if (me == 0) memset(shared, 1, kPage);
  weir_dsm_barrier(4);
  if (me == 0) {
    shared[1] = 5;
    check(status_of([] {}) == 7, "a process that is forked and exits");
    check(status_of([] { exit(shared[1] == 5 ? 9 : 8); }) == 9, "what is accessible");
    check(status_of([] { shared[1] = 6; }) == 125, "a write of what this node may write");
    check(status_of([] { memset(shared, 3, 99); }) == 125, "a write by libc");
    check(status_of([] { dsm::locked held(3); }) == 125, "a call");
    check(status_of([] { exit(write(memfd_create("x", 0), shared, 8) == 8 ? 9 : 8); }) == 9,
          "a call of the kernel");
    check(status_of([] { exit(getrandom(shared, 8, 0) == -1 ? 9 : 8); }) == 125,
          "a call that writes");
    check(
        status_of([] { exit(mprotect(shared, kPage, PROT_READ | PROT_WRITE) == -1 ? 9 : 8); }) == 9,
        "mprotect");
    check(system("exit 3") == 3 << 8, "system");
    FILE* const stream = popen("echo 42", "r");
    int number = 0;
    check(fscanf(stream, "%d", &number) == 1 && number == 42 && pclose(stream) == 0, "popen");
    check(shared[1] == 5 && shared[2] == 0x0101010101010101, "what was there");
  }
  if (me == 1) memset(shared + 5 * kPage, 1, kPage);
  weir_dsm_barrier(5);
  if (me == 0) {
    check(status_of([] { exit(shared[5 * kPage] == 1 ? 9 : 8); }) == 125, "what is not here");
    forked_calls(shared + 5 * kPage);
  }
  check(shared[1] == 5 && shared[5 * kPage] == 0x0101010101010101, "what was written meanwhile");
  dsm::barrier(6).arrive_and_wait();
  for (size_t i = me; i < kWords; i += nodes) shared[i] = static_cast<long>(i) * 2;
  dsm::barrier(7).arrive_and_wait();
  compute(3);
}

// What another program does that a node executes: calls that the filter sends back in a node.
int other_program() {
  aio_context_t context = 0;
  char bytes[8] = "0123456";
  iocb block = {};
  iocb* const list = &block;
  block.aio_fildes = static_cast<uint32_t>(memfd_create("other", 0));
  block.aio_lio_opcode = IOCB_CMD_PWRITE;
  block.aio_buf = reinterpret_cast<uint64_t>(bytes);
  block.aio_nbytes = sizeof bytes;
  io_event event;
  if (syscall(SYS_io_setup, 1, &context) || syscall(SYS_io_submit, context, 1, &list) != 1 ||
      syscall(SYS_io_getevents, context, 1, 1, &event, nullptr) != 1)
    return 1;
  const auto process = static_cast<pid_t>(syscall(SYS_fork));
  if (process == 0) _exit(3);
  int status = 0;
  return waitpid(process, &status, 0) == process && WEXITSTATUS(status) == 3 ? 0 : 2;
}

void executes() {
  char name[4096] = {};
  check(readlink("/proc/self/exe", name, sizeof name - 1) > 0, "readlink");
  const std::string command = std::string(name) + " other";
  compute(1);
  check(system(command.c_str()) == 0, "another program");
  compute(2);
}

// Each is refused, and all goes on.
void mappings() {
  compute(1);
  char* const page = reinterpret_cast<char*>(shared) + 4 * kPage;
  void* const own =
      mmap(nullptr, 4 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const int segment = shmget(IPC_PRIVATE, 2 * kPage, 0600), file = memfd_create("beside", 0);
  check(ftruncate(file, 2 * kPage) == 0, "ftruncate");
  const int usual = PROT_READ | PROT_WRITE;
  const auto refused = [&](bool is_refused, const char* what) {
    check(is_refused && errno == EINVAL, what);
  };
  refused(mmap(page, 2 * kPage, usual, MAP_PRIVATE | MAP_FIXED, file, 0) == MAP_FAILED, "mmap");
  refused(mprotect(page, kPage, usual) == -1, "mprotect");
  refused(munmap(page, kPage) == -1, "munmap");
  refused(mremap(page, kPage, 2 * kPage, MREMAP_MAYMOVE) == MAP_FAILED, "mremap");
  refused(syscall(SYS_mremap, own, kPage, kPage, MREMAP_MAYMOVE | MREMAP_FIXED, page) == -1,
          "mremap onto");  // UCX's mremap, where it stands before libc's, takes no fifth argument
  refused(madvise(page, kPage, MADV_DONTNEED) == -1, "madvise, DONTNEED");
  refused(madvise(page, kPage, MADV_REMOVE) == -1, "madvise, REMOVE");
  refused(shmat(segment, page, SHM_REMAP) == reinterpret_cast<void*>(-1), "shmat");
  shmctl(segment, IPC_RMID, nullptr);
  check(madvise(page, kPage, MADV_DONTFORK) == 0 && madvise(page, kPage, MADV_DOFORK) == 0,
        "madvise that changes nothing");
  void* const elsewhere = mmap(page, kPage, usual, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  check(elsewhere != MAP_FAILED && elsewhere != page, "mmap, a hint");
  check(munmap(elsewhere, kPage) == 0 && munmap(own, 4 * kPage) == 0, "munmap of its own");
  close(file);
  compute(3);
}

const std::map<std::string, void (*)()> kAll = {
    {"arguments", arguments},
    {"rubbish", rubbish},
    {"timers", [] { timers(on_timer); }},
    {"mallocs", mallocs},
    {"timers-lock",
     [] {
       masks = false;
       timers([](int) { const dsm::locked held(9); });
     }},
    {"forks", forks},
    {"raw-forks",
     [] {
       is_raw = true;
       forks();
     }},
    {"executes", executes},
    {"mappings", mappings},
};

}  // namespace

int main(int argc, char** argv) {
  if (argv[1] == std::string("other")) return other_program();
  dsm::session session(argc, argv);
  me = session.node(), nodes = session.nodes();
  if (me == 0) shared = static_cast<long*>(weir_dsm_alloc((kWords + nodes * 1000) * sizeof(long)));
  dsm::share(shared);
  kAll.at(argv[1])();
  const int wrong = dsm::reduce_sum(well ? 0 : 1);
  if (me == 0 && wrong == 0) puts("beside: well");
  return wrong != 0;
}
