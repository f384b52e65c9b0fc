// Recording is an append to memory, under the mutex that the caller holds anyway. When the buffer
// is full, later events are dropped and counted: a beginning without holes is worth more than an
// end of which nobody knows the cause.
//
// Clocks: nodes of one host have one clock. Of different hosts, a node asks node 0 for its time
// several times; the quickest reply is off by at most half its round trip. That is done at the
// start and at the end, and times in between are corrected along the line through both.
//
// The file has one process for each node, a track for each thread, and one for the server. Complete
// events ("X") are what has a stack's order on its track. Asynchronous ones ("b", "e") are locks
// that are held, which need not. Flows ("s", "t", "f") lead from a request's sender over each
// server that has it in its hands back to the sender.
#include "dsm/node/timeline.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "dsm/node/node.h"

namespace weir::dsm {

namespace {

constexpr size_t kPiece = 16384;  // events; in one message too
constexpr int kClockRounds = 16;

std::string quoted(const std::string& text) {
  std::string answer = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') answer += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      snprintf(code, sizeof code, "\\u%04x", c);
      answer += code;
    } else {
      answer += c;
    }
  }
  return answer + "\"";
}

// One node's events, one after the other.
class Writer {
 public:
  Writer(FILE* file, const Memory& memory, uint64_t zero)
      : file_(file), memory_(memory), zero_(zero) {
    for (uint32_t block = 0; block < memory.blocks(); block++)
      lines_of_code_.want(std::string(memory.block(block).name));
    lines_of_code_.look_up();
  }

  void start_node(NodeId node, const std::string& host, uint32_t process) {
    node_ = node;
    tracks_.clear();
    meta("process_name", 0,
         "\"name\":" +
             quoted("node " + std::to_string(node) + " on " + (host.empty() ? "this host" : host) +
                    ", process " + std::to_string(process)));
    meta("process_sort_index", 0, "\"sort_index\":" + std::to_string(node));
  }

  void dropped(uint64_t count) {
    meta("process_labels", 0,
         "\"labels\":" + quoted(std::to_string(count) + " later events were dropped"));
  }

  void write(const Timeline::Event& event, uint64_t start) {
    if (tracks_.insert(event.track).second) {
      meta("thread_name", tid(event), "\"name\":" + quoted(name_of_track(event.track)));
      meta("thread_sort_index", tid(event), "\"sort_index\":" + std::to_string(tid(event)));
    }
    const uint64_t end = start + event.duration;
    if (event.doing == Doing::kAsked) {
      flow('s', event, start);
      return flow('f', event, std::max(start, end - 1));
    }
    if (event.doing == Doing::kHold) {
      const std::string name = quoted("lock " + std::to_string(event.object) + " held"),
                        id = ",\"cat\":\"hold\",\"id2\":{\"local\":\"" +
                             std::to_string(event.object) + "\"}";
      line('b', name, event, start,
           id + ",\"args\":{\"thread\":" + std::to_string(event.track) + "}");
      return line('e', name, event, end, id);
    }
    char duration[40];
    snprintf(duration, sizeof duration, ",\"dur\":%.3f,\"args\":{",
             static_cast<double>(event.duration) / 1000);
    line('X', quoted(name_of(event)), event, start, duration + arguments_of(event) + "}");
    if (event.doing == Doing::kServe && event.flow.ticket) flow('t', event, start);
  }

  uint64_t lines() const { return lines_; }

 private:
  static std::string name_of_track(uint16_t track) {
    return track == Timeline::kServer      ? "server"
           : track == Timeline::kPeers     ? "copies for other nodes"
           : track == Timeline::kCollector ? "garbage collection"
                                           : "thread " + std::to_string(track);
  }
  static int tid(const Timeline::Event& event) {
    return event.track >= Timeline::kCollector ? 10000 + Timeline::kServer - event.track
                                               : event.track + 1;
  }

