// View coherent, as the rest of the runtime sees it.
#pragma once

#include "base/coherent_features.h"
#include "view/coherent/coherent.h"
#include "view/view.h"

namespace weir::view::coherent {

// Not final: a replay that is checked looks at accesses beside it (check/checked_views.h).
class Coherent : public View {
 public:
  bool open_tracking() override { return coherent::open_tracking(); }
  void close_tracking() override { coherent::close_tracking(); }
  void track(uint64_t start, uint64_t size) override { coherent::track(start, size); }
  bool serve(Task& task, bool stays_mapped) override { return coherent::serve(task, stays_mapped); }
  bool serve_unless_kept(Task& task) override {
    return !coherent::keeps_pages(task) && coherent::serve(task);
  }
  // A task that spins on a page that it has must have it taken, which wakes it; a task that waits
  // for a page may have what its holder needs.
  void serve_before_sleep(Task& task, bool stays_mapped) override {
    if (uses(Optimization::kPreemption) || task.pages.spins_on_pages || task.pages.waits_for_page)
      coherent::serve(task, stays_mapped);
    else coherent::hand_out(task, stays_mapped);
  }
  void catch_up(Task& task) override { coherent::catch_up(task); }
  void hand_out(Task& task) override { coherent::hand_out(task); }
  void leave(Task& task) override {
    coherent::hand_out(task);
    coherent::take_home();
  }
  void touch(uint64_t start, uint64_t size, bool writes) override {
    coherent::touch(start, size, writes);
  }
  void forget(uint64_t start, uint64_t size) override { coherent::forget(start, size); }
  void lend_all() override { coherent::lend_all(); }
  void take_home() override { coherent::take_home(); }
};

}  // namespace weir::view::coherent
