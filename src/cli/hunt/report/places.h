// Where the tasks of a run stood, and what they are, in the program's own names: by the schedule
// log with its detail, or without, as far as that goes.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/hunt/schedule/schedule_log.h"
#include "cli/symbols/calls.h"
#include "cli/symbols/frames.h"
#include "cli/symbols/modules.h"
#include "cli/symbols/pointees.h"
#include "cli/symbols/stack_walk.h"
#include "cli/symbols/variables.h"

namespace weir::cli::hunt {

struct ToldPlace {
  Frames frames;             // all that are known, innermost first
  Frame shown;               // the innermost of the program's own code; else the innermost
  bool is_own = false;       // `shown` is the program's own code
  bool has_callers = false;  // `frames` are a stack, not only the functions at one address
  // Of what has called `shown`, where that is a small function of a header: the next of the
  // program's own code; empty: none.
  Frames from;
  std::string source;  // the line of the last of `from`, or of `shown`; empty: it cannot be read
  int line = 0;        // its number
  // Of a thread that runs none of the program's code: its function is over, or has not begun.
  bool is_over = false, is_new = false;
  // The task is in a function of a library that `shown` has called: "pthread_mutex_unlock". Empty:
  // it is in the program's own code, or the name is not known.
  std::string call;
  std::string object;   // what the call is about: "&account.lock"; empty: not known
  std::string through;  // the function of a library's header that makes the call for `shown`
};

struct ToldTask {
  uint32_t number = 0;
  std::string words;  // "the main thread", "thread T2 (worker)"
  std::string name;   // "worker"; empty: none
  bool has_maker = false;
  std::string maker;  // by whom: as words
  ToldPlace made_at;
};

// Whether the code is nobody's here: of the C and C++ library, the loader, Weir.
bool is_of_system(const Frame& frame);

class Places {
 public:
  // `others`: places besides the log's that are to be told, by which their files are known.
  explicit Places(const ScheduleLog& log, const std::vector<Place>& others = {});

  // `stack`: null if there is none.
  ToldPlace at(const Place& place, const LoggedStack* stack);
  ToldPlace at_switch(size_t index);  // of log.switches
  std::optional<ToldPlace> at_end(uint32_t task);
  ToldPlace at_instruction(uint64_t rip);  // without its callers
  const ToldTask& task(uint32_t number);
  // What lies there, as code names it: "table[3].used"; empty: not known. `changes`: how many
  // switches there had been; `stack`: of the access to it, or null.
  std::string variable_at(uint64_t address, size_t changes, const LoggedStack* stack);
  // Likewise as words, with what it is a part of: "`table[3].used` (8 bytes of ...)".
  std::string memory_words(uint64_t address, uint64_t size, size_t changes,
                           const LoggedStack* stack);
  bool has_lines() const { return has_lines_; }  // of what has been told so far

 private:
  Frames frames_at(uint64_t address);
  std::string object_of_call(const std::string& call, const LoggedStack& stack, size_t changes);
  std::optional<Variable> find(uint64_t address, size_t changes, const LoggedStack* stack);
  std::string start_name(uint32_t number);
  void hide_stub(Frames& frames);
  void choose(ToldPlace& told, const std::vector<uint64_t>& addresses);

  const ScheduleLog& log_;
  Modules modules_{true};
  StackWalk walk_{modules_};
  Variables variables_{modules_};
  Pointees pointees_{modules_};
  Calls calls_{modules_};
  std::map<uint64_t, Frames> known_;
  std::map<uint32_t, ToldTask> tasks_;
  bool has_lines_ = false;
};

}  // namespace weir::cli::hunt
