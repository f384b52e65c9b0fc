// Regions are what is connected by neighbours of nearly one colour (union-find); the largest
// kRegions count.
#include "image.h"

#include <stdlib.h>
#include <weir/weir.h>

#include "../workload.h"

enum { kNoise = 12, kNear = 60, kSmallest = 40, kPixels = kWidth * kHeight };

struct Scene make_scene(struct Random* random) {
  struct Scene scene = {.blobs = 3 + (int)random_below(random, kMaxBlobs - 2)};
  for (int c = 0; c < 3; ++c) scene.background[c] = (float)random_between(random, 10, 240);
  for (int i = 0; i < scene.blobs; ++i) {
    scene.blob[i].x = (float)random_between(random, 0.1, 0.9);
    scene.blob[i].y = (float)random_between(random, 0.1, 0.9);
    scene.blob[i].half_width = (float)random_between(random, 0.06, 0.2);
    scene.blob[i].half_height = (float)random_between(random, 0.06, 0.2);
    for (int c = 0; c < 3; ++c) scene.blob[i].colour[c] = (float)random_between(random, 10, 240);
  }
  return scene;
}

struct Scene vary_scene(const struct Scene* scene, struct Random* random) {
  struct Scene varied = *scene;
  for (int i = 0; i < varied.blobs; ++i) {
    varied.blob[i].x += (float)random_between(random, -0.02, 0.02);
    varied.blob[i].y += (float)random_between(random, -0.02, 0.02);
    for (int c = 0; c < 3; ++c) varied.blob[i].colour[c] += (float)random_between(random, -5, 5);
  }
  return varied;
}

struct Image* draw(const struct Scene* scene, struct Random* random) {
  struct Image* image = weir_alloc(sizeof *image, WEIR_PRIVATE);
  must(!image, "malloc");
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const float* colour = scene->background;
      for (int i = 0; i < scene->blobs; ++i) {
        const float across = ((float)x / kWidth - scene->blob[i].x) / scene->blob[i].half_width;
        const float down = ((float)y / kHeight - scene->blob[i].y) / scene->blob[i].half_height;
        if (across * across + down * down < 1) colour = scene->blob[i].colour;
      }
      uint64_t noise = random_bits(random);
      for (int c = 0; c < 3; ++c, noise >>= 16) {
        image->pixel[y][x][c] =
            (unsigned char)((int)colour[c] + (int)((noise & 0xffff) * kNoise >> 16) - kNoise / 2);
      }
    }
  }
  return image;
}

static int root_of(int* parent, int pixel) {
  while (parent[pixel] != pixel) pixel = parent[pixel] = parent[parent[pixel]];
  return pixel;
}

static int near(const unsigned char* a, const unsigned char* b) {
  return abs(a[0] - b[0]) + abs(a[1] - b[1]) + abs(a[2] - b[2]) < kNear;
}

static void join(int* parent, int* size, int a, int b) {
  a = root_of(parent, a);
  b = root_of(parent, b);
  if (a == b) return;
  if (size[a] < size[b]) {
    const int other = a;
    a = b;
    b = other;
  }
  parent[b] = a;
  size[a] += size[b];
}

struct Segments* segment(const struct Image* image) {
  int *parent = malloc(kPixels * sizeof *parent), *size = malloc(kPixels * sizeof *size);
  struct Segments* segments = weir_alloc(sizeof *segments, WEIR_PRIVATE);
  must(!parent || !size || !segments, "malloc");
  for (int i = 0; i < kPixels; ++i) {
    parent[i] = i;
    size[i] = 1;
  }
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const int here = y * kWidth + x;
      if (x > 0 && near(image->pixel[y][x], image->pixel[y][x - 1]))
        join(parent, size, here, here - 1);
      if (y > 0 && near(image->pixel[y][x], image->pixel[y - 1][x]))
        join(parent, size, here, here - kWidth);
    }
  }
  int roots[kRegions];
  segments->count = 0;
  for (int i = 0; i < kPixels; ++i) {
    if (parent[i] != i || size[i] < kSmallest) continue;
    int at = segments->count < kRegions ? segments->count++ : kRegions;
    if (at == kRegions && size[roots[--at]] >= size[i])
      continue;  // the last makes room for a larger one
    for (; at > 0 && size[roots[at - 1]] < size[i]; --at) roots[at] = roots[at - 1];
    roots[at] = i;
  }
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const int root = root_of(parent, y * kWidth + x);
      int region = segments->count - 1;
      while (region >= 0 && roots[region] != root) --region;
      segments->region[y][x] = region;  // -1 is kNoRegion
    }
  }
  free(parent);
  free(size);
  return segments;
}

