// What the command tells the library of a run under Order serial, in memory that the command makes
// (a memfd, Options::schedule_memory): schedules are long, and their length must not move the
// program's stack, as variables of the environment would.
#pragma once

#include <stdint.h>

// What the text of a schedule begins with, up to the first colon: another one where a step means
// something else than it did.
#define WEIR_SCHEDULE_VERSION "w3"

namespace weir {

struct ScheduleMemory {
  static constexpr uint64_t kMagic = 0x57656972'53636832;
  static constexpr uint32_t kMaxText = 8u << 20;

  uint64_t magic;
  uint64_t step_limit;  // of all tasks together; 0: none
  // Where the process `server_process` is to be a fork server (control/fork_server.h): its socket.
  int32_t server_process;  // 0: none is
  int32_t server;
  // That the run is to count on; 0: those that it has. Other runs use the others.
  uint32_t processors;
  uint32_t unused;
  char log_path[4096];  // where the schedule log goes, absolute; empty: nowhere
  // Races are looked for: the file that what is found goes to, at the run's end
  // (check/findings/findings.h); empty: they are not.
  char findings_path[4096];
  uint32_t detail;  // the log says, too, where tasks stood, and what they touched: 1
  uint32_t length;
  char text[kMaxText];  // the schedule, NUL-terminated; empty: the default
};

}  // namespace weir
