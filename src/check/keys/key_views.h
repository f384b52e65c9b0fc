// The Views of weir check --enforcer=mpk, as the rest of the runtime sees them. Tasks are threads,
// and a register says what each may touch.
// Implemented in enforce_by_key.cc.
#pragma once

#include "check/core/check.h"
#include "check/core/rights.h"
#include "view/view.h"

namespace weir::view::checked {

// No register follows what its task holds: before the first thread, and in a forked child. The keys
// are Weir's, and all are open.
class KeysAtRest : public View {
 public:
  void close_tracking() override { checked::close_tracking(); }
  void forget(uint64_t start, uint64_t size) override { checked::forget(start, size); }
  bool claim_signal(Task&, int, const siginfo_t&, ucontext_t&) override {
    keys::open_in_handler();
    return false;
  }

 protected:
  ~KeysAtRest() = default;
};

class Keys final : public KeysAtRest {
 public:
  void release_before_sleep(Task& task, bool) override { keys::open(task); }
  void touch(uint64_t start, uint64_t size, bool writes) override {
    checked::touch(start, size, writes);
  }
  bool claim_signal(Task& task, int signal, const siginfo_t& info, ucontext_t& context) override {
    keys::open_in_handler();
    return trap::on_key_signal(task, signal, info, context);
  }
  void open_keys(Task& task) override { keys::open(task); }
  void enter_program(Task& task) override { keys::close(task); }
  void hold_still() override { keys::hold_still(); }
  void go_on() override { keys::go_on(); }
  void open_in_child() override { keys::open_in_child(); }
};

// The View until keys::start(), and from keys::open_in_child() on.
KeysAtRest& keys_at_rest();

}  // namespace weir::view::checked
