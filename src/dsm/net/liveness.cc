// How a job whose parts die ends as a whole, and says why.
//
// Problem: if one of many processes is gone, the others wait for it for ever, or end with whatever
// error they run into first. And launchers kill what is left so fast that no process gets to say
// anything. Mechanism: each node has TCP connections to some others (links.h), on which nothing but
// signs of life go. If a process ends in any way, the kernel closes its connections before its
// parent learns of it. So the nodes linked with it know before the launcher does. A node that knows
// prints the reason, passes it on, and ends; every node does so once.
//
// Invariants:
//   1. A node that ends has told its links why before they see the connection end. So an end
//      without a reason is the death of just that node. (not checkable: the node that ends is gone)
//   2. Events are handled in the order in which the kernel has them: of two deaths, the cause comes
//      first. (not checkable: the kernel alone knows the order of events)
//   3. Silence counts only while this thread itself has been running: a job that is stopped as a
//      whole (by a terminal, a debugger of launchers, sleep of the machine) goes on afterwards. Nor
//      is it a verdict on a process of this machine, which may not get to run on a busy one: it
//      counts as gone only if the kernel says that it is stopped. (not checkable: who is stopped
//      checks nothing)
//   4. A node that said goodbye may go. (not checkable: the node that ends is gone)
//   5. Launchers send SIGTERM to the processes that are left. It waits for a moment, so that the
//      reason can arrive. If none comes, it has its usual effect. (not checkable: a signal may come
//      at any time)
//   6. A node that ends waits until its links know, for half a second at most: the launcher acts on
//      the first end that it sees. (not checkable: it is about several nodes)
#include "dsm/net/liveness.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "dsm/base/failure.h"
#include "dsm/threads/thread.h"

namespace weir::dsm {
namespace {

constexpr int64_t kTerminateMilliseconds = 300, kTellMilliseconds = 500;
constexpr int kTerminated = -SIGTERM;  // as a status: by that signal
constexpr uint64_t kWake = ~uint64_t{0},
                   kLauncher = kWake - 1;  // in epoll's data, beside indices of peers

int64_t now_milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);  // stands still while the machine sleeps
  return now.tv_sec * int64_t{1000} + now.tv_nsec / 1000000;
}

// Whether a process of this machine is stopped, by a signal or a debugger.
bool is_stopped(pid_t pid) {
  char path[40], text[400];
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t size = file < 0 ? 0 : read(file, text, sizeof text - 1);
  if (file >= 0) close(file);
  text[std::max<ssize_t>(size, 0)] = 0;
  const char* name_end = strrchr(text, ')');
  return name_end && name_end[1] == ' ' && (name_end[2] == 'T' || name_end[2] == 't');
}

int open_process(pid_t pid) { return static_cast<int>(syscall(SYS_pidfd_open, pid, 0)); }

}  // namespace

void print_line(const char* text) {
  char line[Watch::kReasonSize + 120];
  const int size = snprintf(line, sizeof line, "weir-dsm: %s\n", text);
  sigset_t pipe, before;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, &before);
  if (write(STDERR_FILENO, line, std::min(static_cast<size_t>(size), sizeof line - 1)) < 0)
    errno = 0;  // nobody to tell
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Watch::Watch(Links&& links, NodeId node, bool has_launcher, unsigned timeout)
    : node_(node),
      timeout_(Time{timeout} * 1000),
      nodes_(std::move(links.nodes)),
      events_(epoll_create1(EPOLL_CLOEXEC)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (events_ < 0 || wake_ < 0) fail("no event descriptor: %s", strerror(errno));
  const auto add = [this](int descriptor, uint64_t what) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = what;
    if (epoll_ctl(events_, EPOLL_CTL_ADD, descriptor, &event))
      fail("epoll_ctl failed: %s", strerror(errno));
  };
  add(wake_, kWake);
  launcher_pid_ = has_launcher ? getppid() : 0;
  launcher_ = launcher_pid_ ? open_process(launcher_pid_)
                            : -1;  // 0: nobody, or one that is in another namespace
  if (launcher_ >= 0) add(launcher_, kLauncher);
  for (const auto& link : links.links) {
    Peer peer;
    peer.node = link.node;
    peer.socket = link.socket;
    peer.heard = now_milliseconds();
    // One that a network could have cut off, not stopped, is not this node's to kill.
    const Identity &mine = nodes_[node_], &theirs = nodes_[link.node];
    if (theirs.machine == mine.machine && theirs.network == mine.network)
      peer.process = open_process(static_cast<pid_t>(theirs.pid));
    add(peer.socket, peers_.size());
    peers_.push_back(std::move(peer));
  }
  last_look_ = next_beat_ = now_milliseconds();
  thread_ = start_thread("weir-dsm watch", [this] { run(); });
}

