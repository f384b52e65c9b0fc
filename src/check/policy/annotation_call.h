// Within the checked View: a call of include/weir/weir.h, as it is answered, and the blocks that
// such calls give out and take back. Implemented in quarantine.cc.
#pragma once

#include "check/core/access_rules.h"
#include "check/core/declared.h"
#include "check/core/enforcer.h"
#include "check/core/happens_before.h"

namespace weir::view::checked {

class Call {
 public:
  explicit Call(const declared::Caller& caller) : task_(self()), thread_(thread_of(task_)) {
    site_.general[4] = caller.stack;
    site_.general[5] = caller.frame;
    site_.rip = caller.where;
    site_.is_call = true;
    access_rules().begin_call(task_, thread_);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  Task& task() { return task_; }
  ThreadState& thread() { return thread_; }
  const AccessSite& site() const { return site_; }
  uint32_t context() {
    if (!context_) context_ = context_of(site_);
    return context_;
  }
  Trace trace() { return trace_of(thread_, context()); }
  void misuse(findings::Misuse what, uint64_t address, const Declared* object = nullptr,
              uint32_t change = 0) {
    Access access{address, object ? object->size : 0, findings::kChange, context()};
    report_misuse(what, object, thread_, access, site_, change);
  }
  void misuse_of_lock(findings::Misuse what, uint64_t lock) {
    Access access{lock, 0, findings::kLockCall, context()};
    report_policy({}, thread_, access, site_, findings::Why::kMisuse, static_cast<uint32_t>(what),
                  0, undeclared_at(lock));
  }
  void fault(Declared& object, const Verdict& verdict, uint32_t change, uint32_t kind) {
    Access access{object.start, object.size, kind, context()};
    report_fault(object, verdict, thread_, access, site_, change);
  }

 private:
  Task& task_;
  ThreadState& thread_;
  AccessSite site_{};
  uint32_t context_ = 0;
};

// --- quarantine.cc

// The object is forgotten, and its memory goes back.
void let_go(uint32_t index, ThreadState& thread);
// The block is closed, and its memory goes back when others have been given back behind it.
void retire(uint32_t index, ThreadState& thread);
// Whether the task keeps the block that it gives back.
bool cache_block(uint32_t index, Call& call);
// A block that all tasks, or those with a lock, may touch becomes private to the task that gives it
// back, if that task will want it again. By protection keys. REQUIRES: the object's lock.
void take_over(Declared& object, uint32_t index, Call& call);
// A block that the task has kept is in use again, as if it were new. 0: there is none of that size.
uint64_t reuse_cached(uint64_t size, Policy policy, bool by_new, Call& call);

}  // namespace weir::view::checked
