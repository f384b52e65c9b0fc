// The program runs in the command's own process (execve), so that its pid, its parent, its terminal
// and its exit are what they would be without Weir. (If it is recorded or replayed, it runs in a
// child: cli/launch/child.cc.) This file settles what must be settled from outside: it switches off
// randomization of the address space, and tells the loader to load the library first.
#include "cli/launch/launch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "base/library_folders.h"
#include "cli/common/failure.h"
#include "cli/common/schedule_text.h"
#include "cli/common/shared_memory.h"
#include "cli/launch/addresses.h"
#include "cli/launch/start_tracer.h"
#include "cli/launch/verdict.h"
#include "constant/layout.h"
#include "control/options.h"
#include "control/schedule_memory.h"
#include "control/static_program.h"
#include "recording/bytes.h"
#include "sys/built_with.h"

namespace weir::cli {
namespace {

// The loader splits LD_PRELOAD at these and expands the last one; there is no way to quote.
constexpr const char* kUnquotable = " :\t\n$";
constexpr const char* kSeparators = " :\t\n";

// Where it could not be had, and now could be.
constexpr const char* kNoTracer =
    "the random bytes at the program's start could not be fixed: Weir's tracer did not start";

constexpr size_t kPathMax = 511;  // what the library keeps

// Whether this machine's C library is older than glibc 2.34. Its loader says so: it has the names
// of its versions in it, mostly on its first pages.
bool has_threads_apart() {
  constexpr size_t kFirst = 8 << 10, kMost = 4 << 20;  // it is some hundred kilobytes
  const recording::File loader = recording::File::reading("/lib64/ld-linux-x86-64.so.2");
  std::string bytes;
  for (const size_t size : {kFirst, kMost}) {
    bytes = loader.read(0, std::min<uint64_t>(loader.size(), size));
    if (bytes.find("GLIBC_2.34") != std::string::npos) return false;
  }
  return !bytes.empty();
}

// libweir first, then what the user preloads; but a sanitizer's library stays in front of it.
std::string preload_list(const std::string& file) {
  const std::string library = has_threads_apart() ? file + kThreadsApart : file;
  const char* previous = getenv("LD_PRELOAD");
  if (!previous || !*previous) return library;
  const std::string list = previous;
  const size_t end = std::min(list.find_first_of(kSeparators), list.size());
  const std::string first = list.substr(0, end);
  const std::string others = end < list.size() ? list.substr(end) : "";
  if (first == library) return list;
  if (!sys::program_file::must_be_first(first.c_str() + first.rfind('/') + 1))
    return library + ":" + list;
  const size_t next = others.find_first_not_of(kSeparators);
  const std::string rest = next == std::string::npos ? "" : others.substr(next);
  if (rest == library || (rest.starts_with(library) &&
                          rest.find_first_of(kSeparators, library.size()) == library.size()))
    return list;
  return first + ":" + library + others;
}

// The part that the program fills when it ends and renames (stats/exit_json.cc). FILE goes
// now: what is there afterwards is of this run.
std::string part_of(const std::string& path) { return fmt::format("{}.{}.part", path, getpid()); }

std::string prepared_json(const std::string& name) {
  const auto refuse = [&](const std::string& why) {
    throw Failure(kWeirFailed, fmt::format("--stat-json {}: {}", name, why));
  };
  std::error_code error;
  const std::string path =
      std::filesystem::weakly_canonical(std::filesystem::absolute(name), error).string();
  if (error) refuse(error.message());
  if (path.size() > kPathMax) refuse("the name is too long");
  struct stat now;
  const bool exists = lstat(path.c_str(), &now) == 0;
  if (exists && !S_ISREG(now.st_mode)) refuse("there is something that is not a regular file");
  const int descriptor =
      open(part_of(path).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) refuse(strerror(errno));
  close(descriptor);
  if (exists && unlink(path.c_str()) != 0) {
    const int cause = errno;
    unlink(part_of(path).c_str());
    refuse(strerror(cause));
  }
  return path;
}

using Environment = std::vector<std::string>;

// The value of a variable, where it stands in its string; null: it is not there.
const char* value_in(const Environment& environment, const std::string& name) {
  for (const std::string& variable : environment) {
    if (variable.starts_with(name + "=")) return variable.c_str() + name.size() + 1;
  }
  return nullptr;
}

// In its place, or at the end, as setenv does.
void set_variable(Environment& environment, const std::string& name, const std::string& value) {
  for (std::string& variable : environment) {
    if (!variable.starts_with(name + "=")) continue;
    variable = name + "=" + value;
    return;
  }
  environment.push_back(name + "=" + value);
}

// `first`: what must be in front of Weir's (sys/built_with.h).
void set_preload(Environment& environment, const std::string& library, const std::string& first) {
  const std::string list = preload_list(library);
  set_variable(environment, "LD_PRELOAD", first.empty() ? list : first + ":" + list);
}

// The C library keeps stacks of threads that have ended for new ones, 40 MB of them: five. Each one
// more is mapped, closed and unmapped for every thread, and under Weir all processes repeat that.
// The library takes this out again.
void keep_more_stacks(Environment& environment) {
  const char* now = value_in(environment, "GLIBC_TUNABLES");
  const std::string others = now && *now ? now : "";
  if (others.find("glibc.pthread.stack_cache_size=") != std::string::npos) return;
  set_variable(environment, "GLIBC_TUNABLES", others + (others.empty() ? "" : ":") + kStackTunable);
}

// The options stay as long as they are, and otherwise as they are: where a run was recorded they
// are the recorded ones.
void set_tracer(Environment& environment, pid_t tracer) {
  constexpr std::string_view kKey = "tracer=";
  const char* now = value_in(environment, "WEIR_OPTIONS");
  std::string options = now ? now : "";
  const size_t at = options.find(kKey);
  const std::string digits = fmt::format("{:010}", tracer);
  if (at == std::string::npos || options.size() < at + kKey.size() + digits.size()) {
    throw Failure(kWeirFailed, "the recorded environment is not one of Weir's");
  }
  set_variable(environment, "WEIR_OPTIONS",
               options.replace(at + kKey.size(), digits.size(), digits));
}

void refuse_sanitizer(const sys::BuiltWith& built, const Program& program,
                      const RunOptions& options) {
  if (!built.refused || options.passive()) return;
  throw Failure(
      kCannotRun,
      fmt::format("{} is built with the {}, which needs the addresses that Weir has: build it "
                  "without, or use --order free --view direct",
                  program.path, built.refused));
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> result;
  for (const std::string& word : words) result.push_back(const_cast<char*>(word.c_str()));
  result.push_back(nullptr);
  return result;
}

std::string find_library() {
  std::error_code error;
  std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error)
    throw Failure(kWeirFailed, "cannot find out where the weir command lies: is /proc mounted?");
  const std::filesystem::path above = self.parent_path().parent_path();
  std::string library, tried;
  for (const char* folder : kLibraryFolders) {
    const std::string place = (above / folder / "libweir.so").string();
    if (access(place.c_str(), R_OK) == 0) {
      library = place;
      break;
    }
    const std::string one = fmt::format("{}: {}", place, strerror(errno));
    if (tried.find(one) == std::string::npos) tried += (tried.empty() ? "" : "; ") + one;
  }
  if (library.empty()) {
    throw Failure(
        kWeirFailed,
        fmt::format("there is no libweir.so for {} ({}): Weir is not installed completely",
                    self.string(), tried));
  }
  if (library.find_first_of(kUnquotable) != std::string::npos) {
    throw Failure(
        kWeirFailed,
        fmt::format(
            "{}: the loader cannot be given a name with a space, colon or dollar sign: move Weir "
            "to a folder without them",
            library));
  }
  return library;
}

}  // namespace

