// Replaces this process by the program, with Weir's library inside it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/common/point.h"
#include "cli/common/shared_memory.h"
#include "cli/launch/program.h"

namespace weir {
struct ScheduleMemory;
}

namespace weir::cli {

// A program that is forked for each run (control/fork_server.h).
struct ServedRun {
  const SharedMemory& memory;  // a ScheduleMemory, which the command fills for each run
  int socket;                  // the program's end
};

// Of a run of order serial: what its memory tells it. Throws Failure.
void tell_schedule(ScheduleMemory& told, const RunOptions& options);

// Memories that a program inherits; this keeps them mapped.
struct InheritedMemories {
  std::unique_ptr<SharedMemory> processes, schedule;
};
// In the process that becomes the program: of a run with constant inputs, or under order serial,
// makes them and passes them on. Where their descriptors' numbers are not set yet, chooses them.
// Throws Failure.
InheritedMemories inherit_memories(RunOptions& options);
// Of a run under order serial that is recorded or replayed: inputs that are constant, and the
// descriptors' numbers, which follow from that of the recording.
void plan_recorded_schedule(RunOptions& options);

// The library that belongs to this command: libweir.so in one of kLibraryFolders beside the
// command's own folder. Throws Failure if it is missing, or if the loader could not be given its
// name.
std::string library_path();

// Makes the file for Weir's own words; its absolute name: the library opens it by that, perhaps
// after the program has changed its directory. Throws Failure.
std::string prepared_log(const std::string& name);

// The folder for what Weir may lose: WEIR_CACHE, else one in the user's cache folder. Empty where
// there is none that only this user can write to, or none is wanted (WEIR_CACHE=off).
std::string cache_folder();

// This process's environment with what the library needs in it, and what weir-host needs if the
// program is a static one. LD_PRELOAD and WEIR_OPTIONS keep their places in it.
std::vector<std::string> environment_for(const RunOptions& options, const Program& program);

// The file that is executed for the program in that environment: its own, or weir-host. Throws
// Failure if that is missing.
std::string executed_file(const Program& program, const std::vector<std::string>& environment);

// Replaces this process by the program, with this environment; only the number of the tracer is put
// into it. Throws Failure where the program could not be started, or where it is recorded or
// replayed and would not start alike.
// `pass_on`: passes the descriptor with the high number on. It is called last, because each process
// that is made from then on copies a table as long as that number.
// `user`: of start_tracer.
[[noreturn]] void execute(const Program& program, std::vector<std::string> environment,
                          const RunOptions& options, const std::function<void()>& pass_on = {},
                          const std::vector<uint64_t>& user = {});

// Does not return. Throws Failure if the program could not be started.
[[noreturn]] void launch(const Program& program, const RunOptions& options);

}  // namespace weir::cli
