// A message between nodes: a header of fixed shape, and a body of typed fields, read back in the
// order in which they were written.
#pragma once

#include <stdint.h>
#include <string.h>

#include <span>
#include <type_traits>
#include <vector>

#include "dsm/base/types.h"

namespace weir::dsm {

// Where a reply is awaited: a thread of `node` waits at its mailbox `channel` for `ticket`. It may
// be passed on, and its holder may reply.
struct ReplyTo {
  uint16_t node = 0;
  uint16_t channel = 0;
  uint32_t ticket = 0;  // 0: nobody waits
};

// Layout: first bytes of every message on the wire, little endian; followed by `size` bytes of
// body.
struct Header {
  uint8_t kind = 0;   // a Kind of protocol.h; the transport does not look at it
  uint8_t group = 3;  // counted as: 0 lock, 1 barrier, 2 flush, 3 data
  uint16_t from = 0;  // node
  uint32_t size = 0;  // bytes of the body
  ReplyTo reply_to;   // of a request; of a reply: whom it is for
};
static_assert(sizeof(Header) == 16);

class Message {
 public:
  Message() = default;
  explicit Message(uint8_t kind, uint8_t group = 3) {
    header.kind = kind;
    header.group = group;
  }

  template <typename T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    put_bytes(&value, sizeof value);
  }
  // With its length before it.
  template <typename T>
  void put_list(const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    put(static_cast<uint32_t>(values.size()));
    put_bytes(values.data(), values.size() * sizeof(T));
  }
  void put_bytes(const void* from, size_t size) {
    if (size == 0) return;
    const size_t end = body.size();
    body.resize(end + size);
    memcpy(body.data() + end, from, size);
  }

  // A field that is not there reads as zero, and leaves the message bad().
  template <typename T>
  T get() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    if (const void* from = get_bytes(sizeof value)) memcpy(&value, from, sizeof value);
    return value;
  }
  template <typename T>
  std::vector<T> get_list() {
    const uint32_t count = get<uint32_t>();
    std::vector<T> values;
    if (const void* from = get_bytes(size_t{count} * sizeof(T))) {
      values.resize(count);
      if (count) memcpy(values.data(), from, count * sizeof(T));
    }
    return values;
  }
  // A place in the body, valid while the message lives and is not written to; NULL: there are not
  // so many bytes.
  const uint8_t* get_bytes(size_t size) {
    if (size > body.size() - at_) {
      bad_ = true;
      at_ = body.size();
      return nullptr;
    }
    const uint8_t* from = body.data() + at_;
    at_ += size;
    return from;
  }
  bool bad() const { return bad_; }
  bool at_end() const { return at_ == body.size(); }
  // To be read from the beginning again.
  void rewind() { at_ = 0; }

  Header header;
  std::vector<uint8_t> body;

 private:
  size_t at_ = 0;
  bool bad_ = false;
};

}  // namespace weir::dsm
