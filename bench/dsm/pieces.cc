// Node 0 makes all pieces, and tells the others their addresses or numbers, in messages of at most
// 64 KiB, which is what weir_dsm_share takes. Regions have no address of their own: each node
// attaches a pointer to each of them.
#include "pieces.h"

#include <algorithm>

namespace app {

namespace {

constexpr size_t kAtOnce = 4096;  // pieces told of in a message
constexpr size_t kAlignment = 8;  // of a piece among others in one allocation

struct Piece {
  void* address;
  weir_dsm_region region;
};
static_assert(kAtOnce * sizeof(Piece) <= 64 << 10);

std::vector<Piece> make(Unit unit, const char* name, const std::vector<size_t>& sizes) {
  weir_dsm_attributes attributes{};
  attributes.name = name;
  std::vector<Piece> pieces;
  if (unit == Unit::kPage) {
    size_t all = 0;
    for (size_t size : sizes) all += (size + kAlignment - 1) / kAlignment * kAlignment;
    auto* at = static_cast<char*>(weir_dsm_alloc_with(std::max<size_t>(all, 1), &attributes));
    for (size_t size : sizes) {
      pieces.push_back({at, 0});
      at += (size + kAlignment - 1) / kAlignment * kAlignment;
    }
    return pieces;
  }
  if (unit == Unit::kAnnotated) attributes.unit = WEIR_DSM_ANNOTATED;
  for (size_t size : sizes) {
    const size_t some = std::max<size_t>(size, 1);
    if (unit == Unit::kAnnotated) pieces.push_back({weir_dsm_alloc_with(some, &attributes), 0});
    else pieces.push_back({nullptr, weir_dsm_region_alloc(some, &attributes)});
  }
  return pieces;
}

}  // namespace

void allocate_pieces(Unit unit, const char* name, const std::vector<size_t>& sizes,
                     void** pointers) {
  std::vector<Piece> pieces;
  if (weir_dsm_node() == 0) pieces = make(unit, name, sizes);
  pieces.resize(sizes.size());
  for (size_t from = 0; from < pieces.size(); from += kAtOnce)
    weir_dsm_share(&pieces[from], std::min(kAtOnce, pieces.size() - from) * sizeof(Piece), 0);
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (unit == Unit::kRegion) weir_dsm_region_attach(pieces[i].region, &pointers[i]);
    else pointers[i] = pieces[i].address;
  }
}

}  // namespace app
