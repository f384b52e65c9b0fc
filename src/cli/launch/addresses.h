// How the addresses of a program come to be the same in every run.
#pragma once

namespace weir::cli {

enum class Addresses {
  kKernel,  // the kernel does not randomize them (personality, or it never does)
  kWeir,    // Weir moves what the kernel has mapped (loader/fixed_layout.h)
  kRandom,  // neither can be had
};

// What this machine allows. Changes nothing in this process.
Addresses addresses();

// For what this process executes. False where the kernel does not do it.
bool let_kernel_fix();
// The same the other way round, for a program that Weir moves.
void let_kernel_choose();

}  // namespace weir::cli
