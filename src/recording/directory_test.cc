#include "recording/directory.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

namespace weir::recording {
namespace {

namespace fs = std::filesystem;

Manifest example() {
  Manifest manifest;
  manifest.recording = 0xabcdef;
  manifest.weir = "0.1.0";
  manifest.started = 1'700'000'000'123'456'789;
  manifest.order = "token";
  manifest.view = "isolated";
  manifest.program = "/bin/odd \xff\n% name";
  manifest.arguments = {"program", "", "a b", "\x01\x80%41"};
  manifest.environment = {"A=1", "B=\xc3\xa4"};
  manifest.directory = "/";
  manifest.descriptor = 18600;
  manifest.stack = UINT64_MAX;
  manifest.signals = SignalState{{1, 13}, {64}};
  manifest.system = "6.1";
  manifest.processor = {"a processor", {1, 2, UINT64_MAX}};
  manifest.files = {{"/bin/program", 100, -5, "00ff", 77}};
  return manifest;
}

std::string entry_bytes(uint32_t number) {
  const channel::Entry head{channel::Kind::kCall, 0, 1, 0, number, number, 0};
  return std::string(reinterpret_cast<const char*>(&head), sizeof head);
}

class RecordingTest : public testing::Test {
 protected:
  RecordingTest() {
    char name[] = "/tmp/weir-recording-XXXXXX";
    root = mkdtemp(name);
    directory = make_directory("/bin/program", root + "/one");
    put("manifest", example().text());
    End end;
    end.reason = kExited;
    for (const Key key : {Key{0, 0}, Key{0, 1}, Key{0, kOrderStream}}) {
      Chunker chunker(key);
      std::string bytes;
      for (uint32_t i = 0; i < 3; i++) {
        const std::string one = entry_bytes(i);
        chunker.add(*reinterpret_cast<const channel::Entry*>(one.data()),
                    one.data() + sizeof(channel::Entry));
        bytes += packed(*chunker.cut(), example().recording, 1);
      }
      put("streams/" + key.name(), bytes);
      end.streams[key.name()] = {3, 3};
    }
    put("files/0", "content");
    put("files/list", Copy{0, 7, sum_of("content"), "/some/file"}.line());
    put("end", end.text());
  }
  ~RecordingTest() override { fs::remove_all(root); }

  void put(const std::string& name, const std::string& content) {
    std::ofstream(directory + "/" + name, std::ios::binary) << content;
  }
  std::string get(const std::string& name) { return content_of(directory + "/" + name, 1 << 20); }
  std::vector<std::string> damages() { return verify(Recording(directory)).damages; }
  std::string only_damage() {
    const auto all = damages();
    return all.size() == 1 ? all.front() : std::to_string(all.size()) + " damages";
  }

