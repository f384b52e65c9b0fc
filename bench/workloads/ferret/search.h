// An index of pictures by their regions: locality-sensitive hashing finds candidates, an earth
// mover's distance ranks.
#ifndef WEIR_BENCH_FERRET_SEARCH_H
#define WEIR_BENCH_FERRET_SEARCH_H
#include "image.h"

enum { kTables = 8, kProjections = 6, kBucketBits = 14, kBest = 10 };

// Read by all, never written once it is built.
struct Index {
  long count;
  struct Regions* pictures;
  struct Table {
    float direction[kProjections][kFeatures], offset[kProjections];
    int* first;    // of each bucket, and of the one after the last
    int* members;  // pictures, bucket by bucket
  } table[kTables];
};

struct Candidates {
  long count;
  int* pictures;  // allocated; rank frees it
};

struct Answer {
  int count;
  int picture[kBest];  // the nearest first
  float distance[kBest];
};

// Takes `pictures`.
void build_index(struct Index* index, struct Regions* pictures, long count, struct Random* random);
// It is only read from here on. REQUIRES: there is one thread.
void set_index_policy(const struct Index* index);
struct Candidates query_index(const struct Index* index, const struct Regions* regions);
struct Answer rank(const struct Index* index, const struct Regions* regions,
                   struct Candidates* candidates);

#endif
