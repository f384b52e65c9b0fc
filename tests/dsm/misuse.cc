// What a program may get wrong with libweir-dsm, one thing at a time: the last node does it, the
// others wait at barrier 90. usage: dsm_misuse WHAT Prints "node N: process P"; with "nothing" also
// "well".
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "weir/dsm.hpp"

namespace {

bool is_culprit() { return weir_dsm_node() == weir_dsm_nodes() - 1; }

template <typename Body>
void run(Body body) {
  weir_dsm_run(
      [](unsigned worker, unsigned, void* context) { (*static_cast<Body*>(context))(worker); },
      &body);
}

// All know an allocation of node 0.
char* shared(size_t size, const weir_dsm_attributes& attributes = {}) {
  char* memory = nullptr;
  if (weir_dsm_node() == 0) memory = static_cast<char*>(weir_dsm_alloc_with(size, &attributes));
  weir_dsm_share(&memory, sizeof memory, 0);
  return memory;
}

volatile char* annotated() {
  return static_cast<char*>(
      weir_dsm_alloc_with(10000, std::array{weir_dsm_attributes{.protocol = {},
                                                                .home = {},
                                                                .home_node = 0,
                                                                .unit = WEIR_DSM_ANNOTATED,
                                                                .pages = 0,
                                                                .name = "forces"}}
                                     .data()));
}

void with_attributes(weir_dsm_attributes attributes) { weir_dsm_alloc_with(10, &attributes); }

template <typename T>
void reduce_some(size_t count, weir_dsm_operation operation) {
  std::vector<T> values(count);
  if constexpr (sizeof(T) == sizeof(double) && T(0.5) != 0)
    weir_dsm_reduce_double(values.data(), count, operation);
  else weir_dsm_reduce_int64(values.data(), count, operation);
}

// By the last node.
const std::map<std::string, void (*)()> kByOne = {
    {"nothing", [] {}},
    {"unlock", [] { weir_dsm_unlock(5); }},
    {"unlock-twice", [] { weir_dsm_lock(5), weir_dsm_unlock(5), weir_dsm_unlock(5); }},
    {"unlock-other", [] { weir_dsm_lock(5), std::thread([] { weir_dsm_unlock(5); }).join(); }},
    {"thread-ends", [] { std::thread([] { weir_dsm_lock(5); }).join(); }},
    {"thread-exits", [] { std::thread([] { weir_dsm_lock(5), pthread_exit(nullptr); }).join(); }},
    {"thread-cancelled",
     [] {
       std::thread thread([] { weir_dsm_lock(5), pause(); });
       pthread_cancel(thread.native_handle());
       thread.join();
     }},
    {"stack",
     [] {
       pthread_attr_t attributes;
       pthread_attr_init(&attributes);
       pthread_attr_setstack(&attributes, weir_dsm_alloc(1 << 20), 1 << 20);
     }},
    {"alternate-stack",
     [] {
       stack_t stack = {};
       stack.ss_sp = weir_dsm_alloc(1 << 16);
       stack.ss_size = 1 << 16;
       sigaltstack(&stack, nullptr);
     }},
    {"process-mutex",
     [] {
       pthread_mutexattr_t attributes;
       pthread_mutexattr_init(&attributes);
       pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
       pthread_mutex_init(static_cast<pthread_mutex_t*>(weir_dsm_alloc(100)), &attributes);
     }},
    {"process-barrier",
     [] {
       pthread_barrierattr_t attributes;
       pthread_barrierattr_init(&attributes);
       pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
       pthread_barrier_init(static_cast<pthread_barrier_t*>(weir_dsm_alloc(100)), &attributes, 3);
     }},
    {"process-semaphore",
     [] {
       sem_t own;  // each may have its own
       if (sem_init(&own, 1, 1) == 0) sem_init(static_cast<sem_t*>(weir_dsm_alloc(100)), 1, 1);
     }},
    {"lock-twice", [] { weir_dsm_lock(5), weir_dsm_lock(5); }},
    {"trylock-twice", [] { weir_dsm_lock(5), weir_dsm_trylock(5); }},
    {"wait", [] { weir_dsm_wait(2, 5); }},
    {"wait-other-lock", [] { weir_dsm_lock(6), weir_dsm_wait(2, 5); }},
    {"barrier-number", [] { weir_dsm_barrier(0xffff0001); }},
    {"another-barrier", [] { weir_dsm_barrier(3); }},
    {"finish", [] { weir_dsm_finish(); }},
    {"exit", [] { exit(0); }},
    {"reduce", [] { reduce_some<double>(1025, WEIR_DSM_SUM); }},
    {"reduce-operation", [] { reduce_some<int64_t>(1, static_cast<weir_dsm_operation>(7)); }},
    {"share",
     [] {
       char bytes[70000] = {};
       weir_dsm_share(bytes, sizeof bytes, 0);
     }},
    {"share-from",
     [] {
       int value = 0;
       weir_dsm_share(&value, sizeof value, 1000);
     }},
    {"alloc-all", [] { weir_dsm_alloc(SIZE_MAX); }},
    {"alloc-more", [] { weir_dsm_alloc(size_t{65} << 30); }},
    {"alloc-protocol",
     [] {
       with_attributes({.protocol = static_cast<weir_dsm_protocol>(9),
                        .home = {},
                        .home_node = 0,
                        .unit = {},
                        .pages = 0,
                        .name = nullptr});
     }},
    {"alloc-home",
     [] {
       with_attributes({.protocol = {},
                        .home = WEIR_DSM_EXPLICIT,
                        .home_node = 1000,
                        .unit = {},
                        .pages = 0,
                        .name = nullptr});
     }},
    {"free-stack",
     [] {
       int value = 0;
       weir_dsm_free(&value);
     }},
    {"free-middle", [] { weir_dsm_free(static_cast<char*>(weir_dsm_alloc(10000)) + 64); }},
    {"free-twice",
     [] {
       void* memory = weir_dsm_alloc(10000);
       weir_dsm_free(memory), weir_dsm_free(memory);
     }},
    {"freed",
     [] {
       auto* memory = static_cast<volatile char*>(weir_dsm_alloc(10000));
       memory[5000] = 1, weir_dsm_free(const_cast<char*>(memory));
       exit(memory[5000] + 10);
     }},
    {"outside", [] { static_cast<volatile char*>(weir_dsm_alloc(10000))[1 << 30] = 1; }},
    {"behind", [] { static_cast<volatile char*>(weir_dsm_alloc(10000))[12288] = 1; }},
    {"announce",
     [] {
       int value = 0;
       weir_dsm_write_access(&value);
     }},
    {"touch-outside",
     [] {
       int value = 0;
       weir_dsm_touch(&value, sizeof value, 1);
     }},
    {"touch-behind", [] { weir_dsm_touch(weir_dsm_alloc(10000), 1 << 30, 1); }},
    {"touch-wraps", [] { weir_dsm_touch(weir_dsm_alloc(10000), SIZE_MAX, 1); }},
    {"forgotten-write", [] { *annotated() = 7; }},
    {"forgotten-read", [] { exit(*annotated() + 10); }},
    {"announced-read-only",
     [] {
       volatile char* memory = annotated();
       weir_dsm_read_access(const_cast<char*>(memory));
       memory[1] = memory[2];
     }},
    {"region",
     [] {
       void* pointer = nullptr;
       weir_dsm_region_attach(77, &pointer);
     }},
    {"finish-locked", [] { weir_dsm_lock(5), weir_dsm_finish(); }},
    {"start", [] { weir_dsm_start(nullptr, nullptr); }},
    {"null", [] { *static_cast<volatile int*>(nullptr) = 1; }},
    {"constant", [] { const_cast<volatile char*>("text")[1] = 1; }},
    {"no-memory",
     [] {
       const size_t size = size_t{1} << 30;
       auto* memory = static_cast<volatile char*>(weir_dsm_alloc(size));
       const rlimit limit = {1 << 20, 1 << 20};  // what is mapped stays; no more comes
       setrlimit(RLIMIT_AS, &limit);
       for (size_t at = 0; at < size; at += 4096) memory[at] = 1;
     }},
};

// By all.
const std::map<std::string, void (*)()> kByAll = {
    {"condition-locks",
     [] {
       const uint32_t lock = 5 + is_culprit();
       weir_dsm_lock(lock), weir_dsm_wait(2, lock);
     }},
    {"reductions",
     [] {
       is_culprit() ? reduce_some<int64_t>(3, WEIR_DSM_SUM) : reduce_some<int64_t>(3, WEIR_DSM_MAX);
     }},
    {"reduction-types",
     [] {
       is_culprit() ? reduce_some<int64_t>(3, WEIR_DSM_SUM) : reduce_some<double>(3, WEIR_DSM_SUM);
     }},
    {"share-sizes",
     [] {
       char bytes[10] = {};
       weir_dsm_share(bytes, is_culprit() ? 5 : 6, 0);
     }},
    {"freed-elsewhere",
     [] {
       volatile char* memory = shared(
           10000,
           {.protocol = {}, .home = {}, .home_node = 0, .unit = {}, .pages = 0, .name = "grid"});
       memory[weir_dsm_node()] = 1;
       weir_dsm_barrier(1);
       if (weir_dsm_node() == 0) weir_dsm_free(const_cast<char*>(memory));
       weir_dsm_barrier(2);
       if (is_culprit()) memory[0] = 1;
     }},
    // With two threads a node.
    {"vector-sizes", [] { weir::dsm::shared_vector<int> one(is_culprit() ? 1001 : 1000); }},
    {"vector-elements",
     [] {
       if (is_culprit()) weir::dsm::shared_vector<int> one(1000);
       else weir::dsm::shared_vector<long> other(1000);
     }},
    {"worker-barriers", [] { run([](unsigned worker) { weir_dsm_barrier(worker % 2); }); }},
    {"worker-ends",
     [] {
       run([](unsigned worker) {
         worker == weir_dsm_nodes() * 2 - 1 ? void() : weir_dsm_barrier(8);
       });
     }},
    {"worker-ends-late",
     [] {
       run([](unsigned worker) {
         worker == weir_dsm_nodes() * 2 - 1 ? void(usleep(300'000)) : weir_dsm_barrier(8);
       });
     }},
    {"region-threads",
     [] {
       static void* region;
       weir_dsm_region number = 0;
       if (is_culprit())
         number = weir_dsm_region_alloc(100, std::array{weir_dsm_attributes{.protocol = WEIR_DSM_SC,
                                                                            .home = {},
                                                                            .home_node = 0,
                                                                            .unit = {},
                                                                            .pages = 0,
                                                                            .name = nullptr}}
                                                 .data());
       weir_dsm_share(&number, sizeof number, weir_dsm_nodes() - 1);
       weir_dsm_region_attach(number, &region);
       run([](unsigned worker) {
         if (!is_culprit()) return;
         usleep(worker % 2 * 200'000);
         auto* const bytes = static_cast<volatile char*>(region);
         if (worker % 2) bytes[50] = 1;
         else static_cast<void>(bytes[3]), usleep(600'000);
       });
     }},
    {"worker-locks",
     [] {
       run([](unsigned worker) {
         if (worker == weir_dsm_nodes() * 2 - 1) weir_dsm_lock(5);
       });
     }},
    {"worker-shares",
     [] {
       run([](unsigned worker) {
         int value = 0;
         if (!is_culprit()) usleep(300'000);
         if (is_culprit() || worker % 2 == 0) weir_dsm_share(&value, sizeof value, 0);
       });
     }},
    {"worker-runs", [] { run([](unsigned) { run([](unsigned) {}); }); }},
    {"worker-finishes", [] { run([](unsigned) { weir_dsm_finish(); }); }},
    {"stranger", [] { run([](unsigned) { std::thread([] { weir_dsm_barrier(8); }).join(); }); }},
    {"strangers",
     [] {
       std::thread other([] { is_culprit() ? weir_dsm_barrier(8) : void(usleep(300'000)); });
       if (!is_culprit()) other.join();
       weir_dsm_barrier(8);
       if (other.joinable()) other.join();
     }},
};

int rank() {
  const char* text = getenv("OMPI_COMM_WORLD_RANK");
  if (!text) text = getenv("PMI_RANK");
  return text ? atoi(text) : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  setvbuf(stdout, nullptr, _IOLBF, 0);
  if (what == "before" && rank() == 0) weir_dsm_lock(1);
  weir_dsm_start(&argc, &argv);
  printf("node %u: process %d\n", weir_dsm_node(), getpid());
  if (what == "after" || what == "after-access" || what == "start-again" ||
      what == "after-thread" || what == "after-stream") {
    bool goes = false, *const may_go = &goes;
    std::thread other;
    if (what == "after-thread") {  // it has called before, too
      other = std::thread([may_go] {
        weir_dsm_lock(1), weir_dsm_unlock(1);
        while (!__atomic_load_n(may_go, __ATOMIC_ACQUIRE)) usleep(1000);
        weir_dsm_lock(1);
      });
      usleep(300'000);
    }
    auto* const memory = static_cast<volatile char*>(weir_dsm_alloc(10000));
    if (what == "after-stream") {  // what it keeps is written at the exit
      setvbuf(stdout, const_cast<char*>(memory), _IOFBF, 10000);
      puts("kept");
    }
    weir_dsm_finish();
    if (what == "after-access") return memory[5000] + 3;
    if (what == "start-again") weir_dsm_start(&argc, &argv);
    if (what == "after") weir_dsm_barrier(1);
    __atomic_store_n(may_go, true, __ATOMIC_RELEASE);
    if (other.joinable()) other.join();
    return 3;
  }
  if (what == "return" && is_culprit()) return 0;
  if (const auto by_all = kByAll.find(what); by_all != kByAll.end()) {
    by_all->second();
  } else if (const auto by_one = kByOne.find(what); by_one != kByOne.end() && is_culprit()) {
    by_one->second();
  }
  weir_dsm_barrier(90);
  // A thread that has called, and is there for longer than the memory.
  std::thread late([] { weir_dsm_lock(1), weir_dsm_unlock(1), usleep(200'000); });
  usleep(100'000);
  weir_dsm_finish();
  late.join();
  if (what == "nothing") printf("well\n");
}
