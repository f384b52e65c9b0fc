// Particles in cells: linked lists in shared memory, one for each row of cells, under the row's
// lock. Particles move from row to row, are made and die, so what one node allocates another frees.
// Charge is counted in a grid by the particles' owners under the rows' locks.
#include <cstdio>
#include <map>
#include <vector>
#include <weir/dsm.hpp>

namespace {
constexpr int kRows = 24, kColumns = 40, kSteps = 12;
struct particle {
  particle* next;
  unsigned id;
  int x, y, dx, dy, age;
};
struct row {
  particle* first;
  int charge[kColumns];
};

unsigned mix(unsigned x) {
  x ^= x >> 16, x *= 0x7feb352du, x ^= x >> 15, x *= 0x846ca68bu;
  return x ^ x >> 16;
}
void born(particle& p, unsigned id) {
  p = {nullptr,
       id,
       int(mix(id) % kColumns),
       int(mix(id + 7) % kRows),
       int(mix(id + 9) % 5) - 2,
       int(mix(id + 3) % 7) - 3,
       int(mix(id + 5) % 9)};
}
// False: it dies, and another is born in its place.
bool move(particle& p) {
  p.x = (p.x + p.dx + kColumns) % kColumns, p.y = (p.y + p.dy + kRows) % kRows;
  if (p.x % 3 == 0) p.dx = -p.dx;
  return ++p.age % 11 != 0;
}
}  // namespace

int main(int argc, char** argv) {
  weir::dsm::session session(argc, argv);
  weir::dsm::shared_vector<row*> rows(kRows);
  constexpr int kParticles = 600;
  weir::dsm::run([&](unsigned worker, unsigned workers) {
    const auto mine = weir::dsm::part(kRows, worker, workers);
    for (auto y = mine.first; y < mine.second; y++) rows[y] = weir::dsm::create<row>();
    weir_dsm_barrier(1);
    const auto put = [&](particle* p) {
      const weir::dsm::locked<weir::dsm::auto_mutex> guard(weir::dsm::auto_mutex{unsigned(p->y)});
      p->next = rows[p->y]->first, rows[p->y]->first = p,
      rows[p->y]->charge[p->x] += int(p->id % 5) + 1;
    };
    for (unsigned id = worker; id < kParticles; id += workers) {
      auto* p = weir::dsm::create<particle>();
      born(*p, id), put(p);
    }
    weir_dsm_barrier(2);
    for (int step = 0; step < kSteps; step++) {
      std::vector<particle*> lists;
      for (auto y = mine.first; y < mine.second; y++) {
        const weir::dsm::locked<> guard(static_cast<unsigned>(y));
        lists.push_back(rows[y]->first), *rows[y] = row();
      }
      weir_dsm_barrier(3);
      for (particle* p : lists) {
        while (p) {
          particle* const next = p->next;
          if (!move(*p)) {
            const unsigned id = p->id + 1000;
            weir::dsm::destroy(p);
            p = weir::dsm::create<particle>();
            born(*p, id);
          }
          put(p), p = next;
        }
      }
      weir_dsm_barrier(4);
    }
  });
  // Alone.
  int charge[kRows][kColumns] = {};
  std::map<unsigned, std::pair<int, int>> where;
  for (unsigned id = 0; id < kParticles; id++) {
    particle p;
    born(p, id);
    for (int step = 0; step < kSteps; step++)
      if (!move(p)) born(p, p.id + 1000);
    charge[p.y][p.x] += int(p.id % 5) + 1, where[p.id] = {p.y, p.x};
  }
  std::int64_t wrong = 0;
  for (int y = 0; y < kRows; y++) {
    for (int x = 0; x < kColumns; x++) wrong += charge[y][x] != rows[y]->charge[x];
    for (const particle* p = rows[y]->first; p; p = p->next)
      wrong += where[p->id] != std::make_pair(y, p->x) || p->y != y, where.erase(p->id);
  }
  wrong += where.size();
  weir_dsm_reduce_int64(&wrong, 1, WEIR_DSM_SUM);
  if (session.node() == 0)
    std::printf("particles: %s (%ld)\n", wrong ? "WRONG" : "right", long(wrong));
  return wrong != 0;
}
