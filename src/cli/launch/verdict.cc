// Each means is tried itself, as small as possible (cli/launch/probe.cc), and only where a verdict
// depends on it: a run that is not refused pays some microseconds.
#include "cli/launch/verdict.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/seccomp.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "cli/common/failure.h"
#include "cli/launch/addresses.h"
#include "cli/launch/probe.h"
#include "loader/fixed_layout.h"

namespace weir::cli {
namespace {

bool exists(const char* path) { return access(path, F_OK) == 0; }

std::string line_with(const char* file, const std::string& key) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with(key)) return line.substr(key.size());
  }
  return "";
}

bool has_filter() {
  const std::string mode = line_with("/proc/self/status", "Seccomp:");
  return mode.find('2') != std::string::npos;
}

// What helps against the filter of a container. `capability`: one that does it too, or null.
std::string unfiltered(const std::string& call, const char* capability = nullptr) {
  if (getenv("KUBERNETES_SERVICE_HOST"))
    return fmt::format(
        "securityContext.seccompProfile.type: Unconfined, or a profile that allows {}", call);
  const char* command = exists("/run/.containerenv") ? "podman run"
                        : exists("/.dockerenv")      ? "docker run"
                                                     : "docker run or podman run";
  return fmt::format("{}{} --security-opt seccomp=unconfined, or with a profile that allows {}",
                     command, capability ? fmt::format(" --cap-add={} or", capability) : "", call);
}

std::string is_refused(const std::string& call, int error) {
  return fmt::format("the system call {} is refused ({})", call, strerror(error));
}

Lack lacks_call(const std::string& call, int error, const std::string& kernel_mend) {
  if (error == EMFILE || error == ENFILE)
    return {"no descriptor is left (ulimit -n)", Cause::kLimit, "raise ulimit -n"};
  if (error == ENOSYS && !has_filter())
    return {fmt::format("this kernel has no {}", call), Cause::kKernel, kernel_mend};
  if (has_filter()) return {is_refused(call, error), Cause::kContainer, unfiltered(call)};
  if (geteuid() != 0)
    return {is_refused(call, error), Cause::kUser, "run it as root, or let users have it"};
  return {is_refused(call, error), Cause::kKernel, kernel_mend};
}

using Found = std::optional<Lack>;

Found lacks_pages(const std::string& view) {
  const bool is_isolated = view == "isolated";
  const Finding userfault = is_isolated ? asynchronous_userfault() : shared_userfault();
  if (!userfault.present && userfault.error) {
    return lacks_call("userfaultfd", userfault.error,
                      "a kernel built with it (Linux 6.7 for all of Weir)");
  }
  if (!userfault.present) {
    return Lack{is_isolated ? "this kernel's userfaultfd has no asynchronous write protection"
                            : "this kernel's userfaultfd does not serve shared memory",
                Cause::kKernel, is_isolated ? "Linux 6.7 or later" : "Linux 6.4 or later"};
  }
  if (is_isolated && !pagemap_scan().present) {
    return Lack{"this kernel has no PAGEMAP_SCAN", Cause::kKernel, "Linux 6.7 or later"};
  }
  return {};
}

Found lacks_file() {
  const Finding file = memory_file();
  if (file.present) return {};
  if (file.error == EFBIG)
    return Lack{"files of 2 TiB, of which little is used, are not allowed (File too large)",
                Cause::kLimit, "raise ulimit -f"};
  return lacks_call("memfd_create", file.error, "a kernel built with it");
}

Found lacks_addresses_to_reserve() {
  rlimit all{}, data{};
  getrlimit(RLIMIT_AS, &all);
  getrlimit(RLIMIT_DATA, &data);
  if (all.rlim_cur != RLIM_INFINITY && !address_space().present)
    return Lack{"3 TiB of addresses, of which little is used, cannot be reserved", Cause::kLimit,
                "raise ulimit -v"};
  if (data.rlim_cur != RLIM_INFINITY && data.rlim_cur < kReservedAddresses)
    return Lack{"2 TiB of data, of which little is used, cannot be reserved", Cause::kLimit,
                "raise ulimit -d"};
  if (!writable_address_space().present && !overcommit().present)
    return Lack{
        "the kernel counts reserved memory as used (vm.overcommit_memory=2), and Weir "
        "reserves 2 TiB, of which it uses little",
        Cause::kLimit, "as root: sysctl vm.overcommit_memory=0"};
  return {};
}

