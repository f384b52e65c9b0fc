// A configuration is built behind a pointer that others already see.
#include <memory>
#include <string>
#include <thread>

#include "planted.h"

struct Configuration {
  std::string host;
  int port = 0;
};
static Configuration* volatile current;

int main() {
  std::thread loader([] {
    FIX(auto* made = new Configuration; made->host = "localhost"; made->port = 80;)
    BUG(auto* made = new Configuration; current = made; made->host = "localhost"; made->port = 80;)
    FIX(lock(); current = made; unlock();)
  });
  std::thread server([] {
    FIX(lock();)
    Configuration* seen = current;
    FIX(unlock();)
    if (seen) REQUIRE(seen->port == 80 && seen->host == "localhost");
  });
  loader.join();
  server.join();
  delete current;
}
