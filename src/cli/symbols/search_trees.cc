// elfutils' static libraries from 0.192 on call functions that Debian's package leaves out of them
// (its lib/ folder: search trees behind a lock). Here they are, by libc's tree, for the one thing
// that links them. Where libraries have them, these are not used.

#include <search.h>

#include <mutex>

namespace {

using Compare = int (*)(const void*, const void*);

// As elfutils has it: behind the root lies a lock of its own, which only its own functions use.
struct SearchTree {
  void* root;
};

std::recursive_mutex g_mutex;  // what a tree holds may have trees of its own, which end with it

}  // namespace

#define WEIR_OF_ELFUTILS extern "C" [[gnu::weak]]

WEIR_OF_ELFUTILS void* eu_tsearch(const void* key, SearchTree* tree, Compare compare) {
  const std::scoped_lock lock(g_mutex);
  return tsearch(key, &tree->root, compare);
}

WEIR_OF_ELFUTILS void* eu_tfind(const void* key, SearchTree* tree, Compare compare) {
  const std::scoped_lock lock(g_mutex);
  return tfind(key, &tree->root, compare);
}

WEIR_OF_ELFUTILS void* eu_tdelete(const void* key, SearchTree* tree, Compare compare) {
  const std::scoped_lock lock(g_mutex);
  return tdelete(key, &tree->root, compare);
}

WEIR_OF_ELFUTILS void eu_tdestroy(SearchTree* tree, void (*release)(void*)) {
  const std::scoped_lock lock(g_mutex);
  tdestroy(tree->root, release);
  tree->root = nullptr;
}

WEIR_OF_ELFUTILS void eu_search_tree_init(SearchTree* tree) { tree->root = nullptr; }

WEIR_OF_ELFUTILS void eu_search_tree_fini(SearchTree* tree, void (*release)(void*)) {
  eu_tdestroy(tree, release);
}
