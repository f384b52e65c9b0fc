// What `weir stat` and `--fingerprint` print when the program ends.
#pragma once

namespace weir::runtime {
void prints_at_exit();
}
