#include "fusefs/fuse/request_extras.h"

#include <linux/fuse.h>

#include <cstddef>
#include <cstring>

namespace tornfs {
namespace {

// The payload of `buffer` as `Payload`; zeros where it is shorter.
template <class Payload>
Payload PayloadOf(const fuse_buf& buffer) {
  Payload payload{};
  if (buffer.size >= sizeof(fuse_in_header) + sizeof payload) {
    std::memcpy(&payload, static_cast<const char*>(buffer.mem) + sizeof(fuse_in_header),
                sizeof payload);
  }
  return payload;
}

// libfuse knows the first half of fuse_setxattr_in.
void ShortenSetxattr(fuse_buf& buffer, fuse_in_header& header) {
  constexpr std::size_t kNew = sizeof(fuse_in_header) + sizeof(fuse_setxattr_in);
  constexpr std::size_t kOld = sizeof(fuse_in_header) + FUSE_COMPAT_SETXATTR_IN_SIZE;
  if (buffer.size < kNew) return;
  char* bytes = static_cast<char*>(buffer.mem);
  std::memmove(bytes + kOld, bytes + kNew, buffer.size - kNew);
  buffer.size -= kNew - kOld;
  header.len = static_cast<std::uint32_t>(buffer.size);
}

}  // namespace

std::uint32_t GreetingFlags(const fuse_buf& buffer) {
  constexpr std::uint32_t kWanted = FUSE_HANDLE_KILLPRIV_V2 | FUSE_SETXATTR_EXT;
  constexpr std::size_t kFlags = sizeof(fuse_in_header) + offsetof(fuse_init_in, flags);
  std::uint32_t offered = 0;
  if (buffer.size < kFlags + sizeof offered) return 0;
  std::memcpy(&offered, static_cast<const char*>(buffer.mem) + kFlags, sizeof offered);
  return offered & kWanted;
}

RequestExtras TakeExtras(fuse_buf& buffer, std::uint32_t greeting) {
  fuse_in_header header;
  std::memcpy(&header, buffer.mem, sizeof header);
  RequestExtras extras;
  switch (header.opcode) {
    case FUSE_WRITE:
      extras.clears_set_id =
          (PayloadOf<fuse_write_in>(buffer).write_flags & FUSE_WRITE_KILL_SUIDGID) != 0;
      return extras;
    case FUSE_SETATTR:
      // A change of owner always comes with the flag, whoever makes it.
      extras.clears_set_id = (PayloadOf<fuse_setattr_in>(buffer).valid &
                              (FATTR_KILL_SUIDGID | FATTR_UID | FATTR_GID)) == FATTR_KILL_SUIDGID;
      return extras;
    case FUSE_OPEN:
      extras.clears_set_id =
          (PayloadOf<fuse_open_in>(buffer).open_flags & FUSE_OPEN_KILL_SUIDGID) != 0;
      return extras;
    case FUSE_FALLOCATE:
    case FUSE_COPY_FILE_RANGE:
      extras.clears_set_id = header.uid != 0;  // The kernel does not say; root has CAP_FSETID.
      return extras;
    case FUSE_SETXATTR:
      if ((greeting & FUSE_SETXATTR_EXT) == 0) return extras;
      extras.clears_set_id =
          (PayloadOf<fuse_setxattr_in>(buffer).setxattr_flags & FUSE_SETXATTR_ACL_KILL_SGID) != 0;
      ShortenSetxattr(buffer, header);
      break;
    case FUSE_TMPFILE:
      extras.unnamed = true;
      header.opcode = FUSE_CREATE;
      break;
    default: return extras;
  }
  std::memcpy(buffer.mem, &header, sizeof header);
  return extras;
}

}  // namespace tornfs
