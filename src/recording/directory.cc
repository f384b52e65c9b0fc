#include "recording/directory.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <set>
#include <tuple>

namespace weir::recording {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxText = 64 << 20;  // of a manifest: an environment may be large
constexpr size_t kPathMost = 500;      // what fits into channel::Header::directory, with "/files/N"

std::string variable(const char* name) {
  const char* value = getenv(name);
  return value ? value : "";
}

[[noreturn]] void fail(const std::string& path, int error) {
  throw Damage(path + ": " + strerror(error));
}

// The program's own name, without what a shell or a terminal takes amiss.
std::string plain_name(const std::string& program) {
  std::string name = fs::path(program).filename().string();
  for (char& c : name) {
    if (!isalnum(static_cast<unsigned char>(c)) && !strchr("._+-", c)) c = '_';
  }
  while (name.starts_with(".") || name.starts_with("-")) name.erase(0, 1);
  return name.empty() ? "program" : name.substr(0, 64);
}

void make_parents(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) fail(path, error.value());
}

// For this user alone, whatever the umask is: a recording holds the environment, and what the
// program read.
constexpr mode_t kOwn = 0700;

// The place of recordings, and what of its parents is missing.
void make_own(const std::string& path) {
  if (path.empty() || fs::is_directory(path)) return;
  make_own(fs::path(path).parent_path().string());
  if (mkdir(path.c_str(), kOwn) != 0 && errno != EEXIST) fail(path, errno);
}

// Makes the directory and what lies in it. False: it exists, and is not what the caller could do
// with: an empty directory.
bool make(const std::string& path, bool may_exist) {
  if (mkdir(path.c_str(), kOwn) != 0) {
    if (errno != EEXIST) fail(path, errno);
    std::error_code error;
    if (!may_exist || !fs::is_directory(path, error) || !fs::is_empty(path, error) || error)
      return false;
    if (chmod(path.c_str(), kOwn) != 0) fail(path, errno);
  }
  for (const char* name : {kStreams, kFiles, kKept}) {
    const std::string inner = path + "/" + name;
    if (mkdir(inner.c_str(), kOwn) != 0) fail(inner, errno);
  }
  return true;
}

std::string absolute(const std::string& path) {
  std::string result = fs::absolute(path).lexically_normal().string();
  while (result.size() > 1 && result.ends_with("/")) result.pop_back();
  return result;
}

std::string now_as_name() {
  const time_t now = time(nullptr);
  tm parts;
  char text[32];
  strftime(text, sizeof text, "%Y%m%d-%H%M%S", localtime_r(&now, &parts));
  return text;
}

}  // namespace

std::string default_place() {
  if (const std::string place = variable("WEIR_RECORDINGS"); !place.empty()) return absolute(place);
  if (const std::string data = variable("XDG_DATA_HOME"); data.starts_with("/"))
    return data + "/weir";
  if (const std::string home = variable("HOME"); !home.empty())
    return absolute(home) + "/.local/share/weir";
  throw Damage(
      "there is no place for recordings: set HOME or WEIR_RECORDINGS, or name a directory");
}

std::string make_directory(const std::string& program, const std::string& wanted) {
  std::string path;
  if (!wanted.empty()) {
    path = absolute(wanted);
    if (path.size() > kPathMost) fail(path, ENAMETOOLONG);
    make_parents(fs::path(path).parent_path().string());
    if (!make(path, true)) throw Damage(path + ": there is something already");
    return path;
  }
  const std::string place = default_place();
  make_own(place);
  const std::string base = place + "/" + plain_name(program) + "-" + now_as_name();
  if (base.size() > kPathMost - 8) fail(base, ENAMETOOLONG);
  for (int number = 1; number < 100000; number++) {
    path = number == 1 ? base : base + "-" + std::to_string(number);
    if (make(path, false)) return path;
  }
  throw Damage(base + ": too many recordings of this second");
}

