// A UCX worker as the transport uses it.
//
// Everything is sent eagerly: UCX's rendezvous would leave the data with the sender until the
// receiver fetches it, and the sending thread may be computing by then. An eager message is gone
// once the worker could hand it to the network (or to the ring in shared memory); until then it
// lies here, and progress() goes on with it.
//
// Invariants:
//   1. A message that is being sent stays in memory until UCX has said that it is sent. (not
//      checkable: UCX does not say what it still reads)
//   2. One endpoint for each worker that is written to, so UCX keeps the order of messages to it.
//      (not checkable: the order is UCX's own)
//   3. The receive function runs inside UCX and only puts away: it may not send. (not checkable:
//      UCX does not say that it is inside of itself)
#include "dsm/net/ucx_worker.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucs/debug/debug.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "dsm/base/failure.h"
#include "dsm/threads/thread.h"

namespace weir::dsm {
namespace {

constexpr unsigned kMessageId = 1;

struct Sending {
  NodeId to;
  std::atomic<size_t>*unsent, *unsent_bytes;
  Message message;
};

void check(ucs_status_t status, const char* what) {
  if (status != UCS_OK) fail("%s failed: %s", what, ucs_status_string(status));
}

// UCX's library takes fault signals as it is loaded, to print a backtrace, and would take them from
// who was there before: a program's own faults are to be as without it.
void give_back_signals() {
  if (getenv("UCX_HANDLE_ERRORS")) return;
  Dl_info ucx{}, handler{};
  if (!dladdr(reinterpret_cast<void*>(&ucs_status_string), &ucx)) return;
  for (const int number : {SIGILL, SIGSEGV, SIGBUS, SIGFPE}) {
    struct sigaction now {};
    if (sigaction(number, nullptr, &now) || now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN)
      continue;
    if (dladdr(reinterpret_cast<void*>(now.sa_handler), &handler) &&
        handler.dli_fbase == ucx.dli_fbase)
      ucs_debug_disable_signal(number);
  }
}

// What UCX keeps and later enlarges it allocates here: in a thread of its own, which has an arena
// of malloc's of its own as long as it lives. In the program's arena, UCX on the server's thread
// would wait for a thread that a handler of a signal has interrupted in malloc, and that waits for
// a page.
class Apart {
 public:
  void run(const std::function<void()>& what) {
    std::unique_lock<std::mutex> held(mutex_);
    if (!thread_.joinable()) thread_ = start_thread("weir-dsm ucx", [this] { serve(); });
    changed_.wait(held, [&] { return !what_; });
    what_ = &what;
    changed_.notify_all();
    changed_.wait(held, [&] { return what_ != &what; });
  }

