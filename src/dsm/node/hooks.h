// Hooks of the program's own into messages and faults (weir/tape.hpp): the places where the runtime
// calls them, and what they add to its messages.
// Implemented in dsm/api/hooks.cc.
//
// A parcel lies at the end of the message that carries it, and is not there where nobody has added
// anything; so a program without hooks pays nothing for them. All with the node's mutex held, which
// the calling thread is known to hold meanwhile (Inside).
#pragma once

#include <stdint.h>

#include <mutex>
#include <optional>
#include <vector>

#include "dsm/base/message.h"
#include "dsm/threads/thread.h"
#include "weir/tape.hpp"

namespace weir::dsm {

class Node;

// The node's state, locked for as long as this lives; in a hook, or where another one lives in this
// thread, it is already.
class Inside {
 public:
  Inside();  // the calling thread's node
  explicit Inside(Node& its);
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  ~Inside();

  Node& node;
  std::optional<Entered> entered;
  std::unique_lock<std::mutex> held;  // where it is locked already: of nothing

 private:
  Node* before_;
};

class HookList {
 public:
  explicit HookList(Node& node) : node_(node) {}

  void install(Hooks& hooks) { all_.push_back(&hooks); }
  void remove(Hooks& hooks);
  static bool is_running();  // in this thread

  void fault(uint32_t unit, bool writes);
  // The page requests of one message from `from`, one after the other; put_reply then ends them.
  void page_request(uint32_t unit, NodeId from);
  void put_reply(Message& reply);
  void read_reply(Message& reply);

  void put_request(uint32_t lock, Message& request);
  // `request`: read up to the parcel.
  void grant(uint32_t lock, const VectorTime& theirs, Message& request, Message& grant);
  // What came with a grant, until what the lock orders before is known.
  void keep_grant(Message& grant);
  void acquired(uint32_t lock, bool is_granted);
  void release(uint32_t lock);

  void barrier_entry(uint32_t barrier);
  void barrier_leave(uint32_t barrier);

  // A message with which `parcel` is posted; and whether a message is one of these, which is then
  // taken.
  static Message posted(const Parcel& parcel);
  bool on_message(Message& message);

  // In add_to_lock_grant: what the asker knows; else NULL.
  const VectorTime* theirs() const { return theirs_; }

 private:
  template <typename Call>
  void each(Call call);

  Node& node_;
  std::vector<Hooks*> all_;
  Parcel reply_, grant_;
  const VectorTime* theirs_ = nullptr;
};

}  // namespace weir::dsm
