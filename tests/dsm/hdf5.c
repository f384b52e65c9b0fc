/* HDF5 writes shared memory that is not accessible at that moment, and reads into it: whole arrays,
 * compressed chunks, hyperslabs, converted types, structures, attributes; with PARALLEL by all
 * nodes at once into one file. argv: a folder. Ends with "hdf5: well" of node 0. */
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir/dsm.h>
#ifdef PARALLEL
#include <mpi.h>
#endif

enum { kRows = 300, kColumns = 500, kRecords = 3000 };
struct record {
  int number;
  double value;
  char name[20];
};
struct shared {
  double grid[kRows][kColumns];
  float halves[kRows][kColumns];
  struct record records[kRecords];
  int attribute[600];
};
static int me, nodes, well = 1;
static struct shared *from, *to;

static void check(int is_well, const char* what) {
  if (is_well || !well) return;
  printf("hdf5: node %d: %s: wrong\n", me, what);
  well = 0;
}

/* The last node writes both, so on the others neither is accessible. */
static void prepare(int value) {
  if (me == nodes - 1) {
    memset(to, 0xee, sizeof *to);
    for (int row = 0; row < kRows; row++) {
      for (int column = 0; column < kColumns; column++)
        from->grid[row][column] = value + row * 1000 + column;
    }
    for (int i = 0; i < kRecords; i++) {
      from->records[i] = (struct record){value + i, i / 4.0, ""};
      snprintf(from->records[i].name, sizeof from->records[i].name, "record %d", i);
    }
    for (int i = 0; i < 600; i++) from->attribute[i] = value * i;
  }
  weir_dsm_barrier(0);
}

static void compare(int value, const char* what) {
  weir_dsm_barrier(1);
  int grid = 1, halves = 1, records = 1;
  for (int row = 0; row < kRows; row++) {
    for (int column = 0; column < kColumns; column++) {
      grid = grid && to->grid[row][column] == value + row * 1000 + column;
      halves = halves && to->halves[row][column] == (float)(value + row * 1000 + column);
    }
  }
  for (int i = 0; i < kRecords; i++) {
    char name[20];
    snprintf(name, sizeof name, "record %d", i);
    const struct record* its = &to->records[i];
    records =
        records && its->number == value + i && its->value == i / 4.0 && !strcmp(its->name, name);
  }
  check(grid, what);
  check(halves, "numbers of another type");
  check(records, "structures");
  check(!memcmp(to->attribute, from->attribute, sizeof to->attribute), "an attribute");
  weir_dsm_barrier(2);
}

static hid_t type_of_record(void) {
  const hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(struct record)), text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, 20);
  H5Tinsert(type, "number", HOFFSET(struct record, number), H5T_NATIVE_INT);
  H5Tinsert(type, "value", HOFFSET(struct record, value), H5T_NATIVE_DOUBLE);
  H5Tinsert(type, "name", HOFFSET(struct record, name), text);
  H5Tclose(text);
  return type;
}

/* Rows [first, last) of the grid. Of all else who `reads_rest` reads it back. */
static void through(hid_t file, int first, int last, int is_compressed, hid_t transfer,
                    int reads_rest) {
  const hsize_t whole[2] = {kRows, kColumns}, chunk[2] = {50, 100}, many = kRecords, few = 600;
  const hsize_t start[2] = {(hsize_t)first, 0}, count[2] = {(hsize_t)(last - first), kColumns};
  const hid_t space = H5Screate_simple(2, whole, NULL), options = H5Pcreate(H5P_DATASET_CREATE);
  if (is_compressed) {
    H5Pset_chunk(options, 2, chunk);
    H5Pset_deflate(options, 1);
  }
  const hid_t grid =
      H5Dcreate2(file, "grid", H5T_IEEE_F64LE, space, H5P_DEFAULT, options, H5P_DEFAULT);
  const hid_t part = H5Dget_space(grid);
  H5Sselect_hyperslab(part, H5S_SELECT_SET, start, NULL, count, NULL);
  check(H5Dwrite(grid, H5T_NATIVE_DOUBLE, part, part, transfer, from->grid) >= 0, "H5Dwrite");
  check(H5Dread(grid, H5T_NATIVE_DOUBLE, part, part, transfer, to->grid) >= 0, "H5Dread");
  check(H5Dread(grid, H5T_NATIVE_FLOAT, part, part, transfer, to->halves) >= 0,
        "H5Dread, converted");
  const hid_t type = type_of_record(), line = H5Screate_simple(1, &many, NULL);
  const hid_t records =
      H5Dcreate2(file, "records", type, line, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  check(H5Dwrite(records, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, from->records) >= 0,
        "H5Dwrite, structures");
  if (reads_rest)
    check(H5Dread(records, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, to->records) >= 0,
          "H5Dread, structures");
  const hid_t short_line = H5Screate_simple(1, &few, NULL);
  const hid_t attribute =
      H5Acreate2(grid, "attribute", H5T_STD_I32BE, short_line, H5P_DEFAULT, H5P_DEFAULT);
  check(H5Awrite(attribute, H5T_NATIVE_INT, from->attribute) >= 0, "H5Awrite");
  if (reads_rest) check(H5Aread(attribute, H5T_NATIVE_INT, to->attribute) >= 0, "H5Aread");
  H5Aclose(attribute), H5Dclose(records), H5Dclose(grid), H5Tclose(type);
  H5Sclose(short_line), H5Sclose(line), H5Sclose(part), H5Sclose(space), H5Pclose(options);
}

int main(int argc, char** argv) {
  char path[1000];
  weir_dsm_start(&argc, &argv);
  me = (int)weir_dsm_node(), nodes = (int)weir_dsm_nodes();
  if (me == 0) from = weir_dsm_alloc(sizeof *from), to = weir_dsm_alloc(sizeof *to);
  weir_dsm_share(&from, sizeof from, 0);
  weir_dsm_share(&to, sizeof to, 0);
  for (int round = 0; round < 4; round++) {
    prepare(round * 7 + 1);
#ifdef PARALLEL
    snprintf(path, sizeof path, "%s/all-%d.h5", argv[1], round);
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS), transfer = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    H5Pset_dxpl_mpio(transfer, round % 2 ? H5FD_MPIO_INDEPENDENT : H5FD_MPIO_COLLECTIVE);
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    through(file, kRows * me / nodes, kRows * (me + 1) / nodes, 0, transfer, me == 0);
    H5Fclose(file), H5Pclose(access), H5Pclose(transfer);
    compare(round * 7 + 1, "the grid, by all nodes");
#else
    if (me == round % nodes) {
      snprintf(path, sizeof path, "%s/one-%d.h5", argv[1], round);
      const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
      through(file, 0, kRows, round % 2, H5P_DEFAULT, 1);
      H5Fclose(file);
    }
    compare(round * 7 + 1, "the grid, by one node");
#endif
  }
  int64_t all = well;
  weir_dsm_reduce_int64(&all, 1, WEIR_DSM_SUM);
  if (me == 0 && all == nodes) puts("hdf5: well");
  weir_dsm_finish();
  return all != nodes;
}