std::string library_path() {
  static const std::string kFound = find_library();
  return kFound;
}

std::string cache_folder() {
  const auto variable = [](const char* name) {
    const char* value = getenv(name);
    return std::string(value ? value : "");
  };
  // Not in a folder of somebody else's, who would find ours in it (sudo with the user's HOME).
  const auto is_own = [](const std::string& folder) {
    struct stat status;
    return folder.starts_with("/") && stat(folder.c_str(), &status) == 0 &&
           status.st_uid == geteuid();
  };
  std::string path = variable("WEIR_CACHE");
  if (path == "off") return "";
  if (path.empty()) {
    path = variable("XDG_CACHE_HOME");
    if (!path.starts_with("/")) {
      const std::string home = variable("HOME");
      if (!is_own(home)) return "";
      path = home + "/.cache";
      mkdir(path.c_str(), 0700);
    }
    if (!is_own(path)) return "";
    path += "/weir";
  }
  if (!path.starts_with("/") || path.size() > kPathMax) return "";
  struct stat status;
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return "";
  if (lstat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return "";
  if (status.st_uid != geteuid() || (status.st_mode & 022) != 0 ||
      access(path.c_str(), W_OK | X_OK) != 0)
    return "";
  return path;
}

std::string prepared_log(const std::string& name) {
  int descriptor = open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0)
    throw Failure(kWeirFailed, fmt::format("--log {}: {}", name, strerror(errno)));
  close(descriptor);
  std::string path = std::filesystem::absolute(name).string();
  if (path.size() > kPathMax)
    throw Failure(kWeirFailed, fmt::format("--log {}: the name is too long", name));
  return path;
}

