// Question: what does a central queue under one lock cost, by pages, by regions, and with locks
// that bring what they protect?
// Command:  mpirun -n N dsm_tsp [--cities N] [--alone N] [--unit page|region|annotated] [--tapes
//           user|auto] [--check]
// Figure:   seconds of the search (Tapeworm's table 4).
//
// The travelling salesman by branch and bound. Tours that have been begun lie in a pool; a heap has
// their places, the one of the least bound first. A worker takes the lock of the queue, takes the
// best tour, puts all of its continuations by one city into the queue, and so on, until it has one
// that leaves at most `alone` cities: that one it goes through by itself, without the lock. As only
// who has the lock puts tours into the queue, all is done when it is empty. A second lock guards
// the shortest tour.
//
// The length of the shortest tour cuts off the search. It could be read without the lock: that is a
// race, and under lazy release consistency a stale value, which is still a length that somebody has
// found, so only time would be lost. But as a worker learns of others' writes only where it
// synchronizes, it can as well be handed on with the queue: who takes the lock of the queue puts
// there what it has found, and takes from there what others have. So nothing here is a race, and
// nobody knows less.
//
// The queue, the pool of tours and the shortest tour are a piece each, where TreadMarks' program
// has one block; distances are a piece that is only read.
#include <algorithm>
#include <climits>
#include <queue>
#include <vector>

#include "app.h"
#include "pieces.h"

namespace {

using namespace app;

constexpr int kMaxCities = 32;
// Tours; while it is full, workers take larger tours for themselves.
constexpr int32_t kPool = 5000;

struct Tour {
  int32_t length, bound;  // of the way so far; of all tours that begin so, at least
  int32_t count;
  int32_t city[kMaxCities];
};

struct Place {  // in the heap
  int32_t bound, tour;
};
bool is_worse(const Place& a, const Place& b) {
  return a.bound != b.bound ? a.bound > b.bound : a.tour > b.tour;
}

struct Queue {
  int32_t shortest;    // length that somebody has found
  int32_t count;       // in the heap
  int32_t free_count;  // places of the pool without a tour
  Place heap[kPool];
  int32_t free[kPool];
};

struct Shortest {
  int32_t length;
  int32_t city[kMaxCities];
};

enum : uint32_t { kQueueLock = 0, kShortestLock = 1 };

// Distances, what follows from them, and the search below one tour. Private.
class Map {
 public:
  Map() = default;
  Map(const int32_t* distances, int cities)
      : cities_(cities),
        distance_(distances, distances + cities * cities),
        near_(cities),
        two_(cities),
        one_(cities) {
    for (int from = 0; from < cities; ++from) {
      for (int to = 0; to < cities; ++to)
        if (to != from) near_[from].push_back(to);
      std::sort(near_[from].begin(), near_[from].end(), [&](int a, int b) {
        return std::pair(distance(from, a), a) < std::pair(distance(from, b), b);
      });
      one_[from] = distance(from, near_[from][0]);
      two_[from] = one_[from] + (cities > 2 ? distance(from, near_[from][1]) : one_[from]);
    }
  }

  int32_t distance(int from, int to) const { return distance_[from * cities_ + to]; }
  int cities() const { return cities_; }
  const std::vector<int>& near(int city) const { return near_[city]; }

  // A way that has been begun has one more edge at each of its ends and two at each city that is
  // left: at least half of what these cost at least.
  int32_t bound(int32_t length, int first, int last, int32_t left_two) const {
    return length + (left_two + one_[first] + one_[last] + 1) / 2;
  }
  void set_bound(Tour& tour) const {
    uint32_t visited = 0;
    for (int32_t i = 0; i < tour.count; ++i) visited |= 1u << tour.city[i];
    int32_t left_two = 0;
    for (int city = 0; city < cities_; ++city)
      if (!(visited >> city & 1)) left_two += two_[city];
    tour.bound = tour.count < cities_
                     ? bound(tour.length, tour.city[0], tour.city[tour.count - 1], left_two)
                     : tour.length + distance(tour.city[tour.count - 1], tour.city[0]);
  }
  Tour start() const {
    Tour tour{};
    tour.count = 1;
    set_bound(tour);
    return tour;
  }
  // Calls with each continuation by one city.
  template <typename F>
  void split(const Tour& tour, F each) const {
    for (int city : near_[tour.city[tour.count - 1]]) {
      if (std::find(tour.city, tour.city + tour.count, city) != tour.city + tour.count) continue;
      Tour next = tour;
      next.length += distance(tour.city[tour.count - 1], city);
      next.city[next.count++] = city;
      set_bound(next);
      each(next);
    }
  }
  // All tours that begin so, the nearest city first. Calls with each that is shorter than `limit`,
  // which it lowers.
  template <typename F>
  void search(Tour tour, int32_t& limit, F found) const {
    uint32_t left = (1u << cities_) - 1;
    int32_t left_two = 0;
    for (int32_t i = 0; i < tour.count; ++i) left &= ~(1u << tour.city[i]);
    for (int city = 0; city < cities_; ++city)
      if (left >> city & 1) left_two += two_[city];
    go_on(tour, left, left_two, limit, found);
  }

