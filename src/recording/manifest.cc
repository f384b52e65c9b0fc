// nlohmann's exceptions do not leave this file: whatever a damaged text is, it becomes a Damage.
#include "recording/manifest.h"

#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "recording/format.h"

namespace weir::recording {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormatKey = "weir recording";
constexpr const char* kSumKey = "sum";
constexpr size_t kFacts = 13;  // facts_of()

// The text with its sum at the end. The sum is of the text without spaces and without it.
std::string sealed(Json json) {
  json[kSumKey] = hex(sum_of(json.dump()));
  return json.dump(2) + "\n";
}

// What `sealed` made. The format comes before the sum: a text of another version may be summed
// otherwise.
Json opened(const std::string& text, const char* what) {
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains(kFormatKey) || !json[kFormatKey].is_number_unsigned()) {
    throw Damage(std::string("the ") + what + " is none of a recording, or damaged");
  }
  const auto format = json[kFormatKey].get<uint64_t>();
  if (format < kOldestFormat || format > kFormat) {
    const std::string which = format < kFormat ? "an older" : "a newer";
    throw Damage("it was recorded by " + which + " version of Weir (format " +
                 std::to_string(format) + ", this one reads " + std::to_string(kFormat) +
                 "), or its " + what + " is damaged");
  }
  const auto sum = json.find(kSumKey);
  if (sum == json.end() || !sum->is_string())
    throw Damage(std::string("the ") + what + " is damaged: it has no sum");
  const auto wanted = sum->get<std::string>();
  json.erase(kSumKey);
  if (hex(sum_of(json.dump())) != wanted)
    throw Damage(std::string("the ") + what + " is damaged: its sum is wrong");
  return json;
}

template <typename Read>
auto read_json(const std::string& text, const char* what, Read read) {
  try {
    return read(opened(text, what));
  } catch (const Json::exception& error) {
    throw Damage(std::string("the ") + what + " is damaged: " + error.what());
  }
}

Json list_of(const std::vector<std::string>& words) {
  Json list = Json::array();
  for (const std::string& word : words) list.push_back(escaped(word));
  return list;
}

std::vector<std::string> words_of(const Json& list) {
  std::vector<std::string> words;
  for (const Json& word : list) words.push_back(unescaped(word.get<std::string>()));
  return words;
}

std::string bytes_at(const Json& json, const char* key) {
  return unescaped(json.at(key).get<std::string>());
}

Json json_of(const std::vector<Identity>& files) {
  Json list = Json::array();
  for (const Identity& file : files) {
    list.push_back({{"path", escaped(file.path)},
                    {"size", file.size},
                    {"modified", file.modified},
                    {"build", file.build},
                    {"sum", hex(file.sum)},
                    {"kept", file.is_kept},
                    {"stat", file.facts}});
  }
  return list;
}

std::vector<Identity> files_of(const Json& json) {
  std::vector<Identity> files;
  for (const Json& file : json.at("files")) {
    files.push_back({bytes_at(file, "path"), file.at("size").get<uint64_t>(),
                     file.at("modified").get<int64_t>(), file.at("build").get<std::string>(),
                     from_hex(file.at("sum").get<std::string>()), file.value("kept", false),
                     file.value("stat", std::vector<int64_t>())});
    if (const size_t size = files.back().facts.size(); size != 0 && size != kFacts)
      throw Damage("the facts of a file are not " + std::to_string(kFacts));
  }
  return files;
}

}  // namespace

std::string kept_name(uint64_t sum) { return std::string(kKept) + "/" + hex(sum); }

std::vector<int64_t> facts_of(const struct stat& status) {
  constexpr int64_t kSecond = 1'000'000'000;
  const auto number = [](auto value) { return static_cast<int64_t>(value); };
  const auto time = [](const timespec& at) { return at.tv_sec * kSecond + at.tv_nsec; };
  return {number(status.st_dev),  number(status.st_ino),  number(status.st_nlink),
          number(status.st_mode), number(status.st_uid),  number(status.st_gid),
          number(status.st_rdev), number(status.st_size), number(status.st_blksize),
          status.st_blocks,       time(status.st_atim),   time(status.st_mtim),
          time(status.st_ctim)};
}

struct stat status_of(const std::vector<int64_t>& facts) {
  constexpr int64_t kSecond = 1'000'000'000;
  const auto time = [](int64_t ns) { return timespec{ns / kSecond, ns % kSecond}; };
  struct stat status {};
  status.st_dev = static_cast<dev_t>(facts[0]);
  status.st_ino = static_cast<ino_t>(facts[1]);
  status.st_nlink = static_cast<nlink_t>(facts[2]);
  status.st_mode = static_cast<mode_t>(facts[3]);
  status.st_uid = static_cast<uid_t>(facts[4]);
  status.st_gid = static_cast<gid_t>(facts[5]);
  status.st_rdev = static_cast<dev_t>(facts[6]);
  status.st_size = facts[7];
  status.st_blksize = facts[8];
  status.st_blocks = facts[9];
  status.st_atim = time(facts[10]);
  status.st_mtim = time(facts[11]);
  status.st_ctim = time(facts[12]);
  return status;
}

std::string text_of_images(const std::vector<Identity>& files) {
  return sealed({{kFormatKey, kFormat}, {"files", json_of(files)}});
}

std::vector<Identity> images_from(const std::string& text) {
  return read_json(text, kImages, [](const Json& json) { return files_of(json); });
}

