// Functions that move bytes between streams and memory of the program's (interpose/libc/library.h).
// A stream's own buffer is the C library's.

#include "interpose/libc/library.h"

namespace weir::interpose::library::checked {

namespace {

template <typename Read>
size_t read(Call&& call, void* to, size_t size, size_t count, Read real) {
  call.uses_stream();
  size_t bytes;
  if (__builtin_mul_overflow(size, count, &bytes)) return real(to);
  const size_t result = real(call.seen(to, bytes));
  call.writes(to, result * size);
  call.notify();
  return result;
}

template <typename Write>
size_t write(Call&& call, const void* from, size_t size, size_t count, Write real) {
  call.uses_stream();
  size_t bytes;
  if (__builtin_mul_overflow(size, count, &bytes)) return real(from);
  call.reads(from, bytes);
  return call.notify() ? real(call.seen(from, bytes)) : real(from);
}

template <typename Read>
char* read_line(Call&& call, char* to, int size, Read real) {
  call.uses_stream();
  char* const seen = call.seen(to, size > 0 ? static_cast<size_t>(size) : 1);
  char* const result = real(seen);
  if (result) call.writes(to, g_library.strnlen(seen, static_cast<size_t>(size)) + 1);
  call.notify();
  return result ? to : nullptr;
}

template <typename Write>
int write_text(Call&& call, const char* text, Write real) {
  call.uses_stream();
  const Text t = call.text(text);
  call.reads(text, t.read);
  return call.notify() ? real(t.seen) : real(text);
}

// The buffer may be made anew.
template <typename Read>
ssize_t read_to_heap(Call&& call, char** line, size_t* room, Read real) {
  call.uses_stream();
  call.reads(line, sizeof *line);
  call.reads(room, sizeof *room);
  call.notify();
  char* const before = *call.seen(line);
  const ssize_t result = real();
  char* const now = *call.seen(line);
  if (now != before) call.gives(now, *call.seen(room));
  call.writes(line, sizeof *line);
  call.writes(room, sizeof *room);
  call.notify();
  if (result >= 0) call.writes(now, static_cast<size_t>(result) + 1);
  call.notify();
  return result;
}

}  // namespace

size_t fread(void* to, size_t size, size_t count, FILE* stream) {
  return read(Call(WEIR_CALLER), to, size, count,
              [=](void* seen) { return g_library.fread(seen, size, count, stream); });
}
size_t fread_unlocked(void* to, size_t size, size_t count, FILE* stream) {
  return read(Call(WEIR_CALLER), to, size, count,
              [=](void* seen) { return g_library.fread_unlocked(seen, size, count, stream); });
}
size_t __fread_chk(void* to, size_t room, size_t size, size_t count, FILE* stream) {
  return read(Call(WEIR_CALLER), to, size, count,
              [=](void* seen) { return g_library.__fread_chk(seen, room, size, count, stream); });
}
size_t fwrite(const void* from, size_t size, size_t count, FILE* stream) {
  return write(Call(WEIR_CALLER), from, size, count,
               [=](const void* seen) { return g_library.fwrite(seen, size, count, stream); });
}
size_t fwrite_unlocked(const void* from, size_t size, size_t count, FILE* stream) {
  return write(Call(WEIR_CALLER), from, size, count, [=](const void* seen) {
    return g_library.fwrite_unlocked(seen, size, count, stream);
  });
}
char* fgets(char* to, int size, FILE* stream) {
  return read_line(Call(WEIR_CALLER), to, size,
                   [=](char* seen) { return g_library.fgets(seen, size, stream); });
}
char* fgets_unlocked(char* to, int size, FILE* stream) {
  return read_line(Call(WEIR_CALLER), to, size,
                   [=](char* seen) { return g_library.fgets_unlocked(seen, size, stream); });
}
char* __fgets_chk(char* to, size_t room, int size, FILE* stream) {
  return read_line(Call(WEIR_CALLER), to, size,
                   [=](char* seen) { return g_library.__fgets_chk(seen, room, size, stream); });
}
int fputs(const char* text, FILE* stream) {
  return write_text(Call(WEIR_CALLER), text,
                    [=](const char* seen) { return g_library.fputs(seen, stream); });
}
int fputs_unlocked(const char* text, FILE* stream) {
  return write_text(Call(WEIR_CALLER), text,
                    [=](const char* seen) { return g_library.fputs_unlocked(seen, stream); });
}
int puts(const char* text) {
  return write_text(Call(WEIR_CALLER), text, [](const char* seen) { return g_library.puts(seen); });
}
ssize_t getline(char** line, size_t* room, FILE* stream) {
  return read_to_heap(Call(WEIR_CALLER), line, room,
                      [=] { return g_library.getline(line, room, stream); });
}
ssize_t getdelim(char** line, size_t* room, int last, FILE* stream) {
  return read_to_heap(Call(WEIR_CALLER), line, room,
                      [=] { return g_library.getdelim(line, room, last, stream); });
}
ssize_t __getdelim(char** line, size_t* room, int last, FILE* stream) {
  return read_to_heap(Call(WEIR_CALLER), line, room,
                      [=] { return g_library.getdelim(line, room, last, stream); });
}

int setvbuf(FILE* stream, char* buffer, int mode, size_t size) {
  const int result = g_library.setvbuf(stream, buffer, mode, size);
  if (result == 0) happens::on_stream_buffer(stream, buffer, size);
  return result;
}
void setbuffer(FILE* stream, char* buffer, size_t size) {
  g_library.setbuffer(stream, buffer, size);
  happens::on_stream_buffer(stream, buffer, size);
}
void setbuf(FILE* stream, char* buffer) {
  g_library.setbuf(stream, buffer);
  happens::on_stream_buffer(stream, buffer, BUFSIZ);
}

}  // namespace weir::interpose::library::checked
