#include "shared_memory/exchange.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>

#include "control/record_mode.h"
#include "memory/backing.h"
#include "sys/syscall_x86_64.h"

namespace weir::shared_memory {
namespace {

class Unlogged final : public Exchange {};
constinit Unlogged g_unlogged;

}  // namespace

bool look_up(uint64_t address, sys::MapLine& line) {
  page::LimitLifted descriptors(RLIMIT_NOFILE);
  return sys::find_map_line(address, &line);
}

long Exchange::attach_there(Range range, int protection, long segment) {
  return sys::raw(SYS_shmat, segment, static_cast<long>(range.start),
                  SHM_REMAP | (protection & PROT_WRITE ? 0 : SHM_RDONLY));
}

void Exchange::close(const Held& held) {
  if (held.page != g_borrowed[0] && held.page != g_borrowed[1])
    page::protect(held.page, kPageSize, PROT_NONE);
}

Exchange& exchange() {
  switch (input::g_mode) {
    case input::Mode::kNone: break;
    case input::Mode::kRecord: return recorded_exchange();
    case input::Mode::kReplay: return replayed_exchange();
  }
  return g_unlogged;
}

}  // namespace weir::shared_memory
