// Whether what src/effects says of system calls is true of a program's own: runs it under
// ptrace, and before and after each call compares all memory that it can write. Each byte that the
// call changed must lie in a range of written_memory.
//
// usage: effects_trace PROGRAM ARGUMENT...
// Status 1: a byte is missing. Calls that record would refuse are listed; with EFFECTS_CALLS in the
// environment, all. A process is let go when it makes a thread, since what changes is then not the
// kernel's alone.

#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "effects/effects.h"

namespace {

using namespace weir::effects;

constexpr size_t kMaxWatched = 256 << 20;

pid_t g_program;

bool fetch_remote(void* to, uint64_t from, uint64_t size) {
  const iovec here{to, size}, there{reinterpret_cast<void*>(from), size};
  return process_vm_readv(g_program, &here, 1, &there, 1, 0) == static_cast<ssize_t>(size);
}

struct Area {
  uint64_t start;
  std::vector<uint8_t> bytes;
};

struct Mapping {
  uint64_t start, limit;
};

std::vector<Mapping> writable() {
  std::vector<Mapping> found;
  FILE* maps = fopen(("/proc/" + std::to_string(g_program) + "/maps").c_str(), "r");
  char line[4352], rights[8];
  uint64_t start, limit;
  while (maps && fgets(line, sizeof line, maps)) {
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s", &start, &limit, rights) == 3 &&
        !strncmp(rights, "rw", 2) && rights[3] == 'p') {
      found.push_back({start, limit});
    }
  }
  if (maps) fclose(maps);
  return found;
}

std::vector<Area> snapshot() {
  std::vector<Area> areas;
  size_t total = 0;
  for (const Mapping& mapping : writable()) {
    const size_t size = mapping.limit - mapping.start;
    if ((total += size) > kMaxWatched) break;
    Area area{mapping.start, std::vector<uint8_t>(size)};
    if (fetch_remote(area.bytes.data(), mapping.start, size)) areas.push_back(std::move(area));
  }
  return areas;
}

void collect(void* context, uint64_t address, uint64_t size) {
  static_cast<std::vector<Mapping>*>(context)->push_back({address, address + size});
}

// Whoever shares memory with the caller, or changes what is where, cannot be compared.
bool is_comparable(long number) {
  switch (number) {
    case SYS_mmap:
    case SYS_munmap:
    case SYS_mremap:
    case SYS_brk:
    case SYS_madvise:
    case SYS_mprotect:
    case SYS_execve:
    case SYS_execveat:
    case SYS_rt_sigreturn:
    case SYS_vfork:
    case SYS_clone:
    case SYS_clone3: return false;
    default: return true;
  }
}

size_t missing(const Request& request, const Before& before, long result,
               const std::vector<Area>& old) {
  std::vector<Mapping> visited;
  written_memory(request, before, result, collect, &visited);
  size_t count = 0;
  for (const Area& area : old) {
    std::vector<uint8_t> now(area.bytes.size());
    if (!fetch_remote(now.data(), area.start, now.size()) || now == area.bytes) continue;
    for (size_t i = 0; i < now.size(); i++) {
      if (now[i] == area.bytes[i]) continue;
      bool is_said = false;
      for (const Mapping& range : visited)
        is_said |= area.start + i >= range.start && area.start + i < range.limit;
      if (!is_said && count++ == 0) {
        const char* name = name_of(request.number);
        printf("%s(%#lx, %#lx, %#lx, %#lx, %#lx, %#lx) = %ld wrote at %#" PRIx64 "\n",
               name ? name : "?", request.a[0], request.a[1], request.a[2], request.a[3],
               request.a[4], request.a[5], result, area.start + i);
      }
    }
  }
  return count;
}

struct Process {
  Request request{};
  Before before{};
  std::vector<Area> old;
};

struct Counts {
  std::map<std::string, long> calls;
  std::set<std::string> refused;
  size_t missing = 0;
  long compared = 0;
};

