// How the nodes of a job find each other: what a launcher (mpirun, srun) and its MPI know.
#pragma once

#include <stdint.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dsm/base/types.h"

namespace weir::dsm {

// If a function is marked collective, every node calls it, in the same order, from one thread at a
// time. What cannot be done ends the job (failure.h).
class Bootstrap {
 public:
  virtual ~Bootstrap() = default;
  virtual NodeId node() const = 0;
  virtual NodeId nodes() const = 0;
  // Whether the parent of this process is a launcher, without which it is not to go on.
  virtual bool has_launcher() const { return false; }
  // Collective. Everybody's bytes, by node; they may differ in size.
  virtual std::vector<std::vector<uint8_t>> allgather(std::span<const uint8_t> mine) = 0;
  // Collective.
  virtual void barrier() = 0;
  // Makes the launcher end all processes of the job, this one with `status`.
  [[noreturn]] virtual void abort(int status) = 0;
  // Collective, the last call. Finalizes MPI, unless the program had initialized it itself.
  virtual void finish() = 0;
};

// Collective. Which MPI: WEIR_DSM_MPI (openmpi, mpich, none) if set; else the one that the program
// has loaded; else the launcher's, by the environment that it gives; none: one node alone.
std::unique_ptr<Bootstrap> start_bootstrap(int* argc, char*** argv);
// The linker's build id of this library, as hexadecimal digits; "unknown" where it was built
// without one.
std::string build_of_this_library();

}  // namespace weir::dsm