  void meta(const char* what, int track, const std::string& arguments) {
    fprintf(file_, "%s{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%u,\"tid\":%d,\"args\":{%s}}",
            lines_++ ? ",\n" : "", what, node_, track, arguments.c_str());
  }
  void line(char phase, const std::string& name, const Timeline::Event& event, uint64_t at,
            const std::string& rest) {
    fprintf(file_, "%s{\"ph\":\"%c\",\"name\":%s,\"pid\":%u,\"tid\":%d,\"ts\":%.3f%s}",
            lines_++ ? ",\n" : "", phase, name.c_str(), node_, tid(event),
            (static_cast<double>(at) - static_cast<double>(zero_)) / 1000, rest.c_str());
  }
  void flow(char phase, const Timeline::Event& event, uint64_t at) {
    char rest[100];
    snprintf(rest, sizeof rest, ",\"cat\":\"message\",\"id\":\"%u.%u.%u\"%s", event.flow.node,
             event.flow.channel, event.flow.ticket, phase == 's' ? "" : ",\"bp\":\"e\"");
    line(phase, "\"request\"", event, at, rest);
  }

  std::string name_of(const Timeline::Event& event) const {
    switch (event.doing) {
      case Doing::kFault: return event.detail ? "write fault" : "read fault";
      case Doing::kMiss: return "miss";
      case Doing::kLock: return "wait for lock " + std::to_string(event.object);
      case Doing::kBarrier: return name_of_barrier(event.object);
      case Doing::kCondition: return "wait for condition " + std::to_string(event.object);
      case Doing::kSemaphore: return "wait for semaphore " + std::to_string(event.object);
      case Doing::kMemory: return "allocate or free";
      case Doing::kMakeDiff: return "make diff";
      case Doing::kApplyDiffs: return "apply diffs";
      case Doing::kCollect: return "collect garbage";
      default: return std::string("serve ") + name_of_kind(event.detail);
    }
  }
  std::string arguments_of(const Timeline::Event& event) const {
    const auto number = [](const char* name, uint64_t value) {
      return std::string("\"") + name + "\":" + std::to_string(value);
    };
    const auto unit = [&] {
      return number("unit", event.object) + ",\"in\":" + quoted(place_of(event.object));
    };
    const bool asked = event.peer != node_;
    switch (event.doing) {
      case Doing::kFault: return unit();
      case Doing::kMiss: return unit() + (asked ? "," + number("from", event.peer) : "");
      case Doing::kMakeDiff: return unit() + "," + number("bytes", event.amount);
      case Doing::kApplyDiffs: return unit() + "," + number("diffs", event.amount);
      case Doing::kServe: return number("from", event.peer) + "," + number("bytes", event.amount);
      default: return asked && event.track != Timeline::kServer ? number("asked", event.peer) : "";
    }
  }

  std::string place_of(UnitId unit) const {
    const std::string text = memory_.describe(unit);
    const size_t offset = text.rfind(" + ");
    return offset == std::string::npos
               ? lines_of_code_.name(text)
               : lines_of_code_.name(text.substr(0, offset)) + text.substr(offset);
  }

  FILE* const file_;
  const Memory& memory_;
  const uint64_t zero_;
  NodeId node_ = 0;
  SourceLines lines_of_code_;
  std::set<uint16_t> tracks_;
  uint64_t lines_ = 0;
};

}  // namespace

void Timeline::add(const Event& event) {
  if (count_ == most_) {
    if (!dropped_++) dropped_from_ = event.start;
    return;
  }
  if (count_ % kPiece == 0) pieces_.emplace_back().reserve(kPiece);
  pieces_.back().push_back(event);
  count_++;
}

const std::vector<char>& clock_name() {
  static const std::vector<char> name = [] {
    char boot[64] = "", space[64] = "";
    if (FILE* file = fopen("/proc/sys/kernel/random/boot_id", "r")) {
      if (!fgets(boot, sizeof boot, file)) boot[0] = 0;
      fclose(file);
    }
    if (readlink("/proc/self/ns/time", space, sizeof space - 1) < 0) space[0] = 0;
    std::vector<char> both(boot, boot + strlen(boot));
    both.insert(both.end(), space, space + strlen(space));
    return both;
  }();
  return name;
}

