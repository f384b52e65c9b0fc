// Tracking of a walking figure in noisy pictures of four cameras by an annealed particle filter, as
// PARSEC's bodytrack does it: pictures are smoothed; in each layer every particle (a pose) is
// scattered and weighed against all pictures. Sharing: a pool of workers sleeps on a condition. The
// main thread hands them a job by a pointer to a structure on its
//          own stack, where particles, weights and pictures lie too, and waits. Workers draw small
//          pieces of the job from a counter under a mutex: who does what is left open, what comes
//          out is not, as each particle has its own random numbers.
// Result:  the error of the estimated poses, and their digest.
// Sizes:   large is PARSEC's native: 4 cameras, 261 frames, 4000 particles, 5 layers.
#include <math.h>

#include "options.h"
#include "random.h"
#include "workload.h"

enum {
  kAngles = 8,
  kPose = kAngles + 2,
  kLimbs = 10,
  kPoints = 12,
  kCameras = 4,
  kMaxParticles = 4000,
  kPictureSide = 128
};

struct Setting {
  int frames, particles, layers;
};
static const struct Setting kSettings[] = {{2, 60, 3}, {12, 4000, 5}, {261, 4000, 5}};

struct Pose {
  double value[kPose];  // angles of the joints, then where the body stands
};

struct Picture {
  unsigned char pixel[kPictureSide][kPictureSide];
};

struct Point {
  double x, y, z;
};

// One frame of the filter; lies on the main thread's stack.
struct Frame {
  struct Picture raw[kCameras], rows[kCameras], smooth[kCameras];
  struct Pose particles[kMaxParticles], chosen[kMaxParticles];
  double weights[kMaxParticles];
  double spread, sharpness;
  uint64_t seed;
};

struct Job {
  void (*piece)(struct Frame* frame, long index);
  struct Frame* frame;
  long count, next, chunk;  // pieces; the next to be drawn
};

static struct Setting g_setting;
static uint64_t g_seed;

// --- the body and the cameras

static struct Point towards(struct Point from, double length, double angle, double aside) {
  return (struct Point){from.x + length * sin(angle), from.y - length * cos(angle) * cos(aside),
                        from.z + length * cos(angle) * sin(aside)};
}

// Limb by limb, the ends of a figure about 1.8 high.
static void limbs_of(const struct Pose* pose, struct Point ends[kLimbs][2]) {
  const double* a = pose->value;
  const struct Point hip = {a[kAngles], 0.95, a[kAngles + 1]}, neck = {hip.x, 1.5, hip.z};
  const struct Point left_hip = {hip.x, 0.95, hip.z - 0.12},
                     right_hip = {hip.x, 0.95, hip.z + 0.12};
  const struct Point left_arm = {hip.x, 1.45, hip.z - 0.2}, right_arm = {hip.x, 1.45, hip.z + 0.2};
  const struct Point joints[4] = {left_hip, right_hip, left_arm, right_arm};
  for (int limb = 0; limb < 4; ++limb) {
    const double upper = limb < 2 ? 0.45 : 0.3, lower = limb < 2 ? 0.5 : 0.3,
                 aside = limb % 2 ? 0.1 : -0.1;
    const double bend = limb < 2 ? -fabs(a[2 * limb + 1]) : fabs(a[2 * limb + 1]);
    const struct Point middle = towards(joints[limb], upper, a[2 * limb], aside);
    ends[2 * limb][0] = joints[limb];
    ends[2 * limb][1] = ends[2 * limb + 1][0] = middle;
    ends[2 * limb + 1][1] = towards(middle, lower, a[2 * limb] + bend, aside);
  }
  ends[8][0] = hip;
  ends[8][1] = ends[9][0] = neck;
  ends[9][1] = (struct Point){neck.x, 1.8, neck.z};
}

static struct Point along(struct Point ends[2], int point) {
  const double part = (double)point / (kPoints - 1);
  return (struct Point){ends[0].x + part * (ends[1].x - ends[0].x),
                        ends[0].y + part * (ends[1].y - ends[0].y),
                        ends[0].z + part * (ends[1].z - ends[0].z)};
}

// Where camera number `camera`, one of four around the scene, sees a point.
static void project(int camera, struct Point p, int* column, int* row) {
  static const double kSine[kCameras] = {0, 0.5, 1, 0.8660254},
                      kCosine[kCameras] = {1, 0.8660254, 0, -0.5};
  const double across = p.x * kCosine[camera] + p.z * kSine[camera],
               depth = p.z * kCosine[camera] - p.x * kSine[camera];
  const double scale = 55 / (1 + depth / 8);
  *column = (int)(kPictureSide / 2 + across * scale);
  *row = (int)(kPictureSide - 10 - p.y * scale);
}

