#!/usr/bin/env bash
# weir replay: what a program writes and sends is compared with what it wrote while it was recorded.
# usage: written_test.sh BUILD
set -uo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/recordings.sh"

# --- a replay writes something else than the recording: the first difference ends it
cat >unseen.c <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
// unseen WAY: writes the cycle counter, which code made at run time reads: most recordings lack it.
static unsigned long (*cycles)(void);
static int way, ends[2];
static void* body(void* none) {
  unsigned long now[2] = {cycles(), cycles()};
  struct iovec parts[2] = {{now, 8}, {now + 1, 8}};
  struct mmsghdr message = {.msg_hdr = {.msg_iov = parts, .msg_iovlen = 2}};
  long sent = -1;
  if (way == 0) sent = write(ends[0], now, 16);
  if (way == 1) sent = writev(ends[0], parts, 2);
  if (way == 2) sent = send(ends[0], now, 16, 0);
  if (way == 3) sent = sendmsg(ends[0], &message.msg_hdr, 0);
  if (way == 4) sent = sendmmsg(ends[0], &message, 1, 0);
  return sent > 0 ? none : body;
}
int main(int count, char** words) {
  static const unsigned char code[] = {0x0f, 0x31, 0x48, 0xc1, 0xe2, 0x20, 0x48, 0x09, 0xd0, 0xc3};
  void* made = mmap(0, 4096, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED || socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) return 2;
  memcpy(made, code, sizeof code);
  memcpy(&cycles, &made, sizeof cycles);
  way = count > 1 ? words[1][0] - '0' : 0;
  pthread_t thread;
  void* result = 0;
  if (count > 2 && (pthread_create(&thread, 0, body, 0) || pthread_join(thread, &result))) return 3;
  return (count > 2 ? result : body(0)) != 0;
}
END
cc -O1 -pthread -o unseen unseen.c || fail "cannot compile"
for view in coherent isolated direct; do
  for way in 0 1 2 3 4; do  # the even ones in a thread
    thread=
    [ $((way % 2)) = 0 ] && thread=thread
    rm -rf unseen-it
    ends 0 'recorded in' "$weir" record --view $view -o unseen-it -- ./unseen $way $thread
    # Beside threads View isolated sees the counter in made code: it is in the recording.
    if [ "$view$thread" = isolatedthread ]; then ends 0 '' "$weir" replay unseen-it
    else ends 125 'the replay differs from the recording' "$weir" replay unseen-it; fi
  done
done

echo "written: $failed failures"
[ "$failed" = 0 ]
