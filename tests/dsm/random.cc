// Random programs against a model, by the real library: threads of each node's own count under
// locks while the main threads pass barriers, and everything that is read or written goes by one of
// many ways, chosen by chance: plain code, `rep movs`, atomic instructions, read, write, their
// lists of buffers, stdio, datagrams between threads, a copy by the kernel from the process itself,
// a region of this node's that traps, a child that is forked and looks, or writes what it sees.
// What is under a lock lies in pages that other locks' data share, and moves to another allocation
// now and then; so does a list of small allocations that any node makes and frees. Threads are
// cancelled, tapes are given advice, and arguments of reductions lie in shared memory.
// usage: dsm_random FIRST_SEED SEEDS; src/dsm/protocol/own_threads_test.cc has more of collection.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "weir/dsm.hpp"
#include "weir/region.hpp"

namespace {

using Random = std::mt19937_64;
using Words = std::vector<uint64_t>;

constexpr uint32_t kLocks = 5, kPlaces = 700, kRounds = 4, kWords = 4000, kBase = 100;

std::atomic<uint64_t> g_wrong{0};
uint64_t g_seed;

void wrong(const char* what, const char* way) {
  if (g_wrong++ < 5)
    fprintf(stderr, "BAD: seed %lu, node %u: %s, read by %s\n", g_seed, weir_dsm_node(), what, way);
}

// Gives up at once: what fails here is the test or a call.
void must(bool holds, const char* what) {
  if (holds) return;
  perror(what);
  weir_dsm_abort(3, what);
}

// One thread's files and sockets.
struct Ways {
  int file, sockets[2];
  Random random;
  explicit Ways(uint64_t seed) : random(seed) {
    char name[] = "/tmp/weir-dsm-random-XXXXXX";
    file = mkstemp(name);
    must(file >= 0, "mkstemp");
    unlink(name);
    must(socketpair(AF_UNIX, SOCK_DGRAM, 0, sockets) == 0, "socketpair");
    const int room = 1 << 18;
    setsockopt(sockets[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
  }
  ~Ways() {
    for (const int one : {file, sockets[0], sockets[1]}) close(one);
  }
  Ways(const Ways&) = delete;
  Ways& operator=(const Ways&) = delete;
};

void move_bytes(void* to, const void* from, size_t size) {
  __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
}

// A list of buffers of any sizes that are [memory, memory + size).
std::vector<iovec> parts_of(void* memory, size_t size, Random& random) {
  std::vector<iovec> parts;
  for (size_t at = 0; at < size;) {
    const size_t part = std::min<size_t>(size - at, random() % 3000 + 1);
    parts.push_back({static_cast<char*>(memory) + at, part});
    at += part;
  }
  return parts;
}

// Regions of this node's own: each access to one that is closed traps.
void open_region(weir_region_trap* trap) {
  weir_region_protect(trap->start, trap->access & PROT_WRITE ? PROT_READ | PROT_WRITE : PROT_READ);
}

void copy_by_region(void* to, const void* from, size_t size) {
  std::vector<uint64_t, weir::region_allocator<uint64_t>> between(size / 8);
  weir_region_protect(&between.front(), PROT_NONE);
  memcpy(&between.front(), from, size);
  weir_region_protect(&between.front(), PROT_NONE);
  memcpy(to, &between.front(), size);
}

void copy_by_stdio(void* to, const void* from, size_t size, Ways& ways) {
  FILE* const stream = fdopen(dup(ways.file), "r+");
  rewind(stream);
  const size_t part = ways.random() % size + 1;
  const auto* const bytes = static_cast<const char*>(from);
  must(fwrite(bytes, 1, part, stream) == part &&
           fwrite(bytes + part, 1, size - part, stream) == size - part && fflush(stream) == 0,
       "fwrite");
  rewind(stream);
  must(fread(to, 1, size, stream) == size, "fread");
  fclose(stream);
}

// From `from` to `to`, of which one or both are shared; answers by which way.
const char* copy(void* to, const void* from, size_t size, Ways& ways) {
  const auto bytes = static_cast<ssize_t>(size);
  auto* const source = const_cast<void*>(from);
  switch (ways.random() % 11) {
    case 0: memcpy(to, from, size); return "memcpy";
    case 1: move_bytes(to, from, size); return "rep movs";
    case 2:
      for (size_t i = 0; i < size / 8; i++) {
        const uint64_t value =
            __atomic_load_n(static_cast<const uint64_t*>(from) + i, __ATOMIC_SEQ_CST);
        __atomic_exchange_n(static_cast<uint64_t*>(to) + i, value, __ATOMIC_SEQ_CST);
      }
      return "atomic instructions";
    case 3:
      must(pwrite(ways.file, from, size, 0) == bytes, "pwrite");
      must(pread(ways.file, to, size, 0) == bytes, "pread");
      return "pwrite and pread";
    case 4: {
      auto out = parts_of(source, size, ways.random), in = parts_of(to, size, ways.random);
      must(pwritev(ways.file, out.data(), static_cast<int>(out.size()), 0) == bytes, "pwritev");
      must(preadv(ways.file, in.data(), static_cast<int>(in.size()), 0) == bytes, "preadv");
      return "pwritev and preadv";
    }
    case 5: {
      auto out = parts_of(source, size, ways.random), in = parts_of(to, size, ways.random);
      msghdr sent = {}, got = {};
      sent.msg_iov = out.data(), sent.msg_iovlen = out.size();
      got.msg_iov = in.data(), got.msg_iovlen = in.size();
      must(sendmsg(ways.sockets[0], &sent, 0) == bytes, "sendmsg");
      must(recvmsg(ways.sockets[1], &got, 0) == bytes, "recvmsg");
      return "sendmsg and recvmsg";
    }
    case 6:
      must(send(ways.sockets[0], from, size, 0) == bytes, "send");
      must(recv(ways.sockets[1], to, size, 0) == bytes, "recv");
      return "send and recv";
    case 7: {
      iovec local = {to, size}, remote = {source, size};
      must(process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == bytes, "process_vm_readv");
      return "process_vm_readv";
    }
    case 8: copy_by_stdio(to, from, size, ways); return "fwrite and fread";
    case 9: copy_by_region(to, from, size); return "a region";
    default:
      for (size_t i = 0; i < size / 8; i++)
        static_cast<volatile uint64_t*>(to)[i] = static_cast<const volatile uint64_t*>(from)[i];
      return "plain code";
  }
}

Words read_words(const uint64_t* from, size_t count, Ways& ways, const char** way) {
  Words words(count);
  *way = copy(words.data(), from, count * 8, ways);
  return words;
}

// What a child sees that is forked now, of what its parent has made accessible. Another thread of
// the node, and other nodes under sc, may take that away before the fork; then the child ends with
// 125 and says so.
bool child_sees(const uint64_t* from, const Words& expected, Ways& ways, bool may_lose) {
  const auto size = static_cast<ssize_t>(expected.size() * 8);
  const bool by_call = ways.random() % 2;
  weir_dsm_touch(from, expected.size() * 8, 0);
  const pid_t child = fork();
  must(child >= 0, "fork");
  if (child == 0 && by_call) {
    Words seen(expected.size());
    if (pwrite(ways.file, from, expected.size() * 8, 0) != size ||
        pread(ways.file, seen.data(), expected.size() * 8, 0) != size)
      _exit(2);
    _exit(seen == expected ? 0 : 1);
  }
  if (child == 0) _exit(memcmp(from, expected.data(), expected.size() * 8) ? 1 : 0);
  int status = 0;
  must(waitpid(child, &status, 0) == child, "waitpid");
  return WIFEXITED(status) &&
         (WEXITSTATUS(status) == 0 || (may_lose && WEXITSTATUS(status) == 125));
}

bool may_lose() {
  const char* const protocol = getenv("WEIR_DSM_PROTOCOL");
  return g_seed % 3 > 0 || g_seed % 4 == 1 || (protocol && !strcmp(protocol, "sc"));
}

struct Link {  // a small allocation, of whichever node
  Link* next;
  uint64_t value, filler[20];
};

struct Shared {
  uint64_t head[3];  // so that nothing begins at a page
  uint64_t of_locks[kLocks * kPlaces];
  uint64_t* moved[kLocks];
  uint64_t sections[kLocks];
  Link* list[kLocks];
  uint64_t length[kLocks], sum[kLocks];
  uint64_t words[kWords];
  int64_t arguments[64][3];
};

// Under the lock: the list is as its length and sum say, and grows or shrinks.
void change_list(Shared& shared, uint32_t lock, Ways& ways) {
  uint64_t length = 0, sum = 0;
  for (const Link* link = shared.list[lock]; link && length < 1000; link = link->next) {
    length++, sum += link->value;
    if (link->filler[19] != link->value) wrong("a link's end", "plain code");
  }
  if (length != shared.length[lock] || sum != shared.sum[lock]) wrong("a list", "plain code");
  if (Link* const first = shared.list[lock]; first && ways.random() % 2) {
    shared.list[lock] = first->next;
    shared.length[lock]--, shared.sum[lock] -= first->value;
    weir_dsm_free(first);
    return;
  }
  auto* const link = weir::dsm::create<Link>();
  for (const uint64_t word : link->filler)
    if (word != 0) wrong("new memory", "plain code");
  link->value = link->filler[19] = ways.random();
  link->next = shared.list[lock];
  shared.list[lock] = link;
  shared.length[lock]++, shared.sum[lock] += link->value;
}

void take_lock(Shared& shared, uint32_t lock, Ways& ways) {
  switch (ways.random() % 6) {
    case 0:
    case 1: return weir_dsm_lock_auto(kBase + lock);
    case 2: return weir_dsm_lock_user(kBase + lock, &shared.of_locks[lock * kPlaces], kPlaces * 8);
    case 3:
      while (!weir_dsm_trylock(kBase + lock)) usleep(200);
      return;
    default: return weir_dsm_lock(kBase + lock);
  }
}

// A thread that is asked to end ends nowhere in here.
void count_under_lock(Shared& shared, Ways& ways) {
  const auto lock = static_cast<uint32_t>(ways.random() % kLocks);
  int before = 0;
  take_lock(shared, lock, ways);
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);  // system calls are points where it may
  uint64_t*& moved = shared.moved[lock];
  uint64_t* const places = moved ? moved : &shared.of_locks[lock * kPlaces];
  const char* way;
  Words words = read_words(places, kPlaces, ways, &way);
  const uint64_t count = shared.sections[lock];
  if (std::any_of(words.begin(), words.end(), [&](uint64_t one) { return one != count; }))
    wrong("under a lock", way);
  if (ways.random() % 12 == 0 && !child_sees(places, Words(kPlaces, count), ways, may_lose()))
    wrong("under a lock", "a child");
  if (ways.random() % 4 == 0) {
    for (uint32_t i = 0; i < kPlaces; i++) __atomic_fetch_add(&places[i], 1, __ATOMIC_RELAXED);
  } else {
    std::fill(words.begin(), words.end(), count + 1);
    copy(places, words.data(), kPlaces * 8, ways);
  }
  shared.sections[lock]++;
  if (ways.random() % 2) change_list(shared, lock, ways);
  if (ways.random() % 4 == 0) {  // from one allocation to another
    auto* const next = static_cast<uint64_t*>(
        weir_dsm_alloc(kPlaces * 8 + (ways.random() % 2 ? 0 : ways.random() % 9000)));
    copy(next, places, kPlaces * 8, ways);
    if (moved) weir_dsm_free(moved);
    moved = next;
  }
  pthread_setcancelstate(before, nullptr);
  weir_dsm_unlock(kBase + lock);
}

// Counts until it is asked to end.
struct Cancelled {
  Shared& shared;
  std::atomic<uint32_t>& sections;
  uint64_t seed;
  static void* run(void* of) {
    auto& its = *static_cast<Cancelled*>(of);
    Ways ways(its.seed);
    for (int i = 0; i < 200; i++) {
      count_under_lock(its.shared, ways);
      its.sections++;
      pthread_testcancel();
    }
    return nullptr;
  }
};

uint64_t value_of(uint32_t round, uint32_t word) { return (g_seed * 1000 + round) << 16 | word; }

// The node that writes a block of words in that round.
unsigned writer_of(uint32_t round, uint32_t block) {
  return static_cast<unsigned>((g_seed * 31 + round * 7ul + block * block) % weir_dsm_nodes());
}

void main_rounds(Shared& shared, Ways& ways, std::atomic<uint32_t>& sections) {
  constexpr uint32_t kBlock = 160;
  for (uint32_t round = 1; round <= kRounds; round++) {
    const uint64_t advice = ways.random() % 4;
    if (advice == 0) weir_dsm_produce_start();
    if (advice == 1) weir_dsm_flush_start();
    for (uint32_t block = 0; block < kWords / kBlock; block++) {
      if (writer_of(round, block) != weir_dsm_node()) continue;
      Words words(kBlock);
      for (uint32_t i = 0; i < kBlock; i++) words[i] = value_of(round, block * kBlock + i);
      copy(&shared.words[block * kBlock], words.data(), kBlock * 8, ways);
    }
    if (advice == 0) weir_dsm_produce_end();
    if (advice == 1) weir_dsm_flush_end();
    if (g_seed % 2) weir_dsm_barrier_replay(1, WEIR_DSM_DYNAMIC);
    else weir_dsm_barrier(1);
    const uint32_t first = static_cast<uint32_t>(ways.random() % 2000),
                   count = static_cast<uint32_t>(ways.random() % (kWords - first)) + 1;
    Words expected(count);
    for (uint32_t i = 0; i < count; i++) expected[i] = value_of(round, first + i);
    const char* way;
    if (read_words(&shared.words[first], count, ways, &way) != expected)
      wrong("behind a barrier", way);
    if (ways.random() % 4 == 0 && !child_sees(&shared.words[first], expected, ways, may_lose()))
      wrong("behind a barrier", "a child");
    int64_t* const mine = shared.arguments[weir_dsm_node()];
    for (int i = 0; i < 3; i++) mine[i] = static_cast<int64_t>(round) + i + weir_dsm_node();
    weir_dsm_reduce_int64(mine, 3, WEIR_DSM_SUM);
    const int64_t nodes = weir_dsm_nodes();
    for (int i = 0; i < 3; i++) {
      if (mine[i] != nodes * (round + i) + nodes * (nodes - 1) / 2)
        wrong("a sum", "a reduction in shared memory");
    }
    if (ways.random() % 2) count_under_lock(shared, ways), sections++;
  }
}

void run_seed() {
  Shared* shared = nullptr;
  if (weir_dsm_node() == 0) {
    weir_dsm_attributes attributes = {};
    attributes.home = static_cast<weir_dsm_home>(g_seed % 3);
    attributes.pages = g_seed % 5 == 0 ? 3 : 1;
    shared = static_cast<Shared*>(weir_dsm_alloc_with(sizeof(Shared), &attributes));
  }
  weir_dsm_share(&shared, sizeof shared, 0);
  std::atomic<uint32_t> sections{0};
  std::vector<std::thread> own;
  for (uint64_t number = 0; number < g_seed % 3; number++) {
    own.emplace_back([shared, number, &sections] {
      Ways ways(g_seed * 977 + weir_dsm_node() * 16 + number + 1);
      for (int i = 0; i < 8; i++) count_under_lock(*shared, ways), sections++;
    });
  }
  Cancelled cancelled{*shared, sections, g_seed * 977 + weir_dsm_node() * 16 + 9};
  const bool cancels = g_seed % 4 == 1;
  pthread_t thread;
  if (cancels) must(pthread_create(&thread, nullptr, Cancelled::run, &cancelled) == 0, "a thread");
  Ways ways(g_seed * 977 + weir_dsm_node() * 16);
  main_rounds(*shared, ways, sections);
  if (cancels) pthread_cancel(thread), pthread_join(thread, nullptr);
  for (std::thread& thread : own) thread.join();
  auto all = static_cast<int64_t>(sections);
  weir_dsm_reduce_int64(&all, 1, WEIR_DSM_SUM);
  int64_t counted = 0;
  for (const uint64_t one : shared->sections) counted += static_cast<int64_t>(one);
  if (counted != all) wrong("the number of sections", "plain code");
  weir_dsm_barrier(2);
  if (weir_dsm_node() != 0) return;
  for (uint64_t* const moved : shared->moved) weir_dsm_free(moved);
  for (Link* link : shared->list) {
    while (link) weir_dsm_free(std::exchange(link, link->next));
  }
  weir_dsm_free(shared);
}

}  // namespace

int main(int argc, char** argv) {
  weir_dsm_start(&argc, &argv);
  weir_region_handler(nullptr, open_region, nullptr);
  const uint64_t first = argc > 1 ? strtoul(argv[1], nullptr, 10) : 1,
                 count = argc > 2 ? strtoul(argv[2], nullptr, 10) : 1;
  for (g_seed = first; g_seed < first + count; g_seed++) run_seed();
  auto bad = static_cast<int64_t>(g_wrong.load());
  weir_dsm_reduce_int64(&bad, 1, WEIR_DSM_SUM);
  if (weir_dsm_node() == 0) printf("random: %s\n", bad ? "bad" : "well");
  weir_dsm_finish();
  return bad ? 1 : 0;
}
