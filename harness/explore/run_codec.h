// A ProgramRun as bytes, for another process of the same exploration. Where it started from and
// when its effects became durable are left out, as is what it printed beyond its title: whoever
// goes on from the run makes it again in a world of his own (LazyExplorer::Rebase).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "harness/explore/answer_tree.h"

namespace tornfs::harness {

[[nodiscard]] std::string EncodeRun(const ProgramRun& run, const ContentStore& store);

// Contents go to `store`. Null for bytes that EncodeRun did not make, or when the store is full.
[[nodiscard]] std::shared_ptr<ProgramRun> DecodeRun(std::string_view bytes, ContentStore& store);

}  // namespace tornfs::harness
