// Client processes of programs that serve: made before the program's first thread, each hands back
// one result of a fixed size through a pipe, which shows its end as well.
#ifndef WEIR_BENCH_PROCESSES_H
#define WEIR_BENCH_PROCESSES_H
#include <sys/wait.h>
#include <unistd.h>

#include "workload.h"

struct Child {
  pid_t pid;
  int results;  // becomes readable when the child is done, well or not
};

// The child runs `body`, which fills the result in. It holds `socket` no longer (-1: none): a
// listening socket that clients kept open would let them wait for a server that is gone.
static inline struct Child start_child(void (*body)(long number, void* result), long number,
                                       size_t size, int socket) {
  int ends[2];
  must(pipe(ends), "pipe");
  fflush(NULL);
  const pid_t pid = fork();
  must(pid < 0, "fork");
  if (pid) {
    close(ends[1]);
    return (struct Child){pid, ends[0]};
  }
  close(ends[0]);
  if (socket >= 0) close(socket);
  void* result = calloc(1, size);
  must(!result, "calloc");
  body(number, result);
  must(write(ends[1], result, size) != (ssize_t)size, "writing a result");
  _exit(0);
}

// Ends the program if the child has failed, which will have said why.
static inline void finish_child(struct Child child, void* result, size_t size) {
  size_t done = 0;
  for (ssize_t part;
       done < size && (part = read(child.results, (char*)result + done, size - done)) > 0;) {
    done += (size_t)part;
  }
  close(child.results);
  int status;
  must(waitpid(child.pid, &status, 0) != child.pid || status || done != size, "a client process");
}

// `results`: one for each of `count` processes, which run at the same time.
static inline void run_children(long count, void (*body)(long number, void* result), size_t size,
                                void* results) {
  struct Child children[kMaxThreads];
  must(count > kMaxThreads, "number of processes");
  for (long i = 0; i < count; ++i) children[i] = start_child(body, i, size, -1);
  for (long i = 0; i < count; ++i)
    finish_child(children[i], (char*)results + (size_t)i * size, size);
}

#endif
