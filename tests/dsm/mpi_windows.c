/* MPI's windows on shared memory that its node may not access at that moment, or has not yet learnt
 * to be outdated: the node that reads or writes it by MPI has passed the barrier before. Node i's
 * window is the i-th part, which the node before it fills; sizes are those that MPI sends in
 * different ways. A node that waits in the library lets no MPI go on, so all meet in MPI first.
 * argv: "direct" where MPI copies without the other node's part. Ends with "mpi_windows: well" of
 * node 0. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <weir/dsm.h>

enum { kMost = 1000000, kSizes = 4, kAdds = 5 };
static const int sizes[kSizes] = {8, 304, 9000, kMost};
static int me, nodes, next, before, well = 1;
static unsigned char *windows, *others; /* kMost bytes of each node */
static MPI_Win window;

static void check(int is_well, const char* what, int size) {
  if (is_well || !well) return;
  printf("mpi_windows: node %d: %s of %d bytes: wrong\n", me, what, size);
  well = 0;
}

static unsigned char value(int i, int seed) { return (unsigned char)(seed + i / 1000 + i * 7); }
static void fill(unsigned char* bytes, int seed) {
  for (int i = 0; i < kMost; i++) bytes[i] = value(i, seed);
}
static int holds(const unsigned char* bytes, int size, int seed) {
  for (int i = 0; i < size; i++) {
    if (bytes[i] != value(i, seed)) return 0;
  }
  return 1;
}
static unsigned char* part(unsigned char* all, int node) { return all + (size_t)node * kMost; }

/* By both nodes (a fence), by the caller alone, or by it and a request. */
static void get(int how, int size) {
  unsigned char* mine = part(others, me);
  MPI_Request request;
  if (how == 0) MPI_Win_fence(0, window);
  else MPI_Win_lock(MPI_LOCK_SHARED, before, 0, window);
  if (how == 2) {
    MPI_Rget(mine, size, MPI_BYTE, before, 0, size, MPI_BYTE, window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Get(mine, size, MPI_BYTE, before, 0, size, MPI_BYTE, window);
  }
  if (how == 0) MPI_Win_fence(0, window);
  else MPI_Win_unlock(before, window);
}

static void put(int how, int size) {
  if (how == 0) MPI_Win_fence(0, window);
  else MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, window);
  MPI_Put(part(others, me), size, MPI_BYTE, next, 0, size, MPI_BYTE, window);
  if (how == 0) MPI_Win_fence(0, window);
  else MPI_Win_unlock(next, window);
}

static void copies(int how, int size, int seed) {
  weir_dsm_barrier(0);
  fill(part(windows, next), seed + next);
  weir_dsm_barrier(1);
  get(how, size);
  check(holds(part(others, me), size, seed + before), "MPI_Get", size);
  MPI_Barrier(MPI_COMM_WORLD);
  weir_dsm_barrier(2);
  fill(part(others, next), seed + 100 + next);
  memset(part(windows, next), 0xee, kMost);
  weir_dsm_barrier(3);
  put(how, size);
  MPI_Barrier(MPI_COMM_WORLD);
  weir_dsm_barrier(4);
  for (int node = 0; node < nodes; node++)
    check(holds(part(windows, node), size, seed + 100 + (node + nodes - 1) % nodes), "MPI_Put",
          size);
  for (int i = size; i < kMost; i++) check(part(windows, me)[i] == 0xee, "what is behind it", i);
}

/* What one node writes for another under a lock, who has the lock next sees. */
static void under_locks(int rounds) {
  weir_dsm_barrier(5);
  memset(part(windows, me), 0, sizeof(int));
  weir_dsm_barrier(6);
  for (int round = 0; round < rounds; round++) {
    weir_dsm_lock(1);
    int count;
    memcpy(&count, part(windows, 1), sizeof count);
    count++;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window);
    MPI_Put(&count, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
    MPI_Win_unlock(1, window);
    weir_dsm_unlock(1);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  weir_dsm_barrier(7);
  int count;
  memcpy(&count, part(windows, 1), sizeof count);
  check(count == rounds * nodes, "a count under a lock", count);
}

static void sums(void) {
  const long one = 1;
  long got;
  weir_dsm_barrier(8);
  if (me == nodes - 1) memset(part(windows, 0), 0, sizeof(long));
  weir_dsm_barrier(9);
  for (int i = 0; i < kAdds; i++) {
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    MPI_Fetch_and_op(&one, &got, MPI_LONG, 0, 0, MPI_SUM, window);
    MPI_Win_unlock(0, window);
    check(got >= 0 && got < (long)kAdds * nodes, "MPI_Fetch_and_op", (int)got);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  weir_dsm_barrier(10);
  memcpy(&got, windows, sizeof got);
  check(got == (long)kAdds * nodes, "a sum", (int)got);
}

int main(int argc, char** argv) {
  weir_dsm_start(&argc, &argv);
  me = (int)weir_dsm_node(), nodes = (int)weir_dsm_nodes();
  next = (me + 1) % nodes, before = (me + nodes - 1) % nodes;
  windows = weir_dsm_alloc_shared((size_t)nodes, kMost, NULL);
  others = weir_dsm_alloc_shared((size_t)nodes, kMost, NULL);
  MPI_Win_create(part(windows, me), kMost, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  for (int how = 0; how < 3; how++) {
    for (int i = 0; i < kSizes; i++) copies(how, sizes[i], how * 10 + i * 3);
    sums();
    if (argc > 1 && !strcmp(argv[1], "direct")) under_locks(5);
  }
  MPI_Win_free(&window);
  int64_t all = well;
  weir_dsm_reduce_int64(&all, 1, WEIR_DSM_SUM);
  if (me == 0 && all == nodes) puts("mpi_windows: well");
  weir_dsm_finish();
  return all != nodes;
}
