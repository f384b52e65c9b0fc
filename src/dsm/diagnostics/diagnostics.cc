// At the end of a job: node 0 asks all nodes, itself too, for what they have kept. The others'
// threads wait in the last barrier meanwhile, and their servers answer.
#include "dsm/node/diagnostics.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dsm/base/failure.h"
#include "dsm/node/node.h"

namespace weir::dsm {

namespace {

std::atomic<Waits*> signalled{nullptr};

void on_quit(int) {
  if (Waits* waits = signalled.load(std::memory_order_acquire)) waits->ask();
}

void check_writable(const char* variable, const std::string& path) {
  if (path.empty() || path == "1") return;
  FILE* file = fopen(path.c_str(), "w");
  if (!file || fclose(file)) fail("%s=%s: %s", variable, path.c_str(), strerror(errno));
}

Message question(DiagnosticsQuestion what) {
  Message message(static_cast<uint8_t>(Kind::kDiagnostics));
  message.put(what);
  return message;
}

// What the program has written comes first; it may share the file.
void print(const std::string& text) {
  fflush(stdout);
  fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace

Diagnostics::Diagnostics(Node& node, const Settings& settings)
    : timeline(node, !settings.timeline.empty(), settings.timeline_events),
      sharing(node, !settings.sharing.empty()),
      waits(node, settings.waits),
      node_(node),
      started_(nanoseconds_now()) {}

void Diagnostics::start(Thread& thread) {
  if (node_.me() == 0) {
    check_writable("WEIR_DSM_STATS", node_.settings.statistics_to);
    check_writable("WEIR_DSM_TIMELINE", node_.settings.timeline);
    check_writable("WEIR_DSM_SHARING", node_.settings.sharing);
  }
  signalled.store(&waits, std::memory_order_release);
  struct sigaction now = {};
  if (!sigaction(SIGQUIT, nullptr, &now) && !(now.sa_flags & SA_SIGINFO) &&
      now.sa_handler == SIG_DFL) {
    now.sa_handler = on_quit;
    now.sa_flags = SA_RESTART;
    sigaction(SIGQUIT, &now, nullptr);
  }
  std::unique_lock<std::mutex> held(node_.mutex);
  timeline.measure_clock(thread, held);
}

void Diagnostics::before_finish(Thread& thread) {
  std::unique_lock<std::mutex> held(node_.mutex);
  timeline.measure_clock(thread, held);
}

void Diagnostics::report(Thread& thread) {
  signalled.store(nullptr, std::memory_order_release);
  struct sigaction now = {};
  if (!sigaction(SIGQUIT, nullptr, &now) && !(now.sa_flags & SA_SIGINFO) &&
      now.sa_handler == on_quit)
    signal(SIGQUIT, SIG_DFL);
  std::unique_lock<std::mutex> held(node_.mutex);
  is_finished_ = true;
  if (counters_asker_.ticket) {
    Message reply(static_cast<uint8_t>(Kind::kReply));
    put_counters(reply);
    node_.reply(counters_asker_, std::move(reply));
  }
  if (node_.me() != 0) return;
  const Settings& settings = node_.settings;
  const auto write = [](const std::string& path, const std::string& text) {
    if (!write_report(path, text))
      print("weir-dsm: " + path + " cannot be written: " + strerror(errno) + "\n");
  };
  if (!settings.statistics_to.empty())
    write(settings.statistics_to,
          statistics(thread, held, settings.statistics_to.ends_with(".json")));
  if (sharing.on()) write(settings.sharing, sharing.report(thread, held));
  if (timeline.on()) print("weir-dsm: " + timeline.write(settings.timeline, thread, held));
}

void Diagnostics::on_message(Message&& message) {
  Message reply(static_cast<uint8_t>(Kind::kReply));
  switch (message.get<DiagnosticsQuestion>()) {
    case DiagnosticsQuestion::kTime:
      reply.put(nanoseconds_now());
      reply.put_list(clock_name());
      break;
    case DiagnosticsQuestion::kCounters:
      if (!is_finished_) {
        counters_asker_ = message.header.reply_to;
        return;
      }
      put_counters(reply);
      break;
    case DiagnosticsQuestion::kTimeline: timeline.put(message.get<uint64_t>(), reply); break;
    case DiagnosticsQuestion::kSharing: sharing.put(message.get<UnitId>(), reply); break;
  }
  node_.reply(message.header.reply_to, std::move(reply));
}

void Diagnostics::put_counters(Message& message) {
  NodeCounters its{node_.counters_now(), node_.counters, {}};
  const Traffic traffic = node_.traffic_now();
  for (int group = 0; group < 4; group++) its.bytes[group] = traffic.bytes[group];
  message.put(its);
}

std::string Diagnostics::statistics(Thread& thread, std::unique_lock<std::mutex>& held, bool json) {
  static constexpr const char* kProtocols[] = {"", "sc", "lrc", "hlrc"};
  static constexpr const char* kTapes[] = {"off", "called", "auto"};
  const uint64_t took = nanoseconds_now() - started_;
  std::vector<NodeCounters> nodes;
  for (NodeId node = 0; node < node_.nodes(); node++)
    nodes.push_back(node_.ask(node, question(DiagnosticsQuestion::kCounters), thread, held)
                        .get<NodeCounters>());
  if (json) return counters_json(nodes, static_cast<double>(took) / 1e9);
  const Settings& settings = node_.settings;
  return counters_table(
      nodes,
      "weir-dsm: " + std::to_string(nodes.size()) + (nodes.size() == 1 ? " node, " : " nodes, ") +
          std::to_string(settings.threads) + (settings.threads == 1 ? " thread" : " threads") +
          " each, " + text_of_time(took) + "; protocol " + kProtocols[settings.protocol] +
          ", tapes " + kTapes[static_cast<int>(settings.tapes)] +
          (was_reset ? "; counted since the program's last weir_dsm_counters_reset\n" : "\n"));
}

bool write_report(const std::string& path, const std::string& text) {
  if (path == "1") {
    print(text);
    return true;
  }
  FILE* file = fopen(path.c_str(), "w");
  if (!file) return false;
  const bool failed = fwrite(text.data(), 1, text.size(), file) != text.size();
  return !fclose(file) && !failed;
}

}  // namespace weir::dsm
