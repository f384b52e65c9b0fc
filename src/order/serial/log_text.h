// The words of the schedule log, written to its file as they come.
#pragma once

#include <unistd.h>

#include "base/bytes.h"
#include "order/serial/schedule.h"
#include "sys/maps.h"
#include "sys/syscall_x86_64.h"

namespace weir::order::serial {

class Text {
 public:
  explicit Text(int file) : file_(file) {}
  ~Text() { flush(); }
  Text(const Text&) = delete;
  Text& operator=(const Text&) = delete;

  Text& put(const char* text) {
    while (*text) put_char(*text++);
    return *this;
  }
  Text& put(uint64_t value) {
    char digits[21];
    append_number(digits, value);
    return put(digits);
  }
  // Without a prefix.
  Text& digits(uint64_t value) {
    int shift = 60;
    while (shift && !(value >> shift)) shift -= 4;
    for (; shift >= 0; shift -= 4) put_char("0123456789abcdef"[value >> shift & 15]);
    return *this;
  }
  Text& hex(uint64_t value) { return put("0x").digits(value); }
  Text& put(const Position& at) {
    return put(uint64_t{at.number}).put(".").put(at.event).put(".").put(at.step);
  }
  // A name that the program has given: no control characters.
  Text& put_name(const char* text) {
    for (; *text; text++) put_char(static_cast<unsigned char>(*text) < ' ' ? '?' : *text);
    return *this;
  }

 private:
  void put_char(char c) {
    if (used_ == sizeof buffer_) flush();
    buffer_[used_++] = c;
  }
  void flush() {
    for (size_t at = 0; at < used_;) {
      const long written = sys::raw(SYS_write, file_, reinterpret_cast<long>(buffer_ + at),
                                    static_cast<long>(used_ - at));
      if (written <= 0) break;
      at += static_cast<size_t>(written);
    }
    used_ = 0;
  }

  int file_;
  size_t used_ = 0;
  char buffer_[4096];
};

// Mapped files, as they were when they were read. All zero at first: a run that is forked touches
// none of it but what its server has read.
class Modules {
 public:
  void read() {
    count_ = used_ = 0;
    is_read_ = true;
    char* text;
    if (sys::read_maps(&text) < 0) return;
    sys::MapLine line;
    uint64_t start = 0;
    const char* name = "";
    for (char* cursor = text; (cursor = sys::next_map_line(cursor, &line)) && count_ < kMax;) {
      if (line.name[0] != '/') continue;
      if (line.offset == 0) start = line.range.start;
      if (!equal_strings(name, line.name)) {
        if (line.offset != 0) start = line.range.start - line.offset;
        name = kept(line.name);
        if (!name) return;
      }
      found_[count_++] = {line.range.start, line.range.limit, start, line.offset, name,
                          line.executable};
    }
  }
  // The program has mapped code, or taken it away.
  void forget() { is_read_ = false; }
  bool is_read() const { return is_read_; }
  // MODULE+OFFSET, or "-".
  void put(Text& text, uint64_t address) const {
    for (uint32_t i = 0; i < count_; i++) {
      if (address < found_[i].start || address >= found_[i].limit) continue;
      text.put(found_[i].name).put("+").hex(address - found_[i].base);
      return;
    }
    text.put("-");
  }
  // A line for each mapping of code: map START LIMIT OFFSET PATH
  void put_code(Text& text) const {
    for (uint32_t i = 0; i < count_; i++) {
      const Found& one = found_[i];
      if (!one.executable) continue;
      text.put("map ").hex(one.start).put(" ").hex(one.limit).put(" ");
      text.hex(one.offset).put(" ").put(one.name).put("\n");
    }
  }

 private:
  // sys::read_maps() has one text for all. Null: no room is left.
  const char* kept(const char* name) {
    const size_t size = string_length(name) + 1;
    if (sizeof names_ - used_ < size) return nullptr;
    char* const at = names_ + used_;
    copy_bytes(at, name, size);
    used_ += size;
    return at;
  }

  static constexpr uint32_t kMax = 2048;
  struct Found {
    uint64_t start, limit, base, offset;
    const char* name;
    bool executable;
  };
  Found found_[kMax];
  char names_[1u << 18];
  size_t used_;
  uint32_t count_;
  bool is_read_;
};

}  // namespace weir::order::serial
