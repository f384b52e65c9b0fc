// What a program says that it produces, which goes as a whole to who asks for a byte of it
// (Tapeworm, section 3.3), and what it flushes, which goes to all (section 5.3).
#include <algorithm>
#include <utility>

#include "dsm/node/node.h"
#include "dsm/node/tapeworm.h"
#include "dsm/protocol/lrc.h"

namespace weir::dsm {

namespace {

constexpr size_t kLittle = 16 << 10;  // bytes that may go to all with a barrier

}  // namespace

void Tapeworm::start(std::optional<Recording>& recording, Thread& thread) {
  if (!enabled()) return;
  record_exactly();
  thread.recordings.push_back(&recording.emplace());
}

void Tapeworm::produce_start(Thread& thread) { start(thread.produce, thread); }

void Tapeworm::produce_end(Thread& thread) {
  if (!thread.produce) return;
  std::erase(thread.recordings, &*thread.produce);
  const auto produced = std::make_shared<Produced>();
  produced->extent = std::move(thread.produce->written);
  const std::set<UnitId> again = std::move(thread.produce->again);
  thread.produce.reset();
  if (produced->extent.size() < 2) return;
  for (UnitId unit : produced->extent) {
    if (!node_.memory.exists(unit)) continue;
    auto& all = produced_[unit];
    const bool is_first = !produced->extent.contains(unit - 1),
               is_last = !produced->extent.contains(unit + 1);
    if (again.contains(unit) || !(is_first || is_last) ||
        node_.memory.page(unit).kind != UnitKind::kPages) {
      all = {produced};
      continue;
    }
    const auto part = produced_part(node_.memory.page(unit), is_first, is_last);
    produced->edges[unit] = part;
    std::erase_if(all, [&](const auto& older) {
      const auto edge = older->edges.find(unit);
      return edge == older->edges.end() ||
             (part.begin <= edge->second.begin && edge->second.end <= part.end);
    });
    all.push_back(produced);
  }
}

bool Tapeworm::begins_anew(const LazyPage& page, const Thread& thread) const {
  return thread.produce && page.twin && !page.dirty &&
         page.twin_first <= node_.intervals.known()[node_.me()];
}

bool Tapeworm::Produced::covers(UnitId unit, uint32_t at, uint32_t margin) const {
  const auto edge = edges.find(unit);
  return edge == edges.end() ||
         (edge->second.begin <= uint64_t{at} + margin && at < uint64_t{edge->second.end} + margin);
}

// A unit at the edge of what was produced has other data too, made together with something else.
Tapeworm::Produced::Part Tapeworm::produced_part(Page& base, bool is_first, bool is_last) const {
  const auto size = static_cast<uint32_t>(base.size);
  Produced::Part part = {0, size};
  if (!node_.lazy_of(base)) return part;
  const LazyPage& page = as_lazy(base);
  if (!page.twin) return part;
  const auto differs = [&](uint32_t at) { return page.twin[at] != page.open[at]; };
  uint32_t begin = 0, end = size;
  while (begin < size && !differs(begin)) begin++;
  while (end > begin && !differs(end - 1)) end--;
  if (is_first) part.begin = begin;
  if (is_last) part.end = end;
  return part;
}

void Tapeworm::flush_start(Thread& thread) { start(thread.flush, thread); }

void Tapeworm::flush_end(Thread& thread) {
  if (!thread.flush) return;
  std::erase(thread.recordings, &*thread.flush);
  const std::vector<UnitId> units(thread.flush->written.begin(), thread.flush->written.end());
  thread.flush.reset();
  node_.close_interval(true);
  std::vector<NodeId> others;
  for (NodeId node = 0; node < node_.nodes(); node++) {
    if (node != node_.me()) others.push_back(node);
  }
  const ForAll data = gather(others, units);
  for_all_.count += data.count;
  for_all_.diffs.put_bytes(data.diffs.body.data(), data.diffs.body.size());
  for_all_.units.insert(for_all_.units.end(), data.units.begin(), data.units.end());
  if (for_all_.diffs.body.size() > kLittle) send_for_all();
}

}  // namespace weir::dsm
