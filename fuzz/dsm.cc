// Whatever message arrives at a node of libweir-dsm: cut, changed, doubled, of another kind, of
// another time. The node goes on, or ends with 125 and says why; it never crashes.
//
// Each case is a process of its own: a small cluster over the loopback transport runs a program
// that uses all kinds of messages, and one of them is damaged on its way. A case that waits for
// ever is counted, not blamed: what a message that no transport loses or changes has promised may
// be lost with it. See fuzz/README.md.
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "dsm/base/protocol.h"
#include "dsm/node/test_cluster.h"

namespace {

using namespace weir::dsm;
using Random = std::mt19937_64;

constexpr NodeId kNodes = 3;
constexpr unsigned kPatience = 2;  // seconds for a case

// --- Damage

const char* const kNames[] = {"cut",     "longer",   "bit",          "byte",         "16 bits",
                              "32 bits", "64 bits",  "empty",        "doubled",      "kind",
                              "from",    "reply_to", "earlier body", "earlier also", "earlier",
                              "spliced", "noise"};
constexpr unsigned kDamages = sizeof kNames / sizeof *kNames;

template <typename T>
void change(std::vector<uint8_t>& body, Random& random) {
  if (body.size() < sizeof(T)) return;
  const size_t at = random() % 2 ? random() % (body.size() - sizeof(T) + 1)
                                 : random() % (std::min<size_t>(body.size(), 48) - sizeof(T) + 1);
  T value;
  memcpy(&value, body.data() + at, sizeof value);
  const T few = static_cast<T>(random() % 8);
  const T choices[] = {0,
                       few,
                       static_cast<T>(value + 1),
                       static_cast<T>(value - 1),
                       static_cast<T>(~T{0}),
                       static_cast<T>(~T{0} - few),
                       static_cast<T>(T{1} << (8 * sizeof(T) - 1)),
                       static_cast<T>((T{1} << (8 * sizeof(T) - 1)) + few),
                       static_cast<T>(~T{0} >> 1),
                       static_cast<T>(T{1} << random() % (8 * sizeof(T))),
                       static_cast<T>(random())};
  value = choices[random() % (sizeof choices / sizeof *choices)];
  memcpy(body.data() + at, &value, sizeof value);
}

// The one message of this process that is damaged, counted as they arrive.
struct Plan {
  std::atomic<uint64_t> until{~uint64_t{0}};
  unsigned damage = 0;
  Random random;
  std::mutex mutex;  // guards seen
  std::vector<Message> seen;

  // What arrives in place of `message`.
  std::vector<Message> arrival(Message&& message) {
    const std::lock_guard<std::mutex> guard(mutex);
    std::vector<Message> all;
    if (until-- != 0) {
      seen.push_back(message);
      all.push_back(std::move(message));
      return all;
    }
    const Message earlier = seen.empty() ? message : seen[random() % seen.size()];
    dprintf(STDOUT_FILENO, "damage: %s, of a message of kind %u from node %u with %zu bytes\n",
            kNames[damage], message.header.kind, message.header.from, message.body.size());
    std::vector<uint8_t>& body = message.body;
    switch (damage) {
      case 0: body.resize(body.empty() ? 0 : random() % body.size()); break;
      case 1: body.resize(body.size() + 1 + random() % 64, static_cast<uint8_t>(random())); break;
      case 2:
        if (!body.empty()) body[random() % body.size()] ^= static_cast<uint8_t>(1 << random() % 8);
        break;
      case 3: change<uint8_t>(body, random); break;
      case 4: change<uint16_t>(body, random); break;
      case 5: change<uint32_t>(body, random); break;
      case 6: change<uint64_t>(body, random); break;
      case 7: body.clear(); break;
      case 8: all.push_back(message); break;
      case 9:
        message.header.kind = static_cast<uint8_t>(random() % 4 ? random() % 30 : random());
        break;
      case 10:
        message.header.from = static_cast<uint16_t>(random() % 2 ? random() % kNodes : random());
        break;
      case 11:
        message.header.reply_to = {
            static_cast<uint16_t>(random() % 2 ? random() % kNodes : random()),
            static_cast<uint16_t>(random() % 3), static_cast<uint32_t>(random() % 20)};
        break;
      case 12: body = earlier.body; break;
      case 13: all.push_back(earlier); break;
      case 14: message = earlier; break;
      case 15:
        body.resize(body.empty() ? 0 : random() % body.size());
        body.insert(
            body.end(),
            earlier.body.begin() +
                static_cast<ptrdiff_t>(earlier.body.empty() ? 0 : random() % earlier.body.size()),
            earlier.body.end());
        break;
      default:
        for (uint8_t& byte : body) byte = static_cast<uint8_t>(random());
    }
    message.rewind();
    all.push_back(std::move(message));
    return all;
  }
} plan;

class DamagingMailbox final : public Mailbox {
 public:
  explicit DamagingMailbox(std::unique_ptr<Mailbox> inner) : inner_(std::move(inner)) {}
  uint32_t ask(NodeId to, Message&& request) override {
    return inner_->ask(to, std::move(request));
  }
  ReplyTo address() override { return inner_->address(); }
  Message wait(uint32_t ticket) override { return plan.arrival(inner_->wait(ticket)).back(); }

