// Launchers say what they refuse, and rarely what to do; the texts are those of Open MPI 4 and 5,
// MPICH 4, Slurm, glibc's loader and ssh.
#include "dsm/commands/explain.h"

#include <algorithm>
#include <regex>

namespace weir::dsm {
namespace {

constexpr uint64_t kSmallShm = 256ull << 20;

// Debian's package of a library; "" if it is not known.
std::string package_of(const std::string& library) {
  static const std::vector<std::pair<const char*, const char*>> kPackages = {
      {"libucp.so", "libucx0"},
      {"libucs.so", "libucx0"},
      {"libmpi.so", "libopenmpi3 (Debian 13: libopenmpi40)"},
      {"libmpich.so", "libmpich12"},
      {"libgfortran.so", "libgfortran5"},
      {"libgomp.so", "libgomp1"},
      {"libpmix.so", "libpmix2"}};
  for (const auto& [name, package] : kPackages) {
    if (library.starts_with(name)) return package;
  }
  return "";
}

std::string missing(const std::string& library) {
  if (library.starts_with("libweir-"))
    return library + " is not found: set LD_LIBRARY_PATH to its folder, or link with -Wl,-rpath";
  const std::string package = package_of(library);
  return library + " is not found" +
         (package.empty() ? ": set LD_LIBRARY_PATH to its folder, on each host"
                          : ". Install " + package + ", on each host");
}

struct Cause {
  const char* said;  // a regular expression
  const char* meaning;
};

const Cause kCauses[] = {
    {"not enough slots available",
     "the hosts have fewer slots than there are nodes: behind a host's name write slots=N in the "
     "host file, or :N in --hosts"},
    {"attempt to run as root|should not run as root|allow-run-as-root",
     "Open MPI refuses root. weir-dsm-run allows it here; on other hosts, start as another user"},
    {"assert \\(!closed\\) failed|unable to get host address|gethostbyname|HYDU_sock",
     "MPICH's launcher did not find a host by its name: HYDRA_IFACE=lo for this machine alone, or "
     "a name that each host can look up"},
    {"Permission denied \\(|Host key verification failed|Could not resolve hostname|"
     "Connection (refused|timed out)|No route to host|ORTE was unable to reliably start",
     "a host cannot be reached: `ssh HOST true` must work without a password for each of them"},
    {"PMIX? ?(ERROR|is not)|unsupported mpi plugin|Invalid MPI type",
     "Slurm lacks the plugin: `srun --mpi=list` shows those that it has; --launcher-word "
     "--mpi=NAME chooses one"},
    {"could not access\\s+or execute an executable|execvp error on file|No such file or directory "
     "\\(os error|unable to launch the specified application",
     "the program cannot be executed on a host: it must be there, by the same path"},
    {"Cannot allocate memory|no memory: ",
     "memory is short: fewer nodes on a host, or a look at `ulimit -a` and the container's limit"},
};

}  // namespace

std::vector<std::string> explain_failure(const std::string& said, uint64_t shm_bytes) {
  std::vector<std::string> all;
  const auto add = [&](const std::string& line) {
    if (std::find(all.begin(), all.end(), line) == all.end()) all.push_back(line);
  };
  static const std::regex kLibrary("error while loading shared libraries: ([^: ]+)");
  for (std::sregex_iterator at(said.begin(), said.end(), kLibrary), end; at != end; ++at)
    add(missing((*at)[1].str()));
  for (const Cause& cause : kCauses) {
    if (std::regex_search(said, std::regex(cause.said))) add(cause.meaning);
  }
  const bool lacks_room = std::regex_search(
      said, std::regex("No space left on device|Bus error|SIGBUS|signal 7|mm_posix|/dev/shm|"
                       "shared memory segment|Out of memory: ucp"));
  if (shm_bytes == 0 && lacks_room) {
    add("there is no /dev/shm, which UCX and the MPIs use: mount it, or set UCX_TLS=tcp,self");
  } else if (lacks_room && shm_bytes < kSmallShm) {
    add("/dev/shm has only " + std::to_string(shm_bytes >> 20) +
        " MB: start the container with --shm-size=1g (Docker's default is 64 MB), or set "
        "UCX_TLS=tcp,self");
  }
  return all;
}

std::vector<std::string> explain_missing(const std::string& listed) {
  std::vector<std::string> all;
  static const std::regex kNotFound("(\\S+) => not found");
  for (std::sregex_iterator at(listed.begin(), listed.end(), kNotFound), end; at != end; ++at)
    all.push_back(missing((*at)[1].str()));
  return all;
}

}  // namespace weir::dsm