std::string Manifest::text() const {
  Json features = Json::array();
  for (const uint64_t word : processor.features) features.push_back(hex(word));
  Json json = {{kFormatKey, kFormat},
               {"recording", hex(recording)},
               {"weir", weir},
               {"started", started},
               {"order", order},
               {"view", view},
               {"fingerprint", fingerprint},
               {"program", escaped(program)},
               {"arguments", list_of(arguments)},
               {"environment", list_of(environment)},
               {"directory", escaped(directory)},
               {"descriptor", descriptor},
               {"stack", stack},
               {"vdso", vdso},
               {"user", user},
               {"system", escaped(system)},
               {"processor", escaped(processor.name)},
               {"features", features},
               {"files", json_of(files)}};
  if (signals) json["signals"] = {{"ignored", signals->ignored}, {"blocked", signals->blocked}};
  if (scheduled)
    json["scheduled"] = {{"schedule", scheduled->schedule}, {"step limit", scheduled->step_limit}};
  return sealed(std::move(json));
}

Manifest Manifest::from_text(const std::string& text) {
  return read_json(text, kManifest, [](const Json& json) {
    Manifest manifest;
    manifest.recording = from_hex(json.at("recording").get<std::string>());
    manifest.weir = json.at("weir").get<std::string>();
    manifest.started = json.at("started").get<int64_t>();
    manifest.order = json.at("order").get<std::string>();
    manifest.view = json.at("view").get<std::string>();
    if (const auto found = json.find("scheduled"); found != json.end()) {
      manifest.scheduled = Scheduled{found->at("schedule").get<std::string>(),
                                     found->at("step limit").get<uint64_t>()};
    }
    if (manifest.scheduled.has_value() != (manifest.order == "serial"))
      throw Damage("a schedule goes with order serial, and with no other");
    manifest.fingerprint = json.at("fingerprint").get<bool>();
    manifest.program = bytes_at(json, "program");
    manifest.arguments = words_of(json.at("arguments"));
    manifest.environment = words_of(json.at("environment"));
    manifest.directory = bytes_at(json, "directory");
    manifest.descriptor = json.at("descriptor").get<int>();
    manifest.stack = json.at("stack").get<uint64_t>();
    if (const auto found = json.find("signals"); found != json.end()) {
      manifest.signals = SignalState{found->at("ignored").get<std::vector<int>>(),
                                     found->at("blocked").get<std::vector<int>>()};
    }
    manifest.vdso = json.value("vdso", uint64_t{0});
    manifest.user = json.value("user", std::vector<uint64_t>());
    if (!manifest.user.empty() && manifest.user.size() != 4)
      throw Damage("the manifest has not four ids of its user");
    manifest.system = bytes_at(json, "system");
    manifest.processor.name = bytes_at(json, "processor");
    for (const Json& word : json.at("features"))
      manifest.processor.features.push_back(from_hex(word.get<std::string>()));
    manifest.files = files_of(json);
    if (manifest.arguments.empty() || manifest.program.empty())
      throw Damage("the manifest names no program");
    return manifest;
  });
}

std::string End::text() const {
  Json list = Json::object();
  for (const auto& [name, stream] : streams)
    list[name] = {{"chunks", stream.chunks}, {"entries", stream.entries}};
  return sealed({{kFormatKey, kFormat},
                 {"reason", escaped(reason)},
                 {"status", status},
                 {"seconds", seconds},
                 {"packed", packed},
                 {"raw", raw},
                 {"streams", list}});
}

End End::from_text(const std::string& text) {
  return read_json(text, kEndFile, [](const Json& json) {
    End end;
    end.reason = bytes_at(json, "reason");
    end.status = json.at("status").get<int>();
    end.seconds = json.at("seconds").get<double>();
    end.packed = json.at("packed").get<uint64_t>();
    end.raw = json.at("raw").get<uint64_t>();
    for (const auto& [name, stream] : json.at("streams").items()) {
      end.streams[name] = {stream.at("chunks").get<uint64_t>(),
                           stream.at("entries").get<uint64_t>()};
    }
    return end;
  });
}

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

bool End::is_whole() const { return reason == kExited || reason == kKilled; }

std::string End::words() const {
  if (reason == kExited) return "exit " + std::to_string(status);
  if (reason != kKilled) return "cut: " + reason;
  return signal_name(status);
}

std::string Copy::line() const {
  const std::string text =
      std::to_string(number) + " " + std::to_string(size) + " " + hex(sum) + " " + escaped(path);
  return hex(sum_of(text)) + " " + text + "\n";
}

std::vector<Copy> copies_from(const std::string& text, std::string* damage) {
  std::vector<Copy> copies;
  for (size_t start = 0; start < text.size();) {
    const size_t end = text.find('\n', start);
    const std::string line = text.substr(start, end == std::string::npos ? end : end + 1 - start);
    const auto refuse = [&] {
      *damage = "line " + std::to_string(copies.size() + 1) + " is damaged";
      return copies;
    };
    try {
      // The line must be what Copy::line makes of it: that checks its sum and its form at once.
      Copy copy;
      char path[16384], sum[17];
      if (sscanf(line.c_str(), "%*16s %lu %lu %16s %16383[^\n]", &copy.number, &copy.size, sum,
                 path) != 4)
        return refuse();
      copy.sum = from_hex(sum);
      copy.path = unescaped(path);
      if (copy.line() != line) return refuse();
      copies.push_back(copy);
    } catch (const Damage&) { return refuse(); }
    start += line.size();
  }
  return copies;
}

}  // namespace weir::recording
