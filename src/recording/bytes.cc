#include "recording/bytes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace weir::recording {

uint64_t sum_of(std::string_view bytes) { return XXH64(bytes.data(), bytes.size(), 0); }

struct Sum::State {
  XXH64_state_t xxh;
};

Sum::Sum() : state_(std::make_unique<State>()) { XXH64_reset(&state_->xxh, 0); }
Sum::~Sum() = default;

void Sum::add(std::string_view bytes) { XXH64_update(&state_->xxh, bytes.data(), bytes.size()); }

uint64_t Sum::value() const { return XXH64_digest(&state_->xxh); }

File File::reading(const std::string& path) {
  return File(open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

File File::appending(const std::string& path) {
  return File(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
}

File& File::operator=(File&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

File::~File() {
  if (descriptor_ >= 0) close(descriptor_);
}

int File::release() { return std::exchange(descriptor_, -1); }

std::string File::read(uint64_t offset, size_t size) const {
  std::string bytes(size, '\0');
  bytes.resize(read(offset, bytes.data(), size));
  return bytes;
}

size_t File::read(uint64_t offset, char* at, size_t size) const {
  size_t got = 0;
  while (got < size) {
    const ssize_t n = pread(descriptor_, at + got, size - got, static_cast<off_t>(offset + got));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    got += static_cast<size_t>(n);
  }
  return got;
}

bool File::write(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t n = ::write(descriptor_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

uint64_t File::size() const {
  struct stat status;
  return fstat(descriptor_, &status) == 0 ? static_cast<uint64_t>(status.st_size) : 0;
}

std::string content_of(const std::string& path, size_t most) {
  const File file = File::reading(path);
  if (!file.is_open()) throw Damage(path + ": " + strerror(errno));
  const uint64_t size = file.size();
  if (size > most) throw Damage(path + " is longer than any that Weir writes");
  return file.read(0, size);
}

bool replace_file(const std::string& path, std::string_view content) {
  const std::string part = path + ".part";
  unlink(part.c_str());
  bool written = false;
  int cause = 0;
  {
    const File file = File::appending(part);
    written = file.is_open() && file.write(content);
    cause = errno;
  }
  if (written && rename(part.c_str(), path.c_str()) == 0) return true;
  if (written) cause = errno;
  unlink(part.c_str());
  errno = cause;
  return false;
}

std::string rest_of(int descriptor) {
  std::string text;
  char piece[4096];
  for (ssize_t n; (n = ::read(descriptor, piece, sizeof piece)) > 0 || (n < 0 && errno == EINTR);) {
    if (n > 0) text.append(piece, static_cast<size_t>(n));
  }
  return text;
}

int64_t modified(const struct stat& status) {
  return status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec;
}

bool each_piece(const File& file, uint64_t size,
                const std::function<bool(uint64_t, std::string_view)>& visit) {
  const auto piece = std::make_unique<char[]>(kPiece);
  for (uint64_t at = 0; at < size;) {
    const off_t data = lseek(file.descriptor(), static_cast<off_t>(at), SEEK_DATA);
    if (data < 0 && errno == ENXIO)
      break;  // a hole to the end; other errors: no file system that tells holes
    if (data > 0) at = std::max(at, static_cast<uint64_t>(data) / kPiece * kPiece);
    if (at >= size) break;
    const size_t got = file.read(at, piece.get(), std::min<uint64_t>(kPiece, size - at));
    if (got == 0) break;
    const bool zeros = piece[0] == 0 && memcmp(piece.get(), piece.get() + 1, got - 1) == 0;
    if (!zeros && !visit(at, {piece.get(), got})) return false;
    at += got;
  }
  return true;
}

void PieceSum::add(uint64_t offset, std::string_view piece) {
  if (offset != limit_) sum_.add({reinterpret_cast<const char*>(&offset), sizeof offset});
  sum_.add(piece);
  limit_ = offset + piece.size();
}

uint64_t sum_of_file(const File& file) {
  PieceSum sum;
  each_piece(file, UINT64_MAX,
             [&](uint64_t offset, std::string_view piece) { return sum.add(offset, piece), true; });
  return sum.value();
}

std::string escaped(std::string_view bytes) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f && c != '%') {
      text += c;
    } else {
      text += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return text;
}

namespace {

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

}  // namespace

std::string unescaped(std::string_view text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); i++) {
    if (text[i] != '%') {
      bytes += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? digit_of(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? digit_of(text[i + 2]) : -1;
    if (high < 0 || low < 0) throw Damage("a quoted name ends in a %");
    bytes += static_cast<char>(high << 4 | low);
    i += 2;
  }
  return bytes;
}

std::string hex(uint64_t number) {
  std::string text(16, '0');
  for (size_t i = 16; i-- > 0; number >>= 4) text[i] = "0123456789abcdef"[number & 15];
  return text;
}

uint64_t from_hex(std::string_view text) {
  uint64_t number = 0;
  if (text.size() != 16) throw Damage("a sum that has not 16 digits");
  for (const char c : text) {
    if (digit_of(c) < 0) throw Damage("a sum that is no number");
    number = number << 4 | static_cast<uint64_t>(digit_of(c));
  }
  return number;
}

}  // namespace weir::recording
