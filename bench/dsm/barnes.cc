// Question: what do tapes save where each iteration touches other pages than the one before?
// Command:  mpirun -n N dsm_barnes [--bodies N] [--iterations N] [--tapes replay] [--check]
// Figure:   seconds of all iterations but the first (Tapeworm's table 7).
//
// Gravity of bodies by Barnes and Hut's octree, with barriers alone, as in the paper: worker 0
// makes the tree, with each cell's mass and centre, and deals the bodies out. It lists them in the
// order in which the tree has them, and cuts the list so that all parts have made equally many
// interactions in the last iteration: so a worker's bodies are near each other, but which they are
// changes. In each iteration
//   worker 0 makes the tree and the list;                        barrier
//   all compute the forces on their bodies, from the tree;       barrier
//   all move their bodies;                                       barrier
// Bodies and cells lie in arrays, and refer to each other by numbers; a leaf is one body.
//
// Whatever the division, the force on a body is a sum in the order of the tree, so results are
// compared exactly, with a sequential program whose tree is made of pointers.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include "app.h"

namespace {

using namespace app;

// A cell is taken as a whole where its side is less than this times its distance.
constexpr double kOpening = 1.0;
constexpr double kSoftening = 0.05, kStep = 0.025;
constexpr int kMaxDepth = 100;

struct Point {
  double x[3];
};

struct Body {
  Point at, speed, push;  // push: acceleration
  double mass;
  int64_t cost;  // interactions in the last iteration
};

struct Cell {
  Point at;  // centre of mass
  double mass, side;
  int32_t child[8];  // 0: none; n: cell n; -n: body n - 1
};

struct Roots {  // what there is besides in each iteration
  Point low;
  double side;
  int32_t cells;
};

double apart(const Point& from, const Point& to, Point& way) {
  double square = 0;
  for (int axis = 0; axis < 3; ++axis) {
    way.x[axis] = to.x[axis] - from.x[axis];
    square += way.x[axis] * way.x[axis];
  }
  return square;
}

void pull(Point& push, const Point& way, double square, double mass) {
  const double softened = square + kSoftening * kSoftening;
  const double by = mass / (softened * std::sqrt(softened));
  for (int axis = 0; axis < 3; ++axis) push.x[axis] += by * way.x[axis];
}

bool is_far(double side, double square) { return side * side < kOpening * kOpening * square; }

void move(Body& body) {
  for (int axis = 0; axis < 3; ++axis) {
    body.speed.x[axis] += kStep * body.push.x[axis];
    body.at.x[axis] += kStep * body.speed.x[axis];
  }
}

// Plummer's sphere, of total mass 1, cut off where it is thin; at rest as a whole only nearly.
Body body_at_start(uint64_t seed, long index, long bodies) {
  uint64_t draw = static_cast<uint64_t>(index) << 32;
  const auto random = [&] { return random_unit(seed, draw++); };
  const auto on_sphere = [&](double radius) {
    const double height = 2 * random() - 1, turn = 2 * M_PI * random(),
                 flat = std::sqrt(1 - height * height);
    return Point{{radius * flat * std::cos(turn), radius * flat * std::sin(turn), radius * height}};
  };
  Body body{};
  body.mass = 1.0 / static_cast<double>(bodies);
  const double radius = 1 / std::sqrt(std::pow(0.999 * random() + 1e-6, -2.0 / 3) - 1);
  body.at = on_sphere(radius);
  double share = 0, height = 0;  // of the speed that escapes: by rejection
  do {
    share = random();
    height = 0.1 * random();
  } while (height > share * share * std::pow(1 - share * share, 3.5));
  body.speed = on_sphere(share * std::sqrt(2.0) * std::pow(1 + radius * radius, -0.25));
  body.cost = 1;
  return body;
}

// The smallest cube around all places, a little larger.
template <typename At>
void cube_around(long count, At at, Point& low, double& side) {
  Point high = low = at(0);
  for (long i = 1; i < count; ++i)
    for (int axis = 0; axis < 3; ++axis) {
      low.x[axis] = std::min(low.x[axis], at(i).x[axis]);
      high.x[axis] = std::max(high.x[axis], at(i).x[axis]);
    }
  side = 0;
  for (int axis = 0; axis < 3; ++axis) side = std::max(side, high.x[axis] - low.x[axis]);
  side = side * 1.001 + 1e-9;
}

// In which eighth of a cube a place is; the cube's corner and side become that eighth's.
int eighth(const Point& at, Point& low, double& side) {
  int which = 0;
  side /= 2;
  for (int axis = 0; axis < 3; ++axis)
    if (at.x[axis] >= low.x[axis] + side) {
      which |= 1 << axis;
      low.x[axis] += side;
    }
  return which;
}

class Barnes : public Program {
 public:
  void prepare(const Options& options, unsigned workers) override {
    options_ = options;
    count_ = options.number("bodies");
    most_cells_ = 4 * count_ + 200;
    bodies_ = shared_array<Body>(static_cast<size_t>(count_), "barnes.bodies");
    cells_ = shared_array<Cell>(static_cast<size_t>(most_cells_), "barnes.cells");
    order_ = shared_array<int32_t>(static_cast<size_t>(count_), "barnes.order");
    firsts_ = shared_array<int32_t>(workers + 1, "barnes.firsts");
    roots_ = shared_array<Roots>(1, "barnes.root");
  }

