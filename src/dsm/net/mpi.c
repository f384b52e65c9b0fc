/* The module for one MPI: compiled once by each MPI's own compiler command.
 *
 * Problem: Open MPI and MPICH have the same functions by name and other types behind them, so a
 * library that is to work with both can link neither. Mechanism: what it needs stands in a table,
 * which libweir-dsm looks up after dlopen.
 *
 * Invariants:
 *   1. MPI is initialized and finalized here, or neither: who initialized it finalizes it. (not
 *      checkable: MPI does not say who has initialized it)
 *   2. Nothing here waits inside MPI: it would burn a core, and a node whose threads compute shares
 *      its cores. Waiting is testing with pauses. (not checkable: what MPI does inside nobody sees)
 *   3. What MPI carries runs on a communicator of its own, so that the program's messages and these
 *      never meet. Where the launcher can carry it (pmi.h), MPI carries nothing. (not checkable:
 *      what MPI does inside nobody sees) */
#include "dsm/net/mpi.h"

#include <mpi.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#ifdef MPICH_VERSION
#include "dsm/net/pmi.h"
#else
static int pmi_start(void) { return 0; }
static int pmi_barrier(void) { return 1; }
static int pmi_allgather(const void* mine, void* all, int bytes, int node, int nodes) {
  return (void)mine, (void)all, (void)bytes, (void)node, (void)nodes, 1;
}
#endif

static MPI_Comm communicator = MPI_COMM_NULL; /* NULL: the launcher carries */
static int initialized_here = 0;
enum { kFinalized = 0x77656972 }; /* of no MPI: nothing of MPI may be called any more */

static int is_finalized(void) {
  int is_over = 0;
  MPI_Finalized(&is_over);
  return is_over;
}

/* Pauses grow, so that what takes a moment takes no longer and what takes a second costs next to
 * nothing. */
static int wait_for(MPI_Request* request) {
  long pause = 20 * 1000;
  while (1) {
    int done = 0;
    const int status = MPI_Test(request, &done, MPI_STATUS_IGNORE);
    if (status != MPI_SUCCESS || done) return status;
    const struct timespec time = {.tv_sec = 0, .tv_nsec = pause};
    nanosleep(&time, NULL);
    if (pause < 1000 * 1000) pause += pause / 4;
  }
}

static int start(int* argc, char*** argv) {
  int is_there = 0, level = 0;
  if (is_finalized()) return kFinalized;
  MPI_Initialized(&is_there);
  if (!is_there) {
    const int status = MPI_Init_thread(argc, argv, MPI_THREAD_SERIALIZED, &level);
    if (status != MPI_SUCCESS) return status;
    initialized_here = 1;
  }
  if (pmi_start()) return MPI_SUCCESS;
  const int status = MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
  if (status == MPI_SUCCESS) MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
  return status;
}

static int node(void) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

static int nodes(void) {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

static int allgather(const void* mine, void* all, int bytes) {
  if (communicator == MPI_COMM_NULL)
    return pmi_allgather(mine, all, bytes, node(), nodes()) ? MPI_ERR_INTERN : MPI_SUCCESS;
  MPI_Request request;
  const int status =
      MPI_Iallgather(mine, bytes, MPI_BYTE, all, bytes, MPI_BYTE, communicator, &request);
  return status == MPI_SUCCESS ? wait_for(&request) : status;
}

static int barrier(void) {
  if (is_finalized()) return kFinalized;
  if (communicator == MPI_COMM_NULL) return pmi_barrier() ? MPI_ERR_INTERN : MPI_SUCCESS;
  MPI_Request request;
  const int status = MPI_Ibarrier(communicator, &request);
  return status == MPI_SUCCESS ? wait_for(&request) : status;
}

static void abort_all(int code) {
  if (!is_finalized()) MPI_Abort(MPI_COMM_WORLD, code);
}

static int finish(void) {
  if (is_finalized()) return MPI_SUCCESS;
  if (communicator != MPI_COMM_NULL) MPI_Comm_free(&communicator);
  return initialized_here ? MPI_Finalize() : MPI_SUCCESS;
}

static int is_left(void) { return !initialized_here && !is_finalized(); }

static const char* name(void) {
  static char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  text[strcspn(text, ",\n\r")] = 0;
  for (char* at = text; *at; at++) {
    if (*at == '\t') *at = ' ';
  }
  return text;
}

static const char* error(int code) {
  if (code == kFinalized)
    return "MPI_Finalize has been called; call it after weir_dsm_finish, and weir_dsm_start before";
  static char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  return text;
}

__attribute__((visibility("default"))) const struct weir_dsm_mpi_functions weir_dsm_mpi = {
    .version = WEIR_DSM_MPI_VERSION,
    .start = start,
    .node = node,
    .nodes = nodes,
    .allgather = allgather,
    .barrier = barrier,
    .abort = abort_all,
    .finish = finish,
    .is_left = is_left,
    .name = name,
    .error = error,
};
