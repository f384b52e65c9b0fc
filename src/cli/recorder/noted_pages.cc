#include "cli/recorder/noted_pages.h"

#include "cli/recorder/replayed_run.h"

namespace weir::cli {
namespace {

using findings::Pass;

Replayed run_pass(const recording::Recording& recording, const FindingsMemory& notes, Pass pass) {
  notes.findings().pass = pass;
  Replayed replayed{};
  replay_once({}, recording, "/dev/null", {&notes, true, [&](const Replayed& how) {
                                             replayed = how;
                                             return 0;
                                           }});
  return replayed;
}

}  // namespace

int note_pages(const recording::Recording& recording, const FindingsMemory& found) {
  const FindingsMemory notes, orders;
  const Replayed noted = run_pass(recording, notes, Pass::kNotes);
  if (noted.interrupt) return noted.interrupt;
  orders.take_touched(notes);
  const Replayed ordered = run_pass(recording, orders, Pass::kOrders);
  // What it did not see may be in no order.
  if (!ordered.is_same) orders.add_to_touched(findings::kTouchedInNoOrder);
  found.take_touched(orders);
  found.findings().pass = Pass::kChecks;
  return ordered.interrupt;
}

}  // namespace weir::cli
