// YCSB's core workloads (Cooper et al., SoCC 2010) on the text protocol. Keys are drawn by the
// zipfian distribution, theta 0.99, by the method of Gray et al. (SIGMOD 1994), and scattered by a
// hash, as YCSB does.
//
// A value begins with its record, its writer and the writer's count of updates, and all other bytes
// follow from these. So a reader can say more than that a value is whole. Operations on one record
// are in some order; a client sees that order pass by, and so
//   1. what it has written itself is there until it sees what another has written, and then never
//      again;
//   2. of each writer it never sees an earlier value after a later one, nor one again after
//      another's;
//   3. it never sees the loaded value after another;
//   4. in the end, every record has the last value that some client wrote to it (or the loaded one,
//      if none did).
#include "ycsb.h"

#include "../processes.h"
#include "../random.h"
#include "../sockets.h"

enum { kKeyRoom = 32, kCountEvery = 16 };

struct Header {
  uint32_t record, writer;  // writer: a client's number and 1; 0: loaded
  uint64_t update;          // 1 is the writer's first; 0: loaded
};

static const struct Plan* g_plan;

// --- records

static void name_record(long record, char* key) {
  snprintf(key, kKeyRoom, "user%lu", digest(0, &record, sizeof record));
}

static void fill_value(struct Header header, char* value) {
  struct Random random =
      random_stream(g_plan->seed + header.record, (uint64_t)header.writer << 40 | header.update);
  memcpy(value, &header, sizeof header);
  random_fill(&random, value + sizeof header, kValue - sizeof header);
}

static void store(struct Stream* stream, struct Header header) {
  char key[kKeyRoom], text[128 + kValue];
  name_record(header.record, key);
  const int size = snprintf(text, 128, "set %s 0 0 %d\r\n", key, kValue);
  fill_value(header, text + size);
  memcpy(text + size + kValue, "\r\n", 2);
  send_all(stream->socket, text, (size_t)size + kValue + 2);
  stream_line(stream, text, 128);
  must(strcmp(text, "STORED"), text);
}

static struct Header fetch(struct Stream* stream, long record) {
  char key[kKeyRoom], text[128], value[kValue], expected[kValue];
  name_record(record, key);
  send_all(stream->socket, text, (size_t)snprintf(text, sizeof text, "get %s\r\n", key));
  stream_line(stream, text, sizeof text);
  char answer[128];
  snprintf(answer, sizeof answer, "VALUE %s 0 %d", key, kValue);
  must(strcmp(text, answer), text);
  struct Header header;
  stream_read(stream, value, kValue);
  memcpy(&header, value, sizeof header);
  must(header.record != record || header.writer > g_plan->clients, "the value of a record");
  fill_value(header, expected);
  must(memcmp(value, expected, kValue), "the value of a record");
  stream_line(stream, text, sizeof text);
  must(*text, "the end of a value");
  stream_line(stream, text, sizeof text);
  must(strcmp(text, "END"), text);
  return header;
}

// --- operations

struct Zipf {
  double theta, alpha, eta, zeta;
  long count;
};

static struct Zipf make_zipf(long count) {
  struct Zipf zipf = {.theta = 0.99, .count = count};
  for (long i = 1; i <= count; ++i) zipf.zeta += pow((double)i, -zipf.theta);
  zipf.alpha = 1 / (1 - zipf.theta);
  const double first_two = 1 + pow(2, -zipf.theta);
  zipf.eta = (1 - pow(2.0 / (double)count, 1 - zipf.theta)) / (1 - first_two / zipf.zeta);
  return zipf;
}

static long next_rank(const struct Zipf* zipf, struct Random* random) {
  const double unit = random_unit(random), at = unit * zipf->zeta;
  if (at < 1) return 0;
  if (at < 1 + pow(0.5, zipf->theta)) return 1;
  const long rank =
      (long)((double)zipf->count * pow(zipf->eta * unit - zipf->eta + 1, zipf->alpha));
  return rank < zipf->count ? rank : zipf->count - 1;
}

// The operations of one client, which follow from the plan and its number.
struct Operations {
  struct Zipf zipf;
  struct Random random;
  long left;
};

struct Operation {
  long record;
  int update;
};

static struct Operations operations_of(const struct Zipf* zipf, long client) {
  return (struct Operations){*zipf, random_stream(g_plan->seed, 1000000007 + (uint64_t)client),
                             g_plan->operations * (client + 1) / g_plan->clients -
                                 g_plan->operations * client / g_plan->clients};
}

static int next_operation(struct Operations* operations, struct Operation* operation) {
  if (operations->left == 0) return 0;
  --operations->left;
  const long rank = next_rank(&operations->zipf, &operations->random);
  operation->record = (long)(digest(1, &rank, sizeof rank) % (uint64_t)g_plan->records);
  operation->update = random_below(&operations->random, 100) < (g_plan->workload == 'a' ? 50 : 5);
  return 1;
}

// --- the phases

static void load(long client, void* unused) {
  (void)unused;
  struct Stream stream;
  connect_loopback(&stream, g_plan->port);
  for (long record = client; record < g_plan->records; record += g_plan->clients) {
    store(&stream, (struct Header){(uint32_t)record, 0, 0});
  }
  close(stream.socket);
}

