// weir-dsm-run: starts a program of libweir-dsm on several nodes by the launcher that is here, with
// what the machine needs, and says what a failed start means.
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <thread>

#include "dsm/commands/completion.h"
#include "dsm/commands/explain.h"
#include "dsm/commands/job.h"
#include "dsm/commands/launch.h"

extern char** environ;

namespace weir::dsm {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFooter =
    "weir-dsm-run [OPTIONS] PROGRAM [ARGUMENTS], for example:\n"
    "  weir-dsm-run -n 4 ./prog 1000                 four nodes here\n"
    "  weir-dsm-run -n 4 --report run.html ./prog    and a page of what the run did\n"
    "  weir-dsm-run -n 8 --hosts one,two ./prog      on two hosts\n"
    "The launcher is Slurm's inside of an allocation, else that of the MPI with which the program "
    "is\n"
    "linked, else Open MPI's or MPICH's. Root and more nodes than processors are allowed. Exit "
    "status:\nthe launcher's, which is the program's; 2 where the command line is wrong; 125 "
    "where\n"
    "nothing could be started.";

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Options {
  Wish wish;
  std::string protocol, tapes, size, threads, stats, timeline, sharing, record, report, interpreter;
  std::vector<std::string> set;
  bool check = false, dry_run = false, quiet = false;
  std::string completion;
};

std::string found_in_path(const std::string& name) {
  if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0 ? name : "";
  const char* path = getenv("PATH");
  std::string folders = path ? path : "/usr/local/bin:/usr/bin:/bin";
  for (size_t at = 0; at <= folders.size();) {
    const size_t end = std::min(folders.find(':', at), folders.size());
    const std::string file = folders.substr(at, end - at) + "/" + name;
    if (access(file.c_str(), X_OK) == 0 && !fs::is_directory(file)) return file;
    at = end + 1;
  }
  return "";
}

// The loader that a program names in its header; "" if it is a script, or static.
std::string loader_of(const std::string& program) {
  std::ifstream file(program, std::ios::binary);
  const auto read = [&file](uint64_t at, void* to, size_t size) {
    file.seekg(static_cast<std::streamoff>(at));
    return !!file.read(static_cast<char*>(to), static_cast<std::streamsize>(size));
  };
  Elf64_Ehdr head;
  if (!read(0, &head, sizeof head) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
      head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_phentsize != sizeof(Elf64_Phdr))
    return "";
  for (unsigned i = 0; i < head.e_phnum; i++) {
    Elf64_Phdr segment;
    if (!read(head.e_phoff + i * sizeof segment, &segment, sizeof segment)) return "";
    if (segment.p_type != PT_INTERP || segment.p_filesz > 4096) continue;
    std::string loader(segment.p_filesz, '\0');
    return read(segment.p_offset, loader.data(), loader.size()) ? loader.c_str() : "";
  }
  return "";
}

// What the loader finds for a program, which is not executed.
std::string libraries_of(const std::string& program) {
  const std::string loader = loader_of(program);
  if (loader.empty()) return "";
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return "";
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 1);
    dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), 2);
    setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);  // --list stops at what is not found
    execl(loader.c_str(), loader.c_str(), program.c_str(), nullptr);
    _exit(127);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t got; (got = read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<size_t>(got));
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return text;
}

Host this_host() {
  Host host;
  host.processors = std::max(1u, std::thread::hardware_concurrency());
  host.is_root = geteuid() == 0;
  utsname name = {};
  host.has_name = uname(&name) == 0 && name.nodename[0] != 0;
  host.in_slurm = getenv("SLURM_JOB_ID") != nullptr;
  for (const char* launcher :
       {"mpirun", "mpirun.openmpi", "mpirun.mpich", "mpiexec.hydra", "srun"}) {
    if (const std::string path = found_in_path(launcher); !path.empty())
      host.launchers[launcher] = path;
  }
  for (char** at = environ; *at; at++) {
    const std::string variable = *at, called = variable.substr(0, variable.find('='));
    for (const char* start : {"WEIR_DSM_", "UCX_", "LD_LIBRARY_PATH", "PYTHONPATH", "OMP_"}) {
      if (called.starts_with(start)) host.environment[called] = variable.substr(called.size() + 1);
    }
  }
  return host;
}

void set_variables(const Options& options) {
  const auto set = [](const std::string& name, const std::string& value) {
    if (!value.empty()) setenv(name.c_str(), value.c_str(), 1);
  };
  set("WEIR_DSM_PROTOCOL", options.protocol);
  set("WEIR_DSM_TAPES", options.tapes);
  set("WEIR_DSM_SIZE", options.size);
  set("WEIR_DSM_THREADS", options.threads);
  set("WEIR_DSM_STATS", options.stats);
  set("WEIR_DSM_TIMELINE", options.timeline);
  set("WEIR_DSM_SHARING", options.sharing);
  set("WEIR_DSM_RECORD", options.record);
  if (options.check) set("WEIR_DSM_CHECK", "1");
  for (const std::string& one : options.set) {
    const size_t at = one.find('=');
    if (at == 0 || at == std::string::npos)
      throw CLI::ValidationError("--set", "is NAME=VALUE, not " + one);
    setenv(one.substr(0, at).c_str(), one.substr(at + 1).c_str(), 1);
  }
}

