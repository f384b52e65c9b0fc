// Events that follow each other closely, so that one thread may do many before others have theirs;
// between them everything that a thread can do: vector registers stay, files are read and written,
// memory is mapped, handlers run, children are forked, others are waited for, and now and then
// there is a long computation.
#include "program.h"

enum { kRounds = 2000, kWords = 512 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static long words[kWords], sum, handled;
static __thread long own;
static int file;

static void on_signal(int signal) {
  (void)signal;
  __atomic_add_fetch(&handled, 1, __ATOMIC_SEQ_CST);
}

static void section(long number, long i) {
  CHECK_EQ(pthread_mutex_lock(&lock), 0);
  words[(number * 37 + i) % kWords] += number + 1;
  sum += number + 1;
  own++;
  CHECK_EQ(pthread_mutex_unlock(&lock), 0);
}

// Vector registers over a locked instruction, which a compiler keeps nothing in.
static void vectors_stay(long i) {
#ifdef __x86_64__
  double in[4] = {(double)i, i + 0.25, -i - 0.5, 1e300 * i}, out[4];
  static long word;
  __asm__ volatile(
      "movupd (%1),%%xmm3\n\tmovupd 16(%1),%%xmm14\n\tlock incq %0\n\tmovupd %%xmm3,(%2)\n\tmovupd "
      "%%xmm14,16(%2)"
      : "+m"(word)
      : "r"(in), "r"(out)
      : "xmm3", "xmm14", "memory", "cc");
  CHECK_EQ(memcmp(in, out, sizeof in), 0);
#endif
}

static long long_computation(long seed) {
  unsigned long x = (unsigned long)seed;
  for (int i = 0; i < 300000; ++i) x = x * 6364136223846793005u + (x >> 33);
  return (long)(x & 1);
}

static void* body(void* argument) {
  const long number = (long)argument;
  char name[32], back[32];
  long odd = 0;
  for (long i = 0; i < kRounds; ++i) {
    section(number, i);
    vectors_stay(i);
    errno = 0;
    switch (i % 100) {
      case 10:
        snprintf(name, sizeof name, "%ld %ld\n", number, i);
        CHECK_EQ(pwrite(file, name, sizeof name, (number * kRounds + i) * (long)sizeof name),
                 sizeof name);
        CHECK_EQ(pread(file, back, sizeof back, (number * kRounds + i) * (long)sizeof back),
                 sizeof back);
        CHECK_EQ(memcmp(name, back, sizeof name), 0);
        break;
      case 20: {
        char* memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(memory != MAP_FAILED);
        CHECK_EQ(memory[4095] | memory[4096], 0);
        memory[4096] = 1;
        CHECK_EQ(munmap(memory, 8192), 0);
        break;
      }
      case 30: CHECK_EQ(pthread_kill(pthread_self(), SIGUSR1), 0); break;
      case 40: {
        char* text = malloc(100 + (size_t)i);
        memset(text, 'a', 100 + (size_t)i);
        section(number, i);
        text = realloc(text, 5000 + (size_t)i);
        CHECK_EQ(text[99 + i], 'a');
        free(text);
        break;
      }
      case 50: odd += long_computation(number + i); break;
      case 60:
        CHECK_EQ(read(-1, back, 1), -1);
        CHECK_EQ(errno, EBADF);
        break;
      case 70: pthread_barrier_wait(&barrier); break;
      case 80:
        if (i % 1000 == 80) {
          const pid_t child = fork();
          if (child == 0) _exit(own == i + 1 + (i + 60) / 100 ? 7 : 8);
          int status = 0;
          CHECK_EQ(waitpid(child, &status, 0), child);
          CHECK_EQ(WEXITSTATUS(status), 7);
        }
        break;
    }
  }
  CHECK(odd >= 0);
  return (void*)own;
}

int main(int argc, char** argv) {
  const int threads = argument(argc, argv, 1, 4);
  char path[] = "/tmp/kept_turns.XXXXXX";
  file = mkstemp(path);
  CHECK(file >= 0);
  unlink(path);
  signal(SIGUSR1, on_signal);
  CHECK_EQ(pthread_barrier_init(&barrier, NULL, (unsigned)threads), 0);
  run_threads(threads, body);
  long all = 0, expected = 0;
  for (int i = 0; i < kWords; ++i) all += words[i];
  for (long i = 0; i < threads; ++i) expected += (i + 1) * (kRounds + kRounds / 100);
  CHECK_EQ(all, expected);
  CHECK_EQ(sum, expected);
  CHECK_EQ(handled, threads * (kRounds / 100));
  puts("kept");
  return 0;
}
