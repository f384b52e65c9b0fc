#include "sys/maps.h"

#include <errno.h>

namespace weir::sys {

namespace {

// As many lines as the kernel allows mappings (vm.max_map_count, 65530) of usual length; what is
// not used costs nothing.
char g_text[8 << 20];

uint64_t parse_hex(char*& at) {
  uint64_t value = 0;
  for (;; at++) {
    char c = *at;
    if (c >= '0' && c <= '9') {
      value = value * 16 + static_cast<uint64_t>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      value = value * 16 + static_cast<uint64_t>(c - 'a' + 10);
    } else {
      return value;
    }
  }
}

}  // namespace

long read_maps(char** text) {
  long file = open_own("/proc/self/maps");
  if (failed(file)) return file;
  long length = 0;
  for (;;) {
    if (length + 1 >= long{sizeof g_text}) {
      raw(SYS_close, file);
      return -ENOSPC;
    }
    long got = raw(SYS_read, file, reinterpret_cast<long>(g_text + length),
                   long{sizeof g_text} - 1 - length);
    if (got <= 0) break;
    length += got;
  }
  raw(SYS_close, file);
  g_text[length] = 0;
  *text = g_text;
  return length;
}

namespace {

struct MapCount {
  long now, most;
};

MapCount count_maps() {
  char digits[24] = {};
  char* text;
  const long length = read_maps(&text);
  if (length == -ENOSPC) return {1, 1};
  MapCount maps{0, 0};
  for (long i = 0; i < length; i++) maps.now += text[i] == '\n';
  const long file =
      raw(SYS_open, reinterpret_cast<long>("/proc/sys/vm/max_map_count"), O_RDONLY | O_CLOEXEC);
  if (failed(file)) return {0, long{1} << 62};
  raw(SYS_read, file, reinterpret_cast<long>(digits), long{sizeof digits} - 1);
  raw(SYS_close, file);
  for (const char* at = digits; *at >= '0' && *at <= '9'; at++)
    maps.most = maps.most * 10 + (*at - '0');
  return maps;
}

}  // namespace

bool has_most_maps() {
  constexpr long kNear = 16;
  const MapCount maps = count_maps();
  return maps.now + kNear >= maps.most;
}

bool has_many_maps() {
  const MapCount maps = count_maps();
  return maps.now >= maps.most / 3 * 2;
}

char* next_map_line(char* cursor, MapLine* line) {
  if (!*cursor) return nullptr;
  line->range.start = parse_hex(cursor);
  cursor++;
  line->range.limit = parse_hex(cursor);
  cursor++;
  line->readable = cursor[0] == 'r';
  line->writable = cursor[1] == 'w';
  line->executable = cursor[2] == 'x';
  line->shared = cursor[3] == 's';
  cursor += 5;
  line->offset = parse_hex(cursor);
  cursor++;
  line->device = parse_hex(cursor) << 32;
  cursor++;
  line->device |= parse_hex(cursor);
  cursor++;
  for (line->inode = 0; *cursor >= '0' && *cursor <= '9'; cursor++)
    line->inode = line->inode * 10 + static_cast<uint64_t>(*cursor - '0');
  while (*cursor == ' ') cursor++;
  line->name = cursor;
  while (*cursor != '\n') cursor++;
  *cursor = 0;
  return cursor + 1;
}

bool find_map_line(uint64_t address, MapLine* line) {
  char* cursor;
  if (read_maps(&cursor) < 0) return false;
  while ((cursor = next_map_line(cursor, line))) {
    if (line->range.contains(address)) return true;
  }
  return false;
}

}  // namespace weir::sys