std::string Watch::name_of(NodeId node) const {
  return "(" + nodes_[node].host + ", process " + std::to_string(nodes_[node].pid) + ")";
}

NodeId Watch::node_of_process(pid_t process) const {
  for (NodeId node = 0; node < nodes_.size(); node++) {
    if (nodes_[node].machine == nodes_[node_].machine &&
        nodes_[node].pid == static_cast<uint32_t>(process))
      return node;
  }
  return kNoNode;
}

// --- orders of other threads

void Watch::finish() {
  order_.store(Order::kFinish, std::memory_order_release);
  eventfd_write(wake_, 1);
  thread_.join();
  for (const Peer& peer : peers_) {
    if (peer.socket >= 0) close(peer.socket);
    if (peer.process >= 0) close(peer.process);
  }
  for (const int descriptor : {events_, wake_, launcher_}) {
    if (descriptor >= 0) close(descriptor);
  }
}

void Watch::end(int status, int own_status, const char* reason) {
  end_status_ = status;
  end_own_status_ = own_status;
  strncpy(end_reason_, reason, sizeof end_reason_ - 1);
  order_.store(Order::kEnd, std::memory_order_release);
  eventfd_write(wake_, 1);
  if (thread_.get_id() == std::this_thread::get_id()) obey();
  const timespec patience = {.tv_sec = 3, .tv_nsec = 0};  // the thread ends the process long before
  nanosleep(&patience, nullptr);
  _exit(own_status);
}

void Watch::on_terminate() {
  Time none = 0;
  terminated_.compare_exchange_strong(none, now_milliseconds());
  eventfd_write(wake_, 1);
}

void Watch::forget() {
  for (const Peer& peer : peers_) {
    if (peer.socket >= 0) close(peer.socket);
  }
}

// --- the thread

void Watch::run() {
  const Time period = timeout_ ? std::max<Time>(timeout_ / 5, 100) : 60000;
  while (order_.load(std::memory_order_acquire) != Order::kFinish) {
    const Time now = now_milliseconds();
    if (timeout_ && now >= next_beat_) {
      beat(now);
      next_beat_ = now + period;
    }
    Time patience = std::max<Time>(next_beat_ - now, 1);
    if (!timeout_) patience = period;
    if (const Time since = terminated_.load()) {
      if (now >= since + kTerminateMilliseconds) terminate();
      patience = std::min(patience, std::max<Time>(since + kTerminateMilliseconds - now, 1));
    }
    look(static_cast<int>(patience));
    obey();
  }
  for (Peer& peer : peers_) tell(peer, {kBye, node_, 0, 0}, "");
}

// One event at a time: in their order.
void Watch::look(int milliseconds) {
  epoll_event event{};
  if (epoll_wait(events_, &event, 1, milliseconds) <= 0) return;
  if (event.data.u64 == kWake) {
    eventfd_t value;
    eventfd_read(wake_, &value);
  } else if (event.data.u64 == kLauncher) {
    epoll_ctl(events_, EPOLL_CTL_DEL, launcher_, nullptr);
    if (ending_ || !claim_ending()) return;
    const std::string reason = "lost its launcher (process " + std::to_string(launcher_pid_) + ")";
    print_line(("node " + std::to_string(node_) + " " + reason).c_str());
    end_all(node_, kFailed, kFailed, name_of(node_) + " " + reason);
  } else {
    take(peers_[event.data.u64]);
  }
}

void Watch::obey() {
  if (order_.load(std::memory_order_acquire) == Order::kEnd && !ending_)
    end_all(node_, end_status_, end_own_status_, end_reason_);
}

