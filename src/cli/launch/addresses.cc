#include "cli/launch/addresses.h"

#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <fstream>

#include "cli/launch/start_tracer.h"
#include "loader/fixed_layout.h"

namespace weir::cli {
namespace {

constexpr unsigned long kAsk = 0xffffffff;

bool are_never_random() {
  std::ifstream file("/proc/sys/kernel/randomize_va_space");
  int value = 2;
  file >> value;
  return value == 0;
}

bool fixes_by_personality() {
  const int now = personality(kAsk);
  if (now == -1) return false;
  if (now & ADDR_NO_RANDOMIZE) return true;
  if (personality(static_cast<unsigned>(now) | ADDR_NO_RANDOMIZE) == -1) return false;
  personality(static_cast<unsigned>(now));
  return true;
}

// What loader/fixed_layout.h needs.
bool can_move() {
  rlimit stack{};
  unsigned size = 0;
  getrlimit(RLIMIT_STACK, &stack);
  if (stack.rlim_cur > loader::kMostStack) return false;
  if (prctl(PR_SET_MM, PR_SET_MM_MAP_SIZE, &size, 0, 0) != 0) return false;
  const pid_t tracer = start_tracer();
  dismiss_tracer(tracer);
  return tracer != 0;
}

}  // namespace

Addresses addresses() {
  static const Addresses kFound = fixes_by_personality() || are_never_random() ? Addresses::kKernel
                                  : can_move()                                 ? Addresses::kWeir
                                                                               : Addresses::kRandom;
  return kFound;
}

bool let_kernel_fix() {
  const int now = personality(kAsk);
  if (now != -1 && (now & ADDR_NO_RANDOMIZE)) return true;
  if (now != -1 && personality(static_cast<unsigned>(now) | ADDR_NO_RANDOMIZE) != -1) return true;
  return are_never_random();
}

void let_kernel_choose() {
  const int now = personality(kAsk);
  if (now != -1 && (now & ADDR_NO_RANDOMIZE))
    personality(static_cast<unsigned>(now) & ~static_cast<unsigned>(ADDR_NO_RANDOMIZE));
}

}  // namespace weir::cli
