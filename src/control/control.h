// What all tasks of a program share: one mapping at a fixed address that no View protects,
// inherited by every process that runs a task. A forked child gets a copy of its own.
#pragma once

#include <stdint.h>

#include "control/control_parts.h"

namespace weir {

struct Shared {
  uint64_t magic;
  uint32_t version;
  ProgramState program;
  alignas(64) OrderState order;
  alignas(64) MemoryState memory;
  alignas(64) MappingLog mapping_log;
  alignas(64) ProcessTable processes;
  SignalState signals;
  MonitorCall monitor_call;
  ExecRequest exec;
  HeapState heap;
  StoppedWorld stopped_world;
  InPlaceProcess in_place_process;
  RecordingState recording;
  ProgramSpent spent;

  Task tasks[kMaxTasks];
};

inline bool g_control_mapped = false;  // from then on shared() may be touched
inline Shared& shared() { return *reinterpret_cast<Shared*>(kControl); }
// The program is told that this kernel has no such call: --stat lists it.
inline void note_left_out(long number) {
  constexpr unsigned long kNumbers = 8 * sizeof(ProgramState::left_out_calls);
  const auto bit = static_cast<unsigned long>(number);
  if (bit < kNumbers)
    __atomic_fetch_or(&shared().program.left_out_calls[bit / 64], uint64_t{1} << bit % 64,
                      __ATOMIC_RELAXED);
}
inline CountState& count_state() { return *reinterpret_cast<CountState*>(kCountState); }
inline Task& task_at(TaskId id) { return shared().tasks[id]; }
inline bool is_task_memory(const void* p) {
  auto a = reinterpret_cast<uint64_t>(p);
  return a >= kControl && a < kControl + sizeof(Shared);
}

}  // namespace weir
