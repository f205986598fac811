#include "harness/start_plan.h"

#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "common/check.h"

namespace tornfs::harness {
namespace {

// Hands out the bytes behind SharedMemory. Once it is full it stays full, and every pointer it gave
// since is null.
class Arena {
 public:
  explicit Arena(SharedMemory* shared)
      : next_(reinterpret_cast<char*>(shared + 1)),
        end_(reinterpret_cast<char*>(shared) + kSharedBytes) {}

  [[nodiscard]] bool full() const { return full_; }

  template <class T>
  T* Array(std::size_t count) {
    const auto misfit = reinterpret_cast<std::uintptr_t>(next_) % alignof(T);
    const std::size_t padding = misfit == 0 ? 0 : alignof(T) - misfit;
    const auto room = static_cast<std::size_t>(end_ - next_);
    if (full_ || padding > room || count > (room - padding) / sizeof(T)) {
      full_ = true;
      return nullptr;
    }
    T* out = reinterpret_cast<T*>(next_ + padding);
    next_ += padding + count * sizeof(T);
    return out;
  }

  const char* Text(std::string_view text) {
    char* out = Array<char>(text.size() + 1);
    if (out == nullptr) return nullptr;
    std::memcpy(out, text.data(), text.size());
    out[text.size()] = '\0';
    return out;
  }

  // The texts, with a null behind them.
  const char** Texts(const std::vector<std::string>& texts) {
    const char** out = Array<const char*>(texts.size() + 1);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const char* text = Text(texts[i]);
      if (!full_) out[i] = text;
    }
    if (full_) return nullptr;
    out[texts.size()] = nullptr;
    return out;
  }

 private:
  char* next_;
  char* end_;
  bool full_ = false;
};

std::string_view PathOf(const std::vector<std::string>& environment) {
  constexpr std::string_view kName = "PATH=";
  for (const std::string& entry : environment) {
    if (entry.starts_with(kName)) return std::string_view(entry).substr(kName.size());
  }
  return "/bin:/usr/bin";
}

std::vector<std::string> Candidates(const SpawnRequest& request) {
  const std::string& name = request.arguments.front();
  if (name.find('/') != std::string::npos || name.empty()) return {name};
  std::vector<std::string> candidates;
  std::string_view path = PathOf(request.environment);
  for (;;) {
    const std::size_t end = path.find(':');
    const std::string folder(path.substr(0, end));
    candidates.push_back(folder.empty() ? name : folder + "/" + name);
    if (end == std::string_view::npos) return candidates;
    path.remove_prefix(end + 1);
  }
}

// {"/bin/sh", the script (set by the child), its arguments...}
std::vector<std::string> ShellArguments(const SpawnRequest& request) {
  std::vector<std::string> out{"/bin/sh", ""};
  out.insert(out.end(), request.arguments.begin() + 1, request.arguments.end());
  return out;
}

StreamPlan PlanInput(const InputSource& input, int null_fd) {
  switch (input.kind) {
    case InputSource::Kind::kNull: return {StreamPlan::Action::kDuplicate, null_fd, nullptr};
    case InputSource::Kind::kInherit: return {};
    case InputSource::Kind::kFd: return {StreamPlan::Action::kReceived, -1, nullptr};
  }
  return {};
}

StreamPlan PlanOutput(const OutputTarget& target, int captured, int null_fd, Arena* arena) {
  switch (target.kind) {
    case OutputTarget::Kind::kCapture: return {StreamPlan::Action::kDuplicate, captured, nullptr};
    case OutputTarget::Kind::kNull: return {StreamPlan::Action::kDuplicate, null_fd, nullptr};
    case OutputTarget::Kind::kInherit: return {};
    case OutputTarget::Kind::kPath:
      CHECK(target.path.starts_with('/'));
      return {StreamPlan::Action::kOpen, -1, arena->Text(target.path)};
  }
  return {};
}

void PlanIdentity(const Identity& identity, Arena* arena, StartPlan* plan) {
  plan->change_identity = true;
  plan->uid = identity.uid;
  plan->gid = identity.gid;
  plan->group_count = identity.groups.size();
  gid_t* groups = arena->Array<gid_t>(identity.groups.size());
  if (groups != nullptr && !identity.groups.empty()) {
    std::memcpy(groups, identity.groups.data(), identity.groups.size() * sizeof(gid_t));
  }
  plan->groups = groups;
}

}  // namespace

Status WriteStartPlan(const SpawnRequest& request, std::uint64_t spawn,
                      const PlanDescriptors& descriptors, SharedMemory* shared) {
  CHECK(!request.arguments.empty());
  CHECK(request.directory.starts_with('/'));
  Arena arena(shared);
  StartPlan plan{};
  plan.spawn = spawn;
  plan.candidates = arena.Texts(Candidates(request));
  plan.arguments = arena.Texts(request.arguments);
  plan.shell_arguments = arena.Texts(ShellArguments(request));
  plan.environment = arena.Texts(request.environment);
  plan.directory = arena.Text(request.directory);
  plan.streams[0] = PlanInput(request.input, descriptors.null);
  plan.streams[1] = PlanOutput(request.output, descriptors.output, descriptors.null, &arena);
  plan.streams[2] = PlanOutput(request.error, descriptors.error, descriptors.null, &arena);
  if (request.identity) PlanIdentity(*request.identity, &arena, &plan);
  if (arena.full()) {
    return Fail(ErrorCode::kInvalid, "the command and its environment are too large");
  }
  shared->plan = plan;
  shared->stage = SpawnStage::kStarted;
  shared->stage_errno = 0;
  return {};
}

}  // namespace tornfs::harness
