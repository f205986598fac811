// Oracle: the verdict on crash states when the user gave neither a check nor a recovery.
//
// It knows two things of a program that nobody has described: it should leave each file that it
// replaces as it was or as it became (C3: Ma et al., FSE 2016; the golden set of ParaCrash, SC
// 2021), and what it prints is a promise. From the recording follow claims, one for each file and
// line that is in danger; a claim that no crash state breaks under the model says nothing.
//
// Threads: none; a value once made.
#pragma once

#include <memory>
#include <vector>

#include "harness/oracle/claim.h"

namespace tornfs::harness {

class Oracle {
 public:
  // Cost: linear in the recording. Keeps no reference to `store`'s owner: it must outlive this.
  Oracle(std::shared_ptr<const Recording> recording, const ContentStore& store);

  // In the order in which a state is held against them: the first that fails names the finding.
  [[nodiscard]] const std::vector<Claim>& claims() const { return claims_; }
  // The first claim that `tree`, left by a crash at `cut` with `promised` lines printed, breaks;
  // null: none.
  [[nodiscard]] const Claim* FirstBroken(const Tree& tree, OpNumber cut,
                                         std::size_t promised) const;
  // What would have been claimed, but was durable already: CountSettled (claims_of.h).
  [[nodiscard]] std::size_t settled() const { return settled_; }
  // Whether printed lines were taken for promises: not those of a program that syncs nothing and
  // goes on changing files after its last line.
  [[nodiscard]] bool takes_promises() const { return takes_promises_; }

 private:
  const ContentStore& store_;
  std::vector<Claim> claims_;
  std::size_t settled_ = 0;
  bool takes_promises_ = false;
};

}  // namespace tornfs::harness
