// The View of weir check, as the rest of the runtime sees it.
#pragma once

#include "check/core/check.h"
#include "check/fault.h"
#include "memory/demand.h"
#include "view/view.h"

namespace weir::view::checked {

// weir check: each task has page tables of its own.
class Checked final : public View {
 public:
  bool open_tracking() override { return checked::open_tracking(); }
  void close_tracking() override { checked::close_tracking(); }
  void track(uint64_t start, uint64_t size) override { checked::track(start, size); }
  bool grant_requests_unless_deferred(Task& task) override {
    if (!task.pages.holds_call) checked::catch_up(task);
    return false;
  }
  void release_before_sleep(Task& task, bool) override { checked::begin_wait(task); }
  void catch_up(Task& task) override { checked::catch_up(task); }
  bool has_to_catch_up(const Task& task) override { return checked::has_to_catch_up(task); }
  void leave(Task& task) override { checked::leave(task); }
  void touch(uint64_t start, uint64_t size, bool writes) override {
    checked::touch(start, size, writes);
  }
  void forget(uint64_t start, uint64_t size) override { checked::forget(start, size); }
  bool claim_access(Task& task, int signal, const siginfo_t& info, ucontext_t& context) override {
    return trap::on_checked_signal(task, signal, info, context);
  }
  void borrow_all() override { page::demand::borrow_all(); }
  void return_borrowed() override { page::demand::return_borrowed(); }
};

}  // namespace weir::view::checked