Found lacks_patching() {
  const Finding patching = text_patching();
  if (patching.present) return {};
  return Lack{"memory that was written to may not become executable", Cause::kContainer,
              "allow execmod to the program (SELinux), or take noexec from its security module"};
}

// What the process that traces needs beside ptrace: a child, and two pipes to it.
Found lacks_room_for_tracer() {
  int ends[4];
  const int opened = pipe2(ends, O_CLOEXEC) != 0 ? 0 : pipe2(ends + 2, O_CLOEXEC) != 0 ? 2 : 4;
  for (int i = 0; i < opened; i++) close(ends[i]);
  if (opened < 4)
    return Lack{"no descriptor is left for Weir's tracer", Cause::kLimit, "raise ulimit -n"};
  const pid_t child = fork();
  if (child == 0) _exit(0);
  if (child < 0)
    return Lack{"no process is left for Weir's tracer", Cause::kLimit, "raise ulimit -u"};
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {}
  return {};
}

Found lacks_tracing() {
  if (const Found room = lacks_room_for_tracer()) return room;
  static const Finding tracing = cli::tracing();
  if (tracing.present) return {};
  if (const int scope = ptrace_scope(); scope == 3)
    return Lack{"ptrace is switched off (kernel.yama.ptrace_scope=3)", Cause::kKernel,
                "set kernel.yama.ptrace_scope to 1 and start the machine again"};
  else if (scope == 2 && !has_filter())
    return Lack{"ptrace is root's alone (kernel.yama.ptrace_scope=2)", Cause::kUser,
                "run it as root, or as root: sysctl kernel.yama.ptrace_scope=1"};
  if (has_filter())
    return Lack{is_refused("ptrace", tracing.error), Cause::kContainer,
                unfiltered("ptrace", "SYS_PTRACE")};
  return lacks_call("ptrace", tracing.error, "a kernel that allows it");
}

Found lacks_fixed_addresses() {
  if (addresses() != Addresses::kRandom) return {};
  rlimit stack{};
  getrlimit(RLIMIT_STACK, &stack);
  const std::string what =
      "addresses are others in each run: the system call personality is refused";
  if (lacks_tracing())
    return Lack{
        what + ", and ptrace, by which Weir would fix them itself, too",
        has_filter() ? Cause::kContainer : Cause::kKernel,
        has_filter() ? unfiltered("personality and ptrace", "SYS_PTRACE") : "allow one of them"};
  if (stack.rlim_cur > loader::kMostStack)
    return Lack{what + ", and Weir cannot fix them itself under an unlimited ulimit -s",
                Cause::kLimit, "ulimit -s 8192"};
  return Lack{what + ", and this kernel does not let Weir fix them itself (prctl PR_SET_MM_MAP)",
              has_filter() ? Cause::kContainer : Cause::kKernel,
              has_filter() ? unfiltered("personality") : "a kernel with CONFIG_CHECKPOINT_RESTORE"};
}

void add(std::vector<Lack>& to, const Found& found) {
  if (found) to.push_back(*found);
}

// `is_whole`: also what makes the run's promise a lesser one.
Verdict judge(const std::string& command, const RunOptions& run, bool is_whole = true) {
  Verdict verdict;
  verdict.command = command;
  if (run.passive()) return verdict;
  const bool is_recorded = run.order == "record" || run.trace >= 0,
             has_pages = run.view != "direct" && !(run.view == "guarded" && run.enforcer == "mpk");
  add(verdict.refused, lacks_patching());
  if (has_pages || is_recorded || run.view == "guarded") add(verdict.refused, lacks_file());
  add(verdict.refused, lacks_addresses_to_reserve());
  if (run.deterministic() && (is_whole || is_recorded)) {
    std::vector<Lack>& to = is_recorded ? verdict.refused : verdict.lesser;
    const Found random = lacks_fixed_addresses(), tracing = lacks_tracing();
    if (random) add(to, random);
    else if (tracing)
      add(to, Lack{"the random bytes at a program's start are others in each run: " + tracing->what,
                   tracing->cause, tracing->mend});
  }
  if (!verdict.works() || !is_whole) return verdict;
  if (command == "replay") add(verdict.lesser, lacks_notification());
  if (has_pages) {
    const bool is_chosen = run.trace < 0 && wants_page_tables();
    const Found lack = is_chosen ? Found() : lacks_pages(run.view);
    verdict.means.push_back(is_chosen || lack ? "pages: mprotect" : "pages: userfaultfd");
    add(verdict.slower, lack);
  }
  if (run.deterministic())
    verdict.means.push_back(addresses() == Addresses::kWeir     ? "addresses: fixed by Weir"
                            : addresses() == Addresses::kKernel ? "addresses: fixed by the kernel"
                                                                : "addresses: random");
  return verdict;
}

