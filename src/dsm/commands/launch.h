// How weir-dsm-run starts a program on several nodes: which launcher, with which words and which
// environment. Pure: what is known of the machine is an argument.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace weir::dsm {

enum class Mpi { kUnknown, kOpenMpi, kMpich };

struct Host {
  unsigned processors = 1;
  bool is_root = false, has_name = true, in_slurm = false;
  std::map<std::string, std::string> launchers;    // name, path: of those that are installed
  std::map<std::string, std::string> environment;  // variables that other hosts must get
};

struct Wish {
  unsigned nodes = 1;
  std::string mpi;                   // "", openmpi, mpich, slurm, none
  std::string hosts, host_file;      // where; "": here
  std::vector<std::string> words;    // for the launcher itself
  std::vector<std::string> command;  // the program
  Mpi program = Mpi::kUnknown;       // the MPI that the program is linked with
};

struct Launch {
  std::vector<std::string> words;
  std::map<std::string, std::string> environment;
  std::vector<std::string> notes;  // for the user
  std::string error;               // not "": there is no way; what to do
};

Launch plan_launch(const Wish& wish, const Host& host);

}  // namespace weir::dsm
