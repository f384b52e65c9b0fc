// How nodes on any hosts come to have connections.
//
// Problem: a host has several addresses, and some of them (those of bridges to containers, say)
// mean another host when used elsewhere. Mechanism: a node tells all its addresses. A node that
// connects tries those first that lie in a network which it has itself. It takes an address to be
// right only when the other end has shown, by its token, that it is the node in question.
//
// Invariants:
//   1. The lower number connects, the higher one accepts. Every node listens before any node learns
//      where. (not checkable: it is about several nodes)
//   2. A node makes all its connections before it accepts any. So the node with the highest number
//      only accepts, and no nodes wait in a circle. (not checkable: it is about several nodes)
#include "dsm/net/links.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "dsm/base/failure.h"
#include "dsm/base/message.h"

namespace weir::dsm {
namespace {

using Address = std::array<uint8_t, 16>;
constexpr int kConnectMilliseconds = 3000, kAcceptMilliseconds = 30000;
constexpr Address kLoopback = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1};
constexpr uint8_t kMapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

struct Hello {
  uint64_t token;  // the accepting node's
  uint32_t from, to;
};

bool is_ipv4(const Address& address) { return !memcmp(address.data(), kMapped, sizeof kMapped); }

std::string text_of(const Address& address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (is_ipv4(address)) {
    inet_ntop(AF_INET, address.data() + 12, text, sizeof text);
  } else {
    inet_ntop(AF_INET6, address.data(), text, sizeof text);
  }
  return text;
}

Address address_of(const sockaddr* socket) {
  Address address{};
  if (socket->sa_family == AF_INET) {
    memcpy(address.data(), kMapped, sizeof kMapped);
    memcpy(address.data() + 12, &reinterpret_cast<const sockaddr_in*>(socket)->sin_addr, 4);
  } else {
    memcpy(address.data(), &reinterpret_cast<const sockaddr_in6*>(socket)->sin6_addr, 16);
  }
  return address;
}

struct Interface {
  Address address, mask;
};

bool is_named(const char* interfaces, const char* name) {
  if (!interfaces || !*interfaces) return true;
  return ("," + std::string(interfaces) + ",").find("," + std::string(name) + ",") !=
         std::string::npos;
}

std::vector<Interface> find_interfaces(const char* wanted) {
  std::vector<Interface> found;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all)) fail("getifaddrs failed: %s", strerror(errno));
  for (const ifaddrs* one = all; one; one = one->ifa_next) {
    if (!one->ifa_addr || !one->ifa_netmask || !(one->ifa_flags & IFF_UP) ||
        (one->ifa_flags & IFF_LOOPBACK) || !is_named(wanted, one->ifa_name))
      continue;
    if (one->ifa_addr->sa_family != AF_INET && one->ifa_addr->sa_family != AF_INET6) continue;
    Interface entry{address_of(one->ifa_addr), address_of(one->ifa_netmask)};
    // Of its own link only: it would need the other's name of the interface.
    if (!is_ipv4(entry.address) &&
        IN6_IS_ADDR_LINKLOCAL(reinterpret_cast<const in6_addr*>(entry.address.data())))
      continue;
    if (is_ipv4(entry.address)) memset(entry.mask.data(), 0xff, 12);
    found.push_back(entry);
  }
  freeifaddrs(all);
  return found;
}

bool shares_network(const std::vector<Interface>& interfaces, const Address& address) {
  return std::any_of(interfaces.begin(), interfaces.end(), [&](const Interface& one) {
    for (size_t i = 0; i < address.size(); i++) {
      if ((one.address[i] ^ address[i]) & one.mask[i]) return false;
    }
    return true;
  });
}

// Port in *port; -1: there is no such family here.
int listen_on(int family, uint16_t* port) {
  const int listener = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener < 0) return -1;
  const int one = 1;
  if (family == AF_INET6) setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
  sockaddr_storage address{};
  address.ss_family = static_cast<sa_family_t>(family);
  socklen_t size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), size) || listen(listener, 4096) ||
      getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size)) {
    close(listener);
    return -1;
  }
  *port = ntohs(family == AF_INET ? reinterpret_cast<sockaddr_in*>(&address)->sin_port
                                  : reinterpret_cast<sockaddr_in6*>(&address)->sin6_port);
  return listener;
}