 private:
  template <typename F>
  void go_on(Tour& tour, uint32_t left, int32_t left_two, int32_t& limit, F& found) const {
    const int last = tour.city[tour.count - 1];
    if (!left) {
      const int32_t whole = tour.length + distance(last, tour.city[0]);
      if (whole >= limit) return;
      limit = whole;
      found(tour, whole);
      return;
    }
    for (int city : near_[last]) {
      if (!(left >> city & 1)) continue;
      const int32_t length = tour.length + distance(last, city);
      if (bound(length, tour.city[0], city, left_two - two_[city]) >= limit) continue;
      Tour& next = tour;
      const int32_t before = tour.length;
      next.city[next.count++] = city;
      next.length = length;
      go_on(next, left & ~(1u << city), left_two - two_[city], limit, found);
      tour.length = before;
      --tour.count;
    }
  }

  int cities_ = 0;
  std::vector<int32_t> distance_;
  std::vector<std::vector<int>> near_;
  // Of each city, its two shortest edges together, and its shortest.
  std::vector<int32_t> two_, one_;
};

// Rounded up, so that no way is shorter than the straight one. How much work an instance makes
// varies a thousandfold: the seed is shifted so that the default one makes some seconds of it.
std::vector<int32_t> make_distances(uint64_t seed, int cities) {
  seed += 9;
  std::vector<int32_t> distances(cities * cities);
  const auto along = [&](int city, int axis) {
    return static_cast<long>(random_bits(seed, static_cast<uint64_t>(city * 2 + axis)) % 1000);
  };
  for (int a = 0; a < cities; ++a)
    for (int b = 0; b < cities; ++b) {
      const long square = (along(a, 0) - along(b, 0)) * (along(a, 0) - along(b, 0)) +
                          (along(a, 1) - along(b, 1)) * (along(a, 1) - along(b, 1));
      while (static_cast<long>(distances[a * cities + b]) * distances[a * cities + b] < square)
        ++distances[a * cities + b];
    }
  return distances;
}

// The length of the shortest tour, by Held and Karp: the shortest way from city 0 through a set of
// cities to one of them, for all sets. For few cities.
int32_t by_sets(const std::vector<int32_t>& distances, int cities) {
  const int others = cities - 1;
  const auto distance = [&](int a, int b) { return distances[a * cities + b]; };
  std::vector<int32_t> way((size_t{1} << others) * others, INT_MAX / 2);
  for (int to = 0; to < others; ++to) way[(size_t{1} << to) * others + to] = distance(0, to + 1);
  for (size_t set = 1; set < size_t{1} << others; ++set)
    for (int last = 0; last < others; ++last)
      for (int to = 0; set >> last & 1 && to < others; ++to)
        if (!(set >> to & 1)) {
          int32_t& longer = way[(set | size_t{1} << to) * others + to];
          longer = std::min(longer, way[set * others + last] + distance(last + 1, to + 1));
        }
  int32_t best = INT_MAX;
  for (int last = 0; last < others; ++last)
    best = std::min(best, way[((size_t{1} << others) - 1) * others + last] + distance(last + 1, 0));
  return best;
}

class Tsp : public Program {
 public:
  void prepare(const Options& options, unsigned) override {
    options_ = options;
    cities_ = static_cast<int>(
        std::clamp(options.number("cities"), 3L, static_cast<long>(kMaxCities) - 1));
    queue_.allocate(options.unit, "tsp.queue", {1});
    tours_.allocate(options.unit, "tsp.tours", {static_cast<size_t>(kPool)});
    shortest_.allocate(options.unit, "tsp.shortest", {1});
    distances_.allocate(options.unit, "tsp.distances", {static_cast<size_t>(cities_ * cities_)});
    if (weir_dsm_node() != 0) return;
    const std::vector<int32_t> distances = make_distances(options.seed, cities_);
    std::copy(distances.begin(), distances.end(), distances_.write(0));
    shortest_.write(0)->length = INT_MAX;
    Queue* queue = queue_.write(0);
    queue->shortest = INT_MAX;
    for (int32_t i = 0; i < kPool; ++i) queue->free[i] = kPool - 1 - i;
    queue->free_count = kPool;
    put(queue, tours_.write(0), Map(distances.data(), cities_).start());
  }

