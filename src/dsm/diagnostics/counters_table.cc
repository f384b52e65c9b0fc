// Few nodes have a column each; of many, the least, the mean and the most are shown, with the node
// that has the most.
#include <stdio.h>

#include <algorithm>
#include <functional>

#include "dsm/node/diagnostics.h"

namespace weir::dsm {

namespace {

constexpr size_t kColumns = 8;
enum class Unit { kNumber, kBytes, kTime };

struct Row {
  const char* name;
  const char* key;  // in JSON
  Unit unit;
  uint64_t (*get)(const NodeCounters&);
};

constexpr size_t of(Doing doing) { return static_cast<size_t>(doing); }

// Rows of which no node has anything are left out of the table.
const Row kRows[] = {
    {"read faults", "read_faults", Unit::kNumber,
     [](const NodeCounters& n) { return n.now.read_faults; }},
    {"write faults", "write_faults", Unit::kNumber,
     [](const NodeCounters& n) { return n.now.write_faults; }},
    {"misses", "misses", Unit::kNumber, [](const NodeCounters& n) { return n.now.misses; }},
    {"  waited for them", "miss_nanoseconds", Unit::kTime,
     [](const NodeCounters& n) { return n.now.miss_nanoseconds; }},
    {"locks taken", "locks", Unit::kNumber,
     [](const NodeCounters& n) { return n.counters.done[of(Doing::kLock)]; }},
    {"  from other nodes", "locks_asked", Unit::kNumber,
     [](const NodeCounters& n) { return n.counters.asked[of(Doing::kLock)]; }},
    {"  waited for them", "lock_nanoseconds", Unit::kTime,
     [](const NodeCounters& n) { return n.now.lock_nanoseconds; }},
    {"barriers", "barriers", Unit::kNumber,
     [](const NodeCounters& n) { return n.counters.done[of(Doing::kBarrier)]; }},
    {"  waited there", "barrier_nanoseconds", Unit::kTime,
     [](const NodeCounters& n) { return n.now.barrier_nanoseconds; }},
    {"conditions, semaphores", "conditions", Unit::kNumber,
     [](const NodeCounters& n) {
       return n.counters.done[of(Doing::kCondition)] + n.counters.done[of(Doing::kSemaphore)];
     }},
    {"  waited for them", "condition_nanoseconds", Unit::kTime,
     [](const NodeCounters& n) { return n.counters.condition_nanoseconds; }},
    {"messages for locks", "lock_messages", Unit::kNumber,
     [](const NodeCounters& n) { return n.now.messages[0]; }},
    {"  bytes", "lock_bytes", Unit::kBytes, [](const NodeCounters& n) { return n.bytes[0]; }},
    {"messages for barriers", "barrier_messages", Unit::kNumber,
     [](const NodeCounters& n) { return n.now.messages[1]; }},
    {"  bytes", "barrier_bytes", Unit::kBytes, [](const NodeCounters& n) { return n.bytes[1]; }},
    {"messages that tapes push", "flush_messages", Unit::kNumber,
     [](const NodeCounters& n) { return n.now.messages[2]; }},
    {"  bytes", "flush_bytes", Unit::kBytes, [](const NodeCounters& n) { return n.bytes[2]; }},
    {"messages for data", "data_messages", Unit::kNumber,
     [](const NodeCounters& n) { return n.now.messages[3]; }},
    {"  bytes", "data_bytes", Unit::kBytes, [](const NodeCounters& n) { return n.bytes[3]; }},
    {"all messages", "messages", Unit::kNumber,
     [](const NodeCounters& n) {
       return n.now.messages[0] + n.now.messages[1] + n.now.messages[2] + n.now.messages[3];
     }},
    {"  bytes", "bytes", Unit::kBytes, [](const NodeCounters& n) { return n.now.bytes; }},
    {"diffs made", "diffs_made", Unit::kNumber,
     [](const NodeCounters& n) { return n.now.diffs_made; }},
    {"diffs applied", "diffs_applied", Unit::kNumber,
     [](const NodeCounters& n) { return n.now.diffs_applied; }},
    {"updates sent by tapes", "updates_sent", Unit::kNumber,
     [](const NodeCounters& n) { return n.now.updates_sent; }},
    {"  received", "updates_received", Unit::kNumber,
     [](const NodeCounters& n) { return n.now.updates_received; }},
    {"  used", "updates_used", Unit::kNumber,
     [](const NodeCounters& n) { return n.now.updates_used; }},
    {"units that came with locks", "lock_pages", Unit::kNumber,
     [](const NodeCounters& n) { return n.now.lock_pages; }},
    {"garbage collections", "collections", Unit::kNumber,
     [](const NodeCounters& n) { return n.counters.done[of(Doing::kCollect)]; }},
    {"kept now", "memory", Unit::kBytes, [](const NodeCounters& n) { return n.now.memory; }},
};

std::string text_of(Unit unit, uint64_t value) {
  return unit == Unit::kNumber  ? std::to_string(value)
         : unit == Unit::kBytes ? text_of_bytes(value)
                                : text_of_time(value);
}

}  // namespace

std::string text_of_bytes(uint64_t bytes) {
  char text[40];
  if (bytes < 10'000) return std::to_string(bytes) + " B";
  const char* const units[] = {"kB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes) / 1000;
  size_t unit = 0;
  for (; value >= 1000 && unit < 3; unit++) value /= 1000;
  snprintf(text, sizeof text, "%.*f %s", value < 100 ? 1 : 0, value, units[unit]);
  return text;
}

std::string text_of_time(uint64_t nanoseconds) {
  char text[40];
  const double seconds = static_cast<double>(nanoseconds) / 1e9;
  if (seconds >= 100) snprintf(text, sizeof text, "%.0f s", seconds);
  else if (seconds >= 1) snprintf(text, sizeof text, "%.2f s", seconds);
  else if (nanoseconds >= 1'000'000) snprintf(text, sizeof text, "%.1f ms", seconds * 1e3);
  else if (nanoseconds) snprintf(text, sizeof text, "%.0f us", seconds * 1e6);
  else return "0";
  return text;
}

std::string counters_table(const std::vector<NodeCounters>& nodes, const std::string& title) {
  std::string table = title;
  char cell[80];
  const bool is_narrow = nodes.size() <= kColumns;
  const auto add = [&](const std::string& text) {
    snprintf(cell, sizeof cell, "%12s", text.c_str());
    table += cell;
  };
  table += std::string(28, ' ');
  if (is_narrow) {
    for (size_t node = 0; node < nodes.size(); node++) add("node " + std::to_string(node));
  } else {
    for (const char* name : {"least", "mean", "most", "on node"}) add(name);
  }
  if (nodes.size() > 1) add("all");
  table += "\n";
  for (const Row& row : kRows) {
    uint64_t sum = 0;
    std::vector<uint64_t> values;
    for (const NodeCounters& node : nodes) {
      values.push_back(row.get(node));
      sum += values.back();
    }
    if (!sum) continue;
    snprintf(cell, sizeof cell, "%-28s", row.name);
    table += cell;
    if (is_narrow) {
      for (const uint64_t value : values) add(text_of(row.unit, value));
    } else {
      const auto most = std::max_element(values.begin(), values.end());
      add(text_of(row.unit, *std::min_element(values.begin(), values.end())));
      add(text_of(row.unit, sum / nodes.size()));
      add(text_of(row.unit, *most));
      add(std::to_string(most - values.begin()));
    }
    if (nodes.size() > 1) add(text_of(row.unit, sum));
    table += "\n";
  }
  uint64_t received = 0, used = 0;
  for (const NodeCounters& node : nodes) {
    received += node.now.updates_received;
    used += node.now.updates_used;
  }
  if (received) {
    snprintf(cell, sizeof cell, "of the updates that tapes brought, %.0f %% were used\n",
             100.0 * static_cast<double>(used) / static_cast<double>(received));
    table += cell;
  }
  return table;
}

std::string counters_json(const std::vector<NodeCounters>& nodes, double seconds) {
  char number[40];
  snprintf(number, sizeof number, "%.6f", seconds);
  std::string text = "{\"seconds\": " + std::string(number) + ",\n \"nodes\": [";
  const auto object = [&](const std::function<uint64_t(const Row&)>& value) {
    std::string fields;
    for (const Row& row : kRows)
      fields += (fields.empty() ? "" : ", ") + ("\"" + std::string(row.key)) +
                "\": " + std::to_string(value(row));
    return "{" + fields + "}";
  };
  for (size_t i = 0; i < nodes.size(); i++)
    text += (i ? ",\n  " : "\n  ") + object([&](const Row& row) { return row.get(nodes[i]); });
  text += "],\n \"all\": " + object([&](const Row& row) {
            uint64_t sum = 0;
            for (const NodeCounters& node : nodes) sum += row.get(node);
            return sum;
          });
  return text + "}\n";
}

}  // namespace weir::dsm
