// The stages hand a packet on by atomic pointers; the first stage goes on computing in it.
#include "program.h"

#include <array>
#include <atomic>
#include <thread>

struct Packet {
  int bytes = 0, checksum = 0;
};
std::array<Packet, 10> packets;
std::array<std::atomic<Packet*>, 10> to_second, to_third;

static Packet* take(std::atomic<Packet*>& from) {
  Packet* packet;
  while (!(packet = from.load(std::memory_order_acquire))) std::this_thread::yield();
  return packet;
}

int main() {
  std::thread first([] {
    for (int i = 0; i < 10; ++i) {
      packets[i].bytes = i;
      to_second[i].store(&packets[i], std::memory_order_release);
      packets[i].checksum = 1;  // RACE
    }
  });
  std::thread second([] {
    for (int i = 0; i < 10; ++i) {
      Packet* packet = take(to_second[i]);
      packet->checksum += packet->bytes;  // RACE
      to_third[i].store(packet, std::memory_order_release);
    }
  });
  for (int i = 0; i < 10; ++i) use(take(to_third[i])->checksum);
  first.join();
  second.join();
  return 0;
}
