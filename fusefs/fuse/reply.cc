#include "fusefs/fuse/reply.h"

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "common/log.h"

namespace tornfs {

namespace {

constexpr double kForever = 1e9;          // Seconds.
constexpr std::size_t kMaxPieces = 1000;  // writev(2) takes 1024.

// The special files change without the kernel's doing.
double AttributeTimeout(Ino ino) { return NodeTable::IsSpecial(ino) ? 0 : kForever; }

// Sends the reply. Each returns 0, or a negative errno if the request is gone.
struct Sender {
  fuse_req_t req;
  MountContext& context;

  int operator()(Errno error) const { return fuse_reply_err(req, static_cast<int>(error)); }

  int operator()(const EntryReply& entry) const {
    const fuse_entry_param parameters = EntryParameters(context, entry);
    if (entry.ino != kNoIno) context.nodes.Remember(entry.ino);
    const int sent = fuse_reply_entry(req, &parameters);
    if (sent != 0 && entry.ino != kNoIno) context.nodes.Forget(entry.ino, 1);
    return sent;
  }

  int operator()(const AttributesReply& reply) const {
    return fuse_reply_attr(req, &reply.attributes, AttributeTimeout(reply.ino));
  }

  int operator()(const OpenReply& reply) const {
    context.nodes.Open(reply.ino, reply.file.flags);
    const int sent = fuse_reply_open(req, &reply.file);
    if (sent != 0) context.nodes.Close(reply.ino, reply.file.flags);
    return sent;
  }

  int operator()(const CreateReply& reply) const {
    const fuse_entry_param parameters = EntryParameters(context, reply.entry);
    context.nodes.Remember(reply.entry.ino);
    context.nodes.Open(reply.entry.ino, reply.file.flags);
    const int sent = fuse_reply_create(req, &parameters, &reply.file);
    if (sent != 0) {
      context.nodes.Close(reply.entry.ino, reply.file.flags);
      context.nodes.Forget(reply.entry.ino, 1);
    }
    return sent;
  }

  int operator()(const CountReply& reply) const { return fuse_reply_write(req, reply.bytes); }

  int operator()(const OffsetReply& reply) const {
    return fuse_reply_lseek(req, static_cast<off_t>(reply.offset));
  }

  int operator()(const TextReply& reply) const {
    return fuse_reply_buf(req, reply.text.data(), reply.text.size());
  }

  int operator()(const PiecesReply& reply) const {
    if (reply.pieces.size() <= kMaxPieces) {
      return fuse_reply_iov(req, reply.pieces.data(), static_cast<int>(reply.pieces.size()));
    }
    std::vector<char> flat;
    for (const iovec& piece : reply.pieces) {
      const char* bytes = static_cast<const char*>(piece.iov_base);
      flat.insert(flat.end(), bytes, bytes + piece.iov_len);
    }
    return fuse_reply_buf(req, flat.data(), flat.size());
  }

  int operator()(const SizeReply& reply) const { return fuse_reply_xattr(req, reply.bytes); }

  int operator()(const IoctlReply& reply) const {
    return fuse_reply_ioctl(req, 0, reply.out.data(), reply.out.size());
  }

  int operator()(const StatFsReply& reply) const { return fuse_reply_statfs(req, &reply.values); }
};

}  // namespace

Errno ErrnoOfException() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return Errno{ENOMEM};
  } catch (const std::exception& error) {
    LogError(std::string("a request failed: ") + error.what());
  } catch (...) {
    LogError("a request failed");
  }
  return Errno{EIO};
}

void Send(fuse_req_t req, MountContext& context, const Reply& reply) {
  // A failure to send means that the kernel no longer waits: the mount is going away.
  (void)std::visit(Sender{req, context}, reply);
  NotifyRefusal(context);
}

Reply EntryOf(MountContext& context, Ino ino) {
  const auto attributes = context.Stat(ino);
  if (!attributes) return attributes.error();
  return EntryReply{ino, *attributes};
}

fuse_entry_param EntryParameters(const MountContext& context, const EntryReply& entry) {
  fuse_entry_param parameters{};
  parameters.entry_timeout = kForever;
  if (entry.ino == kNoIno) return parameters;
  parameters.ino = context.nodes.NodeOf(entry.ino);
  parameters.attr = entry.attributes;
  parameters.attr_timeout = AttributeTimeout(entry.ino);
  return parameters;
}

}  // namespace tornfs
