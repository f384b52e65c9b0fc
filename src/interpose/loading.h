// What the functions of the loader (dlopen and its kin) keep. Implemented in loading.cc.
#pragma once

namespace weir::interpose {

// In a forked child, which has one thread: nobody in it calls the loader.
void forget_loading();

}  // namespace weir::interpose
