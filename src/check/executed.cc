#include "check/executed.h"

#include <sys/stat.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "check/findings/findings.h"
#include "control/address_map.h"
#include "control/process.h"
#include "memory/program_memory.h"
#include "sys/syscall_x86_64.h"

namespace weir::checking {

constinit uint32_t g_image = 0;

namespace {

using findings::Executed;
using findings::Programs;

Programs& programs() { return reinterpret_cast<findings::Findings*>(kFindings)->programs; }

template <uint64_t kRoom>
void copy_name(char (&to)[kRoom], const char* from) {
  uint64_t length = string_length(from);
  if (length >= kRoom) length = kRoom - 1;
  copy_bytes(to, from, length);
  to[length] = 0;
}

bool change(Executed& program, uint32_t from, uint32_t to) {
  return __atomic_compare_exchange_n(&program.state, &from, to, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED);
}

}  // namespace

Execution::Execution(int pid, long name) {
  if (!plan().checks_races() || pid == kNoNote) return;
  Programs& all = programs();
  for (uint32_t i = 0; i < findings::kMaxExecuted; i++) {
    Executed& program = all.executed[i];
    if (program.state != Executed::kNone || !change(program, Executed::kNone, Executed::kFilled))
      continue;
    program.pid = pid;
    if (trap::string_from_program(program.name, name, sizeof program.name) < 0) program.name[0] = 0;
    program.name[sizeof program.name - 1] = 0;
    __atomic_store_n(&program.state, Executed::kBegun, __ATOMIC_RELEASE);
    note_ = i + 1;
    return;
  }
  __atomic_fetch_add(&all.lost, 1u, __ATOMIC_RELAXED);
}

Execution::~Execution() {
  if (note_) change(programs().executed[note_ - 1], Executed::kBegun, Executed::kNone);
}

void learn_image() {
  struct stat status {};
  constexpr char kSelf[] = "/proc/self/exe";
  sys::raw(SYS_stat, reinterpret_cast<long>(kSelf), reinterpret_cast<long>(&status));
  const uint64_t hash = mix(status.st_dev ^ mix(status.st_ino) ^
                            mix(static_cast<uint64_t>(status.st_mtim.tv_sec) << 30 ^
                                static_cast<uint64_t>(status.st_mtim.tv_nsec)) >>
                                1);
  g_image = static_cast<uint32_t>(hash >> 32) | 1;
}

void arrive_executed() {
  const auto pid = static_cast<int>(sys::raw(SYS_getpid));
  for (Executed& program : programs().executed) {
    if (__atomic_load_n(&program.state, __ATOMIC_ACQUIRE) == Executed::kBegun &&
        program.pid == pid && change(program, Executed::kBegun, Executed::kNone))
      return;
  }
}

bool note_outside(const char* name, const char* why) {
  if (!plan().checks_races()) return false;
  Programs& all = programs();
  for (const findings::OutsideProgram& known : all.outsider) {
    if (!__atomic_load_n(&known.ready, __ATOMIC_ACQUIRE)) break;
    if (equal_strings(known.name, name)) return true;
  }
  const uint32_t index = __atomic_fetch_add(&all.outside, 1u, __ATOMIC_ACQ_REL);
  if (index >= findings::kMaxOutside) return true;
  findings::OutsideProgram& program = all.outsider[index];
  copy_name(program.why, why);
  copy_name(program.name, name);
  __atomic_store_n(&program.ready, 1u, __ATOMIC_RELEASE);
  return true;
}

}  // namespace weir::checking