// Areas to weights: by their roots, so that small regions count too.
static void set_weights(struct Regions* regions, const float* area) {
  float sum = 0;
  for (int r = 0; r < regions->count; ++r) sum += sqrtf(area[r]);
  for (int r = 0; r < regions->count; ++r) regions->weight[r] = sqrtf(area[r]) / sum;
}

static void set_box(float* feature, float left, float right, float top, float bottom, float area) {
  feature[6] = (left + right) / 2;
  feature[7] = (top + bottom) / 2;
  feature[8] = right - left;
  feature[9] = bottom - top;
  feature[10] = area;
  feature[11] = area / ((right - left) * (bottom - top));
}

struct Regions extract(const struct Image* image, const struct Segments* segments) {
  struct Sums {
    long count, sum[3], squares[3];
    int left, right, top, bottom;
  } sums[kRegions] = {0};
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      if (segments->region[y][x] == kNoRegion) continue;
      struct Sums* s = &sums[segments->region[y][x]];
      if (s->count == 0 || x < s->left) s->left = x;
      if (s->count == 0 || y < s->top) s->top = y;
      if (x > s->right) s->right = x;
      if (y > s->bottom) s->bottom = y;
      s->count++;
      for (int c = 0; c < 3; ++c) {
        const int value = image->pixel[y][x][c];
        s->sum[c] += value;
        s->squares[c] += value * value;
      }
    }
  }
  struct Regions regions = {.count = segments->count};
  float area[kRegions];
  for (int r = 0; r < regions.count; ++r) {
    const struct Sums* s = &sums[r];
    for (int c = 0; c < 3; ++c) {
      const double mean = (double)s->sum[c] / (double)s->count;
      regions.feature[r][c] = (float)(mean / 255);
      regions.feature[r][3 + c] =
          (float)(sqrt((double)s->squares[c] / (double)s->count - mean * mean) / 255);
    }
    area[r] = (float)s->count / kPixels;
    set_box(regions.feature[r], (float)s->left / kWidth, (float)(s->right + 1) / kWidth,
            (float)s->top / kHeight, (float)(s->bottom + 1) / kHeight, area[r]);
  }
  set_weights(&regions, area);
  return regions;
}

static float limited(float value) { return value < 0 ? 0 : value > 1 ? 1 : value; }

struct Regions describe(const struct Scene* scene) {
  struct Regions regions = {.count = scene->blobs + 1};
  float area[kRegions];
  area[scene->blobs] = 1;
  for (int i = 0; i <= scene->blobs; ++i) {
    const float* colour = i < scene->blobs ? scene->blob[i].colour : scene->background;
    for (int c = 0; c < 3; ++c) {
      regions.feature[i][c] = colour[c] / 255;
      regions.feature[i][3 + c] = kNoise / 3.46f / 255;  // of a uniform distribution
    }
    if (i == scene->blobs) {
      set_box(regions.feature[i], 0, 1, 0, 1, area[i]);
      continue;
    }
    const float x = scene->blob[i].x, y = scene->blob[i].y, w = scene->blob[i].half_width,
                h = scene->blob[i].half_height;
    area[i] = 3.14159265f * w * h;
    area[scene->blobs] -= area[i];
    set_box(regions.feature[i], limited(x - w), limited(x + w), limited(y - h), limited(y + h),
            area[i]);
  }
  if (area[scene->blobs] < 0.1f) area[scene->blobs] = 0.1f;
  set_weights(&regions, area);
  return regions;
}
