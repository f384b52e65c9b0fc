// weir-dsm-predict: how a shared-memory program that was recorded on a few nodes would do on
// another network, under another protocol, with more nodes.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <optional>

#include "dsm/predict/tables.h"

namespace weir::predict {
namespace {

constexpr const char* kFooter =
    "A recording is a directory that a run with WEIR_DSM_RECORD=DIRECTORY has written: with "
    "WEIR_DSM_TAPES=off if other\n"
    "protocols or tapes are to be judged, with as many nodes as can be had if more are to be (four "
    "say more than two).\n"
    "  WEIR_DSM_RECORD=/tmp/run WEIR_DSM_TAPES=off mpirun -n 4 PROGRAM\n"
    "  weir-dsm-predict validate /tmp/run\n"
    "  weir-dsm-predict scale /tmp/run --network 10gbe --protocol lrc,hlrc,sc --tapes none,replay\n"
    "Exit status: 0; 2 where the command line is wrong; 125 where a recording cannot be read or "
    "replayed.";

struct Options {
  std::vector<std::string> recordings;
  std::string network = "shared-memory", reads = "auto", locks = "recorded";
  std::vector<std::string> protocols, tapes;
  std::optional<double> latency, bandwidth, send, serve, wake;
  double speed = 1, trap = 3;
  uint32_t most = 1024, cores = 0, arity = 4;
  bool links = false, fit = false;
};

void add_machine(CLI::App* app, Options* options) {
  std::string names;
  for (const Network& network : networks()) names += (names.empty() ? "" : ", ") + network.name;
  app->add_option("--network", options->network, "one of: " + names)->capture_default_str();
  app->add_option("--latency", options->latency, "instead of the network's: microseconds, one way")
      ->check(CLI::NonNegativeNumber);
  app->add_option("--bandwidth", options->bandwidth, "instead of the network's: MB/s of each link")
      ->check(CLI::PositiveNumber);
  app->add_option("--send", options->send,
                  "instead of the network's: microseconds of the sender for a message")
      ->check(CLI::NonNegativeNumber);
  app->add_option("--serve", options->serve,
                  "instead of the network's: microseconds of the receiver's server")
      ->check(CLI::NonNegativeNumber);
  app->add_option("--wake", options->wake,
                  "instead of the network's: microseconds of a thread that waits for it")
      ->check(CLI::NonNegativeNumber);
  app->add_flag("--links", options->links, "messages wait for each other on the link of each node");
  app->add_option("--protocol", options->protocols,
                  "sc, lrc, hlrc: several are compared; else the recorded one")
      ->delimiter(',')
      ->check(CLI::IsMember({"sc", "lrc", "hlrc"}));
  app->add_option("--tapes", options->tapes,
                  "none, recorded (what the run sent), replay (replay barriers and auto-locks)")
      ->delimiter(',')
      ->check(CLI::IsMember({"none", "recorded", "replay"}));
  app->add_option("--speed", options->speed, "of a modelled core, against the recorded one")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app->add_option("--cores", options->cores, "of all nodes together; 0: each thread has its own")
      ->capture_default_str();
  app->add_option("--arity", options->arity, "of the barrier's tree")
      ->check(CLI::Range(1u, 4096u))
      ->capture_default_str();
  app->add_option("--trap", options->trap, "microseconds of a page fault")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app->add_option(
         "--reads", options->reads,
         "with more nodes than recorded, what one node read is read by: split (one), all, auto")
      ->check(CLI::IsMember({"auto", "split", "all"}))
      ->capture_default_str();
}

Settings settings_of(const Options& options) {
  Settings settings;
  const Network* network = network_of(options.network);
  if (!network) throw CLI::ValidationError("--network", "there is no network " + options.network);
  settings.network = *network;
  if (options.latency) settings.network.latency = *options.latency * 1e3;
  if (options.bandwidth) settings.network.bandwidth = *options.bandwidth / 1e3;
  if (options.send) settings.network.send = *options.send * 1e3;
  if (options.serve) settings.network.serve = *options.serve * 1e3;
  if (options.wake) settings.network.wake = *options.wake * 1e3;
  settings.links = options.links;
  settings.cores = options.cores;
  settings.speed = options.speed;
  settings.arity = options.arity;
  settings.trap = static_cast<Time>(options.trap * 1e3);
  return settings;
}

Reads reads_of(const Options& options) {
  return options.reads == "all"     ? Reads::kAll
         : options.reads == "split" ? Reads::kSplit
                                    : Reads::kAuto;
}

// Every protocol and use of tapes that was asked for; without any, what was recorded.
std::vector<Settings> all_settings(const Options& options, const Recording& recording) {
  std::vector<Protocol> protocols;
  for (const std::string& name : options.protocols)
    protocols.push_back(name == "sc"    ? Protocol::kSc
                        : name == "lrc" ? Protocol::kLrc
                                        : Protocol::kHlrc);
  if (protocols.empty())
    protocols.push_back(recording.protocol == 0 ? Protocol::kLrc
                                                : static_cast<Protocol>(recording.protocol));
  std::vector<Tapes> tapes;
  for (const std::string& name : options.tapes)
    tapes.push_back(name == "none"       ? Tapes::kNone
                    : name == "recorded" ? Tapes::kRecorded
                                         : Tapes::kReplay);
  if (tapes.empty()) tapes.push_back(recording.tapes ? Tapes::kRecorded : Tapes::kNone);
  std::vector<Settings> all;
  for (const Protocol protocol : protocols) {
    for (const Tapes of_tapes : tapes) {
      if (protocol == Protocol::kSc && of_tapes != Tapes::kNone && tapes.size() > 1) continue;
      Settings settings = settings_of(options);
      settings.protocol = protocol;
      settings.tapes = protocol == Protocol::kSc ? Tapes::kNone : of_tapes;  // it has no versions
      all.push_back(settings);
    }
  }
  return all;
}

void scale(const Options& options) {
  const Recording recording = read_recording(options.recordings[0]);
  const Workload workload = workload_of(recording);
  for (const Settings& settings : all_settings(options, recording)) {
    fmt::print("protocol {}, tapes {}, network {}, recorded on {} nodes\n",
               protocol_name(settings.protocol), tapes_name(settings.tapes), settings.network.name,
               workload.nodes);
    fmt::print("{}", scaling_table(predict_scaling(workload, std::max(options.most, workload.nodes),
                                                   settings, reads_of(options))));
  }
}

// Each recording against its own run; and, from the one with the fewest nodes, what the others
// should have been.
void validate(const Options& options) {
  std::vector<Recording> recordings;
  for (const std::string& directory : options.recordings)
    recordings.push_back(read_recording(directory));
  size_t smallest = 0;
  for (size_t i = 1; i < recordings.size(); i++) {
    if (recordings[i].nodes.size() < recordings[smallest].nodes.size()) smallest = i;
  }
  const Workload base = workload_of(recordings[smallest]);
  const Reads reads = reads_of(options);
  const auto settings_for = [&](const Recording& recording) {
    Settings settings = all_settings(options, recording)[0];
    settings.recorded_locks = options.locks == "recorded";
    return settings;
  };
  double factor = 1;
  if (options.fit) {
    factor = fitted_factor(base, recordings[smallest].measured(),
                           settings_for(recordings[smallest]), reads);
    fmt::print("messages and faults cost {:.2f} times what {} has\n", factor, options.network);
  }
  std::vector<Comparison> comparisons;
  const auto compare = [&](std::string what, const Workload& workload, const Recording& with) {
    const auto nodes = static_cast<uint32_t>(with.nodes.size());
    const Prediction prediction =
        predict(workload, nodes, slower(settings_for(with), factor), reads);
    if (!prediction.recorded_locks && prediction.messages[0] > 0)
      what += "; locks in the model's order";
    comparisons.push_back({std::move(what), prediction, with.measured()});
  };
  for (size_t i = 0; i < recordings.size(); i++) {
    compare(
        fmt::format("{}: {} nodes, replayed", options.recordings[i], recordings[i].nodes.size()),
        workload_of(recordings[i]), recordings[i]);
  }
  for (size_t i = 0; i < recordings.size(); i++) {
    const auto nodes = static_cast<uint32_t>(recordings[i].nodes.size());
    if (nodes == base.nodes || nodes % base.nodes != 0) continue;
    compare(fmt::format("{}: {} nodes, from {} with {}", options.recordings[i], nodes,
                        options.recordings[smallest], base.nodes),
            base, recordings[i]);
  }
  fmt::print("{}", comparison_table(comparisons));
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Predicts time, messages and misses of a recorded program of distributed shared memory.",
      "weir-dsm-predict");
  app.footer(kFooter);
  app.require_subcommand(1);
  CLI::App* scaling =
      app.add_subcommand("scale", "with more nodes, to find where more do not help");
  scaling->add_option("recording", options.recordings, "directory")->required()->expected(1);
  scaling
      ->add_option("--nodes", options.most,
                   "at most so many; fewer, where the time is four times the best")
      ->check(CLI::Range(1u, 1024u))
      ->capture_default_str();
  add_machine(scaling, &options);
  CLI::App* validation =
      app.add_subcommand("validate", "against what was measured when it was recorded");
  validation
      ->add_option("recordings", options.recordings,
                   "directories, of runs with different node counts")
      ->required();
  validation->add_flag("--fit", options.fit,
                       "finds the costs of messages with which the smallest recording takes its "
                       "time, and predicts the others by them");
  validation
      ->add_option("--locks", options.locks,
                   "replayed with the recorded nodes, who gets a lock first: recorded (as in the "
                   "run), model")
      ->check(CLI::IsMember({"recorded", "model"}))
      ->capture_default_str();
  add_machine(validation, &options);
  CLI::App* list = app.add_subcommand("networks", "lists the networks that are known by name");
  try {
    app.parse(argc, argv);
    if (scaling->parsed()) scale(options);
    if (validation->parsed()) validate(options);
    if (list->parsed()) {
      for (const Network& one : networks()) {
        fmt::print(
            "{:14} {:26} latency {:5.1f} us, {:6.0f} MB/s, send {:.1f}, serve {:.1f}, wake {:.1f} "
            "us\n",
            one.name, one.what, one.latency / 1e3, one.bandwidth * 1e3, one.send / 1e3,
            one.serve / 1e3, one.wake / 1e3);
      }
    }
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "weir-dsm-predict: {}\n", error.what());
    return 125;
  }
  return 0;
}

}  // namespace
}  // namespace weir::predict

int main(int argc, char** argv) { return weir::predict::run(argc, argv); }