  std::string root, directory;
};

TEST(ManifestText, IsReadBack) {
  const Manifest read = Manifest::from_text(example().text());
  EXPECT_EQ(read.text(), example().text());
  EXPECT_EQ(read.arguments, example().arguments);
  EXPECT_EQ(read.program, example().program);
  EXPECT_EQ(read.stack, UINT64_MAX);
  EXPECT_EQ(read.signals, (SignalState{{1, 13}, {64}}));
  EXPECT_EQ(read.files.front().modified, -5);
  EXPECT_TRUE(read.processor == example().processor);
}

// Refused, or (a space between two words of JSON) the same.
template <typename T>
void expect_refused_or_same(const std::string& text, const std::string& damaged, size_t where) {
  try {
    ASSERT_EQ(T::from_text(damaged).text(), text) << where;
  } catch (const Damage& damage) { ASSERT_STRNE(damage.what(), "") << where; }
}

TEST(ManifestText, EveryFlippedBitIsRefused) {
  const std::string text = example().text();
  for (size_t bit = 0; bit < 8 * text.size(); bit++) {
    std::string damaged = text;
    damaged[bit / 8] ^= static_cast<char>(1 << bit % 8);
    expect_refused_or_same<Manifest>(text, damaged, bit);
  }
}

TEST(ManifestText, CutAnywhereIsRefused) {
  const std::string text = example().text();
  for (size_t size = 0; size < text.size(); size++)
    expect_refused_or_same<Manifest>(text, text.substr(0, size), size);
}

TEST(ManifestText, OfAnotherVersionIsRefusedByName) {
  const std::string text = example().text(), key = "\"weir recording\": ";
  for (const auto& [number, word] :
       {std::pair{"0", "an older version"}, {"99", "a newer version"}}) {
    std::string other = text;
    const size_t at = other.find(key) + key.size();
    other.replace(at, other.find_first_not_of("0123456789", at) - at, number);
    try {
      Manifest::from_text(other);
      FAIL();
    } catch (const Damage& damage) {
      EXPECT_NE(std::string(damage.what()).find(word), std::string::npos) << damage.what();
    }
  }
}

TEST(ManifestText, WithTypesExchangedIsRefused) {
  for (const char* text : {"", "[]", "{}", "null", "{\"weir recording\": \"1\"}",
                           "{\"weir recording\": 2}", "{\"weir recording\": 2, \"sum\": 4}",
                           "{\"weir recording\": -1}", "{\"weir recording\": 1e400}"}) {
    EXPECT_THROW(Manifest::from_text(text), Damage) << text;
    EXPECT_THROW(End::from_text(text), Damage) << text;
  }
  EXPECT_THROW(Manifest::from_text(std::string(100000, '[')), Damage);
}

TEST(EndText, EveryFlippedBitIsRefused) {
  End end;
  end.reason = kKilled;
  end.status = 11;
  end.seconds = 1.25;
  end.streams["0-0"] = {1, 2};
  const std::string text = end.text();
  EXPECT_EQ(End::from_text(text).text(), text);
  EXPECT_EQ(end.words(), "SIGSEGV");
  for (size_t bit = 0; bit < 8 * text.size(); bit++) {
    std::string damaged = text;
    damaged[bit / 8] ^= static_cast<char>(1 << bit % 8);
    expect_refused_or_same<End>(text, damaged, bit);
  }
}

TEST(ImagesText, IsReadBackAndRefusedWhereDamaged) {
  const std::string text = text_of_images(example().files);
  ASSERT_EQ(images_from(text).size(), 1u);
  EXPECT_EQ(images_from(text).front().path, "/bin/program");
  for (size_t size = 0; size + 2 < text.size(); size++)
    EXPECT_THROW(images_from(text.substr(0, size)), Damage);
}

TEST(CopyLines, EveryFlippedBitEndsTheList) {
  const std::string first = Copy{0, 12, 34, "/a b\n%"}.line(),
                    text = first + Copy{1, 2, 3, "/x"}.line();
  std::string damage;
  ASSERT_EQ(copies_from(text, &damage).size(), 2u);
  EXPECT_EQ(copies_from(text, &damage).front().path, "/a b\n%");
  EXPECT_EQ(damage, "");
  for (size_t bit = 0; bit < 8 * text.size(); bit++) {
    std::string damaged = text;
    damaged[bit / 8] ^= static_cast<char>(1 << bit % 8);
    damage.clear();
    const auto copies = copies_from(damaged, &damage);
    ASSERT_EQ(copies.size(), bit / 8 < first.size() ? 0u : 1u) << bit;
    ASSERT_NE(damage, "") << bit;
  }
  for (size_t size = 1; size < text.size(); size++) {
    damage.clear();
    ASSERT_EQ(copies_from(text.substr(0, size), &damage).size(), size < first.size() ? 0u : 1u)
        << size;
    ASSERT_EQ(damage.empty(), size == first.size()) << size;
  }
}

TEST_F(RecordingTest, ThatIsWholeIsWhole) {
  EXPECT_EQ(damages(), std::vector<std::string>());
  EXPECT_EQ(verify(Recording(directory)).entries, 9u);
  EXPECT_TRUE(is_recording(directory));
}

TEST_F(RecordingTest, EveryFlippedBitOfEveryFileIsFound) {
  for (const char* name :
       {"manifest", "end", "streams/0-0", "streams/0-order", "files/0", "files/list"}) {
    const std::string whole = get(name);
    const bool text = name[0] == 'm' || name[0] == 'e';  // all bits of those: above
    for (size_t bit = 0; bit < 8 * whole.size(); bit += text ? 101 : 7) {
      std::string damaged = whole;
      damaged[bit / 8] ^= static_cast<char>(1 << bit % 8);
      put(name, damaged);
      try {
        const Recording recording(directory);
        const bool same = name[0] == 'm'
                              ? recording.manifest.text() == whole
                              : name[0] == 'e' && recording.end && recording.end->text() == whole;
        ASSERT_TRUE(same || !verify(recording).damages.empty()) << name << bit;
      } catch (const Damage&) { ASSERT_STREQ(name, "manifest"); }
    }
    put(name, whole);
  }
  EXPECT_EQ(damages(), std::vector<std::string>());
}

TEST_F(RecordingTest, CutAtEveryByteOfEveryFileIsFound) {
  for (const char* name : {"manifest", "end", "streams/0-1", "files/0", "files/list"}) {
    const std::string whole = get(name);
    for (size_t size = 0; size < whole.size(); size += name[0] == 'm' ? 13 : 1) {
      put(name, whole.substr(0, size));
      try {
        const Recording recording(directory);
        const bool space =
            whole.find_first_not_of('\n', size) == std::string::npos && name[0] != 'f';
        if (name != std::string("files/list") || size > 0) {
          ASSERT_TRUE(space || !verify(recording).damages.empty()) << name << size;
        }
      } catch (const Damage&) { ASSERT_STREQ(name, "manifest"); }
    }
    put(name, whole);
  }
}

TEST_F(RecordingTest, MissingFilesAreNamed) {
  fs::rename(directory + "/streams/0-1", root + "/kept");
  EXPECT_EQ(only_damage(), "streams/0-1 is missing");
  fs::rename(root + "/kept", directory + "/streams/0-1");
  fs::rename(directory + "/files/0", root + "/kept");
  EXPECT_EQ(only_damage(), "files/0: No such file or directory");
  fs::rename(root + "/kept", directory + "/files/0");
  fs::rename(directory + "/end", root + "/kept");
  EXPECT_EQ(only_damage(), "it was cut short: there is no file 'end'");
  fs::rename(root + "/kept", directory + "/end");
  fs::remove(directory + "/manifest");
  EXPECT_THROW(Recording{directory}, Damage);
  EXPECT_FALSE(is_recording(directory));
}

TEST_F(RecordingTest, ForeignAndExchangedStreamsAreNamed) {
  put("streams/0-7", "");
  EXPECT_EQ(only_damage(), "streams/0-7: is not among the streams that the end names");
  fs::remove(directory + "/streams/0-7");
  put("streams/notes", "");
  EXPECT_EQ(only_damage(), "streams/notes is no stream's name");
  fs::remove(directory + "/streams/notes");
  put("streams/0-1", get("streams/0-0"));
  EXPECT_EQ(damages().front(), "streams/0-1: chunk 0 (byte 0): belongs to another stream");
}

// A whole chunk less: every sum is right, and only the end knows of it.
TEST_F(RecordingTest, ALostChunkIsFound) {
  const std::string whole = get("streams/0-0");
  ChunkHeader first, second;
  memcpy(&first, whole.data(), sizeof first);
  memcpy(&second, whole.data() + sizeof first + first.packed_size, sizeof second);
  put("streams/0-0", whole.substr(0, 2 * sizeof first + first.packed_size + second.packed_size));
  EXPECT_EQ(only_damage(), "streams/0-0: has 2 chunks with 2 entries, and should have 3 with 3");
}

TEST_F(RecordingTest, TheDirectoryIsMadeOnce) {
  EXPECT_THROW(make_directory("/bin/program", directory), Damage);
  fs::create_directory(root + "/empty");
  EXPECT_EQ(make_directory("/bin/program", root + "/empty/"), root + "/empty");
  EXPECT_THROW(make_directory("/bin/program", root + "/" + std::string(600, 'x')), Damage);
  EXPECT_THROW(make_directory("/bin/program", directory + "/manifest/below"), Damage);
}

TEST_F(RecordingTest, NamesAreTakenOnlyOnce) {
  setenv("WEIR_RECORDINGS", root.c_str(), 1);
  const std::string first = make_directory("/bin/-odd name", ""),
                    second = make_directory("/bin/-odd name", "");
  unsetenv("WEIR_RECORDINGS");
  EXPECT_NE(first, second);
  EXPECT_TRUE(first.starts_with(root + "/odd_name-")) << first;
}

}  // namespace
}  // namespace weir::recording