uint64_t shm_bytes() {
  struct statvfs about = {};
  return statvfs("/dev/shm", &about) == 0 ? about.f_blocks * about.f_frsize : 0;
}

void say(const std::string& text) { fmt::print(stderr, "weir-dsm-run: {}\n", text); }

std::string quoted(const std::string& word) {
  const bool is_plain = word.find_first_not_of(
                            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                            "0123456789_-./=:,+@%") == std::string::npos;
  return is_plain && !word.empty() ? word
                                   : "'" + CLI::detail::find_and_replace(word, "'", "'\\''") + "'";
}

void print_command(const Launch& launch, const Options& options) {
  std::string line;
  for (const auto& [name, value] : launch.environment) line += name + "=" + quoted(value) + " ";
  const std::pair<const char*, bool> own[] = {{"WEIR_DSM_PROTOCOL", !options.protocol.empty()},
                                              {"WEIR_DSM_TAPES", !options.tapes.empty()},
                                              {"WEIR_DSM_SIZE", !options.size.empty()},
                                              {"WEIR_DSM_THREADS", !options.threads.empty()},
                                              {"WEIR_DSM_STATS", !options.stats.empty()},
                                              {"WEIR_DSM_TIMELINE", !options.timeline.empty()},
                                              {"WEIR_DSM_SHARING", !options.sharing.empty()},
                                              {"WEIR_DSM_RECORD", !options.record.empty()},
                                              {"WEIR_DSM_CHECK", options.check}};
  for (const auto& [name, is_set] : own) {
    if (is_set) line += std::string(name) + "=" + quoted(getenv(name)) + " ";
  }
  for (const std::string& one : options.set)
    line += one.substr(0, one.find('=') + 1) + quoted(one.substr(one.find('=') + 1)) + " ";
  for (const std::string& word : launch.words) line += quoted(word) + " ";
  line.pop_back();
  fmt::print("{}\n", line);
}

// The files from which weir-dsm-report makes the page. The timeline stays, for Perfetto.
struct Report {
  std::string page, timeline, stats, sharing;
};

Report plan_report(Options& options) {
  Report report;
  if (options.report.empty()) return report;
  report.page = options.report;
  const std::string stem =
      (fs::path(report.page).parent_path() / fs::path(report.page).stem()).string();
  const auto file = [&](std::string& chosen, const std::string& otherwise) {
    if (chosen.empty()) chosen = fs::absolute(otherwise).string();
    return chosen;
  };
  report.timeline = file(options.timeline, stem + ".trace.json");
  report.stats = file(options.stats, stem + ".stats.json");
  report.sharing = file(options.sharing, stem + ".sharing.txt");
  for (const std::string& one : {report.timeline, report.stats, report.sharing}) {
    if (one == "1")
      throw CLI::ValidationError("--report", "needs files for --stats and --sharing, not 1");
  }
  return report;
}

void write_report(const Report& report) {
  std::error_code error;
  const fs::path own = fs::read_symlink("/proc/self/exe", error);
  std::string command = (own.parent_path() / "weir-dsm-report").string();
  if (access(command.c_str(), X_OK) != 0) command = found_in_path("weir-dsm-report");
  if (command.empty()) return say("there is no weir-dsm-report beside this command");
  const pid_t child = fork();
  if (child == 0) {
    execl(command.c_str(), command.c_str(), "--timeline", report.timeline.c_str(), "--stats",
          report.stats.c_str(), "--sharing", report.sharing.c_str(), "-o", report.page.c_str(),
          nullptr);
    _exit(125);
  }
  waitpid(child, nullptr, 0);
}