Recording::Recording(const std::string& name) : directory(absolute(name)) {
  struct stat status;
  if (stat(directory.c_str(), &status) != 0) throw Damage(name + ": " + strerror(errno));
  if (!S_ISDIR(status.st_mode)) throw Damage(name + " is no recording: it is not a directory");
  if (access(path(kManifest).c_str(), R_OK) != 0 && errno == EACCES) {
    const passwd* const owner = getpwuid(status.st_uid);
    throw Damage(name + ": it belongs to " +
                 (owner ? owner->pw_name : "user " + std::to_string(status.st_uid)) +
                 ", and only its owner may read a recording: it replays from a copy that is yours "
                 "(cp -r and chown -R as root)");
  }
  if (access(path(kManifest).c_str(), F_OK) != 0)
    throw Damage(name + " is no recording: it has no file 'manifest'");
  try {
    manifest = Manifest::from_text(content_of(path(kManifest), kMaxText));
  } catch (const Damage& damage) { throw Damage(name + ": " + damage.what()); }
  // A part that is there but cannot be read is a damage. False: it is not there.
  const auto read_part = [&](const char* name, auto take) {
    if (access(path(name).c_str(), F_OK) != 0) return false;
    try {
      take(content_of(path(name), kMaxText));
    } catch (const Damage& damage) { damages.push_back(damage.what()); }
    return true;
  };
  const bool has_end = read_part(kEndFile, [&](const std::string& text) {
    end = End::from_text(text);
    if (!end->is_whole()) damages.push_back("it ends before the program did: " + end->reason);
  });
  if (!has_end) damages.push_back("it was cut short: there is no file 'end'");
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(path(kStreams), error)) {
    const std::string file = entry.path().filename().string();
    if (const auto key = Key::from_name(file)) {
      streams.push_back({*key, entry.path().string()});
    } else {
      damages.push_back("streams/" + file + " is no stream's name");
    }
  }
  if (error) damages.push_back(std::string("streams: ") + error.message());
  std::sort(streams.begin(), streams.end(),
            [](const auto& a, const auto& b) { return a.key < b.key; });
  if (end) {
    for (const auto& [stream, unused] : end->streams) {
      const auto key = Key::from_name(stream);
      if (std::none_of(streams.begin(), streams.end(),
                       [&](const StreamFile& file) { return key && file.key == *key; })) {
        damages.push_back("streams/" + stream + " is missing");
      }
    }
  }
  read_part(kImages, [&](const std::string& text) { images = images_from(text); });
  read_part(kFileList, [&](const std::string& text) {
    std::string damage;
    copies = copies_from(text, &damage);
    if (!damage.empty()) damages.push_back(std::string(kFileList) + ": " + damage);
  });
}

uint64_t size_of(const std::string& directory) {
  uint64_t sum = 0;
  std::set<ino_t> counted;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(directory, error)) {
    struct stat status;
    const bool is_file = lstat(entry.path().c_str(), &status) == 0 && S_ISREG(status.st_mode);
    const bool is_shared = status.st_nlink > 1 && entry.path().parent_path().filename() == kKept;
    if (is_file && !is_shared && counted.insert(status.st_ino).second)
      sum += static_cast<uint64_t>(status.st_size);
  }
  return sum;
}

bool is_recording(const std::string& directory) {
  std::error_code error;
  if (!fs::is_directory(directory, error)) return false;
  try {
    return content_of(directory + "/" + kManifest, kMaxText).find("\"weir recording\"") !=
           std::string::npos;
  } catch (const Damage&) { return false; }
}

std::vector<std::string> recordings_in(const std::string& place) {
  struct Found {
    timespec made;
    std::string path;
  };
  std::vector<Found> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(place, error)) {
    struct stat status;
    const std::string path = entry.path().string();
    if (stat((path + "/" + kManifest).c_str(), &status) == 0)
      found.push_back({status.st_mtim, path});
  }
  if (error && error != std::errc::no_such_file_or_directory) fail(place, error.value());
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    return std::tuple(a.made.tv_sec, a.made.tv_nsec, a.path) <
           std::tuple(b.made.tv_sec, b.made.tv_nsec, b.path);
  });
  std::vector<std::string> paths;
  for (Found& one : found) paths.push_back(std::move(one.path));
  return paths;
}

