// Code of the program's own making that writes to the page on which it lies: an instruction is
// changed there, a counter beside it, and many bytes at once; in one thread and in several.
#include "program.h"

enum { kPage = 4096, kData = 2048, kRounds = 20, kThreads = 2 };

// incl 2032(%rip), from the page's byte 10 on: the counter at kData + ...; movl $N,1(self); ret N.
static const unsigned char kCounts[] = {
    0xff, 0x05, 0xfa, 0x07, 0x00, 0x00,  // incl 0x7fa(%rip): the word at kData
    0x8b, 0x05, 0xf4, 0x07, 0x00, 0x00,  // mov 0x7f4(%rip),%eax: the same
    0xc3};
enum { kChangesAt = 64 };
static const unsigned char kChanges[] = {
    0xc7, 0x05, 0x01, 0x00, 0x00, 0x00, 0, 0, 0, 0,  // movl $N,1(%rip): the operand that follows
    0xb8, 0xff, 0xff, 0xff, 0xff,                    // mov $...,%eax
    0xc3};
enum { kFillsAt = 128 };
static const unsigned char kFills[] = {0x48, 0x8d, 0x3d, 0xf9, 0x0b,
                                       0x00, 0x00,  // lea 0xbf9(%rip),%rdi: the page's byte 3200
                                       0xb9, 0x64, 0x00, 0x00, 0x00,  // mov $100,%ecx
                                       0xb0, 0x07,                    // mov $7,%al
                                       0xf3, 0xaa,                    // rep stosb
                                       0x0f, 0xb6, 0x47, 0xff,        // movzbl -1(%rdi),%eax
                                       0xc3};

static int run(const unsigned char* at) {
  int (*function)(void);
  memcpy(&function, &at, sizeof function);
  return function();
}

static void* body(void* unused) {
  unsigned char* const page = (unsigned char*)mmap(NULL, kPage, PROT_READ | PROT_WRITE | PROT_EXEC,
                                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(page != MAP_FAILED);
  memcpy(page, kCounts, sizeof kCounts);
  memcpy(page + kChangesAt, kChanges, sizeof kChanges);
  memcpy(page + kFillsAt, kFills, sizeof kFills);
  for (int i = 1; i <= kRounds; i++) {
    CHECK_EQ(run(page), i);
    page[kChangesAt + 6] = (unsigned char)i;
    CHECK_EQ(run(page + kChangesAt), i);
  }
  CHECK_EQ(run(page + kFillsAt), 7);
  CHECK_EQ(munmap(page, kPage), 0);
  return unused;
}

int main(void) {
  pthread_t threads[kThreads];
  body(NULL);
  for (int i = 0; i < kThreads; i++) CHECK_EQ(pthread_create(&threads[i], NULL, body, NULL), 0);
  body(NULL);
  for (int i = 0; i < kThreads; i++) CHECK_EQ(pthread_join(threads[i], NULL), 0);
  body(NULL);
  puts("written by itself");
  return 0;
}
