// The thread that watches the other nodes and the launcher, and by which a node's end and its
// reason reach everybody.
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include <atomic>
#include <string>
#include <thread>

#include "dsm/net/links.h"

namespace weir::dsm {

class Watch {
 public:
  // `has_launcher`: the parent process is watched too. `timeout`: seconds; 0: silence is no reason.
  Watch(Links&& links, NodeId node, bool has_launcher, unsigned timeout);

  // Says goodbye to the others, and ends the thread.
  void finish();
  // Tells the others why the job ends, waits until they know, and ends the process: all others with
  // `status`, this one with `own_status`. Any thread, and a signal's handler. `reason` goes on
  // after "node N ".
  [[noreturn]] void end(int status, int own_status, const char* reason);
  // In a signal's handler: SIGTERM has come.
  void on_terminate();
  // Which node that process of this machine is; kNoNode: none.
  NodeId node_of_process(pid_t process) const;
  // In a forked child: the connections are its parent's.
  void forget();

  static constexpr size_t kReasonSize = 480;

 private:
  using Time = int64_t;  // milliseconds
  enum class Order { kNone, kFinish, kEnd };

  // Layout: on the wire, little endian, followed by `size` bytes of reason.
  struct Note {
    uint32_t kind, about;
    int32_t status;
    uint32_t size;
  };
  enum NoteKind : uint32_t { kAlive = 0x57447701, kBye, kEnd };
  struct Peer {
    NodeId node = kNoNode;
    int socket = -1;       // -1: it said goodbye
    int process = -1;      // where it runs beside this one
    bool knows = false;    // why the job ends: it said so itself, or is gone
    bool excused = false;  // its silence has been told, since it runs
    Time heard = 0;
    std::string input;
  };

  void run();
  void look(int milliseconds);
  void obey();
  void take(Peer& peer);
  void take_note(Peer& peer, const Note& note, const char* reason);
  void on_lost(Peer& peer);
  void say(NodeId about, const std::string& reason);
  void beat(Time now);
  void terminate();
  [[noreturn]] void end_all(NodeId about, int status, int own_status, const std::string& reason);
  void tell(Peer& peer, const Note& note, const std::string& reason);
  std::string name_of(NodeId node) const;

  const NodeId node_;
  const Time timeout_;
  std::vector<Identity> nodes_;
  std::vector<Peer> peers_;
  int events_, wake_, launcher_ = -1, launcher_pid_ = 0;
  bool ending_ = false;
  Time last_look_ = 0, next_beat_ = 0;
  // Orders to the thread. What belongs to one is written before it (release).
  std::atomic<Order> order_{Order::kNone};
  std::atomic<Time> terminated_{0};  // when SIGTERM came; 0: it has not
  int end_status_ = 0, end_own_status_ = 0;
  char end_reason_[kReasonSize] = "";
  std::thread thread_;
};

// To stderr, in one piece, whatever becomes of it.
void print_line(const char* text);

}  // namespace weir::dsm
