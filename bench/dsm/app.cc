// The frame around each application.
//
// The problem: eleven programs are to be measured in the same way, under any number of nodes and
// threads, with and without tapes, and must not disturb what is measured by measuring it. So
// counters are zeroed and the clock is started between two barriers, when every worker has arrived
// and none has gone on; the counters are added up before node 0 reads the result, which costs
// misses of its own; and nothing is printed while workers run.
//
// Invariants:
//   1. All nodes parse the same command line and come to the same verdict about it, so all go
//      through the same collective calls and end with the same status.
//   2. System calls see private memory only: the line of JSON is made of copies.
//   3. What workers write in work() is read by node 0 only after the barrier that ends it.
#include "app.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmath>

namespace app {

namespace {

enum Barriers : uint32_t { kBegin = 900, kBegun, kEnd, kPrepared, kDone };

double begun_at, measured;  // written by worker 0 alone

std::string text(const char* format, ...) __attribute__((format(printf, 1, 2)));
std::string text(const char* format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  return line;
}

std::string usage(const Description& description) {
  std::string all = text("dsm_%s: %s\nusage: dsm_%s [--paper | --small] [OPTIONS]\n",
                         description.name, description.what, description.name);
  for (const Number& number : description.numbers)
    all += text("  --%-12s %s (%ld; --paper: %ld; --small: %ld)\n", number.name, number.what,
                number.ordinary, number.paper, number.small);
  all +=
      "  --tapes LIST   none, all (what is best for this program), or some of "
      "user,auto,replay,flush,produce\n";
  if (description.has_units) all += "  --unit UNIT    page, region or annotated\n";
  all +=
      "  --check        compares with the sequential version; --small always does\n  --seed N      "
      " of the input\n";
  return all;
}

bool parse_tapes(const std::string& list, const Tapes& best, Tapes& tapes) {
  for (size_t at = 0; at <= list.size();) {
    const size_t end = std::min(list.find(',', at), list.size());
    const std::string word = list.substr(at, end - at);
    at = end + 1;
    if (word == "all") tapes = best;
    else if (word == "user") tapes.user = true;
    else if (word == "auto") tapes.automatic = true;
    else if (word == "replay") tapes.replay = true;
    else if (word == "flush") tapes.flush = true;
    else if (word == "produce") tapes.produce = true;
    else if (word != "none") return false;
  }
  return true;
}

bool parse_long(const char* word, long low, long& value) {
  char* end = nullptr;
  if (!word) return false;
  value = strtol(word, &end, 10);
  return *word && !*end && value >= low && value <= 1L << 30;
}

// Answers what is wrong with the command line; empty: nothing.
std::string parse(int argc, char** argv, const Description& description, Options& options) {
  bool paper = false, small = false;
  std::vector<std::pair<std::string, long>> given;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const char* next = i + 1 < argc ? argv[i + 1] : nullptr;
    long value = 0;
    if (word == "--help") return usage(description);
    if (word == "--paper" || word == "--small") {
      (word == "--paper" ? paper : small) = true;
    } else if (word == "--check") {
      options.check = true;
    } else if (word == "--seed") {
      if (!parse_long(next, 0, value)) return "--seed wants a number";
      options.seed = static_cast<uint64_t>(value);
      ++i;
    } else if (word == "--tapes") {
      if (!next || !parse_tapes(next, description.best, options.tapes))
        return "--tapes wants none, all, or some of user,auto,replay,flush,produce";
      options.tapes_named = next;
      ++i;
    } else if (word == "--unit" && description.has_units) {
      const std::string unit = next ? next : "";
      if (unit != "page" && unit != "region" && unit != "annotated")
        return "--unit wants page, region or annotated";
      options.unit = unit == "page"     ? Unit::kPage
                     : unit == "region" ? Unit::kRegion
                                        : Unit::kAnnotated;
      ++i;
    } else {
      bool known = false;
      for (const Number& number : description.numbers)
        known |= word == std::string("--") + number.name;
      if (!known) return "no option " + word + "\n" + usage(description);
      if (!parse_long(next, 1, value)) return word + " wants a number from 1 on";
      given.emplace_back(word.substr(2), value);
      ++i;
    }
  }
  for (const Number& number : description.numbers) {
    long value = paper ? number.paper : small ? number.small : number.ordinary;
    for (const auto& [name, other] : given)
      if (name == number.name) value = other;
    options.numbers.emplace_back(number.name, value);
  }
  options.check |= small;
  if (const char* threads = getenv("WEIR_DSM_THREADS")) {
    long value = 0;
    if (!parse_long(threads, 1, value)) return "WEIR_DSM_THREADS is not a number from 1 on";
    options.threads = static_cast<unsigned>(value);
  }
  if (options.unit == Unit::kRegion && options.threads > 1)
    return "--unit region is for one worker a node: threads would share the registered pointers, "
           "and with them the level of each region; unset WEIR_DSM_THREADS";
  return "";
}

std::string json(const weir_dsm_counters& counters) {
  const uint64_t* messages = counters.messages;
  std::string all =
      text("{\"read_faults\": %" PRIu64 ", \"write_faults\": %" PRIu64 ", \"misses\": %" PRIu64,
           counters.read_faults, counters.write_faults, counters.misses);
  all += text(", \"messages\": {\"lock\": %" PRIu64 ", \"barrier\": %" PRIu64
              ", \"flush\": %" PRIu64 ", \"data\": %" PRIu64 "}, \"bytes\": %" PRIu64,
              messages[0], messages[1], messages[2], messages[3], counters.bytes);
  all += text(", \"diffs_made\": %" PRIu64 ", \"diffs_applied\": %" PRIu64
              ", \"updates_sent\": %" PRIu64 ", \"updates_received\": %" PRIu64
              ", \"updates_used\": %" PRIu64,
              counters.diffs_made, counters.diffs_applied, counters.updates_sent,
              counters.updates_received, counters.updates_used);
  all += text(", \"lock_pages\": %" PRIu64 ", \"lock_nanoseconds\": %" PRIu64
              ", \"barrier_nanoseconds\": %" PRIu64 ", \"miss_nanoseconds\": %" PRIu64
              ", \"memory\": %" PRIu64 "}",
              counters.lock_pages, counters.lock_nanoseconds, counters.barrier_nanoseconds,
              counters.miss_nanoseconds, counters.memory);
  return all;
}

const char* name_of(Unit unit) {
  return unit == Unit::kPage ? "page" : unit == Unit::kRegion ? "region" : "annotated";
}

// On node 0. Answers whether the result is right, or was not checked.
bool report(const Description& description, Program& program, const Options& options,
            unsigned workers, const weir_dsm_counters& counters) {
  const uint64_t checksum = program.checksum();
  std::string wrong;
  const double sequential = options.check ? program.check(wrong) : 0;
  std::string line = text(
      "{\"app\": \"%s\", \"nodes\": %u, \"workers\": %u, \"unit\": \"%s\", \"tapes\": \"%s\", "
      "\"parameters\": {",
      description.name, weir_dsm_nodes(), workers, name_of(options.unit),
      options.tapes_named.c_str());
  for (const auto& [name, value] : options.numbers)
    line += text("%s\"%s\": %ld", line.back() == '{' ? "" : ", ", name.c_str(), value);
  line += text("}, \"seconds\": %.6f, \"sequential_seconds\": ", measured);
  line += options.check ? text("%.6f", sequential) : "null";
  line += text(", \"result\": \"%s\", \"checksum\": \"%016" PRIx64 "\", \"counters\": ",
               !options.check  ? "unchecked"
               : wrong.empty() ? "right"
                               : "wrong",
               checksum);
  line += json(counters) + "}\n";
  if (!wrong.empty())
    fprintf(stderr, "dsm_%s: the result is wrong:\n%s", description.name, wrong.c_str());
  fputs(line.c_str(), stdout);
  fflush(stdout);
  return wrong.empty();
}

}  // namespace

