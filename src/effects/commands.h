// Sub-commands, flags and call numbers that the build machine's headers may not have.
#pragma once

#include <stdint.h>

namespace weir::effects {

inline constexpr uint32_t kGetAuxiliaryVector = 0x41555856;  // of prctl

enum NewCalls {
  kCall_uretprobe = 335,
  kCall_uprobe,
  kCall_cachestat = 451,
  kCall_fchmodat2,
  kCall_map_shadow_stack,
  kCall_futex_wake,
  kCall_futex_wait,
  kCall_futex_requeue,
  kCall_statmount,
  kCall_listmount,
  kCall_lsm_get_self_attr,
  kCall_lsm_set_self_attr,
  kCall_lsm_list_modules,
  kCall_mseal,
  kCall_setxattrat,
  kCall_getxattrat,
  kCall_listxattrat,
  kCall_removexattrat,
  kCall_open_tree_attr,
  kCall_file_getattr,
  kCall_file_setattr,
};

// The arguments of the *xattrat calls.
struct AttributeArguments {
  uint64_t value;
  uint32_t size, flags;
};

}  // namespace weir::effects
