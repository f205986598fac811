#include "harness/fd_passing.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace tornfs::harness {

ssize_t SendWithFd(int socket, iovec bytes, int fd) {
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  if (fd >= 0) {
    message.msg_control = space;
    message.msg_controllen = sizeof space;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  }
  return ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

ssize_t ReceiveWithFd(int socket, iovec bytes, Fd* received) {
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof space;
  ssize_t n = 0;
  do {
    n = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (n < 0 && errno == EINTR);
  if (n < 0) return n;
  if (const cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
    *received = Fd(fd);
  }
  return n;
}

}  // namespace tornfs::harness