// The true pose at a time, in frames.
static struct Pose walk(double time) {
  const double swing = sin(time * 0.4);
  return (struct Pose){{0.5 * swing, 0.3 + 0.2 * swing, -0.5 * swing, 0.3 - 0.2 * swing,
                        -0.4 * swing, 0.4, 0.4 * swing, 0.4, 0.4 * sin(time * 0.07), 0.1}};
}

static void take_picture(const struct Pose* pose, int camera, struct Random* random,
                         struct Picture* picture) {
  struct Point ends[kLimbs][2];
  limbs_of(pose, ends);
  for (int row = 0; row < kPictureSide; ++row) {
    for (int column = 0; column < kPictureSide; ++column) {
      picture->pixel[row][column] = (unsigned char)random_below(random, 60);
    }
  }
  for (int limb = 0; limb < kLimbs; ++limb) {
    for (int point = 0; point < kPoints; ++point) {
      int column, row;
      project(camera, along(ends[limb], point), &column, &row);
      for (int y = row - 2; y <= row + 2; ++y) {
        for (int x = column - 2; x <= column + 2; ++x) {
          if (x >= 0 && y >= 0 && x < kPictureSide && y < kPictureSide) picture->pixel[y][x] = 200;
        }
      }
    }
  }
}

// --- pieces of jobs, what both versions compute

// Smoothing with the binomial filter of five; pieces are rows, of all cameras.
static unsigned char filtered(const unsigned char* at, long step, int position) {
  static const int kFilter[5] = {1, 4, 6, 4, 1};
  int sum = 0;
  for (int i = -2; i <= 2; ++i) {
    const int inside = position + i < 0 || position + i >= kPictureSide ? 0 : i;
    sum += kFilter[i + 2] * at[inside * step];
  }
  return (unsigned char)(sum / 16);
}

static void smooth_along_row(struct Frame* frame, long index) {
  const long camera = index / kPictureSide, row = index % kPictureSide;
  for (int x = 0; x < kPictureSide; ++x) {
    frame->rows[camera].pixel[row][x] = filtered(&frame->raw[camera].pixel[row][x], 1, x);
  }
}

static void smooth_across_rows(struct Frame* frame, long index) {
  const long camera = index / kPictureSide, row = index % kPictureSide;
  for (int x = 0; x < kPictureSide; ++x) {
    frame->smooth[camera].pixel[row][x] =
        filtered(&frame->rows[camera].pixel[row][x], kPictureSide, (int)row);
  }
}

static void scatter(struct Frame* frame, long index) {
  struct Random random = random_stream(frame->seed, (uint64_t)index);
  frame->particles[index] = frame->chosen[index];
  for (int i = 0; i < kPose; ++i) {
    frame->particles[index].value[i] +=
        random_normal(&random) * frame->spread * (i < kAngles ? 1 : 0.3);
  }
}

// How far the figure leaves the bright part of the pictures.
static void weigh(struct Frame* frame, long index) {
  struct Point ends[kLimbs][2];
  limbs_of(&frame->particles[index], ends);
  double error = 0;
  for (int camera = 0; camera < kCameras; ++camera) {
    for (int limb = 0; limb < kLimbs; ++limb) {
      for (int point = 0; point < kPoints; ++point) {
        int column, row;
        project(camera, along(ends[limb], point), &column, &row);
        const int inside = column >= 0 && row >= 0 && column < kPictureSide && row < kPictureSide;
        const double dark = 1 - (inside ? frame->smooth[camera].pixel[row][column] : 0) / 200.0;
        error += dark * dark;
      }
    }
  }
  frame->weights[index] = exp(-error / (kCameras * kLimbs * kPoints) * frame->sharpness);
}

// --- the two ways to do a job

static void run_sequential(struct Job* job) {
  for (long i = 0; i < job->count; ++i) job->piece(job->frame, i);
}

static struct {
  pthread_mutex_t lock;
  pthread_cond_t given, done;
  struct Job* job;
  long number;  // of the job
  int working, workers, ending;
} g_pool = {.lock = PTHREAD_MUTEX_INITIALIZER,
            .given = PTHREAD_COND_INITIALIZER,
            .done = PTHREAD_COND_INITIALIZER};
static pthread_mutex_t g_draw = PTHREAD_MUTEX_INITIALIZER;

static void run_by_pool(struct Job* job) {
  pthread_mutex_lock(&g_pool.lock);
  g_pool.job = job;
  g_pool.number++;
  g_pool.working = g_pool.workers;
  pthread_cond_broadcast(&g_pool.given);
  while (g_pool.working > 0) pthread_cond_wait(&g_pool.done, &g_pool.lock);
  pthread_mutex_unlock(&g_pool.lock);
}

