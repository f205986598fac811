#include "journal/rules.h"

#include <array>

namespace tornfs::journal {
namespace {

constexpr std::array<RuleName, 30> kRules{{
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
    {Rule::kAcceptReferencesInTail, "accept-references-in-tail",
     "adopt references past a frontier that knows of none yet"},
    {Rule::kSyncAdoptedBodies, "sync-adopted-bodies",
     "sync the segments and names of adopted references before publishing them"},
    {Rule::kSyncBodiesBeforePublish, "sync-bodies-before-publish",
     "sync the segments before the frontier covers references to them"},
    {Rule::kSyncLinksBeforePublish, "sync-links-before-publish",
     "make the names of segments durable before the frontier covers references"},
    {Rule::kPublishMetadataTwice, "publish-metadata-twice",
     "fill both slots with a certificate or a purge marker, which no record repeats"},
    {Rule::kCancelReclaimOnReuse, "cancel-reclaim-on-reuse",
     "take a name that is used again off the list of files to delete"},
    {Rule::kReclaimPastFailures, "reclaim-past-failures",
     "go on deleting behind files that cannot be deleted"},
    {Rule::kReclaimOffAppend, "reclaim-off-append",
     "never delete files on the way to an acknowledgment"},
    {Rule::kRewriteAfterFailedBarrier, "rewrite-after-failed-barrier",
     "after a failed barrier write everything again before believing it"},
    {Rule::kSyncOriginalWriters, "sync-original-writers",
     "sync materialized files through the handles that wrote them"},
    {Rule::kValidateAtAppend, "validate-at-append", "refuse a prepare that recovery would refuse"},
    {Rule::kSyncBackupBeforeRecovery, "sync-backup-before-recovery",
     "make the name of an unfinished restore's backup durable before anything is deleted"},
}};

constexpr std::array<ProtocolName, 3> kProtocols{{
    {Protocol::kTornfs, "tornfs", kMagic},
    {Protocol::kReference, "reference", {'T', 'O', 'R', 'N', 'R', 'E', 'F', '1'}},
    {Protocol::kRename, "rename", {'T', 'O', 'R', 'N', 'R', 'E', 'N', '1'}},
}};

// The repairs that the first published two-slot protocol lacks.
constexpr std::array kRepairs{
    Rule::kSyncFrontierAtOpen,
    Rule::kSyncOutgoingBeforeRewrite,
    Rule::kRepublishDamagedSlot,
    Rule::kIgnoreCapacityAtRecovery,
    Rule::kSyncDirectoryBeforeFrontier,
    Rule::kRefuseShortFrontier,
    Rule::kPublishTwiceAfterRewrite,
    Rule::kNextGenerationAboveDisk,
    Rule::kLockDirectory,
    Rule::kCheckSlotRedundancy,
    Rule::kReadSlotsSeparately,
    Rule::kVerifyBeforeInstall,
    Rule::kAcceptReferencesInTail,
    Rule::kSyncAdoptedBodies,
    Rule::kPublishMetadataTwice,
    Rule::kCancelReclaimOnReuse,
    Rule::kReclaimPastFailures,
    Rule::kReclaimOffAppend,
    Rule::kRewriteAfterFailedBarrier,
    Rule::kSyncOriginalWriters,
    Rule::kValidateAtAppend,
};

}  // namespace

std::span<const RuleName> AllRules() { return kRules; }

std::optional<Rule> ParseRule(std::string_view name) {
  for (const RuleName& entry : kRules) {
    if (entry.name == name) return entry.rule;
  }
  return std::nullopt;
}

std::span<const ProtocolName> AllProtocols() { return kProtocols; }

std::optional<Protocol> ParseProtocol(std::string_view name) {
  for (const ProtocolName& entry : kProtocols) {
    if (entry.name == name) return entry.protocol;
  }
  return std::nullopt;
}

const Magic& MagicOf(Protocol protocol) {
  return kProtocols[static_cast<std::size_t>(protocol)].magic;
}

// The rename protocol has the gaps of its successor but one: its first publication came behind a
// barrier on the directory, and the second slot moved in front of that.
Rules RulesOf(Protocol protocol) {
  Rules rules;
  if (protocol == Protocol::kTornfs) return rules;
  for (const Rule rule : kRepairs) {
    const bool kept = protocol == Protocol::kRename && rule == Rule::kSyncDirectoryBeforeFrontier;
    if (!kept) rules.SwitchOff(rule);
  }
  return rules;
}

}  // namespace tornfs::journal
