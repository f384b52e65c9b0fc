// What is wrapped around a call if inputs are constant. Its ids and limits become the kernel's, and
// then its result becomes the program's.
#include "syscall/constant.h"

#include <sys/syscall.h>

#include "constant/constant.h"

namespace weir::syscalls {

namespace {

long with_ids(Call& call, long (*make)(Call&)) {
  if (constant::shows_ids() && waits_for_owner(call)) return wait_for_owner(call, make);
  if (!constant::shows_ids() || !has_constant_ids(call.number)) {
    const long result = make(call);
    end_waited(call, result);
    return result;
  }
  RealIds ids(call);
  const long result = make(call);
  const long shown = ids.show(call, result);
  end_waited(call, result);
  return shown;
}

long with_time(Call& call, long (*make)(Call&)) {
  if (!constant::has_time() || !has_constant_time(call.number)) return with_ids(call, make);
  const TimePassed passed(call);
  RealLimit limit(call);
  go_where_it_belongs(call.number, call.a, call.b);  // readings of the clock were events
  const long result = with_ids(call, make);
  passed.note(call, result);
  if (result == 0 && tells_times(call.number)) show_use_times(call);
  return result;
}

}  // namespace

bool is_constant(long number) {
  switch (number) {
    case SYS_close:
    case SYS_dup2:
    case SYS_dup3:
    case SYS_close_range: return true;  // the descriptor of the run's memory stays open
    default: break;
  }
  return (constant::has_random() && has_constant_random(number)) ||
         (constant::has_time() && has_constant_time(number)) ||
         (constant::shows_ids() && (has_constant_ids(number) || number == SYS_futex));
}

long call_constant(Call& call, long (*make)(Call&)) {
  long result;
  if (constant::has_random() && answer_random(call, result)) return result;
  if (constant::has_time() && answer_time(call, result)) return result;
  return with_time(call, make);
}

}  // namespace weir::syscalls