RunOptions point(const std::string& order, const std::string& view) {
  RunOptions run;
  run.order = order;
  run.view = view;
  return run;
}

RunOptions recorded_at(const std::string& view) {
  return point(view == "isolated" ? "token" : "record", view);
}

Verdict judge_recorded(const std::string& command, const std::string& view) {
  RunOptions run = recorded_at(view);
  run.trace = 0;
  return judge(command, run);
}

std::string command_of(const RunOptions& run) {
  if (run.view == "guarded") return "check";
  if (run.order == "record" || run.trace >= 0) return "record";
  return run.order == "token" && run.view == "isolated" ? "det" : "run";
}

[[noreturn]] void refuse(const Verdict& verdict, const std::string& view) {
  std::string text = fmt::format("weir {} does not work here: ", verdict.command);
  for (const Lack& lack : verdict.refused)
    text += (&lack == &verdict.refused.front() ? "" : "; ") + text_of(lack);
  const std::string other = instead_of(verdict.command, view);
  if (!other.empty()) text += fmt::format(". What works here: {}", other);
  throw Failure(kWeirFailed, text);
}

}  // namespace

const char* name_of(Cause cause) {
  switch (cause) {
    case Cause::kContainer: return "container";
    case Cause::kUser: return "user";
    case Cause::kLimit: return "limit";
    default: return "kernel";
  }
}

std::string text_of(const Lack& lack) {
  return fmt::format("{} (cause: {}; to mend it: {})", lack.what, name_of(lack.cause), lack.mend);
}

std::vector<Verdict> verdicts() {
  return {judge("det", point("token", "isolated")), judge("check", point("free", "guarded")),
          judge_recorded("record", "coherent"), judge_recorded("replay", "coherent")};
}

std::string instead_of(const std::string& command, const std::string& view) {
  if (command == "record") {
    for (const char* other : {"isolated", "direct"}) {
      if (view != other && judge_recorded(command, other).works())
        return fmt::format("weir record --view {}", other);
    }
  }
  if (command == "det" || command == "run") {
    if (view != "direct" && judge("run", point("token", "direct")).works())
      return "weir run --order token --view direct";
  }
  if (command == "check" && has_protection_keys()) {
    RunOptions run = point("free", "guarded");
    run.enforcer = "mpk";
    if (judge(command, run).works()) return "weir check --policies=declared --enforcer=mpk";
  }
  return "";
}

void require(const RunOptions& run, const std::string& command) {
  const Verdict verdict = judge(command.empty() ? command_of(run) : command, run, false);
  if (!verdict.works()) refuse(verdict, run.view);
}

std::optional<Lack> lacks_notification() {
  const uint32_t wanted = SECCOMP_RET_USER_NOTIF;
  if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &wanted) == 0) return {};
  Lack lack = lacks_call("seccomp", errno, "a kernel built with it");
  lack.what = "the replay of a program that executed files which it had made: " + lack.what;
  return lack;
}

std::string other_addresses() {
  return fmt::format(
      "the recording has the addresses that the kernel gives if it is asked for the same ones in "
      "each run: {}",
      text_of(lacks_call("personality", EPERM, "a kernel that allows it")));
}

std::string lesser_promise(const RunOptions& run) {
  const Verdict verdict = judge(command_of(run), run);
  return verdict.lesser.empty() ? "" : text_of(verdict.lesser.front());
}

}  // namespace weir::cli