void on_entry(Process& process, const __ptrace_syscall_info& state, Counts& counts) {
  Request& request = process.request;
  process.old = is_comparable(static_cast<long>(state.entry.nr)) ? snapshot() : std::vector<Area>{};
  if (state.entry.nr == SYS_restart_syscall) return;  // the call before goes on
  request.number = static_cast<long>(state.entry.nr);
  for (int i = 0; i < 6; i++) request.a[i] = static_cast<long>(state.entry.args[i]);
  const char* name = name_of(request.number);
  counts.calls[name ? name : std::to_string(request.number)]++;
  if (replay_of(request) == Replay::kRefuse) {
    char text[64];
    snprintf(text, sizeof text, "%s %#lx %#lx",
             name ? name : std::to_string(request.number).c_str(), request.a[0], request.a[1]);
    counts.refused.insert(text);
  }
  prepare(request, &process.before);
}

// What a stopped process is to be continued with: a signal, or -1 where it is to run on unwatched.
long on_stop(pid_t program, int status, std::map<pid_t, Process>& processes, Counts& counts) {
  Process& process = processes[program];
  const int event = status >> 16, signal = WSTOPSIG(status);
  if (event == PTRACE_EVENT_CLONE &&
      (process.request.number == SYS_clone3 || (process.request.a[0] & CLONE_VM)))
    return -1;
  if (event) return 0;
  if (signal != (SIGTRAP | 0x80)) return signal == SIGTRAP || signal == SIGSTOP ? 0 : signal;
  __ptrace_syscall_info state{};
  ptrace(static_cast<__ptrace_request>(PTRACE_GET_SYSCALL_INFO), program, sizeof state, &state);
  if (state.op == PTRACE_SYSCALL_INFO_ENTRY) {
    on_entry(process, state, counts);
  } else if (state.op == PTRACE_SYSCALL_INFO_EXIT && is_comparable(process.request.number)) {
    constexpr long kFirstRestart = -512, kLastRestart = -516;  // which only tracers see
    const long result = state.exit.rval;
    const bool is_restart = result <= kFirstRestart && result >= kLastRestart;
    counts.missing +=
        missing(process.request, process.before, is_restart ? -EINTR : result, process.old);
    counts.compared++;
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) return 2;
  const pid_t first = fork();
  if (first == 0) {
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    execvp(arguments[1], arguments + 1);
    _exit(127);
  }
  int status;
  waitpid(first, &status, 0);
  ptrace(PTRACE_SETOPTIONS, first, 0,
         PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
             PTRACE_O_TRACEVFORK);
  set_fetch(fetch_remote);
  ptrace(PTRACE_SYSCALL, first, 0, 0);

  std::map<pid_t, Process> processes;
  std::set<pid_t> threads;  // and what has them
  Counts counts;
  for (pid_t program; (program = waitpid(-1, &status, __WALL)) > 0;) {
    if (!WIFSTOPPED(status)) {
      processes.erase(program);
      threads.erase(program);
      continue;
    }
    g_program = program;
    if (threads.count(program)) {
      ptrace(PTRACE_DETACH, program, 0, 0);
      continue;
    }
    const long signal = on_stop(program, status, processes, counts);
    if (signal < 0) {
      unsigned long other = 0;
      ptrace(PTRACE_GETEVENTMSG, program, 0, &other);
      threads.insert(static_cast<pid_t>(other));
      ptrace(PTRACE_DETACH, program, 0, 0);
    } else {
      ptrace(PTRACE_SYSCALL, program, 0, signal);
    }
  }
  printf("%ld calls of %zu kinds compared, %zu bytes missing\n", counts.compared,
         counts.calls.size(), counts.missing);
  for (const std::string& one : counts.refused) printf("refused: %s\n", one.c_str());
  if (getenv("EFFECTS_CALLS")) {
    for (const auto& [name, times] : counts.calls) printf("%8ld %s\n", times, name.c_str());
  }
  return counts.missing ? 1 : 0;
}
