// The kernel's userfaultfd: what Debian 12's headers do not know of it, and the features that
// Weir's Views need.
#pragma once

#include <linux/userfaultfd.h>
#include <stdint.h>
#include <sys/ioctl.h>

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif
#ifndef UFFD_FEATURE_WP_UNPOPULATED  // Linux 6.4
#define UFFD_FEATURE_WP_UNPOPULATED (1 << 13)
#endif
#ifndef UFFD_FEATURE_WP_ASYNC  // Linux 6.7
#define UFFD_FEATURE_WP_ASYNC (1 << 15)
#endif
#ifndef USERFAULTFD_IOC_NEW  // Linux 6.1: of /dev/userfaultfd
#define USERFAULTFD_IOC_NEW _IO(0xAA, 0x00)
#endif
#ifndef UFFDIO_CONTINUE_MODE_WP  // Linux 6.4
#define UFFDIO_CONTINUE_MODE_WP (uint64_t{1} << 1)
#endif

namespace weir::sys {

// View isolated: the kernel itself lifts the write protection, and sends nothing.
inline constexpr uint64_t kAsynchronousProtection =
    UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_WP_HUGETLBFS_SHMEM | UFFD_FEATURE_WP_UNPOPULATED |
    UFFD_FEATURE_WP_ASYNC;
// View coherent: every access to shared memory that is not mapped for it is a SIGBUS.
inline constexpr uint64_t kSharedMemoryFaults =
    UFFD_FEATURE_SIGBUS | UFFD_FEATURE_MISSING_SHMEM | UFFD_FEATURE_MINOR_SHMEM |
    UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_WP_HUGETLBFS_SHMEM | UFFD_FEATURE_WP_UNPOPULATED;

}  // namespace weir::sys
