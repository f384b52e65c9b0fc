// Asks the simulation for several node counts, and writes down what it says.
#include "dsm/predict/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace weir::predict {

namespace {

constexpr double kMinFactor = 0.02, kMaxFactor = 200;
constexpr int kFitRounds = 20;
constexpr double kWorthwhile = 0.99;  // of the time before, to be called faster
constexpr double kHopeless = 4;       // times the best one: more nodes are not looked at

std::string bytes_text(uint64_t bytes) {
  if (bytes < 10'000) return fmt::format("{} B", bytes);
  const double value = static_cast<double>(bytes);
  if (value < 1e7) return fmt::format("{:.0f} kB", value / 1e3);
  if (value < 1e10) return fmt::format("{:.0f} MB", value / 1e6);
  return fmt::format("{:.0f} GB", value / 1e9);
}

std::string seconds(Time time) {
  const double value = static_cast<double>(time);
  if (value < 1e6) return fmt::format("{:.1f} us", value / 1e3);
  if (value < 1e9) return fmt::format("{:.2f} ms", value / 1e6);
  return fmt::format("{:.3f} s", value / 1e9);
}

std::string difference(uint64_t predicted, uint64_t measured) {
  if (measured == 0) return predicted == 0 ? "same" : "-";
  return fmt::format("{:+.1f} %",
                     100.0 * (static_cast<double>(predicted) - static_cast<double>(measured)) /
                         static_cast<double>(measured));
}

}  // namespace

std::string protocol_name(Protocol protocol) {
  return protocol == Protocol::kSc ? "sc" : protocol == Protocol::kLrc ? "lrc" : "hlrc";
}
std::string tapes_name(Tapes tapes) {
  return tapes == Tapes::kNone ? "none" : tapes == Tapes::kRecorded ? "recorded" : "replay";
}

Prediction predict(const Workload& base, uint32_t nodes, const Settings& settings, Reads reads) {
  const uint32_t parts = nodes / base.nodes;
  if (parts <= 1) {
    try {
      return Simulation(base, settings).run();
    } catch (const Stuck&) {
      if (!settings.recorded_locks) throw;
    }
    Settings by_model = settings;
    by_model.recorded_locks = false;
    return Simulation(base, by_model).run();
  }
  const Workload workload = scaled(base, parts, reads);
  return Simulation(workload, settings).run();
}

std::vector<Prediction> predict_scaling(const Workload& base, uint32_t most,
                                        const Settings& settings, Reads reads) {
  std::map<uint32_t, Prediction> found;
  const auto look = [&](uint32_t nodes) {
    if (nodes >= base.nodes && nodes <= most && nodes % base.nodes == 0 && !found.count(nodes))
      found[nodes] = predict(base, nodes, settings, reads);
  };
  Time best = 0;
  for (uint64_t nodes = base.nodes; nodes <= most; nodes *= 2) {
    look(static_cast<uint32_t>(nodes));
    const Time time = found.rbegin()->second.time;
    best = best == 0 ? time : std::min(best, time);
    if (static_cast<double>(time) > kHopeless * static_cast<double>(best)) break;
  }
  const auto fastest = [&] {
    return std::min_element(found.begin(), found.end(),
                            [](const auto& left, const auto& right) {
                              return left.second.time < right.second.time;
                            })
        ->first;
  };
  const uint32_t around = fastest() / base.nodes;
  for (const uint32_t quarters : {3u, 5u, 6u, 7u}) look(around * quarters / 4 * base.nodes);
  std::vector<Prediction> all;
  for (const auto& [nodes, prediction] : found) all.push_back(prediction);
  return all;
}

size_t where_it_stops(const std::vector<Prediction>& predictions) {
  size_t best = 0;
  for (size_t i = 1; i < predictions.size(); i++) {
    if (static_cast<double>(predictions[i].time) <
        kWorthwhile * static_cast<double>(predictions[best].time))
      best = i;
  }
  return best;
}

std::string scaling_table(const std::vector<Prediction>& predictions) {
  std::string text =
      fmt::format("{:>6} {:>12} {:>9} {:>9} {:>10} {:>9} {:>9} {:>9} {:>9} {:>9}  {}\n", "nodes",
                  "time", "speed-up", "misses", "messages", "lock", "barrier", "flush", "data",
                  "bytes", "of the threads' time: computing, at misses, locks, barriers");
  for (const Prediction& one : predictions) {
    const double all = std::max(
        1.0, static_cast<double>(one.compute + one.miss_wait + one.lock_wait + one.barrier_wait));
    const auto part = [&](Time time) { return 100.0 * static_cast<double>(time) / all; };
    text += fmt::format(
        "{:>6} {:>12} {:>9.2f} {:>9} {:>10} {:>9} {:>9} {:>9} {:>9} {:>9}  {:.0f} {:.0f} {:.0f} "
        "{:.0f} %",
        one.nodes, seconds(one.time),
        static_cast<double>(predictions[0].time) / static_cast<double>(std::max<Time>(1, one.time)),
        one.misses, one.all_messages(), one.messages[0], one.messages[1], one.messages[2],
        one.messages[3], bytes_text(one.bytes), part(one.compute), part(one.miss_wait),
        part(one.lock_wait), part(one.barrier_wait));
    if (one.updates > 0)
      text += fmt::format(", updates used {:.0f} %",
                          100.0 * static_cast<double>(one.used) / static_cast<double>(one.updates));
    if (one.unsignalled > 0) text += fmt::format(", {} waits without a signal", one.unsignalled);
    text += "\n";
  }
  const size_t best = where_it_stops(predictions);
  if (best + 1 == predictions.size())
    text += fmt::format("More nodes help up to {}, as far as it was looked.\n",
                        predictions[best].nodes);
  else text += fmt::format("More nodes stop to help at {}.\n", predictions[best].nodes);
  return text;
}

std::string comparison_table(const std::vector<Comparison>& comparisons) {
  std::string text;
  for (const Comparison& one : comparisons) {
    const Measured& real = one.measured;
    const Prediction& model = one.predicted;
    text += fmt::format("{}\n{:>10} {:>14} {:>14} {:>10}\n", one.what, "", "predicted", "measured",
                        "off by");
    text += fmt::format("{:>10} {:>14} {:>14} {:>10}\n", "time", seconds(model.time),
                        seconds(real.nanoseconds), difference(model.time, real.nanoseconds));
    const auto row = [&](const char* name, uint64_t predicted, uint64_t measured) {
      text += fmt::format("{:>10} {:>14} {:>14} {:>10}\n", name, predicted, measured,
                          difference(predicted, measured));
    };
    const auto wait = [&](const char* name, uint64_t predicted, uint64_t measured) {
      text += fmt::format("{:>10} {:>14} {:>14} {:>10}\n", name, seconds(predicted),
                          seconds(measured), difference(predicted, measured));
    };
    wait("at misses", model.miss_wait, real.miss_wait);
    wait("locks", model.lock_wait, real.lock_wait);
    wait("barriers", model.barrier_wait, real.barrier_wait);
    row("misses", model.misses, real.misses);
    row("messages", model.all_messages(),
        real.messages[0] + real.messages[1] + real.messages[2] + real.messages[3]);
    row("  lock", model.messages[0], real.messages[0]);
    row("  barrier", model.messages[1], real.messages[1]);
    row("  flush", model.messages[2], real.messages[2]);
    row("  data", model.messages[3], real.messages[3]);
    row("bytes", model.bytes, real.bytes);
  }
  return text;
}

double fitted_factor(const Workload& workload, const Measured& measured, const Settings& settings,
                     Reads reads) {
  double low = kMinFactor, high = kMaxFactor;
  for (int round = 0; round < kFitRounds; round++) {
    const double factor = std::sqrt(low * high);
    const Prediction prediction =
        predict(workload, workload.nodes, slower(settings, factor), reads);
    (prediction.time < measured.nanoseconds ? low : high) = factor;
  }
  return std::sqrt(low * high);
}

Settings slower(Settings settings, double factor) {
  for (double* cost : {&settings.network.latency, &settings.network.send, &settings.network.serve,
                       &settings.network.wake})
    *cost *= factor;
  settings.trap = static_cast<Time>(static_cast<double>(settings.trap) * factor);
  settings.diff = static_cast<Time>(static_cast<double>(settings.diff) * factor);
  return settings;
}

}  // namespace weir::predict