std::vector<std::string> environment_for(const RunOptions& options, const Program& program) {
  RunOptions passed = options;
  Environment environment;
  for (char** variable = environ; *variable; variable++) environment.push_back(*variable);
  const sys::BuiltWith built = sys::built_with(AT_FDCWD, program.path.c_str());
  refuse_sanitizer(built, program, options);
  set_preload(environment, library_path(), built.first);
  if (!passed.passive()) {
    passed.cache = cache_folder();
    keep_more_stacks(environment);
  }
  if ((passed.deterministic() || passed.view == "guarded") && !value_in(environment, "LD_BIND_NOW"))
    environment.push_back(kBindNow);
  passed.places = passed.deterministic() && addresses() == Addresses::kWeir;
  std::erase_if(environment, [](const std::string& variable) {
    return variable.starts_with(loader::kProgramVariable);
  });
  if (!program.static_program.empty() && !passed.passive())
    environment.push_back(loader::kProgramVariable + program.static_program);
  set_variable(environment, "WEIR_OPTIONS", to_environment(passed, 0));
  if (built.first[0]) environment.push_back(kPutFirst);
  return environment;
}

std::string executed_file(const Program& program, const std::vector<std::string>& environment) {
  const bool is_static = std::ranges::any_of(environment, [](const std::string& variable) {
    return variable.starts_with(loader::kProgramVariable);
  });
  if (!is_static) return program.path;
  const std::string library = library_path();
  const std::string host = library.substr(0, library.rfind('/') + 1) + loader::kHostName;
  if (access(host.c_str(), X_OK) != 0) {
    throw Failure(kWeirFailed, fmt::format("{}: {}: Weir is not installed completely, and {} is "
                                           "statically linked",
                                           host, strerror(errno), program.path));
  }
  return host;
}

