#include "journal/rules.h"

#include <array>

namespace tornfs::journal {
namespace {

constexpr std::array<RuleName, 18> kRules{{
    {Rule::kSyncFrontierAtOpen, "sync-frontier-at-open",
     "sync the frontier before believing what was read from it"},
    {Rule::kSyncOutgoingBeforeRewrite, "sync-outgoing-before-rewrite",
     "sync the old data file before the frontier names the new one"},
    {Rule::kRepublishDamagedSlot, "republish-damaged-slot",
     "rewrite a slot that did not verify even if nothing else changed"},
    {Rule::kIgnoreCapacityAtRecovery, "ignore-capacity-at-recovery",
     "bound recovery by the format's limit, not by the capacity"},
    {Rule::kSyncDirectoryBeforeFrontier, "sync-directory-before-frontier",
     "make the first data file's name durable before the frontier appears"},
    {Rule::kRefuseShortFrontier, "refuse-short-frontier",
     "refuse a frontier of one slot instead of taking it for an old format"},
    {Rule::kPublishTwiceAfterRewrite, "publish-twice-after-rewrite",
     "fill both slots before an old generation may be deleted"},
    {Rule::kNextGenerationAboveDisk, "next-generation-above-disk",
     "number a new generation above every file present"},
    {Rule::kLockDirectory, "lock-directory", "keep other writers out with a lock file"},
    {Rule::kCheckSlotRedundancy, "check-slot-redundancy",
     "check position, neighbourhood and identity of both slots"},
    {Rule::kReadSlotsSeparately, "read-slots-separately",
     "read each slot on its own so that one bad sector hides one slot"},
    {Rule::kVerifyBeforeInstall, "verify-before-install",
     "verify all data before the frontier is repaired"},
    {Rule::kSyncRecordsBeforePublish, "sync-records-before-publish",
     "sync the data file before the frontier covers its records"},
    {Rule::kSyncFrontierOnPublish, "sync-frontier-on-publish",
     "sync the frontier before anything it covers is acknowledged"},
    {Rule::kSyncDirectoryAfterRename, "sync-directory-after-rename",
     "sync the directory after the frontier got its name"},
    {Rule::kSyncDirectoryBeforePublish, "sync-directory-before-publish",
     "make a new generation's name durable before the frontier names it"},
    {Rule::kSyncDirectoryAtOpen, "sync-directory-at-open",
     "make the names that were found durable before reporting anything"},
    {Rule::kVerifyTailChain, "verify-tail-chain",
     "adopt records past the frontier only if they continue the chain"},
}};

}  // namespace

std::span<const RuleName> AllRules() { return kRules; }

std::optional<Rule> ParseRule(std::string_view name) {
  for (const RuleName& entry : kRules) {
    if (entry.name == name) return entry.rule;
  }
  return std::nullopt;
}

}  // namespace tornfs::journal
