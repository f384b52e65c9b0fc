#include "cli/hunt/run/fork_server.h"

#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "cli/common/failure.h"
#include "control/schedule_memory.h"

namespace weir::cli::hunt {

ForkServer::ForkServer()
    : memory_("weir-schedule", sizeof(ScheduleMemory), "for the schedules of a fork server") {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    throw Failure(kWeirFailed, std::string("socketpair: ") + strerror(errno));
  ours_ = recording::File(ends[0]);
  theirs_ = recording::File(ends[1]);
}

ForkServer::~ForkServer() {
  if (pid_ == 0) return;
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {}
}

void ForkServer::begun() { theirs_ = recording::File(); }

void ForkServer::ready(pid_t pid, std::string out, std::string err) {
  pid_ = pid;
  out_ = std::move(out);
  err_ = std::move(err);
}

std::optional<ServerWord> ForkServer::heard() {
  ServerWord word;
  const ssize_t size = recv(ours_.descriptor(), &word, sizeof word, MSG_DONTWAIT);
  if (size != sizeof word) return std::nullopt;
  word.text[sizeof word.text - 1] = 0;
  return word;
}

bool ForkServer::ask(const RunOptions& run, const recording::File& out,
                     const recording::File& err) {
  tell_schedule(*reinterpret_cast<ScheduleMemory*>(memory_.base()), run);
  if (!out.write(out_) || !err.write(err_)) return false;
  ServerRequest request{ServerRequest::kMagic};
  iovec part{&request, sizeof request};
  const int files[ServerRequest::kDescriptors] = {out.descriptor(), err.descriptor()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof files)] = {};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  cmsghdr* const rights = CMSG_FIRSTHDR(&header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof files);
  memcpy(CMSG_DATA(rights), files, sizeof files);
  return sendmsg(ours_.descriptor(), &header, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof request;
}

}  // namespace weir::cli::hunt
