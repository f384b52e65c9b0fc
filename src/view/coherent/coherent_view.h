// View coherent, as the rest of the runtime sees it.
#pragma once

#include "base/coherent_features.h"
#include "control/signals.h"
#include "memory/demand.h"
#include "view/coherent/coherent.h"
#include "view/view.h"

namespace weir::view::coherent {

// Not final: a replay that is checked looks at accesses beside it
// (check/replay/checked_replay_view.h).
class Coherent : public View {
 public:
  bool open_tracking() override { return coherent::open_tracking(); }
  void close_tracking() override { coherent::close_tracking(); }
  void track(uint64_t start, uint64_t size) override { coherent::track(start, size); }
  bool grant_requests(Task& task, bool stays_mapped) override {
    return coherent::grant_requests(task, stays_mapped);
  }
  bool grant_requests_unless_deferred(Task& task) override {
    return !coherent::defers_requests(task) && coherent::grant_requests(task);
  }
  // A task that spins on a page that it has must have it taken, which wakes it; a task that waits
  // for a page may have what its holder needs.
  void release_before_sleep(Task& task, bool stays_mapped) override {
    coherent::end_hold(task, false);
    coherent::end_run(task);
    if (uses(Optimization::kPreemption) || task.pages.spins_on_pages || task.pages.waits_for_page)
      coherent::grant_requests(task, stays_mapped);
    else coherent::release_all(task, stays_mapped);
  }
  void catch_up(Task& task) override { coherent::catch_up(task); }
  void release_all(Task& task) override { coherent::release_all(task); }
  void leave(Task& task) override {
    coherent::release_all(task);
    coherent::return_borrowed();
  }
  void touch(uint64_t start, uint64_t size, bool writes) override {
    coherent::touch(start, size, writes);
  }
  void forget(uint64_t start, uint64_t size) override { coherent::forget(start, size); }
  bool is_asked(const Task& task) override { return coherent::is_asked(task); }
  bool claim_access(Task& task, int signal, const siginfo_t& info, ucontext_t& context) override {
    return page::demand::is_fault(signal, info, context) &&
           trap::meet_page(task, reinterpret_cast<uint64_t>(info.si_addr), context);
  }
  void borrow_all() override { coherent::borrow_all(); }
  void return_borrowed() override { coherent::return_borrowed(); }
};

}  // namespace weir::view::coherent
