// What calls receive into shared memory: it goes to other memory first.
#pragma once

#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "effects/effects.h"

namespace weir::dsm {

// Memory for the time of one call: on the stack if it is little. It needs no allocator, since a
// handler of a signal may make the call.
class Aside {
 public:
  explicit Aside(uint64_t size);
  ~Aside();
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;
  bool is_there() const { return memory_; }
  // REQUIRES: is_there(), and no more in all than was asked for, by room_for() each.
  uint8_t* take(uint64_t size);
  static constexpr uint64_t room_for(uint64_t size) { return (size + 15) & ~uint64_t{15}; }

 private:
  static constexpr uint64_t kLittle = 2048;
  alignas(512) uint8_t little_[kLittle];  // as O_DIRECT wants it
  uint8_t* memory_ = nullptr;
  uint64_t size_, used_ = 0;
};

// Up to here (bytes) it pays, and nothing that a call consumes is larger: datagrams, messages.
inline constexpr uint64_t kMostAside = 256 << 10;

// A call that consumes what it returns, and what of its arguments is shared memory.
class ReceivingCall {
 public:
  // `is_shared` of an address.
  ReceivingCall(const effects::Request& request, bool (*is_shared)(uint64_t address));
  // Whether the call is one of these, has shared memory, and is not too large.
  bool is_aside() const { return count_ > 0; }
  uint64_t size() const { return size_; }
  // The call with other memory in the place of what is shared.
  effects::Request aside(Aside& memory);
  // Copies what the kernel has written there, as an access of the program.
  void give(long result);

 private:
  static constexpr uint32_t kMost = 4;
  struct Piece {
    uint8_t at;       // argument
    uint64_t size;    // 0: nothing
    uint64_t unit;    // bytes that one of the result stands for; 0: a structure, in and out
    uint64_t before;  // bytes in front of those
    uint8_t *aside, *as_it_was;
  };
  void add(uint8_t at, uint64_t size, uint64_t unit = 0, uint64_t before = 0);

  effects::Request request_;
  bool (*is_shared_)(uint64_t);
  Piece pieces_[kMost];
  uint32_t count_ = 0;
  uint64_t size_ = 0;
};

// The same for a message: its list is one buffer aside.
class ReceivedMessage {
 public:
  static uint64_t room_for(const msghdr& message);
  void prepare(const msghdr& program, Aside& memory);
  msghdr& aside() { return its_; }
  void give(msghdr& program, uint64_t received) const;

 private:
  msghdr its_;
  iovec one_;
};

// Copies `bytes` into a list.
void scatter(const uint8_t* from, uint64_t bytes, const iovec* list, size_t count);

}  // namespace weir::dsm