std::string link_text(const char* path) {
  char text[200];
  const ssize_t size = readlink(path, text, sizeof text);
  return size > 0 ? std::string(text, static_cast<size_t>(size)) : std::string();
}

Identity describe_myself(const std::vector<Interface>& interfaces) {
  Identity mine;
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  mine.host = host;
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  mine.machine = boot + link_text("/proc/self/ns/pid");
  mine.network = boot + link_text("/proc/self/ns/net");
  mine.pid = static_cast<uint32_t>(getpid());
  if (getrandom(&mine.token, sizeof mine.token, 0) != sizeof mine.token)
    fail("getrandom failed: %s", strerror(errno));
  for (const Interface& one : interfaces) mine.addresses.push_back(one.address);
  return mine;
}

void put_text(Message& message, const std::string& text) {
  message.put_list(std::vector<char>(text.begin(), text.end()));
}
std::string get_text(Message& message) {
  const std::vector<char> text = message.get_list<char>();
  return {text.begin(), text.end()};
}

std::vector<Identity> exchange(Bootstrap& bootstrap, const Identity& mine) {
  Message message;
  for (const std::string* text : {&mine.host, &mine.machine, &mine.network})
    put_text(message, *text);
  message.put(mine.pid);
  message.put(mine.token);
  message.put(mine.port4);
  message.put(mine.port6);
  message.put_list(mine.addresses);
  std::vector<Identity> all;
  for (std::vector<uint8_t>& bytes : bootstrap.allgather(message.body)) {
    Message theirs;
    theirs.body = std::move(bytes);
    Identity node;
    for (std::string* text : {&node.host, &node.machine, &node.network}) *text = get_text(theirs);
    node.pid = theirs.get<uint32_t>();
    node.token = theirs.get<uint64_t>();
    node.port4 = theirs.get<uint16_t>();
    node.port6 = theirs.get<uint16_t>();
    node.addresses = theirs.get_list<Address>();
    if (theirs.bad() || !theirs.at_end())
      fail("node %zu is not of the same build as this one", all.size());
    all.push_back(std::move(node));
  }
  return all;
}

bool wait_for(int descriptor, short events, int milliseconds) {
  pollfd one{descriptor, events, 0};
  int status;
  do status = poll(&one, 1, milliseconds);
  while (status < 0 && errno == EINTR);
  return status > 0;
}

// All of it, or errno is set.
bool read_all(int socket, void* to, size_t size, int milliseconds) {
  auto* at = static_cast<char*>(to);
  while (size) {
    if (!wait_for(socket, POLLIN, milliseconds)) return errno = ETIMEDOUT, false;
    const ssize_t got = recv(socket, at, size, 0);
    if (got == 0) return errno = ECONNRESET, false;
    if (got < 0 && errno != EAGAIN && errno != EINTR) return false;
    if (got > 0) at += got, size -= static_cast<size_t>(got);
  }
  return true;
}

