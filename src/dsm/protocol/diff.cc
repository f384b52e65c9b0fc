// Differences of units as bytes, by the finder and the encoding that regions have (region/diff.h),
// without the magic: runs of equal and of changed bytes.
#include <algorithm>
#include <iterator>

#include "dsm/protocol/lrc.h"
#include "region/diff.h"

namespace weir::dsm {

std::vector<uint8_t> make_bytes(const uint8_t* twin, const uint8_t* now, size_t size) {
  const auto* one = reinterpret_cast<const char*>(twin);
  const auto* other = reinterpret_cast<const char*>(now);
  std::vector<uint8_t> bytes;
  size_t last = 0;
  const auto number = [&](uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<uint8_t>(value | 0x80));
    bytes.push_back(static_cast<uint8_t>(value));
  };
  for (size_t at = region::next_change(one, other, size, 0); at < size;) {
    const size_t end = region::next_equal(one, other, size, at);
    number(at - last);
    number(end - at);
    bytes.insert(bytes.end(), now + at, now + end);
    last = end;
    at = region::next_change(one, other, size, end);
  }
  return bytes;
}

bool apply_bytes(const std::vector<uint8_t>& bytes, size_t size, uint8_t* to, uint8_t* second) {
  region::DiffReader reader(bytes.data(), bytes.size());
  size_t at = 0;
  while (!reader.at_end()) {
    uint64_t skip, count;
    if (!reader.number(&skip) || !reader.number(&count) || skip > size - at ||
        count > size - at - skip)
      return false;
    at += skip;
    const void* from = reader.bytes(count);
    if (!from) return false;
    memcpy(to + at, from, count);
    if (second) memcpy(second + at, from, count);
    at += count;
  }
  return true;
}

bool has_some(const std::vector<uint8_t>& bytes, size_t begin, size_t end) {
  region::DiffReader reader(bytes.data(), bytes.size());
  size_t at = 0;
  uint64_t skip, count;
  while (reader.number(&skip) && reader.number(&count) && reader.bytes(count)) {
    at += skip;
    if (at >= end) break;
    at += count;
    if (at > begin && count > 0) return true;
  }
  return false;
}

namespace {

// The first of the list that is younger than `last`; it is among the last few, as a rule.
template <typename List>
auto first_after(List& list, uint32_t last) {
  constexpr long kFew = 4;
  const auto few = list.end() - std::min<long>(kFew, list.end() - list.begin());
  const bool is_near = few == list.end() || (*few)->last <= last;
  return std::partition_point(is_near ? few : list.begin(), is_near ? list.end() : few,
                              [&](const DiffPtr& one) { return one->last <= last; });
}

template <typename All>
auto place_of(All& diffs, NodeId node) {
  return std::find_if(diffs.begin(), diffs.end(),
                      [&](const LazyPage::DiffsOf& one) { return one.node >= node; });
}

}  // namespace

std::span<const DiffPtr> LazyPage::diffs_after(NodeId node, uint32_t last) const {
  const auto found = place_of(diffs, node);
  if (found == diffs.end() || found->node != node) return {};
  return {first_after(found->list, last), found->list.end()};
}

bool LazyPage::add_diff(const DiffPtr& diff) {
  auto found = place_of(diffs, diff->node);
  if (found == diffs.end() || found->node != diff->node)
    found = diffs.insert(found, {diff->node, {}});
  std::vector<DiffPtr>& list = found->list;
  const auto at = first_after(list, diff->last);
  if (at != list.begin() && (*std::prev(at))->last == diff->last) return false;
  list.insert(at, diff);
  return true;
}

void put_diff(const Diff& diff, Message& message) {
  message.put(static_cast<uint16_t>(diff.node));
  message.put(diff.prev);
  message.put(diff.first);
  message.put(diff.last);
  message.put(diff.stamp);
  message.put_list(diff.bytes);
}

DiffPtr get_diff(Message& message) {
  auto diff = std::make_shared<Diff>();
  diff->node = message.get<uint16_t>();
  diff->prev = message.get<uint32_t>();
  diff->first = message.get<uint32_t>();
  diff->last = message.get<uint32_t>();
  diff->stamp = message.get<uint64_t>();
  diff->bytes = message.get_list<uint8_t>();
  return diff;
}

}  // namespace weir::dsm