long Options::number(const char* name) const {
  for (const auto& [known, value] : numbers)
    if (known == name) return value;
  give_up("a program asks for a number that it has not described");
}

int run(int argc, char** argv, const Description& description, Program& program) {
  weir_dsm_start(&argc, &argv);
  Options options;
  const std::string misuse = parse(argc, argv, description, options);
  if (!misuse.empty()) {
    const bool help = misuse == usage(description);
    if (weir_dsm_node() == 0)
      fprintf(help ? stdout : stderr, "%s%s\n",
              help ? "" : text("dsm_%s: ", description.name).c_str(), misuse.c_str());
    weir_dsm_finish();
    return help ? 0 : 2;
  }

  const unsigned workers = weir_dsm_nodes() * options.threads;
  program.prepare(options, workers);
  weir_dsm_barrier(kPrepared);
  weir_dsm_run(
      [](unsigned worker, unsigned all, void* context) {
        const auto& [its, expected] = *static_cast<std::pair<Program*, unsigned>*>(context);
        if (all != expected) give_up("nodes have different numbers of threads");
        its->work(worker, all);
      },
      [&] {
        static std::pair<Program*, unsigned> context;
        context = {&program, workers};
        return &context;
      }());

  weir_dsm_counters counters{};
  weir_dsm_counters_total(&counters);
  weir_dsm_barrier(kDone);
  int right = 1;
  if (weir_dsm_node() == 0) right = report(description, program, options, workers, counters);
  weir_dsm_share(&right, sizeof right, 0);
  weir_dsm_finish();
  return right ? 0 : 1;
}

