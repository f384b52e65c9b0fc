// Question: what does a region trap cost, and a change of a region's level, beside the protection
// of pages by mprotect, libsigsegv and userfaultfd?
//           It is section 4 of Brecht and Sandhu, The Region Trap Library (USENIX 1999), by its
//           sequences trap, Prot1 and ProtN.
// Command:  region_bench [--quick] [--rounds N] [--json FILE]
// Figure:   processor time in ns, median and quartiles of rounds; and the ratio to pages by
//           mprotect, median and quartiles of pairs: a round runs a batch of each side, each in a
//           process of its own (worker.h), all on one processor. What repeats is in the caches, as
//           in the paper.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <string>
#include <vector>

#include "sides.h"

namespace {

using namespace bench;

constexpr size_t kNone = ~size_t{0};

struct Row {
  std::string key, what;
  Setup setup;
  const char* base;        // key of what it is compared with; null: with nothing
  const char* paper = "";  // what the paper says of the ratio
  // The most that it is to be: of the ratio, or of the ns where there is no base; 0: none.
  double target = 0;
  const char* title = nullptr;  // begins a group
};

RegionCase of_size(size_t size, bool paged = false, bool from_read = false) {
  return {.low = size, .high = size, .paged = paged, .from_read = from_read};
}

RegionCase of_count(size_t count, size_t used) {
  return {.count = count, .used = used, .low = 16, .high = 64};
}

std::vector<Row> rows() {
  constexpr Way kTrap = Way::kTrap, kProt1 = Way::kProt1, kProtN = Way::kProtN;
  constexpr size_t k64 = 64 << 10, k256 = 256 << 10;
  std::vector<Row> all = {
      {"trap", "bare SIGSEGV, null handler", bare_trap(), nullptr, "1", 0,
       "trap (the access, its handler, the way back)"},
      {"trap.region", "region, from none", regions(kTrap, of_size(kPage)), "trap",
       "1.2-1.5, Linux 1.9", 1.15},
      {"trap.region.read", "region, from read", regions(kTrap, of_size(kPage, false, true)), "trap",
       "1.2-1.5, Linux 1.9", 1.15},

      {"prot1", "mprotect and SIGSEGV", pages(Pages::kMprotect, kProt1, kMany, false), nullptr, "1",
       0, "Prot1, 100 pages or regions of 4 KB"},
      {"prot1.libsigsegv", "libsigsegv", pages(Pages::kLibsigsegv, kProt1, kMany, false), "prot1"},
      {"prot1.uffd", "userfaultfd, writes only", pages(Pages::kUserfaultfd, kProt1, kMany, false),
       "prot1"},
      {"prot1.region", "region", regions(kProt1, of_size(kPage)), "prot1", "0.5-0.8", 0.6},
      {"prot1.paged", "region on pages of its own", regions(kProt1, of_size(kPage, true)), "prot1"},

      {"protn", "mprotect and SIGSEGV", pages(Pages::kMprotect, kProtN, kMany, false), nullptr, "1",
       0, "ProtN, the same"},
      {"protn.libsigsegv", "libsigsegv", pages(Pages::kLibsigsegv, kProtN, kMany, false), "protn"},
      {"protn.uffd", "userfaultfd, writes only", pages(Pages::kUserfaultfd, kProtN, kMany, false),
       "protn"},
      {"protn.region", "region", regions(kProtN, of_size(kPage)), "protn", "0.6-0.9", 0.5},
      {"protn.paged", "region on pages of its own", regions(kProtN, of_size(kPage, true)), "protn"},

      {"size.64", "region of 64 bytes", regions(kProt1, of_size(64)), "prot1.region", "1", 1.1,
       "Prot1, size of a region: by one of 4 KB"},
      {"size.64k", "region of 64 KB", regions(kProt1, of_size(k64)), "prot1.region", "1", 1.1},
      {"size.256k", "region of 256 KB", regions(kProt1, of_size(k256)), "prot1.region", "1", 1.1},

      {"pages.16", "16 pages, mprotect", pages(Pages::kMprotect, kProt1, 16, true), nullptr, "1", 0,
       "Prot1, a region by a sequence for each page of it"},
      {"pages.16.region", "region of 64 KB", regions(kProt1, of_size(k64)), "pages.16"},
      {"pages.64", "64 pages, mprotect", pages(Pages::kMprotect, kProt1, 64, true), nullptr, "1"},
      {"pages.64.region", "region of 256 KB", regions(kProt1, of_size(k256)), "pages.64"},

      {"protect", "mprotect of a page", page_protect(), nullptr, "1", 0,
       "a change of protection alone"},
      {"protect.region", "region, by mprotect", region_protect(1, false), "protect",
       "much cheaper"},
      {"protect.1", "region, 1 pointer, 100 in turn", region_protect(1, false), nullptr, "", 20},
      {"protect.same", "region, 1 pointer, always the same", region_protect(1, false, 1), nullptr,
       "", 20},
      {"protect.4", "region, 4 pointers, 100 in turn", region_protect(4, false), nullptr},
      {"protect.many", "100 regions in one call, each", region_protect_many(), nullptr},
      {"protect.paged", "region on pages of its own", region_protect(1, true), "protect"},
  };
  all.push_back({"count.100", "100 regions", regions(kTrap, of_count(100, 100)), nullptr, "", 0,
                 "trap, how many regions of 16-64 bytes there are"});
  for (const size_t count : {1000, 10000, 100000}) {
    const std::string name = std::to_string(count);
    all.push_back({"same." + name, name + ", the same 100 of them",
                   regions(kTrap, of_count(count, 100)), "count.100", "", 1.2});
    all.push_back({"any." + name, name + ", any of them (cold caches)",
                   regions(kTrap, of_count(count, count)), "count.100"});
  }
  return all;
}

struct Result {
  std::string refusal;
  std::vector<double> figures;
};

size_t find(const std::vector<Row>& rows, const char* key) {
  for (size_t i = 0; key && i < rows.size(); i++) {
    if (rows[i].key == key) return i;
  }
  return kNone;
}

void print(const std::vector<Row>& rows, const std::vector<Result>& results, FILE* json) {
  if (json) fprintf(json, "{");
  for (size_t i = 0; i < rows.size(); i++) {
    const Row& row = rows[i];
    if (row.title)
      printf("\n%s\n  %-34s %22s  %-20s %-19s %s\n", row.title, "", "ns (quartiles)",
             "ratio (quartiles)", "paper", "target");
    if (!results[i].refusal.empty()) {
      printf("  %-34s not measured: %s\n", row.what.c_str(), results[i].refusal.c_str());
      continue;
    }
    const Spread ns = spread_of(results[i].figures);
    char figures[64];
    const int places = ns.median < 100 ? 1 : 0;
    snprintf(figures, sizeof figures, "%.*f (%.*f-%.*f)", places, ns.median, places, ns.low, places,
             ns.high);
    printf("  %-34s %22s", row.what.c_str(), figures);
    const size_t base = find(rows, row.base);
    Spread ratio;
    char text[64] = "";
    if (base != kNone) {
      ratio = spread_of(ratios_of(results[i].figures, results[base].figures));
      snprintf(text, sizeof text, "%.3g (%.3g-%.3g)", ratio.median, ratio.low, ratio.high);
    }
    printf("  %-20s %-19s", text, row.paper);
    if (row.target > 0) {
      const double reached = base == kNone ? ns.median : ratio.median;
      printf(" <= %.4g%s: %s", row.target, base == kNone ? " ns" : "",
             reached <= row.target ? "met" : "missed");
    }
    printf("\n");
    if (json) {
      fprintf(json, "%s\n  \"%s\": {\"ns\": [%.6g, %.6g, %.6g]", i ? "," : "", row.key.c_str(),
              ns.low, ns.median, ns.high);
      if (base != kNone)
        fprintf(json, ", \"by\": \"%s\", \"ratio\": [%.6g, %.6g, %.6g]", row.base, ratio.low,
                ratio.median, ratio.high);
      fprintf(json, "}");
    }
  }
  if (json) fprintf(json, "\n}\n");
}

}  // namespace

