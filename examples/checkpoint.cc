// Checkpoints of a running computation, each of which writes only what has changed since the last one.
// Heat spreads on a grid of 384 x 384 numbers from a few sources. The grid is kept in 144 tiles of 32 x 32, each a region of 8192 bytes. After
// weir_region_checkpoint, the first write to a tile traps within the library, which keeps a copy of it; weir_region_modified names the tiles that were
// written, and weir_region_diff_make says which bytes of each. Tiles that heat has not reached yet are not written, so they cost nothing.
//
//   checkpoint FILE [--steps N] [--every K] [--resume]        N: 600, K: 20 unless given
// Computes N steps and writes a checkpoint to FILE after each K. With --resume it goes on after the last one that is whole in FILE (from the beginning where
// there is none), wherever the process that wrote it was killed; otherwise FILE is begun anew. Prints a line for each checkpoint on stderr, and the result on
// stdout: it is the same, to the last bit, however often the computation was interrupted. Exit status: 0; 2: wrong usage, or the file cannot be used.
//
// The file: for each checkpoint a Header, then for each changed tile a Part and its difference from the checkpoint before. The header has the length of all
// that and a checksum. The first checkpoint's differences are from zeros. What comes behind the last whole checkpoint was being written when the process
// died, and is cut off.

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <map>
#include <string>
#include <vector>

#include "weir/region.hpp"

namespace {

constexpr int kSide = 384, kTileSide = 32, kTilesAcross = kSide / kTileSide, kTiles = kTilesAcross * kTilesAcross;
constexpr size_t kTileBytes = sizeof(double) * kTileSide * kTileSide;
constexpr uint64_t kMagic = 0x31746e696f506557;

struct Header {
  uint64_t magic;
  uint64_t step;      // that was computed last
  uint64_t size;      // bytes behind the header
  uint64_t parts;
  uint64_t checksum;  // of the header up to here, and of what is behind it
};

struct Part {
  uint32_t tile, size;
};

static_assert(sizeof(Header) == 40 && sizeof(Part) == 8);

[[noreturn]] void fail(const std::string& what) {
  fprintf(stderr, "checkpoint: %s\n", what.c_str());
  exit(2);
}

uint64_t checksum_of(const void* bytes, size_t size, uint64_t sum = 0xcbf29ce484222325) {  // FNV-1a
  for (size_t i = 0; i < size; i++) sum = (sum ^ static_cast<const unsigned char*>(bytes)[i]) * 0x100000001b3;
  return sum;
}

uint64_t checksum_of(const Header& header, const std::string& behind) {
  return checksum_of(behind.data(), behind.size(), checksum_of(&header, offsetof(Header, checksum)));
}

class Grid {
 public:
  Grid() {
    for (int tile = 0; tile < kTiles; tile++) {
      tiles_.push_back(weir::make_region_array<double>(kTileSide * kTileSide));
      numbers_[tiles_.back().open()] = static_cast<uint32_t>(tile);
      starts_.push_back(tiles_.back().get());
    }
  }

  // From here on changes are noted: since the beginning, since a checkpoint was read, since one was written.
  void note_changes() {
    if (weir_region_checkpoint_many(starts_.data(), starts_.size())) fail("no memory");
  }

  double at(int row, int column) const { return tile(row, column)[cell(row, column)]; }
  void set(int row, int column, double value) { tile(row, column)[cell(row, column)] = value; }

  // One step of the heat equation. The sources keep their heat; the border is cold.
  void step() {
    std::vector<double> before(kSide * kSide);
    for (int i = 0; i < kTiles; i++) {
      // A plain pointer may be read through for as long as no level is lowered.
      const double* from = tiles_[static_cast<size_t>(i)].get();
      const int row = i / kTilesAcross * kTileSide, column = i % kTilesAcross * kTileSide;
      for (int line = 0; line < kTileSide; line++) {
        memcpy(&before[static_cast<size_t>((row + line) * kSide + column)], from + line * kTileSide, sizeof(double) * kTileSide);
      }
    }
    for (int row = 1; row < kSide - 1; row++) {
      for (int column = 1; column < kSide - 1; column++) {
        const double* here = &before[static_cast<size_t>(row * kSide + column)];
        const double next = *here + 0.2 * (here[-1] + here[1] + here[-kSide] + here[kSide] - 4 * *here);
        if (next != *here) set(row, column, next);  // a tile that stays as it was is not written
      }
    }
    heat_sources();
  }

  void heat_sources() {
    for (const auto& [row, column] : {std::pair{40, 50}, {200, 190}, {60, 330}}) set(row, column, 100);
  }

