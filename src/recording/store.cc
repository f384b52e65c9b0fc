// A content is the file contents/SUM, and what is known of a file the symbolic link
// known/DEVICE-INODE-SIZE-MODIFIED-CHANGED, which points to SUM-BUILD. A link is made and read by
// one system call, so that recorders need no lock.
//
// 1. A content is there as a whole or not at all: it is written under another name and renamed.
//    (checked by sums, when a recording is verified or replayed)
// 2. A content is never written again. It has a time of modification that no other file has, and
//    one that somebody has written to is made anew. (checked in `keep`)
// 3. A file is remembered only if its times are some seconds old: a change after that changes them,
//    as far as the clock of the file system can tell. (checked in `learn`)
#include "recording/store.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <ctime>
#include <filesystem>
#include <string_view>
#include <utility>

namespace weir::recording {
namespace {

constexpr time_t kWritten = 1'000'000'000;                // time of modification of a content
constexpr time_t kMinAge = 2, kMaxUnused = 24 * 60 * 60;  // seconds
constexpr mode_t kMode = 0500;

// All of the piece, or false with errno. A disk that is full takes a part first, and says so when
// it is asked for the rest.
bool write_at(const File& to, std::string_view piece, uint64_t at) {
  while (!piece.empty()) {
    const ssize_t n = pwrite(to.descriptor(), piece.data(), piece.size(), static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n == 0) errno = ENOSPC;
    if (n <= 0) return false;
    piece.remove_prefix(static_cast<size_t>(n));
    at += static_cast<uint64_t>(n);
  }
  return true;
}

std::string name_of_file(const struct stat& status) {
  const auto time = [](const timespec& at) {
    return std::to_string(at.tv_sec) + "." + std::to_string(at.tv_nsec);
  };
  return std::to_string(status.st_dev) + "-" + std::to_string(status.st_ino) + "-" +
         std::to_string(status.st_size) + "-" + time(status.st_mtim) + "-" + time(status.st_ctim);
}

// A new file in the folder, with the content of `from`, as a content is. Its sum, by which it is
// named.
std::optional<uint64_t> make(const File& from, const std::string& folder) {
  const std::string part = folder + "/" + std::to_string(getpid()) + ".part";
  unlink(part.c_str());
  const File to(open(part.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kMode));
  if (!to.is_open()) return {};
  const auto sum = copy_content(from, to, from.size());
  const timespec times[2] = {{kWritten, 0}, {kWritten, 0}};
  if (sum && futimens(to.descriptor(), times) == 0 &&
      rename(part.c_str(), (folder + "/" + hex(*sum)).c_str()) == 0)
    return sum;
  const int cause = errno;
  unlink(part.c_str());
  errno = cause;
  return {};
}

}  // namespace

std::optional<uint64_t> copy_content(const File& from, const File& to, uint64_t size) {
  if (ioctl(to.descriptor(), FICLONE, from.descriptor()) == 0) return sum_of_file(to);
  if (ftruncate(to.descriptor(), static_cast<off_t>(size)) != 0) return {};
  PieceSum summed;
  const bool whole = each_piece(from, size, [&](uint64_t at, std::string_view piece) {
    summed.add(at, piece);
    return write_at(to, piece, at);
  });
  if (!whole) return {};
  return summed.value();
}

Store::Store(std::string folder) : folder_(std::move(folder)) {
  if (folder_.empty()) return;
  for (const std::string& name : {folder_, folder_ + "/contents", folder_ + "/known"}) {
    if (mkdir(name.c_str(), 0700) == 0 || errno == EEXIST) continue;
    folder_.clear();
    return;
  }
}

std::string Store::name_of(uint64_t sum) const { return folder_ + "/contents/" + hex(sum); }

std::optional<Store::Known> Store::known(const struct stat& status) const {
  if (folder_.empty()) return {};
  char text[PATH_MAX];
  const std::string name = folder_ + "/known/" + name_of_file(status);
  const ssize_t length = readlink(name.c_str(), text, sizeof text);
  const std::string_view all(text, static_cast<size_t>(length < 0 ? 0 : length));
  if (all.size() < 17) return {};
  try {
    return Known{from_hex(all.substr(0, 16)), std::string(all.substr(17))};
  } catch (const Damage&) { return {}; }
}

void Store::learn(const struct stat& status, const Known& known) const {
  if (folder_.empty()) return;
  const time_t now = time(nullptr);
  if (status.st_mtim.tv_sec > now - kMinAge || status.st_ctim.tv_sec > now - kMinAge) return;
  const std::string text = hex(known.sum) + "-" + known.build,
                    name = folder_ + "/known/" + name_of_file(status);
  // Without room for it the file is read again, no more.
  static_cast<void>(symlink(text.c_str(), name.c_str()) != 0);
}

bool Store::take(uint64_t sum, uint64_t size, const std::string& folder) const {
  const std::string name = name_of(sum), to = folder + "/" + hex(sum);
  struct stat status;
  if (stat(name.c_str(), &status) != 0) return false;
  const bool is_as_written = status.st_mtim.tv_sec == kWritten && status.st_mtim.tv_nsec == 0 &&
                             static_cast<uint64_t>(status.st_size) == size;
  if (is_as_written) return link(name.c_str(), to.c_str()) == 0 || errno == EEXIST;
  unlink(name.c_str());
  return false;
}

std::optional<uint64_t> Store::keep(const File& from, std::optional<uint64_t> sum,
                                    const std::string& folder) const {
  if (folder_.empty()) return make(from, folder);
  if (sum && take(*sum, from.size(), folder)) return sum;
  if (!std::exchange(is_pruned_, true)) prune();
  sum = make(from, folder_ + "/contents");
  return sum && take(*sum, from.size(), folder) ? sum : make(from, folder);
}

void Store::prune() const {
  if (folder_.empty()) return;
  namespace fs = std::filesystem;
  const time_t now = time(nullptr);
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_ + "/contents", error)) {
    struct stat status;
    if (lstat(entry.path().c_str(), &status) == 0 && status.st_nlink == 1 &&
        status.st_ctim.tv_sec < now - kMaxUnused)
      unlink(entry.path().c_str());
  }
  for (const auto& entry : fs::directory_iterator(folder_ + "/known", error)) {
    char text[64] = {};
    if (readlink(entry.path().c_str(), text, sizeof text - 1) < 16 ||
        access((folder_ + "/contents/" + std::string(text, 16)).c_str(), F_OK) == 0)
      continue;
    unlink(entry.path().c_str());
  }
}

}  // namespace weir::recording
