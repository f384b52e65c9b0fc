#include "cli/common/channel_memory.h"

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "channel/wait.h"
#include "cli/common/point.h"
#include "sys/futex.h"

// The command's own: libc's functions are faster than what the runtime must do without them.
namespace weir {
void copy_bytes(void* to, const void* from, size_t size) {
  if (size != 0) memcpy(to, from, size);
}
void zero_bytes(void* at, size_t size) { memset(at, 0, size); }
}  // namespace weir

namespace weir::cli {

ChannelMemory::ChannelMemory(channel::Mode mode)
    : memory_("weir-trace", channel::kChannelSize, "for a recording") {
  header().magic = channel::kMagic;
  header().version = channel::kFormatVersion;
  header().mode = mode;
  header().command = getpid();
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&header().alive, &attributes);
  pthread_mutexattr_destroy(&attributes);
  pthread_mutex_lock(&header().alive);
}

ChannelMemory::~ChannelMemory() { pthread_mutex_unlock(&header().alive); }

void ChannelMemory::set_run(const std::string& directory, const std::string& log, bool fingerprint,
                            bool stat) {
  header().options = (fingerprint ? channel::kWithFingerprint : 0) |
                     (stat ? channel::kWithStat : 0) |
                     (wants_page_tables() ? channel::kWithoutUserfault : 0);
  snprintf(header().directory, sizeof header().directory, "%s", directory.c_str());
  snprintf(header().log, sizeof header().log, "%s", log.c_str());
  for (int i = 0; i < 2; i++) {
    struct stat status;
    if (fstat(i + 1, &status) != 0) continue;
    header().output[i] = {status.st_dev, status.st_ino,
                          S_ISCHR(status.st_mode) ? status.st_rdev : 0, isatty(i + 1) == 1, 0};
  }
}

void ChannelMemory::set_gone(const std::string& why) {
  if (header().gone) return;
  snprintf(header().why, sizeof header().why, "%s", why.c_str());
  __atomic_store_n(&header().gone, 1, __ATOMIC_RELEASE);
  const uint32_t slots =
      std::min(__atomic_load_n(&header().slots, __ATOMIC_ACQUIRE), channel::kMaxStreams);
  for (uint32_t i = 0; i < slots; i++) channel::wake(header().slot[i]);
}

uint32_t ChannelMemory::bell() const { return __atomic_load_n(&header().bell, __ATOMIC_SEQ_CST); }

void ChannelMemory::sleep(uint32_t seen, uint64_t nanoseconds) {
  __atomic_store_n(&header().sleeps, 1, __ATOMIC_SEQ_CST);
  sys::futex_wait(&header().bell, seen, nanoseconds);
  __atomic_store_n(&header().sleeps, 0, __ATOMIC_SEQ_CST);
}

}  // namespace weir::cli
