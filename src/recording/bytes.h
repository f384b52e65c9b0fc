// Files, sums and errors, as all of this folder needs them.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace weir::recording {

// A recording that cannot be read, or not written: the message is for the user and names the file.
struct Damage : std::runtime_error {
  using std::runtime_error::runtime_error;
};

uint64_t sum_of(std::string_view bytes);

// sum_of() for bytes that come piece by piece.
class Sum {
 public:
  Sum();
  ~Sum();
  void add(std::string_view bytes);
  uint64_t value() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Files that are read whole are read in pieces of this size, which stay in a processor's cache.
inline constexpr size_t kPiece = 128 << 10;

// A descriptor that is closed with its owner.
class File {
 public:
  File() = default;
  explicit File(int descriptor) : descriptor_(descriptor) {}
  static File reading(const std::string& path);  // is_open() says whether; errno why not
  static File appending(
      const std::string& path);  // made for this user alone: a recording holds the environment
  File(File&& other) noexcept : descriptor_(other.release()) {}
  File& operator=(File&& other) noexcept;
  ~File();

  bool is_open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }
  int release();

  // Fewer than `size` bytes at the file's end, or where it cannot be read.
  std::string read(uint64_t offset, size_t size) const;
  size_t read(uint64_t offset, char* at, size_t size) const;
  // False with errno; then some of the bytes may be there.
  bool write(std::string_view bytes) const;
  uint64_t size() const;

 private:
  int descriptor_ = -1;
};

// The whole file; throws Damage where it cannot be read or is longer than `most`.
std::string content_of(const std::string& path, size_t most);
// Writes the file under another name and renames it, so that it is there as a whole or not at all.
// Returns false with errno.
bool replace_file(const std::string& path, std::string_view content);
// To the end of what a pipe gives.
std::string rest_of(int descriptor);
int64_t modified(const struct stat& status);  // nanoseconds

// Calls visit(offset, bytes) for the pieces of a file up to `size` that are not zeros throughout,
// kPiece bytes each except the last one. Holes are not read: a file of terabytes with little in it
// takes no time. Returns false if a visit did.
bool each_piece(const File& file, uint64_t size,
                const std::function<bool(uint64_t, std::string_view)>& visit);
// XXH64 over these pieces, and over the offset of each that does not follow the one before: the
// same whether zeros are holes or not.
class PieceSum {
 public:
  void add(uint64_t offset, std::string_view piece);
  uint64_t value() const { return sum_.value(); }

 private:
  Sum sum_;
  uint64_t limit_ = 0;
};
// PieceSum of what the descriptor holds from its start.
uint64_t sum_of_file(const File& file);

// Names of files and variables are bytes, JSON is UTF-8: '%', control characters and what is not
// ASCII become %XX.
std::string escaped(std::string_view bytes);
std::string unescaped(
    std::string_view text);                // throws Damage where a % is followed by no two digits
std::string hex(uint64_t number);          // 16 digits
uint64_t from_hex(std::string_view text);  // throws Damage

}  // namespace weir::recording