 private:
  std::unique_ptr<Mailbox> inner_;
};

class Damaging final : public Transport {
 public:
  explicit Damaging(std::unique_ptr<Transport> inner) : inner_(std::move(inner)) {}
  NodeId node() const override { return inner_->node(); }
  NodeId nodes() const override { return inner_->nodes(); }
  std::unique_ptr<Mailbox> mailbox() override {
    return std::make_unique<DamagingMailbox>(inner_->mailbox());
  }
  void post(NodeId to, Message&& message) override { inner_->post(to, std::move(message)); }
  void reply(const ReplyTo& to, Message&& message) override {
    inner_->reply(to, std::move(message));
  }
  void serve(std::function<void(Message&&)> receive, std::function<void()> idle) override {
    inner_->serve(
        [receive = std::move(receive)](Message&& message) {
          for (Message& one : plan.arrival(std::move(message))) receive(std::move(one));
        },
        std::move(idle));
  }
  void stop() override { inner_->stop(); }
  Traffic traffic() const override { return inner_->traffic(); }

 private:
  std::unique_ptr<Transport> inner_;
};

// --- A program that uses all kinds of messages

struct Words {
  uint64_t words[3 * 512];
};

void run_program(uint64_t seed) {
  Random random(seed);
  Settings settings;
  settings.size = 4 << 20;
  settings.tree = 1 + random() % 2;
  settings.tapes = static_cast<Tapes>(random() % 3);
  settings.collect = random() % 3 ? uint64_t{1} << 30 : 1;
  std::vector<std::unique_ptr<Transport>> transports;
  for (auto& one : make_loopback(kNodes))
    transports.push_back(std::make_unique<Damaging>(std::move(one)));
  TestCluster cluster(std::move(transports), settings);
  std::atomic<uint64_t> offsets[4];
  const auto first = static_cast<unsigned>(random() % kNodes);
  // First touch, and each protocol; one annotated.
  cluster.run([&](unsigned worker) {
    if (worker == first) {
      for (int i = 0; i < 4; i++) {
        weir_dsm_attributes attributes = {};
        attributes.protocol = static_cast<weir_dsm_protocol>(1 + i % 3);
        attributes.home = static_cast<weir_dsm_home>((seed + static_cast<uint64_t>(i)) % 3);
        attributes.unit = i == 3 ? WEIR_DSM_ANNOTATED : WEIR_DSM_PAGES;
        if (i == 3) attributes.protocol = WEIR_DSM_LRC;
        attributes.pages = 1 + i % 2;
        offsets[i] = static_cast<uint64_t>(
            static_cast<uint8_t*>(weir_dsm_alloc_with(sizeof(Words), &attributes)) -
            cluster.view(worker, 0));
      }
    }
    weir_dsm_barrier(0);
    const auto words = [&](int i) -> volatile uint64_t* {
      auto* memory = reinterpret_cast<Words*>(cluster.view(worker, offsets[i]));
      if (i == 3) weir_dsm_write_access(memory);
      return memory->words;
    };
    for (uint32_t round = 0; round < 3; round++) {
      for (int i = 0; i < 3; i++) {
        if (round == 1 && i == 0) weir_dsm_produce_start();
        if (round == 1 && i == 1) weir_dsm_flush_start();
        for (unsigned word = worker; word < 1536; word += 300) words(i)[word] = word * round;
        if (round == 1 && i == 0) weir_dsm_produce_end();
        if (round == 1 && i == 1) weir_dsm_flush_end();
      }
      round % 2 ? weir_dsm_barrier(1) : weir_dsm_barrier_replay(1, WEIR_DSM_DYNAMIC);
      for (int i = 0; i < 3; i++) {
        for (unsigned word = 0; word < 1536; word += 100) static_cast<void>(words(i)[word]);
      }
      weir_dsm_barrier(2);
      for (uint32_t lock = 0; lock < 2; lock++) {
        (lock ? weir_dsm_lock_auto : weir_dsm_lock)(lock);
        for (int i = 0; i < 4; i++) words(i)[lock * 700 + 1] = words(i)[lock * 700 + 1] + 1;
        weir_dsm_unlock(lock);
      }
      weir_dsm_lock_user(2, const_cast<uint64_t*>(words(1)), 4096);
      words(1)[9] = words(1)[9] + 1;
      weir_dsm_unlock(2);
      if (weir_dsm_trylock(3)) weir_dsm_unlock(3);
      int64_t sum = worker;
      weir_dsm_reduce_int64(&sum, 1, WEIR_DSM_SUM);
    }
    // Conditions and semaphores
    weir_dsm_semaphore_post(worker);
    weir_dsm_semaphore_wait((worker + 1) % kNodes);
    weir_dsm_lock(4);
    words(1)[20] = words(1)[20] + 1;
    if (words(1)[20] == kNodes) weir_dsm_broadcast(5);
    while (words(1)[20] < kNodes) weir_dsm_wait(5, 4);
    weir_dsm_unlock(4);
    weir_dsm_signal(6);
    const NodeId next = (worker + 1) % kNodes;
    uint8_t few[100];
    cluster.node(worker).peers.read(next, offsets[1], few, sizeof few, this_thread());
    cluster.node(worker).peers.write(next, offsets[2] + 12000 + 8 * worker, few, 8, this_thread());
    double shared = worker;
    weir_dsm_share(&shared, sizeof shared, 1);
    void* small = weir_dsm_alloc(100);
    *static_cast<volatile char*>(small) = 1;
    weir_dsm_free(small);
    if (worker == first) weir_dsm_free(cluster.view(worker, offsets[0]));
    weir_dsm_counters counters;
    weir_dsm_counters_total(&counters);
    weir_dsm_barrier(3);
  });
}

// --- Cases

enum Outcome { kWentOn, kRefused, kWaits, kFault, kOutcomes };

// The process of a case: never returns.
[[noreturn]] void run_case(uint64_t seed, uint64_t number) {
  Random random(seed * 0x9e3779b97f4a7c15 + number);
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const itimerval patience = {.it_interval = {}, .it_value = {.tv_sec = kPatience, .tv_usec = 0}};
  setitimer(ITIMER_REAL, &patience, nullptr);
  plan.random.seed(random());
  plan.damage = static_cast<unsigned>(random() % kDamages);
  plan.until = random() % (random() % 2 ? 450 : 80);
  run_program(random());
  _exit(0);
}

Outcome outcome_of(uint64_t seed, uint64_t number, std::string& said, bool& is_hit) {
  int ends[2];
  if (pipe(ends)) abort();
  fflush(nullptr);
  const pid_t process = fork();
  if (process == 0) {
    dup2(ends[1], 1);
    dup2(ends[1], 2);
    close(ends[0]);
    close(ends[1]);
    run_case(seed, number);
  }
  close(ends[1]);
  said.clear();
  char bytes[4096];
  for (ssize_t size; (size = read(ends[0], bytes, sizeof bytes)) > 0;)
    said.append(bytes, static_cast<size_t>(size));
  close(ends[0]);
  int status = 0;
  waitpid(process, &status, 0);
  is_hit = said.find("damage: ") != std::string::npos;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return kWentOn;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 125 &&
      said.find("weir-dsm: ") != std::string::npos)
    return kRefused;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) return kWaits;
  said += "(status " + std::to_string(status) + ")\n";
  return kFault;
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t seed = 1, cases = 200, only = ~uint64_t{0}, seconds = 0;
  bool is_verbose = false;
  for (int i = 1; i < argc; i++) {
    const std::string word = argv[i];
    if (word == "--verbose") is_verbose = true;
    else if (i + 1 == argc) return 2;
    else if (word == "--seed") seed = strtoull(argv[++i], nullptr, 10);
    else if (word == "--cases") cases = strtoull(argv[++i], nullptr, 10);
    else if (word == "--case") only = strtoull(argv[++i], nullptr, 10);
    else if (word == "--seconds") seconds = strtoull(argv[++i], nullptr, 10);
    else return 2;
  }
  signal(SIGPIPE, SIG_IGN);
  const time_t start = time(nullptr);
  uint64_t counts[kOutcomes] = {}, hits = 0, done = 0;
  for (uint64_t number = only == ~uint64_t{0} ? 0 : only;
       seconds ? time(nullptr) - start < static_cast<time_t>(seconds)
               : done < (only == ~uint64_t{0} ? cases : 1);
       number++, done++) {
    std::string said;
    bool is_hit;
    const Outcome outcome = outcome_of(seed, number, said, is_hit);
    counts[outcome]++;
    hits += is_hit;
    if (is_verbose || outcome == kFault) {
      static constexpr const char* kWords[] = {"goes on", "is refused", "waits", "FAULT"};
      printf("seed %lu, case %lu: %s\n%s", seed, number, kWords[outcome], said.c_str());
    }
    if (counts[kFault] >= 10) break;
  }
  printf("seed %lu: %lu cases, %lu with damage: %lu refused, %lu went on, %lu waited, %lu faults\n",
         seed, done, hits, counts[kRefused], counts[kWentOn], counts[kWaits], counts[kFault]);
  return counts[kFault] ? 1 : 0;
}
