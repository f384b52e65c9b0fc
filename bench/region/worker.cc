#include "worker.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace bench {

namespace {

void read_all(int from, void* to, size_t size) {
  for (char* at = static_cast<char*>(to); size > 0;) {
    const ssize_t got = read(from, at, size);
    if (got <= 0) fail("a side of the measurement has ended");
    at += got;
    size -= static_cast<size_t>(got);
  }
}

void write_all(int to, const void* from, size_t size) {
  if (write(to, from, size) != static_cast<ssize_t>(size))
    fail("a side of the measurement has ended");
}

[[noreturn]] void serve(const Setup& setup, int from, int to) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::string refusal;
  const Batch batch = setup(refusal);
  const size_t length = refusal.size();
  write_all(to, &length, sizeof length);
  if (length > 0) write_all(to, refusal.data(), length);
  char go;
  while (batch && read(from, &go, 1) == 1) {
    const double figure = batch();
    write_all(to, &figure, sizeof figure);
  }
  _exit(0);
}

}  // namespace

Worker::Worker(const Setup& setup) {
  int commands[2], answers[2];
  if (pipe(commands) != 0 || pipe(answers) != 0) fail("no pipe");
  fflush(nullptr);
  process_ = fork();
  if (process_ < 0) fail("no process");
  if (process_ == 0) {
    close(commands[1]);
    close(answers[0]);
    serve(setup, commands[0], answers[1]);
  }
  close(commands[0]);
  close(answers[1]);
  to_ = commands[1];
  from_ = answers[0];
  size_t length = 0;
  read_all(from_, &length, sizeof length);
  refusal_.resize(length);
  if (length > 0) read_all(from_, refusal_.data(), length);
}

Worker::Worker(Worker&& other) noexcept
    : process_(std::exchange(other.process_, -1)),
      to_(other.to_),
      from_(other.from_),
      refusal_(std::move(other.refusal_)) {}

Worker::~Worker() {
  if (process_ < 0) return;
  close(to_);
  close(from_);
  kill(process_, SIGKILL);  // it may wait for ever: those forked later hold the other end, too
  waitpid(process_, nullptr, 0);
}

double Worker::run() {
  double figure = 0;
  write_all(to_, "g", 1);
  read_all(from_, &figure, sizeof figure);
  return figure;
}

void use_one_processor() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) fail("no processor");
  int last = CPU_SETSIZE - 1;
  while (last > 0 && !CPU_ISSET(last, &set)) last--;
  CPU_ZERO(&set);
  CPU_SET(last, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) fail("no processor");
}

double now() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

Spread spread_of(std::vector<double> figures) {
  if (figures.empty()) return {};
  std::sort(figures.begin(), figures.end());
  const size_t count = figures.size();
  return {figures[count / 4], figures[count / 2], figures[count * 3 / 4]};
}

std::vector<double> ratios_of(const std::vector<double>& figures,
                              const std::vector<double>& bases) {
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(figures.size(), bases.size()); i++)
    ratios.push_back(figures[i] / bases[i]);
  return ratios;
}

void fail(const char* what) {
  fprintf(stderr, "region_bench: %s\n", what);
  _exit(1);
}

}  // namespace bench