 private:
  [[noreturn]] void serve() {
    std::unique_lock<std::mutex> held(mutex_);
    while (true) {
      changed_.wait(held, [&] { return what_ != nullptr; });
      (*what_)();
      what_ = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* what_ = nullptr;
  std::thread thread_;
};

void apart(const std::function<void()>& what) {
  static Apart* const thread = new Apart;  // it lives as long as the process
  thread->run(what);
}

}  // namespace

UcxContext::UcxContext(bool uses_dev_shm) {
  give_back_signals();
  ucp_config_t* config = nullptr;
  check(ucp_config_read(nullptr, nullptr, &config), "ucp_config_read");
  check(ucp_config_modify(config, "RNDV_THRESH", "inf"), "ucp_config_modify");
  // System V shared memory has hung a kernel where many processes attach it; POSIX shared memory
  // does the same. Who wants it asks for it.
  if (!getenv("UCX_TLS"))
    check(ucp_config_modify(config, "TLS", uses_dev_shm ? "^sysv" : "^sysv,posix"),
          "ucp_config_modify");
  // UCX reserves places for 512 messages a worker, 4.3 MB; more are made as they are needed. Its
  // queue has 64 entries, each with such a place; from UCX 1.15 on it would have 256 (room.cc).
  if (!getenv("UCX_MM_FIFO_SIZE"))
    check(ucp_config_modify(config, "MM_FIFO_SIZE", "64"), "ucp_config_modify");
  if (!getenv("UCX_MM_RX_BUFS_GROW"))
    check(ucp_config_modify(config, "MM_RX_BUFS_GROW", "64"), "ucp_config_modify");
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES;
  params.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  ucs_status_t status = UCS_OK;
  apart([&] { status = ucp_init(&params, config, &context_); });
  ucp_config_release(config);
  check(status, "ucp_init");
}

UcxContext::~UcxContext() { ucp_cleanup(context_); }

UcxWorker::UcxWorker(const UcxContext& context, std::function<void(Message&&)> receive)
    : receive_(std::move(receive)) {
  ucp_worker_params_t params{};
  params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  params.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  ucs_status_t status = UCS_OK;
  apart([&] { status = ucp_worker_create(context.get(), &params, &worker_); });
  check(status, "ucp_worker_create");
  check(ucp_worker_get_efd(worker_, &descriptor_), "ucp_worker_get_efd");
  ucp_am_handler_param_t handler{};
  handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                       UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
  handler.id = kMessageId;
  handler.flags = UCP_AM_FLAG_WHOLE_MSG;
  handler.cb = on_message;
  handler.arg = this;
  check(ucp_worker_set_am_recv_handler(worker_, &handler), "ucp_worker_set_am_recv_handler");
}

UcxWorker::~UcxWorker() { ucp_worker_destroy(worker_); }  // its endpoints with it

std::vector<uint8_t> UcxWorker::address() const {
  ucp_address_t* address = nullptr;
  size_t size = 0;
  check(ucp_worker_get_address(worker_, &address, &size), "ucp_worker_get_address");
  const auto* bytes = reinterpret_cast<const uint8_t*>(address);
  std::vector<uint8_t> copy(bytes, bytes + size);
  ucp_worker_release_address(worker_, address);
  return copy;
}

ucp_ep_h UcxWorker::endpoint(NodeId node, unsigned worker) {
  if (endpoints_.size() <= node) endpoints_.resize(addresses_->size());
  auto& of_node = endpoints_[node];
  if (of_node.size() <= worker) of_node.resize((*addresses_)[node].size());
  ucp_ep_h& endpoint = of_node[worker];
  if (!endpoint) {
    ucp_ep_params_t params{};
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    params.address = reinterpret_cast<const ucp_address_t*>((*addresses_)[node][worker].data());
    const ucs_status_t status = ucp_ep_create(worker_, &params, &endpoint);
    if (status != UCS_OK)
      fail(
          "no way to node %u (UCX: %s); UCX_TLS and UCX_NET_DEVICES say which networks may be used",
          node, ucs_status_string(status));
  }
  return endpoint;
}

void UcxWorker::reach_all(NodeId me, unsigned workers) {
  apart([&] {
    for (NodeId node = 0; node < addresses_->size(); node++) {
      for (unsigned worker = 0; node != me && worker < workers; worker++) endpoint(node, worker);
    }
  });
}

void UcxWorker::send(NodeId node, unsigned worker, Message&& message) {
  ucp_ep_h to = endpoint(node, worker);
  ucp_request_param_t param{};
  auto sending =
      std::make_unique<Sending>(Sending{node, &unsent_, &unsent_bytes_, std::move(message)});
  param.op_attr_mask =
      UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.flags = UCP_AM_SEND_FLAG_EAGER;
  param.cb.send = on_sent;
  param.user_data = sending.get();
  const Message& stays = sending->message;
  const ucs_status_ptr_t request =
      ucp_am_send_nbx(to, kMessageId, &stays.header, sizeof stays.header, stays.body.data(),
                      stays.body.size(), &param);
  if (!request) return;  // sent
  if (UCS_PTR_IS_ERR(request))
    fail_late("the connection to node %u broke (UCX: %s)", node,
              ucs_status_string(UCS_PTR_STATUS(request)));
  unsent_bytes_.fetch_add(stays.body.size(), std::memory_order_relaxed);
  unsent_.fetch_add(1, std::memory_order_relaxed);
  sending.release();  // on_sent has it
}

void UcxWorker::on_sent(void* request, ucs_status_t status, void* user_data) {
  const std::unique_ptr<Sending> sending(static_cast<Sending*>(user_data));
  if (status != UCS_OK && status != UCS_ERR_CANCELED)
    fail_late("the connection to node %u broke (UCX: %s)", sending->to, ucs_status_string(status));
  sending->unsent_bytes->fetch_sub(sending->message.body.size(), std::memory_order_relaxed);
  sending->unsent->fetch_sub(1, std::memory_order_relaxed);
  ucp_request_free(request);
}

ucs_status_t UcxWorker::on_message(void* self, const void* header, size_t header_size, void* data,
                                   size_t size, const ucp_am_recv_param_t* param) {
  Message message;
  if (header_size != sizeof message.header || (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV))
    fail("a message that is none of ours arrived");
  memcpy(&message.header, header, sizeof message.header);
  if (message.header.size != size)
    fail("a message of %zu bytes arrived that has %u", size, message.header.size);
  const auto* bytes = static_cast<const uint8_t*>(data);
  message.body.assign(bytes, bytes + size);
  static_cast<UcxWorker*>(self)->receive_(std::move(message));
  return UCS_OK;
}

bool UcxWorker::arm() {
  const ucs_status_t status = ucp_worker_arm(worker_);
  if (status == UCS_ERR_BUSY) return false;
  check(status, "ucp_worker_arm");
  return true;
}

}  // namespace weir::dsm
