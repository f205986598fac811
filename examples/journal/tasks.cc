// tasks DIR [TEXT]...: keeps a list of tasks in a journal. Adds each TEXT durably, from a thread of
// its own, then prints the list. What was printed as added survives a power loss.
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "journal/group_commit.h"
#include "journal/posix_storage.h"

namespace journal = tornfs::journal;

namespace {

int Report(const journal::Error& error) {
  std::fprintf(stderr, "tasks: %s\n", error.Message().c_str());
  // The one decision a caller makes: what is worth trying again, and what needs a person.
  return error.kind == journal::ErrorKind::kLocked ? 2 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return Report({journal::ErrorKind::kInvalid, 0, "usage: tasks DIR [TEXT]..."});
  journal::PosixStorage storage(argv[1]);
  const auto opened = journal::GroupCommit::Start(storage, argv[1], {}, {});
  if (!opened) return Report(opened.error());
  journal::GroupCommit& tasks = **opened;

  {
    std::vector<std::jthread> threads;
    for (int i = 2; i < argc; ++i) {
      threads.emplace_back([&tasks, text = std::string(argv[i])] {
        const auto added = tasks.Append(std::as_bytes(std::span(text)));
        if (added) std::printf("added %s\n", text.c_str());
      });
    }
  }
  const journal::Status listed = tasks.Run([](journal::Journal& all) -> journal::Status {
    if (all.entries().empty()) return {};
    return all.ForEach(all.first_op(), [](const auto& header, journal::PrepareView prepare) {
      const auto body = prepare.subspan(journal::prepare_at::kBody);
      std::printf("%llu %.*s\n", static_cast<unsigned long long>(header.op),
                  static_cast<int>(body.size()), reinterpret_cast<const char*>(body.data()));
      return true;
    });
  });
  return listed ? 0 : Report(listed.error());
}
