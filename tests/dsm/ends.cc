// How a node's part of the program ends otherwise than by the return of main. usage: dsm_ends WHAT
// Prints "node N: process P"; where all goes on, each node also prints "node N: well".
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "weir/dsm.h"

namespace {

bool is_last_node() { return weir_dsm_node() == weir_dsm_nodes() - 1; }

// By a thread that goes on without the first one: locks, pages of others, and copies.
void go_on(pthread_t first) {
  pthread_join(first, nullptr);
  usleep(100'000);
  long* counts = nullptr;
  if (weir_dsm_node() == 0) counts = static_cast<long*>(weir_dsm_alloc(100'000 * sizeof(long)));
  weir_dsm_share(&counts, sizeof counts, 0);
  for (int round = 0; round < 20; round++) {
    weir_dsm_lock(3);
    for (int i = 0; i < 100'000; i += 100) counts[i]++;
    weir_dsm_unlock(3);
  }
  weir_dsm_barrier(2);
  bool is_right = true;
  for (int i = 0; i < 100'000; i += 100) is_right &= counts[i] == 20l * weir_dsm_nodes();
  printf("node %u: %s\n", weir_dsm_node(), is_right ? "well" : "wrong");
  weir_dsm_finish();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  setvbuf(stdout, nullptr, _IOLBF, 0);
  weir_dsm_start(&argc, &argv);
  printf("node %u: process %d\n", weir_dsm_node(), getpid());
  if (what != "goes-on") weir_dsm_barrier(1);
  if (what == "all" || (what == "one" && is_last_node())) pthread_exit(nullptr);
  if (what == "locked" && is_last_node()) weir_dsm_lock(5), pthread_exit(nullptr);
  if (what == "quick_exit") quick_exit(0);
  if (what == "_exit") _exit(0);
  if (what == "execute" && is_last_node()) execlp("true", "true", nullptr);
  if (what == "executes-nothing") {  // it goes on
    if (execl("/no/such/program", "x", nullptr) == 0 || execl("/tmp", "x", nullptr) == 0) abort();
    const pid_t child = fork();
    if (child == 0) execl("/bin/true", "true", nullptr);
    int status = -1;
    if (waitpid(child, &status, 0) == child && status == 0)
      printf("node %u: well\n", weir_dsm_node());
  }
  if (what == "own-thread" && is_last_node()) {
    std::thread([] { usleep(300'000); }).detach();
    pthread_exit(nullptr);
  }
  if (what == "fetches-late") {  // a thread still waits for a unit when the others come to the end
    weir_dsm_attributes attributes{};
    attributes.protocol = WEIR_DSM_SC;
    attributes.unit = WEIR_DSM_ANNOTATED;
    const auto* words = static_cast<long*>(weir_dsm_alloc_shared(1000, sizeof(long), &attributes));
    if (is_last_node()) weir_dsm_write_access(words), usleep(400'000);
    if (weir_dsm_node() == 0) {
      usleep(150'000);
      std::thread([words] {
        weir_dsm_read_access(words);
        printf("node 0: has it\n");
      }).detach();
      usleep(100'000);
    }
    const unsigned node = weir_dsm_node();
    weir_dsm_finish();
    printf("node %u: well\n", node);
    usleep(200'000);
    return 0;
  }
  if (what == "goes-on") {
    std::thread([first = pthread_self()] { go_on(first); }).detach();
    pthread_exit(nullptr);
  }
  if (what == "worker") {
    weir_dsm_run(
        [](unsigned worker, unsigned workers, void*) {
          if (worker == workers - 1) pthread_exit(nullptr);
          weir_dsm_barrier(8);
        },
        nullptr);
  }
  weir_dsm_barrier(90);
  weir_dsm_finish();
}