// What one client knows of a record.
struct Seen {
  uint32_t latest;     // writer that it has seen last; 0: the load
  uint64_t updates[];  // of each writer, the latest update seen
};

static void run(long client, void* result) {
  struct Outcome* outcome = result;
  const size_t size = sizeof(struct Seen) + ((size_t)g_plan->clients + 1) * sizeof(uint64_t);
  char* seen_records = calloc((size_t)g_plan->records, size);
  must(!seen_records, "calloc");
  const struct Zipf zipf = make_zipf(g_plan->records);
  struct Operations operations = operations_of(&zipf, client);
  const uint32_t self = (uint32_t)client + 1;
  struct Stream stream;
  connect_loopback(&stream, g_plan->port);
  for (struct Operation operation; next_operation(&operations, &operation);) {
    struct Seen* seen = (struct Seen*)(void*)(seen_records + (size_t)operation.record * size);
    if (operation.update) {
      const struct Header header = {(uint32_t)operation.record, self, (uint64_t)++outcome->updates};
      store(&stream, header);
      seen->latest = self;
      seen->updates[self] = header.update;
      outcome->sum += random_mix(digest(0, &header, sizeof header));
    } else {
      const struct Header header = fetch(&stream, operation.record);
      const uint64_t known = seen->updates[header.writer];
      if (header.writer != seen->latest) {
        must(header.writer == self || header.update <= known,
             "reading in order: a value that had been replaced");
      } else {
        must(header.update < known || (header.writer == self && header.update != known),
             "reading in order: an older value");
      }
      seen->latest = header.writer;
      seen->updates[header.writer] = header.update;
      ++outcome->reads;
    }
    if ((outcome->reads + outcome->updates) % kCountEvery == 0) {
      char line[64];
      send_all(stream.socket, "incr operations 16\r\n", 20);
      stream_line(&stream, line, sizeof line);
      must(*line < '0' || *line > '9', line);
      outcome->counter += kCountEvery;
    }
  }
  close(stream.socket);
  free(seen_records);
}

// Rule 4. The clients' operations are gone through once more to know the last update of each.
static uint64_t verify(struct Stream* stream) {
  const size_t writers = (size_t)g_plan->clients + 1;
  uint64_t* last = calloc((size_t)g_plan->records * writers, sizeof *last);
  char* updated = calloc((size_t)g_plan->records, 1);
  must(!last || !updated, "calloc");
  const struct Zipf zipf = make_zipf(g_plan->records);
  for (long client = 0; client < g_plan->clients; ++client) {
    struct Operations operations = operations_of(&zipf, client);
    uint64_t update = 0;
    for (struct Operation operation; next_operation(&operations, &operation);) {
      if (!operation.update) continue;
      last[(size_t)operation.record * writers + (size_t)client + 1] = ++update;
      updated[operation.record] = 1;
    }
  }
  for (long record = 0; record < g_plan->records; ++record) {
    const struct Header header = fetch(stream, record);
    must(header.update != last[(size_t)record * writers + header.writer],
         "the last value of a record: it is old");
    must(!header.writer && updated[record], "the last value of a record: it is the loaded one");
  }
  free(last);
  free(updated);
  return (uint64_t)g_plan->records;
}

static uint64_t ask_stat(struct Stream* stream, const char* name) {
  char line[128];
  const size_t size = strlen(name);
  uint64_t value = (uint64_t)-1;
  send_all(stream->socket, "stats\r\n", 7);
  for (;;) {
    stream_line(stream, line, sizeof line);
    if (strcmp(line, "END") == 0) break;
    if (strncmp(line + 5, name, size) == 0 && line[5 + size] == ' ')
      value = strtoull(line + 6 + size, NULL, 10);
  }
  must(value == (uint64_t)-1, name);
  return value;
}

struct Outcome run_ycsb(const struct Plan* plan) {
  struct Outcome outcomes[kMaxThreads], all = {0};
  char line[64];
  g_plan = plan;
  struct Stream stream;
  connect_loopback(&stream, plan->port);
  converse(&stream, "set operations 0 0 1\r\n0\r\n", "STORED\r\n");
  const uint64_t gets = ask_stat(&stream, "cmd_get"), hits = ask_stat(&stream, "get_hits");
  const uint64_t sets = ask_stat(&stream, "cmd_set");

  run_children(plan->clients, load, sizeof *outcomes, outcomes);
  const double start = now_ns();
  run_children(plan->clients, run, sizeof *outcomes, outcomes);
  fprintf(stderr, "workload %c: %.0f operations a second\n", plan->workload,
          (double)plan->operations / (now_ns() - start) * 1e9);
  for (long i = 0; i < plan->clients; ++i) {
    all.reads += outcomes[i].reads;
    all.updates += outcomes[i].updates;
    all.counter += outcomes[i].counter;
    all.sum += outcomes[i].sum;
  }
  snprintf(line, sizeof line, "%lu\r\n", all.counter);
  converse(&stream, "incr operations 0\r\n", line);
  all.verified = verify(&stream);
  const uint64_t reads = (uint64_t)all.reads + all.verified;
  must(ask_stat(&stream, "cmd_get") != gets + reads ||
           ask_stat(&stream, "get_hits") != hits + reads ||
           ask_stat(&stream, "cmd_set") != sets + (uint64_t)(plan->records + all.updates),
       "counting alike");
  close(stream.socket);
  return all;
}
