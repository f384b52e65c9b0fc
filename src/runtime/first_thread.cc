#include "runtime/first_thread.h"

#include "check/core/attach.h"
#include "check/core/check.h"
#include "check/core/hazards.h"
#include "check/keys/rehasher.h"
#include "check/replay/replay.h"
#include "check/serial/races.h"
#include "code/sites/site_table.h"
#include "code/translate/counted.h"
#include "code/translate/seek.h"
#include "code/translate/step.h"
#include "control/plan.h"
#include "control/record_mode.h"
#include "memory/backing.h"
#include "order/serial/serial.h"
#include "order/waiting.h"
#include "record/shared_memory.h"
#include "runtime/serve/fork_server.h"
#include "sys/report.h"
#include "syscall/syscall.h"
#include "task/fork.h"
#include "view/view.h"

namespace weir::runtime {

void FirstThread::share_sites() { weir::share_sites(); }

bool FirstThread::has_unseen_text() { return !input::is_on(); }

void FirstThread::begin(Task& task) {
  if (checking::is_replayed()) view::checked::replay::start(task);
}

namespace {

// All processes use what was this one's.
void translate_in_all() {
  translate::forget_own_cache();
  translate::start(reinterpret_cast<uint64_t>(&weir_site_entry),
                   reinterpret_cast<uint64_t>(&weir_upcall));
}

class Threads final : public FirstThread {};
constinit Threads g_threads;

class SerialThreads final : public FirstThread {
 public:
  uint32_t processors(uint32_t usable) override {
    const uint32_t scheduled = order::serial::processors();
    return scheduled ? scheduled : usable;
  }
  void begin_translation() override {
    translate_in_all();
    translate::count_steps(order::serial::has_all_points());
  }
  void split() override { serve_forks(); }
  void begin(Task& task) override { view::checked::serial::start(task); }
};
constinit SerialThreads g_serial;

class KeyedThreads final : public FirstThread {
 public:
  void watch() override { order::set_on_deadlock(hazards::report_deadlock); }
  void begin(Task& task) override {
    view::checked::start(task);
    start_rehasher();
  }
};
constinit KeyedThreads g_keyed;

class Processes : public FirstThread {
 public:
  void convert_memory() override {
    if (syscalls::check_arena(1) != 0) die(125);
    map_backing();
    page::convert_all();
    shared_memory::close_again();
    page::map_shared_view();
  }
  void share_sites() override {}
  bool has_unseen_text() override { return false; }
  void split() override {
    syscalls::say_timer_is_left();
    tasks::split_monitor();
    if (!view::current().open_tracking()) die(125);
  }

 protected:
  ~Processes() = default;
  // Pages are given to tasks on demand.
  virtual void map_backing() { page::map_in_place_everywhere(); }
};

class IsolatedProcesses final : public Processes {
 public:
  void begin_translation() override { translate_in_all(); }

 private:
  void map_backing() override {}
};
constinit IsolatedProcesses g_isolated;

class CheckedProcesses final : public Processes {
 public:
  void watch() override { order::set_on_deadlock(hazards::report_deadlock); }
  void begin(Task& task) override { view::checked::start(task); }
};
constinit CheckedProcesses g_checked;

class CoherentProcesses final : public Processes {};
constinit CoherentProcesses g_coherent;

}  // namespace

FirstThread& first_thread() {
  switch (plan().memory) {
    case Plan::Memory::kDirect: break;
    case Plan::Memory::kIsolated: return g_isolated;
    case Plan::Memory::kCoherent: return g_coherent;
    case Plan::Memory::kChecked: return g_checked;
    case Plan::Memory::kKeys: return g_keyed;
  }
  if (plan().is_serial()) return g_serial;
  return g_threads;
}

}  // namespace weir::runtime
