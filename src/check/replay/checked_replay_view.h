// The View of a replay that is checked, as the rest of the runtime sees it.
#pragma once

#include "check/core/check.h"
#include "check/replay/fault.h"
#include "check/replay/replay.h"
#include "view/coherent/coherent_view.h"

namespace weir::view::checked {

// weir replay --check: View coherent repeats the run, and beside it accesses are checked. The run's
// View from replay::start() to replay::stop().
class CheckedReplay final : public coherent::Coherent {
 public:
  void close_tracking() override {
    replay::stop();
    Coherent::close_tracking();
  }
  void touch(uint64_t start, uint64_t size, bool writes) override {
    Coherent::touch(start, size, writes);
    replay::touch(self(), start, size, writes);
  }
  void forget(uint64_t start, uint64_t size) override {
    Coherent::forget(start, size);
    checked::forget(start, size);
  }
  bool claim_access(Task& task, int signal, const siginfo_t& info, ucontext_t& context) override {
    return trap::on_replayed_signal(task, signal, info, context) ||
           Coherent::claim_access(task, signal, info, context);
  }
  void enter_program(Task&) override { replay::close_borrowed(); }
};

}  // namespace weir::view::checked
