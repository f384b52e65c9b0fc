// By pages: mprotect with a handler of SIGSEGV of our own, or with that of GNU libsigsegv; and
// write protection by userfaultfd.
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "sequences.h"
#ifdef WEIR_HAVE_LIBSIGSEGV
#include <sigsegv.h>
#endif

namespace bench {

namespace {

// `count` pages in a row that are there.
class Memory {
 public:
  void map(size_t count) {
    count_ = count;
    void* at = mmap(nullptr, count * kPage, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (at == MAP_FAILED) fail("no memory");
    start_ = static_cast<char*>(at);
  }
  char* page(size_t i) const { return start_ + i * kPage; }
  size_t number(const void* address) const {
    return static_cast<size_t>(static_cast<const char*>(address) - start_) / kPage;
  }
  size_t count() const { return count_; }
  size_t size() const { return count_ * kPage; }
  void touch(size_t i) { store(page(i) + 64 * (i % 64)); }

 private:
  char* start_ = nullptr;
  size_t count_ = 0;
};

struct Mprotected : Memory {
  void protect(size_t i) { mprotect(page(i), kPage, PROT_NONE); }
  void unprotect(size_t i) { mprotect(page(i), kPage, PROT_READ | PROT_WRITE); }
  void protect_all() { mprotect(page(0), size(), PROT_NONE); }
} mprotected;

void open_and_protect_next(size_t i) {
  Order::on_trap();
  mprotected.unprotect(i);
  if (Order::next != Order::kNone) mprotected.protect(Order::next);
}

void on_segv(void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action = {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);
}

bool use_libsigsegv([[maybe_unused]] std::string& refusal) {
#ifdef WEIR_HAVE_LIBSIGSEGV
  static sigsegv_dispatcher dispatcher;
  sigsegv_init(&dispatcher);
  for (size_t i = 0; i < mprotected.count(); i++) {
    const auto opened = [](void*, void* number) {
      open_and_protect_next(reinterpret_cast<size_t>(number));
      return 1;
    };
    sigsegv_register(&dispatcher, mprotected.page(i), kPage, opened, reinterpret_cast<void*>(i));
  }
  if (sigsegv_install_handler(
          [](void* address, int) { return sigsegv_dispatch(&dispatcher, address); }) == 0)
    return true;
  refusal = "libsigsegv cannot catch SIGSEGV here";
#else
  refusal = "built without libsigsegv (Debian: libsigsegv-dev)";
#endif
  return false;
}

// Traps on writes only, which a thread is told of.
class WriteProtected : public Memory {
 public:
  bool open(size_t count, std::string& refusal) {
    map(count);
    file_ = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY));
    uffdio_api api = {.api = UFFD_API, .features = UFFD_FEATURE_PAGEFAULT_FLAG_WP, .ioctls = 0};
    uffdio_register pages = {};
    pages.range = {reinterpret_cast<uint64_t>(page(0)), size()};
    pages.mode = UFFDIO_REGISTER_MODE_WP;
    if (file_ < 0 || ioctl(file_, UFFDIO_API, &api) != 0 ||
        ioctl(file_, UFFDIO_REGISTER, &pages) != 0) {
      refusal = std::string("userfaultfd: ") + strerror(errno);
      return false;
    }
    std::thread([this] { answer(); }).detach();
    return true;
  }
  void protect(size_t i) { change(page(i), kPage, UFFDIO_WRITEPROTECT_MODE_WP); }
  void unprotect(size_t i) { change(page(i), kPage, 0); }
  void protect_all() { change(page(0), size(), UFFDIO_WRITEPROTECT_MODE_WP); }

 private:
  void change(char* start, size_t size, uint64_t mode) {
    uffdio_writeprotect range = {.range = {reinterpret_cast<uint64_t>(start), size}, .mode = mode};
    if (ioctl(file_, UFFDIO_WRITEPROTECT, &range) != 0)
      fail("userfaultfd does not change the protection");
  }
  void answer() {
    uffd_msg message;
    while (read(file_, &message, sizeof message) == sizeof message) {
      if (message.event != UFFD_EVENT_PAGEFAULT) continue;
      Order::on_trap();
      if (Order::next != Order::kNone) protect(Order::next);
      unprotect(number(
          reinterpret_cast<void*>(message.arg.pagefault.address)));  // and wakes who waits: last
    }
  }
  int file_ = -1;
} write_protected;

}  // namespace

Setup bare_trap() {
  return [](std::string&) -> Batch {
    static char open_page[kPage];
    mprotected.map(kMany);
    mprotected.protect_all();
    on_segv([](int, siginfo_t*, void* context) {
      Order::on_trap();
      static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RAX] =
          reinterpret_cast<greg_t>(open_page);
    });
    return [] {
      struct Repaired {
        size_t count() { return kMany; }
        void protect(size_t) {}
        void unprotect(size_t) {}
        void protect_all() {}
        void touch(size_t i) { mprotected.touch(i); }
      } repaired;
      return sequence(repaired, Way::kTrap, 20, false);
    };
  };
}

Setup pages(Pages by, Way way, size_t count, bool whole) {
  return [=](std::string& refusal) -> Batch {
    const size_t passes = std::max<size_t>(1, 2000 / count);
    if (by == Pages::kUserfaultfd) {
      if (!write_protected.open(count, refusal)) return {};
      return [=] { return sequence(write_protected, way, passes, whole); };
    }
    mprotected.map(count);
    if (by == Pages::kMprotect) {
      on_segv([](int, siginfo_t* information, void*) {
        open_and_protect_next(mprotected.number(information->si_addr));
      });
    } else if (!use_libsigsegv(refusal)) {
      return {};
    }
    return [=] { return sequence(mprotected, way, passes, whole); };
  };
}

Setup page_protect() {
  return [](std::string&) -> Batch {
    mprotected.map(kMany);
    return [] {
      constexpr size_t kPasses = 10;
      const double start = now();
      for (size_t pass = 0; pass < kPasses; pass++) {
        for (size_t i = 0; i < kMany; i++) mprotected.protect(i);
        for (size_t i = 0; i < kMany; i++) mprotected.unprotect(i);
      }
      return (now() - start) / (2.0 * kPasses * kMany);
    };
  };
}

}  // namespace bench