int main(int argc, char** argv) {
  int rounds = 51;
  FILE* json = nullptr;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--quick") == 0) {
      rounds = 5;
    } else if (strcmp(argv[i], "--rounds") == 0 && i + 1 < argc && atoi(argv[i + 1]) > 0) {
      rounds = atoi(argv[++i]);
    } else if (strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
      json = fopen(argv[++i], "w");
      if (!json) fail("that file cannot be written");
    } else {
      fprintf(stderr, "usage: region_bench [--quick] [--rounds N] [--json FILE]\n");
      return 2;
    }
  }
  use_one_processor();
  const std::vector<Row> all = rows();
  std::vector<Worker> workers;
  std::vector<Result> results(all.size());
  workers.reserve(all.size());
  for (size_t i = 0; i < all.size(); i++) {
    workers.emplace_back(all[i].setup);
    results[i].refusal = workers[i].refusal();
  }
  for (int round = -1; round < rounds; round++) {  // one more: memory is there, functions are bound
    for (size_t i = 0; i < all.size(); i++) {
      if (!results[i].refusal.empty()) continue;
      const double figure = workers[i].run();
      if (round >= 0) results[i].figures.push_back(figure);
    }
  }
  printf("%d rounds\n", rounds);
  print(all, results, json);
  if (json) fclose(json);
  return 0;
}
