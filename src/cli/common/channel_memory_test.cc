#include "cli/common/channel_memory.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "channel/wait.h"

namespace weir::cli {
namespace {

// As in another namespace of processes.
constexpr int kNobody = 0x7ffffff0;

TEST(ChannelMemory, ACommandLivesUntilItIsKilledWhateverItsIdMeans) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t command = fork();
  if (command == 0) {
    const ChannelMemory channel(channel::Mode::kRecord);
    channel.header().command = kNobody;
    if (fork() == 0) {
      const channel::Header& header = channel.header();
      const bool was_dead = channel::is_dead(header);
      if (write(ready[1], &was_dead, 1) != 1) _exit(1);
      for (int i = 0; i < 1000 && !channel::is_dead(header); i++) usleep(10'000);
      const bool is_dead = channel::is_dead(header);
      _exit(write(ready[1], &is_dead, 1) != 1);
    }
    pause();
    _exit(0);
  }
  bool first = true, last = false;
  ASSERT_EQ(read(ready[0], &first, 1), 1);
  EXPECT_FALSE(first);
  kill(command, SIGKILL);
  EXPECT_EQ(waitpid(command, nullptr, 0), command);
  ASSERT_EQ(read(ready[0], &last, 1), 1);
  EXPECT_TRUE(last);
}

}  // namespace
}  // namespace weir::cli
