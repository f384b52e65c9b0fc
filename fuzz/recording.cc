// Whatever a file of a recording holds, its reader refuses it or reads it up to the damage: it does
// not crash, does not hang, and hands out nothing that is no entry. See fuzz/README.md.
#include "recording/directory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>

namespace {

using namespace weir::recording;
namespace channel = weir::channel;

constexpr uint64_t kNumber = 0x1122'3344'5566'7788;
constexpr Key kKey{0, 1};

void require(bool condition, const char* what) {
  if (condition) return;
  fprintf(stderr, "fuzz: %s\n", what);
  abort();
}

File memory_file(const std::string& bytes) {
  File file(memfd_create("fuzz", MFD_CLOEXEC));
  require(file.is_open() && file.write(bytes), "no memory file");
  return file;
}

void read_stream(const std::string& bytes) {
  File file = memory_file(bytes);
  const Extent extent = scan(file, kNumber, kKey);
  require(extent.good_size <= extent.whole_size && extent.whole_size <= bytes.size(),
          "an extent beyond the file");
  for (const uint64_t limit : {extent.good_size, extent.whole_size, uint64_t{bytes.size()}}) {
    StreamReader reader(memory_file(bytes), kNumber, kKey, limit);
    uint64_t size = 0;
    while (const channel::Entry* entry = reader.peek()) {
      require(is_entry(reinterpret_cast<const char*>(entry), channel::bytes_of(*entry)),
              "no entry was handed out");
      size += channel::bytes_of(*entry);
      reader.take();
    }
    require(size <= (bytes.size() / sizeof(ChunkHeader) + 1) * kMaxRaw,
            "more than can be in the file");
    require(limit == bytes.size() || !extent.damage.empty() || reader.entries() > 0 || limit == 0 ||
                !reader.damage().empty(),
            "lost entries");
  }
}

template <typename Text>
void read_text(const std::string& bytes) {
  try {
    const std::string again = Text::from_text(bytes).text();
    require(Text::from_text(again).text() == again, "a text that is not read as it was written");
  } catch (const Damage&) {}
}

void read_list(const std::string& bytes) {
  std::string damage, again;
  for (const Copy& copy : copies_from(bytes, &damage)) again += copy.line();
  require(bytes.starts_with(again) && (damage.empty() == (again.size() == bytes.size())),
          "a list that is not what was written");
}

void read_as_everything(const std::string& bytes) {
  read_stream(bytes);
  read_text<Manifest>(bytes);
  read_text<End>(bytes);
  read_list(bytes);
}

// Sets the sums of a chunk right after a change, so that what lies behind them is reached too.
void set_sums(std::string& bytes) {
  for (size_t at = 0; at + sizeof(ChunkHeader) <= bytes.size();) {
    ChunkHeader header;
    memcpy(&header, bytes.data() + at, sizeof header);
    if (header.magic != kChunkMagic || header.packed_size > bytes.size() - at - sizeof header)
      return;
    header.packed_sum =
        sum_of(std::string_view(bytes).substr(at + sizeof header, header.packed_size));
    header.header_sum =
        sum_of({reinterpret_cast<const char*>(&header), offsetof(ChunkHeader, header_sum)});
    memcpy(bytes.data() + at, &header, sizeof header);
    at += sizeof header + header.packed_size;
  }
}

#ifdef WEIR_LIBFUZZER
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  read_as_everything(bytes);
  set_sums(bytes);
  read_stream(bytes);
  return 0;
}
#else
void change(std::string& bytes, std::minstd_rand& random) {
  const size_t at = bytes.empty() ? 0 : random() % bytes.size();
  const size_t length = 1 + random() % 16;
  switch (random() % 7) {
    case 0:
      if (!bytes.empty()) bytes[at] ^= static_cast<char>(1 << random() % 8);
      break;
    case 1: bytes.resize(at); break;
    case 2: bytes.erase(at, length); break;
    case 3: bytes.insert(at, bytes.substr(random() % (at + 1), length)); break;
    case 4: bytes.insert(at, std::string(length, static_cast<char>(random()))); break;
    case 5:
      for (size_t i = at; i < std::min(at + length, bytes.size()); i++)
        bytes[i] = static_cast<char>(random());
      break;
    case 6:
      for (size_t i = at; i < std::min(at + 8, bytes.size()); i++)
        bytes[i] = static_cast<char>(random() % 2 ? 0 : 0xff);
      break;
  }
}

