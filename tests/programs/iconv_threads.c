// iconv opens and closes libraries inside of libc, in several threads at once; beside one that
// sleeps meanwhile.
#include <iconv.h>

#include "program.h"

static const char* const kNames[] = {"UTF-16", "ISO-8859-15", "KOI8-R",      "EUC-JP",
                                     "CP1252", "BIG5",        "ISO-2022-JP", "SJIS"};
enum { kNamed = sizeof kNames / sizeof kNames[0], kRounds = 4 };

static void* convert(void* argument) {
  long sum = 0;
  for (int i = 0; i < kRounds * kNamed; i++) {
    iconv_t converter = iconv_open(kNames[(i * (1 + (long)argument % 3)) % kNamed], "UTF-8");
    CHECK(converter != (iconv_t)-1);
    char text[8] = "abcdefg", out[64], *from = text, *to = out;
    size_t left = 7, room = sizeof out;
    CHECK_EQ(iconv(converter, &from, &left, &to, &room), 0);
    for (char* at = out; at < to; at++) sum += (unsigned char)*at;
    CHECK_EQ(iconv_close(converter), 0);
  }
  return (void*)sum;
}

static void* sleeping(void* argument) {
  usleep(100000);
  return argument;
}

int main(int argc, char** argv) {
  const int threads = argument(argc, argv, 1, 3);
  pthread_t id[kMaxThreads], other;
  CHECK_EQ(pthread_create(&other, NULL, sleeping, NULL), 0);
  printf("alone: %ld\n", (long)convert(0));
  for (long i = 0; i < threads; i++) CHECK_EQ(pthread_create(&id[i], NULL, convert, (void*)i), 0);
  for (int i = 0; i < threads; i++) {
    void* sum;
    CHECK_EQ(pthread_join(id[i], &sum), 0);
    printf("thread: %ld\n", (long)sum);
  }
  CHECK_EQ(pthread_join(other, NULL), 0);
  return 0;
}
