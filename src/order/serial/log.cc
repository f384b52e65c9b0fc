// The schedule log: what a run did, as text, one line for each fact. docs/internals/serial.md has
// the format.

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "control/options.h"
#include "control/schedule_memory.h"
#include "heap/guard/guard.h"
#include "memory/backing.h"
#include "order/serial/conflicts.h"
#include "order/serial/log_text.h"
#include "order/serial/run.h"
#include "order/serial/stores/store_buffer.h"
#include "order/serial/tally.h"
#include "order/serial/trail.h"
#include "sys/memory.h"
#include "sys/report.h"

namespace weir::order::serial {

namespace {

constinit Modules g_modules{};

const Modules& mapped() {
  if (!g_modules.is_read()) g_modules.read();
  return g_modules;
}

const char* name_of(Reason reason) {
  switch (reason) {
    case Reason::kWithin: return "within";
    case Reason::kParted: return "parted";
    case Reason::kStep:
    case Reason::kEvent:
    case Reason::kAfter: return "preempt";
    case Reason::kYields: return "yield";
    case Reason::kSpins: return "spin";
    case Reason::kForced: return "forced";
    case Reason::kBlocks: return "block";
    case Reason::kEnds: return "end";
  }
  return "?";
}

void put_list(Text& text) {
  const Schedule& schedule = g_run.schedule;
  text.put("list ");
  if (g_run.changes_left_out) {
    text.put("-\n");
    return;
  }
  text.put(WEIR_SCHEDULE_VERSION ":list");
  bool any = false;
  const auto key = [&](const char* name) -> Text& {
    text.put(any ? "," : ":").put(name);
    any = true;
    return text;
  };
  if (schedule.fair != Schedule{}.fair) key("fair=").put(schedule.fair);
  if (schedule.has_all_points) key("points=all");
  if (schedule.is_tso) key("memory=tso");
  any = false;
  for (uint32_t i = 0; i < g_run.changes; i++) {
    const Change& change = changes()[i];
    if (!change.is_listed) continue;
    text.put(any ? "+" : ":").put(change.at).put(">").put(uint64_t{change.target});
    any = true;
  }
  for (uint32_t i = 0; i < stores::delayed_count(); i++) {
    const stores::Delayed& delayed = stores::delayed(i);
    text.put(any ? "+" : ":").put(delayed.at).put("~").put(delayed.steps);
    any = true;
  }
  text.put("\n");
}

void put_counts(Text& text, const uint64_t* counts) {
  uint64_t count = g_run.tasks < kMaxCounts ? g_run.tasks : kMaxCounts;
  if (count == 0) count = 1;
  for (uint64_t i = 0; i < count; i++) text.put(i ? "." : " ").put(counts[i]);
  text.put("\n");
}

void put_shared(Text& text) {
  constexpr uint32_t kMost = 24;
  static Tallied found[kMost];
  const uint32_t count = find_most_shared(found, kMost);
  for (uint32_t i = 0; i < count; i++) {
    uint64_t counts[kMaxCounts] = {};
    for (uint32_t task = 0; task < kTalliedTasks; task++) counts[task] = found[i].counts[task];
    put_counts(text.put("shared ").hex(found[i].address), counts);
  }
}

void put_states(Text& text) {
  uint32_t count = 0;
  const State* const found = states(count);
  for (uint32_t i = 0; i < count; i++)
    text.put("state ").put(uint64_t{found[i].listed}).put(" ").hex(found[i].hash).put("\n");
}

const char* name_of(stores::Cause cause) {
  switch (cause) {
    case stores::Cause::kFence: return "fence";
    case stores::Cause::kEvent: return "event";
    case stores::Cause::kSteps: return "steps";
    case stores::Cause::kSignal: return "signal";
    case stores::Cause::kCall: return "call";
    case stores::Cause::kCode: return "code";
    case stores::Cause::kEnd: return "end";
  }
  return "?";
}

void put_delays(Text& text, const Modules& modules) {
  for (uint32_t i = 0; i < stores::delayed_count(); i++) {
    const stores::Delayed& one = stores::delayed(i);
    text.put("delay ")
        .put(uint64_t{i})
        .put(" ")
        .put(uint64_t{one.after})
        .put(" ")
        .put(one.at)
        .put("~")
        .put(one.steps)
        .put(" ");
    text.hex(one.address).put(" ").put(uint64_t{one.size}).put(" ").hex(one.value).put(" ");
    text.put(uint64_t{one.stores}).put(" ").hex(one.code).put(" ");
    modules.put(text, one.code);
    text.put("\nvisible ").put(uint64_t{i}).put(" ").put(uint64_t{one.visible_after}).put(" ");
    text.put(one.visible_at).put(" ");
    text.put(name_of(one.cause)).put(" ").hex(one.visible_code).put(" ");
    modules.put(text, one.visible_code);
    text.put("\n");
  }
}

// The task that has the mutex that is waited for, or that ends where the C library waits for the
// end of a thread; kNoTask: it is not known.
TaskId holder_of(const Task& task) {
  const char* const what = task.order.wait_what ? task.order.wait_what : "";
  int owner = 0;
  if (equal_strings(what, "mutex")) {
    pthread_mutex_t mutex;
    if (sys::read_safely(&mutex, task.order.wait_address, sizeof mutex) == sizeof mutex)
      owner = mutex.__data.__owner;
  }
  const Shared& s = shared();
  for (TaskId i = 0; task.order.wait_address && i < s.order.high_task; i++) {
    const TaskIdentity& identity = s.tasks[i].identity;
    if (s.tasks[i].order.state == TaskState::kFree) continue;
    if (owner ? identity.virtual_tid == owner : identity.clear_child_tid == task.order.wait_address)
      return i;
  }
  return kNoTask;
}

// waits T WHAT ADDRESS [for U]
void put_waits(Text& text) {
  const Shared& s = shared();
  for (TaskId i = 0; i < s.order.high_task; i++) {
    const Task& task = s.tasks[i];
    if (task.order.state != TaskState::kBlocked) continue;
    text.put("waits ").put(uint64_t{g_run.tracks[i].number}).put(" ");
    for (const char* c = task.order.wait_what ? task.order.wait_what : "?"; *c; c++) {
      const char one[2] = {*c == ' ' ? '-' : *c, 0};
      text.put(one);
    }
    text.put(" ").hex(task.order.wait_address);
    if (const TaskId holder = holder_of(task); holder != kNoTask)
      text.put(" for ").put(uint64_t{g_run.tracks[holder].number});
    text.put("\n");
  }
}

void put_conflicts(Text& text) {
  constexpr uint32_t kMostAccesses = 20'000;
  for (uint32_t number = 0; number < g_run.function_count; number++)
    text.put("function ").put(uint64_t{number}).put(" ").hex(g_run.functions[number]).put("\n");
  uint32_t count = 0;
  const Accessed* const accessed = find_conflicts(count);
  for (uint32_t i = 0; i < count && i < kMostAccesses; i++) {
    text.put("access ").put(accessed[i].at).put(accessed[i].is_write ? " w " : " r ");
    text.hex(accessed[i].word * 8).put("\n");
  }
}

// Opened at once: the program may lose the right to. -1: there is none.
bool open_output(const char* path, int& descriptor) {
  descriptor = -1;
  if (!path[0]) return true;
  const long file =
      sys::raw(SYS_open, reinterpret_cast<long>(path), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (sys::failed(file)) {
    report("cannot write the schedule log %s (error %d)", path, int64_t{-file});
    return false;
  }
  descriptor = page::hide_descriptor(static_cast<int>(file));
  return true;
}

}  // namespace

bool read_schedule() {
  const int descriptor = options().schedule_memory;
  const long at =
      sys::raw(SYS_mmap, static_cast<long>(kSchedule), sizeof(ScheduleMemory), PROT_READ,
               MAP_SHARED | MAP_FIXED_NOREPLACE | MAP_NORESERVE, descriptor, 0);
  if (at != static_cast<long>(kSchedule)) {
    report("--order serial: cannot map the schedule's memory (error %d)", int64_t{-at});
    return false;
  }
  g_run.memory = reinterpret_cast<const ScheduleMemory*>(kSchedule);
  if (g_run.memory->magic != ScheduleMemory::kMagic) {
    report("--order serial: descriptor %d was closed by a program that is not under Weir",
           int64_t{descriptor});
    return false;
  }
  page::keep_hidden(descriptor);
  g_run.process = sys::raw(SYS_getpid);
  if (!open_output(g_run.memory->log_path, g_run.log)) return false;
  if (!open_output(g_run.memory->findings_path, g_run.findings)) return false;
  uint32_t wrong_at = 0;
  const char* wrong =
      parse_schedule(g_run.memory->text, g_run.schedule, switch_room(), kMaxSwitches, wrong_at);
  if (!wrong) return true;
  report("--schedule: %s, at its character %u", wrong, uint64_t{wrong_at} + 1);
  return false;
}

void parse_again() {
  uint32_t wrong_at = 0;
  parse_schedule(g_run.memory->text, g_run.schedule, switch_room(), kMaxSwitches, wrong_at);
}

int server() {
  const bool is_here =
      g_run.memory && g_run.memory->server_process == sys::raw(SYS_getpid) && !g_run.is_ended;
  return is_here ? g_run.memory->server : -1;
}

void begin_forked(translate::MadeBlocks* made) {
  g_run.process = sys::raw(SYS_getpid);
  g_run.made_blocks = made;
  parse_again();
}

void note_code_mapped() { g_modules.forget(); }
void prepare_forks() { mapped(); }

int findings_file() { return g_run.memory ? g_run.findings : -1; }

uint32_t processors() { return g_run.memory->processors; }

bool has_all_points() { return g_run.schedule.has_all_points; }

namespace {

uint64_t not_followed() {
  return (g_run.strategy ? g_run.strategy->not_followed() : 0) + stores::not_followed();
}

}  // namespace

void write_log(End how, int value) {
  if (!g_run.memory) return;
  if (const uint64_t missed = not_followed(); missed && !g_run.memory->log_path[0]) {
    report(
        "%u of the schedule's switches %s not followed: it is of another program or version, or "
        "of another input (weir hunt --schedule says where)",
        missed, missed == 1 ? "was" : "were");
  }
  if (g_run.log < 0) return;
  // A shell that runs the program keeps silent about itself.
  if (g_run.tasks < 2 && sys::raw(SYS_lseek, g_run.log, 0, SEEK_END) > 0) return;
  sys::raw(SYS_ftruncate, g_run.log, 0);
  sys::raw(SYS_lseek, g_run.log, 0, SEEK_SET);
  const Modules& modules = mapped();
  {
    Text text(g_run.log);
    text.put("weir-schedule 1\nschedule ");
    text.put(g_run.memory->text[0] ? g_run.memory->text : WEIR_SCHEDULE_VERSION ":default")
        .put("\n");
    put_list(text);
    uint64_t number = 0;
    for (uint32_t i = 0; i < g_run.changes; i++) {
      const Change& change = changes()[i];
      text.put("switch ").put(number++).put(" ").put(change.at).put(" ");
      text.put(uint64_t{change.target}).put(" ").put(name_of(change.reason)).put(" ");
      text.hex(change.address).put(" ");
      modules.put(text, change.address);
      text.put("\n");
    }
    put_delays(text, modules);
    text.put("steps ").put(g_run.contested).put("\nevents ").put(g_run.events);
    text.put("\ninstructions ").put(cost_so_far()).put("\ntasks ");
    text.put(g_run.tasks ? g_run.tasks : 1).put("\nswitches ").put(g_run.switches);
    put_counts(text.put("\ntask-steps"), g_run.contested_of);
    put_counts(text.put("task-events"), g_run.events_of);
    put_shared(text);
    put_states(text);
    text.put("not-followed ").put(not_followed()).put("\n");
    if (guard::g_is_on) {
      const guard::Counts& counts = guard::counts();
      text.put("heap ").put(counts.guarded).put(" ").put(counts.marked).put("\n");
    }
    if (g_run.schedule.look) put_conflicts(text);
    put_trail(text, modules);
    if (how == End::kDeadlock) put_waits(text);
    text.put("end ");
    switch (how) {
      case End::kExit: text.put("exit ").put(static_cast<uint64_t>(value)); break;
      case End::kSignal: text.put("signal ").put(static_cast<uint64_t>(value)); break;
      case End::kDeadlock: text.put("deadlock"); break;
      case End::kHeap: text.put("heap"); break;
      default: text.put("limit");
    }
    text.put("\n");
  }
}

}  // namespace weir::order::serial
