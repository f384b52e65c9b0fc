// The View of a replay that is checked, as the rest of the runtime sees it.
#pragma once

#include "check/core/check.h"
#include "check/replay/fault.h"
#include "check/replay/replay.h"
#include "view/coherent/coherent_view.h"

namespace weir::view::checked {

// weir replay --check: View coherent repeats the run, and beside it accesses are checked.
class CheckedReplay final : public coherent::Coherent {
 public:
  void close_tracking() override {
    if (replay::is_on()) replay::stop();
    Coherent::close_tracking();
  }
  void touch(uint64_t start, uint64_t size, bool writes) override {
    Coherent::touch(start, size, writes);
    if (replay::is_on()) replay::touch(self(), start, size, writes);
  }
  void forget(uint64_t start, uint64_t size) override {
    Coherent::forget(start, size);
    if (replay::is_on()) checked::forget(start, size);
  }
  bool claim_access(Task& task, int signal, const siginfo_t& info, ucontext_t& context) override {
    return (replay::is_on() && trap::on_replayed_signal(task, signal, info, context)) ||
           Coherent::claim_access(task, signal, info, context);
  }
  void enter_program(Task&) override {
    if (replay::is_on()) replay::close_borrowed();
  }
};

}  // namespace weir::view::checked
