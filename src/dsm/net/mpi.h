/* What libweir-dsm needs of an MPI: to be started, to know who is there, and to exchange a few
 * bytes. One module for each MPI offers it (mpi.c), since their ABIs differ. Functions that answer
 * int: 0, or an MPI error. All are called by one thread at a time. */
#ifndef WEIR_DSM_BOOTSTRAP_MPI_H
#define WEIR_DSM_BOOTSTRAP_MPI_H

#include <stdint.h>

#define WEIR_DSM_MPI_VERSION 2u
#define WEIR_DSM_MPI_TABLE "weir_dsm_mpi" /* name of the exported table */

struct weir_dsm_mpi_functions {
  uint32_t version; /* WEIR_DSM_MPI_VERSION */
  /* Initializes MPI unless somebody has. */
  int (*start)(int* argc, char*** argv);
  int (*node)(void);
  int (*nodes)(void);
  /* `all` has room for `bytes` of each node. */
  int (*allgather)(const void* mine, void* all, int bytes);
  int (*barrier)(void);
  /* Does not return. */
  void (*abort)(int status);
  /* Finalizes MPI where start initialized it. */
  int (*finish)(void);
  /* Whether the program has initialized MPI, and has not finalized it. */
  int (*is_left)(void);
  /* What the library calls itself, one line. */
  const char* (*name)(void);
  const char* (*error)(int code);
};

#endif
