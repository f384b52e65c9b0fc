// A server thread has what its client did before it connected; another client it does not know.
#include <arpa/inet.h>
#include <sys/socket.h>

#include "twin.h"

static struct sockaddr_in address;
static int data, own;

static int connected(void) {
  const int socket_ = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(socket_, (struct sockaddr*)&address, sizeof address) != 0) abort();
  return socket_;
}

static void* client(void* unused) {
  if (RACY) close(connected());
  *(RACY ? &data : &own) = 1;   // RACE
  if (!RACY) data = 4, close(connected());
  return unused;
}

int main(void) {
  socklen_t size = sizeof address;
  const int listening = socket(AF_INET, SOCK_STREAM, 0);
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(listening, (struct sockaddr*)&address, size) != 0 || listen(listening, 4) != 0) abort();
  if (getsockname(listening, (struct sockaddr*)&address, &size) != 0) abort();
  pthread_t thread = start(client, NULL);
  const int accepted = accept(listening, NULL, NULL);
  if (RACY) pause_ms(5);
  use(data);  // RACE
  close(accepted);
  join(thread);
  close(listening);
  return 0;
}
