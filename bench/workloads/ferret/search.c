// Each table hashes a region by kProjections random directions cut into slots of kSlot; a query
// also looks into the buckets that it would have hit with one projection one slot to the nearer
// side. The distance ships weights greedily, the nearest pair of regions first: an upper bound of
// the earth mover's distance, and exact where regions correspond one to one.
#include "search.h"

#include <stdlib.h>
#include <string.h>
#include <weir/weir.h>

#include "../workload.h"

static const float kSlot = 0.35f;

// Slots of a region in one table, and how far right of its slot's left end it lies, 0 to 1.
static void find_slots(const struct Table* table, const float* feature, int* slot, float* within) {
  for (int p = 0; p < kProjections; ++p) {
    float along = table->offset[p];
    for (int f = 0; f < kFeatures; ++f) along += table->direction[p][f] * feature[f];
    const float place = floorf(along / kSlot);
    slot[p] = (int)place;
    within[p] = along / kSlot - place;
  }
}

static int bucket_of(const int* slot) {
  return (int)(digest(0, slot, kProjections * sizeof *slot) * 0x9e3779b97f4a7c15u >>
               (64 - kBucketBits));
}

static int bucket_of_region(const struct Table* table, const float* feature) {
  int slot[kProjections];
  float within[kProjections];
  find_slots(table, feature, slot, within);
  return bucket_of(slot);
}

static void fill_table(const struct Index* index, struct Table* table) {
  long regions = 0;
  const size_t size = ((1u << kBucketBits) + 2) * sizeof *table->first;
  table->first = weir_alloc(size, WEIR_PRIVATE);
  must(!table->first, "malloc");
  memset(table->first, 0, size);
  // Counted two places to the right, so that the second pass moves each bucket's begin to where it
  // belongs.
  for (long i = 0; i < index->count; ++i) {
    for (int r = 0; r < index->pictures[i].count; ++r, ++regions) {
      table->first[bucket_of_region(table, index->pictures[i].feature[r]) + 2]++;
    }
  }
  for (int bucket = 2; bucket < (1 << kBucketBits) + 2; ++bucket)
    table->first[bucket] += table->first[bucket - 1];
  table->members = weir_alloc((size_t)regions * sizeof *table->members, WEIR_PRIVATE);
  must(!table->members, "malloc");
  for (long i = 0; i < index->count; ++i) {
    for (int r = 0; r < index->pictures[i].count; ++r) {
      table->members[table->first[bucket_of_region(table, index->pictures[i].feature[r]) + 1]++] =
          (int)i;
    }
  }
}

void build_index(struct Index* index, struct Regions* pictures, long count, struct Random* random) {
  index->pictures = pictures;
  index->count = count;
  for (int t = 0; t < kTables; ++t) {
    struct Table* table = &index->table[t];
    for (int p = 0; p < kProjections; ++p) {
      for (int f = 0; f < kFeatures; ++f) table->direction[p][f] = (float)random_normal(random);
      table->offset[p] = (float)random_between(random, 0, kSlot);
    }
    fill_table(index, table);
  }
}

void set_index_policy(const struct Index* index) {
  weir_set_sticky_read(index->pictures);
  for (int t = 0; t < kTables; ++t) {
    weir_set_sticky_read(index->table[t].first);
    weir_set_sticky_read(index->table[t].members);
  }
}

static void add_bucket(const struct Table* table, int bucket, unsigned char* seen,
                       struct Candidates* candidates) {
  for (int i = table->first[bucket]; i < table->first[bucket + 1]; ++i) {
    const int picture = table->members[i];
    if (!seen[picture]) candidates->pictures[candidates->count++] = picture;
    seen[picture] = 1;
  }
}

struct Candidates query_index(const struct Index* index, const struct Regions* regions) {
  struct Candidates candidates = {
      0, weir_alloc((size_t)index->count * sizeof *candidates.pictures, WEIR_PRIVATE)};
  unsigned char* seen = calloc((size_t)index->count, 1);
  must(!candidates.pictures || !seen, "malloc");
  for (int r = 0; r < regions->count; ++r) {
    for (int t = 0; t < kTables; ++t) {
      const struct Table* table = &index->table[t];
      int slot[kProjections];
      float within[kProjections];
      find_slots(table, regions->feature[r], slot, within);
      add_bucket(table, bucket_of(slot), seen, &candidates);
      for (int p = 0; p < kProjections; ++p) {
        const int step = within[p] < 0.5f ? -1 : 1;
        slot[p] += step;
        add_bucket(table, bucket_of(slot), seen, &candidates);
        slot[p] -= step;
      }
    }
  }
  free(seen);
  return candidates;
}

static float feature_distance(const float* a, const float* b) {
  float sum = 0;
  for (int f = 0; f < kFeatures; ++f) sum += fabsf(a[f] - b[f]);
  return sum;
}

struct Pair {
  float distance;
  int a, b;
};

static int by_distance(const void* left, const void* right) {
  const struct Pair *a = left, *b = right;
  if (a->distance != b->distance) return a->distance < b->distance ? -1 : 1;
  return a->a != b->a ? a->a - b->a : a->b - b->b;
}

static float mover_distance(const struct Regions* a, const struct Regions* b) {
  struct Pair pairs[kRegions * kRegions];
  float left_a[kRegions], left_b[kRegions], sum = 0;
  int count = 0;
  memcpy(left_a, a->weight, sizeof left_a);
  memcpy(left_b, b->weight, sizeof left_b);
  for (int i = 0; i < a->count; ++i) {
    for (int j = 0; j < b->count; ++j)
      pairs[count++] = (struct Pair){feature_distance(a->feature[i], b->feature[j]), i, j};
  }
  qsort(pairs, (size_t)count, sizeof *pairs, by_distance);
  for (int i = 0; i < count; ++i) {
    float *from = &left_a[pairs[i].a], *to = &left_b[pairs[i].b];
    const float moved = *from < *to ? *from : *to;
    *from -= moved;
    *to -= moved;
    sum += moved * pairs[i].distance;
  }
  return sum;
}

// Equal distances by the picture's number, so that the order of candidates does not show.
struct Answer rank(const struct Index* index, const struct Regions* regions,
                   struct Candidates* candidates) {
  struct Answer answer = {0};
  for (long i = 0; i < candidates->count; ++i) {
    const int picture = candidates->pictures[i];
    const float distance = mover_distance(regions, &index->pictures[picture]);
    int at = answer.count;
    while (at > 0 && (distance < answer.distance[at - 1] ||
                      (distance == answer.distance[at - 1] && picture < answer.picture[at - 1]))) {
      --at;
    }
    if (at == kBest) continue;
    if (answer.count < kBest) answer.count++;
    for (int other = answer.count - 1; other > at; --other) {
      answer.picture[other] = answer.picture[other - 1];
      answer.distance[other] = answer.distance[other - 1];
    }
    answer.picture[at] = picture;
    answer.distance[at] = distance;
  }
  weir_free(candidates->pictures);
  candidates->pictures = NULL;
  return answer;
}