std::string recording_named(const std::string& name) {
  if (name.empty() || name.find('/') != std::string::npos || is_recording(name)) return name;
  std::string place;
  try {
    place = default_place();
  } catch (const Damage&) { return name; }
  const std::string path = place + "/" + name;
  std::error_code error;
  const bool is_there =
      name != "." && name != ".." && access((path + "/" + kManifest).c_str(), F_OK) == 0;
  return is_there ? path : name;
}

std::string damage_of(const File& file, uint64_t size, uint64_t sum) {
  if (!file.is_open()) return strerror(errno);
  if (file.size() != size)
    return "has " + std::to_string(file.size()) + " bytes instead of " + std::to_string(size);
  return sum_of_file(file) == sum ? "" : "the sum is wrong";
}

void verify_copies(const Recording& recording, std::vector<std::string>* damages) {
  std::set<uint64_t> seen, kept;  // what is kept is looked at by its own name
  for (const auto* files : {&recording.manifest.files, &recording.images}) {
    for (const Identity& file : *files) {
      if (file.is_kept) kept.insert(file.sum);
    }
  }
  for (const Copy& copy : recording.copies) {
    const std::string name = std::string(kFiles) + "/" + std::to_string(copy.number);
    const File file = File::reading(recording.path(name));
    const bool is_listed =
        !file.is_open() && errno == ENOENT &&
        (kept.contains(copy.sum) || access(recording.path(kept_name(copy.sum)).c_str(), F_OK) == 0);
    const std::string damage = is_listed ? "" : damage_of(file, copy.size, copy.sum);
    if (!damage.empty()) damages->push_back(name + ": " + damage);
    if (!seen.insert(copy.number).second) damages->push_back(name + ": is listed twice");
  }
}

namespace {

void verify_kept(const Recording& recording, std::vector<std::string>* damages) {
  std::set<uint64_t> seen;
  for (const auto* files : {&recording.manifest.files, &recording.images}) {
    for (const Identity& file : *files) {
      if (!file.is_kept || !seen.insert(file.sum).second) continue;
      const std::string name = kept_name(file.sum);
      const std::string damage =
          damage_of(File::reading(recording.path(name)), file.size, file.sum);
      if (!damage.empty()) damages->push_back(name + " (" + file.path + "): " + damage);
    }
  }
}

}  // namespace

Report verify(const Recording& recording) {
  Report report{recording.damages, 0, 0, 0};
  if (recording.end && recording.end->streams.empty())
    report.damages.emplace_back("nothing is recorded in it: the program could not start");
  for (const StreamFile& stream : recording.streams) {
    const std::string name = std::string(kStreams) + "/" + stream.key.name();
    File file = File::reading(stream.path);
    if (!file.is_open()) {
      report.damages.push_back(name + ": " + strerror(errno));
      continue;
    }
    const Extent extent = scan(file, recording.manifest.recording, stream.key);
    if (!extent.damage.empty()) report.damages.push_back(name + ": " + extent.damage);
    StreamReader reader(std::move(file), recording.manifest.recording, stream.key,
                        extent.whole_size);
    while (reader.peek()) reader.take();
    if (!reader.damage().empty()) report.damages.push_back(name + ": " + reader.damage());
    report.chunks += extent.chunks;
    report.entries += reader.entries();
    report.bytes += extent.file_size;
    if (!recording.end) continue;
    const auto said = recording.end->streams.find(stream.key.name());
    if (said == recording.end->streams.end()) {
      report.damages.push_back(name + ": is not among the streams that the end names");
    } else if (said->second != End::Stream{extent.chunks, reader.entries()}) {
      report.damages.push_back(name + ": has " + std::to_string(extent.chunks) + " chunks with " +
                               std::to_string(reader.entries()) + " entries, and should have " +
                               std::to_string(said->second.chunks) + " with " +
                               std::to_string(said->second.entries));
    }
  }
  verify_copies(recording, &report.damages);
  verify_kept(recording, &report.damages);
  return report;
}

}  // namespace weir::recording
