// A web server with threads, and the clients that load it, which are processes of their own, as
// nullhttpd under several ab: it serves a folder of generated files on the loopback address.
// Sharing: main accepts, connections go to the workers by a bounded queue (a mutex, two
// conditions). File contents are
//          in a cache that all share, under a read-write lock, with a count of users for each file;
//          it holds half of the files, so some are pushed out all the time. Most time passes
//          between sockets and threads that wait.
// Result:  answers by status, bytes of their bodies and a sum; every byte has been looked at. The
//          server must have counted the same. What was found in the cache differs from run to run
//          and goes to standard error.
// Source:  a benchmark of PUSh (MICRO 2019), section 4: nullhttpd, clients that get a file of 10 KB
//          10,000 times each.
// Sizes:   large is that: 8 clients, one file, a connection for each request.
// Options: --serve: the server alone, until its standard input ends; --client: the clients alone;
// both with --port P
//          (--serve without: any, said on standard error), and with the same size and seed.
//          --sequential: one thread.
#include "../options.h"
#include "../processes.h"
#include "../scratch.h"
#include "../sockets.h"
#include "client.h"
#include "documents.h"
#include "file_cache.h"
#include "server.h"

static const struct Plan kPlans[kSizes] = {
    {.documents = 40, .clients = 4, .requests = 60, .stay = 12},
    {.documents = 600, .clients = 8, .requests = 4000, .stay = 100},
    {.documents = 1, .clients = 8, .requests = 10000, .stay = 1, .plain = 1},
};
static struct Plan g_plan;

static char* make_documents(void) {
  char path[4200], name[kDocumentPath], *root;
  must(asprintf(&root, "%s/root", scratch_folder()) < 0, "asprintf");
  make_folder(root);
  for (int folder = 0; folder < kFolders; ++folder) {
    snprintf(path, sizeof path, "%s/%d", root, folder);
    make_folder(path);
    for (int inner = 0; inner < kFolders; ++inner) {
      snprintf(path, sizeof path, "%s/%d/%d", root, folder, inner);
      make_folder(path);
    }
  }
  char* bytes = malloc(kMaxDocument);
  must(!bytes, "malloc");
  size_t all = 0;
  for (long i = 0; i < g_plan.documents; ++i) {
    document_path(i, name);
    snprintf(path, sizeof path, "%s%s", root, name);
    fill_document(g_plan.seed, i, bytes);
    write_file(path, bytes, document_size(g_plan.seed, i));
    all += document_size(g_plan.seed, i);
  }
  free(bytes);
  snprintf(path, sizeof path, "%s/outside.txt", scratch_folder());
  write_file(path, "not for clients\n", 16);
  cache_open(all / 2);
  return root;
}

static void print(const struct Answers* answers) {
  printf("%ld requests, %zu bytes, sum %016lx\n", answers->requests, answers->bytes, answers->sum);
  printf("200: %ld, 400: %ld, 403: %ld, 404: %ld, 405: %ld\n", answers->ok, answers->bad,
         answers->forbidden, answers->missing, answers->refused);
}

static void clients(long number, void* answers) {
  (void)number;
  *(struct Answers*)answers = run_clients(&g_plan);
}

int main(int argc, char** argv) {
  static const char* const extra[] = {"--serve", "--client", "--port=", NULL};
  const struct Options options = parse_options(argc, argv, extra);
  g_plan = kPlans[options.size];
  g_plan.seed = options.seed;
  g_plan.port = (int)option_number(argc, argv, "--port", 0);
  if (has_option(argc, argv, "--client")) {
    const struct Answers answers = run_clients(&g_plan);
    print(&answers);
    return 0;
  }
  char* root = make_documents();
  const int threads = options.sequential ? 0 : options.threads;
  const int listener = listen_loopback(&g_plan.port);
  if (has_option(argc, argv, "--serve")) {
    fprintf(stderr, "port %d\n", g_plan.port);
    const struct Served served = serve(listener, STDIN_FILENO, root, threads);
    printf("%ld requests, %zu bytes\n", served.requests, served.bytes);
  } else {
    struct Answers answers;
    const struct Child child = start_child(clients, 0, sizeof answers, listener);
    const struct Served served = serve(listener, child.results, root, threads);
    finish_child(child, &answers, sizeof answers);
    must(served.requests != answers.requests || served.bytes != answers.bytes ||
             served.failures != answers.requests - answers.ok,
         "counting alike");
    print(&answers);
  }
  const struct CacheCounts counts = cache_counts();
  fprintf(stderr, "cache: %ld hits, %ld misses, %ld pushed out\n", counts.hits, counts.misses,
          counts.evictions);
  free(root);
  return 0;
}
