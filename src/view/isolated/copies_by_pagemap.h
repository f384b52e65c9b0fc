// Copies found by reading /proc/self/pagemap, for kernels and containers without userfaultfd's
// asynchronous write protection (memory/userfault.h).
//
// An entry of a page that is a private copy lacks the bit that says "of a file", which every page
// of the backing has. Unlike PAGEMAP_SCAN this reads eight bytes for each page, written or not. So
// what the backing has never held is passed over: such a page can be no copy.
#pragma once

#include "view/isolated/find_copies.h"

namespace weir::view::isolated {

// As for_each_copy(). `pagemap`: descriptor of /proc/self/pagemap.
void for_each_copy_by_pagemap(Task& task, AddPage add, int pagemap);

}  // namespace weir::view::isolated
