// An interpreter's shared scope: the last thread that leaves it tears it down, where another is on
// its way in, which has found the scope in the table before the table forgets it.
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "planted.h"

struct Scope {
  int users = 0;
  bool is_gone = false;
};

static std::mutex table_mutex;
static std::map<int, std::shared_ptr<Scope>> table;

static std::shared_ptr<Scope> enter(int key) {
  std::unique_lock<std::mutex> guard(table_mutex);
  std::shared_ptr<Scope>& entry = table[key];
  if (!entry) entry = std::make_shared<Scope>();
  std::shared_ptr<Scope> scope = entry;
  BUG(guard.unlock();)
  BUG(guard.lock();)
  scope->users++;
  return scope;
}

static void leave(int key, Scope& scope) {
  const std::lock_guard<std::mutex> guard(table_mutex);
  if (--scope.users > 0) return;
  scope.is_gone = true;
  table.erase(key);
}

static void run() {
  for (int i = 0; i < 2; i++) {
    const std::shared_ptr<Scope> scope = enter(7);
    {
      const std::lock_guard<std::mutex> guard(table_mutex);
      REQUIRE(!scope->is_gone);
    }
    leave(7, *scope);
  }
}

int main() {
  std::thread a(run), b(run);
  a.join();
  b.join();
  return 0;
}
