// An exception of C++ that leaves one node's part of the program. argv: where. Built without
// anything that catches it before the session's end, except where the name says so.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <future>
#include <stdexcept>
#include <string>

#include "weir/dsm.hpp"

namespace dsm = weir::dsm;

namespace {

struct NoStandardException {
  int number;
};

struct ThrowsInside {
  ~ThrowsInside() {
    try {
      throw std::logic_error("inside a destructor");
    } catch (const std::logic_error&) {}
  }
};

void session_with(const std::string& where, int argc, char** argv) {
  dsm::session session(argc, argv);
  const bool is_it = session.node() == session.nodes() - 1;
  try {
    throw std::runtime_error("caught long ago");
  } catch (const std::exception&) {}
  if (where == "scope" && is_it) throw std::runtime_error("input file missing");
  if (where == "all") throw std::runtime_error("on all nodes");
  if (where == "plain" && is_it) throw NoStandardException{5};
  if (where == "inside" && is_it) {
    ThrowsInside object;
    throw std::runtime_error("outside");
  }
  if (where == "rethrown" && is_it) {
    try {
      throw std::out_of_range("first");
    } catch (const std::exception&) {
      try {
        throw std::runtime_error("second");
      } catch (const std::exception&) {}
      throw;
    }
  }
  if (where == "future" && is_it)
    std::async(std::launch::async, [] { throw std::range_error("in another thread"); }).get();
  if (where == "locked") {
    const dsm::locked guard(3u);
    if (is_it) throw std::runtime_error("in the lock");
  }
  if (where == "vector") {
    dsm::shared_vector<int> values(100);
    if (is_it) throw std::runtime_error("with a vector alive");
    dsm::barrier(2).arrive_and_wait();
  }
  if (where == "semaphore") {  // the others would wait for ever
    if (is_it) throw std::runtime_error("before the post");
    weir_dsm_semaphore_wait(1);
  }
  dsm::run([&](unsigned worker, unsigned workers) {
    if (where == "body" && worker == workers - 1) throw std::runtime_error("bad cell");
    dsm::barrier(1).arrive_and_wait();
  });
  dsm::barrier(3).arrive_and_wait();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string where = argv[1];
  if (where == "uncaught") {
    dsm::session session(argc, argv);
    const auto throws = [&] {
      if (session.node() == session.nodes() - 1) throw std::runtime_error("nobody catches");
    };
    const auto hides = [&]() noexcept { throws(); };
    hides();
    dsm::barrier(3).arrive_and_wait();
    return 0;
  }
  try {
    session_with(where, argc, argv);
  } catch (const std::exception& caught) {
    printf("caught: %s\n", caught.what());
    return 3;
  } catch (const NoStandardException&) { return 4; }
  puts("end");
  return 0;
}
