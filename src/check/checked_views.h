// The Views of weir check, with and without keys, as the rest of the runtime sees them.
#pragma once

#include "check/core/check.h"
#include "check/core/rights.h"
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

// weir check --enforcer=mpk: tasks are threads, and a register says what each may touch.
class Keys final : public View {
 public:
  void close_tracking() override { checked::close_tracking(); }
  void release_before_sleep(Task& task, bool) override { open_keys(task); }
  void touch(uint64_t start, uint64_t size, bool writes) override {
    checked::touch(start, size, writes);
  }
  void forget(uint64_t start, uint64_t size) override { checked::forget(start, size); }
  bool claim_signal(Task& task, int signal, const siginfo_t& info, ucontext_t& context) override {
    return trap::on_key_signal(task, signal, info, context);
  }
  void open_keys(Task& task) override {
    if (keys::g_on) keys::open(task);
  }
  void enter_program(Task& task) override {
    if (keys::g_on) keys::close(task);
  }
  void hold_still() override {
    if (keys::g_on) keys::hold_still();
  }
  void go_on() override {
    if (keys::g_on) keys::go_on();
  }
  void open_in_child() override {
    if (keys::g_on) keys::open_in_child();
  }
};

}  // namespace weir::view::checked
