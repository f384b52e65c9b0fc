// A launcher must be that of the program's MPI: under the other one each process believes that it
// is alone. A program that is linked with libweir-dsm only runs under each.
//
// Open MPI refuses to start as root and to start more processes than there are processors, and
// wants to be told of variables for other hosts. MPICH's launcher is told too: it passes its own
// environment on unless it was configured not to (HYDRA_ENV). Open MPI 5 reads other variables
// (PRTE_MCA_) than 4 (OMPI_MCA_): both are set. MPICH's launcher tells its proxies the name of this
// machine, and fails on a machine without one.
#include "dsm/commands/launch.h"

#include <algorithm>

namespace weir::dsm {
namespace {

std::string path_of(const Host& host, const std::string& name) {
  const auto found = host.launchers.find(name);
  return found == host.launchers.end() ? "" : found->second;
}

// The first that is installed.
std::string first_of(const Host& host, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const std::string path = path_of(host, name); !path.empty()) return path;
  }
  return "";
}

void start_by_open_mpi(const Wish& wish, const Host& host, Launch& launch) {
  launch.words.insert(launch.words.end(), {"-n", std::to_string(wish.nodes)});
  if (!wish.hosts.empty()) launch.words.insert(launch.words.end(), {"--host", wish.hosts});
  if (!wish.host_file.empty())
    launch.words.insert(launch.words.end(), {"--hostfile", wish.host_file});
  if (!wish.hosts.empty() || !wish.host_file.empty()) {
    for (const auto& [name, value] : host.environment)
      launch.words.insert(launch.words.end(), {"-x", name});
  }
  launch.environment["OMPI_MCA_rmaps_base_oversubscribe"] = "1";
  launch.environment["PRTE_MCA_rmaps_default_mapping_policy"] = ":oversubscribe";
  if (host.is_root) {
    launch.environment["OMPI_ALLOW_RUN_AS_ROOT"] = "1";
    launch.environment["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1";
    launch.environment["PRTE_ALLOW_RUN_AS_ROOT"] = "1";
    launch.environment["PRTE_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1";
  }
}

void start_by_mpich(const Wish& wish, const Host& host, Launch& launch) {
  launch.words.insert(launch.words.end(), {"-n", std::to_string(wish.nodes)});
  if (!wish.hosts.empty()) launch.words.insert(launch.words.end(), {"-hosts", wish.hosts});
  if (!wish.host_file.empty()) launch.words.insert(launch.words.end(), {"-f", wish.host_file});
  if (!wish.hosts.empty() || !wish.host_file.empty()) {
    for (const auto& [name, value] : host.environment)
      launch.words.insert(launch.words.end(), {"-genv", name, value});
  }
  if (!host.has_name) launch.environment["HYDRA_IFACE"] = "lo";
}

void start_by_slurm(const Wish& wish, Launch& launch) {
  launch.words.insert(launch.words.end(), {"-n", std::to_string(wish.nodes)});
  if (!wish.hosts.empty()) launch.words.insert(launch.words.end(), {"-w", wish.hosts});
  // MPICH of the distributions speaks PMI-2; Open MPI PMIx, as does a program of neither.
  launch.words.push_back(wish.program == Mpi::kMpich ? "--mpi=pmi2" : "--mpi=pmix");
  launch.words.push_back("--export=ALL");  // else SLURM_EXPORT_ENV, or sbatch's, may leave them out
  if (!wish.host_file.empty())
    launch.error = "Slurm decides about hosts: --hosts is for srun's -w, and there is no host file";
}

const char* const kNoLauncher =
    "there is no mpirun. Install openmpi-bin or mpich; one node needs none (-n 1)";

}  // namespace

Launch plan_launch(const Wish& wish, const Host& host) {
  Launch launch;
  std::string mpi = wish.mpi;
  if (mpi.empty()) {
    if (host.in_slurm && !path_of(host, "srun").empty()) {
      mpi = "slurm";
    } else if (wish.program != Mpi::kUnknown) {
      mpi = wish.program == Mpi::kOpenMpi ? "openmpi" : "mpich";
    } else if (!first_of(host, {"mpirun.openmpi"}).empty()) {
      mpi = "openmpi";
    } else if (!first_of(host, {"mpirun.mpich", "mpiexec.hydra"}).empty()) {
      mpi = "mpich";
    } else if (!first_of(host, {"mpirun"}).empty()) {
      mpi = "mpirun";
    } else {
      mpi = "none";
    }
    if (mpi == "none" && wish.nodes > 1) launch.error = kNoLauncher;
  }
  const bool is_other = (wish.program == Mpi::kOpenMpi && mpi == "mpich") ||
                        (wish.program == Mpi::kMpich && mpi == "openmpi");
  if (is_other) {
    const bool is_open = wish.program == Mpi::kOpenMpi;
    launch.error = wish.command[0] + " is linked with " + (is_open ? "Open MPI" : "MPICH") +
                   ", whose processes do not find each other under the launcher of " +
                   (is_open ? "MPICH" : "Open MPI") + ": leave --mpi out";
  } else if (mpi == "none") {
    if (wish.nodes > 1 && launch.error.empty())
      launch.error =
          "--mpi none starts one node, and " + std::to_string(wish.nodes) + " are wanted";
  } else if (mpi == "slurm") {
    launch.words = {path_of(host, "srun")};
    if (launch.words[0].empty()) launch.error = "there is no srun";
    start_by_slurm(wish, launch);
  } else if (mpi == "mpich") {
    launch.words = {first_of(host, {"mpirun.mpich", "mpiexec.hydra", "mpirun"})};
    if (launch.words[0].empty()) launch.error = "there is no mpirun.mpich. Install mpich";
    start_by_mpich(wish, host, launch);
  } else {  // an mpirun of which nothing is known understands -n, and takes the variables or not
    launch.words = {mpi == "openmpi" ? first_of(host, {"mpirun.openmpi", "mpirun"})
                                     : first_of(host, {"mpirun"})};
    if (launch.words[0].empty()) launch.error = "there is no mpirun.openmpi. Install openmpi-bin";
    start_by_open_mpi(wish, host, launch);
    if (!host.has_name) launch.environment["HYDRA_IFACE"] = "lo";
  }
  launch.words.insert(launch.words.end(), wish.words.begin(), wish.words.end());
  launch.words.insert(launch.words.end(), wish.command.begin(), wish.command.end());
  if (wish.hosts.empty() && wish.host_file.empty() && mpi != "slurm" &&
      wish.nodes > host.processors)
    launch.notes.push_back(std::to_string(wish.nodes) + " nodes share " +
                           std::to_string(host.processors) +
                           " processors: right, but no faster than as many nodes as processors");
  return launch;
}

}  // namespace weir::dsm
