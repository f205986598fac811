// The commands that describe a journal: stat for one that recovery accepts, dump for any.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/hash.h"
#include "journal/cli.h"
#include "journal/output.h"
#include "journal/posix_storage.h"
#include "journal/verify.h"

namespace tornfs::journal::cli {
namespace {

using Json = nlohmann::ordered_json;

Json Describe(const SegmentCursor& cursor) {
  return {{"generation", cursor.segment.generation},
          {"start_offset", cursor.segment.start_offset},
          {"length", cursor.length},
          {"next_offset", cursor.next_offset}};
}

Json Describe(const SegmentState& segments) {
  return {{"max_size", segments.max_size},
          {"next_generation", segments.next_generation},
          {"tail", Describe(segments.tail)},
          {"checkpoint", Describe(segments.checkpoint)}};
}

Json Describe(const SegmentReference& reference) {
  return {{"generation", reference.segment.generation},
          {"start_offset", reference.segment.start_offset},
          {"position", reference.position},
          {"length", reference.length}};
}

Json Describe(const State& state) {
  Json out{{"group", state.group},
           {"incarnation", state.incarnation},
           {"generation", state.generation},
           {"length", state.length},
           {"checkpoint", state.checkpoint},
           {"checkpoint_checksum", Hex16(state.checkpoint_checksum)},
           {"head", state.head},
           {"head_checksum", Hex16(state.head_checksum)},
           {"anchor_known", state.anchor_known},
           {"checkpoint_prepare", state.checkpoint_prepare},
           {"certified_log_view", nullptr},
           {"purge_generation", state.purge_generation},
           {"purge_floor", state.purge_floor}};
  if (state.certified_log_view) out["certified_log_view"] = *state.certified_log_view;
  out["references"] = state.references;
  if (state.segments) out["segments"] = Describe(*state.segments);
  return out;
}

Json Describe(const SlotReadings& slots) {
  Json out = Json::array();
  for (const SlotReading& slot : slots) {
    if (slot) {
      Json fields{{"sequence", slot->sequence}};
      fields.update(Describe(slot->state));
      out.push_back(std::move(fields));
    } else {
      out.push_back({{"fault", SlotFaultText(slot.error())}});
    }
  }
  return out;
}

// The structure of a directory as found; `faults` collects why recovery would not accept it.
struct Dump {
  Json json = Json::object();
  Json faults = Json::array();
};

void DumpFiles(Storage& storage, Dump& dump) {
  auto entries = storage.List();
  Json files = Json::array();
  if (!entries) {
    if (!IsMissing(entries.error())) dump.faults.push_back(entries.error().Message());
    entries.emplace();
  }
  std::sort(entries->begin(), entries->end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  for (const DirectoryEntry& entry : *entries) {
    Json file{{"name", entry.name}};
    if (entry.type == EntryType::kFile) {
      const auto opened = storage.Open(entry.name, OpenMode::kRead);
      if (const auto length = opened ? (*opened)->Length() : Result<std::uint64_t>(0)) {
        file["bytes"] = *length;
      }
    }
    files.push_back(std::move(file));
  }
  dump.json["files"] = std::move(files);
}

void DumpSlots(Storage& storage, const Options& options, Dump& dump) {
  const auto frontier = storage.Open(std::string(kFrontierName), OpenMode::kRead);
  if (!frontier) return;
  const auto slots = ReadSlots(**frontier, options);
  if (slots) dump.json["slots"] = Describe(*slots);
}

// Every record up to the first that is not one, published or not.
void DumpRecords(Storage& storage, const State& state, Dump& dump) {
  Json records = Json::array();
  const auto data = storage.Open(DataFileName(state.generation), OpenMode::kRead);
  if (!data) return;  // The refusal says so.
  SegmentReader segments(storage);
  RecordReader reader(**data, state.generation, 0, (*data)->Length().value_or(0), &segments);
  while (!reader.AtEnd()) {
    const auto record = reader.Next();
    if (!record) {
      dump.json["records_end"] = record.error().Message();
      break;
    }
    const Entry& entry = record->entry;
    Json fields{{"position", entry.position},
                {"bytes", entry.length},
                {"op", record->header.op},
                {"checksum", Hex16(record->header.checksum)},
                {"parent", Hex16(record->header.parent)},
                {"view", record->header.view},
                {"operation", record->header.operation},
                {"payload_bytes", entry.payload_bytes},
                {"published", entry.position < state.length}};
    if (entry.HasMessages()) fields["base_offset"] = entry.base_offset;
    if (entry.reference) fields["reference"] = Describe(*entry.reference);
    records.push_back(std::move(fields));
  }
  dump.json["records"] = std::move(records);
}

std::string TextOf(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string Fields(const Json& object) {
  std::string line;
  for (const auto& [key, value] : object.items()) {
    if (!line.empty()) line += ' ';
    line += key;
    line += '=';
    line += TextOf(value);
  }
  return line;
}

// "key: value" per scalar, "key: field=value ..." per element of a list.
std::string ToText(const Json& object) {
  std::string text;
  for (const auto& [key, value] : object.items()) {
    if (!value.is_array()) {
      text += key + ": " + TextOf(value) + "\n";
      continue;
    }
    for (const Json& element : value) {
      text += key + ": " + (element.is_object() ? Fields(element) : TextOf(element)) + "\n";
    }
  }
  return text;
}

int PrintObject(const Json& object, bool json) {
  return Print(json ? object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"
                    : ToText(object));
}

}  // namespace

int RunStat(const Request& request) {
  PosixStorage storage(ReadableFolder(request));
  const auto snapshot = LoadSnapshot(storage, request.options);
  if (!snapshot) return PrintError(snapshot.error(), request.json);
  if (!snapshot->history) return PrintObject({{"fresh", true}}, request.json);
  const auto slots = ReadSlots(*snapshot->frontier.file, request.options);
  if (!slots) return PrintError(slots.error(), request.json);
  const History& history = *snapshot->history;
  const FrontierChoice& choice = snapshot->frontier.choice;
  Json out = Describe(history.state);
  out["durable_head"] = choice.newest.state.head;
  out["sequence"] = choice.newest.sequence;
  out["records"] = history.entries.size();
  out["data_bytes"] = history.data_bytes;
  out["slots"] = Json::array();
  for (const SlotReading& slot : *slots) {
    out["slots"].push_back(slot ? "sequence " + std::to_string(slot->sequence)
                                : std::string(SlotFaultText(slot.error())));
  }
  return PrintObject(out, request.json);
}

int RunDump(const Request& request) {
  PosixStorage storage(ReadableFolder(request));
  Dump dump;
  DumpFiles(storage, dump);
  DumpSlots(storage, request.options, dump);
  const auto frontier = LoadFrontier(storage, OpenMode::kRead, request.options);
  if (!frontier) {
    dump.faults.push_back(frontier.error().Message());
  } else if (frontier->file) {
    const State& state = frontier->choice.newest.state;
    dump.json["chosen"] = "slot " + std::to_string(frontier->choice.position) + ", sequence " +
                          std::to_string(frontier->choice.newest.sequence);
    const auto history = LoadHistory(storage, OpenMode::kRead, *frontier, request.options);
    if (!history) dump.faults.push_back(history.error().Message());
    DumpRecords(storage, state, dump);
  }
  if (!dump.faults.empty()) dump.json["refused"] = dump.faults;
  const int printed = PrintObject(dump.json, request.json);
  return dump.faults.empty() ? printed : kExitRefused;
}

}  // namespace tornfs::journal::cli
