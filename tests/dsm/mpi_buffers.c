/* MPI's buffers in shared memory that is not accessible at that moment: of all sizes, so that MPI
 * sends them by copies and by one copy from process to process; blocking and not, collective, by a
 * type with gaps, to and from a file. argv: "first" initializes MPI before
 * weir_dsm_start, "early" finalizes it before weir_dsm_finish. Ends with "mpi_buffers: well" of
 * node 0. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weir/dsm.h>

enum { kSizes = 5, kMost = 3000000 };
static const int sizes[kSizes] = {100, 5000, 70000, 600000, kMost};
static int me, nodes, well = 1;
static unsigned char *from, *to;

static void check(int is_well, const char* what, int size) {
  if (is_well || !well) return;
  printf("mpi_buffers: node %d: %s of %d bytes: wrong\n", me, what, size);
  well = 0;
}

static int holds(const unsigned char* bytes, int size, int value) {
  for (int i = 0; i < size; i++) {
    if (bytes[i] != (unsigned char)(value + i / 1000)) return 0;
  }
  return 1;
}

static void fill(unsigned char* bytes, int size, int value) {
  for (int i = 0; i < size; i++) bytes[i] = (unsigned char)(value + i / 1000);
}

/* The last node writes what the others send and what they receive into: so both are invalid there.
 */
static void prepare(int size, int value) {
  if (me == nodes - 1) {
    fill(from, size, value);
    memset(to, 0xee, (size_t)size);
  }
  weir_dsm_barrier(0);
}

static void messages(int size, int value) {
  prepare(size, value);
  if (me == 0) {
    MPI_Send(from, size, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
  } else if (me == 1) {
    MPI_Recv(to, size, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(holds(to, size, value), "MPI_Recv", size);
  }
  weir_dsm_barrier(1);
  check(holds(to, size, value), "what was received", size);
  weir_dsm_barrier(2);
  prepare(size, value + 1);
  unsigned char* mine = malloc((size_t)size);
  MPI_Request requests[2];
  const int next = (me + 1) % nodes, before = (me + nodes - 1) % nodes;
  MPI_Irecv(mine, size, MPI_BYTE, before, 2, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(from, size, MPI_BYTE, next, 2, MPI_COMM_WORLD, &requests[1]);
  MPI_Status statuses[2];
  MPI_Waitall(2, requests, statuses);
  check(holds(mine, size, value + 1), "MPI_Irecv", size);
  free(mine);
  weir_dsm_barrier(3);
  prepare(size, value + 2);
  MPI_Bcast(me == 0 ? from : to + (size_t)me * kMost, size, MPI_BYTE, 0, MPI_COMM_WORLD);
  if (me > 0) check(holds(to + (size_t)me * kMost, size, value + 2), "MPI_Bcast", size);
  weir_dsm_barrier(4);
}

static void strided(int value) {
  const int rows = 500, size = rows * 1000;
  prepare(size, value);
  MPI_Datatype columns;
  MPI_Type_vector(rows, 300, 1000, MPI_BYTE, &columns);
  MPI_Type_commit(&columns);
  if (me == 0) MPI_Send(from + 500, 1, columns, 1, 3, MPI_COMM_WORLD);
  if (me == 1) MPI_Recv(to + 500, 1, columns, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  weir_dsm_barrier(5);
  int is_well = 1;
  for (int i = 0; i < size; i++) {
    const int sent = i % 1000 >= 500 && i % 1000 < 800;
    is_well = is_well && to[i] == (sent ? (unsigned char)(value + i / 1000) : 0xee);
  }
  check(is_well, "columns", size);
  MPI_Type_free(&columns);
  weir_dsm_barrier(6);
}

/* What is sent under a lock was written by the other node, under that lock. */
static void under_locks(int rounds) {
  unsigned char* mine = malloc(100000);
  for (int round = 0; round < rounds; round++) {
    if (me == 1) {
      MPI_Recv(mine, 100000, MPI_BYTE, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      int is_well = round == 0 || mine[0] == (unsigned char)round;
      for (int i = 1; i < 100000; i++) is_well = is_well && mine[i] == mine[0];
      check(is_well, "a message under a lock", 100000);
    }
    weir_dsm_lock(7);
    if (me == 1) memset(from, round + 1, 100000);
    if (me == 0) {
      if (round == 0) memset(from, 99, 100000);
      MPI_Send(from, 100000, MPI_BYTE, 1, 4, MPI_COMM_WORLD);
    }
    weir_dsm_unlock(7);
    if (me == 0) MPI_Recv(NULL, 0, MPI_BYTE, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (me == 1) MPI_Send(NULL, 0, MPI_BYTE, 0, 5, MPI_COMM_WORLD);
  }
  free(mine);
  weir_dsm_barrier(7);
}

static void file(int value) {
  char name[] = "/tmp/weir-mpi-buffers-XXXXXX";
  if (me == 0) close(mkstemp(name));
  MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
  const int size = 600000;
  prepare(size, value);
  MPI_File opened;
  if (me == 0) {
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR, MPI_INFO_NULL, &opened);
    MPI_Request request;
    MPI_File_write_at(opened, 0, from, size / 2, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_iwrite_at(opened, size / 2, from + size / 2, size / 2, MPI_BYTE, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_read_at(opened, 0, to, size, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&opened);
    unlink(name);
  }
  weir_dsm_barrier(8);
  check(holds(to, size, value), "a file", size);
  weir_dsm_barrier(9);
}

int main(int argc, char** argv) {
  const int forgets = argc > 1 && !strcmp(argv[1], "forgotten"),
            ends = argc > 1 && !strcmp(argv[1], "threads-end"),
            is_first = forgets || ends || (argc > 1 && !strcmp(argv[1], "first"));
  if (is_first) MPI_Init(&argc, &argv);
  weir_dsm_start(&argc, &argv);
  me = (int)weir_dsm_node(), nodes = (int)weir_dsm_nodes();
  if (ends && me == nodes - 1) pthread_exit(NULL);
  if (me == 0) {
    from = weir_dsm_alloc(kMost);
    to = weir_dsm_alloc((size_t)kMost * (size_t)nodes);
  }
  weir_dsm_share(&from, sizeof from, 0);
  weir_dsm_share(&to, sizeof to, 0);
  for (int i = 0; i < kSizes && nodes > 1; i++) messages(sizes[i], i * 10 + 1);
  if (nodes > 1) {
    strided(3);
    under_locks(5);
    file(9);
  }
  int64_t all = well;
  weir_dsm_reduce_int64(&all, 1, WEIR_DSM_SUM);
  if (me == 0 && all == nodes) puts("mpi_buffers: well");
  if (argc > 1 && !strcmp(argv[1], "early")) MPI_Finalize();
  weir_dsm_finish();
  if (is_first && !forgets) MPI_Finalize();
  return all != nodes;
}
