#include "loader/traced.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "base/types.h"
#include "loader/process_files.h"

namespace weir::loader {
namespace {

// Shared with the child, at the same address: two pages, and one behind that may not be touched.
class TracedTest : public ::testing::Test {
 protected:
  TracedTest() {
    page = static_cast<char*>(
        mmap(nullptr, 3 * kPageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    munmap(page + 2 * kPageSize, kPageSize);
    std::memset(page, 'p', 2 * kPageSize);
    pid = fork();
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (;;) pause();
    }
    int status = 0;
    EXPECT_EQ(ptrace(PTRACE_SEIZE, pid, nullptr, PTRACE_O_EXITKILL), 0);
    EXPECT_EQ(ptrace(PTRACE_INTERRUPT, pid, nullptr, nullptr), 0);
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(WIFSTOPPED(status));
  }
  ~TracedTest() override {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    munmap(page, 2 * kPageSize);
  }

  // "syscall; int3" in the child.
  void put_instruction(Traced& process) {
    ASSERT_TRUE(process.stop_between_instructions());
    const auto at = reinterpret_cast<uint64_t>(&getppid) & ~uint64_t{7};
    const uint8_t code[] = {0x0f, 0x05, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc};
    // Code may not be written by process_vm_writev: word by word.
    ASSERT_TRUE(process.write(at, code, sizeof code));
    process.use_instruction_at(at);
  }

  char* page;
  pid_t pid;
};

TEST_F(TracedTest, ReadsAndWritesRangesOfEachKind) {
  Traced process(pid);
  ASSERT_TRUE(process.stop_between_instructions());
  for (uint64_t first = 0; first < 9; first++) {
    for (uint64_t size : {1, 7, 8, 9, 16, 5000}) {
      const std::string text(size, static_cast<char>('a' + first));
      const uint64_t at = reinterpret_cast<uint64_t>(page) + first;
      ASSERT_TRUE(process.write(at, text.data(), size));
      std::string read(size + 1, 0);
      ASSERT_TRUE(process.read(at, read.data(), size + 1));
      EXPECT_EQ(read.substr(0, size), text);
    }
  }
  EXPECT_EQ(page[0], 'p');  // it is the child's
  char byte;
  EXPECT_FALSE(process.read(reinterpret_cast<uint64_t>(page) + 2 * kPageSize, &byte, 1));
  EXPECT_FALSE(process.write(reinterpret_cast<uint64_t>(page) + 2 * kPageSize, "x", 1));
  EXPECT_FALSE(process.read(reinterpret_cast<uint64_t>(page) + 2 * kPageSize - 1, &byte, 2));
}

TEST_F(TracedTest, ReadsStrings) {
  Traced process(pid);
  ASSERT_TRUE(process.stop_between_instructions());
  const uint64_t end = reinterpret_cast<uint64_t>(page) + 2 * kPageSize;
  ASSERT_TRUE(process.write(end - 4, "abc", 4));
  char text[16];
  EXPECT_EQ(process.read_string(end - 4, text, sizeof text), 3);
  EXPECT_STREQ(text, "abc");
  EXPECT_EQ(process.read_string(end - 4, text, 3), -1);  // no room for the NUL
  EXPECT_EQ(process.read_string(end - 1, text, sizeof text), 0);
  ASSERT_TRUE(process.write(end - 1, "d", 1));
  EXPECT_EQ(process.read_string(end - 4, text, sizeof text), -1);  // no NUL before the end
}

TEST_F(TracedTest, MakesSystemCallsAndIsAsBefore) {
  Traced process(pid);
  put_instruction(process);
  user_regs_struct before, after;
  ASSERT_TRUE(process.get(&before));
  const uint64_t mask = process.block_signals();
  EXPECT_EQ(process.call(SYS_getpid), pid);
  EXPECT_EQ(process.call(SYS_close, 12345), -EBADF);
  EXPECT_EQ(process.call(SYS_prctl, PR_SET_NAME, reinterpret_cast<uint64_t>("named")), 0);
  process.restore_signals(mask);
  ASSERT_TRUE(process.get(&after));
  EXPECT_EQ(std::memcmp(&before, &after, sizeof before), 0);
  char name[32];
  ASSERT_GT(read_file(pid, "/comm", name, sizeof name), 0);
  EXPECT_STREQ(name, "named\n");
}

TEST_F(TracedTest, NoInstructionIsAnErrorNotAHang) {
  Traced process(pid);
  ASSERT_TRUE(process.stop_between_instructions());
  process.use_instruction_at(reinterpret_cast<uint64_t>(page) + 2 * kPageSize);  // SIGSEGV
  const uint64_t mask = process.block_signals();
  EXPECT_EQ(process.call(SYS_getpid), -EFAULT);
  process.restore_signals(mask);
}

TEST_F(TracedTest, OneThatIsGone) {
  Traced process(pid);
  ASSERT_TRUE(process.stop_between_instructions());
  kill(pid, SIGKILL);
  siginfo_t ended;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOWAIT), 0);
  user_regs_struct registers;
  EXPECT_EQ(process.call(SYS_getpid), -ESRCH);
  EXPECT_FALSE(process.stop_between_instructions());
  EXPECT_FALSE(process.get(&registers));
  char byte;
  EXPECT_FALSE(process.read(reinterpret_cast<uint64_t>(page), &byte, 1));
}

TEST(ProcessFilesTest, Texts) {
  char text[64];
  EXPECT_EQ(put_number(text, 0) - text, 1);
  EXPECT_STREQ(text, "0");
  put_number(text, ~uint64_t{0});
  EXPECT_STREQ(text, "18446744073709551615");
  EXPECT_EQ(*put_path(text, 4096, "/maps"), 0);
  EXPECT_STREQ(text, "/proc/4096/maps");
}

TEST(ProcessFilesTest, ReadsWhatFitsAndSaysWhatFailed) {
  char text[8];
  EXPECT_EQ(read_file(getpid(), "/cmdline", text, sizeof text), 7);
  EXPECT_EQ(text[7], 0);
  EXPECT_EQ(read_file(getpid(), "/nothing", text, sizeof text), -ENOENT);
}

}  // namespace
}  // namespace weir::loader
