// Problem: UCX's workers reserve memory in /dev/shm, of which a container has 64 MB by default, for
// all nodes of the machine together and for MPI's own. Mechanism: before any node makes a worker,
// all say how much is free and which /dev/shm that is, by its device and the machine's boot. Each
// node's share is what is free, by the nodes that said the same. All take as many channels as the
// node with the least: their number is the same everywhere.
#include "dsm/net/room.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>

#include "dsm/base/failure.h"

namespace weir::dsm {
namespace {

// Of one worker: 1.1 MB at its start, and what messages under way need beyond that.
constexpr uint64_t kWorkerBytes = 1536 << 10;

struct Room {
  uint64_t free = UINT64_MAX;  // bytes; as many as this: nobody knows
  uint64_t device = 0;
  char boot[40] = "";
  bool is_same(const Room& other) const {
    return device == other.device && !memcmp(boot, other.boot, sizeof boot);
  }
};

Room find_room() {
  Room room;
  struct statvfs space {};
  struct stat place {};
  if (statvfs("/dev/shm", &space) || stat("/dev/shm", &place)) return room;
  room.free = space.f_bavail * uint64_t{space.f_frsize};
  room.device = place.st_dev;
  if (FILE* file = fopen("/proc/sys/kernel/random/boot_id", "re")) {
    if (!fgets(room.boot, sizeof room.boot, file)) room.boot[0] = 0;
    fclose(file);
  }
  return room;
}

}  // namespace

UcxOptions fit_in_dev_shm(Bootstrap& bootstrap, UcxOptions options) {
  if (bootstrap.nodes() == 1) return options;
  // Who chooses its ways itself takes part: it is a collective call, and channels are common.
  const bool chooses_ways = getenv("UCX_TLS") != nullptr;
  const Room mine = chooses_ways ? Room{} : find_room();
  std::vector<Room> rooms;
  for (const auto& bytes :
       bootstrap.allgather({reinterpret_cast<const uint8_t*>(&mine), sizeof mine})) {
    Room its;
    if (bytes.size() != sizeof its) fail("node %zu is not of the same build", rooms.size());
    memcpy(&its, bytes.data(), sizeof its);
    rooms.push_back(its);
  }
  uint64_t workers = UINT64_MAX;
  const Room* least = nullptr;
  for (const Room& room : rooms) {
    const auto nodes = static_cast<uint64_t>(std::count_if(
        rooms.begin(), rooms.end(), [&](const Room& other) { return room.is_same(other); }));
    const uint64_t its = room.free / nodes / kWorkerBytes;
    if (its < workers) workers = its, least = &room;
  }
  const unsigned wanted = options.channels;
  if (workers > wanted) return options;
  if (workers < 2) options.uses_dev_shm = options.uses_dev_shm && chooses_ways;
  else options.channels = static_cast<unsigned>(workers - 1);
  if (bootstrap.node() > 0) return options;
  const unsigned long megabytes = least->free >> 20;
  if (workers >= 2) {
    fprintf(stderr,
            "weir-dsm: /dev/shm has %lu MB left: WEIR_DSM_CHANNELS is %u instead of %u (docker run "
            "--shm-size makes it larger)\n",
            megabytes, options.channels, wanted);
  } else {
    fprintf(stderr,
            "weir-dsm: /dev/shm has %lu MB left: messages go by other ways (docker run --shm-size "
            "makes it larger)\n",
            megabytes);
  }
  return options;
}

}  // namespace weir::dsm
