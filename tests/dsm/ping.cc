// A program over the transport alone, for tests/dsm/*.sh: asks every node from every thread, checks
// what comes back, and on request comes to grief.
//
// usage: ping [--threads N] [--rounds N] [--seconds N] [--node N --do
// kill|stop|starve|exit0|exit3|return|fail|abort|segv]
//
// Each thread of each node posts numbered messages to all servers, which check that they come in
// order; asks for replies of all sizes up to 1 MB; and has replies given by a third node, to which
// the asked node hands its address on. --seconds: goes on for that long. --node: that one does
// something to itself in the middle.
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "dsm/base/failure.h"
#include "dsm/net/bootstrap.h"
#include "dsm/net/ucx.h"

namespace {

using namespace weir::dsm;

enum Kind : uint8_t { kNumber, kEcho, kThird, kHandedOn, kCount };

struct Arguments {
  unsigned threads = 2, rounds = 200, seconds = 0, node = ~0u;
  const char* action = "";
};

uint8_t byte_at(uint64_t seed, size_t i) { return static_cast<uint8_t>((seed * 131 + i * 7) >> 3); }

// The server's part.
class Server {
 public:
  explicit Server(Transport& transport) : transport_(transport) {}

  void receive(Message&& message) {
    switch (message.header.kind) {
      case kNumber: {
        const uint32_t thread = message.get<uint32_t>(), number = message.get<uint32_t>();
        uint32_t& last = last_[uint64_t{message.header.from} << 32 | thread];
        if (number != last + 1)
          fail("thread %u of node %u: message %u came after %u", thread, message.header.from,
               number, last);
        last = number;
        numbers_++;
        break;
      }
      case kEcho:
      case kHandedOn: {
        const ReplyTo to =
            message.header.kind == kEcho ? message.header.reply_to : message.get<ReplyTo>();
        const uint32_t size = message.get<uint32_t>();
        const uint64_t seed = message.get<uint64_t>();
        Message reply;
        reply.body.resize(size);
        for (size_t i = 0; i<size; i += size> 5000 ? 509 : 1) reply.body[i] = byte_at(seed, i);
        transport_.reply(to, std::move(reply));
        break;
      }
      case kThird: {
        Message further(kHandedOn);
        const NodeId to = message.get<uint32_t>();
        further.put(message.header.reply_to);
        further.put_bytes(message.get_bytes(12), 12);
        transport_.post(to, std::move(further));
        break;
      }
      case kCount: {
        Message reply;
        reply.put(numbers_);
        transport_.reply(message.header.reply_to, std::move(reply));
        break;
      }
    }
    if (message.bad()) fail("a message of kind %u was cut off", message.header.kind);
  }

 private:
  Transport& transport_;
  std::map<uint64_t, uint32_t> last_;
  uint64_t numbers_ = 0;
};

// The thread that tells the others that this node lives is kept from running for five seconds.
void starve() {
  pid_t watch = 0;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(thread.path() / "comm"), name);
    if (name == "weir-dsm watch") watch = std::stoi(thread.path().filename());
  }
  if (!watch) fail("there is no thread \"weir-dsm watch\"");
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  if (fork()) return;
  if (ptrace(PTRACE_SEIZE, watch, nullptr, nullptr) ||
      ptrace(PTRACE_INTERRUPT, watch, nullptr, nullptr) || waitpid(watch, nullptr, __WALL) != watch)
    perror("ptrace");
  sleep(5);
  ptrace(PTRACE_DETACH, watch, nullptr, nullptr);
  _exit(0);
}

void come_to_grief(const char* action, Bootstrap& bootstrap) {
  if (!strcmp(action, "kill")) kill(getpid(), SIGKILL);
  if (!strcmp(action, "term")) kill(getpid(), SIGTERM), pause();
  if (!strcmp(action, "stop")) kill(getpid(), SIGSTOP);
  if (!strcmp(action, "starve")) starve();
  if (!strcmp(action, "exit0")) exit(0);
  if (!strcmp(action, "exit3")) exit(3);
  if (!strcmp(action, "_exit")) _exit(0);
  if (!strcmp(action, "segv")) raise(SIGSEGV);
  if (!strcmp(action, "fail")) fail("this was to be (%s)", action);
  if (!strcmp(action, "abort")) fail_with(7, "aborted");
  if (!strcmp(action, "mpi_abort")) bootstrap.abort(9);
}

