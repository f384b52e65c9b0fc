// A request gets a reply only if its process is between its execution and the library's beginning,
// or looks like it: it asks by the name of a file that its program consists of. All other requests
// go on as they are. The process that asks is found by its pid (channel::Header::pid). What its
// program consists of is what it said before it was executed (channel::Header::image).
#include "cli/launch/loader_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <vector>

#include "cli/common/failure.h"
#include "cli/common/thread.h"
#include "cli/launch/verdict.h"

namespace weir::cli {
namespace {

constexpr int kPollMs = 100;  // milliseconds
constexpr const char* kProgram = "/proc/self/exe";

sock_filter statement(int code, size_t value) {
  return BPF_STMT(static_cast<uint16_t>(code), static_cast<uint32_t>(value));
}
sock_filter unless_equal(long value, uint8_t skipped) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(value), 0, skipped);
}

// The descriptor by which the kernel asks, or -1 with errno.
int install_filter() {
  constexpr long kAsked[] = {SYS_open,       SYS_openat, SYS_stat,   SYS_newfstatat, SYS_readlink,
                             SYS_readlinkat, SYS_fstat,  SYS_access, SYS_getcwd};
  std::vector<sock_filter> program = {
      statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      unless_equal(AUDIT_ARCH_X86_64, 1 + 2 * std::size(kAsked)),
      statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
  };
  for (const long number : kAsked) {
    program.push_back(unless_equal(number, 1));
    program.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF));
  }
  program.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog filter{static_cast<uint16_t>(program.size()), program.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return static_cast<int>(
      syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter));
}

union Control {
  cmsghdr head;
  char room[CMSG_SPACE(sizeof(int))];
};

// A byte, and a descriptor with it.
struct Packet {
  char byte = 0;
  iovec part{&byte, 1};
  msghdr message{};
  Control control{};  // its end is open

  Packet() {
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = &control;
    message.msg_controllen = sizeof control;
  }
  Packet(const Packet&) = delete;
  Packet& operator=(const Packet&) = delete;
};

bool send_descriptor(int socket, int descriptor) {
  Packet packet;
  packet.control.head = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
  memcpy(CMSG_DATA(&packet.control.head), &descriptor, sizeof descriptor);
  return sendmsg(socket, &packet.message, 0) == 1;
}

int receive_descriptor(int socket) {
  Packet packet;
  int descriptor = -1;
  const bool came = recvmsg(socket, &packet.message, MSG_CMSG_CLOEXEC) == 1 &&
                    packet.control.head.cmsg_type == SCM_RIGHTS;
  if (came) memcpy(&descriptor, CMSG_DATA(&packet.control.head), sizeof descriptor);
  return descriptor;
}

// Up to its NUL; empty where it cannot be read.
std::string text_at(pid_t process, uint64_t address) {
  std::string text;
  while (text.size() < PATH_MAX) {
    char piece[256];
    const size_t size = std::min<size_t>(sizeof piece, 4096 - address % 4096);
    iovec here{piece, size}, there{reinterpret_cast<void*>(address), size};
    const ssize_t got = process_vm_readv(process, &here, 1, &there, 1, 0);
    if (got <= 0) return "";
    const size_t length = strnlen(piece, static_cast<size_t>(got));
    text.append(piece, length);
    if (length < static_cast<size_t>(got)) return text;
    address += static_cast<uint64_t>(got);
  }
  return "";
}

bool write_to(pid_t process, uint64_t address, const void* bytes, size_t size) {
  iovec here{const_cast<void*>(bytes), size}, there{reinterpret_cast<void*>(address), size};
  return process_vm_writev(process, &here, 1, &there, 1, 0) == static_cast<ssize_t>(size);
}

}  // namespace

LoaderFiles::LoaderFiles(const ChannelMemory& memory, const recording::Recording& recording,
                         KeptFiles& kept)
    : memory_(memory), directory_(recording.directory), kept_(kept) {
  for (const recording::Copy& copy : recording.copies) {
    struct stat status;
    errno = 0;
    const std::string name = fmt::format("{}/{}/{}", directory_, recording::kFiles, copy.number);
    // A kept content, which nobody may write, is of a file that the program mapped itself.
    constexpr mode_t kExecuted = S_IWUSR | S_IXUSR;
    if (stat(name.c_str(), &status) == 0 && (status.st_mode & kExecuted) == kExecuted)
      names_[copy.number] = copy.path;
    else if (kept_.is_used() && errno == ENOENT && kept_.named(copy.path)) {
      names_[copy.number] = copy.path;
      sums_[copy.number] = copy.sum;
    }
  }
  if (names_.empty() && !kept_.is_used()) return;
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends_) != 0)
    throw Failure(kWeirFailed, fmt::format("socketpair: {}", strerror(errno)));
  thread_ = thread_without_signals([this] { serve(); });
}

