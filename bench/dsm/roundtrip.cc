// Question: how long does a node wait for another's answer, over the transport of libweir-dsm,
// where the asked node is idle and where it computes?
// Command:  mpirun -n N roundtrip [--rounds N] [--pause N] [--json FILE]  (2 nodes or more; node 0
//           asks each of the others in turn; UCX_TLS=tcp,self for TCP)
// Figure:   median and 99th percentile, in microseconds, of requests of 64 bytes that are answered
//           with 64 bytes, 4 KiB and 64 KiB. Node 0 computes for --pause microseconds (100) between
//           requests: with 0 the asked server never gets to sleep.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "dsm/base/failure.h"
#include "dsm/net/bootstrap.h"
#include "dsm/net/ucx.h"

namespace {

using namespace weir::dsm;

enum Kind : uint8_t { kEcho, kPhase };

double microseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

struct Answer {
  double median, late;
};

Answer measure(Transport& transport, Mailbox& mailbox, uint32_t size, unsigned rounds,
               unsigned pause) {
  std::vector<double> times;
  for (unsigned i = 0; i < rounds + 50; i++) {
    Message request(kEcho);
    request.put(size);
    uint8_t padding[60] = {};
    request.put_bytes(padding, sizeof padding);
    const double again = microseconds() + pause * (0.5 + (i % 100) / 100.0);
    while (pause && microseconds() < again) {}
    const NodeId to = 1 + i % (transport.nodes() - 1);
    const double start = microseconds();
    const Message reply = mailbox.wait(mailbox.ask(to, std::move(request)));
    const double time = microseconds() - start;
    if (reply.body.size() != size)
      fail("a reply of %zu bytes is to have %u", reply.body.size(), size);
    if (i >= 50) times.push_back(time);
  }
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times[times.size() * 99 / 100]};
}

}  // namespace

int main(int argc, char** argv) {
  const auto bootstrap = start_bootstrap(&argc, &argv);
  unsigned rounds = 2000, pause = 100;
  const char* json = nullptr;
  for (int i = 1; i + 1 < argc; i++) {
    if (!strcmp(argv[i], "--rounds")) rounds = static_cast<unsigned>(atoi(argv[i + 1]));
    if (!strcmp(argv[i], "--pause")) pause = static_cast<unsigned>(atoi(argv[i + 1]));
    if (!strcmp(argv[i], "--json")) json = argv[i + 1];
  }
  if (bootstrap->nodes() < 2) fail("two nodes are wanted: mpirun -n 2");
  start_watch(*bootstrap);
  const auto transport = make_ucx(*bootstrap, ucx_options_from_environment());
  std::atomic<uint32_t> phase{0};  // 0 idle, 1 computing, 2 end
  transport->serve(
      [&](Message&& request) {
        if (request.header.kind == kPhase) {
          phase = request.get<uint32_t>();
          return;
        }
        Message reply(kEcho);
        reply.body.assign(request.get<uint32_t>(), 1);
        transport->reply(request.header.reply_to, std::move(reply));
      },
      [] {});
  bootstrap->barrier();
  if (bootstrap->node() == 0) {
    const auto mailbox = transport->mailbox();
    std::string report;
    for (const uint32_t now : {0, 1}) {
      for (NodeId node = 1; node < transport->nodes(); node++) {
        Message message(kPhase);
        message.put(now);
        transport->post(node, std::move(message));
      }
      usleep(20000);
      for (const uint32_t size : {64u, 4096u, 65536u}) {
        const Answer answer = measure(*transport, *mailbox, size, rounds, pause);
        printf("%-9s %6u B: median %7.1f us, 99 %% within %8.1f us\n", now ? "computing" : "idle",
               size, answer.median, answer.late);
        fflush(stdout);
        char line[200];
        snprintf(line, sizeof line,
                 "%s{\"asked\": \"%s\", \"bytes\": %u, \"median\": %.2f, \"p99\": %.2f}",
                 report.empty() ? "" : ", ", now ? "computing" : "idle", size, answer.median,
                 answer.late);
        report += line;
      }
    }
    for (NodeId node = 1; node < transport->nodes(); node++) {
      Message message(kPhase);
      message.put(uint32_t{2});
      transport->post(node, std::move(message));
    }
    if (FILE* file = json ? fopen(json, "w") : nullptr) {
      fprintf(file, "{\"nodes\": %u, \"rounds\": %u, \"microseconds\": [%s]}\n", transport->nodes(),
              rounds, report.c_str());
      fclose(file);
    }
  } else {
    volatile uint64_t work = 0;
    while (phase != 2) {
      if (phase == 0) {
        usleep(1000);
      } else {
        for (int i = 0; i < 1000; i++) work = work * 3 + 1;
      }
    }
  }
  bootstrap->barrier();
  transport->stop();
  finish_watch();
  bootstrap->finish();
}