// -1, and errno: nobody there, or somebody else.
int connect_to(const Address& address, const Identity& node, const Hello& hello) {
  sockaddr_storage where{};
  socklen_t size;
  if (is_ipv4(address)) {
    auto& in = reinterpret_cast<sockaddr_in&>(where);
    in.sin_family = AF_INET;
    in.sin_port = htons(node.port4);
    memcpy(&in.sin_addr, address.data() + 12, 4);
    size = sizeof in;
  } else {
    auto& in = reinterpret_cast<sockaddr_in6&>(where);
    in.sin6_family = AF_INET6;
    in.sin6_port = htons(node.port6);
    memcpy(&in.sin6_addr, address.data(), 16);
    size = sizeof in;
  }
  const int connection = socket(where.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (connection < 0) return -1;
  int error = 0;
  if (connect(connection, reinterpret_cast<sockaddr*>(&where), size)) error = errno;
  if (error == EINPROGRESS) {
    socklen_t length = sizeof error;
    if (!wait_for(connection, POLLOUT, kConnectMilliseconds)) {
      error = ETIMEDOUT;
    } else if (getsockopt(connection, SOL_SOCKET, SO_ERROR, &error, &length)) {
      error = errno;
    }
  }
  // A reply only comes once the other node accepts, which it does after it has connected itself.
  Hello answer{};
  if (!error && send(connection, &hello, sizeof hello, MSG_NOSIGNAL) != sizeof hello) error = errno;
  if (!error && !read_all(connection, &answer, sizeof answer, kAcceptMilliseconds)) error = errno;
  if (!error && memcmp(&answer, &hello, sizeof hello)) error = ECONNREFUSED;
  if (!error) return connection;
  close(connection);
  errno = error;
  return -1;
}

int connect_any(const std::vector<Interface>& interfaces, const std::vector<Identity>& nodes,
                NodeId from, NodeId to) {
  const Identity& node = nodes[to];
  std::vector<Address> candidates = node.addresses;
  std::stable_partition(candidates.begin(), candidates.end(), [&](const Address& address) {
    return shares_network(interfaces, address);
  });
  if (node.network == nodes[from].network) candidates.insert(candidates.begin(), kLoopback);
  std::string tried;
  for (const Address& address : candidates) {
    if (!(is_ipv4(address) ? node.port4 : node.port6)) continue;
    const int connection = connect_to(address, node, {node.token, from, to});
    if (connection >= 0) return connection;
    tried += (tried.empty() ? "" : "; ") + text_of(address) + ": " + strerror(errno);
  }
  fail("node %u cannot be reached at %s (%s); WEIR_DSM_INTERFACE says which interfaces to use", to,
       node.host.c_str(), tried.empty() ? "it has no address" : tried.c_str());
}

}  // namespace

std::vector<NodeId> neighbours(NodeId node, NodeId nodes) {
  std::set<NodeId> found;
  for (NodeId distance = 1; distance < nodes; distance *= 2) {
    found.insert((node + distance) % nodes);
    found.insert((node + nodes - distance) % nodes);
  }
  found.erase(node);
  return {found.begin(), found.end()};
}

Links connect_nodes(Bootstrap& bootstrap, const char* wanted) {
  const NodeId me = bootstrap.node();
  const std::vector<Interface> interfaces = find_interfaces(wanted);
  Identity mine = describe_myself(interfaces);
  const int listeners[] = {listen_on(AF_INET, &mine.port4), listen_on(AF_INET6, &mine.port6)};
  if (listeners[0] < 0 && listeners[1] < 0) fail("no socket can listen: %s", strerror(errno));
  Links answer;
  answer.nodes = exchange(bootstrap, mine);
  std::set<NodeId> awaited;
  for (const NodeId node : neighbours(me, bootstrap.nodes())) {
    if (node > me) {
      answer.links.push_back({node, connect_any(interfaces, answer.nodes, me, node)});
    } else {
      awaited.insert(node);
    }
  }
  while (!awaited.empty()) {
    pollfd ready[] = {{listeners[0], POLLIN, 0}, {listeners[1], POLLIN, 0}};
    if (poll(ready, 2, kAcceptMilliseconds) == 0)
      fail("node %u has not connected within %d s", *awaited.begin(), kAcceptMilliseconds / 1000);
    for (const pollfd& one : ready) {
      if (!one.revents) continue;
      const int connection = accept4(one.fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (connection < 0) continue;
      Hello hello{};
      const bool is_ours = read_all(connection, &hello, sizeof hello, kConnectMilliseconds) &&
                           hello.token == mine.token && hello.to == me &&
                           awaited.count(hello.from) &&
                           send(connection, &hello, sizeof hello, MSG_NOSIGNAL) == sizeof hello;
      if (is_ours) {
        awaited.erase(hello.from);
        answer.links.push_back({hello.from, connection});
      } else {
        close(connection);
      }
    }
  }
  for (const int listener : listeners) {
    if (listener >= 0) close(listener);
  }
  for (const auto& link : answer.links) {
    const int one = 1;
    setsockopt(link.socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  }
  return answer;
}

}  // namespace weir::dsm
