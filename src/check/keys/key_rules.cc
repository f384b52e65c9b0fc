// What the checker does with accesses by protection keys (check/core/rights.h).
#include "check/core/access_rules.h"
#include "check/core/enforce_by_key.h"
#include "check/core/happens_before.h"
#include "check/policy/annotation_call.h"
#include "sys/memory.h"
#include "sys/syscall_x86_64.h"

namespace weir::view::checked {

namespace {

// weir check --enforcer=mpk: tasks are threads, and a register says what each may touch.
class ByKeys final : public RulesOfThreads {
 public:
  void begin(Task& task) override {
    happens::g_calls = happens::Calls::kPlain;
    keys::start(task);
  }

  void touch(Task& task, uint64_t start, uint64_t size, bool writes) override;
  void on_atomic(Task& task, const AccessSite& site, const Access& access) override {
    keys::judge(task, site, access);
  }
  void on_range(Task& task, const AccessSite& site, const Access& access) override {
    keys::judge(task, site, access);
  }
  bool is_untrapped(uint64_t start, uint64_t size, bool writes) override;

  void on_given_back(uint64_t start, uint64_t size) override { forget_declared(start, size); }
  void on_locks_changed(Task& task) override { keys::update(task); }
  bool has_borrowed(const ThreadState& thread) override { return keys::has_to_close(thread); }
  void leave(Task& task, ThreadState&) override { keys::close(task); }
  void end_library_call() override {
    if (happens::has_to_leave()) weir_upcall([](long, long, long) -> long { return 0; }, 0, 0, 0);
  }
  void open_objects() override { keys::open(self()); }
  void close_objects() override {
    if (keys::is_open(self())) keys::close(self());
    else if (thread_of(self()).is_register_old) keys::update(self());
  }

  // No page goes from one task to another.
  void begin_call(Task&, ThreadState& thread) override { end_joined_epoch(thread); }
  bool reuses(Policy policy) override {
    return policy == Policy::kPrivate || policy == Policy::kRacy;
  }
  uint64_t room_of(uint64_t size) override { return page_up(size); }
  void take_over(Declared& object, uint32_t index, Call& call) override {
    checked::take_over(object, index, call);
  }
  // The keys are there before it is touched.
  void open_reused(Declared& object, uint32_t index, Task& task, ThreadState& thread) override {
    enforcer().enforce(object, index, task, thread, false);
  }

  bool read(void* to, uint64_t from, uint64_t size) override {
    return sys::read_safely(to, from, size) == static_cast<long>(size);
  }
};
constinit ByKeys g_by_keys;

void ByKeys::touch(Task& task, uint64_t start, uint64_t size, bool writes) {
  keys::open(task);
  if (task.pages.holds_call && task.frame && moves_data(task.pages.holds_call - 1)) {
    keys::judge(task, access_site_of(*task.frame),
                {start, size, (writes ? findings::kWrite : findings::kRead) | findings::kByKernel});
  }
  if (writes) keys::borrow(task, start, size);
}

bool ByKeys::is_untrapped(uint64_t start, uint64_t size, bool) {
  if (start / ObjectTable::kZone == (start + size) / ObjectTable::kZone)
    return thread_of(self()).found.around(objects(), start).start >= start + size;
  const uint32_t index = objects().find_above(start);
  return !index || objects().at(index).start >= start + size;
}

}  // namespace

AccessRules& key_rules() { return g_by_keys; }

}  // namespace weir::view::checked