std::string entry(channel::Kind kind, uint8_t flags, std::string payload) {
  const channel::Entry head{kind, flags, 1, static_cast<uint32_t>(payload.size()), 7, 8, 9};
  payload.resize(channel::padded(payload.size()));
  return std::string(reinterpret_cast<const char*>(&head), sizeof head) + payload;
}

std::string chunk(uint64_t sequence, uint64_t first, uint64_t entries, uint32_t flags,
                  const std::string& raw) {
  return packed({kKey, flags, sequence, first, entries, raw}, kNumber, 1);
}

void write_seeds(const std::string& folder) {
  const auto put = [&](const char* name, const std::string& bytes) {
    require(replace_file(folder + "/" + name, bytes), name);
  };
  const std::string call = entry(channel::Kind::kCall, 0, ""),
                    group = entry(channel::Kind::kCall, channel::kMore, "") +
                            entry(channel::Kind::kMemory, 0, "some bytes");
  const std::string good = chunk(0, 0, 3, 0, call + group) +
                           chunk(1, 3, 1, 0, entry(channel::Kind::kEnd, 0, std::string(16, 'e')));
  put("stream_two_chunks", good);
  put("stream_cut", good.substr(0, good.size() - 5));
  put("stream_long_group", chunk(0, 0, 1, kGroupGoesOn, group.substr(0, sizeof(channel::Entry))) +
                               chunk(1, 1, 1, 0, group.substr(sizeof(channel::Entry))));
  put("stream_group_without_end",
      chunk(0, 0, 1, kGroupGoesOn, group.substr(0, sizeof(channel::Entry))));
  put("stream_no_entries", chunk(0, 0, 1, 0, std::string(240, '\xff')));
  put("stream_pad", chunk(0, 0, 1, 0, std::string(24, '\0')));
  put("stream_large", chunk(0, 0, 40, 0, [] {
        std::string raw;
        for (int i = 0; i < 40; i++)
          raw += entry(channel::Kind::kMemory, 0,
                       std::string(channel::kMaxPayload, static_cast<char>(i)));
        return raw;
      }()));
  put("stream_wrong_order", chunk(1, 0, 3, 0, call) + chunk(0, 0, 1, 0, call));
  Manifest manifest;
  manifest.recording = kNumber;
  manifest.program = "/bin/program";
  manifest.arguments = {"program", "\xff"};
  manifest.environment = {"A=%"};
  manifest.files = {{"/bin/program", 1, 2, "ab", 3}};
  manifest.processor = {"a processor", {1, 2}};
  put("manifest", manifest.text());
  std::string older = manifest.text();
  const std::string now = "\"weir recording\": " + std::to_string(kFormat);
  put("manifest_older", older.replace(older.find(now), now.size(), "\"weir recording\": 0"));
  put("manifest_deep", std::string(5000, '['));
  End end;
  end.reason = kExited;
  end.streams["0-1"] = {2, 4};
  put("end", end.text());
  put("list", Copy{0, 1, 2, "/a"}.line() + Copy{1, 2, 3, "/b\n"}.line());
  put("list_long_path", Copy{0, 1, 2, "/" + std::string(17000, 'x')}.line());
  put("empty", "");
}

int run(int argc, char** argv) {
  if (argc == 3 && strcmp(argv[1], "--seeds") == 0) {
    write_seeds(argv[2]);
    return 0;
  }
  int files = 0;
  for (int i = 1; i < argc; i++) {
    for (const auto& one : std::filesystem::directory_iterator(argv[i])) {
      const std::string bytes = content_of(one.path().string(), 1 << 20);
      read_as_everything(bytes);
      std::minstd_rand random(static_cast<unsigned>(sum_of(bytes)) | 1);
      for (int round = 0; round < 3000; round++) {
        std::string changed = bytes;
        for (uint32_t k = random() % 4 + 1; k > 0; k--) change(changed, random);
        read_as_everything(changed);
        set_sums(changed);
        read_stream(changed);
      }
      files++;
    }
  }
  printf("fuzz: %d files of the corpus, each changed 3000 times\n", files);
  return files > 0 ? 0 : 1;
}
#endif

}  // namespace

#ifndef WEIR_LIBFUZZER
int main(int argc, char** argv) { return run(argc, argv); }
#endif