int start(Options& options) {
  if (options.wish.command.empty())
    throw CLI::ValidationError("PROGRAM", "is missing: weir-dsm-run -n 4 PROGRAM [ARGUMENTS]");
  if (options.wish.command[0].starts_with("-") && options.wish.command[0] != "-")
    throw CLI::ValidationError(options.wish.command[0], "is no option of weir-dsm-run");
  std::string program = options.wish.command[0];
  if (!options.interpreter.empty()) {
    options.wish.command.insert(options.wish.command.begin(), options.interpreter);
    if (access(program.c_str(), R_OK) != 0) throw Failure(program + ": " + strerror(errno));
    program = options.interpreter;
  } else {
    const std::string found = found_in_path(program);
    if (found.empty()) {
      throw Failure(program.find('/') == std::string::npos
                        ? "there is no command " + program + " (a program here is ./" + program +
                              ")"
                    : access(program.c_str(), F_OK) == 0 ? program + " is not executable"
                                                         : program + " does not exist");
    }
    program = options.wish.command[0] = found;
  }
  const std::string libraries = libraries_of(program);
  if (const auto missing = explain_missing(libraries); !missing.empty()) {
    for (const std::string& line : missing) say(line);
    return 125;
  }
  if (libraries.find("libmpi.so") != std::string::npos) options.wish.program = Mpi::kOpenMpi;
  if (libraries.find("libmpich.so") != std::string::npos) options.wish.program = Mpi::kMpich;
  const Report report = plan_report(options);
  set_variables(options);
  Host host = this_host();
  for (const std::string& one : options.set)  // set_variables has looked at them
    host.environment[one.substr(0, one.find('='))] = one.substr(one.find('=') + 1);
  const Launch launch = plan_launch(options.wish, host);
  if (!launch.error.empty()) throw Failure(launch.error);
  if (options.dry_run) return print_command(launch, options), 0;
  if (!options.quiet) {
    for (const std::string& note : launch.notes) say(note);
  }
  // A run that fails makes no report of an older one.
  for (const std::string& one : {report.timeline, report.stats, report.sharing}) {
    std::error_code error;
    if (fs::symlink_status(one, error).type() == fs::file_type::regular) fs::remove(one, error);
  }
  const Ended ended = run_to_end(launch);
  const int status = ended.status;
  const bool is_well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (ended.signal && !options.quiet) {  // what launchers say then is no cause
    say(fmt::format("the job was ended by {}", ended.signal == SIGINT   ? "SIGINT"
                                               : ended.signal == SIGHUP ? "SIGHUP"
                                                                        : "SIGTERM"));
  } else if (!is_well && !options.quiet) {
    for (const std::string& line : explain_failure(ended.said, shm_bytes())) say(line);
  }
  if (!report.page.empty()) {
    if (fs::exists(report.timeline)) write_report(report);
    else say("there is no report: the run failed before weir_dsm_finish");
  }
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  signal(WTERMSIG(status), SIG_DFL);
  raise(WTERMSIG(status));
  return 128 + WTERMSIG(status);
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app("Runs a program of libweir-dsm on several nodes, and explains what goes wrong.",
               "weir-dsm-run");
  app.footer(kFooter);
  app.prefix_command();
  app.option_defaults()->group("Options");
  app.add_option("-n,--nodes", options.wish.nodes, "how many")
      ->check(CLI::Range(1u, 4096u))
      ->capture_default_str();
  app.add_option("--hosts", options.wish.hosts, "names of hosts, with commas; default: this one");
  app.add_option("--hostfile", options.wish.host_file, "a file of them, as the launcher reads it")
      ->check(CLI::ExistingFile);
  app.add_option("--mpi", options.wish.mpi, "by which launcher; default: as the footer says")
      ->check(CLI::IsMember({"openmpi", "mpich", "slurm", "none"}));
  app.add_option("--launcher-word", options.wish.words,
                 "a word for the launcher itself, before the program; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--threads", options.threads, "of each node in weir_dsm_run");
  app.add_option("--protocol", options.protocol, "of allocations that name none")
      ->check(CLI::IsMember({"lrc", "hlrc", "sc"}));
  app.add_option("--tapes", options.tapes, "prefetching")
      ->check(CLI::IsMember({"off", "called", "auto"}));
  app.add_option("--size", options.size, "of the shared segment: 64G, for example");
  app.add_flag("--check", options.check, "look for races between nodes");
  app.add_option("--report", options.report,
                 "a page (HTML) of what the run did, and beside it its timeline for Perfetto");
  app.add_option("--stats", options.stats, "a file for counters; 1: print them");
  app.add_option("--timeline", options.timeline, "a file for the timeline");
  app.add_option("--sharing", options.sharing, "a file for false sharing; 1: print it");
  app.add_option("--record", options.record, "a folder for weir-dsm-predict");
  app.add_option("--set", options.set, "NAME=VALUE, a variable of each node; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--interpreter", options.interpreter, "PROGRAM is a script of it");
  app.add_flag("--dry-run", options.dry_run, "print the command instead of running it");
  app.add_flag("-q,--quiet", options.quiet, "no words of weir-dsm-run's own");
  app.add_option("--completion", options.completion, "print the completion of a shell")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  try {
    app.parse(argc, argv);
    if (!options.completion.empty()) {
      fmt::print("{}", completion_of(app, options.completion));
      return 0;
    }
    options.wish.command = app.remaining();
    if (!options.wish.command.empty() && options.wish.command[0] == "--")
      options.wish.command.erase(options.wish.command.begin());
    return start(options);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    say(error.what());
    return 125;
  }
}

}  // namespace
}  // namespace weir::dsm

int main(int argc, char** argv) { return weir::dsm::run(argc, argv); }
