#include "journal/chain.h"

#include "common/hash.h"

namespace tornfs::journal {

Status CheckFollows(const State& state, const PrepareHeader& header) {
  const std::string name = "op " + std::to_string(header.op);
  if (header.group != state.group) {
    return Fail(ErrorKind::kInvalid, name + " belongs to group " + std::to_string(header.group));
  }
  if (state.head == UINT64_MAX) return Fail(ErrorKind::kCapacity, "op numbers are used up");
  if (header.op != state.head + 1) {
    return Fail(ErrorKind::kInvalid, name + " does not follow op " + std::to_string(state.head));
  }
  if (state.anchor_known && header.parent != state.head_checksum) {
    return Fail(ErrorKind::kInvalid, name + " names parent " + Hex16(header.parent) + ", not " +
                                         Hex16(state.head_checksum));
  }
  return {};
}

void Advance(State& state, const PrepareHeader& header, std::uint64_t record_bytes) {
  if (!state.anchor_known) {
    state.anchor_known = true;
    state.checkpoint_checksum = header.parent;
  }
  if (state.certified_log_view && header.view > *state.certified_log_view) {
    state.certified_log_view.reset();
  }
  state.head = header.op;
  state.head_checksum = header.checksum;
  state.length += record_bytes;
}

}  // namespace tornfs::journal
