// Pictures of generated scenes, and what a search knows of a picture: a few regions, each with
// features and a weight.
#ifndef WEIR_BENCH_FERRET_IMAGE_H
#define WEIR_BENCH_FERRET_IMAGE_H
#include "../random.h"

enum { kMaxBlobs = 6, kRegions = 8, kFeatures = 12, kWidth = 128, kHeight = 96 };

// Ellipses of one colour each on a background. Places and sizes in [0, 1], of the picture's sides;
// colours 0 to 255.
struct Scene {
  int blobs;
  float background[3];
  struct {
    float x, y, half_width, half_height, colour[3];
  } blob[kMaxBlobs];
};

struct Image {
  unsigned char pixel[kHeight][kWidth][3];
};

// For each pixel the number of its region, or kNoRegion.
enum { kNoRegion = -1 };
struct Segments {
  int count;
  int region[kHeight][kWidth];
};

// Features, all about 0 to 1: mean and deviation of each colour; centre and size of the surrounding
// box; area; how much of the box is filled.
struct Regions {
  int count;
  float weight[kRegions];  // adds up to 1
  float feature[kRegions][kFeatures];
};

struct Scene make_scene(struct Random* random);
struct Scene vary_scene(const struct Scene* scene, struct Random* random);
// Allocated; the caller frees.
struct Image* draw(const struct Scene* scene, struct Random* random);
struct Segments* segment(const struct Image* image);

struct Regions extract(const struct Image* image, const struct Segments* segments);
// Nearly what extract would find in a picture of the scene, without drawing it: fills a large index
// in little time.
struct Regions describe(const struct Scene* scene);

#endif