LoaderFiles::~LoaderFiles() {
  stops_ = true;
  if (thread_.joinable()) thread_.join();
  for (const int descriptor : {ends_[0], ends_[1], listener_}) {
    if (descriptor >= 0) close(descriptor);
  }
}

void LoaderFiles::install() {
  if (!thread_.joinable()) return;
  const int listener = install_filter();
  if (listener < 0) {
    const int error = errno;
    const std::optional<Lack> lack = lacks_notification();
    throw Failure(kWeirFailed,
                  fmt::format("weir replay does not work here: {}",
                              lack ? text_of(*lack) : fmt::format("seccomp: {}", strerror(error))));
  }
  if (!send_descriptor(ends_[1], listener)) _exit(kWeirFailed);
  close(listener);
}

void LoaderFiles::serve() {
  const auto wait = [&](int descriptor) {
    pollfd one{descriptor, POLLIN, 0};
    while (!stops_) {
      if (poll(&one, 1, kPollMs) > 0) return (one.revents & POLLIN) != 0;
    }
    return false;
  };
  if (!wait(ends_[0])) return;
  listener_ = receive_descriptor(ends_[0]);
  while (listener_ >= 0 && wait(listener_)) {
    seccomp_notif request{};
    if (ioctl(listener_, SECCOMP_IOCTL_NOTIF_RECV, &request) == 0) answer(request);
  }
}

void LoaderFiles::respond(const seccomp_notif& request, int64_t value, uint32_t flags) const {
  seccomp_notif_resp response{request.id, value, 0, flags};
  ioctl(listener_, SECCOMP_IOCTL_NOTIF_SEND, &response);  // who asked may have been killed
}

bool LoaderFiles::answer_readlink(const seccomp_notif& request, uint32_t first) {
  const auto name = names_.find(first);
  const bool at = request.data.nr == SYS_readlinkat;
  if (name == names_.end()) return false;
  const size_t size = std::min<size_t>(name->second.size(), request.data.args[at ? 3 : 2]);
  if (!write_to(static_cast<pid_t>(request.pid), request.data.args[at ? 2 : 1], name->second.data(),
                size))
    return false;
  respond(request, static_cast<int64_t>(size), 0);
  return true;
}

// A folder in which one of the files was: the loader leaves out those that are none.
bool LoaderFiles::answer_stat(const seccomp_notif& request, const channel::Image& image,
                              const std::string& path) {
  for (auto name = names_.lower_bound(image.first);
       name != names_.end() && name->first < image.first + image.count; ++name) {
    if (!name->second.starts_with(path + (path.ends_with("/") ? "" : "/"))) continue;
    struct stat folder {};
    folder.st_mode = S_IFDIR | 0755;
    if (!write_to(static_cast<pid_t>(request.pid),
                  request.data.args[request.data.nr == SYS_newfstatat ? 2 : 1], &folder,
                  sizeof folder))
      return false;
    respond(request, 0, 0);
    return true;
  }
  return false;
}

bool LoaderFiles::answer_open(const seccomp_notif& request, const channel::Image& image,
                              const std::string& path) {
  for (auto name = names_.lower_bound(image.first);
       name != names_.end() && name->first < image.first + image.count; ++name) {
    if (name->second != path) continue;
    const auto kept = sums_.find(name->first);
    const recording::File file = recording::File::reading(
        kept == sums_.end() ? fmt::format("{}/{}/{}", directory_, recording::kFiles, name->first)
                            : fmt::format("{}/{}", directory_, recording::kept_name(kept->second)));
    return file.is_open() && give(request, file.descriptor());
  }
  return false;
}

bool LoaderFiles::give(const seccomp_notif& request, int descriptor) const {
  seccomp_notif_addfd added{request.id, SECCOMP_ADDFD_FLAG_SEND, static_cast<uint32_t>(descriptor),
                            0, O_CLOEXEC};
  if (ioctl(listener_, SECCOMP_IOCTL_NOTIF_ADDFD, &added) >= 0) return true;
  if (errno != EINVAL) return false;
  added.flags = 0;  // before Linux 5.14 the answer is a call of its own
  const int given = ioctl(listener_, SECCOMP_IOCTL_NOTIF_ADDFD, &added);
  if (given >= 0) respond(request, given, 0);
  return given >= 0;
}