void begin_measured(unsigned worker) {
  weir_dsm_barrier(kBegin);
  if (worker % weir_dsm_threads() == 0) weir_dsm_counters_reset();
  if (worker == 0)
    begun_at = seconds();  // before the others go on: where processors are few, worker 0 may be the
                           // last one to
  weir_dsm_barrier(kBegun);
}

void end_measured(unsigned worker) {
  weir_dsm_barrier(kEnd);
  if (worker == 0) measured = seconds() - begun_at;
}

void lock(const Tapes& tapes, uint32_t lock, const void* address, size_t size) {
  if (tapes.automatic) weir_dsm_lock_auto(lock);
  else if (tapes.user) weir_dsm_lock_user(lock, address, size);
  else weir_dsm_lock(lock);
}

void barrier(const Tapes& tapes, uint32_t barrier, weir_dsm_pattern pattern) {
  if (tapes.replay) weir_dsm_barrier_replay(barrier, pattern);
  else weir_dsm_barrier(barrier);
}

void* shared_bytes(size_t size, const char* name) {
  void* address = nullptr;
  if (weir_dsm_node() == 0) {
    weir_dsm_attributes attributes{};
    attributes.name = name;
    address = weir_dsm_alloc_with(size, &attributes);
  }
  weir_dsm_share(&address, sizeof address, 0);
  return address;
}

uint64_t random_bits(uint64_t seed, uint64_t index) {
  uint64_t x = seed * 0x9e3779b97f4a7c15 + index * 0xd1342543de82ef95 + 0x632be59bd9b4e019;
  for (int round = 0; round < 2; ++round) {
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93;
  }
  return x ^ x >> 32;
}

double random_unit(uint64_t seed, uint64_t index) {
  return static_cast<double>(random_bits(seed, index) >> 11) * 0x1p-53;
}

double seconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void Checksum::add_bytes(const void* bytes, size_t size) {
  for (size_t i = 0; i < size; ++i)
    value_ = (value_ ^ static_cast<const uint8_t*>(bytes)[i]) * 0x100000001b3;
}

void give_up(const char* why) { weir_dsm_abort(3, why); }

void report_difference(std::string& wrong, const char* what, long where, double found,
                       double expected) {
  constexpr size_t kEnough = 1000;  // bytes
  if (wrong.size() < kEnough)
    wrong += text("  %s %ld: %.17g instead of %.17g\n", what, where, found, expected);
}

}  // namespace app
