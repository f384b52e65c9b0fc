// Question: what do neighbours in a grid cost each other, by pages, by regions, and with barriers
// that remember who asked for what?
// Command:  mpirun -n N dsm_sor [--rows N] [--columns N] [--iterations N] [--unit
//           page|region|annotated] [--tapes replay] [--check]
// Figure:   seconds of all iterations but the first.
//
// Red-black successive over-relaxation: points of a grid are the mean of their four neighbours,
// over and over; those of one colour need only those of the other. Each colour has an array of its
// own, with half the points of each row, so a sweep over one colour writes one array and reads the
// other. A worker has a band of rows, and at each edge reads one row of the next band. A row is a
// piece; the ordinary length of a row is not that of a page, as rows of an allocator are not. The
// paper's text does not give the size.
//
// Row r of the grid, with columns 0 to 2w - 1, has its red points where r + column is even. The
// outermost rows and columns are fixed.
#include <algorithm>
#include <vector>

#include "app.h"
#include "pieces.h"

namespace {

using namespace app;

constexpr double kWeight = 1.25;  // over-relaxation

double start_value(uint64_t seed, long point) {
  return random_unit(seed, static_cast<uint64_t>(point));
}

double relaxed(double old, double above, double below, double left, double right) {
  return old + kWeight * ((above + below + left + right) * 0.25 - old);
}

// One row of one colour. `first` is 1 where the row's points of this colour lie in odd columns:
// then point k has the other colour's k on its left and k + 1 on its right, else k - 1 and k.
void relax_row(double* row, const double* other, const double* above, const double* below,
               long width, long first) {
  const long begin = first ? 0 : 1,
             end = first ? width - 1 : width;  // column 0 and the last one are fixed
  for (long k = begin; k < end; ++k)
    row[k] = relaxed(row[k], above[k], below[k], other[k - 1 + first], other[k + first]);
}

class Sor : public Program {
 public:
  void prepare(const Options& options, unsigned) override {
    options_ = options;
    rows_ = options.number("rows");
    width_ = (options.number("columns") + 1) / 2;
    const std::vector<size_t> counts(rows_, static_cast<size_t>(width_));
    red_.allocate(options.unit, "sor.red", counts);
    black_.allocate(options.unit, "sor.black", counts);
  }

  void work(unsigned worker, unsigned workers) override {
    const long iterations = options_.number("iterations");
    const Range mine = share_of(rows_, worker, workers);
    for (long row = mine.begin; row < mine.end; ++row) fill(row);
    weir_dsm_barrier(0);
    for (long iteration = 0; iteration < iterations; ++iteration) {
      if (iteration == options_.first_measured()) begin_measured(worker);
      sweep(red_, black_, mine, 0);
      barrier(options_.tapes, 1);
      sweep(black_, red_, mine, 1);
      barrier(options_.tapes, 2);
    }
    end_measured(worker);
  }

  uint64_t checksum() override {
    Checksum sum;
    for (long row = 0; row < rows_; ++row)
      for (const auto* colour : {&red_, &black_}) {
        const double* points = colour->read(row);
        for (long k = 0; k < width_; ++k) sum.add(points[k]);
      }
    return sum.value();
  }

  // In one array of the whole grid.
  double check(std::string& wrong) override {
    const long columns = 2 * width_, iterations = options_.number("iterations");
    std::vector<double> grid(rows_ * columns);
    for (long row = 0; row < rows_; ++row)
      for (long column = 0; column < columns; ++column)
        grid[row * columns + column] = start_value(options_.seed, row * columns + column);
    double from = 0;
    for (long iteration = 0; iteration < iterations; ++iteration) {
      if (iteration == options_.first_measured()) from = seconds();
      for (long colour = 0; colour < 2; ++colour)
        for (long row = 1; row < rows_ - 1; ++row)
          for (long column = 2 - (row + colour) % 2; column < columns - 1; column += 2) {
            double* point = &grid[row * columns + column];
            *point = relaxed(*point, point[-columns], point[columns], point[-1], point[1]);
          }
    }
    const double took = seconds() - from;
    for (long row = 0; row < rows_; ++row)
      for (long column = 0; column < columns; ++column) {
        const double found = ((row + column) % 2 ? black_ : red_).read(row)[column / 2];
        if (found != grid[row * columns + column])
          report_difference(wrong, "point", row * columns + column, found,
                            grid[row * columns + column]);
      }
    return took;
  }

 private:
  void fill(long row) {
    double* red = red_.write(row);
    double* black = black_.write(row);
    for (long column = 0; column < 2 * width_; ++column) {
      double* points = (row + column) % 2 ? black : red;
      points[column / 2] = start_value(options_.seed, row * 2 * width_ + column);
    }
  }

  // `parity`: 0 for red, 1 for black.
  void sweep(Pieces<double>& colour, const Pieces<double>& other, Range rows, long parity) {
    for (long row = std::max(rows.begin, 1L); row < std::min(rows.end, rows_ - 1); ++row)
      relax_row(colour.write(row), other.read(row), other.read(row - 1), other.read(row + 1),
                width_, (row + parity) % 2);
  }

  Options options_;
  long rows_ = 0, width_ = 0;  // width: points of one colour in a row
  Pieces<double> red_, black_;
};

const Description kDescription = {"sor",
                                  "red-black successive over-relaxation",
                                  {{"rows", "of the grid", 1000, 2000, 40},
                                   {"columns", "of the grid", 1400, 2000, 50},
                                   {"iterations", "sweeps over both colours", 20, 50, 4}},
                                  Tapes{.replay = true},
                                  true};

}  // namespace

int main(int argc, char** argv) {
  static Sor program;
  return app::run(argc, argv, kDescription, program);
}
