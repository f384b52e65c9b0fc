// What a program does before its first thread that a fork does not copy, or that two runs would
// have together: refused WHAT.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void* nothing(void* unused) { return unused; }

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "";
  int ends[2];
#define IF(name) if (strcmp(what, name) == 0)
  IF("pipe") if (pipe(ends)) return 9;
  IF("socket") if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) return 9;
  IF("eventfd") eventfd(3, 0);
  IF("epoll") epoll_create1(0);
  IF("memfd") memfd_create("memory", 0);
  IF("write") if (open("written", O_WRONLY | O_CREAT, 0600) < 0) return 9;
  IF("wrote") {
    FILE* file = fopen("written", "w");
    fclose(file);
  }
  IF("unlink") {
    unlink("removed");
    mkdir("removed", 0700);
    rmdir("removed");
  }
  IF("alarm") alarm(1000);
  IF("timer") {
    timer_t timer;
    timer_create(CLOCK_MONOTONIC, NULL, &timer);
  }
  IF("shared") mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  IF("shmat") shmat(shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600), NULL, SHM_RDONLY);
  IF("dontfork") {
    void* const page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(page, 4096, MADV_DONTFORK);
  }
  IF("child") if (fork() == 0) _exit(0);
  IF("lock") {
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    if (fcntl(open("numbers", O_RDONLY), F_SETLK, &lock)) return 9;
  }
  IF("one") return 0;
  pthread_t thread;
  pthread_create(&thread, NULL, nothing, NULL);
  pthread_join(thread, NULL);
  return 0;
}
