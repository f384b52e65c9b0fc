// Bodies, the octree over them, and gravity by it: what the threads and the sequential version of
// barnes share.
#ifndef WEIR_BENCH_BARNES_TREE_H
#define WEIR_BENCH_BARNES_TREE_H
#include <stdint.h>

enum { kKeyBits = 40 };  // of a place in the cube; the tree is no deeper

// The common beginning of Body and Cell.
struct Node {
  int is_body;
  double mass, at[3];  // a cell's centre of mass
  long cost;           // interactions that the forces on the node's bodies took last time
};

struct Body {
  struct Node node;
  double speed[3], push[3], potential;
  int64_t key[3];  // place in the cube, cut to kKeyBits bits
  long next_cost;
};

struct Cell {
  struct Node node;
  struct Node* child[8];  // a body alone, or a cell of two bodies or more
  struct Cell* parent;
  int64_t corner[3];  // the lowest key in it
  double spread[6];   // quadrupole moments xx yy zz xy xz yz
  long serial;        // of the maker's cells in this step
  int depth, maker, done;
};

// The cube around all bodies.
struct Cube {
  double low[3], side;
};

// Two clusters of Plummer's kind, of total mass 1, on their way to each other.
void make_bodies(struct Body* bodies, long count, uint64_t seed);

struct Cube cube_around(const double* low, const double* high);
void set_key(struct Body* body, const struct Cube* cube);
int octant(const struct Cell* cell, const struct Body* body);
int holds(const struct Cell* cell, const struct Body* body);
// A cleared cell becomes the root (no parent), or the one that belongs at `place` in its parent.
void init_cell(struct Cell* cell, struct Cell* parent, int place, int maker, long serial);

// REQUIRES: the children that are cells have been summed. Adds in the order of children, so that
// the result depends on the bodies alone.
void sum_children(struct Cell* cell);
// Force, potential and next_cost of the body; writes nothing else.
void find_force(struct Body* body, const struct Cell* root, const struct Cube* cube);
void kick(struct Body* body);   // half a step of speed
void drift(struct Body* body);  // a step of place

#endif
