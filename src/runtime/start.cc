// The life of a program under Weir, in order: its first allocation maps the runtime's memory; the
// library's constructor patches the system call sites; the first pthread_create turns memory into
// the backing, threads into tasks; its exit prints what was asked for.

#include <asm/hwcap2.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "base/bytes.h"
#include "check/core/attach.h"
#include "check/core/enforce_by_key.h"
#include "check/replay/attach.h"
#include "check/replay/replay.h"
#include "check/serial/races.h"
#include "code/patch/cancel_site.h"
#include "code/patch/interpreter.h"
#include "code/patch/patch.h"
#include "code/program/copying_text.h"
#include "code/program/text_patches.h"
#include "code/sites/site_table.h"
#include "code/translate/counted.h"
#include "code/translate/seek.h"
#include "constant/constant.h"
#include "control/control.h"
#include "control/options.h"
#include "control/process.h"
#include "heap/heap.h"
#include "memory/backing.h"
#include "order/serial/serial.h"
#include "order/waiting.h"
#include "record/input.h"
#include "record/pause.h"
#include "record/stream.h"
#include "runtime/first_thread.h"
#include "runtime/orders.h"
#include "runtime/serve/fork_server.h"
#include "runtime/views.h"
#include "signal/signals.h"
#include "signal/spin_probe.h"
#include "stats/exit_report.h"
#include "sync/event.h"
#include "sync/fast_path.h"
#include "sync/turn.h"
#include "sync/turn_rules.h"
#include "sys/futex.h"
#include "sys/libc.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"
#include "syscall/syscall.h"
#include "task/control_layout.h"
#include "task/exec/outside.h"
#include "task/fork.h"
#include "task/spawn.h"
#include "view/view.h"