void Watch::take(Peer& peer) {
  char buffer[4096];
  const ssize_t got = recv(peer.socket, buffer, sizeof buffer, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return on_lost(peer);
  peer.heard = now_milliseconds();
  peer.input.append(buffer, static_cast<size_t>(got));
  Note note{};
  while (peer.socket >= 0 && peer.input.size() >= sizeof note) {
    memcpy(&note, peer.input.data(), sizeof note);
    if (note.size > kReasonSize || note.about >= nodes_.size()) return on_lost(peer);
    if (peer.input.size() < sizeof note + note.size) return;
    const std::string reason = peer.input.substr(sizeof note, note.size);
    peer.input.erase(0, sizeof note + note.size);
    take_note(peer, note, reason.c_str());
  }
}

void Watch::take_note(Peer& peer, const Note& note, const char* reason) {
  if (note.kind == kBye || note.kind == kEnd) peer.knows = true;
  if (note.kind == kBye) {
    close(peer.socket);
    peer.socket = -1;
  } else if (note.kind == kEnd && !ending_ && claim_ending()) {
    // Those that a launcher or a user ended with this one need not say so one after the other.
    if (note.status == kTerminated && terminated_.load()) terminate();
    say(note.about, reason);
    const int status = note.status == kTerminated ? kFailed : note.status;
    end_all(note.about, status, status, reason);
  }
}

void Watch::on_lost(Peer& peer) {
  close(peer.socket);
  peer.socket = -1;
  peer.knows = true;
  if (ending_ || !claim_ending()) return;
  const std::string reason = name_of(peer.node) + " died";
  say(peer.node, reason);
  end_all(peer.node, kFailed, kFailed, reason);
}

void Watch::say(NodeId about, const std::string& reason) {
  print_line(("node " + std::to_string(node_) + " ends because node " + std::to_string(about) +
              " " + reason)
                 .c_str());
}

void Watch::beat(Time now) {
  const Time slept = now - last_look_;
  last_look_ = now;
  for (Peer& peer : peers_) {
    if (peer.socket < 0) continue;
    tell(peer, {kAlive, node_, 0, 0}, "");
    if (slept > timeout_ / 2) peer.heard = now;
    if (now - peer.heard <= timeout_) continue;
    const std::string silence =
        "has not answered for " + std::to_string((now - peer.heard) / 1000) + " s";
    if (peer.process >= 0 && !is_stopped(static_cast<pid_t>(nodes_[peer.node].pid))) {
      if (peer.excused) continue;
      peer.excused = true;
      print_line(("node " + std::to_string(node_) + ": node " + std::to_string(peer.node) + " " +
                  name_of(peer.node) + " " + silence +
                  ". It is not stopped, so the machine may be busy: this node waits for it")
                     .c_str());
      continue;
    }
    if (!claim_ending()) continue;
    const std::string reason =
        name_of(peer.node) + (peer.process >= 0 ? " is stopped, and " : " ") + silence;
    say(peer.node, reason);
    // It may be stopped for good, and nobody's launcher may look after it.
    if (peer.process >= 0) syscall(SYS_pidfd_send_signal, peer.process, SIGKILL, nullptr, 0);
    end_all(peer.node, kFailed, kFailed, reason);
  }
}

// As SIGTERM does by itself.
void Watch::terminate() {
  for (Peer& peer : peers_) {
    const std::string reason = name_of(node_) + " was ended by SIGTERM";
    tell(peer, {kEnd, node_, kTerminated, static_cast<uint32_t>(reason.size())}, reason);
  }
  signal(SIGTERM, SIG_DFL);
  sigset_t terminate;
  sigemptyset(&terminate);
  sigaddset(&terminate, SIGTERM);
  pthread_sigmask(SIG_UNBLOCK, &terminate, nullptr);
  raise(SIGTERM);
}

void Watch::tell(Peer& peer, const Note& note, const std::string& reason) {
  if (peer.socket < 0) return;
  std::string bytes(reinterpret_cast<const char*>(&note), sizeof note);
  bytes += reason;
  // So little fits, or the other has not read for long: then it is nobody to tell.
  if (send(peer.socket, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL) < 0) errno = 0;
}

void Watch::end_all(NodeId about, int status, int own_status, const std::string& reason) {
  ending_ = true;
  const std::string cut = reason.substr(0, kReasonSize);
  for (Peer& peer : peers_)
    tell(peer, {kEnd, about, status, static_cast<uint32_t>(cut.size())}, cut);
  const Time limit = now_milliseconds() + kTellMilliseconds;
  const auto somebody_is_left = [this] {
    return std::any_of(peers_.begin(), peers_.end(),
                       [](const Peer& peer) { return peer.socket >= 0 && !peer.knows; });
  };
  for (Time now = now_milliseconds(); now < limit && somebody_is_left(); now = now_milliseconds())
    look(static_cast<int>(limit - now));
  _exit(own_status);
}

}  // namespace weir::dsm
