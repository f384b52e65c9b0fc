// One UCX worker: an address at which messages arrive, and ways to everybody else's. Not for two
// threads at once.
#pragma once

#include <ucp/api/ucp.h>

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "dsm/base/message.h"

namespace weir::dsm {

// The library, once for a transport.
class UcxContext {
 public:
  // `uses_dev_shm`: shared memory of files in /dev/shm, unless UCX_TLS says what is used.
  explicit UcxContext(bool uses_dev_shm);
  ~UcxContext();
  UcxContext(const UcxContext&) = delete;
  ucp_context_h get() const { return context_; }

 private:
  ucp_context_h context_ = nullptr;
};

// The addresses of all workers of all nodes: [node][worker]. Worker 0 is that of the node's server,
// the others those of its channels.
using UcxAddresses = std::vector<std::vector<std::vector<uint8_t>>>;

class UcxWorker {
 public:
  // `receive`: called inside progress() and, maybe, send(); may only put away.
  UcxWorker(const UcxContext& context, std::function<void(Message&&)> receive);
  ~UcxWorker();
  UcxWorker(const UcxWorker&) = delete;

  std::vector<uint8_t> address() const;
  // REQUIRES: before the first send.
  void connect(const UcxAddresses* addresses) { addresses_ = addresses; }

  // Makes ways to all other nodes' servers. UCX attends to a network quickly only while a worker
  // has a way over it: without one, what arrives there was seen to be noticed a tenth of a second
  // late. `workers`: of each node, the first ones.
  void reach_all(NodeId me, unsigned workers = 1);
  // Messages to one worker of one node arrive in order. What cannot leave at once waits here, and
  // leaves as progress() is called.
  void send(NodeId node, unsigned worker, Message&& message);
  // Messages (and bytes in them) that have not left. Readable by any thread.
  size_t unsent() const { return unsent_.load(std::memory_order_relaxed); }
  size_t unsent_bytes() const { return unsent_bytes_.load(std::memory_order_relaxed); }
  // Takes in and sends what there is. False: there was nothing.
  bool progress() { return ucp_worker_progress(worker_) != 0; }
  // Makes descriptor() become readable when there is something to do. Returns false if there is
  // something already.
  bool arm();
  int descriptor() const { return descriptor_; }

 private:
  static ucs_status_t on_message(void* self, const void* header, size_t header_size, void* data,
                                 size_t size, const ucp_am_recv_param_t* param);
  static void on_sent(void* request, ucs_status_t status, void* sending);
  ucp_ep_h endpoint(NodeId node, unsigned worker);

  ucp_worker_h worker_ = nullptr;
  int descriptor_ = -1;
  std::function<void(Message&&)> receive_;
  const UcxAddresses* addresses_ = nullptr;
  std::vector<std::vector<ucp_ep_h>> endpoints_;  // as addresses_; null: not made yet
  std::atomic<size_t> unsent_{0},
      unsent_bytes_{0};  // relaxed: only this worker's user writes, and others merely look whether
                         // it is to be driven
};

}  // namespace weir::dsm
