// The child runs between fork and the program's next instruction, as the only thread of its
// process, and whatever the other threads held at that time stays held there. So it asks the
// kernel, not the node, which pages may be written. It needs no allocator and no stdio either:
// theirs may be the program's, whose own handlers have not run yet.
//
// exit() there would run the destructors of UCX and of MPI, which wait for what other threads held,
// or find that the process is another. So it ends when the program's own are done.
#include "dsm/core/forked.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <atomic>

#include "dsm/base/failure.h"

namespace weir::dsm {
namespace {

std::atomic<const Segment*> g_segment{nullptr};
bool g_forked = false;

// /proc/self/maps, by lines, of which the first kLine bytes are enough.
class Maps {
 public:
  Maps() : file_(open("/proc/self/maps", O_RDONLY | O_CLOEXEC)) {}
  ~Maps() { close(file_); }
  Maps(const Maps&) = delete;
  Maps& operator=(const Maps&) = delete;
  bool is_there() const { return file_ >= 0; }
  // nullptr: there are no more.
  const char* next() {
    size_t length = 0;
    for (char one; get(&one);) {
      if (one == '\n') return line_[length] = 0, line_;
      if (length < kLine) line_[length++] = one;
    }
    return nullptr;
  }

 private:
  static constexpr size_t kLine = 80;
  bool get(char* one) {
    if (at_ == size_) {
      ssize_t got;
      do got = read(file_, buffer_, sizeof buffer_);
      while (got < 0 && errno == EINTR);
      if (got <= 0) return false;
      at_ = 0, size_ = static_cast<size_t>(got);
    }
    return *one = buffer_[at_++], true;
  }
  const int file_;
  size_t at_ = 0, size_ = 0;
  char buffer_[2048], line_[kLine + 1];
};

void on_fork_child() {
  const Segment* const segment = g_segment.load();
  if (!segment) return;
  g_forked = true;
  const int saved = errno;
  Maps maps;
  if (!maps.is_there()) fail("a process that was forked cannot read /proc/self/maps");
  while (const char* line = maps.next()) {
    char* rest;
    const unsigned long begin = strtoul(line, &rest, 16);
    if (*rest != '-') continue;
    const unsigned long end = strtoul(rest + 1, &rest, 16);
    if (strncmp(rest, " rw", 3) != 0 || !segment->contains(reinterpret_cast<const void*>(begin)))
      continue;
    segment->protect_in_child(begin - reinterpret_cast<uint64_t>(segment->program()), end - begin,
                              Right::kRead);
  }
  errno = saved;
}

void end_child(int status, void*) {
  if (!g_forked) return;
  fflush(nullptr);
  _exit(status);
}

// Before what the program registers, hence called after it.
__attribute__((constructor)) void register_end() { on_exit(end_child, nullptr); }

}  // namespace

void watch_forks(const Segment& segment) {
  static const int registered = pthread_atfork(nullptr, nullptr, on_fork_child);
  if (registered) fail("no memory: pthread_atfork");
  g_segment = &segment;
}

void forget_forks() { g_segment = nullptr; }

bool is_forked() { return g_forked; }

}  // namespace weir::dsm