namespace weir {

namespace runtime {

bool g_intercepting = false;
uint32_t g_process = 0;
bool g_is_in_place_process = false;
bool g_away = false;
uint32_t g_processors = 1;

namespace {

uint32_t count_processors() {
  uint64_t mask[16] = {};
  long bytes = sys::raw(SYS_sched_getaffinity, 0, sizeof mask, reinterpret_cast<long>(mask));
  uint32_t count = 0;
  for (long i = 0; i < bytes / 8; i++)
    count += static_cast<uint32_t>(__builtin_popcountll(mask[i]));
  return count ? count : 1;
}

// A program may close its standard error before it ends, or open something else by that number.
// What is to be said at its end goes to what it had at the start.
void open_log() {
  if (!options().log_path[0]) {
    if (!options().stat && !options().fingerprint) return;
    const long copy = sys::raw(SYS_fcntl, 2, F_DUPFD_CLOEXEC, 3);
    if (!sys::failed(copy)) set_report_descriptor(page::hide_descriptor(static_cast<int>(copy)));
    return;
  }
  long file = sys::raw(SYS_open, reinterpret_cast<long>(options().log_path),
                       O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (sys::failed(file)) {
    report("cannot write the log file %s (error %d)", options().log_path, int64_t{-file});
    die(125);
  }
  set_report_descriptor(page::hide_descriptor(static_cast<int>(file)));
}

// Memory of the runtime and of the arena. From the first allocation, before any constructor.
bool ensure_memory() {
  static bool tried = false, good = false;
  if (tried) return good;
  tried = true;
  decide_plan();
  use_view();
  sys::g_reads_fs_base = getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE;
  good = tasks::map_control() && (!plan().has_processes() || page::create_backing());
  if (!good) die(125);
  return good;
}

bool grow_heap(uint32_t heap, size_t segments, uint64_t* start) {
  if (g_tasks_active && segments == 1 && shared().heap.reserve[heap]) {
    *start = shared().heap.reserve[heap];
    shared().heap.reserve[heap] = 0;
    // Counting ends at a system call, and whether one is made here depends on what this process has
    // looked at (view/).
    if (!is_in_gap(self()) && !has_turn_between_events(self())) page::dump_used();
    return true;
  }
  if (!is_task()) {
    const bool taken = heap_take_segments(segments, start);
    page::dump_used();
    return taken;
  }
  return weir_upcall(
             [](long count, long result, long) -> long {
               begin_turn(EventKind::kHeap);
               uint64_t at = 0;
               bool taken = heap_take_segments(static_cast<size_t>(count), &at);
               page::dump_used();
               end_turn();
               *reinterpret_cast<uint64_t*>(result) = at;
               return taken;
             },
             static_cast<long>(segments), reinterpret_cast<long>(start), 0) != 0;
}

}  // namespace

void go_multi() {
  Shared& s = shared();
  const uint64_t begin = sys::monotonic_ns();
  recording::begin_start();
  tasks::leave_meeting();
  FirstThread& first = first_thread();
  g_processors = first.processors(count_processors());
  use_order();
  use_turn_rules();
  order::set_watch(trap::spin_sees_change);
  first.watch();
  recording::keep_order();
  syscalls::choose_handled(true);
  first.convert_memory();
  s.program.multi = 1;
  first.share_sites();
  // Before the split: the pages that it changes are then this process's alone. Unrecorded, what was
  // loaded meanwhile comes to the runtime from now on.
  const bool is_late = s.memory.text_pending || first.has_unseen_text();
  s.memory.text_pending = 0;
  if (plan().orders_atomics() || is_late)
    patch_all(later_patch_kinds() | (is_late ? first_patch_kinds() : PatchKinds{}));
  first.begin_translation();
  first.split();
  s.mapping_log.sequence = 0;
  s.processes.entries[g_process].mapping_sequence = 0;
  g_tasks_active = true;
  choose_fast_path();
  order::start(self());
  first.begin(self());
  note_first_thread();
  recording::end_start();
  s.spent.conversions_us += (sys::monotonic_ns() - begin) / 1000;
}

void go_single() { syscalls::choose_handled(false); }

}  // namespace runtime

// The heap asks where it lies, at the first allocation of the process.
HeapConfig heap_config() {
  runtime::ensure_memory();
  HeapConfig config{};
  if (!plan().has_processes()) {
    long at = sys::raw(SYS_mmap, static_cast<long>(kArena), static_cast<long>(kHeapSize),
                       PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (at != static_cast<long>(kArena)) {
      report(
          "cannot reserve address space for the heap (error %d): is a limit set (ulimit -v, ulimit "
          "-d)?",
          int64_t{-at});
      die(125);
    }
    page::dump_only_used();
  }
  config.reserve = Range{kArena, options().guards_heap ? kGuarded : kArena + kHeapSize};
  config.shared = reinterpret_cast<HeapShared*>(kHeapTable);
  config.grow = runtime::grow_heap;
  config.release = nullptr;
  return config;
}

namespace {

// Of what start() leaves on the program's stack, clocks and ids among it, nothing is to be found in
// a variable that the program does not initialize.
[[gnu::noinline]] void clear_stack_below() {
  volatile uint64_t words[4096];  // deeper than anything that start() calls there
  for (auto& word : words) word = 0;
}

__attribute__((constructor)) void start(int argc, char** argv, char**) {
  if (options().passive()) {
    if (options().stat || options().fingerprint) runtime::ensure_memory();
    return;
  }
  runtime::ensure_memory();
  input::use_table();
  recording::attach();
  if (!restore_interpreter()) report("the name of the loader cannot be put back"), die(125);
  if (!view::checked::replay::attach()) checking::attach();
  runtime::use_view();
  if (plan().has_keys() && !view::checked::keys::take_keys()) die(125);
  runtime::open_log();
  runtime::map_said();
  if (!libc::learn()) die(125);
  if (plan().is_serial()) {
    if (!order::serial::read_schedule()) die(125);
    view::checked::serial::attach();
    runtime::use_view();  // which looks at accesses, if races are looked for
    runtime::prepare_fork_server();
  }
  runtime::start_counts();
  if (!constant::attach()) die(125);
  shared().program.arguments = reinterpret_cast<uint64_t>(argv[0]);
  shared().program.stack_begin = reinterpret_cast<uint64_t>(argv) - sizeof(uint64_t);
  tasks::make_first(task_at(0));
  task_at(0).order.state = TaskState::kRunning;
  shared().order.high_task = 1;
  shared().order.live = 1;
  if (!libc::unregister_rseq()) die(125);
  syscalls::choose_handled(false);
  // On the runtime's stack: what is left there depends on whether plans were kept, and the
  // program's stack is its memory.
  weir_upcall(
      [](long, long, long) -> long { return runtime::patch_all(runtime::first_patch_kinds()), 0; },
      0, 0, 0);
  if (plan().is_serial()) runtime::note_copying_text();
  if (!find_cancel_site(runtime::libc_text())) libc::refuse("cancellation of threads"), die(125);
  trap::take_over();
  weir_upcall(
      [](long count, long vector, long) -> long {
        return recording::begin_image(static_cast<int>(count), reinterpret_cast<char**>(vector)), 0;
      },
      argc, reinterpret_cast<long>(argv), 0);
  page::dump_used();
  clear_stack_below();
  runtime::g_intercepting = true;
  checking::begin_program();
  recording::end_start();
  recording::stop_if_asked(self());  // before the program begins
}

}  // namespace
}  // namespace weir
