// Thread-locals are fresh in each thread; objects among them are constructed on first use,
// destructed at its end.
#include "program.h"

#include <mutex>
#include <string>
#include <thread>
#include <vector>

static std::mutex lock;
static int constructed, destructed;

struct Tracked {
  Tracked() {
    std::lock_guard guard(lock);
    ++constructed;
  }
  ~Tracked() {
    std::lock_guard guard(lock);
    ++destructed;
    CHECK(text == "mine" + std::to_string(number));
  }
  int number = -1;
  std::string text = "fresh";
};

static thread_local int plain = 17;
static thread_local int zeroed[2000];
static thread_local Tracked tracked;
static thread_local std::string words = "initial";

static void body(int number) {
  CHECK_EQ(plain, 17);
  CHECK(words == "initial");
  for (int value : zeroed) CHECK_EQ(value, 0);
  CHECK(tracked.text == "fresh");
  plain = number;
  for (int& value : zeroed) value = number;
  tracked.number = number;
  tracked.text = "mine" + std::to_string(number);
  words += std::to_string(number);
  std::this_thread::yield();
  CHECK_EQ(plain, number);
  CHECK_EQ(zeroed[1999], number);
  CHECK(words == "initial" + std::to_string(number));
}

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4);
  plain = 1000;
  tracked.text = "mine-1";
  words = "main's";
  for (int round = 1; round <= 3; ++round) {
    std::vector<std::thread> running;
    for (int i = 0; i < threads; ++i) running.emplace_back(body, i);
    for (auto& thread : running) thread.join();
    CHECK_EQ(constructed, threads * round + 1);
    CHECK_EQ(destructed, threads * round);
  }
  CHECK_EQ(plain, 1000);
  CHECK(words == "main's");
  std::printf("destructed %d\n", destructed);
}
