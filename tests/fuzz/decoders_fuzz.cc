// decoders_fuzz TARGET SEED RUNS|SECONDSs: what comes from outside is decoded or refused, and
// nothing else. A third argument that ends in `s` is a time to go on for.
//
//   toml     configuration files of LazyFS      fifo     commands of its FIFO
//   control  lines on the control socket        plan     choices as tokens
//   rule     fault rules                        trigger  triggers
//
// A run that ends in a signal is a finding; the seed and the count of runs repeat it. What decodes
// is held against what it must satisfy, and is kept to start from.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "common/check.h"
#include "fusefs/core/engine.h"
#include "fusefs/core/trigger.h"
#include "fusefs/fuse/control_server.h"
#include "fuzz/mutator.h"
#include "harness/lazyfs/config.h"
#include "harness/lazyfs/fault.h"
#include "harness/live/crash_options.h"
#include "harness/live/fault_rule.h"

namespace tornfs::fuzz {
namespace {

struct Target {
  std::vector<std::string> seeds;
  std::vector<std::string> words;
  std::function<bool(const std::string&)> decode;  // Whether it was good.
};

Target Toml() {
  return {{"[faults]\nfifo_path=\"/run/f\"\nfifo_path_completed=\"/run/d\"\n[cache]\n"
           "apply_eviction=false\n[cache.simple]\ncustom_size=\"0.5GB\"\n[file system]\n"
           "logfile=\"x\"\nlog_all_operations=true\n",
           "[[injection]]\ntype=\"torn-op\"\nfile=\"a\"\noccurrence=2\nparts_bytes=[1,2]\npersist=["
           "1]\n",
           "[[injection]]\ntype=\"torn-seq\"\nop=\"write\"\nfile=\"a\"\npersist=[1,4]\n",
           "[[injection]]\ntype=\"clear-cache\"\nfrom=\"a\"\ntiming=\"after\"\nop=\"rename\"\nto="
           "\"b\"\n"
           "occurrence=3\ncrash=true\n"},
          {"[",
           "]",
           "[[injection]]",
           "\n",
           "=",
           "\"",
           "'''",
           "\"\"\"",
           "{",
           "}",
           "#",
           "1e309",
           "-1",
           "true",
           "1979-05-27",
           "\\u0000",
           "parts=3",
           "type",
           ".",
           ",",
           "file=3\n",
           "parts=-1\n",
           "persist=[-1]\n",
           "persist=1\n",
           "fifo_path=1\n",
           "injection=1\n",
           "timing=\"now\"\n",
           "type=\"x\"\n"},
          [](const std::string& text) {
            const auto config = harness::lazyfs::ParseConfig(text);
            return config.has_value();
          }};
}

Target Fifo() {
  return {{"lazyfs::clear-cache", "lazyfs::crash::timing=before::op=write::from_rgx=a.*b",
           "lazyfs::crash::timing=after::op=rename::from_rgx=a::to_rgx=b",
           "lazyfs::torn-op::file=/r/a::persist=1,3::parts=3",
           "lazyfs::torn-op::file=a::persist=1::parts_bytes=10,20::occurrence=2",
           "lazyfs::torn-seq::op=write::file=a::persist=1,4::occurrence=3::return=true",
           "lazyfs::unsynced-data-report"},
          {"lazyfs::", "::", "=", ",", "persist=", "parts=", "[", "(", ")", "*", "{9}", "\\",
           "none", "18446744073709551616"},
          [](const std::string& text) {
            const auto command = harness::lazyfs::ParseCommand(text);
            if (command) CHECK(!harness::lazyfs::CommandName(text).empty());
            return command.has_value();
          }};
}

Target Rule() {
  return {{"fail:EIO:ext4 fsync wal/* by sqlite3 #2..4", "delay:20ms write", "short:4KiB write #1",
           "flip:9 read a #3..", "misdirect write"},
          {"fail:", "lie", "#", "..", " by ", ":", "18446744073709551616", "op"},
          [](const std::string& text) {
            const auto rule = harness::ParseFaultRule(text);
            if (rule) {
              CHECK(rule->first >= 1 && rule->first <= rule->last);
              (void)rule->Matches({"write", 1, "wal/1", "", "sqlite3"});
            }
            return rule.has_value();
          }};
}

Target Triggers() {
  return {{"before fsync wal/* #3", "after write", "during rename by sqlite3", "before op #57"},
          {"before", "after", "during", "#", " by ", "op", "*", "[", "4294967295"},
          [](const std::string& text) {
            const auto trigger = ParseTrigger(text);
            if (trigger) {
              const std::string again = FormatTrigger(*trigger);
              CHECK(FormatTrigger(ParseTrigger(again).value()) == again);
            }
            return trigger.has_value();
          }};
}

// A window with data, sizes, names and a rename in it, torn by byte.
struct PlanWindow {
  std::unique_ptr<ContentStore> store = ContentStore::Open({}).value();
  std::int64_t now = 0;
  Engine engine{*store, *FindModel("posix").value(), [this] { return ++now; }};
  std::unique_ptr<Window> window;

