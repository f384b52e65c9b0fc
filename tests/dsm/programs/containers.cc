// Words are counted: each worker takes lines from a queue of std::strings in shared memory
// (std::deque), and counts in a std::map and a std::unordered_map that lie there too, one lock for
// each of several maps; a std::list keeps the order in which words were found first.
#include <algorithm>
#include <cstdio>
#include <deque>
#include <list>
#include <map>
#include <scoped_allocator>
#include <string>
#include <unordered_map>
#include <vector>
#include <weir/dsm.hpp>

namespace {
template <typename T>
using in_shared = std::scoped_allocator_adaptor<weir::dsm::allocator<T>>;
using string = std::basic_string<char, std::char_traits<char>, weir::dsm::allocator<char>>;
using lines = std::deque<string, weir::dsm::allocator<string>>;
struct hash {
  std::size_t operator()(const string& s) const {
    return std::hash<std::string_view>()({s.data(), s.size()});
  }
};
struct shard {
  std::map<string, int, std::less<>, weir::dsm::allocator<std::pair<const string, int>>> counts;
  std::unordered_map<string, int, hash, std::equal_to<>,
                     weir::dsm::allocator<std::pair<const string, int>>>
      lengths;
  std::list<string, weir::dsm::allocator<string>> order;
};
struct queue {
  lines waiting;
  bool is_over = false;
};
constexpr unsigned kShards = 6, kQueue = 50, kLines = 300;

std::vector<std::string> line(unsigned number) {
  std::vector<std::string> words;
  unsigned seed = number * 2654435761u + 1;
  for (int i = 0; i < 8; i++) {
    seed = seed * 1103515245 + 12345;
    const unsigned word = (seed >> 16) % 211;
    words.push_back((word % 3 ? "w" : "a rather long word that is no small string ") +
                    std::to_string(word));
    std::replace(words.back().begin(), words.back().end(), ' ', '_');
  }
  return words;
}
}  // namespace

int main(int argc, char** argv) {
  weir::dsm::session session(argc, argv);
  auto* work = weir::dsm::create_shared<queue>();
  std::vector<shard*> shards(kShards);
  for (shard*& one : shards) one = weir::dsm::create_shared<shard>();
  const weir::dsm::condition changed(1);
  weir::dsm::run([&](unsigned worker, unsigned workers) {
    if (worker == workers - 1) {
      for (unsigned i = 0; i < kLines; i++) {
        string text;
        for (const std::string& word : line(i)) text += word.c_str(), text += ' ';
        weir::dsm::locked<> guard(kQueue);
        work->waiting.push_back(text);
        if (i + 1 == kLines) work->is_over = true;
        changed.notify_all();
      }
    }
    for (;;) {
      std::string text;
      {
        weir::dsm::locked<> guard(kQueue);
        changed.wait(guard, [&] { return work->is_over || !work->waiting.empty(); });
        if (work->waiting.empty()) break;
        text.assign(work->waiting.front().data(), work->waiting.front().size());
        work->waiting.pop_front();
      }
      for (std::size_t at = 0, end; (end = text.find(' ', at)) != std::string::npos; at = end + 1) {
        const string word(text.data() + at, end - at);
        const unsigned number = unsigned(hash()(word) % kShards);
        const weir::dsm::locked<weir::dsm::auto_mutex> guard(weir::dsm::auto_mutex{number});
        shard& s = *shards[number];
        if (s.counts[word]++ == 0) s.order.push_back(word);
        s.lengths[word] += int(word.size());
      }
    }
  });
  weir_dsm_barrier(1);
  std::map<std::string, int> expected;
  for (unsigned i = 0; i < kLines; i++)
    for (const std::string& word : line(i)) expected[word]++;
  std::size_t seen = 0;
  bool right = work->waiting.empty();
  for (const shard* s : shards) {
    seen += s->counts.size();
    right = right && s->order.size() == s->counts.size() && s->lengths.size() == s->counts.size();
    for (const auto& [word, count] : s->counts) {
      right = right && expected[word.c_str()] == count &&
              s->lengths.at(word) == count * int(word.size());
      right = right && std::count(s->order.begin(), s->order.end(), word) == 1;
    }
  }
  right = right && seen == expected.size();
  std::int64_t wrong = !right;
  weir_dsm_reduce_int64(&wrong, 1, WEIR_DSM_SUM);
  if (session.node() == session.nodes() - 1) {
    weir::dsm::destroy(work);
    for (shard* one : shards) weir::dsm::destroy(one);
  }
  if (session.node() == 0) std::printf("containers: %s\n", wrong ? "WRONG" : "right");
  return wrong != 0;
}
