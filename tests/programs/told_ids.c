// Ids of processes that the kernel tells are the program's, whichever thread has made the call: of
// peers and senders of messages, of who used semaphores, queues and shared memory. Of nobody it is
// 0.
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <unistd.h>

#include "program.h"

static int ends[2], semaphores, queue;

static void* use(void* unused) {
  struct sembuf up = {.sem_num = 0, .sem_op = 1};
  struct {
    long type;
    char text[8];
  } message = {1, "message"};
  CHECK_EQ(semop(semaphores, &up, 1), 0);
  CHECK_EQ(msgsnd(queue, &message, sizeof message.text, 0), 0);
  CHECK_EQ(write(ends[1], "hello", 5), 5);
  return unused;
}

static void look_at_sender(void) {
  char text[8], room[CMSG_SPACE(sizeof(struct ucred))];
  struct iovec part = {text, sizeof text};
  struct msghdr header = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
  struct ucred sender;
  CHECK_EQ(recvmsg(ends[0], &header, 0), 5);
  struct cmsghdr* const first = CMSG_FIRSTHDR(&header);
  CHECK_EQ(first && first->cmsg_type == SCM_CREDENTIALS, 1);
  memcpy(&sender, CMSG_DATA(first), sizeof sender);
  CHECK_EQ(sender.pid, getpid());
}

int main(void) {
  const int on = 1;
  pthread_t thread;
  struct ucred peer;
  socklen_t size = sizeof peer;
  struct msqid_ds messages;
  struct shmid_ds memory;
  const int segment = shmget(IPC_PRIVATE, 4096, 0600);
  semaphores = semget(IPC_PRIVATE, 2, 0600);
  queue = msgget(IPC_PRIVATE, 0600);
  CHECK_EQ(segment >= 0 && semaphores >= 0 && queue >= 0, 1);
  CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  CHECK_EQ(setsockopt(ends[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on), 0);
  CHECK_EQ(pthread_create(&thread, NULL, use, NULL), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  look_at_sender();
  CHECK_EQ(getsockopt(ends[0], SOL_SOCKET, SO_PEERCRED, &peer, &size), 0);
  CHECK_EQ(peer.pid, getpid());
  CHECK_EQ(semctl(semaphores, 0, GETPID), getpid());
  CHECK_EQ(semctl(semaphores, 1, GETPID), 0);
  CHECK_EQ(msgctl(queue, IPC_STAT, &messages), 0);
  CHECK_EQ(messages.msg_lspid, getpid());
  CHECK_EQ(messages.msg_lrpid, 0);
  CHECK_EQ(shmctl(segment, IPC_STAT, &memory), 0);
  CHECK_EQ(memory.shm_cpid, getpid());
  CHECK_EQ(memory.shm_lpid, 0);
  CHECK_EQ(shmctl(segment, IPC_RMID, NULL), 0);
  CHECK_EQ(semctl(semaphores, 0, IPC_RMID), 0);
  CHECK_EQ(msgctl(queue, IPC_RMID, NULL), 0);
  puts("told");
  return 0;
}
