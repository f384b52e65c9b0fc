// A file is rewound. A pipe cannot be: the command reads it, as far as a run wants it, keeps what
// it has read in a temporary file, and feeds each run from that file first. So a pipe that nobody
// closes holds up a run only if that reads it, as it would anyway.
#include "cli/checked_runs/repeated_input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "cli/common/failure.h"
#include "cli/common/thread.h"

namespace weir::cli {
namespace {

Failure failed(const char* what) {
  return Failure(kWeirFailed,
                 fmt::format("check --runs: {} for standard input: {}", what, strerror(errno)));
}

}  // namespace

RepeatedInput::RepeatedInput(bool is_repeated) : kept_(nullptr, fclose) {
  struct stat status;
  if (!is_repeated || fstat(STDIN_FILENO, &status) != 0) return;
  if (S_ISREG(status.st_mode)) {
    start_ = lseek(STDIN_FILENO, 0, SEEK_CUR);
    if (start_ >= 0) kind_ = Kind::kFile;
  } else if (S_ISFIFO(status.st_mode)) {
    kept_.reset(tmpfile());
    if (!kept_) throw failed("no temporary file");
    kind_ = Kind::kPipe;
  } else if (S_ISSOCK(status.st_mode)) {
    throw Failure(kWeirFailed,
                  "check --runs: standard input is a socket, which cannot be read again for each "
                  "run: redirect it (< FILE, or < /dev/null)");
  } else if (isatty(STDIN_FILENO)) {
    kind_ = Kind::kTerminal;
  }
}

RepeatedInput::~RepeatedInput() { end(); }

void RepeatedInput::begin(bool is_shown) {
  is_hidden_ = !is_shown;
  if (kind_ == Kind::kFile) lseek(STDIN_FILENO, start_, SEEK_SET);
  if (kind_ != Kind::kPipe) return;
  if (pipe2(ends_, O_CLOEXEC) != 0) throw failed("no pipe");
  fcntl(ends_[1], F_SETFL, O_NONBLOCK);
  stop_ = eventfd(0, EFD_CLOEXEC);
  if (stop_ < 0) throw failed("no eventfd");
}

void RepeatedInput::install() const {
  int from = -1;
  if (kind_ == Kind::kPipe) from = ends_[0];
  else if (kind_ == Kind::kTerminal && is_hidden_) from = open("/dev/null", O_RDONLY);
  else return;
  if (from < 0 || dup2(from, STDIN_FILENO) < 0) throw failed("no descriptor");
  if (kind_ == Kind::kTerminal) close(from);
}

void RepeatedInput::started() {
  if (kind_ != Kind::kPipe) return;
  close(ends_[0]);
  ends_[0] = -1;
  feeder_ = thread_without_signals([this, to = ends_[1], stop = stop_] { feed(to, stop); });
}

// Ends when the run has closed its end or is over, or there is nothing more.
void RepeatedInput::feed(int to, int stop) {
  const int file = fileno(kept_.get());
  std::vector<char> bytes(1 << 16);
  off_t given = 0;
  for (bool is_over = false; !is_over;) {
    const ssize_t known = pread(file, bytes.data(), bytes.size(), given);
    if (known < 0) break;
    // Only what the run has room for is taken from the pipe.
    pollfd room[] = {{to, POLLOUT, 0}, {stop, POLLIN, 0}};
    if (poll(room, 2, -1) < 0) continue;
    if (room[1].revents || (room[0].revents & POLLERR)) break;
    if (known > 0) {
      const ssize_t written = write(to, bytes.data(), static_cast<size_t>(known));
      if (written > 0) given += written;
      else if (errno != EAGAIN && errno != EINTR) break;
      continue;
    }
    pollfd more[] = {{STDIN_FILENO, POLLIN, 0}, {stop, POLLIN, 0}, {to, 0, 0}};
    if (poll(more, 3, -1) < 0) continue;
    if (more[1].revents || more[2].revents) break;
    const ssize_t read = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (read < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    is_over = read <= 0;
    if (read > 0 && pwrite(file, bytes.data(), static_cast<size_t>(read), given) != read) break;
  }
  close(to);
}

void RepeatedInput::end() {
  if (feeder_.joinable()) {
    const uint64_t one = 1;
    while (write(stop_, &one, sizeof one) < 0 && errno == EINTR) {}
    feeder_.join();
    ends_[1] = -1;  // the feeder has closed it
  }
  for (int* descriptor : {&ends_[0], &ends_[1], &stop_}) {
    if (*descriptor >= 0) close(*descriptor);
    *descriptor = -1;
  }
}

}  // namespace weir::cli