  void work(unsigned worker, unsigned) override {
    begin_measured(worker);
    const Map map(distances_.read(0), cities_);
    int32_t known = INT_MAX;  // length of a tour that somebody has found
    for (Tour tour; take(map, tour, known);)
      map.search(tour, known,
                 [&](const Tour& found, int32_t length) { keep(found, length, known); });
    end_measured(worker);
  }

  uint64_t checksum() override {
    Checksum sum;
    sum.add(shortest_.read(0)->length);  // of several shortest tours, any
    return sum.value();
  }

  double check(std::string& wrong) override {
    const std::vector<int32_t> distances = make_distances(options_.seed, cities_);
    const double from = seconds();
    const int32_t expected = sequential(Map(distances.data(), cities_));
    const double took = seconds() - from;
    const Shortest found = *shortest_.read(0);
    if (found.length != expected)
      report_difference(wrong, "length of the shortest tour, cities:", cities_, found.length,
                        expected);
    if (cities_ <= 18 && by_sets(distances, cities_) != expected)
      wrong += "  the sequential version is wrong\n";
    std::vector<int32_t> cities(found.city, found.city + cities_);
    int32_t length = 0;
    for (int i = 0; i < cities_; ++i)
      if (cities[i] >= 0 && cities[i] < cities_)
        length += distances[cities[i] * cities_ + cities[(i + 1) % cities_] % cities_];
    std::sort(cities.begin(), cities.end());
    for (int i = 0; i < cities_; ++i)
      if (cities[i] != i) report_difference(wrong, "city of the sorted tour", i, cities[i], i);
    if (length != found.length)
      report_difference(wrong, "length of the tour itself, cities:", cities_, length, found.length);
    return took;
  }

 private:
  int alone() const { return static_cast<int>(options_.number("alone")); }

  // REQUIRES: the lock of the queue.
  static void put(Queue* queue, Tour* tours, const Tour& tour) {
    const int32_t place = queue->free[--queue->free_count];
    tours[place] = tour;
    queue->heap[queue->count++] = {tour.bound, place};
    std::push_heap(queue->heap, queue->heap + queue->count, is_worse);
  }

  // The next tour that is to be searched alone. False: there is none. `known` is exchanged with
  // what the others know.
  bool take(const Map& map, Tour& tour, int32_t& known) {
    lock(options_.tapes, kQueueLock, queue_.address(0), sizeof(Queue));
    Queue* queue = queue_.write(0);
    known = queue->shortest = std::min(queue->shortest, known);
    bool some = false;
    while (!some && queue->count > 0) {
      Tour* tours = tours_.write(0);
      std::pop_heap(queue->heap, queue->heap + queue->count, is_worse);
      const int32_t place = queue->heap[--queue->count].tour;
      tour = tours[place];
      queue->free[queue->free_count++] = place;
      if (tour.bound >= known) {
        queue->count = 0;  // nor is any other better; nobody will need the pool again
      } else if (cities_ - tour.count <= alone() || queue->free_count < cities_) {
        some = true;
      } else {
        map.split(tour, [&](const Tour& next) {
          if (next.bound < known) put(queue, tours, next);
        });
      }
    }
    weir_dsm_unlock(kQueueLock);
    return some;
  }

  void keep(const Tour& found, int32_t length, int32_t& known) {
    lock(options_.tapes, kShortestLock, shortest_.address(0), sizeof(Shortest));
    Shortest* shortest = shortest_.write(0);
    if (length < shortest->length) {
      shortest->length = length;
      std::copy_n(found.city, cities_, shortest->city);
    }
    known = shortest->length;
    weir_dsm_unlock(kShortestLock);
  }

  int32_t sequential(const Map& map) const {
    const auto worse = [](const Tour& a, const Tour& b) { return a.bound > b.bound; };
    std::priority_queue<Tour, std::vector<Tour>, decltype(worse)> tours(worse);
    int32_t shortest = INT_MAX;
    for (tours.push(map.start()); !tours.empty() && tours.top().bound < shortest;) {
      const Tour tour = tours.top();
      tours.pop();
      if (cities_ - tour.count <= alone()) map.search(tour, shortest, [](const Tour&, int32_t) {});
      else
        map.split(tour, [&](const Tour& next) {
          if (next.bound < shortest) tours.push(next);
        });
    }
    return shortest;
  }

  Options options_;
  int cities_ = 0;
  Pieces<Queue> queue_;
  Pieces<Tour> tours_;
  Pieces<Shortest> shortest_;
  Pieces<int32_t> distances_;
};

const Description kDescription = {
    "tsp",
    "the travelling salesman by branch and bound",
    {{"cities", "at most 31", 17, 18, 9},
     {"alone", "cities that a worker goes through by itself", 14, 15, 5}},
    Tapes{.automatic = true},
    true};

}  // namespace

int main(int argc, char** argv) {
  static Tsp program;
  return app::run(argc, argv, kDescription, program);
}
