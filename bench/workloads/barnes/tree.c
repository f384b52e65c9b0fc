// Gravity by the octree: a cell that is small for its distance acts as its mass and its quadrupole
// in one place.
#include "tree.h"

#include <math.h>
#include <string.h>

#include "../random.h"
#include "../workload.h"

static const double kStep = 0.025, kSoft = 0.05,
                    kOpen = 1.0;  // kOpen: side of a cell through its distance

// --- bodies

static void random_direction(struct Random* random, double length, double* vector) {
  double squared;
  do {
    squared = 0;
    for (int i = 0; i < 3; ++i) {
      vector[i] = random_between(random, -1, 1);
      squared += vector[i] * vector[i];
    }
  } while (squared > 1 || squared < 1e-6);
  for (int i = 0; i < 3; ++i) vector[i] *= length / sqrt(squared);
}

// Aarseth's recipe: radius from the mass inside, speed by rejection.
static void make_body(struct Random* random, struct Body* body) {
  const double radius = 1 / sqrt(pow(random_between(random, 0.001, 0.99), -2.0 / 3) - 1);
  double x, y;
  do {
    x = random_unit(random);
    y = random_between(random, 0, 0.1);
  } while (y > x * x * pow(1 - x * x, 3.5));
  const double scale =
      3 * 3.14159265358979323846 / 16;  // to units in which the energy of one cluster is -1/4
  random_direction(random, radius * scale, body->node.at);
  random_direction(random, x * sqrt(2 / sqrt(1 + radius * radius)) / sqrt(scale), body->speed);
}

void make_bodies(struct Body* bodies, long count, uint64_t seed) {
  struct Random random = random_stream(seed, 0);
  double at[3] = {0}, speed[3] = {0};  // means
  for (long i = 0; i < count; ++i) {
    struct Body* body = &bodies[i];
    memset(body, 0, sizeof *body);
    body->node.is_body = 1;
    body->node.mass = 1.0 / (double)count;
    body->node.cost = 1;
    make_body(&random, body);
    for (int d = 0; d < 3; ++d) {
      body->speed[d] *= sqrt(0.5);  // each cluster has half of the mass
      if (i < count / 2) body->node.at[d] += 2;
      if (i < count / 2) body->speed[d] -= 0.2;
      at[d] += body->node.at[d] / (double)count;
      speed[d] += body->speed[d] / (double)count;
    }
  }
  for (long i = 0; i < count; ++i) {
    for (int d = 0; d < 3; ++d) {
      bodies[i].node.at[d] -= at[d];
      bodies[i].speed[d] -= speed[d];
    }
  }
}

// --- the tree's geometry

struct Cube cube_around(const double* low, const double* high) {
  struct Cube cube = {{0}, 0};
  for (int d = 0; d < 3; ++d) {
    if (high[d] - low[d] > cube.side) cube.side = high[d] - low[d];
  }
  cube.side *= 1.001;
  for (int d = 0; d < 3; ++d) cube.low[d] = (low[d] + high[d] - cube.side) / 2;
  return cube;
}

void set_key(struct Body* body, const struct Cube* cube) {
  for (int d = 0; d < 3; ++d) {
    body->key[d] = (int64_t)((body->node.at[d] - cube->low[d]) / cube->side *
                             (double)((int64_t)1 << kKeyBits));
  }
}

int octant(const struct Cell* cell, const struct Body* body) {
  const int bit = kKeyBits - 1 - cell->depth;
  return (int)(body->key[0] >> bit & 1) << 2 | (int)(body->key[1] >> bit & 1) << 1 |
         (int)(body->key[2] >> bit & 1);
}

int holds(const struct Cell* cell, const struct Body* body) {
  int64_t different = 0;
  for (int d = 0; d < 3; ++d) different |= cell->corner[d] ^ body->key[d];
  return different >> (kKeyBits - cell->depth) == 0;
}

