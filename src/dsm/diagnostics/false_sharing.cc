// How false sharing is recorded. What a diff changed is kept as a bit for each word, because the
// question is whether diffs are disjoint. What its node knew then is kept too, because they must be
// concurrent.
//
// The diffs of the whole run would be too many. Kept are those around the first barriers, and then
// around ever fewer, the same on every node. So concurrent diffs are kept together or not at all.
// Of programs without barriers, the first diffs of each unit are kept. Costs are counted for all
// diffs.
//
// `sc` has no diffs: there, the words at which writes trapped stand for them.
#include "dsm/node/false_sharing.h"

#include <algorithm>
#include <bit>

#include "dsm/node/node.h"
#include "dsm/protocol/lrc.h"
#include "region/diff.h"

namespace weir::dsm {

namespace {

constexpr uint64_t kMaxWords = 16384;
constexpr uint32_t kKeptAtOnce = 8;  // diffs of a unit between two barriers
constexpr size_t kKeptOfUnit = 64, kLines = 16;
constexpr uint64_t kMemory = 32 << 20;
constexpr size_t kMessage = 512 << 10;
constexpr uint32_t kAllBarriers = 64;

bool is_kept(uint32_t barrier) {
  if (barrier < kAllBarriers) return true;
  return barrier % (std::bit_floor(barrier) / (kAllBarriers / 2)) == 0;
}

}  // namespace

uint64_t Sharing::grain(uint64_t unit_size) {
  uint64_t grain = 4;
  while (unit_size / grain > kMaxWords) grain *= 2;
  return grain;
}

void Sharing::add_received(const Page& page, uint64_t diffs, uint64_t bytes) {
  Kept& unit = units_[page.id];
  unit.diffs += diffs;
  unit.bytes += bytes;
}

bool Sharing::has_room(Kept& unit, uint64_t bytes) {
  const uint32_t barrier = node_.barrier.passed();
  if (!is_kept(barrier)) return false;
  if (unit.kept_at != barrier) unit.kept = 0;
  unit.kept_at = barrier;
  if (unit.kept >= kKeptAtOnce || unit.written.size() >= kKeptOfUnit || memory_ + bytes > kMemory) {
    dropped_++;
    return false;
  }
  unit.kept++;
  memory_ += bytes;
  return true;
}

void Sharing::add_made(const Page& page, const Diff& diff) {
  Kept& unit = units_[page.id];
  const uint64_t step = grain(page.size), words = (page.size / step + 63) / 64 + 1;
  if (diff.bytes.empty() || !has_room(unit, words * 8 + node_.nodes() * sizeof(uint32_t))) return;
  Written written{diff.first, node_.intervals.known(), std::vector<uint64_t>(words)};
  region::DiffReader reader(diff.bytes.data(), diff.bytes.size());
  for (uint64_t at = 0; !reader.at_end();) {
    uint64_t skip, count;
    if (!reader.number(&skip) || !reader.number(&count) || !reader.bytes(count)) break;
    at += skip;
    for (uint64_t word = at / step; count && word <= (at + count - 1) / step; word++)
      written.words[word / 64] |= uint64_t{1} << word % 64;
    at += count;
  }
  unit.written.push_back(std::move(written));
}

void Sharing::add_fault(const Page& page, const void* address, const void* program_counter) {
  Kept& unit = units_[page.id];
  const auto found = std::find_if(unit.traps.begin(), unit.traps.end(),
                                  [&](const auto& trap) { return trap.first == program_counter; });
  if (found != unit.traps.end()) {
    found->second++;
  } else if (unit.traps.size() < kLines) {
    unit.traps.emplace_back(program_counter, 1);
  }
  if (node_.lazy_of(const_cast<Page&>(page))) return;
  const uint64_t step = grain(page.size), words = (page.size / step + 63) / 64 + 1;
  if (unit.written.empty()) unit.written.push_back({0, {}, std::vector<uint64_t>(words)});
  const uint64_t word =
      static_cast<uint64_t>(static_cast<const uint8_t*>(address) - page.program) / step;
  unit.written.front().words[word / 64] |= uint64_t{1} << word % 64;
}

// --- Gathering

void Sharing::put(UnitId first, Message& message) {
  OfNode all;
  for (const auto& [id, unit] : units_) {
    all.misses += unit.misses;
    all.diffs += unit.diffs;
    all.bytes += unit.bytes;
  }
  for (const uint64_t number : {all.misses, all.diffs, all.bytes, dropped_}) message.put(number);
  for (auto at = units_.lower_bound(first); at != units_.end(); ++at) {
    const auto& [id, unit] = *at;
    if (unit.written.empty()) continue;
    message.put(id);
    if (message.body.size() > kMessage) return;  // with the unit that comes next
    message.put(uint8_t{1});
    for (const uint64_t number : {unit.misses, unit.diffs, unit.bytes}) message.put(number);
    message.put(static_cast<uint32_t>(unit.written.size()));
    for (const Written& written : unit.written) {
      message.put(written.first);
      message.put_list(written.known);
      message.put_list(written.words);
    }
    message.put(static_cast<uint32_t>(unit.traps.size()));
    for (const auto& [counter, count] : unit.traps) {
      const CodePlace place = place_of(counter);
      message.put_list(std::vector<char>(place.module.begin(), place.module.end()));
      message.put(place.offset);
      message.put(count);
    }
  }
  message.put(kNoUnit);
}

std::string Sharing::report(Thread& thread, std::unique_lock<std::mutex>& held) {
  std::vector<OfNode> nodes(node_.nodes());
  for (NodeId node = 0; node < nodes.size(); node++) {
    OfNode& its = nodes[node];
    for (UnitId next = 0; next != kNoUnit;) {
      Message request(static_cast<uint8_t>(Kind::kDiagnostics));
      request.put(DiagnosticsQuestion::kSharing);
      request.put(next);
      Message reply = node_.ask(node, std::move(request), thread, held);
      for (uint64_t* number : {&its.misses, &its.diffs, &its.bytes, &its.dropped})
        *number = reply.get<uint64_t>();
      while ((next = reply.get<UnitId>()) != kNoUnit && !reply.at_end()) {
        reply.get<uint8_t>();
        Unit& unit = its.units[next];
        for (uint64_t* number : {&unit.misses, &unit.diffs, &unit.bytes})
          *number = reply.get<uint64_t>();
        unit.written.resize(reply.get<uint32_t>());
        for (Written& written : unit.written) {
          written.first = reply.get<uint32_t>();
          written.known = reply.get_list<uint32_t>();
          written.words = reply.get_list<uint64_t>();
        }
        unit.lines.resize(reply.get<uint32_t>());
        for (Line& line : unit.lines) {
          const std::vector<char> module = reply.get_list<char>();
          line.at.module.assign(module.begin(), module.end());
          line.at.offset = reply.get<uint64_t>();
          line.count = reply.get<uint32_t>();
        }
      }
      if (reply.bad()) return "a damaged answer of node " + std::to_string(node) + "\n";
    }
  }
  return describe(nodes);
}

}  // namespace weir::dsm
