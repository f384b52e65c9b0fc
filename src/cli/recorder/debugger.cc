// gdb is the foreground group of the terminal, and gives it to the program while that runs. The
// command is in the program's group, but what the user interrupts there is not the command's.
#include "cli/recorder/debugger.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "cli/common/failure.h"
#include "cli/launch/child.h"
#include "cli/launch/kept_files.h"
#include "recording/bytes.h"
#include "sys/futex.h"

namespace weir::cli {
namespace {

// 0: none. What one process holds as a tracer.
pid_t tracer_of(pid_t pid) {
  const std::string text =
      recording::File::reading(fmt::format("/proc/{}/status", pid)).read(0, 4096);
  const size_t at = text.find("TracerPid:\t");
  return at == std::string::npos
             ? 0
             : static_cast<pid_t>(std::strtol(text.c_str() + at + 11, nullptr, 10));
}

bool number(std::string_view text, uint64_t most, uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value <= most && !text.empty();
}

// What the runtime uses is passed on without a word; what ends programs stops. gdb says much that
// nobody asked for: it is kept back.
// - An int3 or a step that is none of gdb's is the runtime's and is passed on to it; if gdb passed
//   on any, it would those of its own too.
// - A fault in counted code, where there are no symbols, comes once more, where the program has it.
// - What gdb does by default on all processes at once (target-non-stop) loses signals where two of
//   them stop together.
// - The frame is the program's innermost, not one of the runtime's.
// - Without a place the replay goes on to the program's first instruction, before its constructors:
//   the runtime begins in one of a library's.
// - With gdb the replay ends: what gdb left behind would be half a program.
// - gdb cannot start a replay: what would start the program without Weir is refused.
std::string script(const std::vector<pid_t>& processes, pid_t thread, bool from_begin) {
  std::string attach;
  for (const pid_t pid : processes) attach += fmt::format("{}, ", pid);
  return fmt::format(R"(python
for line in ("set confirm off", "set pagination off", "set auto-load libthread-db off",
             "set libthread-db-search-path /nonexistent", "handle all nostop noprint pass",
             "handle SIGTRAP stop noprint nopass",
             "handle SIGSEGV SIGFPE SIGILL SIGABRT SIGSYS stop print pass",
             "handle SIGINT stop print nopass",
             "maintenance set target-non-stop off", "set schedule-multiple on",
             "set detach-on-fork off", "set print inferior-events off"):
    gdb.execute(line, to_string=True)
def set_quiet(word):
    try:
        gdb.execute("set suppress-cli-notifications " + word, to_string=True)
    except gdb.error:  # gdb before 12, which says where it is at each step
        pass
set_quiet("on")
for place, pid in enumerate([{}]):
    if place:
        gdb.execute("add-inferior -no-connection", to_string=True)
        gdb.execute("inferior %d" % (place + 1), to_string=True)
    try:
        gdb.execute("attach %d" % pid, to_string=True)
    except gdb.error:  # one that is about to end, or has ended
        if not place:
            raise
gdb.execute("inferior 1", to_string=True)
for thread in gdb.selected_inferior().threads():
    if thread.ptid[1] == {}:
        thread.switch()
def is_inside(frame):
    return (gdb.solib_name(frame.pc()) or "").endswith("/libweir.so")
class Outside:
    name, priority, enabled = "weir", 100, True
    def filter(self, frames):
        return (frame for frame in frames if not is_inside(frame.inferior_frame()))
gdb.frame_filters["weir"] = Outside()
def select_outside():
    frame = gdb.newest_frame()
    while frame.older() and (frame.type() == gdb.SIGTRAMP_FRAME or is_inside(frame)):
        frame = frame.older()
    frame.select()
passed = 0
def go_on(event):
    global passed
    if not isinstance(event, gdb.SignalEvent):
        return
    if event.stop_signal == "SIGTRAP":
        watched = int(gdb.parse_and_eval("$_siginfo.si_code")) == 4
        gdb.post_event(lambda: gdb.execute("continue" if watched else "signal SIGTRAP"))
        return
    place = gdb.newest_frame().pc()
    inside = is_inside(gdb.newest_frame())
    unnamed = "No symbol" in gdb.execute("info symbol $pc", to_string=True)
    if event.stop_signal != "SIGINT" and not inside and place != passed and unnamed:
        passed = place
        gdb.post_event(lambda: gdb.execute("signal " + event.stop_signal))
    # The program's death once more, by the process that stands for it.
    elif "end_by_signal" in (gdb.newest_frame().name() or ""):
        gdb.post_event(lambda: gdb.execute("signal " + event.stop_signal))
    elif inside:
        gdb.post_event(lambda: (select_outside(), gdb.execute("frame")))
def end_all():
    for inferior in gdb.inferiors():
        try:
            if inferior.pid:
                gdb.execute("kill inferiors %d" % inferior.num, to_string=True)
        except gdb.error:
            pass
class Refused(gdb.Command):
    def __init__(self, name):
        super().__init__(name, gdb.COMMAND_RUNNING)
        self.name = name
    def invoke(self, words, from_terminal):
        raise gdb.GdbError("%s would start the program itself, not its replay: quit, and start "
                           "weir replay --gdb again" % self.name)
for name in ("run", "r", "start", "starti"):
    Refused(name)
def go_to_program():
    begin = 0
    for line in gdb.execute("info auxv", to_string=True).splitlines():
        if "AT_ENTRY" in line:
            begin = int(line.split()[-1], 0)
    if not begin:
        return
    there = gdb.Breakpoint("*%d" % begin, internal=True, temporary=True)
    there.silent = True
    gdb.execute("continue", to_string=True)
    while gdb.selected_inferior().pid and gdb.newest_frame().pc() != begin:
        what = gdb.parse_and_eval("$_siginfo")
        if int(what["si_signo"]) == 2:
            break
        is_own = int(what["si_signo"]) == 5 and int(what["si_code"]) != 4
        gdb.execute("signal SIGTRAP" if is_own else "continue", to_string=True)
    if there.is_valid():
        there.delete()
{}gdb.events.stop.connect(go_on)
select_outside()
set_quiet("off")
for line in ("set pagination on", "set confirm on", "set print inferior-events on"):
    gdb.execute(line, to_string=True)
end
define hook-quit
python end_all()
end
frame
)",
                     attach, thread, from_begin ? "go_to_program()\n" : "");
}

}  // namespace

