// What a client asks for follows from its number and the seed: mostly documents, the first most
// often; also heads, paths with %-escapes and queries, files that are not there, ways out of the
// folder, other methods, and nonsense.
#include "client.h"

#include "../processes.h"
#include "../sockets.h"
#include "documents.h"

static const struct Plan* g_plan;

struct Request {
  char text[256];
  int status;
  int with_body, close;
  long document;  // expected where status is 200
};

static void ask(struct Request* request, const char* method, const char* target, const char* rest) {
  snprintf(request->text, sizeof request->text, "%s %s %s\r\n\r\n", method, target, rest);
}

static struct Request next_request(struct Random* random, int last) {
  static const char* const ways_out[] = {"/../outside.txt", "/%2e%2e/outside.txt",
                                         "/0/../0/0/doc0.txt", "/0/..%2f../outside.txt", "/0/.%2E"};
  static const char* const no_requests[] = {"GET\r\n\r\n",
                                            "hello hello\r\n\r\n",
                                            "GET outside.txt HTTP/1.1\r\n\r\n",
                                            "GET /%zz HTTP/1.1\r\n\r\n",
                                            "GET / HTTP/2.0\r\n\r\n",
                                            "GET /%00 HTTP/1.1\r\n\r\n"};
  struct Request request = {.status = 200, .with_body = 1, .close = last};
  const char* rest =
      last ? "HTTP/1.1\r\nHost: loopback\r\nconnection: close" : "HTTP/1.1\r\nHost: loopback";
  char path[kDocumentPath], target[3 * kDocumentPath];
  const uint64_t kind = g_plan->plain ? 100 : random_below(random, 100);
  if (!g_plan->plain && random_below(random, 2)) {
    request.document = (long)random_below(random, (uint64_t)g_plan->documents);
  }
  document_path(request.document, path);
  if (kind < 3) {
    request.status = 404;
    ask(&request, "GET", kind ? "/0/nowhere.txt" : "/0", rest);
  } else if (kind < 5) {
    request.status = 403;
    ask(&request, "GET", ways_out[random_below(random, sizeof ways_out / sizeof *ways_out)], rest);
  } else if (kind < 7) {
    request.status = 400;
    snprintf(request.text, sizeof request.text, "%s",
             no_requests[random_below(random, sizeof no_requests / sizeof *no_requests)]);
  } else if (kind < 8) {
    request.status = 405;
    ask(&request, "POST", path, rest);
  } else if (kind < 10) {  // 1.0 closes unless it is asked not to
    request.close = kind == 8 || last;
    ask(&request, "GET", path, request.close ? "HTTP/1.0" : "HTTP/1.0\r\nConnection: keep-alive");
  } else if (kind < 20) {
    request.with_body = 0;
    ask(&request, "HEAD", path, rest);
  } else if (kind < 30) {
    size_t size = 0;
    for (const char* at = path; *at; ++at) {
      const int escaped = *at != '/' && random_below(random, 2);
      size += (size_t)snprintf(target + size, sizeof target - size, escaped ? "%%%02x" : "%c", *at);
    }
    ask(&request, "GET", target, rest);
  } else if (kind < 35) {
    snprintf(target, sizeof target, "%s?query=/../", path);
    ask(&request, "GET", target, rest);
  } else {
    ask(&request, "GET", path, rest);
  }
  request.close |= request.status != 200 && request.status != 404;
  return request;
}

static void read_answer(struct Stream* stream, const struct Request* request,
                        struct Answers* answers) {
  static char body[kMaxDocument], expected[kMaxDocument];
  char line[128];
  size_t size = 0, length = (size_t)-1;
  int status = 0, closes = -1;
  stream_line(stream, line, sizeof line);
  must(sscanf(line, "HTTP/1.1 %3d ", &status) != 1 || status != request->status, request->text);
  for (;;) {
    stream_line(stream, line, sizeof line);
    if (!*line) break;
    sscanf(line, "Content-Length: %zu", &length);
    if (strncmp(line, "Connection: ", 12) == 0) closes = strcmp(line + 12, "close") == 0;
  }
  must(closes != request->close, "what an answer says of its connection");
  if (status == 200) {
    size = document_size(g_plan->seed, request->document);
    fill_document(g_plan->seed, request->document, expected);
  } else {
    size = (size_t)snprintf(expected, sizeof expected, "%d %s\n", status,
                            status == 400   ? "Bad Request"
                            : status == 403 ? "Forbidden"
                            : status == 404 ? "Not Found"
                                            : "Method Not Allowed");
  }
  must(length != size, "the length of an answer");
  uint64_t sum = digest((uint64_t)status, request->text, strlen(request->text));
  if (request->with_body) {
    stream_read(stream, body, size);
    must(memcmp(body, expected, size), "the body of an answer");
    answers->bytes += size;
    sum = digest(sum, body, size < 64 ? size : 64);
  }
  if (request->close) stream_end(stream);
  ++answers->requests;
  answers->ok += status == 200;
  answers->bad += status == 400;
  answers->forbidden += status == 403;
  answers->missing += status == 404;
  answers->refused += status == 405;
  answers->sum += random_mix(sum);
}

static void client(long number, void* result) {
  struct Random random = random_stream(g_plan->seed, 1000000000 + (uint64_t)number);
  struct Stream stream = {.socket = -1};
  long connected = 0;  // requests on this connection
  for (long i = 0; i < g_plan->requests; ++i) {
    if (connected++ == 0) connect_loopback(&stream, g_plan->port);
    const struct Request request =
        next_request(&random, connected == g_plan->stay || i == g_plan->requests - 1);
    const size_t size = strlen(request.text);
    // Now and then a request comes in two pieces.
    const size_t first = !g_plan->plain && random_below(&random, 8) == 0 ? size / 2 : size;
    send_all(stream.socket, request.text, first);
    if (first < size) send_all(stream.socket, request.text + first, size - first);
    read_answer(&stream, &request, result);
    if (request.close) connected = 0;
  }
}

struct Answers run_clients(const struct Plan* plan) {
  struct Answers answers[kMaxThreads], all = {0};
  g_plan = plan;
  run_children(plan->clients, client, sizeof *answers, answers);
  for (long i = 0; i < plan->clients; ++i) {
    all.requests += answers[i].requests;
    all.ok += answers[i].ok;
    all.bad += answers[i].bad;
    all.forbidden += answers[i].forbidden;
    all.missing += answers[i].missing;
    all.refused += answers[i].refused;
    all.bytes += answers[i].bytes;
    all.sum += answers[i].sum;
  }
  return all;
}
