// Writers remember the first error and go on, so the caller asks once, at the end. Readers end the
// job at the first thing that is wrong, and name the file.
//
// Invariants:
//   1. A generation is whole and on disk before `current` names it. `current` changes by a rename,
//      so whenever a process or the machine stops, it names a whole one. (not checkable: a crash
//      comes between two instructions)
//   2. Nothing that is read counts before its checksum was found right: that of a unit's bytes
//      before they are installed, those of headers, sizes and the number of units before the
//      restart is over, which all nodes wait for. (checked in next)
#include "dsm/checkpoint/files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "dsm/base/failure.h"

namespace weir::dsm {

namespace {

constexpr size_t kBuffer = 1 << 20;
constexpr const char* kGeneration = "generation-";

struct FileHeader {
  char magic[8] = {'w', 'e', 'i', 'r', 'd', 's', 'm', 'u'};
  uint32_t version = kCheckpointVersion;
  uint32_t node = 0;
  uint64_t generation = 0;
};
static_assert(sizeof(FileHeader) == 24);

struct Record {
  uint32_t unit = kNoUnit;
  uint32_t zero = 0;
  uint64_t size = 0;
  uint64_t checksum = 0;  // of what is before it, and of the bytes
};
static_assert(sizeof(Record) == 24);

uint64_t checksum_of(const Record& record, const uint8_t* bytes) {
  return checksum(checksum(0, &record, offsetof(Record, checksum)), bytes, record.size);
}

int close_synced(FILE* file, int error) {
  if (!error && fflush(file)) error = errno;
  if (!error && fsync(fileno(file))) error = errno;
  if (fclose(file) && !error) error = errno;
  return error;
}

}  // namespace

uint64_t checksum(uint64_t before, const void* bytes, size_t size) {
  constexpr uint64_t kOdd = 0x9e37'79b9'7f4a'7c15;
  const auto* at = static_cast<const uint8_t*>(bytes);
  uint64_t sum = (before ^ size) * kOdd;
  const auto step = [&](size_t length) {
    uint64_t word = 0;
    memcpy(&word, at, length);
    sum = (sum ^ word) * kOdd;
    sum ^= sum >> 32;
    at += length;
    size -= length;
  };
  while (size >= sizeof(uint64_t)) step(sizeof(uint64_t));
  if (size) step(size);
  return sum;
}

// --- Units

UnitWriter::UnitWriter(const std::string& path, NodeId node, uint32_t generation)
    : file_(fopen(path.c_str(), "wbxe")) {
  if (!file_) {
    error_ = errno;
    return;
  }
  setvbuf(file_, nullptr, _IOFBF, kBuffer);
  FileHeader header;
  header.node = node;
  header.generation = generation;
  sum_.checksum = checksum(0, &header, sizeof header);
  put(&header, sizeof header);
}

UnitWriter::~UnitWriter() {
  if (file_) fclose(file_);
}

void UnitWriter::put(const void* bytes, size_t size) {
  if (error_) return;
  if (fwrite(bytes, 1, size, file_) != size) error_ = errno ? errno : EIO;
  sum_.size += size;
}

void UnitWriter::add(UnitId unit, const uint8_t* bytes, uint64_t size) {
  if (error_) return;
  Record record;
  record.unit = unit;
  record.size = size;
  record.checksum = checksum_of(record, bytes);
  sum_.checksum = checksum(sum_.checksum, &record, sizeof record);
  put(&record, sizeof record);
  put(bytes, size);
  units_++;
}

int UnitWriter::finish(FileSum& sum) {
  Record end;
  end.size = units_;
  end.checksum = sum_.checksum;
  if (!error_) put(&end, sizeof end);
  if (file_) error_ = close_synced(file_, error_);
  file_ = nullptr;
  sum = sum_;
  return error_;
}

UnitReader::UnitReader(const std::string& path, NodeId node, uint32_t generation,
                       const FileSum& expected)
    : path_(path), file_(fopen(path.c_str(), "rbe")), expected_(expected) {
  if (!file_)
    fail("the checkpoint is incomplete: %s cannot be read (%s)", path.c_str(), strerror(errno));
  setvbuf(file_, nullptr, _IOFBF, kBuffer);
  struct stat status;
  if (fstat(fileno(file_), &status) || static_cast<uint64_t>(status.st_size) != expected.size) {
    fail("the checkpoint is damaged: %s has not the %" PRIu64 " bytes that were written",
         path.c_str(), expected.size);
  }
  FileHeader header;
  get(&header, sizeof header);
  FileHeader right;
  right.node = node;
  right.generation = generation;
  if (memcmp(&header, &right, sizeof right))
    fail("the checkpoint is damaged: %s has another header", path.c_str());
  sum_.checksum = checksum(0, &header, sizeof header);
}

UnitReader::~UnitReader() {
  if (file_) fclose(file_);
}

void UnitReader::get(void* bytes, size_t size) {
  errno = 0;
  if (size > expected_.size - sum_.size || fread(bytes, 1, size, file_) != size) {
    fail("the checkpoint is damaged: %s ends too early (%s)", path_.c_str(),
         errno ? strerror(errno) : "end of file");
  }
  sum_.size += size;
}

bool UnitReader::next(UnitId& unit, std::vector<uint8_t>& bytes) {
  Record record;
  get(&record, sizeof record);
  if (record.unit == kNoUnit) {
    if (record.size != units_ || record.checksum != sum_.checksum ||
        sum_.checksum != expected_.checksum || sum_.size != expected_.size) {
      fail("the checkpoint is damaged: the checksum of %s is wrong", path_.c_str());
    }
    return false;
  }
  sum_.checksum = checksum(sum_.checksum, &record, sizeof record);
  if (record.size > expected_.size - sum_.size)
    fail("the checkpoint is damaged: %s has a unit %u of %" PRIu64 " bytes", path_.c_str(),
         record.unit, record.size);
  bytes.resize(record.size);
  get(bytes.data(), record.size);
  // Invariant 2 of dsm/checkpoint/files.cc.
  if (checksum_of(record, bytes.data()) != record.checksum)
    fail("the checkpoint is damaged: the checksum of unit %u in %s is wrong", record.unit,
         path_.c_str());
  unit = record.unit;
  units_++;
  return true;
}

// --- Whole files

int read_whole(const std::string& path, std::vector<uint8_t>& bytes) {
  FILE* file = fopen(path.c_str(), "rbe");
  if (!file) return errno;
  bytes.clear();
  int error = 0;
  for (;;) {
    uint8_t some[8192];
    const size_t got = fread(some, 1, sizeof some, file);
    bytes.insert(bytes.end(), some, some + got);
    if (got == sizeof some) continue;
    if (ferror(file)) error = errno ? errno : EIO;
    break;
  }
  fclose(file);
  return error;
}

int write_whole(const std::string& path, const void* bytes, size_t size) {
  FILE* file = fopen(path.c_str(), "wbe");
  if (!file) return errno;
  return close_synced(file, fwrite(bytes, 1, size, file) == size ? 0 : errno ? errno : EIO);
}

int sync_directory(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return errno;
  const int error = fsync(file) ? errno : 0;
  close(file);
  return error;
}

// --- Generations

std::string generation_path(const std::string& directory, uint32_t generation) {
  return directory + "/" + kGeneration + std::to_string(generation);
}

int read_current(const std::string& directory, Current& current) {
  std::vector<uint8_t> bytes;
  current = {};
  const int error = read_whole(directory + "/current", bytes);
  if (error) return error == ENOENT ? 0 : error;
  const std::string text(bytes.begin(), bytes.end());
  Current read;
  char again[64];
  if (sscanf(text.c_str(), "generation-%" SCNu32 " %" SCNx64, &read.generation, &read.checksum) !=
          2 ||
      read.generation == 0)
    return EBADMSG;
  snprintf(again, sizeof again, "%s%" PRIu32 " %016" PRIx64 "\n", kGeneration, read.generation,
           read.checksum);
  if (text != again) return EBADMSG;
  current = read;
  return 0;
}

int write_current(const std::string& directory, const Current& current) {
  char text[64];
  const int size = snprintf(text, sizeof text, "%s%" PRIu32 " %016" PRIx64 "\n", kGeneration,
                            current.generation, current.checksum);
  const std::string path = directory + "/current", next = path + ".next";
  if (const int error = write_whole(next, text, static_cast<size_t>(size))) return error;
  if (rename(next.c_str(), path.c_str())) return errno;
  return sync_directory(directory);
}

int make_generation(const std::string& directory, uint32_t generation) {
  std::error_code error;
  if (std::filesystem::create_directories(directory, error)) {
    const std::string parent =
        std::filesystem::absolute(directory, error).lexically_normal().parent_path().string();
    if (const int number = error ? error.value() : sync_directory(parent)) return number;
  }
  if (error) return error.value();
  remove_generation(directory, generation);
  if (mkdir(generation_path(directory, generation).c_str(), 0777)) return errno;
  return sync_directory(directory);
}

void remove_generation(const std::string& directory, uint32_t generation) {
  std::error_code ignored;
  std::filesystem::remove_all(generation_path(directory, generation), ignored);
}

void remove_others(const std::string& directory, uint32_t generation) {
  std::error_code error;
  std::vector<uint32_t> others;
  for (std::filesystem::directory_iterator at(directory, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    uint32_t number = 0;
    if (sscanf(name.c_str(), "generation-%" SCNu32, &number) == 1 && number != generation &&
        name == kGeneration + std::to_string(number))
      others.push_back(number);
  }
  for (uint32_t number : others) remove_generation(directory, number);
}

}  // namespace weir::dsm