  // What changed since the last one, in the form of the file.
  std::string make_checkpoint(uint64_t step) {
    std::vector<void*> changed(kTiles);
    changed.resize(weir_region_modified(changed.data(), changed.size()));
    std::string parts;
    uint64_t count = 0;
    std::vector<char> difference;
    for (void* tile : changed) {
      const long size = weir_region_diff_make(tile, nullptr, 0);
      if (size < 0) fail("a tile has no checkpoint");
      difference.resize(static_cast<size_t>(size));
      weir_region_diff_make(tile, difference.data(), difference.size());
      const Part part{numbers_.at(static_cast<double*>(weir_region_open(tile))), static_cast<uint32_t>(size)};
      parts.append(reinterpret_cast<const char*>(&part), sizeof part);
      parts.append(difference.data(), difference.size());
      count++;
    }
    Header header{kMagic, step, parts.size(), count, 0};
    header.checksum = checksum_of(header, parts);
    return std::string(reinterpret_cast<const char*>(&header), sizeof header) + parts;
  }

  void apply(const Header& header, const std::string& parts) {
    size_t at = 0;
    for (uint64_t i = 0; i < header.parts; i++) {
      Part part{};
      if (parts.size() - at >= sizeof part) memcpy(&part, parts.data() + at, sizeof part);
      at += sizeof part;
      if (at > parts.size() || part.size > parts.size() - at || part.tile >= kTiles ||
          weir_region_diff_apply(tiles_[part.tile].get(), parts.data() + at, part.size))
        fail("a checkpoint of another program");
      at += part.size;
    }
  }

  void print(uint64_t steps) const {
    double sum = 0;
    uint64_t hash = checksum_of(nullptr, 0);
    for (const auto& tile : tiles_) {
      for (int i = 0; i < kTileSide * kTileSide; i++) sum += tile[i];
      hash = checksum_of(tile.get(), kTileBytes, hash);
    }
    printf("after %lu steps: heat %.6f, checksum %016lx\n", static_cast<unsigned long>(steps), sum, static_cast<unsigned long>(hash));
  }

 private:
  const weir::region_ptr<double>& tile(int row, int column) const {
    return tiles_[static_cast<size_t>(row / kTileSide * kTilesAcross + column / kTileSide)];
  }
  static int cell(int row, int column) { return row % kTileSide * kTileSide + column % kTileSide; }

  std::vector<weir::region_ptr<double>> tiles_;
  std::map<double*, uint32_t> numbers_;  // by where they are always open
  std::vector<void*> starts_;
};

// Answers the step after which the last whole checkpoint was written, 0: there is none. What is behind it is cut off.
uint64_t restore(int file, Grid& grid) {
  uint64_t step = 0;
  off_t end = 0;
  const off_t size = lseek(file, 0, SEEK_END);
  for (Header header; pread(file, &header, sizeof header, end) == sizeof header;) {
    if (header.magic != kMagic || header.size > static_cast<uint64_t>(size - end) - sizeof header) break;
    std::string parts(header.size, 0);
    if (pread(file, parts.data(), parts.size(), end + static_cast<off_t>(sizeof header)) != static_cast<ssize_t>(parts.size())) break;
    if (checksum_of(header, parts) != header.checksum) break;
    grid.apply(header, parts);
    step = header.step;
    end += static_cast<off_t>(sizeof header + parts.size());
  }
  if (ftruncate(file, end) || lseek(file, end, SEEK_SET) != end) fail(strerror(errno));
  return step;
}

void write_all(int file, const std::string& bytes) {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t some = write(file, bytes.data() + done, bytes.size() - done);
    if (some < 0) fail(strerror(errno));
    done += static_cast<size_t>(some);
  }
  if (fdatasync(file)) fail(strerror(errno));
}

}  // namespace

int main(int count, char** words) {
  uint64_t steps = 600, every = 20;
  bool resumes = false;
  std::string path;
  for (int i = 1; i < count; i++) {
    const std::string word = words[i];
    if (word == "--resume") resumes = true;
    else if (word == "--steps" && i + 1 < count) steps = strtoul(words[++i], nullptr, 10);
    else if (word == "--every" && i + 1 < count) every = strtoul(words[++i], nullptr, 10);
    else if (path.empty() && word[0] != '-') path = word;
    else path.clear(), i = count;
  }
  if (path.empty() || !every) fail("usage: checkpoint FILE [--steps N] [--every K] [--resume]");
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | (resumes ? 0 : O_TRUNC), 0644);
  if (file < 0) fail(path + ": " + strerror(errno));

  Grid grid;
  uint64_t step = resumes ? restore(file, grid) : 0;
  if (step) fprintf(stderr, "goes on after step %lu\n", static_cast<unsigned long>(step));
  grid.note_changes();
  if (!step) grid.heat_sources();
  while (step < steps) {
    grid.step();
    step++;
    if (step % every) continue;
    const std::string checkpoint = grid.make_checkpoint(step);
    write_all(file, checkpoint);
    grid.note_changes();
    Header header;
    memcpy(&header, checkpoint.data(), sizeof header);
    fprintf(stderr, "step %lu: %lu of %d tiles changed, %zu bytes instead of %zu\n", static_cast<unsigned long>(step),
            static_cast<unsigned long>(header.parts), kTiles, checkpoint.size(), kTiles * kTileBytes);
  }
  grid.print(step);
}
