#include "recording/stream.h"
#include "channel/ring.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <vector>

namespace weir::recording {
namespace {

using channel::Entry;
using channel::Kind;

constexpr uint64_t kNumber = 0xfeed'beef;
constexpr Key kKey{2, 7};

File memory_file(std::string_view bytes) {
  File file(memfd_create("stream", MFD_CLOEXEC));
  EXPECT_TRUE(file.write(bytes));
  return file;
}

// The `number`th entry, with its payload.
std::string entry(uint32_t number, bool more = false) {
  std::minstd_rand random(number + 1);
  const uint32_t size = random() % 40;
  const Entry head{Kind::kMemory, more ? channel::kMore : uint8_t{0}, 1, size, number, number, -1};
  std::string bytes(reinterpret_cast<const char*>(&head), sizeof head);
  for (uint32_t i = 0; i < size; i++) bytes += static_cast<char>(random());
  return bytes;
}

void add(Chunker& chunker, const std::string& bytes) {
  Entry head;
  memcpy(&head, bytes.data(), sizeof head);
  chunker.add(head, bytes.data() + sizeof head);
}

// Groups of one, two and three entries, cut into `chunks` chunks.
std::string stream_of(uint32_t chunks, uint32_t entries_each) {
  std::string bytes;
  Chunker chunker(kKey);
  uint32_t number = 0;
  for (uint32_t i = 0; i < chunks; i++) {
    for (uint32_t k = 0; k < entries_each; k++, number++)
      add(chunker, entry(number, number % 6 == 1 || number % 6 == 3 || number % 6 == 4));
    if (const auto chunk = chunker.cut()) bytes += packed(*chunk, kNumber, 1);
  }
  return bytes;
}

struct Seen {
  uint32_t entries = 0;
  bool right = true;  // they are the first ones of stream_of
  bool whole_group = true;
  bool damaged = false;
};

Seen read_all(std::string_view bytes) {
  File file = memory_file(bytes);
  const Extent extent = scan(file, kNumber, kKey);
  StreamReader reader(std::move(file), kNumber, kKey, extent.good_size);
  Seen seen;
  for (; const Entry* at = reader.peek(); reader.take(), seen.entries++) {
    const uint32_t number = seen.entries;
    const std::string wanted = entry(number, number % 6 == 1 || number % 6 == 3 || number % 6 == 4);
    seen.right = seen.right && memcmp(at, wanted.data(), wanted.size()) == 0;
    seen.whole_group = !(at->flags & channel::kMore);
  }
  seen.damaged = !extent.damage.empty() || !reader.damage().empty();
  return seen;
}

TEST(KeyNames, AreReadBack) {
  for (const Key key :
       {Key{0, 0}, Key{12, 345}, Key{1, kOrderStream}, Key{2, 17 | channel::kPointsOf}})
    EXPECT_EQ(Key::from_name(key.name()), key);
  for (const char* name : {"", "-", "1", "1-", "-1", "a-b", "01-2", "1-02", "1-2-3", "1-2.part",
                           "1-4294967295", "1-2147483649", "1-objects", "1-2-objects-objects",
                           "1-order-objects", "1-02-objects", "99999999999-1", "1- 2"}) {
    EXPECT_EQ(Key::from_name(name), std::nullopt) << name;
  }
}

TEST(Stream, IsReadAsItWasWritten) {
  const Seen seen = read_all(stream_of(5, 60));
  EXPECT_EQ(seen.entries, 300u);
  EXPECT_TRUE(seen.right && seen.whole_group && !seen.damaged);
}

TEST(Stream, ThatIsEmptyIsWhole) {
  const Seen seen = read_all("");
  EXPECT_EQ(seen.entries, 0u);
  EXPECT_FALSE(seen.damaged);
}

TEST(Chunker, CutsBetweenGroups) {
  Chunker chunker(kKey);
  add(chunker, entry(0));
  add(chunker, entry(1, true));
  auto chunk = chunker.cut();
  ASSERT_TRUE(chunk);
  EXPECT_EQ(chunk->entries, 1u);
  EXPECT_EQ(chunk->flags, 0u);
  EXPECT_FALSE(chunker.cut());
  add(chunker, entry(2));
  chunk = chunker.cut();
  ASSERT_TRUE(chunk);
  EXPECT_EQ(chunk->entries, 2u);
  EXPECT_EQ(chunk->first_entry, 1u);
  EXPECT_EQ(chunk->sequence, 1u);
}

// What is cut anywhere replays up to a group's end before the cut.
TEST(DamagedStream, CutAtEveryByteEndsEarly) {
  const std::string whole = stream_of(4, 12);
  const uint32_t all = read_all(whole).entries;
  uint32_t before = 0;
  for (size_t size = 0; size <= whole.size(); size++) {
    const Seen seen = read_all(std::string_view(whole).substr(0, size));
    ASSERT_TRUE(seen.right && seen.whole_group) << size;
    ASSERT_GE(seen.entries, before) << size;
    ASSERT_TRUE(size == whole.size() || seen.entries < all) << size;
    before = seen.entries;
  }
  EXPECT_EQ(before, all);
}

TEST(DamagedStream, EveryFlippedBitIsSeen) {
  const std::string whole = stream_of(3, 12);
  const uint32_t all = read_all(whole).entries;
  for (size_t bit = 0; bit < 8 * whole.size(); bit++) {
    std::string damaged = whole;
    damaged[bit / 8] ^= static_cast<char>(1 << bit % 8);
    const Seen seen = read_all(damaged);
    ASSERT_TRUE(seen.right && seen.whole_group && seen.damaged) << bit;
    ASSERT_LT(seen.entries, all) << bit;
  }
}

// The writer packs all chunks into one piece of memory, and what the program reads with less
// effort.
TEST(PackedChunk, IsTheSameInUsedRoomAndReadAtEachLevel) {
  std::string room;
  for (const int level : {1, -20}) {
    for (const uint32_t entries : {40u, 3u, 1u}) {
      Chunker chunker(kKey);
      for (uint32_t i = 0; i < entries; i++) add(chunker, entry(6 * i));
      const Chunk chunk = *chunker.cut();
      EXPECT_EQ(std::string(pack_into(room, chunk, kNumber, level)), packed(chunk, kNumber, level));
      EXPECT_EQ(read_all(packed(chunk, kNumber, level)).entries, entries);
    }
  }
}

// Chunks that are whole but not where they belong: lost, doubled, exchanged, of another stream or
// recording.
TEST(DamagedStream, ChunksInAnotherOrderAreNotTaken) {
  Chunker chunker(kKey), other({2, 8});
  std::vector<std::string> chunks;
  for (uint32_t i = 0; i < 3; i++) {
    add(chunker, entry(6 * i));
    chunks.push_back(packed(*chunker.cut(), kNumber, 1));
  }
  add(other, entry(0));
  const Chunk foreign = *other.cut();
  const std::string of_other_stream = packed(foreign, kNumber, 1);
  Chunk moved = foreign;
  moved.key = kKey;
  const std::string of_other_recording = packed(moved, kNumber + 1, 1);
  const std::vector<std::pair<std::string, uint32_t>> cases = {
      {chunks[0] + chunks[2], 1},          {chunks[0] + chunks[0] + chunks[1], 1},
      {chunks[1] + chunks[0], 0},          {of_other_stream + chunks[1], 0},
      {of_other_recording + chunks[1], 0}, {chunks[0] + std::string(64, '\0') + chunks[1], 1}};
  for (const auto& [bytes, entries] : cases) {
    const Seen seen = read_all(bytes);
    EXPECT_EQ(seen.entries, entries);
    EXPECT_TRUE(seen.damaged);
  }
}

// Right sums over wrong content: not chance, but the reader must not fall over it.
TEST(DamagedStream, ContentThatIsNoEntriesIsRefused) {
  std::string wrong_kind = entry(0), wrong_size = entry(0), wrong_flag = entry(0),
              half = entry(0) + std::string(8, '\0'), open = entry(0, true);
  for (std::string* bytes : {&wrong_kind, &wrong_size, &wrong_flag, &open, &half})
    bytes->resize((bytes->size() + 7) / 8 * 8);
  wrong_kind[0] = 99;
  wrong_flag[1] = 6;
  wrong_size[5] = 0x7f;
  for (const std::string& raw :
       {wrong_kind, wrong_size, wrong_flag, half, open, std::string(24, '\0')}) {
    const Chunk chunk{kKey, 0, 0, 0, 1, raw};
    const Seen seen = read_all(packed(chunk, kNumber, 1));
    EXPECT_EQ(seen.entries, 0u);
    EXPECT_TRUE(seen.damaged);
  }
}

TEST(DamagedStream, ChangesOfManyBytesAreSeen) {
  const std::string whole = stream_of(4, 30);
  std::minstd_rand random(4711);
  for (int round = 0; round < 3000; round++) {
    std::string damaged = whole;
    const size_t start = random() % damaged.size(), length = 1 + random() % 64;
    switch (random() % 4) {
      case 0: damaged.erase(start, length); break;
      case 1: damaged.insert(start, std::string(length, static_cast<char>(random()))); break;
      case 2:
        for (size_t i = start; i < std::min(start + length, damaged.size()); i++)
          damaged[i] = static_cast<char>(random());
        break;
      case 3: damaged.insert(start, damaged.substr(random() % damaged.size(), length)); break;
    }
    const Seen seen = read_all(damaged);
    ASSERT_TRUE(seen.right && seen.whole_group) << round;
    ASSERT_TRUE(seen.damaged || damaged == whole || whole.starts_with(damaged)) << round;
  }
}

}  // namespace
}  // namespace weir::recording
