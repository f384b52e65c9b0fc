// What include/weir/weir.h promises. A program finds these by name, so they are all that libweir.so
// shows of itself besides the functions of libc that it replaces.

#include "control/control.h"
#include "control/options.h"
#include "control/plan.h"
#include "control/process.h"
#include "control/served.h"
#include "order/serial/serial.h"
#include "sync/event.h"
#include "sys/report.h"

namespace weir {
namespace {

// Order serial: what has been said of where schedules begin. Per process.
bool g_is_said = false;

// The program is one of several tasks from here on, of which it has one. Its next steps are
// counted.
long begin_schedule(long, long, long) {
  served::g_place = "weir_hunt_start()";
  runtime::go_multi();
  begin_turn(EventKind::kOther);
  note_written();
  end_turn();
  return 0;
}

long say_late(long, long, long) {
  report(
      "weir_hunt_start() has no effect: the program has made a thread before, and schedules begin "
      "there");
  return 0;
}

}  // namespace
}  // namespace weir

extern "C" [[gnu::visibility("default")]] int weir_query_active() noexcept {
  return weir::options().present;
}

extern "C" [[gnu::visibility("default")]] void weir_query_hunt_start() noexcept {
  using namespace weir;
  if (!plan().is_serial() || g_is_said || !order::serial::is_scheduled_process()) return;
  if (is_borrower()) return;
  g_is_said = true;
  weir_upcall(g_tasks_active ? say_late : begin_schedule, 0, 0, 0);
}
