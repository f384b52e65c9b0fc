// The weir command leaves one child behind: the process that fixed AT_RANDOM at execve and has
// replaced the results of the loader's rdtsc since (src/cli/launch/start_tracer.cc). Here, before
// any other code of the program runs, rdtsc is allowed again, and the child is ended and waited
// for, so the program never meets it. It is taken out of the environment, so that a program which
// this one executes does not look for it. The arguments are the loader's: libc has not set
// `environ` yet.
#include <elf.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/bytes.h"
#include "constant/layout.h"
#include "control/options.h"
#include "sys/libc.h"
#include "sys/syscall_x86_64.h"
#include "task/exec/environment.h"

namespace weir {
namespace {

// The text after `prefix` in `text`, or null.
char* after(char* text, const char* prefix) {
  while (*prefix != 0) {
    if (*text++ != *prefix++) return nullptr;
  }
  return text;
}

void end_tracer(long pid) {
  sys::raw(SYS_prctl, PR_SET_TSC, PR_TSC_ENABLE);
  if (sys::raw(SYS_wait4, pid, 0, WNOHANG | __WALL) != 0)
    return;  // gone already, or never a child of ours
  sys::raw(SYS_kill, pid, SIGKILL);
  sys::raw(SYS_wait4, pid, 0, __WALL);
}

// Takes the number behind `key` out of the options, which stay as long as they were: what differs
// from run to run may not stay in the program's environment, which is memory too. 0 where there is
// none.
long take_number(char* options, const char* key) {
  for (char* at = options; *at != 0; ++at) {
    char* digits = at == options || at[-1] == ',' ? after(at, key) : nullptr;
    if (digits == nullptr) continue;
    long number = 0;
    for (; *digits >= '0' && *digits <= '9'; ++digits) {
      number = number * 10 + (*digits - '0');
      *digits = '0';
    }
    return number;
  }
  return 0;
}

// A program that another one has executed has had no tracer. Nothing is guarded yet: the loader
// itself uses neither guard. Old C libraries may have guarded pointers: there that guard stays as
// the kernel gave it.
void fix_random_bytes(char** environment) {
  constexpr uint64_t kStackGuard = 0x28, kPointerGuard = 0x30;  // from the thread's base
  const uint64_t seed = options().seed;
  const uint64_t words[2] = {constant::image_random(seed, kRandomBytes, 0),
                             constant::image_random(seed, kRandomBytes, 1)};
  while (*environment != nullptr) ++environment;
  for (auto* entry = reinterpret_cast<Elf64_auxv_t*>(environment + 1); entry->a_type != AT_NULL;
       ++entry) {
    if (entry->a_type == AT_RANDOM)
      copy_bytes(reinterpret_cast<void*>(entry->a_un.a_val), words, sizeof words);
  }
  const uint64_t base = sys::fs_base_untouched();
  *reinterpret_cast<uint64_t*>(base + kStackGuard) = words[0];
  if (!libc::has_guarded_pointers()) *reinterpret_cast<uint64_t*>(base + kPointerGuard) = words[1];
}

[[gnu::constructor(101)]] void at_first(int, char**, char** environment) {
  if (!options().passive())
    fix_random_bytes(environment);  // and the options are read before anything is taken out
  long tracer = 0;
  for (char** variable = environment; *variable != nullptr && tracer == 0; ++variable) {
    char* text = after(*variable, "WEIR_OPTIONS=");
    if (text == nullptr) continue;
    take_number(text, "delay=");
    tracer = take_number(text, "tracer=");
  }
  if (tracer > 0) end_tracer(tracer);
  tasks::take_environment(environment);
}

}  // namespace
}  // namespace weir
