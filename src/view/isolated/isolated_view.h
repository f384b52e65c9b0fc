// View isolated, as the rest of the runtime sees it.
#pragma once

#include "view/isolated/isolated.h"
#include "view/view.h"

namespace weir::view::isolated {

class Isolated final : public View {
 public:
  bool open_tracking() override { return isolated::open_tracking(); }
  void close_tracking() override { isolated::close_tracking(); }
  void track(uint64_t start, uint64_t size) override { isolated::track(start, size); }
  void forget_copies() override { isolated::forget_copies(); }
  void find_writes(Task& task) override { isolated::find_writes(task); }
  void publish(Task& task) override { isolated::publish(task); }
  void refresh() override { isolated::refresh(); }
  void refresh_page(uint64_t address) override { isolated::refresh_page(address); }
  void drop_retained_copies() override { isolated::drop_retained_copies(); }
  bool hand_over(Task& from, const Task& to) override { return isolated::hand_over(from, to); }
  void take_back(const Task& to) override { isolated::take_back(to); }
  void take_over(const Task& task) override { isolated::take_over(task); }
  void drop_unwritten(uint64_t start, uint64_t size) override {
    isolated::drop_unwritten(start, size);
  }
};

}  // namespace weir::view::isolated