void Timeline::measure_clock(Thread& thread, std::unique_lock<std::mutex>& held) {
  if (!on_) return;
  Clock best{nanoseconds_now(), 0};
  uint64_t quickest = ~uint64_t{0};
  for (int round = 0; round < kClockRounds && node_.me() != 0; round++) {
    Message request(static_cast<uint8_t>(Kind::kDiagnostics));
    request.put(DiagnosticsQuestion::kTime);
    const uint64_t before = nanoseconds_now();
    Message reply = node_.ask(0, std::move(request), thread, held);
    const uint64_t after = nanoseconds_now(), there = reply.get<uint64_t>();
    if (reply.get_list<char>() == clock_name()) break;
    if (after - before >= quickest) continue;
    quickest = after - before;
    best = {before + quickest / 2, static_cast<int64_t>(there - (before + quickest / 2))};
  }
  if (!clocks_[0].at) clocks_[0] = best;
  clocks_[1] = best;
}

void Timeline::put(uint64_t first, Message& message) {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  message.put_list(std::vector<char>(host, host + strlen(host)));
  message.put(static_cast<uint32_t>(getpid()));
  for (const Clock& clock : clocks_) message.put(clock);
  message.put(count_);
  message.put(dropped_);
  message.put(dropped_from_);
  message.put_list(first < count_ ? pieces_[first / kPiece] : std::vector<Event>());
}

std::string Timeline::write(const std::string& path, Thread& thread,
                            std::unique_lock<std::mutex>& held) {
  FILE* file = fopen(path.c_str(), "w");
  if (!file) return "the timeline cannot be written: " + path + ": " + strerror(errno) + "\n";
  fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n", file);
  Writer writer(file, node_.memory, created_);
  std::string text;
  uint64_t events = 0;
  for (NodeId node = 0; node < node_.nodes(); node++) {
    uint64_t count = 1;
    for (uint64_t first = 0; first < count; first += kPiece) {
      Message request(static_cast<uint8_t>(Kind::kDiagnostics));
      request.put(DiagnosticsQuestion::kTimeline);
      request.put(first);
      Message reply = node_.ask(node, std::move(request), thread, held);
      const std::vector<char> host = reply.get_list<char>();
      const auto process = reply.get<uint32_t>();
      const Clock start = reply.get<Clock>(), end = reply.get<Clock>();
      count = reply.get<uint64_t>();
      const auto dropped = reply.get<uint64_t>(), dropped_from = reply.get<uint64_t>();
      const double drift = end.at > start.at ? static_cast<double>(end.ahead - start.ahead) /
                                                   static_cast<double>(end.at - start.at)
                                             : 0;
      const auto corrected = [&](uint64_t at) {
        return at + static_cast<uint64_t>(
                        start.ahead +
                        static_cast<int64_t>(
                            drift * static_cast<double>(static_cast<int64_t>(at - start.at))));
      };
      if (first == 0) writer.start_node(node, {host.begin(), host.end()}, process);
      if (first == 0 && dropped) writer.dropped(dropped);
      for (const Event& event : reply.get_list<Event>())
        writer.write(event, corrected(event.start));
      if (first == 0 && dropped) {
        text += "the timeline of node " + std::to_string(node) + " ends " +
                text_of_time(corrected(dropped_from) - created_) + " after the start, " +
                std::to_string(dropped) +
                " events later were dropped; WEIR_DSM_TIMELINE_EVENTS makes more room\n";
      }
    }
    events += count;
  }
  fputs("\n]}\n", file);
  const bool failed = ferror(file);
  if (fclose(file) || failed)
    return "the timeline is not complete: " + path + ": " + strerror(errno) + "\n";
  return text + "the timeline is in " + path + ": " + std::to_string(events) +
         " events; ui.perfetto.dev and chrome://tracing open it\n";
}

}  // namespace weir::dsm
