// What the checker does with the accesses of this process's tasks. It is decided when the tasks
// begin: pages are closed to tasks (weir check), or keys are (--enforcer=mpk); accesses are looked
// at one by one (Order serial), or beside a replay. Until then, and in a forked child, nothing is
// checked: the defaults.
//
// Whether anything is checked at all the paths of every operation ask without a call
// (happens::g_checked). Behind that they ask here.
// Implemented in access_rules.cc, check/access.cc, check/escape.cc, check/start.cc,
// check/keys/key_rules.cc, check/serial/races.cc and check/replay/replay.cc.
#pragma once

#include "check/core/enforcer.h"
#include "check/core/state.h"

namespace weir::view::checked {

class Call;

class AccessRules {
 public:
  constexpr AccessRules() = default;
  AccessRules(const AccessRules&) = delete;
  AccessRules& operator=(const AccessRules&) = delete;

  // Tasks begin, and they are checked from here on.
  virtual void begin(Task&) {}

  // --- accesses: as the functions of check.h and happens_before.h that have these names

  virtual void touch(Task&, uint64_t /*start*/, uint64_t /*size*/, bool /*writes*/) {}
  virtual void on_atomic(Task&, const AccessSite&, const Access&) {}
  virtual void on_range(Task&, const AccessSite&, const Access&) {}
  virtual void borrow(Task&, uint64_t address, bool in_runtime);
  virtual bool is_untrapped(uint64_t /*start*/, uint64_t /*size*/, bool /*writes*/) { return true; }
  virtual void renew(uint64_t start, uint64_t size);

  // --- what the task may touch

  virtual void catch_up(Task&) {}
  virtual bool has_to_catch_up(const Task&) { return false; }
  // The program has given the memory back: what is declared there is over.
  virtual void on_given_back(uint64_t /*start*/, uint64_t /*size*/) {}
  // The locks that it holds have changed.
  virtual void on_locks_changed(Task&) {}
  virtual bool has_borrowed(const ThreadState&) { return false; }
  // It gives up what it has borrowed.
  virtual void leave(Task&, ThreadState&) {}
  virtual void end_library_call() {}
  virtual void open_objects() {}
  virtual void close_objects() {}

  // --- a task makes another

  // What they share is looked at from the beginning: what the argument leads to, and the innermost
  // frames of the creator's stack.
  virtual void share_stack(uint64_t /*argument*/) {}
  virtual void expose_frames(Task&, ThreadState&, uint64_t /*stack_pointer*/) {}
  virtual void await_creator(const Task&) {}

  // --- declared objects

  // The task has called a function of include/weir/weir.h.
  virtual void begin_call(Task&, ThreadState&);
  // A block of that policy may be one that the task has kept; it has so many bytes.
  virtual bool reuses(Policy policy) { return policy == Policy::kPrivate; }
  virtual uint64_t room_of(uint64_t size);
  virtual void take_over(Declared&, uint32_t /*index*/, Call&) {}
  // A block that the task has kept is given out, and not yet touched.
  virtual void open_reused(Declared&, uint32_t /*index*/, Task&, ThreadState&) {}

  // --- memory that the runtime reads, whichever task has it

  // False: it cannot be read.
  virtual bool read(void* /*to*/, uint64_t /*from*/, uint64_t /*size*/) { return false; }
  // Where the runtime sees the address.
  virtual const void* seen_at(uint64_t address) { return reinterpret_cast<const void*>(address); }
  // As much as there is of the program's stack from `rsp` on. Returns how many bytes.
  virtual uint32_t copy_stack(uint64_t rsp, uint8_t* to, uint32_t size);
  // The stack itself, where the task may read it as it is, and at most `count` words of it, which
  // becomes how many there are. Null: it must be copied.
  virtual const uint64_t* stack_in_place(uint64_t /*rsp*/, ThreadState&, uint32_t& /*count*/) {
    return nullptr;
  }

 protected:
  ~AccessRules() = default;
};

// What is declared in that memory, and what is noted of hazards there, is over.
void forget_declared(uint64_t start, uint64_t size);

// Program memory is the backing: the runtime reads it there.
class RulesInBacking : public AccessRules {
 public:
  void begin_call(Task&, ThreadState&) override;
  bool is_untrapped(uint64_t start, uint64_t size, bool writes) override;
  bool has_borrowed(const ThreadState& thread) override { return thread.borrowed_count != 0; }
  bool has_to_catch_up(const Task& task) override { return has_to_settle(task); }
  void on_given_back(uint64_t start, uint64_t size) override { forget_declared(start, size); }
  void leave(Task& task, ThreadState& thread) override { settle(task, thread); }
  bool read(void* to, uint64_t from, uint64_t size) override;
  const void* seen_at(uint64_t address) override;
  uint32_t copy_stack(uint64_t rsp, uint8_t* to, uint32_t size) override;

 protected:
  ~RulesInBacking() = default;
};

// Tasks are threads: a thread's stack is wherever the C library has mapped it.
class RulesOfThreads : public AccessRules {
 public:
  uint32_t copy_stack(uint64_t rsp, uint8_t* to, uint32_t size) override;
  const uint64_t* stack_in_place(uint64_t rsp, ThreadState& thread, uint32_t& count) override;

 protected:
  ~RulesOfThreads() = default;
};

extern AccessRules* g_access_rules;  // of this process
inline AccessRules& access_rules() { return *g_access_rules; }
inline void use(AccessRules& rules) { g_access_rules = &rules; }

AccessRules& unchecked_rules();
AccessRules& key_rules();

// --- what weir check does by pages (escape.cc, start.cc)

void share_stack(uint64_t argument);
void await_creator(const Task& task);

}  // namespace weir::view::checked
