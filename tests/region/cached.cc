// Loops through region_ptr at -O3 -flto, in which the level is changed inside of traps, and by
// functions that the compiler sees through: every access must trap that would trap if nothing were
// optimized, so the handlers' calls are counted exactly. (Brecht and Sandhu, section 3.4: the
// compiler may not keep a region's pointer in a register across an access that may trap.)
// usage: cached      built by: g++ -std=c++17 -O3 -flto -Iinclude tests/region/cached.cc
// -lweir-region Prints a line for each count that is wrong, and "cached: N counts" at the end; the
// exit status is 1 if one was wrong.

#include <stdio.h>
#include <sys/mman.h>

#include <algorithm>

#include "weir/region.hpp"

// What a caller of such a function may not look into. clang knows no noipa, but sees no further
// than noinline allows.
#ifdef __clang__
#define OPAQUE __attribute__((noinline))
#else
#define OPAQUE __attribute__((noinline, noipa))
#endif

namespace {

using weir::region_ptr;

constexpr int kRounds = 1000, kCells = 64, kOpen = PROT_READ | PROT_WRITE;

int g_counts, g_wrong;

void expect(const char* what, long got, long wanted) {
  g_counts++;
  if (got == wanted) return;
  g_wrong++;
  printf("WRONG: %s: %ld, should be %ld\n", what, got, wanted);
}

// Not volatile: after the next access through any region_ptr, or a call of the library, the
// compiler must have read it again.
int g_traps;

void open_it(weir_region_trap* trap) {
  g_traps++;
  weir_region_protect(trap->start, trap->access & PROT_WRITE ? kOpen : PROT_READ);
}

int traps() {  // since the last call
  __asm__ volatile("" : : : "memory");
  const int count = g_traps;
  g_traps = 0;
  return count;
}

OPAQUE void close_opaque(const region_ptr<int>& pointer) {
  weir_region_protect(pointer.get(), PROT_NONE);
}
__attribute__((always_inline)) inline void close_inline(const region_ptr<int>& pointer) {
  weir_region_protect(pointer.get(), PROT_NONE);
}

// --- One region, closed in each round.

void rounds(region_ptr<int>& p) {
  long sum = 0;
  for (int i = 0; i < kRounds; i++) {
    close_opaque(p);
    sum += p[i % kCells];
  }
  expect("reads after an opaque call", traps(), kRounds);
  for (int i = 0; i < kRounds; i++) {
    close_inline(p);
    sum += *p;
  }
  expect("reads of one cell after an inlined call", traps(), kRounds);
  for (int i = 0; i < kRounds; i++) {
    close_inline(p);
    *p = i;
  }
  expect("writes of one cell after an inlined call", traps(), kRounds);
  for (int i = 0; i < kRounds; i++) {
    close_inline(p);
    (*p)++;  // one instruction or two: a read that opens for reading, a write that opens for
             // writing
  }
  const int both = traps();
  expect("increments, not two traps or one for all", both == kRounds || both == 2 * kRounds, 1);
  for (int i = 0; i < kRounds; i++) {
    close_inline(p);
    sum += p[1];
    p[2] = static_cast<int>(sum);
    sum -= p[3];
    p[4] = static_cast<int>(sum);
  }
  expect("a read, a write, a read, a write", traps(), 2 * kRounds);
  expect("the last increment", *p, 2 * kRounds - 1);
}

// --- Loops that a compiler would turn into vectors, or hoist the pointer out of.

void loops(region_ptr<int>& p) {
  close_inline(p);
  for (int i = 0; i < kCells; i++) p[i] = i;
  expect("fill", traps(), 1);
  long sum = 0;
  for (int i = 0; i < kCells; i++) {
    if (i % 8 == 0) close_inline(p);
    sum += p[i];
  }
  expect("sum, closed every eighth time", traps(), kCells / 8);
  expect("sum", sum, kCells * (kCells - 1) / 2);
  int at = 0;
  for (region_ptr<int> q = p, end = p + kCells; q != end; ++q) {
    if (at++ % 16 == 0) weir_region_protect(q.get(), PROT_READ);
    *q *= 2;
  }
  expect("doubled by a moving pointer", traps(), kCells / 16);
  close_opaque(p);
  std::for_each(p, p + kCells, [&p](int& cell) {
    weir_region_protect(p.get(), PROT_READ);
    const int value = cell;  // `cell` is a copy of the pointer as of when it was made: it goes on
                             // in the window that it was in
    p[0] = value;
  });
  expect("writes within for_each", traps() >= kCells, 1);
  expect("last cell", p[0], 2 * (kCells - 1));
}

// --- A trap in one region changes another's level: the other's pointer may not have been loaded
//     before the access that traps.

region_ptr<int> g_first, g_second;

void close_other(weir_region_trap* trap) {
  g_traps++;
  weir_region_protect(trap->start, kOpen);
  weir_region_protect((trap->context ? g_first : g_second).get(), PROT_NONE);
}

OPAQUE long add_both() { return g_first[1] + g_second[1]; }
OPAQUE void set_both(int value) {
  g_first[1] = value;
  g_second[1] = value;
}

void alternate() {
  g_first = weir::make_region_array<int>(kCells);
  g_second = weir::make_region_array<int>(kCells);
  weir_region_handler(g_first.get(), close_other, nullptr);
  weir_region_handler(g_second.get(), close_other, &g_traps);
  weir_region_protect(g_first.get(), PROT_NONE);
  for (int i = 0; i < kRounds; i++) set_both(i);
  expect("writes to two regions, each of which closes the other", traps(), 2 * kRounds);
  long sum = 0;
  for (int i = 0; i < kRounds; i++) {
    g_first[2] = i;
    g_second[2] = i;
    sum += g_first[2];
    sum += g_second[2];
  }
  expect("reads and writes of two regions", traps(), 4 * kRounds);
  expect("their sum", sum, 2L * kRounds * (kRounds - 1) / 2);
  weir_region_protect(g_first.get(), PROT_NONE);
  weir_region_protect(g_second.get(), kOpen);
  for (int i = 0; i < kRounds; i++) {
    sum += add_both();  // in either order, each traps once: what is added first is open or closed
                        // by turns
  }
  const int added = traps();
  expect("sums in one expression", added >= kRounds && added <= 2 * kRounds, 1);
  expect("all sums", sum,
         3L * kRounds * (kRounds - 1));  // of what nobody uses the compiler may leave out
}

// --- What a handler has written is seen, in the region and elsewhere.

int g_given;

void give_number(weir_region_trap* trap) {
  g_traps++;
  static_cast<int*>(trap->start)[0] = ++g_given;
  weir_region_protect(trap->start, PROT_READ);
}

void numbers() {
  auto p = weir::make_region<int>(0);
  weir_region_handler(p.get(), give_number, nullptr);
  long wrong = 0;
  for (int i = 1; i <= kRounds; i++) {
    close_inline(p);
    const int first = *p, again = *p;
    if (first != i || again != i) wrong++;
  }
  expect("numbers that a handler gives", wrong, 0);
  expect("... with a trap for each", traps(), kRounds);
  weir::destroy_region(p);
}

// --- A chain of regions by pointers that lie in them.

struct node {
  region_ptr<node> next;
  long value = 0;
};

void chain() {
  constexpr int kNodes = 100;
  region_ptr<node> first;
  for (int i = 0; i < kNodes; i++) {
    auto made = weir::make_region<node>();
    weir_region_handler(made.get(), open_it, nullptr);
    made->value = i;
    made->next = first;
    first = made;
  }
  for (int round = 0; round < 3; round++) {
    for (region_ptr<node> each = first; each; each = region_ptr<node>(each.open()->next))
      weir_region_protect(each.get(), PROT_NONE);
    long sum = 0;
    for (region_ptr<node> each = first; each; each = each->next) sum += each->value;
    expect("nodes read", traps(), kNodes);
    expect("their sum", sum, kNodes * (kNodes - 1) / 2);
    for (region_ptr<node> each = first; each; each = each->next) each->value++, each->value--;
    expect("nodes written", traps(), kNodes);
  }
  while (first) {
    region_ptr<node> next = first->next;
    weir::destroy_region(first);
    first = next;
  }
  traps();
}

}  // namespace

int main() {
  auto p = weir::make_region_array<int>(kCells);
  weir_region_handler(p.get(), open_it, nullptr);
  rounds(p);
  loops(p);
  alternate();
  numbers();
  chain();
  printf("cached: %d counts\n", g_counts);
  return g_wrong ? 1 : 0;
}
