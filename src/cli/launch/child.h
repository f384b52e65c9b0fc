// A program that runs beside the command, which records or replays it, and stands for it towards
// shell and terminal.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace weir::cli {

// Returns what /proc/PID/stat has behind the process's name, which may hold anything: " S 1 ...".
// Empty if there is none.
std::string stat_of(pid_t pid, const std::string& thread = "");

class Child {
 public:
  enum class Signals {
    kPassOn,  // what is sent to the command alone is the program's
    kEnd,     // a signal that ends the command ends the program: a replay listens to nobody
  };

  // Forks; the child calls `become`, which executes the program or throws Failure, and the
  // constructor throws the same.
  Child(const std::function<void()>& become, Signals signals);

  // From now on signals that Children attend to are noted, whether there is one or not: the next
  // one attends to them.
  static void listen();

  // Passes on signals, stops and continues with the program, and reaps. Returns false if it and all
  // its descendants have ended.
  bool attend();
  // Whether a signal has asked this command to end (kEnd).
  bool is_interrupted() const;
  int interrupt() const { return interrupt_; }  // that signal; 0: none has
  // kPassOn: a signal that asks a program to end has come to this command, or to both.
  int asked_to_end() const { return asked_; }

  // All its processes that there are, the program's first.
  std::vector<pid_t> processes() const;

  // Clock ticks of all its processes that there are.
  uint64_t processor_time() const;
  // A thread of them computes, or would if it had a processor, or waits for a disk.
  bool is_runnable() const;

  bool has_ended() const { return pid_ == 0; }  // the program itself: descendants may live
  bool was_killed() const;                      // by a signal
  int status() const;                           // that signal, or the exit status

  // The program has come to where its recording ends, by a signal from outside, say: it ends here,
  // as `how` has it (a wait status).
  void end_here(int how);

  // Ends this process as the program ended: by the same signal, or returns the exit status.
  int end_alike() const;
  // Ends this process by the signal; returns a shell's exit status for it if that is blocked.
  static int end_by(int signal);

 private:
  void stop_with_program();
  void kill_all() const;
  void kill_left_behind(int signal) const;

  pid_t pid_ = 0;  // 0: the program itself has ended
  // Children that this process had before: a shell that became the command by exec.
  std::set<pid_t> strangers_;
  Signals signals_;
  int how_ = 0;  // as wait says it, once the program itself has ended
  bool ended_here_ = false;
  bool is_stopped_ = false;
  int interrupt_ = 0;  // the signal that ends a replay
  int asked_ = 0;      // passed on
  int passed_ = 0;     // the last one that was sent to the command and passed on to the program
};

}  // namespace weir::cli
