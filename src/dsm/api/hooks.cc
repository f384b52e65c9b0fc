// The problem: a hook runs in the middle of the runtime, with the node's mutex held, and must use
// tapes and parcels, whose functions lock that mutex themselves. So each call notes for its thread
// which node it is of, and Inside locks nothing there. Nor does Inside lock if another one lives
// already.
//
// Invariant: hooks are called with the mutex held, and it is not released until they return. So a
// hook that is removed is not running, and a parcel of the members' belongs to one message only.
// (not checkable: a mutex does not say who holds it)
#include "dsm/node/hooks.h"

#include <string.h>

#include <algorithm>
#include <utility>

#include "dsm/api/tape_states.h"
#include "dsm/base/failure.h"
#include "dsm/node/this_node.h"

namespace weir::dsm {

namespace {

thread_local Node* g_locked = nullptr;  // by this thread
thread_local bool g_runs_hook = false;

constexpr uint32_t kParcel = ~uint32_t{0};  // in the place of a push's number of diffs

}  // namespace

Inside::Inside() : Inside(g_locked ? *g_locked : this_thread().node) {}

Inside::Inside(Node& its) : node(its), held(its.mutex, std::defer_lock), before_(g_locked) {
  if (g_locked != &its) {
    entered.emplace();
    held.lock();
  }
  g_locked = &its;
}

Inside::~Inside() { g_locked = before_; }

template <typename Call>
void HookList::each(Call call) {
  if (all_.empty()) return;
  Node* const before = std::exchange(g_locked, &node_);
  const bool nested = std::exchange(g_runs_hook, true);
  for (Hooks* hooks : all_) call(*hooks);
  g_locked = before;
  g_runs_hook = nested;
}

bool HookList::is_running() { return g_runs_hook; }
void HookList::remove(Hooks& hooks) { std::erase(all_, &hooks); }

// --- Faults

void HookList::fault(uint32_t unit, bool writes) {
  each([&](Hooks& hooks) { hooks.fault(unit, writes); });
}

void HookList::page_request(uint32_t unit, NodeId from) {
  each([&](Hooks& hooks) { hooks.page_request(reply_, unit, from); });
}

void HookList::put_reply(Message& reply) {
  if (!reply_.empty()) Access::put(std::exchange(reply_, {}), reply);
}

void HookList::read_reply(Message& reply) {
  if (reply.at_end()) return;
  Parcel parcel = Access::get_parcel(reply);
  each([&](Hooks& hooks) { hooks.read_from_page_reply(parcel, reply.header.from); });
}

// --- Locks

void HookList::put_request(uint32_t lock, Message& request) {
  if (all_.empty()) return;
  Parcel parcel;
  each([&](Hooks& hooks) { hooks.add_to_lock_request(parcel, lock); });
  if (!parcel.empty()) Access::put(parcel, request);
}

void HookList::grant(uint32_t lock, const VectorTime& theirs, Message& request, Message& grant) {
  if (all_.empty()) return;
  const NodeId asker = request.header.reply_to.node;
  Parcel asked, added;
  if (!request.at_end()) asked = Access::get_parcel(request);
  each([&](Hooks& hooks) { hooks.read_from_lock_request(asked, lock, asker); });
  theirs_ = &theirs;
  each([&](Hooks& hooks) { hooks.add_to_lock_grant(asked, added, lock, asker); });
  theirs_ = nullptr;
  if (!added.empty()) Access::put(added, grant);
}

void HookList::keep_grant(Message& grant) {
  grant_ = {};
  if (!all_.empty() && !grant.at_end()) grant_ = Access::get_parcel(grant);
}

void HookList::acquired(uint32_t lock, bool is_granted) {
  if (is_granted) {
    Parcel parcel = std::exchange(grant_, {});
    each([&](Hooks& hooks) { hooks.read_from_lock_grant(parcel, lock); });
  }
  each([&](Hooks& hooks) { hooks.lock_acquired(lock); });
}

void HookList::release(uint32_t lock) {
  each([&](Hooks& hooks) { hooks.lock_release(lock); });
}

// --- Barriers: the program's

void HookList::barrier_entry(uint32_t barrier) {
  if (barrier < kReductions) each([&](Hooks& hooks) { hooks.barrier_entry(barrier); });
}

void HookList::barrier_leave(uint32_t barrier) {
  if (barrier < kReductions) each([&](Hooks& hooks) { hooks.barrier_leave(barrier); });
}

// --- Messages of their own

Message HookList::posted(const Parcel& parcel) {
  Message message(static_cast<uint8_t>(Kind::kPush), kGroupData);
  message.put(kParcel);
  Access::put(parcel, message);
  return message;
}

bool HookList::on_message(Message& message) {
  uint32_t first = 0;
  if (message.body.size() < sizeof first) return false;
  memcpy(&first, message.body.data(), sizeof first);
  if (first != kParcel) return false;
  message.get<uint32_t>();
  Parcel parcel = Access::get_parcel(message);
  each([&](Hooks& hooks) { hooks.received(parcel, message.header.from); });
  return true;
}

// --- Public

void install(Hooks& hooks) {
  if (HookList::is_running()) fail("weir::dsm::install is called from a hook");
  const Inside inside;
  inside.node.tapeworm.hooks.install(hooks);
}

void remove(Hooks& hooks) {
  if (HookList::is_running()) fail("weir::dsm::remove is called from a hook");
  const Inside inside;
  inside.node.tapeworm.hooks.remove(hooks);
}

}  // namespace weir::dsm
