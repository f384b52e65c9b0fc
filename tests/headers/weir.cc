// All of weir/weir.hpp, as a program with all warnings has it (run.py).
#include "weir/weir.hpp"

#include <mutex>
#include <string>
#include <utility>

template class weir::object<std::string>;
template class weir::sliced_array<double>;

int use_weir(std::mutex& mutex);
int use_weir(std::mutex& mutex) {
  weir::object<int> plain(WEIR_PRIVATE, 3);
  auto text = weir::object<std::string>::locked_by(mutex, "some text");
  weir::object<int> moved(std::move(plain));
  const weir::write_access writes(*moved);
  const weir::read_access reads(*text);
  weir::sliced_array<double> array(100, 10, WEIR_UNTOUCHED);
  array[4] = 1;
  weir::set_locked(*moved, mutex);
  return *moved + static_cast<int>(text->size() + array.size());
}
