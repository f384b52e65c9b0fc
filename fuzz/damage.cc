// Damages a stream of a recording behind its sums, as no chance could: entries left out, doubled or
// changed, and all sums right. For fuzz/replay.py.
//
//   damage DIRECTORY STREAM keep N                  the first N entries, as if the program had been
//                                                   killed then
//   damage DIRECTORY STREAM leave N | double N      without entry N; with entry N twice
//   damage DIRECTORY STREAM flip N BIT              a bit of entry N and its payload is another, if
//                                                   it is still an entry then
//   damage DIRECTORY STREAM take OTHER              the entries of that file, a stream of another
//                                                   recording
//   damage DIRECTORY STREAM count                   prints how many entries there are
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "recording/directory.h"

namespace {

using namespace weir::recording;
namespace channel = weir::channel;

// Whatever recording and stream the file says that it is of.
std::vector<std::string> entries_of(const std::string& path) {
  ChunkHeader header{};
  const std::string head = File::reading(path).read(0, sizeof header);
  if (head.size() < sizeof header) return {};
  memcpy(&header, head.data(), sizeof header);
  StreamReader reader(File::reading(path), header.recording, {header.process, header.task},
                      File::reading(path).size());
  std::vector<std::string> entries;
  while (const channel::Entry* entry = reader.peek()) {
    entries.emplace_back(reinterpret_cast<const char*>(entry), channel::bytes_of(*entry));
    reader.take();
  }
  return entries;
}

bool write(const std::string& path, const std::vector<std::string>& entries, uint64_t recording,
           Key key) {
  std::string file;
  uint64_t chunks = 0, before = 0;
  for (size_t i = 0; i < entries.size();) {
    std::string raw;
    uint64_t count = 0;
    while (i < entries.size() && raw.size() + entries[i].size() <= 64 << 10)
      raw += entries[i++], count++;
    const bool goes_on =
        reinterpret_cast<const channel::Entry*>(entries[i - 1].data())->flags & channel::kMore;
    file += packed({key, goes_on ? kGroupGoesOn : 0, chunks++, before, count, raw}, recording, 1);
    before += count;
  }
  return replace_file(path, file);
}

int run(const std::string& directory, const std::string& stream, const std::string& what,
        const std::vector<std::string>& words) {
  const Recording recording(directory);
  const std::string path = recording.path(std::string(kStreams) + "/" + stream);
  const auto key = Key::from_name(stream);
  if (!key) return 2;
  std::vector<std::string> entries = entries_of(path);
  const size_t at = words.empty() ? 0 : std::stoul("0" + words[0]);
  if (what == "count") return printf("%zu\n", entries.size()) > 0 ? 0 : 1;
  if (what == "take") entries = entries_of(words.at(0));
  else if (at >= entries.size()) return 3;
  if (what == "keep") entries.resize(at);
  if (what == "leave") entries.erase(entries.begin() + static_cast<long>(at));
  if (what == "double")
    entries.insert(entries.begin() + static_cast<long>(at), std::string(entries[at]));
  if (what == "flip") {
    const size_t bit = std::stoul(words.at(1)) % (entries[at].size() * 8);
    const std::string was = entries[at];
    entries[at][bit / 8] ^= static_cast<char>(1 << bit % 8);
    const auto* now = reinterpret_cast<const channel::Entry*>(entries[at].data());
    if (!is_entry(entries[at].data(), entries[at].size()) || channel::bytes_of(*now) != was.size())
      return 3;
  }
  return write(path, entries, recording.manifest.recording, *key) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  try {
    return run(argv[1], argv[2], argv[3], {argv + 4, argv + argc});
  } catch (const std::exception& error) {
    fprintf(stderr, "damage: %s\n", error.what());
    return 1;
  }
}
