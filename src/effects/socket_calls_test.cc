// Sockets, with addresses and control data that fit and that do not.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "effects/call_check.h"

namespace weir::effects::testing {
namespace {

sockaddr_in local_address(uint16_t port = 0) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

struct SocketCalls : ::testing::Test {
  SocketCalls() {
    clear_buffers();
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_DGRAM, 0, packets), 0);
    receiver = socket(AF_INET, SOCK_DGRAM, 0);
    sender = socket(AF_INET, SOCK_DGRAM, 0);
    sockaddr_in address = local_address();
    EXPECT_EQ(bind(receiver, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    socklen_t size = sizeof address;
    getsockname(receiver, reinterpret_cast<sockaddr*>(&address), &size);
    EXPECT_EQ(connect(sender, reinterpret_cast<sockaddr*>(&address), size), 0);
    receiver_address = address;
  }
  ~SocketCalls() override {
    for (int one : {pair[0], pair[1], packets[0], packets[1], receiver, sender}) close(one);
  }
  SocketCalls(const SocketCalls&) = delete;
  SocketCalls& operator=(const SocketCalls&) = delete;

  Buffer length(uint32_t size) const { return value(size); }

  struct Message {
    Buffer header, name, control, data;
  };
  Message message(uint32_t name, size_t control, size_t data, bool is_many = false) const {
    Message made{{0, 0}, random_bytes(name), random_bytes(control), random_bytes(data)};
    const iovec parts[2] = {{made.data.data(), data / 2},
                            {reinterpret_cast<void*>(made.data.at + data / 2), data - data / 2}};
    mmsghdr header{};
    header.msg_hdr.msg_name = name ? made.name.data() : nullptr;
    header.msg_hdr.msg_namelen = name;
    header.msg_hdr.msg_control = control ? made.control.data() : nullptr;
    header.msg_hdr.msg_controllen = control;
    header.msg_hdr.msg_iov = reinterpret_cast<iovec*>(value(parts).at);
    header.msg_hdr.msg_iovlen = 2;
    made.header = bytes(&header, is_many ? sizeof header : sizeof header.msg_hdr);
    return made;
  }

  int pair[2], packets[2], receiver, sender;
  sockaddr_in receiver_address;
};

TEST_F(SocketCalls, Making) {
  const Buffer both = random_bytes(8);
  EXPECT_EQ(call(SYS_socketpair, {AF_UNIX, SOCK_STREAM, 0, both}), 0);
  close(both.as<int>());
  close(both.as<int>(4));
  EXPECT_LT(call(SYS_socketpair, {AF_INET, SOCK_STREAM, 0, random_bytes(8)}, 8), 0);
  close(static_cast<int>(call(SYS_socket, {AF_INET, SOCK_STREAM, 0})));
  EXPECT_EQ(call(SYS_shutdown, {pair[0], SHUT_WR}), 0);
}

TEST_F(SocketCalls, Connections) {
  const long server = call(SYS_socket, {AF_INET, SOCK_STREAM, 0});
  EXPECT_EQ(call(SYS_bind, {server, value(local_address()), 16}), 0);
  EXPECT_EQ(last_read(), 16u);
  EXPECT_EQ(call(SYS_listen, {server, 5}), 0);
  const Buffer address = random_bytes(16);
  EXPECT_EQ(call(SYS_getsockname, {server, address, length(16)}), 0);
  EXPECT_EQ(last_written(), 20u);
  EXPECT_EQ(call(SYS_getsockname, {server, random_bytes(5), length(5)}, 7), 0);
  EXPECT_EQ(last_written(), 9u);
  EXPECT_EQ(call(SYS_getsockname, {server, random_bytes(100), length(100)}, 7), 0);
  EXPECT_EQ(last_written(), 20u);
  EXPECT_EQ(call(SYS_getpeername, {server, random_bytes(16), length(16)}), -ENOTCONN);
  EXPECT_EQ(last_written(), 0u);
  int clients[3];
  for (int& client : clients) {
    client = socket(AF_INET, SOCK_STREAM, 0);
    EXPECT_EQ(call(SYS_connect, {client, address, 16}), 0);
  }
  EXPECT_EQ(call(SYS_getpeername, {clients[0], random_bytes(32), length(32)}), 0);
  close(static_cast<int>(call(SYS_accept, {server, random_bytes(16), length(16)}, 5)));
  EXPECT_EQ(last_written(), 20u);
  close(static_cast<int>(call(SYS_accept4, {server, random_bytes(7), length(7), 0}, 5)));
  EXPECT_EQ(last_written(), 11u);
  close(static_cast<int>(call(SYS_accept, {server, 0, 0})));
  EXPECT_EQ(call(SYS_accept, {-1, random_bytes(16), length(16)}), -EBADF);
  for (int client : clients) close(client);
  close(static_cast<int>(server));
}

TEST_F(SocketCalls, Bytes) {
  EXPECT_EQ(call(SYS_sendto, {pair[0], random_bytes(30), 30, 0, 0, 0}), 30);
  EXPECT_EQ(last_read(), 30u);
  EXPECT_EQ(call(SYS_recvfrom, {pair[1], random_bytes(10), 10, 0, 0, 0}), 10);
  EXPECT_EQ(call(SYS_recvfrom,
                 {pair[1], random_bytes(10), 10, MSG_PEEK, random_bytes(16), length(16)}, 5),
            10);
  EXPECT_EQ(call(SYS_recvfrom, {pair[1], random_bytes(100), 100, MSG_DONTWAIT, 0, 0}), 20);
  EXPECT_EQ(call(SYS_recvfrom,
                 {pair[1], random_bytes(100), 100, MSG_DONTWAIT, random_bytes(16), length(16)}),
            -EAGAIN);
  EXPECT_EQ(last_written(), 0u);
}

TEST_F(SocketCalls, Packets) {
  for (int i = 0; i < 3; i++) EXPECT_EQ(send(sender, "0123456789", 10, 0), 10);
  EXPECT_EQ(
      call(SYS_recvfrom, {receiver, random_bytes(100), 100, 0, random_bytes(16), length(16)}, 6),
      10);
  EXPECT_EQ(last_written(), 30u);
  EXPECT_EQ(
      call(SYS_recvfrom, {receiver, random_bytes(4), 4, MSG_TRUNC, random_bytes(6), length(6)}, 6),
      10);
  EXPECT_EQ(last_written(), 14u);
  EXPECT_EQ(call(SYS_recvfrom, {receiver, random_bytes(4), 4, 0, random_bytes(32), length(32)}, 6),
            4);
  EXPECT_EQ(call(SYS_sendto, {sender, random_bytes(9), 9, 0, value(receiver_address), 16}), 9);
  EXPECT_EQ(last_read(), 25u);
}

TEST_F(SocketCalls, Messages) {
  Message out = message(0, 0, 20);
  EXPECT_EQ(call(SYS_sendmsg, {pair[0], out.header, 0}), 20);
  EXPECT_EQ(last_read(), 20u);
  Message in = message(0, 0, 50);
  EXPECT_EQ(call(SYS_recvmsg, {pair[1], in.header, 0}, 20), 20);
  EXPECT_EQ(call(SYS_recvmsg, {pair[1], in.header, MSG_DONTWAIT}), -EAGAIN);
  EXPECT_EQ(last_written(), 0u);

  EXPECT_EQ(send(sender, "0123456789", 10, 0), 10);
  EXPECT_EQ(send(sender, "0123456789", 10, 0), 10);
  in = message(16, 0, 50);
  EXPECT_EQ(call(SYS_recvmsg, {receiver, in.header, 0}, 20), 10);
  EXPECT_EQ(last_written(), 16u + 10 + 4 + 12);
  in = message(5, 0, 4);
  EXPECT_EQ(call(SYS_recvmsg, {receiver, in.header, MSG_TRUNC}, 20), 10);
  EXPECT_EQ(last_written(), 5u + 4 + 4 + 12);
}

TEST_F(SocketCalls, ControlData) {
  Message out = message(0, CMSG_SPACE(2 * sizeof(int)), 4);
  auto* head = reinterpret_cast<cmsghdr*>(out.control.at);
  *head = {CMSG_LEN(2 * sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
  std::memcpy(CMSG_DATA(head), pair, sizeof pair);
  EXPECT_EQ(call(SYS_sendmsg, {packets[0], out.header, 0}), 4);
  EXPECT_EQ(last_read(), 4 + CMSG_SPACE(2 * sizeof(int)));
  Message in = message(0, 100, 40);
  EXPECT_EQ(call(SYS_recvmsg, {packets[1], in.header, 0}, 24), 4);
  EXPECT_EQ(last_written(), 4 + 12 + CMSG_SPACE(2 * sizeof(int)));
  for (int i = 0; i < 2; i++) close(in.control.as<int>(16 + 4 * i));
  EXPECT_EQ(sendmsg(packets[0], static_cast<msghdr*>(out.header.data()), 0), 4);
  in = message(0, 20, 40);
  EXPECT_EQ(call(SYS_recvmsg, {packets[1], in.header, 0}, 24), 4);
  EXPECT_EQ(in.header.as<msghdr>().msg_flags, MSG_CTRUNC);
  close(in.control.as<int>(16));
}

TEST_F(SocketCalls, ManyMessages) {
  mmsghdr headers[3];
  for (auto& header : headers) header = message(0, 0, 10, true).header.as<mmsghdr>();
  EXPECT_EQ(call(SYS_sendmmsg, {packets[0], value(headers), 3, 0}, 12), 3);
  EXPECT_EQ(last_written(), 12u);
  EXPECT_EQ(last_read(), 30u);
  for (auto& header : headers) header = message(0, 0, 30, true).header.as<mmsghdr>();
  const int64_t time[2] = {0, 1000000};
  EXPECT_EQ(call(SYS_recvmmsg, {packets[1], value(headers), 2, 0, value(time)}, 60), 2);
  EXPECT_EQ(last_written(), 20u + 2 * 16 + 16);
  EXPECT_EQ(call(SYS_recvmmsg, {packets[1], value(headers), 3, MSG_DONTWAIT, 0}, 60), 1);
  EXPECT_EQ(call(SYS_recvmmsg, {packets[1], value(headers), 3, MSG_DONTWAIT, value(time)}),
            -EAGAIN);
  EXPECT_EQ(last_written(), 0u);
  EXPECT_EQ(send(sender, "0123456789", 10, 0), 10);
  EXPECT_EQ(send(sender, "0123456789", 10, 0), 10);
  headers[0] = message(16, 0, 10, true).header.as<mmsghdr>();
  headers[1] = message(3, 0, 10, true).header.as<mmsghdr>();
  EXPECT_EQ(call(SYS_recvmmsg, {receiver, value(headers), 2, 0, 0}, 60), 2);
  EXPECT_EQ(last_written(), 20u + 16 + 3 + 2 * (4 + 16));
}

TEST_F(SocketCalls, Options) {
  EXPECT_EQ(call(SYS_setsockopt, {pair[0], SOL_SOCKET, SO_SNDBUF, value(65536), 4}), 0);
  EXPECT_EQ(last_read(), 4u);
  EXPECT_EQ(call(SYS_getsockopt, {pair[0], SOL_SOCKET, SO_SNDBUF, random_bytes(4), length(4)}, 6),
            0);
  EXPECT_EQ(
      call(SYS_getsockopt, {pair[0], SOL_SOCKET, SO_SNDBUF, random_bytes(40), length(40)}, 42), 0);
  EXPECT_EQ(
      call(SYS_getsockopt, {pair[0], SOL_SOCKET, SO_PEERCRED, random_bytes(12), length(12)}, 6), 0);
  EXPECT_EQ(
      call(SYS_getsockopt, {pair[0], SOL_SOCKET, SO_RCVTIMEO, random_bytes(16), length(16)}, 6), 0);
  EXPECT_EQ(call(SYS_getsockopt, {pair[0], SOL_SOCKET, 9999, random_bytes(4), length(4)}, 4),
            -ENOPROTOOPT);
  const int tcp = socket(AF_INET, SOCK_STREAM, 0);
  EXPECT_EQ(call(SYS_getsockopt, {tcp, IPPROTO_TCP, TCP_INFO, random_bytes(400), length(400)}, 400),
            0);
  EXPECT_EQ(
      call(SYS_getsockopt, {tcp, IPPROTO_TCP, TCP_CONGESTION, random_bytes(16), length(16)}, 10),
      0);
  close(tcp);
  sock_filter code[2] = {BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0), BPF_STMT(BPF_RET | BPF_A, 0)};
  sock_fprog program{2, code};
  EXPECT_EQ(setsockopt(receiver, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program), 0);
  EXPECT_EQ(
      call(SYS_getsockopt, {receiver, SOL_SOCKET, SO_GET_FILTER, random_bytes(16), length(2)}, 8),
      0);
  EXPECT_EQ(last_written(), 20u);
}

}  // namespace
}  // namespace weir::effects::testing
