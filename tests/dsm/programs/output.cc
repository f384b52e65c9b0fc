// What a simulation writes and reads: rows of shared memory by fwrite, ofstream, fprintf of shared
// strings, writev, pwrite of each node into one file, a text by a stream whose buffer is shared,
// and all of it read again into shared memory by fread, ifstream, getline, mmap.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>
#include <weir/dsm.hpp>

namespace {
constexpr std::size_t kRow = 5000;
long g_wrong = 0;
void must(bool holds, const char* what) {
  if (!holds) g_wrong++, fprintf(stderr, "node %u: not so: %s\n", weir_dsm_node(), what);
}
int value(std::size_t i, int round) { return int(i * 7 + round * 1000003); }
}  // namespace

int main(int argc, char** argv) {
  weir::dsm::session session(argc, argv);
  const unsigned me = session.node(), nodes = session.nodes();
  const std::string folder = argc > 1 ? argv[1] : ".";
  {
    weir::dsm::shared_vector<int> grid(kRow * nodes), back(kRow * nodes);
    weir::dsm::shared_vector<char> names(64 * nodes);
    weir::dsm::shared_vector<char> line(1 << 16);
    for (int round = 0; round < 3; round++) {
      for (std::size_t i = 0; i < kRow; i++) grid[me * kRow + i] = value(me * kRow + i, round);
      snprintf(&names[64 * me], 64, "row-%u-%d", me, round);
      weir_dsm_barrier(1);
      const unsigned writer = round % nodes, reader = (round + 1) % nodes;
      const auto path = [&](const char* kind) {
        return folder + "/" + kind + "." + std::to_string(round);
      };
      if (me == writer) {
        FILE* file = fopen(path("fwrite").c_str(), "w");
        must(
            fwrite(grid.data(), sizeof(int), grid.size(), file) == grid.size() && fclose(file) == 0,
            "fwrite");
        std::ofstream stream(path("ofstream"), std::ios::binary);
        stream.write(reinterpret_cast<const char*>(grid.data()),
                     std::streamsize(grid.size() * sizeof(int)));
        stream.close();
        must(bool(stream), "ofstream");
        file = fopen(path("text").c_str(), "w");
        for (unsigned i = 0; i < nodes; i++)
          fprintf(file, "%s %d\n", &names[64 * i], grid[i * kRow]);
        must(fclose(file) == 0, "fprintf");
      }
      // All nodes, one file.
      const int all = open(path("pwrite").c_str(), O_RDWR | O_CREAT, 0600);
      std::vector<iovec> parts;
      for (std::size_t i = 0; i < 4; i++)
        parts.push_back({&grid[((me + 1) % nodes) * kRow + i * kRow / 4], kRow / 4 * sizeof(int)});
      must(pwritev(all, parts.data(), 4, off_t((me + 1) % nodes * kRow * sizeof(int))) ==
               ssize_t(kRow * sizeof(int)),
           "pwritev");
      close(all);
      weir_dsm_barrier(2);
      for (const char* kind : {"fwrite", "ofstream", "pwrite"}) {
        memset(&back[me * kRow], 0xff, kRow * sizeof(int));
        weir_dsm_barrier(3);
        if (me == reader) {
          if (kind[0] == 'f') {
            FILE* file = fopen(path(kind).c_str(), "r");
            must(fread(back.data(), sizeof(int), back.size(), file) == back.size(), "fread");
            fclose(file);
          } else if (kind[0] == 'o') {
            std::ifstream stream(path(kind), std::ios::binary);
            must(bool(stream.read(reinterpret_cast<char*>(back.data()),
                                  std::streamsize(back.size() * sizeof(int)))),
                 "ifstream");
          } else {
            const int file = open(path(kind).c_str(), O_RDONLY);
            void* mapped =
                mmap(nullptr, back.size() * sizeof(int), PROT_READ, MAP_PRIVATE, file, 0);
            memcpy(back.data(), mapped, back.size() * sizeof(int));
            munmap(mapped, back.size() * sizeof(int));
            close(file);
          }
        }
        weir_dsm_barrier(4);
        must(memcmp(back.data(), grid.data(), back.size() * sizeof(int)) == 0, kind);
        weir_dsm_barrier(5);
      }
      if (me == reader) {
        FILE* file = fopen(path("text").c_str(), "r");
        setvbuf(file, line.data(), _IOFBF, 4096);  // the stream's buffer is shared, its lines too
        for (unsigned i = 0; i < nodes; i++) {
          int number = -1;
          must(fscanf(file, "%60s %d", &line[8192 + 64 * i], &number) == 2 &&
                   number == value(i * kRow, round),
               "fscanf");
        }
        fclose(file);
      }
      weir_dsm_barrier(6);
      for (unsigned i = 0; i < nodes; i++)
        must(strcmp(&line[8192 + 64 * i], &names[64 * i]) == 0, "names");
      weir_dsm_barrier(7);
    }
    std::int64_t wrong = g_wrong;
    weir_dsm_reduce_int64(&wrong, 1, WEIR_DSM_SUM);
    g_wrong = wrong;
  }
  if (me == 0) printf("output: %s (%ld)\n", g_wrong ? "WRONG" : "right", g_wrong);
  return g_wrong != 0;
}