  PlanWindow() {
    const Caller me{0, 0, 1};
    const Ino a = engine.MakeNode(me, kRootIno, "a", S_IFREG | 0644, 0).value();
    const std::string text(10'000, 'x');
    CHECK(engine.Write(me, a, 100, std::as_bytes(std::span(text))).has_value());
    CHECK(engine.Rename(me, kRootIno, "a", kRootIno, "b", 0).has_value());
    window = std::make_unique<Window>(engine.CrashWindow(Tear::kByte));
  }
};

Target Plan() {
  const auto fixture = std::make_shared<PlanWindow>();
  const Window& window = *fixture->window;
  std::vector<std::string> seeds{window.Token(window.None()), window.Token(window.All())};
  Rng rng(7);
  for (int i = 0; i < 20; ++i) seeds.push_back(window.Token(window.Random(rng)));
  return {seeds,
          {":", ",", "-", ";", "@", "0", "18446744073709551616", "-1"},
          [fixture](const std::string& text) {
            const auto choice = fixture->window->ChoiceOf(text);
            if (choice) {
              CHECK(fixture->window->Legal(*choice));
              CHECK(fixture->window->ChoiceOf(fixture->window->Token(*choice)).value() == *choice);
              (void)fixture->window->State(*choice);
            }
            return choice.has_value();
          }};
}

// A server on one end of a pair of sockets.
struct ControlFixture {
  std::unique_ptr<EventLoop> loop = EventLoop::Create().value();
  std::string path = "/tmp/tornfs-fuzz-" + std::to_string(::getpid());
  std::unique_ptr<ControlServer> server = ControlServer::Listen(*loop, path).value();

  ControlFixture() {
    server->On("crash", [](const nlohmann::json& args) -> Result<nlohmann::json> {
      const auto options = harness::CrashOptionsFromJson(args);
      if (!options) return tl::make_unexpected(options.error());
      return harness::ToJson(*options);
    });
    server->On("arm", [](const nlohmann::json& args) -> Result<nlohmann::json> {
      const auto trigger = ParseTrigger(args.value("trigger", ""));
      if (!trigger) return tl::make_unexpected(trigger.error());
      return nlohmann::json{{"trigger", FormatTrigger(*trigger)}};
    });
  }

  // Sends `text` and a newline; every line gets a reply. Whether one of them was no error.
  bool Exchange(const std::string& text) {
    int ends[2];
    CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
    const Fd client(ends[0]);
    server->Adopt(Fd(ends[1]));
    const std::string sent = text + "\n";
    CHECK(::write(client.get(), sent.data(), sent.size()) == static_cast<ssize_t>(sent.size()));
    CHECK(::shutdown(client.get(), SHUT_WR) == 0);
    std::string replies;
    char buffer[4096];
    for (bool open = true; open;) {
      loop->PumpOnce(std::chrono::milliseconds(100));
      ssize_t got = 0;
      while ((got = ::read(client.get(), buffer, sizeof buffer)) > 0) {
        replies.append(buffer, static_cast<std::size_t>(got));
      }
      open = got != 0;
    }
    CHECK(std::ranges::count(replies, '\n') == std::ranges::count(sent, '\n'));
    bool good = false;
    for (std::size_t at = 0; at < replies.size();) {
      const std::size_t end = replies.find('\n', at);
      good = nlohmann::json::parse(replies.substr(at, end - at)).contains("result") || good;
      at = end + 1;
    }
    return good;
  }
};

Target Control() {
  const auto fixture = std::make_shared<ControlFixture>();
  return {{R"({"id": 1, "op": "crash", "args": {"lose": "random", "seed": 7, "tear": "byte"}})",
           R"({"id": "x", "op": "arm", "args": {"trigger": "before fsync wal/* #3"}})",
           R"({"id": null, "op": "crash"})"},
          {"{", "}", "[", "]", "\"", ":", ",", "null", "\\u0000", "\\ud800", "1e999", "\n", "args",
           "[[[[[[[[", "-1", "\"args\": {\"trigger\": 3}, "},
          [fixture](const std::string& text) { return fixture->Exchange(text); }};
}

// How long to go on.
struct Budget {
  std::uint64_t runs = UINT64_MAX;
  std::chrono::steady_clock::time_point end = std::chrono::steady_clock::time_point::max();

  explicit Budget(const std::string& text) {
    const std::uint64_t count = std::strtoull(text.c_str(), nullptr, 10);
    if (text.ends_with('s')) {
      end = std::chrono::steady_clock::now() + std::chrono::seconds(count);
    } else {
      runs = count;
    }
  }
  [[nodiscard]] bool Has(std::uint64_t done) const {
    constexpr std::uint64_t kBetweenLooks = 64;
    return done < runs && (done % kBetweenLooks != 0 || std::chrono::steady_clock::now() < end);
  }
};

int Run(const Target& target, std::uint64_t seed, const Budget& budget) {
  Mutator mutator(seed, target.seeds, target.words);
  for (const std::string& good : target.seeds) CHECK(target.decode(good));
  std::uint64_t decoded = 0;
  std::uint64_t runs = 0;
  for (; budget.Has(runs); ++runs) {
    std::string input = mutator.Next();
    if (!target.decode(input)) continue;
    ++decoded;
    mutator.Keep(std::move(input));
  }
  std::printf("%llu inputs, %llu of them decoded\n", static_cast<unsigned long long>(runs),
              static_cast<unsigned long long>(decoded));
  // A target that refuses everything, or takes everything, tests nothing.
  return decoded > 0 && decoded < runs ? 0 : 1;
}

}  // namespace
}  // namespace tornfs::fuzz

int main(int argc, char** argv) {
  using namespace tornfs::fuzz;
  const std::map<std::string, Target (*)()> targets{{"toml", Toml},       {"fifo", Fifo},
                                                    {"control", Control}, {"plan", Plan},
                                                    {"rule", Rule},       {"trigger", Triggers}};
  const auto target = argc == 4 ? targets.find(argv[1]) : targets.end();
  if (target == targets.end()) {
    std::fputs("usage: decoders_fuzz toml|fifo|control|plan|rule|trigger SEED RUNS|SECONDSs\n",
               stderr);
    return 2;
  }
  return Run(target->second(), std::strtoull(argv[2], nullptr, 10), Budget(argv[3]));
}
