#include "fusefs/core/model_rules.h"

namespace tornfs {
namespace {

constexpr std::array<RuleAnswer, 3> kOrder{{
    {"none", "effects survive independently of each other"},
    {"journal",
     "names, attributes and what truncate and fallocate do survive in the order of the calls: only "
     "a prefix of them is there"},
    {"calls", "nothing survives of a call unless all that came before it does"},
}};
constexpr std::array<RuleAnswer, 2> kWhen{{
    {"barrier", "durable by a barrier"},
    {"at-once", "durable as soon as the call returns"},
}};
constexpr std::array<RuleAnswer, 4> kFsync{{
    {"self", "what is pending of that file; of a directory, its entries"},
    {"names",
     "the file, every name it has or lost, and the directories above; of a directory, its entries"},
    {"last-name",
     "the file, the last name it got and the directories above; of a directory, its entries"},
    {"journal", "the file, and every call before that the journal holds, whatever it was about"},
}};
constexpr std::array<RuleAnswer, 3> kFdatasync{{
    {"data", "data and size of the file"},
    {"data-and-new-name", "data and size, and the name of a file that has no durable one"},
    {"as-fsync", "the same as fsync"},
}};
constexpr std::array<RuleAnswer, 2> kRename{{
    {"whole", "kept or lost whole"},
    {"split", "the old name, the new one and the removal of what was there survive by themselves"},
}};
constexpr std::array<RuleAnswer, 2> kCrossRename{{
    {"both-names", "the new name, and the removal of the old one from the other directory"},
    {"new-name", "of a file the new name alone: a crash can leave it under both"},
}};
constexpr std::array<RuleAnswer, 2> kTruncate{{
    {"whole", "the smaller size and the dropped blocks are kept or lost together"},
    {"split", "the smaller size and the dropped blocks survive by themselves"},
}};
constexpr std::array<RuleAnswer, 4> kTruncatedTail{{
    {"free", "the zeros in the rest of the last block can be early or late"},
    {"first", "the zeros in the rest of the last block can only be early"},
    {"last", "the zeros in the rest of the last block can only be late"},
    {"whole", "the zeros in the rest of the last block are kept or lost with the size"},
}};
constexpr std::array<RuleAnswer, 5> kSizeAfter{{
    {"nothing", "a size can survive without the data under it"},
    {"tail",
     "a size beyond the old last block waits for what the call wrote in that block, not for new "
     "blocks"},
    {"fresh", "a size waits for the data in new blocks, not for that in the old last block"},
    {"tail-and-fresh",
     "a size waits for the data in new blocks and, beyond the old last block, for what the call "
     "wrote there"},
    {"data", "a size waits for all data that the call wrote beyond the old size"},
}};
constexpr std::array<RuleAnswer, 5> kSizeSteps{{
    {"part", "one step for each part in which the kernel hands on the write"},
    {"tail", "one step, and one before it at the end of the old last block"},
    {"call", "one step"},
    {"page", "one step for each page of 4096 bytes"},
    {"two-pages", "one step for each 8192 bytes"},
}};
constexpr std::array<RuleAnswer, 2> kSizeOrder{{
    {"free", "a size that a write made is in no order with names and attributes"},
    {"journal", "a size that a write made has its place in the journal"},
}};
constexpr std::array<RuleAnswer, 2> kData{{
    {"in-place", "data goes to its place by itself"},
    {"journal",
     "data has its place in the journal: a write that grows the file is whole, one that does not "
     "survives block by block, first to last"},
}};
constexpr std::array<RuleAnswer, 3> kFreshUnit{{
    {"page", "each unit of data by itself"},
    {"two-pages", "8192 bytes of one call at a time"},
    {"call", "all that one call wrote"},
}};
constexpr std::array<RuleAnswer, 2> kOverwrite{{
    {"unit", "each unit of data by itself, as --tear says"},
    {"call", "all that one call wrote"},
}};
constexpr std::array<RuleAnswer, 2> kFresh{{
    {"zeros", "a new block whose data is lost reads as zeros"},
    {"stale", "a new block whose data is lost reads as zeros or as what the disk held before"},
}};
constexpr std::array<RuleAnswer, 2> kReuse{{
    {"after-commit", "a freed block is not written again before it is durably free"},
    {"at-once",
     "a block that unlink or truncate freed may hold another file's data while the old file can "
     "come "
     "back"},
}};
constexpr std::array<RuleAnswer, 4> kReplace{{
    {"nothing", "a rename over an existing name waits for nothing"},
    {"size", "a rename over an existing name waits for the size of the new file"},
    {"data", "a rename over an existing name waits for size and data of the new file"},
    {"old-data",
     "a rename over an existing name waits for what was appended to a file that was on disk; a new "
     "file may be empty"},
}};
constexpr std::array<RuleAnswer, 2> kLoggedNames{{
    {"ordered", "no exception"},
    {"free",
     "what changes the names of a file that was synced since the last commit may overtake older "
     "calls"},
}};
constexpr std::array<RuleAnswer, 3> kLostReplacement{{
    {"never", "a name that was durable leads to the old file or the new one"},
    {"may",
     "where a file made and synced since the last commit is replaced by an unsynced one, the name "
     "may be gone"},
    {"must",
     "the same, and once a younger entry of the directory is durable the old file is not there any "
     "more"},
}};
constexpr std::array<RuleAnswer, 2> kTearing{{
    {"as-asked", "as --tear says"},
    {"never", "no write is ever torn"},
}};

constexpr std::array<RuleWords, kRules> kVocabulary{{
    {Rule::kOrder, "order", "which calls must have survived for a later one to", kOrder},
    {Rule::kNames, "names", "when directory entries are durable", kWhen},
    {Rule::kSizes, "sizes", "when sizes are durable", kWhen},
    {Rule::kAttributes, "attributes", "when modes, owners and xattrs are durable", kWhen},
    {Rule::kFsync, "fsync", "what fsync makes durable", kFsync},
    {Rule::kFdatasync, "fdatasync", "what fdatasync makes durable", kFdatasync},
    {Rule::kRename, "rename", "whether a rename can be split", kRename},
    {Rule::kCrossRename, "cross-rename",
     "what fsync of a directory keeps of a rename to it from another one", kCrossRename},
    {Rule::kTruncate, "truncate", "whether a truncation can be split", kTruncate},
    {Rule::kTruncatedTail, "truncated-tail", "the rest of the block that a truncation cuts",
     kTruncatedTail},
    {Rule::kSizeAfter, "size-after", "what a size that a write made waits for", kSizeAfter},
    {Rule::kSizeSteps, "size-steps", "in how many steps one write's size becomes durable",
     kSizeSteps},
    {Rule::kSizeOrder, "size-order", "whether sizes are in order with names", kSizeOrder},
    {Rule::kData, "data", "where data is written", kData},
    {Rule::kFreshUnit, "fresh-unit", "how much data in new blocks survives together", kFreshUnit},
    {Rule::kOverwrite, "overwrite", "how much overwritten data survives together", kOverwrite},
    {Rule::kFresh, "fresh", "what a new block without its data reads as", kFresh},
    {Rule::kReuse, "reuse", "when freed blocks are used again", kReuse},
    {Rule::kReplace, "replace", "what replacing a file by rename waits for", kReplace},
    {Rule::kLoggedNames, "logged-names", "exceptions from the order for synced files",
     kLoggedNames},
    {Rule::kLostReplacement, "lost-replacement", "whether replacing a file can lose both versions",
     kLostReplacement},
    {Rule::kTearing, "tearing", "whether a write can be torn", kTearing},
}};

}  // namespace

std::span<const RuleWords> RuleVocabulary() { return kVocabulary; }

std::string_view EvidenceName(Evidence evidence) {
  constexpr std::array<std::string_view, 4> kNames{"guaranteed", "measured", "documented",
                                                   "heuristic"};
  return kNames[static_cast<std::size_t>(evidence)];
}

}  // namespace tornfs
