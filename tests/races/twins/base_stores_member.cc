// A thread that a base's constructor starts meets what the derived one stores.
#include <mutex>
#include <thread>

#include "twin.h"

class Service {
 public:
  Service() = default;
  virtual ~Service() = default;

 protected:
  void begin() { thread_ = std::thread([this] { loop(); }); }
  void end() { thread_.join(); }
  int port_ = 0;

 private:
  void loop() {
    pause_ms(2);
    use(port_);  // RACE
  }
  std::thread thread_;
};

class Server : public Service {
 public:
  Server() {
    if (RACY) begin();
    port_ = 80;  // RACE
    if (!RACY) begin();
  }
  ~Server() override { end(); }
};

int main() {
  Server server;
  return 0;
}
