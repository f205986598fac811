#include "journal/frontier.h"

namespace tornfs::journal {
namespace {

// How the older slot stands to the newer one, from sequences and places alone.
tl::expected<Partner, FrontierRefusal> Compare(const SlotReadings& slots, std::size_t newest) {
  const std::size_t older = 1 - newest;
  const std::uint64_t gap = slots[newest]->sequence - slots[older]->sequence;
  const int misplaced = (SlotPosition(slots[newest]->sequence) != newest ? 1 : 0) +
                        (SlotPosition(slots[older]->sequence) != older ? 1 : 0);
  if (misplaced == 0 && gap == 1) return Partner::kPrevious;
  if (misplaced == 0 && gap == 3) return Partner::kSkipped;
  if (misplaced == 1 && gap == 2) return Partner::kMisplaced;
  if (misplaced == 2 && gap == 1) return Partner::kMisplaced;
  return tl::make_unexpected(FrontierRefusal::kSequenceMismatch);
}

bool SameIdentity(const State& a, const State& b) {
  return a.group == b.group && a.incarnation == b.incarnation;
}

}  // namespace

std::string_view FrontierRefusalText(FrontierRefusal refusal) {
  switch (refusal) {
    case FrontierRefusal::kUnreadable: return "neither slot can be read";
    case FrontierRefusal::kUnverified: return "unreadable frontier";
    case FrontierRefusal::kIdentityMismatch: return "slots of different journals";
    case FrontierRefusal::kSequenceMismatch: return "slot sequences contradict each other";
  }
  return "unknown refusal";
}

tl::expected<FrontierChoice, FrontierRefusal> Choose(const SlotReadings& slots,
                                                     bool check_redundancy) {
  if (!slots[0] && !slots[1]) {
    const bool unreadable =
        slots[0].error() == SlotFault::kUnreadable && slots[1].error() == SlotFault::kUnreadable;
    return tl::make_unexpected(unreadable ? FrontierRefusal::kUnreadable
                                          : FrontierRefusal::kUnverified);
  }
  FrontierChoice choice;
  if (!slots[0] || !slots[1]) {
    choice.position = slots[0] ? 0 : 1;
    choice.newest = *slots[choice.position];
    choice.partner = Partner::kLost;
    return choice;
  }
  choice.position = slots[1]->sequence > slots[0]->sequence ? 1 : 0;
  choice.newest = *slots[choice.position];
  choice.partner_state = slots[1 - choice.position]->state;
  if (!check_redundancy) return choice;
  if (!SameIdentity(slots[0]->state, slots[1]->state)) {
    return tl::make_unexpected(FrontierRefusal::kIdentityMismatch);
  }
  const auto partner = Compare(slots, choice.position);
  if (!partner) return tl::make_unexpected(partner.error());
  choice.partner = *partner;
  return choice;
}

}  // namespace tornfs::journal
