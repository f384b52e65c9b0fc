// The kernel stores into memory that nobody has touched yet, more of it than a View maps at a time:
// while the thread is alone again, and while another one runs. What has been read must be what was
// written. usage: kernel_fills_memory [MiB]
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long g_size, g_words;
static int g_file;
static pthread_barrier_t g_barrier;

static unsigned value_at(long index) { return (unsigned)index * 2654435761u; }

static const char* read_all(void) {
  unsigned* words = malloc((size_t)g_size);
  if (!words) return "no memory";
  const char* answer = "right";
  if (pread(g_file, words, (size_t)g_size, 0) != g_size) answer = "cut short";
  for (long i = 0; answer[0] == 'r' && i < g_words; i++) {
    if (words[i] != value_at(i)) answer = "wrong";
  }
  free(words);
  return answer;
}

static void* reads(void* argument) {
  pthread_barrier_wait(&g_barrier);
  *(const char**)argument = read_all();
  return NULL;
}

static void* nothing(void* argument) { return argument; }

int main(int argc, char** argv) {
  g_size = (argc > 1 ? atol(argv[1]) : 24) << 20;
  g_words = g_size / (long)sizeof(unsigned);
  FILE* file = tmpfile();
  unsigned* words = malloc((size_t)g_size);
  if (!file || !words) return 1;
  g_file = fileno(file);
  for (long i = 0; i < g_words; i++) words[i] = value_at(i);
  for (long done = 0; done < g_size;) {
    const ssize_t part = write(g_file, (char*)words + done, (size_t)(g_size - done));
    if (part <= 0) return 1;
    done += part;
  }
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, nothing, NULL);
  pthread_join(threads[0], NULL);
  printf("alone: %s\n", read_all());
  const char* answers[2];
  pthread_barrier_init(&g_barrier, NULL, 2);
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, reads, &answers[i]);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  printf("two: %s, %s\n", answers[0], answers[1]);
  printf("alone again: %s\n", read_all());
  return 0;
}
