#include "harness/oracle/oracle.h"

#include <iterator>

#include "harness/oracle/claims_of.h"

namespace tornfs::harness {
namespace {

bool Holds(const Claim& claim, const Tree& tree, const ContentStore& store) {
  return Judge(claim, tree, store, [](const Question&) { return true; }) == Held::kYes;
}

}  // namespace

Oracle::Oracle(std::shared_ptr<const Recording> recording, const ContentStore& store)
    : store_(store) {
  const OpNumber end = recording->end();
  const std::size_t lines = recording->promises.size();
  const FileHistory history(std::move(recording));
  takes_promises_ = TakesPromises(history);
  settled_ = CountSettled(history);
  const auto add = [&](std::vector<Claim> more) {
    claims_.insert(claims_.end(), std::move_iterator(more.begin()), std::move_iterator(more.end()));
  };
  add(ReplacementClaims(history));
  add(RemovalClaims(history, store));
  if (takes_promises_) add(PromiseClaims(history));
  add(NameClaims(history));
  // What does not hold without a crash was misunderstood.
  std::erase_if(claims_, [&](const Claim& claim) {
    return claim.MustHold(end, lines) && !Holds(claim, history.end(), store);
  });
}

const Claim* Oracle::FirstBroken(const Tree& tree, OpNumber cut, std::size_t promised) const {
  for (const Claim& claim : claims_) {
    if (claim.MustHold(cut, promised) && !Holds(claim, tree, store_)) return &claim;
  }
  return nullptr;
}

}  // namespace tornfs::harness