void execute(const Program& program, std::vector<std::string> environment,
             const RunOptions& options, const std::function<void()>& pass_on,
             const std::vector<uint64_t>& user) {
  const std::string file = executed_file(program, environment);
  const bool recorded = options.trace >= 0;
  const char* const passed = value_in(environment, "WEIR_OPTIONS");
  const bool places = passed && strstr(passed, kPlaces);
  if (places) let_kernel_choose();
  const bool fixes = places || let_kernel_fix();
  if (!fixes && recorded) throw Failure(kWeirFailed, other_addresses());
  const ConstantInputs inputs = constant_inputs(options.constant);
  const pid_t tracer = options.deterministic() ? start_tracer(inputs.seed, user, places) : 0;
  if (options.deterministic() && (!fixes || tracer == 0)) {
    if (recorded) {
      require(options);
      throw Failure(kWeirFailed, kNoTracer);
    }
    const std::string lesser = lesser_promise(options);
    fmt::print(stderr, "weir: {}\n", lesser.empty() ? kNoTracer : lesser);
  }
  set_tracer(environment, tracer);
  const std::vector<char*> arguments = pointers(program.argv), variables = pointers(environment);
  try {
    if (pass_on) pass_on();
  } catch (const Failure&) {
    dismiss_tracer(tracer);
    throw;
  }
  hide_time(tracer);
  execve(file.c_str(), arguments.data(), variables.data());
  const int error = errno;
  dismiss_tracer(tracer);
  throw Failure(error == ENOENT                     ? kNotFound
                : error == E2BIG || error == ENOMEM ? kWeirFailed
                                                    : kCannotRun,
                fmt::format("{}: {}", program.path, strerror(error)));
}

namespace {

std::string absolute(const std::string& name) { return std::filesystem::absolute(name).string(); }

void pass_on(const SharedMemory& memory, int number) {
  if (memory.pass_on(number)) return;
  const int error = errno;
  throw Failure(kWeirFailed,
                fmt::format("--schedule: no descriptor is left: {} (ulimit -n)", strerror(error)));
}

// What Order serial is told, in memory that the program inherits. `least`: the descriptor's number,
// where none is chosen yet. The result keeps it mapped; null: there is none of this process's own.
std::unique_ptr<SharedMemory> schedule_memory(RunOptions& options, int least) {
  if (options.order != "serial") {
    if (!options.schedule.empty() || !options.schedule_log.empty() || options.schedule_detail ||
        options.step_limit || !options.memory.empty())
      throw Failure(kWeirFailed,
                    "--schedule, --schedule-log, --step-limit and --memory go with --order serial");
    if (options.heap == "guard")
      throw Failure(kWeirFailed,
                    "--heap guard goes with --order serial (weir hunt has it by itself)");
    return nullptr;
  }
  if (options.view != "direct")
    throw Failure(kWeirFailed,
                  "--order serial goes with --view direct: one task at a time has all "
                  "of the one memory");
  options.schedule = with_memory(options.schedule, options.memory);
  if (options.schedule_memory < 0)
    options.schedule_memory = std::max(descriptor_number(true), least);
  if (const ServedRun* const served = options.served) {
    auto& told = *reinterpret_cast<ScheduleMemory*>(served->memory.base());
    tell_schedule(told, options);
    told.server = options.schedule_memory + 1;
    told.server_process = getpid();
    pass_on(served->memory, options.schedule_memory);
    if (!pass_descriptor_on(served->socket, told.server)) told.server_process = 0;
    return nullptr;
  }
  auto memory =
      std::make_unique<SharedMemory>("weir-schedule", sizeof(ScheduleMemory), "for --schedule");
  tell_schedule(*reinterpret_cast<ScheduleMemory*>(memory->base()), options);
  pass_on(*memory, options.schedule_memory);
  return memory;
}

// What the processes of a run with constant inputs have together; null: there are none.
std::unique_ptr<SharedMemory> processes_memory(RunOptions& options) {
  const ConstantInputs inputs = constant_inputs(options.constant);
  if (!inputs.kinds) return nullptr;
  if (options.constant_memory < 0)
    options.constant_memory = descriptor_number(options.order == "serial");
  auto memory =
      std::make_unique<SharedMemory>("weir-processes", sizeof(constant::Memory), "for --virtual");
  reinterpret_cast<constant::Memory*>(memory->base())->magic = constant::kMagic;
  if (!memory->pass_on(options.constant_memory)) {
    const int error = errno;
    throw Failure(kWeirFailed,
                  fmt::format("--virtual: no descriptor is left: {} (ulimit -n)", strerror(error)));
  }
  return memory;
}

}  // namespace

