// As memcached does it: a new connection goes into the queue of one worker, in turn, and a byte
// into the pipe that this worker waits for beside its connections. From then on no other thread
// touches the connection.
//
// Policies: a worker's queue and counts are locked, each by its own lock; what it waits for is set
// once (sticky-read); its connections are its own. An accepted connection is released by main and
// acquired by its worker.
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <weir/weir.h>

#include "../planted.h"
#include "../sockets.h"
#include "protocol.h"

enum { kEvents = 32 };

struct Accepted {
  struct Accepted* next;
  int socket;
};

// What a worker knows of a connection, beside what it waits for.
struct Client {
  struct Client *before, *after;
  struct Connection* connection;
  enum Wait wait;
};

struct Worker {
  int epoll, pipe[2];
  struct Counts* counts;
  struct Accepting* accepting;
  struct Client** clients;
};

// Connections that a worker is to take.
struct Accepting {
  pthread_mutex_t lock;
  struct Accepted *first, **end;  // Guarded by: lock
};

static struct Worker g_workers[kMaxThreads];
static long g_count, g_next;  // workers; who gets the next connection

struct Counts all_counts(void) {
  struct Counts all = {.gets = 0};
  for (long i = 0; i < g_count; ++i) {
    struct Counts* counts = g_workers[i].counts;
    if (!PLANTED(5)) pthread_mutex_lock(&counts->lock);
    all.gets += counts->gets;
    all.hits += counts->hits;
    all.sets += counts->sets;
    all.deletes += counts->deletes;
    all.adds += counts->adds;
    if (!PLANTED(5)) pthread_mutex_unlock(&counts->lock);
  }
  return all;
}

static void watch(const struct Worker* worker, int how, int file, uint32_t events, void* what) {
  struct epoll_event event = {.events = events, .data.ptr = what};
  must(epoll_ctl(worker->epoll, how, file, &event), "epoll_ctl");
}

static void open_worker(struct Worker* worker) {
  worker->counts = weir_alloc(sizeof *worker->counts, WEIR_PRIVATE);
  worker->accepting = weir_alloc(sizeof *worker->accepting, WEIR_PRIVATE);
  worker->clients = weir_alloc(sizeof *worker->clients, WEIR_PRIVATE);
  must(!worker->counts || !worker->accepting || !worker->clients, "malloc");
  memset(worker->counts, 0, sizeof *worker->counts);
  memset(worker->accepting, 0, sizeof *worker->accepting);
  *worker->clients = NULL;
  pthread_mutex_init(&worker->accepting->lock, NULL);
  pthread_mutex_init(&worker->counts->lock, NULL);
  worker->accepting->end = &worker->accepting->first;
  weir_set_locked(worker->accepting, &worker->accepting->lock);
  weir_set_locked(worker->counts, &worker->counts->lock);
  weir_release_write(worker->clients);
  must((worker->epoll = epoll_create1(EPOLL_CLOEXEC)) < 0 ||
           pipe2(worker->pipe, O_NONBLOCK | O_CLOEXEC),
       "epoll_create1");
  watch(worker, EPOLL_CTL_ADD, worker->pipe[0], EPOLLIN, NULL);
}

static void take_accepted(struct Worker* worker) {
  struct Accepting* accepting = worker->accepting;
  pthread_mutex_lock(&accepting->lock);
  struct Accepted* accepted = accepting->first;
  must(!accepted, "a worker's queue");
  weir_acquire_write(accepted);
  if (!(accepting->first = accepted->next)) accepting->end = &accepting->first;
  pthread_mutex_unlock(&accepting->lock);
  struct Client* client = calloc(1, sizeof *client);
  must(!client, "calloc");
  client->connection = connection_open(accepted->socket, worker->counts);
  if ((client->after = *worker->clients)) client->after->before = client;
  *worker->clients = client;
  watch(worker, EPOLL_CTL_ADD, accepted->socket, EPOLLIN, client);
  weir_free(accepted);
}

static void close_client(struct Worker* worker, struct Client* client) {
  *(client->before ? &client->before->after : worker->clients) = client->after;
  if (client->after) client->after->before = client->before;
  connection_close(client->connection);
  free(client);
}

static void go(struct Worker* worker, struct Client* client) {
  const enum Wait wait = connection_go(client->connection);
  if (wait == kEnded) {
    close_client(worker, client);
  } else if (wait != client->wait) {
    client->wait = wait;
    watch(worker, EPOLL_CTL_MOD, connection_socket(client->connection),
          wait == kWaitRead ? EPOLLIN : EPOLLOUT, client);
  }
}

// One wait for whatever comes. Whether the worker is to go on.
static int work(struct Worker* worker, int most_wait) {
  struct epoll_event events[kEvents];
  const int count = epoll_wait(worker->epoll, events, kEvents, most_wait);
  must(count < 0 && errno != EINTR, "epoll_wait");
  for (int i = 0; i < count; ++i) {
    if (events[i].data.ptr) {
      go(worker, events[i].data.ptr);
      continue;
    }
    char what;
    while (read(worker->pipe[0], &what, 1) == 1) {
      if (what == 'q') return 0;
      take_accepted(worker);
    }
  }
  return 1;
}

static void* run_worker(void* given) {
  struct Worker* worker = given;
  weir_acquire_write(worker->clients);
  while (work(worker, -1)) {}
  while (*worker->clients) close_client(worker, *worker->clients);
  return NULL;
}

static void hand_on(int socket) {
  struct Worker* worker = &g_workers[g_next++ % g_count];
  struct Accepting* accepting = worker->accepting;
  struct Accepted* accepted = weir_alloc(sizeof *accepted, WEIR_PRIVATE);
  must(!accepted, "malloc");
  *accepted = (struct Accepted){NULL, socket};
  pthread_mutex_lock(&accepting->lock);
  weir_set_locked(accepted, &accepting->lock);
  *accepting->end = accepted;
  accepting->end = &accepted->next;
  pthread_mutex_unlock(&accepting->lock);
  must(write(worker->pipe[1], "c", 1) != 1, "waking a worker");
}

static void work_here(void) { work(&g_workers[0], 0); }

void serve(int listener, int until, int threads) {
  pthread_t ids[kMaxThreads];
  g_count = threads ? threads : 1;
  for (long i = 0; i < g_count; ++i) open_worker(&g_workers[i]);
  weir_set_sticky_read(&g_workers);
  weir_set_sticky_read(&g_count);
  struct Acceptor acceptor = {listener, until, SOCK_NONBLOCK, hand_on, -1, NULL};
  if (!threads) acceptor.other = g_workers[0].epoll, acceptor.on_other = work_here;
  for (long i = 0; i < threads; ++i) {
    must(pthread_create(&ids[i], NULL, run_worker, &g_workers[i]), "pthread_create");
  }
  accept_connections(&acceptor);
  for (long i = 0; i < threads; ++i)
    must(write(g_workers[i].pipe[1], "q", 1) != 1, "stopping a worker");
  for (long i = 0; i < threads; ++i) must(pthread_join(ids[i], NULL), "pthread_join");
  for (long i = 0; i < g_count; ++i) {
    struct Worker* worker = &g_workers[i];
    if (!threads) weir_acquire_write(worker->clients);
    while (!threads && *worker->clients) close_client(worker, *worker->clients);
    close(worker->epoll);
    close(worker->pipe[0]);
    close(worker->pipe[1]);
  }
}
