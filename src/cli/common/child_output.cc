#include "cli/common/child_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/common/failure.h"
#include "recording/bytes.h"

namespace weir::cli {
namespace {

[[noreturn]] void become_with_output(int output, const std::function<void()>& become) {
  const int nothing = open("/dev/null", O_RDWR);
  dup2(nothing, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(nothing, STDERR_FILENO);
  become();
  _exit(kNotFound);
}

}  // namespace

std::string output_of(const std::function<void()>& become) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw Failure(kWeirFailed, fmt::format("pipe: {}", strerror(errno)));
  const pid_t child = vfork();  // whose memory this process's own is until the program is executed
  if (child < 0) throw Failure(kWeirFailed, fmt::format("fork: {}", strerror(errno)));
  if (child == 0) become_with_output(ends[1], become);
  close(ends[1]);
  std::string text = recording::rest_of(ends[0]);
  close(ends[0]);
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {}
  return text;
}

}  // namespace weir::cli