  void work(unsigned worker, unsigned workers) override {
    const long iterations = options_.number("iterations");
    const Range first = share_of(count_, worker, workers);
    for (long i = first.begin; i < first.end; ++i)
      bodies_[i] = body_at_start(options_.seed, i, count_);
    weir_dsm_barrier(0);
    for (long iteration = 0; iteration < iterations; ++iteration) {
      if (iteration == options_.first_measured()) begin_measured(worker);
      if (worker == 0) {
        make_tree();
        deal(workers);
      }
      barrier(options_.tapes, 1, WEIR_DSM_DYNAMIC);
      const std::vector<int32_t> mine(order_ + firsts_[worker], order_ + firsts_[worker + 1]);
      for (int32_t i : mine) find_push(bodies_[i], i);
      barrier(options_.tapes, 2, WEIR_DSM_DYNAMIC);
      for (int32_t i : mine) move(bodies_[i]);
      barrier(options_.tapes, 3, WEIR_DSM_DYNAMIC);
    }
    end_measured(worker);
  }

  uint64_t checksum() override {
    Checksum sum;
    for (long i = 0; i < count_; ++i) {
      for (double x : bodies_[i].at.x) sum.add(x);
      for (double x : bodies_[i].speed.x) sum.add(x);
    }
    return sum.value();
  }

  double check(std::string& wrong) override {
    std::vector<Body> bodies;
    for (long i = 0; i < count_; ++i) bodies.push_back(body_at_start(options_.seed, i, count_));
    const double took = sequential(bodies);
    for (long i = 0; i < count_; ++i)
      for (int axis = 0; axis < 3; ++axis) {
        if (bodies_[i].at.x[axis] != bodies[i].at.x[axis])
          report_difference(wrong, "place of body", i, bodies_[i].at.x[axis], bodies[i].at.x[axis]);
        if (bodies_[i].speed.x[axis] != bodies[i].speed.x[axis])
          report_difference(wrong, "speed of body", i, bodies_[i].speed.x[axis],
                            bodies[i].speed.x[axis]);
      }
    return took;
  }

 private:
  // --- The shared tree. Cell 0 does not exist, cell 1 is the root.

  int32_t new_cell(int32_t& cells, double side) {
    if (cells + 1 >= most_cells_)
      give_up("barnes: bodies lie so near each other that there are not enough cells");
    Cell cell{};
    cell.side = side;
    cells_[++cells] = cell;
    return cells;
  }

  void make_tree() {
    Roots roots{};
    cube_around(
        count_, [&](long i) -> const Point& { return bodies_[i].at; }, roots.low, roots.side);
    new_cell(roots.cells, roots.side);
    for (int32_t i = 0; i < count_; ++i) insert(i, roots);
    sum(1);
    *roots_ = roots;
  }

  void insert(int32_t body, Roots& roots) {
    Point low = roots.low;
    double side = roots.side;
    int32_t cell = 1;
    for (int depth = 0; depth < kMaxDepth; ++depth) {
      int32_t* child = &cells_[cell].child[eighth(bodies_[body].at, low, side)];
      if (*child == 0) {
        *child = -body - 1;
        return;
      }
      if (*child < 0) {  // two bodies in one eighth: it becomes a cell, in which the other one is
        const int32_t other = -*child - 1;
        *child = new_cell(roots.cells, side);
        Point others_low = low;
        double others_side = side;
        cells_[*child].child[eighth(bodies_[other].at, others_low, others_side)] = -other - 1;
      }
      cell = *child;
    }
    give_up("barnes: two bodies are in one place");
  }

  void sum(int32_t which) {
    Cell& cell = cells_[which];
    for (int32_t child : cell.child) {
      if (child > 0) sum(child);
      if (child)
        add(cell, child > 0 ? cells_[child].at : bodies_[-child - 1].at,
            child > 0 ? cells_[child].mass : bodies_[-child - 1].mass);
    }
    for (double& x : cell.at.x) x /= cell.mass;
  }
  static void add(Cell& cell, const Point& at, double mass) {
    cell.mass += mass;
    for (int axis = 0; axis < 3; ++axis) cell.at.x[axis] += mass * at.x[axis];
  }