channel::Stop place_to_stop(const std::string& text) {
  channel::Stop stop{};
  const size_t colon = text.find(':'), dash = text.find('-');
  uint64_t process = 0, task = 0;
  bool is_good = true;
  if (colon != std::string::npos) {
    is_good = dash < colon && number(text.substr(0, dash), channel::kMaxProcesses - 1, process) &&
              number(text.substr(dash + 1, colon - dash - 1), UINT32_MAX - 1, task);
  }
  is_good =
      is_good &&
      number(text.substr(colon == std::string::npos ? 0 : colon + 1), UINT32_MAX, stop.progress) &&
      stop.progress != 0;
  if (!is_good)
    throw Failure(
        kWeirFailed,
        fmt::format("{}: no place; it is EVENT, or PROCESS-TASK:EVENT, as weir dump prints them",
                    text));
  stop.process = static_cast<uint32_t>(process);
  stop.task = static_cast<uint32_t>(task);
  return stop;
}

std::string name_of(const channel::Stop& stop) {
  return fmt::format("{}-{}", stop.process, stop.task);
}

Look::Look(ChannelMemory& memory, const channel::Stop& stop, std::string program, std::string root)
    : memory_(memory), program_(std::move(program)), root_(std::move(root)) {
  memory_.header().stop = stop;
}

Look::~Look() {
  if (gdb_ != 0 && isatty(STDIN_FILENO)) tcsetpgrp(STDIN_FILENO, getpgrp());
}

bool Look::is_there() const {
  return __atomic_load_n(&memory_.header().stop.pid, __ATOMIC_ACQUIRE) != 0;
}

void Look::start_gdb(const std::vector<pid_t>& processes, bool from_begin,
                     const std::function<bool()>& goes_on) {
  channel::Stop& stop = memory_.header().stop;
  std::vector<pid_t> sorted = processes;
  // Not that of std::ranges, whose result clang 14 cannot make with libstdc++.
  std::stable_partition(sorted.begin(), sorted.end(), [&](pid_t pid) { return pid == stop.pid; });
  const std::string commands = script(sorted, stop.tid, from_begin);
  for (const int signal : {SIGINT, SIGQUIT, SIGTTOU})
    std::signal(signal, SIG_IGN);  // of the terminal: gdb's, and through it the program's
  const bool has_terminal = isatty(STDIN_FILENO);
  fflush(nullptr);
  gdb_ = fork();
  if (gdb_ < 0) throw Failure(kWeirFailed, fmt::format("fork: {}", strerror(errno)));
  if (gdb_ == 0) {
    if (has_terminal) {
      setpgid(0, 0);
      tcsetpgrp(STDIN_FILENO, getpid());
    }
    for (const int signal : {SIGINT, SIGQUIT, SIGTTOU, SIGPIPE, SIGXFSZ})
      std::signal(signal, SIG_DFL);
    const int file = memfd_create("weir-gdb", 0);
    const std::string files = root_.empty()
                                  ? ""
                                  : fmt::format("set sysroot {0}\nset solib-search-path {0}{1}\n",
                                                root_, KeptFiles::kByLastPart);
    recording::File(dup(file)).write(files + commands);
    const std::string name = fmt::format("/proc/self/fd/{}", file);
    execlp("gdb", "gdb", "-q", program_.c_str(), "-x", name.c_str(), static_cast<char*>(nullptr));
    fmt::print(stderr, "weir: gdb: {}\n", strerror(errno));
    _exit(kNotFound);
  }
  // gdb attaches to a process's threads one by one: this one's turn must have come, or it would go
  // on without gdb.
  while (goes_on() && !is_over() && tracer_of(stop.tid) == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  __atomic_store_n(&stop.go, 1u, __ATOMIC_RELEASE);
  sys::futex_wake(&stop.go);
}

bool Look::is_over() const {
  if (gdb_ == 0) return false;
  siginfo_t ended{};
  if (waitid(P_PID, static_cast<id_t>(gdb_), &ended, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      ended.si_pid != 0)
    return true;
  if (stat_of(gdb_).starts_with(" T")) kill(gdb_, SIGCONT);
  return false;
}

}  // namespace weir::cli
