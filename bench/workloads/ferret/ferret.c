// Search for similar pictures, as PARSEC's ferret does it: load, segment, extract features, query
// the index, rank, output.
// Sharing: six stages with bounded queues between them; the four in the middle have N threads each,
// the ends one. The
//          index is large and only read. Picture, regions and candidates of a query are allocated
//          in one stage and freed in a later one, mostly by another thread.
// Policies: the index is set once (sticky-read); a query and what hangs from it are released by one
// stage and acquired by the next; answers are the last
//          stage's until main takes them.
// Result:  how many queries find the scene that they were made from, and a digest of all answers.
// Sizes:   large is PARSEC's simlarge: 256 queries, 34973 pictures in the index.
#include <weir/weir.h>

#include "../bounded_queue.h"
#include "../options.h"
#include "../planted.h"
#include "../workload.h"
#include "search.h"

static const long kPictures[] = {200, 5000, 34973}, kQueries[] = {8, 300, 256};

struct Query {
  long number, truth;
  struct Image* image;
  struct Segments* segments;
  struct Regions regions;
  struct Candidates candidates;
  struct Answer answer;
};

static struct Index g_index;
static struct Scene* g_scenes;
static struct Answer* g_answers;
static long g_queries, g_right, g_threads;
static uint64_t g_seed;
static struct Queue g_to_segment, g_to_extract, g_to_query, g_to_rank, g_to_output;

// --- the stages' work

// A picture of one of the scenes, somewhat varied.
static struct Query* load(long number) {
  struct Random random = random_stream(g_seed, 2 + (uint64_t)number);
  struct Query* query = weir_alloc(sizeof *query, WEIR_PRIVATE);
  must(!query, "malloc");
  memset(query, 0, sizeof *query);
  query->number = number;
  query->truth = (long)random_below(&random, (uint64_t)g_index.count);
  const struct Scene varied = vary_scene(&g_scenes[query->truth], &random);
  query->image = draw(&varied, &random);
  return query;
}

static void segment_query(struct Query* query) { query->segments = segment(query->image); }

static void extract_query(struct Query* query) {
  query->regions = extract(query->image, query->segments);
  weir_free(query->image);
  weir_free(query->segments);
  query->image = NULL;
  query->segments = NULL;
}

static void find_candidates(struct Query* query) {
  query->candidates = query_index(&g_index, &query->regions);
}

static void rank_query(struct Query* query) {
  query->answer = rank(&g_index, &query->regions, &query->candidates);
}

// From one stage to the next.
static void give(const struct Query* query) {
  if (query->image) weir_release_write(query->image);
  if (query->segments) weir_release_write(query->segments);
  if (query->candidates.pictures) weir_release_write(query->candidates.pictures);
  weir_release_write(query);
}
static void take(const struct Query* query) {
  weir_acquire_write(query);
  if (query->image) weir_acquire_write(query->image);
  if (query->segments) weir_acquire_write(query->segments);
  if (query->candidates.pictures) weir_acquire_write(query->candidates.pictures);
}

static void output(struct Query* query) {
  g_answers[query->number] = query->answer;
  g_right += query->answer.count > 0 && query->answer.picture[0] == query->truth;
  weir_free(query);
}

// --- sequential

static void sequential(void) {
  for (long number = 0; number < g_queries; ++number) {
    struct Query* query = load(number);
    segment_query(query);
    extract_query(query);
    find_candidates(query);
    rank_query(query);
    output(query);
  }
}

// --- the pipeline

static const struct Stage {
  void (*work)(struct Query*);
  struct Queue *from, *to;
} kStages[] = {{segment_query, &g_to_segment, &g_to_extract},
               {extract_query, &g_to_extract, &g_to_query},
               {find_candidates, &g_to_query, &g_to_rank},
               {rank_query, &g_to_rank, &g_to_output}};
enum { kMiddle = sizeof kStages / sizeof *kStages };

static void* worker(void* which) {
  const long thread = (long)which;
  if (thread == 0) {
    for (long number = 0; number < g_queries; ++number) {
      struct Query* query = load(number);
      give(query);
      queue_push(&g_to_segment, query);
      if (PLANTED(1) && query->truth < 0) break;
    }
    queue_close(&g_to_segment);
  } else if (thread == 1) {
    weir_acquire_write(g_answers);
    weir_acquire_write(&g_right);
    for (struct Query* query; (query = queue_pop(&g_to_output));) {
      take(query);
      output(query);
    }
    weir_release_write(g_answers);
    weir_release_write(&g_right);
  } else {
    const struct Stage* stage = &kStages[(thread - 2) % kMiddle];
    for (struct Query* query; (query = queue_pop(stage->from));) {
      take(query);
      stage->work(query);
      give(query);
      queue_push(stage->to, query);
    }
    queue_close(stage->to);
  }
  return NULL;
}

static void make_index(long count) {
  struct Random random = random_stream(g_seed, 0), of_index = random_stream(g_seed, 1);
  struct Regions* pictures = weir_alloc((size_t)count * sizeof *pictures, WEIR_PRIVATE);
  g_scenes = weir_alloc((size_t)count * sizeof *g_scenes, WEIR_PRIVATE);
  must(!pictures || !g_scenes, "malloc");
  for (long i = 0; i < count; ++i) {
    g_scenes[i] = make_scene(&random);
    pictures[i] = describe(&g_scenes[i]);
  }
  build_index(&g_index, pictures, count, &of_index);
}

static void set_policies(void) {
  weir_set_sticky_read(&g_index);
  set_index_policy(&g_index);
  weir_set_sticky_read(&g_scenes);
  weir_set_sticky_read(g_scenes);
  weir_set_sticky_read(&g_answers);
  weir_release_write(g_answers);
  weir_set_sticky_read(&g_queries);
  weir_set_sticky_read(&g_threads);
  weir_set_sticky_read(&g_seed);
}

int main(int argc, char** argv) {
  const struct Options options = parse_options(argc, argv, NULL);
  g_threads = options.threads;
  must(kMiddle * g_threads + 2 > kMaxThreads, "more than 15 threads for a stage");
  g_seed = options.seed;
  g_queries = kQueries[options.size];
  g_answers = weir_alloc((size_t)g_queries * sizeof *g_answers, WEIR_PRIVATE);
  must(!g_answers, "malloc");
  memset(g_answers, 0, (size_t)g_queries * sizeof *g_answers);
  make_index(kPictures[options.size]);
  if (options.sequential) {
    sequential();
  } else {
    queue_open(&g_to_segment, 1);
    queue_open(&g_to_extract, g_threads);
    queue_open(&g_to_query, g_threads);
    queue_open(&g_to_rank, g_threads);
    queue_open(&g_to_output, g_threads);
    set_policies();
    run_threads(kMiddle * g_threads + 2, worker);
    weir_acquire_read(g_answers);
    weir_acquire_read(&g_right);
  }
  printf("%ld queries among %ld pictures: %ld found, digest %016lx\n", g_queries, g_index.count,
         g_right, (unsigned long)digest(0, g_answers, (size_t)g_queries * sizeof *g_answers));
  return g_right < g_queries / 2;
}
