// One thread calls a virtual function, another destroys the object when that one has ended.
#include "program.h"

#include <thread>

struct Base {
  virtual ~Base() { pause_ms(1); }
  virtual int kind() { return 1; }
};
struct Derived : Base {
  int kind() override { return 2; }
};

int main() {
  alignas(Derived) static char memory[sizeof(Derived)];
  Base* object = new (memory) Derived;
  std::thread caller([&] { use(object->kind()); });
  caller.join();
  std::thread destroyer([&] {
    pause_ms(20);
    object->~Base();
  });
  destroyer.join();
  return 0;
}