InheritedMemories inherit_memories(RunOptions& options) {
  InheritedMemories memories;
  memories.processes = processes_memory(options);
  memories.schedule = schedule_memory(options, options.constant_memory + 1);
  return memories;
}

void plan_recorded_schedule(RunOptions& options) {
  options.constant = {"random", "time"};
  options.constant_memory = options.trace + 1;
  options.schedule_memory = options.trace + 2;
}

void tell_schedule(ScheduleMemory& told, const RunOptions& options) {
  if (options.schedule.size() >= ScheduleMemory::kMaxText)
    throw Failure(kWeirFailed, "--schedule: it is too long");
  told.magic = ScheduleMemory::kMagic;
  told.step_limit = options.step_limit;
  told.processors = options.processors;
  told.detail = options.schedule_detail && !options.schedule_log.empty();
  const std::string log = options.schedule_log.empty() ? "" : absolute(options.schedule_log);
  if (!log.empty()) {
    const int made = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (made < 0)
      throw Failure(kWeirFailed, fmt::format("--schedule-log {}: {}", log, strerror(errno)));
    close(made);
  }
  if (log.size() >= sizeof told.log_path)
    throw Failure(kWeirFailed, fmt::format("--schedule-log {}: the name is too long", log));
  log.copy(told.log_path, log.size());
  told.log_path[log.size()] = 0;
  if (options.findings_file.size() >= sizeof told.findings_path)
    throw Failure(kWeirFailed, "the name of the file for races is too long");
  options.findings_file.copy(told.findings_path, options.findings_file.size());
  told.findings_path[options.findings_file.size()] = 0;
  told.length = static_cast<uint32_t>(options.schedule.size());
  options.schedule.copy(told.text, options.schedule.size());
  told.text[options.schedule.size()] = 0;
}

void launch(const Program& program, const RunOptions& options) {
  RunOptions passed = options;
  if (passed.order == "token" && passed.view == "coherent") {
    throw Failure(kWeirFailed,
                  "--view coherent: its pages change hands in the order in which tasks come, so it "
                  "goes with --order free, and with "
                  "weir record; for the same run each time use --view isolated");
  }
  // A schedule says all that a run does, so clocks and random bytes come from it, too.
  if (passed.order == "serial" && passed.constant.empty()) passed.constant = {"random", "time"};
  const bool repeats = passed.order == "token" || passed.order == "serial";
  // A memory's fingerprint is the same in each run only if the ids are that it holds.
  if (passed.fingerprint && passed.order == "token" && passed.view == "isolated")
    passed.constant.emplace_back("pid");
  const ConstantInputs inputs = constant_inputs(passed.constant);
  if (inputs.kinds && !repeats) {
    throw Failure(kWeirFailed,
                  "--virtual goes with --order token (weir det) or serial: only there a program "
                  "does the same "
                  "with the same inputs");
  }
  library_path();
  if (!passed.json.empty() && passed.passive()) {
    throw Failure(kWeirFailed,
                  "--stat-json: with order free and view direct the program runs as it is, and "
                  "nothing is counted");
  }
  if (!program.static_program.empty() && passed.passive() && (passed.stat || passed.fingerprint)) {
    throw Failure(kCannotRun,
                  fmt::format("{} is statically linked: with order free and view direct "
                              "it runs as it is, and nothing is counted",
                              program.path));
  }
  const InheritedMemories memories = inherit_memories(passed);
  if (!passed.log.empty()) passed.log = prepared_log(passed.log);
  if (!passed.json.empty()) passed.json = prepared_json(passed.json);
  try {
    require(passed);
    execute(program, environment_for(passed, program), passed);
  } catch (const Failure&) {
    if (!passed.json.empty()) unlink(part_of(passed.json).c_str());
    throw;
  }
}

}  // namespace weir::cli
