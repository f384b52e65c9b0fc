// The weir command leaves one child behind: the process that fixed AT_RANDOM at execve and has answered the loader's
// rdtsc since (src/cli/start_tracer.cc). Here, before any other code of the program runs, rdtsc is allowed again and the
// child is ended and waited for, so that the program never meets it; it is forgotten in the environment, so that a
// program which this one executes does not look for it. The arguments are the loader's: libc has not set `environ` yet.
#include <elf.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/bytes.h"
#include "base/options.h"
#include "sys/syscall_x86_64.h"

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
  if (sys::raw(SYS_wait4, pid, 0, WNOHANG | __WALL) != 0) return;  // gone already, or never a child of ours
  sys::raw(SYS_kill, pid, SIGKILL);
  sys::raw(SYS_wait4, pid, 0, __WALL);
}

// Takes the number behind `key` out of the options, which stay as long as they were: what differs from run to run may not
// stay in the program's environment, which is memory too. 0 where there is none.
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

void take_out(char** variable) {
  do variable[0] = variable[1];
  while (*variable++ != nullptr);
}

// The C library has read how many stacks of ended threads it keeps (cli/launch.cc), and the program finds the variable as it was.
void take_out_tunable(char** environment) {
  for (; *environment != nullptr; ++environment) {
    char* text = after(*environment, "GLIBC_TUNABLES=");
    if (text == nullptr) continue;
    char* end = text;
    while (*end != 0) ++end;
    constexpr size_t kLength = sizeof kStackTunable - 1;
    if (static_cast<size_t>(end - text) < kLength || after(end - kLength, kStackTunable) == nullptr) return;
    char* ours = end - kLength;
    const bool others = ours > text && ours[-1] == ':';
    zero_bytes(others ? ours - 1 : *environment, static_cast<size_t>(end - (others ? ours - 1 : *environment)));
    if (!others) take_out(environment);
    return;
  }
}

// The loader keeps to it, for what the program loads later too.
void take_out_bind_now(char** environment) {
  for (; *environment != nullptr; ++environment) {
    const char* rest = after(*environment, kBindNow);
    if (rest == nullptr || *rest != 0) continue;
    zero_bytes(*environment, sizeof kBindNow - 1);
    take_out(environment);
    return;
  }
}

// A program that another one has executed has had no tracer. Nothing is guarded yet: the loader itself uses neither guard.
void fix_random_bytes(char** environment) {
  constexpr uint64_t kStackGuard = 0x28, kPointerGuard = 0x30;  // from the thread's base
  while (*environment != nullptr) ++environment;
  for (auto* entry = reinterpret_cast<Elf64_auxv_t*>(environment + 1); entry->a_type != AT_NULL; ++entry) {
    if (entry->a_type == AT_RANDOM) copy_bytes(reinterpret_cast<void*>(entry->a_un.a_val), kRandomBytes, sizeof kRandomBytes);
  }
  const uint64_t base = sys::fs_base_untouched();
  *reinterpret_cast<uint64_t*>(base + kStackGuard) = kRandomBytes[0];
  *reinterpret_cast<uint64_t*>(base + kPointerGuard) = kRandomBytes[1];
}

[[gnu::constructor(101)]] void at_first(int, char**, char** environment) {
  if (!options().passive()) fix_random_bytes(environment);  // and the options are read before anything is taken out
  take_out_tunable(environment);
  take_out_bind_now(environment);
  for (; *environment != nullptr; ++environment) {
    char* text = after(*environment, "WEIR_OPTIONS=");
    if (text == nullptr) continue;
    take_number(text, "delay=");
    const long pid = take_number(text, "tracer=");
    if (pid > 0) end_tracer(pid);
    return;
  }
}

}  // namespace
}  // namespace weir