// What has the name of a recorded file is the kept one, for the loader and for libweir, which reads
// them too. The program itself opens nothing in a replay.
bool LoaderFiles::answer_kept(const seccomp_notif& request, const std::string& path) {
  const std::string copies = fmt::format("{}/{}/", directory_, recording::kFiles);
  if (path.starts_with(copies)) {  // libweir executes a program
    const auto sum = sums_.find(strtoull(path.c_str() + copies.size(), nullptr, 10));
    return sum != sums_.end() && give(request, kept_.executable(sum->second));
  }
  if (kept_.is_new(path)) {
    respond(request, -ENOENT, 0);
    return true;
  }
  const recording::Identity* const file = kept_.named(path);
  if (!file || request.data.nr == SYS_access) return false;
  const recording::File content = kept_.opened(*file);
  opened_[request.pid] = file;
  return content.is_open() && give(request, content.descriptor());
}

// The loader makes absolute names of relative ones.
bool LoaderFiles::answer_getcwd(const seccomp_notif& request) {
  const std::string& directory = kept_.directory();
  if (directory.empty()) {  // it was gone
    respond(request, -ENOENT, 0);
    return true;
  }
  const size_t size = directory.size() + 1;
  if (request.data.args[1] < size ||
      !write_to(static_cast<pid_t>(request.pid), request.data.args[0], directory.c_str(), size))
    return false;
  respond(request, static_cast<int64_t>(size), 0);
  return true;
}

// The loader leaves what it is told of a file in the program's memory, and knows the file by it.
bool LoaderFiles::answer_facts(const seccomp_notif& request) {
  const bool at = request.data.nr == SYS_newfstatat;
  const auto opened = opened_.find(request.pid);
  if (opened == opened_.end() || opened->second->facts.empty() ||
      (at && !(request.data.args[3] & AT_EMPTY_PATH)))
    return false;
  const std::string place = fmt::format("/proc/{}/fd/{}", request.pid, request.data.args[0]);
  struct stat asked, kept;
  if (stat(place.c_str(), &asked) != 0 ||
      fstat(kept_.opened(*opened->second).descriptor(), &kept) != 0 ||
      asked.st_dev != kept.st_dev || asked.st_ino != kept.st_ino)
    return false;
  const struct stat then = recording::status_of(opened->second->facts);
  if (!write_to(static_cast<pid_t>(request.pid), request.data.args[at ? 2 : 1], &then, sizeof then))
    return false;
  respond(request, 0, 0);
  return true;
}

void LoaderFiles::answer(const seccomp_notif& request) {
  const channel::Header& header = memory_.header();
  const uint32_t processes =
      std::min(__atomic_load_n(&header.processes, __ATOMIC_ACQUIRE), channel::kMaxProcesses);
  uint32_t process = 0;
  while (process < processes && __atomic_load_n(&header.pid[process], __ATOMIC_ACQUIRE) !=
                                    static_cast<int32_t>(request.pid))
    process++;
  const channel::Image image = process < processes ? header.image[process] : channel::Image{};
  const long call = request.data.nr;
  const bool at = call == SYS_openat || call == SYS_newfstatat || call == SYS_readlinkat;
  const bool links = call == SYS_readlink || call == SYS_readlinkat;
  const bool opens = call == SYS_open || call == SYS_openat;
  const bool is_first = kept_.is_used() && processes == 0;
  bool answered = false;
  if (call == SYS_getcwd) {
    answered = is_first && answer_getcwd(request);
  } else if (call == SYS_fstat) {
    answered = kept_.is_used() && answer_facts(request);
  } else if (image.count != 0 || kept_.is_used()) {
    const std::string path =
        text_at(static_cast<pid_t>(request.pid), request.data.args[at ? 1 : 0]);
    if (path.empty()) {
      answered = call == SYS_newfstatat && kept_.is_used() && answer_facts(request);
    } else if (links) {
      answered = path == kProgram && (image.count != 0 || is_first) &&
                 answer_readlink(request, image.first);
    } else if (opens || call == SYS_access) {
      answered = (opens && answer_open(request, image, path)) ||
                 (kept_.is_used() && answer_kept(request, path));
    } else {
      answered = answer_stat(request, image, path);
    }
  }
  if (!answered) respond(request, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE);
}

}  // namespace weir::cli