void client(Transport& transport, Bootstrap& bootstrap, const Arguments& arguments, uint32_t thread,
            std::atomic<bool>& over) {
  const auto mailbox = transport.mailbox();
  const NodeId nodes = transport.nodes(), me = transport.node();
  std::vector<uint32_t> numbers(nodes);
  uint64_t random = me * 1000 + thread + 1;
  for (unsigned round = 0; arguments.seconds ? !over : round < arguments.rounds; round++) {
    random = random * 6364136223846793005 + 1442695040888963407;
    const NodeId to = static_cast<NodeId>((random >> 33) % nodes),
                 third = static_cast<NodeId>((random >> 40) % nodes);
    if (arguments.node == me && thread == 0 && round == arguments.rounds / 2)
      come_to_grief(arguments.action, bootstrap);
    for (NodeId node = 0; node < nodes; node++) {
      Message number(kNumber, static_cast<uint8_t>(round % 4));
      number.put(thread);
      number.put(++numbers[node]);
      transport.post(node, std::move(number));
    }
    std::vector<std::pair<uint32_t, uint32_t>> asked;  // ticket, size
    for (unsigned i = 0; i < 3; i++) {
      const uint32_t size =
          round % 50 == 49 && i == 0
              ? 1 << 20
              : static_cast<uint32_t>((random >> (20 + i * 3)) % (i == 2 ? 40000 : 5000));
      Message request(i == 1 ? kThird : kEcho);
      if (i == 1) request.put(third);
      request.put(size);
      request.put(random + i);
      asked.emplace_back(mailbox->ask(to, std::move(request)), size);
    }
    for (size_t i = asked.size(); i-- > 0;) {
      const Message reply = mailbox->wait(asked[i].first);
      if (reply.body.size() != asked[i].second)
        fail("a reply of %zu bytes is to have %u", reply.body.size(), asked[i].second);
      for (size_t at = 0; at<reply.body.size(); at += reply.body.size()> 5000 ? 509 : 1) {
        if (reply.body[at] != byte_at(random + i, at))
          fail("byte %zu of %zu is wrong", at, reply.body.size());
      }
      if (i == 1 && reply.header.from != third)
        fail("the reply came from node %u, not %u", reply.header.from, third);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto bootstrap = start_bootstrap(&argc, &argv);
  Arguments arguments;
  for (int i = 1; i + 1 < argc; i += 2) {
    const auto number = static_cast<unsigned>(atoi(argv[i + 1]));
    if (!strcmp(argv[i], "--threads")) arguments.threads = number;
    if (!strcmp(argv[i], "--rounds")) arguments.rounds = number;
    if (!strcmp(argv[i], "--seconds")) arguments.seconds = number;
    if (!strcmp(argv[i], "--node")) arguments.node = number;
    if (!strcmp(argv[i], "--do")) arguments.action = argv[i + 1];
  }
  start_watch(*bootstrap);
  const auto transport = make_ucx(*bootstrap, ucx_options_from_environment());
  Server server(*transport);
  transport->serve([&](Message&& message) { server.receive(std::move(message)); }, [] {});
  bootstrap->barrier();
  if (arguments.seconds) {
    printf("node %u: process %d\n", bootstrap->node(), getpid());
    fflush(stdout);
  }
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  for (uint32_t thread = 1; thread < arguments.threads; thread++)
    threads.emplace_back([&, thread] { client(*transport, *bootstrap, arguments, thread, over); });
  if (arguments.seconds) {
    threads.emplace_back([&] {
      sleep(arguments.seconds);
      over = true;
    });
  }
  client(*transport, *bootstrap, arguments, 0, over);
  for (std::thread& thread : threads) thread.join();
  if (arguments.node == bootstrap->node() && !strcmp(arguments.action, "return")) return 0;
  bootstrap->barrier();
  const auto mailbox = transport->mailbox();
  const uint64_t expected = uint64_t{arguments.rounds} * arguments.threads * transport->nodes();
  for (NodeId node = 0; node < transport->nodes(); node++) {
    Message reply = mailbox->wait(mailbox->ask(node, Message(kCount)));
    if (const uint64_t count = reply.get<uint64_t>(); !arguments.seconds && count != expected) {
      fail("node %u got %lu numbers of %lu", node, static_cast<unsigned long>(count),
           static_cast<unsigned long>(expected));
    }
  }
  const Traffic traffic = transport->traffic();
  if (transport->nodes() > 1 && (!traffic.messages[0] || !traffic.bytes[3]))
    fail("traffic is not counted");
  bootstrap->barrier();
  transport->stop();
  finish_watch();
  if (bootstrap->node() == 0)
    printf("ping: %u nodes, %u threads: well\n", bootstrap->nodes(), arguments.threads);
  bootstrap->finish();
}