  // --- Who does what

  void deal(unsigned workers) {
    std::vector<int32_t> listed;
    list(1, listed);
    int64_t all = 0, before = 0;
    for (int32_t i : listed) all += bodies_[i].cost;
    unsigned worker = 0;
    for (long at = 0; at < count_; ++at) {
      while (worker < workers && before * workers >= all * worker)
        firsts_[worker++] = static_cast<int32_t>(at);
      before += bodies_[listed[at]].cost;
    }
    while (worker <= workers) firsts_[worker++] = static_cast<int32_t>(count_);
    std::copy(listed.begin(), listed.end(), order_);
  }
  void list(int32_t which, std::vector<int32_t>& listed) const {
    for (int32_t child : cells_[which].child)
      if (child > 0) list(child, listed);
      else if (child < 0) listed.push_back(-child - 1);
  }

  // --- Forces

  void find_push(Body& body, int32_t number) const {
    Point push{};
    int64_t cost = 0;
    walk(1, body.at, number, push, cost);
    body.push = push;
    body.cost = cost;
  }
  void walk(int32_t which, const Point& at, int32_t number, Point& push, int64_t& cost) const {
    for (int32_t child : cells_[which].child) {
      if (child == 0 || child == -number - 1) continue;
      Point way;
      const Point& other = child > 0 ? cells_[child].at : bodies_[-child - 1].at;
      const double square = apart(at, other, way);
      if (child > 0 && !is_far(cells_[child].side, square)) {
        walk(child, at, number, push, cost);
        continue;
      }
      pull(push, way, square, child > 0 ? cells_[child].mass : bodies_[-child - 1].mass);
      ++cost;
    }
  }

  // --- The sequential version

  struct Node {
    Point at{};
    double mass = 0, side = 0;
    bool is_new = true;
    const Body* body = nullptr;  // of a leaf
    std::array<std::unique_ptr<Node>, 8> parts;

    void insert(const Body* one, Point low, double its_side) {
      if (is_new) {
        body = one;
      } else {
        if (body) pass_on(body, low, its_side);
        body = nullptr;
        pass_on(one, low, its_side);
      }
      is_new = false;
      side = its_side;
    }
    void pass_on(const Body* one, Point low, double its_side) {
      auto& part = parts[eighth(one->at, low, its_side)];
      if (!part) part = std::make_unique<Node>();
      part->insert(one, low, its_side);
    }
    void sum() {
      if (body) {
        at = body->at;
        mass = body->mass;
        return;
      }
      for (auto& part : parts)
        if (part) {
          part->sum();
          mass += part->mass;
          for (int axis = 0; axis < 3; ++axis) at.x[axis] += part->mass * part->at.x[axis];
        }
      for (double& x : at.x) x /= mass;
    }
    void push(const Body* one, Point& total) const {
      if (body == one) return;
      Point way;
      const double square = apart(one->at, at, way);
      if (body || is_far(side, square)) {
        pull(total, way, square, mass);
        return;
      }
      push_by_parts(one, total);
    }
    void push_by_parts(const Body* one, Point& total) const {
      for (const auto& part : parts)
        if (part) part->push(one, total);
    }
  };

  double sequential(std::vector<Body>& bodies) const {
    double from = 0;
    for (long iteration = 0; iteration < options_.number("iterations"); ++iteration) {
      if (iteration == options_.first_measured()) from = seconds();
      Point low;
      double side;
      cube_around(
          count_, [&](long i) -> const Point& { return bodies[i].at; }, low, side);
      Node root;
      root.is_new = false;  // nor a leaf, though there be only one body
      for (const Body& body : bodies) root.insert(&body, low, side);
      root.sum();
      for (Body& body : bodies) {
        body.push = {};
        root.push_by_parts(&body, body.push);
      }
      for (Body& body : bodies) move(body);
    }
    return seconds() - from;
  }

  Options options_;
  long count_ = 0, most_cells_ = 0;
  Body* bodies_ = nullptr;
  Cell* cells_ = nullptr;
  int32_t* order_ = nullptr;
  int32_t* firsts_ = nullptr;  // of each worker's part of the order; one more is the end
  Roots* roots_ = nullptr;
};

const Description kDescription = {
    "barnes",
    "gravity of many bodies, by an octree",
    {{"bodies", "in the sphere", 4096, 8192, 300}, {"iterations", "steps of time", 5, 5, 3}},
    Tapes{.replay = true}};

}  // namespace

int main(int argc, char** argv) {
  static Barnes program;
  return app::run(argc, argv, kDescription, program);
}
