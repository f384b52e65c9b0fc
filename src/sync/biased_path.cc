// View isolated: locks that one task alone uses, and releases that others see later
// (sync/biased_lock.h).
#include "memory/backing.h"
#include "sync/biased_lock.h"
#include "sync/coalesce.h"
#include "sync/event.h"
#include "sync/fast_path.h"
#include "sync/turn.h"

namespace weir {
namespace {

class Biased final : public FastPath {
 public:
  bool is_sole(Task& task, uint64_t address) override {
    // A handler of a signal, while the task makes another: it has no turn.
    if (is_creating(task)) return operates_by_bias(task, address);
    if (!task.turn.depth) return takes_by_bias(task, address);
    return FastPath::is_sole(task, address) && !has_bias_elsewhere(task, address);
  }
  Result try_in_program(Task& task, Operation& operation) override {
    return operation.make_unpublished(task);
  }
  Result try_once(Task& task, Operation& operation) override {
    return operation.make_unpublished(task);
  }
  bool leaves_out(Task& task, const Operation& operation, bool is_sole) override {
    if (!operation.is_idle()) return false;
    if (is_in_gap(task)) return goes_on(task, 0);
    return is_sole || goes_without_event(task);
  }
  // What is none of the backing's is seen by all at once.
  void use(Task& task, uint64_t object, bool is_lock) override {
    if (is_creating(task) && !has_bias_elsewhere(task, object)) return;
    need_turn();
    use_object(object, is_lock && page::backing_bytes_at(object) != 0);
  }
  void note_release(uint64_t lock) override { weir::note_release(lock); }
  void note_failed_try(uint64_t lock) override { bias_table().note_wait(object_at_word(lock)); }
};

constinit Biased g_biased;

}  // namespace

FastPath& biased_path() { return g_biased; }

}  // namespace weir