void init_cell(struct Cell* cell, struct Cell* parent, int place, int maker, long serial) {
  memset(cell, 0, sizeof *cell);
  cell->parent = parent;
  cell->maker = maker;
  cell->serial = serial;
  if (!parent) return;
  cell->depth = parent->depth + 1;
  must(cell->depth == kKeyBits, "two bodies in one place: building the tree");
  const int64_t side = (int64_t)1 << (kKeyBits - cell->depth);
  for (int d = 0; d < 3; ++d) cell->corner[d] = parent->corner[d] + (place >> (2 - d) & 1) * side;
}

// --- gravity

void sum_children(struct Cell* cell) {
  struct Node* sum = &cell->node;
  for (int c = 0; c < 8; ++c) {
    const struct Node* child = cell->child[c];
    if (!child) continue;
    sum->mass += child->mass;
    sum->cost += child->cost;
    for (int d = 0; d < 3; ++d) sum->at[d] += child->mass * child->at[d];
  }
  for (int d = 0; d < 3; ++d) sum->at[d] /= sum->mass;
  for (int c = 0; c < 8; ++c) {
    const struct Node* child = cell->child[c];
    if (!child) continue;
    const double x = child->at[0] - sum->at[0], y = child->at[1] - sum->at[1],
                 z = child->at[2] - sum->at[2];
    const double squared = x * x + y * y + z * z;
    const double spread[6] = {3 * x * x - squared, 3 * y * y - squared, 3 * z * z - squared,
                              3 * x * y,           3 * x * z,           3 * y * z};
    for (int i = 0; i < 6; ++i) {
      cell->spread[i] +=
          child->mass * spread[i] + (child->is_body ? 0 : ((const struct Cell*)child)->spread[i]);
    }
  }
}

static void act(struct Body* body, const struct Node* node, const double* away, double squared) {
  const double inverse = 1 / (squared + kSoft * kSoft), root = sqrt(inverse);
  const double potential = node->mass * root;
  body->potential -= potential;
  for (int d = 0; d < 3; ++d) body->push[d] -= potential * inverse * away[d];
  ++body->next_cost;
  if (node->is_body) return;
  const double* q = ((const struct Cell*)node)->spread;
  const double turned[3] = {q[0] * away[0] + q[3] * away[1] + q[4] * away[2],
                            q[3] * away[0] + q[1] * away[1] + q[5] * away[2],
                            q[4] * away[0] + q[5] * away[1] + q[2] * away[2]};
  const double fifth = inverse * inverse * root;
  const double quadrupole =
      (turned[0] * away[0] + turned[1] * away[1] + turned[2] * away[2]) * fifth / 2;
  body->potential -= quadrupole;
  for (int d = 0; d < 3; ++d)
    body->push[d] += turned[d] * fifth - 5 * quadrupole * inverse * away[d];
}

// `reach`: squared distance from which on a node of this depth acts as a whole.
static void walk(struct Body* body, const struct Node* node, double reach) {
  if (node == &body->node) return;
  double away[3], squared = 0;
  for (int d = 0; d < 3; ++d) {
    away[d] = body->node.at[d] - node->at[d];
    squared += away[d] * away[d];
  }
  if (node->is_body || squared > reach) {
    act(body, node, away, squared);
    return;
  }
  for (int c = 0; c < 8; ++c) {
    const struct Node* child = ((const struct Cell*)node)->child[c];
    if (child) walk(body, child, reach / 4);
  }
}

void find_force(struct Body* body, const struct Cell* root, const struct Cube* cube) {
  memset(body->push, 0, sizeof body->push);
  body->potential = 0;
  body->next_cost = 0;
  walk(body, &root->node, cube->side * cube->side / (kOpen * kOpen));
}

void kick(struct Body* body) {
  for (int d = 0; d < 3; ++d) body->speed[d] += body->push[d] * kStep / 2;
}

void drift(struct Body* body) {
  for (int d = 0; d < 3; ++d) body->node.at[d] += body->speed[d] * kStep;
}
