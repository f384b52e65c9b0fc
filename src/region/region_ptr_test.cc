#include "weir/region.hpp"

#include <errno.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <thread>
#include <type_traits>
#include <unordered_set>
#include <vector>

namespace {

using weir::destroy_region;
using weir::make_region;
using weir::make_region_array;
using weir::region_ptr;

constexpr int kOpen = PROT_READ | PROT_WRITE;

// Raises the level to what the access needs, and counts.
struct Counting {
  int reads = 0, writes = 0;
  weir_region_trap last{};
  void operator()(weir_region_trap& trap) {
    (trap.access & PROT_WRITE ? writes : reads)++;
    last = trap;
    ASSERT_EQ(weir_region_protect(trap.start, trap.access & PROT_WRITE ? kOpen : PROT_READ), 0);
  }
};

// With a copy of it that the traps count as well.
template <typename T>
region_ptr<T> counted(region_ptr<T> pointer, Counting& counting) {
  EXPECT_EQ(weir::region_handler(pointer, counting), 0);
  return pointer;
}

TEST(RegionPtr, IsNullAtFirstAndNeedsNothing) {
  region_ptr<int> none, null = nullptr, copy = none, moved = std::move(copy);
  EXPECT_FALSE(none);
  EXPECT_TRUE(none == nullptr && nullptr == null && moved == none);
  EXPECT_EQ(none.get(), nullptr);
  EXPECT_EQ(none.open(), nullptr);
  none = nullptr;
  none = {};
  EXPECT_EQ(destroy_region(none), 0);
  static_assert(std::is_nothrow_move_constructible_v<region_ptr<int>> &&
                std::is_nothrow_move_assignable_v<region_ptr<int>>);
  static_assert(!std::is_convertible_v<region_ptr<int>, int*> &&
                !std::is_convertible_v<region_ptr<const int>, region_ptr<int>>);
  static_assert(!std::is_convertible_v<region_ptr<int>, region_ptr<long>>);
}

TEST(RegionPtr, PlainMemoryIsPointedToAsByAnyPointer) {
  int numbers[4] = {1, 2, 3, 4};
  region_ptr<int> p = numbers;
  EXPECT_EQ(p.get(), numbers);
  EXPECT_EQ((p++)[1], 2);
  EXPECT_EQ(*p, 2);
  EXPECT_TRUE(p == numbers + 1);
  EXPECT_EQ(p - region_ptr<int>(numbers), 1);
}

TEST(RegionPtr, IsMovedByEachChangeOfLevel) {
  Counting counting;
  auto p = counted(make_region<long>(5), counting);
  EXPECT_EQ(*p, 5);
  int* const open = reinterpret_cast<int*>(p.open());
  long* const writable = p.get();
  ASSERT_EQ(weir_region_protect(p.get(), PROT_READ), 0);
  long* const readable = p.get();
  ASSERT_EQ(weir_region_protect(p.get(), PROT_NONE), 0);
  long* const forbidden = p.get();
  EXPECT_TRUE(writable != readable && readable != forbidden && writable != forbidden);
  EXPECT_EQ(reinterpret_cast<int*>(p.open()), open);
  EXPECT_EQ(*p, 5);
  EXPECT_EQ(p.get(), readable);
  *p = 6;
  EXPECT_EQ(p.get(), writable);
  EXPECT_EQ(counting.reads, 1);
  EXPECT_EQ(counting.writes, 1);
  EXPECT_EQ(counting.last.size, sizeof(long));
  EXPECT_EQ(destroy_region(p), 0);
  EXPECT_FALSE(p);
}

TEST(RegionPtr, CopiesAndMovedOnesFollow) {
  Counting counting;
  auto p = counted(make_region_array<int>(10), counting);
  region_ptr<int> copy = p, source = p + 3, moved = std::move(source), assigned, moved_to;
  assigned = copy;
  assigned = *&assigned;
  moved_to = std::move(copy);
  EXPECT_TRUE(!source && !copy);
  ASSERT_EQ(weir_region_protect(p.get(), PROT_NONE), 0);
  for (region_ptr<int>* each : {&moved, &assigned, &moved_to}) {
    EXPECT_EQ(each->get() - p.get(), each == &moved ? 3 : 0);
  }
  region_ptr<int> late = moved + 1;
  *late = 7;
  EXPECT_EQ(p[4], 7);
  EXPECT_EQ(late.get(), p.get() + 4);
  EXPECT_EQ(counting.writes, 1);
  int plain = 0;
  moved = &plain;  // refers to the region no more
  *moved = 1;
  EXPECT_EQ(plain, 1);
  late = moved = moved_to = assigned = nullptr;
  EXPECT_EQ(destroy_region(p), 0);
}

TEST(RegionPtr, TheEndBelongsToItsRegionWhateverLiesBehind) {
  std::vector<region_ptr<char>> regions;
  for (int i = 0; i < 64; i++) regions.push_back(make_region_array<char>(16));
  std::vector<region_ptr<char>> ends;
  for (auto& region : regions) ends.push_back(region + 16);
  for (size_t i = 0; i < regions.size(); i++)
    ASSERT_EQ(weir_region_protect(regions[i].get(), i % 2 ? PROT_NONE : PROT_READ), 0);
  for (size_t i = 0; i < regions.size(); i++) {
    EXPECT_EQ(ends[i].get(), regions[i].get() + 16);
    region_ptr<char> back = ends[i];
    for (int step = 0; step < 16; step++) --back;
    EXPECT_TRUE(back == regions[i]);
    EXPECT_EQ(back.get(), regions[i].get());
    EXPECT_EQ(ends[i] - regions[i], 16);
  }
  ends.clear();
  for (auto& region : regions) EXPECT_EQ(destroy_region(region), 0);
}

TEST(RegionPtr, ArithmeticIsThatOfPointers) {
  auto p = make_region_array<int>(100);
  std::iota(p, p + 100, 0);
  region_ptr<int> q = p;
  EXPECT_EQ(*(q + 5), 5);
  EXPECT_EQ(*(5 + q), 5);
  EXPECT_EQ(*++q, 1);
  EXPECT_EQ(*q++, 1);
  EXPECT_EQ(*(q += 10), 12);
  EXPECT_EQ(*(q -= 2), 10);
  EXPECT_EQ(*--q, 9);
  EXPECT_EQ(*q--, 9);
  EXPECT_EQ(*(q - 3), 5);
  EXPECT_EQ(q - p, 8);
  EXPECT_EQ(p - q, -8);
  EXPECT_TRUE(p < q && q > p && p <= q && q >= p && p <= p && p >= p && p != q && !(p == q) &&
              !(q < p));
  q = nullptr;
  EXPECT_EQ(destroy_region(p), 0);
}

TEST(RegionPtr, EqualBytesAreEqualInAnyWindow) {
  auto p = make_region_array<int>(4);
  int* const writable = p.get();
  weir::region_set set;
  {
    const weir::region_set::use use(set);
    region_ptr<int> theirs(p.get());
    ASSERT_EQ(set.protect(p, PROT_NONE), 0);
    EXPECT_NE(theirs.get(), p.get());
    EXPECT_TRUE(theirs == p && !(theirs != p) && theirs <= p && theirs >= p && !(theirs < p));
    EXPECT_EQ(theirs - p, 0);
    EXPECT_EQ(theirs + 1 - p, 1);
    EXPECT_TRUE(p + 1 > theirs);
    EXPECT_EQ(std::hash<region_ptr<int>>()(theirs), std::hash<region_ptr<int>>()(p));
  }
  ASSERT_EQ(weir_region_protect(p.get(), PROT_READ), 0);
  EXPECT_TRUE(p == writable && writable == p);
  EXPECT_EQ(destroy_region(p), 0);
}

struct Left {
  int left = 1;
};
struct Right {
  int right = 2;
};
struct Both : Left, Right {
  int both = 3;
};

TEST(RegionPtr, ConvertsAsPointersDo) {
  auto both = make_region<Both>();
  region_ptr<Right> right = both;
  region_ptr<const Right> fixed = both, again = right;
  region_ptr<void> bytes = both;
  region_ptr<const void> fixed_bytes = fixed;
  right = both;
  EXPECT_TRUE(right == both && fixed == right && again == fixed);
  EXPECT_NE(static_cast<void*>(right.get()), static_cast<void*>(both.get()));
  EXPECT_EQ(bytes.get(), both.get());
  EXPECT_TRUE(fixed_bytes == fixed);
  ASSERT_EQ(weir_region_protect(bytes.get(), PROT_READ), 0);
  EXPECT_EQ(right->right, 2);
  EXPECT_EQ(fixed.get(), right.get());
  EXPECT_EQ(weir::static_pointer_cast<Both>(right)->both, 3);
  EXPECT_EQ(weir::static_pointer_cast<Both>(bytes).get(), both.get());
  EXPECT_EQ(weir::const_pointer_cast<Right>(fixed).get(), right.get());
  region_ptr<Both> none;
  right = none;
  EXPECT_FALSE(right);
  right = fixed.get() ? weir::const_pointer_cast<Right>(fixed) : nullptr;
  right = nullptr, fixed = nullptr, again = nullptr, bytes = nullptr, fixed_bytes = nullptr;
  EXPECT_EQ(destroy_region(both), 0);
}

TEST(RegionPtr, TraitsAreThoseOfARandomAccessIterator) {
  using Pointer = region_ptr<const int>;
  using Iterator = std::iterator_traits<Pointer>;
  static_assert(std::is_same_v<Iterator::iterator_category, std::random_access_iterator_tag>);
  static_assert(std::is_same_v<Iterator::value_type, int> &&
                std::is_same_v<Iterator::reference, const int&>);
  static_assert(std::is_same_v<Iterator::pointer, const int*> &&
                std::is_same_v<Iterator::difference_type, std::ptrdiff_t>);
  using Traits = std::pointer_traits<Pointer>;
  static_assert(std::is_same_v<Traits::element_type, const int> &&
                std::is_same_v<Traits::rebind<long>, region_ptr<long>>);
  static_assert(std::is_same_v<std::pointer_traits<region_ptr<void>>::element_type, void>);
#if __cplusplus >= 202002L
  static_assert(std::random_access_iterator<Pointer>);
#endif
  auto p = make_region<int>(3);
  EXPECT_TRUE(std::pointer_traits<region_ptr<int>>::pointer_to(*p) == p);
  EXPECT_EQ(std::to_address(p), p.get());
  EXPECT_EQ(destroy_region(p), 0);
}

TEST(RegionPtr, AlgorithmsRunThroughIt) {
  constexpr int kCount = 500;
  Counting counting;
  auto p = counted(make_region_array<int>(kCount), counting);
  unsigned random = 1;
  for (int i = 0; i < kCount; i++)
    p[i] = static_cast<int>((random = random * 1103515245 + 12345) >> 8);
  std::vector<int> expected(p, p + kCount);
  ASSERT_EQ(weir_region_protect(p.get(), PROT_NONE), 0);
  std::sort(p, p + kCount);
  std::sort(expected.begin(), expected.end());
  EXPECT_TRUE(std::equal(p, p + kCount, expected.begin(), expected.end()));
  EXPECT_EQ(counting.reads, 1);
  EXPECT_EQ(counting.writes, 1);
  EXPECT_TRUE(*std::lower_bound(p, p + kCount, expected[200]) == expected[200]);
  std::reverse(std::make_reverse_iterator(p + kCount), std::make_reverse_iterator(p));
  std::reverse(expected.begin(), expected.end());
  EXPECT_TRUE(std::equal(p, p + kCount, expected.begin()));
  EXPECT_EQ(destroy_region(p), 0);
}

TEST(RegionPtr, ContainersMoveAndOrderThem) {
  std::vector<region_ptr<int>> pointers;
  for (int i = 0; i < 300; i++)
    pointers.push_back(make_region<int>(i));  // the vector moves them as it grows
  pointers.insert(pointers.begin() + 100, pointers[50]);
  pointers.erase(pointers.begin() + 100);
  for (int i = 0; i < 300; i += 3)
    ASSERT_EQ(weir_region_protect(pointers[static_cast<size_t>(i)].get(), PROT_READ), 0);
  std::reverse(pointers.begin(), pointers.end());
  std::set<region_ptr<int>> ordered(pointers.begin(), pointers.end());
  std::unordered_set<region_ptr<int>> hashed(pointers.begin(), pointers.end());
  std::map<region_ptr<const int>, int> values;
  for (const auto& each : pointers) values[each] = *each;
  for (auto& each : pointers) ASSERT_EQ(weir_region_protect(each.get(), PROT_NONE), 0);
  EXPECT_TRUE(ordered.size() == 300 && hashed.size() == 300);
  for (auto& each : pointers) {
    EXPECT_TRUE(ordered.count(each) == 1 && hashed.count(each) == 1);
    EXPECT_EQ(values[each], *each.open());
  }
  EXPECT_TRUE(std::is_sorted(ordered.begin(), ordered.end()));
  ordered.clear(), hashed.clear(), values.clear();
  for (auto& each : pointers) EXPECT_EQ(destroy_region(each), 0);
}

struct Node {
  region_ptr<Node> next;
  int number = 0;
};

TEST(RegionPtr, MayLieInARegionItself) {
  Counting counting;
  region_ptr<Node> first;
  for (int i = 0; i < 50; i++) {
    auto node = counted(make_region<Node>(), counting);
    node->number = i;
    node->next = std::move(first);
    first = std::move(node);
  }
  for (region_ptr<Node> node = first; node; node = region_ptr<Node>(node.open()->next)) {
    ASSERT_EQ(weir_region_protect(node.get(), PROT_NONE), 0);
  }
  int expected = 49, steps = 0;
  for (region_ptr<Node> node = first; node; node = node->next, steps++)
    EXPECT_EQ(node->number, expected--);
  EXPECT_EQ(steps, 50);
  EXPECT_EQ(counting.reads, 50);
  EXPECT_EQ(counting.writes, 0);
  // The window of a node is that of its level in the pointer that lies in the node before it, too.
  EXPECT_EQ(weir_region_level(first->next.get()), PROT_READ);
  first->next->next = first->next->next->next;  // a write to the second node
  EXPECT_EQ(counting.writes, 1);
  EXPECT_EQ(weir_region_level(first->next.get()), kOpen);
  EXPECT_EQ(weir_region_level(first.get()), PROT_READ);
  first->next->next = first;  // a ring
  auto second = first->next;
  first->next = nullptr;
  EXPECT_EQ(counting.writes, 2);
  second->next = nullptr;
  EXPECT_EQ(destroy_region(second), 0);
  EXPECT_EQ(destroy_region(first), 0);
}

TEST(RegionPtr, ALinkInAClosedRegionIsMoved) {
  Counting counting;
  auto holder = counted(make_region<Node>(), counting);
  auto target = counted(make_region<Node>(), counting);
  holder->next = target;
  ASSERT_EQ(weir_region_protect(holder.get(), PROT_NONE), 0);
  ASSERT_EQ(weir_region_protect(target.get(), PROT_NONE), 0);
  EXPECT_EQ(counting.reads + counting.writes, 0);
  EXPECT_EQ(holder.open()->next.get(), target.get());
  holder->next->number = 4;  // reads the one, writes the other
  EXPECT_EQ(counting.reads, 1);
  EXPECT_EQ(counting.writes, 1);
  EXPECT_EQ(target->number, 4);
  ASSERT_EQ(weir_region_protect(holder.get(), PROT_NONE), 0);
  region_ptr<Node> copy(holder->next), moved(std::move(holder->next));
  EXPECT_TRUE(copy == target && moved == target && !holder->next);
  copy = moved = nullptr;
  EXPECT_EQ(destroy_region(target), 0);
  EXPECT_EQ(destroy_region(holder), 0);
}

TEST(RegionPtr, ThreadsCopyWhileLevelsChange) {
  auto p = make_region_array<std::atomic<int>>(64);
  struct Opening {
    std::atomic<int> traps{0};
    void operator()(weir_region_trap& trap) {
      traps++;
      weir_region_protect(trap.start, kOpen);
    }
  } opening;
  ASSERT_EQ(weir::region_handler(p, opening), 0);
  std::atomic<bool> done{false};
  std::atomic<int> added{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; thread++) {
    threads.emplace_back([&] {
      for (int round = 0; round < 3000 || !opening.traps; round++, added++) {
        region_ptr<std::atomic<int>> mine = p, other = mine + round % 64;
        std::vector<region_ptr<std::atomic<int>>> several(4, other);
        several.push_back(mine);
        (*several[static_cast<size_t>(round % 4)])++;
        ++other;
        EXPECT_EQ(other - p, round % 64 + 1);
        std::swap(mine, several[0]);
        EXPECT_TRUE(several[0] == p);
      }
    });
  }
  std::thread closing([&] {
    for (int i = 0; !done; i++) weir_region_protect(p.get(), i % 2 ? PROT_READ : PROT_NONE);
  });
  for (auto& thread : threads) thread.join();
  done = true;
  closing.join();
  int sum = 0;
  for (int i = 0; i < 64; i++) sum += p.open()[i];
  EXPECT_EQ(sum, added);
  EXPECT_EQ(destroy_region(p), 0);
}

TEST(RegionSet, ScopesNestAndLevelsAreTheirOwn) {
  auto p = make_region<int>(1);
  weir::region_set first, second, moved(std::move(second));
  EXPECT_FALSE(second);
  ASSERT_TRUE(first && moved);
  EXPECT_NE(first.number(), moved.number());
  EXPECT_EQ(moved.protect(p, PROT_NONE), 0);
  {
    const weir::region_set::use use(first);
    EXPECT_EQ(weir_region_level(p.get()), kOpen);
    {
      const weir::region_set::use inner(moved);
      EXPECT_EQ(weir_region_level(p.get()), PROT_NONE);
      Counting counting;
      ASSERT_EQ(weir::region_handler(p, counting), 0);
      region_ptr<int> theirs(p.get());
      EXPECT_EQ(*theirs, 1);
      EXPECT_EQ(*p, 1);
      EXPECT_EQ(counting.reads, 1);
      EXPECT_EQ(counting.last.set, moved.number());
    }
    EXPECT_EQ(weir_region_level(p.get()), kOpen);
  }
  EXPECT_EQ(weir_region_set_use(0), 0);
  EXPECT_EQ(destroy_region(p), 0);
}

TEST(RegionSet, CopiesBelongToTheSetOfTheirOriginal) {
  Counting counting;
  auto p = counted(make_region_array<int>(4), counting);
  region_ptr<int> q = p;
  weir::region_set set;
  {
    region_ptr<int> theirs;
    {
      const weir::region_set::use use(set);
      ++q;
      theirs = p.get();
    }
    region_ptr<int> copy = theirs, next = theirs + 1, moved = std::move(copy);
    copy = moved;
    copy++;
    ASSERT_EQ(set.protect(p, PROT_READ), 0);
    EXPECT_TRUE(moved.get() == theirs.get() && next.get() == theirs.get() + 1 &&
                copy.get() == next.get());
    EXPECT_NE(moved.get(), p.get());
    moved = p;
    EXPECT_EQ(moved.get(), p.get());
  }
  ASSERT_EQ(weir_region_protect(p.get(), PROT_NONE), 0);
  EXPECT_EQ(q.get(), p.get() + 1);
  q = nullptr;
  EXPECT_EQ(destroy_region(p), 0);
  const int number = set.number();
  set = weir::region_set();
  EXPECT_NE(set.number(), number);  // no pointer was left in it; it has been freed
  EXPECT_EQ(weir_region_set_free(number), EINVAL);
}

// A handler reads the next of a chain of closed regions, on an alternate signal stack that has room
// for two or three frames of signals.
TEST(RegionPtr, HandlersTrapWithinHandlersOnASmallAlternateStack) {
  static constexpr int kDepth = 40;
  static region_ptr<long> chain[kDepth];
  for (int i = 0; i < kDepth; i++) {
    chain[i] = make_region<long>(i);
    weir_region_handler(
        chain[i].get(),
        [](weir_region_trap* trap) {
          const auto i = reinterpret_cast<long>(trap->context);
          if (i + 1 < kDepth) *static_cast<long*>(trap->start) = *chain[i + 1] + 1;
          weir_region_protect(trap->start, PROT_READ);
        },
        reinterpret_cast<void*>(static_cast<long>(i)));
  }
  std::thread([] {
    for (const size_t size : {8192, 65536}) {
      std::vector<char> memory(size);
      stack_t stack = {}, after = {};
      stack.ss_sp = memory.data();
      stack.ss_size = size;
      ASSERT_EQ(sigaltstack(&stack, nullptr), 0);
      for (region_ptr<long>& one : chain) weir_region_protect(one.get(), PROT_NONE);
      EXPECT_EQ(*chain[0], 2 * (kDepth - 1));
      ASSERT_EQ(sigaltstack(nullptr, &after), 0);
      EXPECT_EQ(after.ss_sp, stack.ss_sp);
      EXPECT_EQ(after.ss_size, size);
      after.ss_flags = SS_DISABLE;
      sigaltstack(&after, nullptr);
    }
  }).join();
  for (region_ptr<long>& one : chain) EXPECT_EQ(destroy_region(one), 0);
}

}  // namespace
