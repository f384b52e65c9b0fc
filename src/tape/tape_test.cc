#include "tape/tape.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <random>
#include <set>

namespace weir::tape {
namespace {

using Model = std::set<Event>;

Bytes encoded(const Tape& tape) {
  Bytes bytes;
  tape.append_to(&bytes);
  return bytes;
}

std::optional<Tape> decoded(const Bytes& bytes) {
  Reader reader(bytes);
  std::optional<Tape> tape = Tape::read_from(&reader);
  EXPECT_EQ(tape.has_value(), *reader.reason() == 0);
  if (tape && reader.left() > 0) return std::nullopt;
  return tape;
}

uint32_t below(uint32_t limit, std::mt19937* random) {
  return static_cast<uint32_t>((*random)() % limit);
}

Event some_event(std::mt19937* random) {
  const uint32_t node = below(4, random) == 0 ? 0xffffffffu : below(4, random);
  return {static_cast<Kind>(below(3, random)), node, below(6, random), below(12, random)};
}

Extent some_extent(std::mt19937* random) {
  Extent extent;
  for (uint32_t i = (*random)() % 8; i > 0; i--) extent.add((*random)() % 12);
  return extent;
}

void expect_same(const Tape& tape, const Model& model) {
  ASSERT_EQ(tape.size(), model.size());
  ASSERT_EQ(tape.empty(), model.empty());
  ASSERT_EQ(tape.events(), std::vector<Event>(model.begin(), model.end()));
  Extent all;
  std::map<uint32_t, Extent> by_node, requested;
  for (const Event& event : model) {
    ASSERT_TRUE(tape.contains(event));
    all.add(event.unit);
    by_node[event.node].add(event.unit);
    if (event.kind == Kind::kRequest) requested[event.node].add(event.unit);
  }
  ASSERT_TRUE(tape.flatten() == all);
  ASSERT_TRUE(tape.flatten_by_node() == by_node);
  ASSERT_TRUE(tape.flatten_by_node(Kind::kRequest) == requested);
  ASSERT_TRUE(tape.flatten(Kind::kRead) == tape.of_kind(Kind::kRead).flatten());
  const std::optional<Tape> again = decoded(encoded(tape));
  ASSERT_TRUE(again.has_value());
  ASSERT_TRUE(*again == tape);
}

TEST(TapeTest, DoesWhatASetOfEventsDoes) {
  for (uint32_t seed = 1; seed <= 300; seed++) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    Tape tapes[3];
    Model models[3];
    for (int step = 0; step < 80; step++) {
      const uint32_t i = random() % 3, k = random() % 3;
      switch (random() % 10) {
        case 0: {
          tapes[i] += tapes[k];
          models[i].insert(models[k].begin(), models[k].end());
          break;
        }
        case 1: {
          const Model right = models[k];
          tapes[i] -= tapes[k];
          std::erase_if(models[i], [&](const Event& event) { return right.count(event) > 0; });
          break;
        }
        case 2: {
          tapes[i] = tapes[i] & tapes[k];
          std::erase_if(models[i], [&](const Event& event) { return models[k].count(event) == 0; });
          break;
        }
        case 3: {
          const Extent extent = some_extent(&random);
          ASSERT_TRUE(tapes[i] + extent == tapes[i].cross(extent));
          const bool crosses = random() % 2;
          tapes[i] = crosses ? tapes[i] & extent : tapes[i] - extent;
          std::erase_if(models[i],
                        [&](const Event& event) { return extent.contains(event.unit) != crosses; });
          break;
        }
        case 4: {
          const Source source = {static_cast<Kind>(random() % 3), below(4, &random),
                                 below(6, &random)};
          const Extent extent = some_extent(&random);
          tapes[i].add(source, extent);
          for (const uint32_t unit : extent)
            models[i].insert({source.kind, source.node, source.interval, unit});
          break;
        }
        case 5: {
          const uint32_t node = random() % 4;
          Model of_node = models[i];
          std::erase_if(of_node, [&](const Event& event) { return event.node != node; });
          expect_same(tapes[i].of_node(node), of_node);
          break;
        }
        case 6: {
          std::vector<uint32_t> time(random() % 4);
          for (uint32_t& of_node : time) of_node = random() % 6;
          Model known = models[i], unknown = models[i];
          const auto knows = [&](const Event& event) {
            return event.node < time.size() && event.interval <= time[event.node];
          };
          std::erase_if(known, [&](const Event& event) { return !knows(event); });
          std::erase_if(unknown, knows);
          expect_same(tapes[i].known_at(time), known);
          expect_same(tapes[i].unknown_at(time), unknown);
          break;
        }
        default: {
          const Event event = some_event(&random);
          ASSERT_EQ(tapes[i].contains(event), models[i].count(event) > 0);
          tapes[i].add(event);
          models[i].insert(event);
        }
      }
      if (step % 8 == 7) {
        for (int n = 0; n < 3; n++) expect_same(tapes[n], models[n]);
      }
    }
  }
}

Tape example() {
  Tape tape;
  tape.add({Kind::kWrite, 2, 10}, {5, 6, 7, 9});
  tape.add(Event{Kind::kWrite, 2, 12, 5});
  return tape;
}

TEST(TapeTest, TheExampleOfTheHeader) {
  const Bytes bytes = {0x02, 0x07, 0x0a, 0x01, 0x00, 0x02, 0x05, 0x02, 0x00,
                       0x00, 0x00, 0x01, 0x01, 0x00, 0x01, 0x05, 0x00};
  EXPECT_EQ(encoded(example()), bytes);
  EXPECT_TRUE(decoded(bytes) == example());
}

// Figure 3 of the paper: what each other node has asked for so far, crossed with what was written.
TEST(TapeTest, AReplayBarrierFindsWhatToSendToWhom) {
  Tape writes, requests;
  writes.add({Kind::kWrite, 0, 7}, {1, 2, 3, 4});
  requests.add({Kind::kRequest, 1, 6}, {1, 9});
  requests.add({Kind::kRequest, 2, 6}, {8});
  std::map<uint32_t, Tape> sends;
  for (const auto& [node, asked] : requests.flatten_by_node()) {
    if (const Tape send = writes + asked; !send.empty()) sends[node] = send;
  }
  ASSERT_EQ(sends.size(), 1u);
  EXPECT_EQ(sends[1].events(), (std::vector<Event>{{Kind::kWrite, 0, 7, 1}}));
}

TEST(TapeTest, ItselfAddedSubtractedAndCrossed) {
  Tape tape = example();
  const Tape& itself = tape;
  tape += itself;
  EXPECT_TRUE(tape == example());
  tape &= itself;
  EXPECT_TRUE(tape == example());
  tape -= itself;
  EXPECT_TRUE(tape.empty());
}

TEST(TapeTest, DamageIsRefused) {
  const std::vector<Bytes> damaged = {
      {},
      {0x01},
      {0x01, 0x00, 0x01, 0x01, 0x00, 0x01, 0x05, 0x00},  // like the one before the first
      {0x01, 0x07, 0x0a, 0x00},                          // no units
      {0x02, 0x07, 0x0a, 0x01, 0x00, 0x01, 0x05, 0x00, 0x07, 0x0b, 0x01, 0x00, 0x01, 0x05,
       0x00},  // spelled, though it is of the same source
      {0x02, 0x07, 0x0a, 0x01, 0x00, 0x01, 0x05, 0x00, 0x04, 0x0b, 0x01, 0x00, 0x01, 0x05,
       0x00},  // node 1 after node 2
      {0x02, 0x07, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x01, 0x00, 0x01, 0x05, 0x00, 0x00, 0x00, 0x01,
       0x00, 0x01, 0x05, 0x00},  // after the last interval
      {0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0x0a, 0x01, 0x00, 0x01, 0x05,
       0x00},                                                                    // no such node
      {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0x07, 0x0a},  // very many tracks
  };
  for (const Bytes& bytes : damaged) EXPECT_FALSE(decoded(bytes).has_value()) << bytes.size();
}

TEST(TapeTest, NoBytesBreakIt) {
  for (uint32_t seed = 1; seed <= 5000; seed++) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    Tape tape;
    for (int i = 0; i < 12; i++) tape.add(some_event(&random));
    Bytes bytes = encoded(tape);
    for (uint32_t i = 0; i <= random() % 3; i++) {
      if (random() % 4 == 0) bytes.resize(random() % (bytes.size() + 1));
      else if (!bytes.empty())
        bytes[random() % bytes.size()] ^= static_cast<uint8_t>(1u << random() % 8);
    }
    const std::optional<Tape> read = decoded(bytes);
    if (read) { ASSERT_EQ(encoded(*read), bytes); }
  }
}

class TapeFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/weir-tape-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    directory_ = name;
    path_ = directory_ + "/tape";
  }
  void TearDown() override {
    unlink(path_.c_str());
    EXPECT_EQ(rmdir(directory_.c_str()), 0) << "something else was left there";
  }
  std::string content() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void replace(const std::string& content) const {
    std::ofstream(path_, std::ios::binary) << content;
  }
  // Why a file with this content is refused.
  std::string refusal(const std::string& content) const {
    replace(content);
    Tape tape = example();
    const std::string why = tape.reload(path_);
    EXPECT_TRUE(tape == example()) << "changed by what was refused";
    return why;
  }

  std::string directory_, path_;
};

TEST_F(TapeFileTest, IsReadAsItWasStored) {
  for (const Tape& tape : {Tape{}, example()}) {
    ASSERT_EQ(tape.store(path_), "");
    Tape again;
    again.add(Event{});
    ASSERT_EQ(again.reload(path_), "");
    EXPECT_TRUE(again == tape);
  }
}

TEST_F(TapeFileTest, AnyChangedOrMissingByteIsRefused) {
  ASSERT_EQ(example().store(path_), "");
  const std::string good = content();
  for (size_t i = 0; i < good.size(); i++) {
    std::string changed = good;
    changed[i] ^= 0x10;
    EXPECT_NE(refusal(changed), "") << "byte " << i;
    EXPECT_NE(refusal(good.substr(0, i)), "") << "cut at byte " << i;
  }
  EXPECT_EQ(refusal(good + "x"), path_ + ": something follows the tape");
  EXPECT_EQ(refusal("hello"), path_ + ": this is no tape");
  EXPECT_EQ(refusal(good.substr(0, 30)), path_ + ": the tape is cut short");
  std::string other_version = good;
  other_version[8] = 9;
  EXPECT_EQ(refusal(other_version),
            path_ + ": the tape is of version 9, this Weir reads version 1");
}

TEST_F(TapeFileTest, FailuresNameTheFile) {
  Tape tape;
  EXPECT_EQ(tape.reload(path_), path_ + ": No such file or directory");
  const std::string nowhere = directory_ + "/none/tape";
  EXPECT_EQ(tape.store(nowhere), nowhere + ": No such file or directory");
}

}  // namespace
}  // namespace weir::tape
