// A replay that stands still at a place, for somebody to look: weir replay --goto, --gdb.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/common/channel_memory.h"

namespace weir::cli {

// "EVENT" of the program's first task, or "PROCESS-TASK:EVENT", as `weir dump` names them. Throws
// Failure.
channel::Stop place_to_stop(const std::string& text);
// "0-2"
std::string name_of(const channel::Stop& stop);

class Look {
 public:
  // `program`: the file that gdb reads. `root`: the folder in which it finds libraries by their
  // names (KeptFiles::debugger_root); empty: they are where they are.
  Look(ChannelMemory& memory, const channel::Stop& stop, std::string program, std::string root);
  // Gives the terminal back.
  ~Look();
  Look(const Look&) = delete;
  Look& operator=(const Look&) = delete;

  // The task has come there; it stands.
  bool is_there() const;
  // Starts gdb on all the replay's processes, the one that stands first, and lets it go on as soon
  // as gdb holds it. `from_begin`: it is the first place of all, in the runtime; gdb goes on to the
  // program's first instruction. `goes_on`: asked meanwhile; false ends the wait for gdb. REQUIRES:
  // there is one.
  void start_gdb(const std::vector<pid_t>& processes, bool from_begin,
                 const std::function<bool()>& goes_on);
  bool has_gdb() const { return gdb_ != 0; }
  // Continues gdb if the terminal has stopped it (Ctrl-Z): the shell knows only the command.
  // Returns true if gdb ran, and has ended.
  bool is_over() const;

 private:
  ChannelMemory& memory_;
  std::string program_, root_;
  pid_t gdb_ = 0;
};

}  // namespace weir::cli