static void take_part(struct Job* job) {
  for (;;) {
    pthread_mutex_lock(&g_draw);
    const long from = job->next;
    job->next += job->chunk;
    pthread_mutex_unlock(&g_draw);
    if (from >= job->count) return;
    for (long i = from; i < from + job->chunk && i < job->count; ++i) job->piece(job->frame, i);
  }
}

static void* worker(void* unused) {
  (void)unused;
  long seen = 0;
  for (;;) {
    pthread_mutex_lock(&g_pool.lock);
    while (g_pool.number == seen && !g_pool.ending) pthread_cond_wait(&g_pool.given, &g_pool.lock);
    if (g_pool.ending) break;
    seen = g_pool.number;
    struct Job* job = g_pool.job;
    pthread_mutex_unlock(&g_pool.lock);
    take_part(job);
    pthread_mutex_lock(&g_pool.lock);
    if (--g_pool.working == 0) pthread_cond_signal(&g_pool.done);
    pthread_mutex_unlock(&g_pool.lock);
  }
  pthread_mutex_unlock(&g_pool.lock);
  return NULL;
}

static void (*g_run)(struct Job*);

static void run_job(void (*piece)(struct Frame*, long), struct Frame* frame, long count,
                    long chunk) {
  struct Job job = {piece, frame, count, 0, chunk};
  g_run(&job);
}

// --- the filter, by the main thread

// Draws as many particles as there are, each by its weight: one draw for all, at even distances.
static void choose(struct Frame* frame, struct Random* random) {
  double sum = 0;
  for (int i = 0; i < g_setting.particles; ++i) sum += frame->weights[i];
  const double step = sum / g_setting.particles;
  double mark = random_unit(random) * step, upto = frame->weights[0];
  for (int i = 0, from = 0; i < g_setting.particles; ++i, mark += step) {
    while (upto < mark && from < g_setting.particles - 1) upto += frame->weights[++from];
    frame->chosen[i] = frame->particles[from];
  }
}

static struct Pose mean(const struct Frame* frame) {
  struct Pose pose = {{0}};
  double sum = 0;
  for (int i = 0; i < g_setting.particles; ++i) sum += frame->weights[i];
  for (int i = 0; i < g_setting.particles; ++i) {
    for (int j = 0; j < kPose; ++j)
      pose.value[j] += frame->particles[i].value[j] * frame->weights[i] / sum;
  }
  return pose;
}

static struct Pose track(struct Frame* frame, int number) {
  const struct Pose truth = walk(number + 1);
  struct Random random = random_stream(g_seed, (uint64_t)number);
  for (int camera = 0; camera < kCameras; ++camera)
    take_picture(&truth, camera, &random, &frame->raw[camera]);
  run_job(smooth_along_row, frame, kCameras * kPictureSide, 16);
  run_job(smooth_across_rows, frame, kCameras * kPictureSide, 16);
  frame->spread = 0.15;
  frame->sharpness = 10;
  for (int layer = 0; layer < g_setting.layers; ++layer) {
    frame->seed = random_bits(&random);
    run_job(scatter, frame, g_setting.particles, 16);
    run_job(weigh, frame, g_setting.particles, 8);
    choose(frame, &random);
    frame->spread *= 0.6;
    frame->sharpness *= 2;
  }
  return mean(frame);
}

static void follow(double* error, uint64_t* sum) {
  struct Frame frame;
  memset(&frame, 0, sizeof frame);
  for (int i = 0; i < g_setting.particles; ++i) frame.chosen[i] = walk(0);
  for (int number = 0; number < g_setting.frames; ++number) {
    const struct Pose truth = walk(number + 1), found = track(&frame, number);
    for (int i = 0; i < kPose; ++i)
      *error += fabs(found.value[i] - truth.value[i]) / (kPose * g_setting.frames);
    *sum = digest(*sum, &found, sizeof found);
  }
}

int main(int argc, char** argv) {
  const struct Options options = parse_options(argc, argv, NULL);
  pthread_t threads[kMaxThreads];
  g_setting = kSettings[options.size];
  g_seed = options.seed;
  g_run = options.sequential ? run_sequential : run_by_pool;
  g_pool.workers = options.sequential ? 0 : options.threads;
  for (int i = 0; i < g_pool.workers; ++i)
    must(pthread_create(&threads[i], NULL, worker, NULL), "pthread_create");
  double error = 0;
  uint64_t sum = 0;
  follow(&error, &sum);
  pthread_mutex_lock(&g_pool.lock);
  g_pool.ending = 1;
  pthread_cond_broadcast(&g_pool.given);
  pthread_mutex_unlock(&g_pool.lock);
  for (int i = 0; i < g_pool.workers; ++i) must(pthread_join(threads[i], NULL), "pthread_join");
  printf("%d frames, %d particles: mean error %.6f, digest %016lx\n", g_setting.frames,
         g_setting.particles, error, (unsigned long)sum);
  return error > 0.3;
}
