// One thread calls a virtual function while another destroys the object, which changes its virtual table's address.
#include "program.h"

#include <thread>

struct Base {
  virtual ~Base() { pause_ms(1); }  // RACE
  virtual int kind() { return 1; }
};
struct Derived : Base {
  int kind() override { return 2; }
};

int main() {
  alignas(Derived) static char memory[sizeof(Derived)];
  Base* object = new (memory) Derived;
  std::thread caller([&] {
    use(object->kind());  // RACE
    pause_ms(60);
  });
  std::thread destroyer([&] {
    pause_ms(20);
    object->~Base();  // RACE
  });
  caller.join();
  destroyer.join();
  return 0;
}
