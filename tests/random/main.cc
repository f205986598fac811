// random_ops: the same random operations on two directories; every result is compared, and at
// checkpoints the trees, byte for byte.
//
//   random_ops DIR DIR --seed N --ops N [--checkpoint N] [--processes N]
//
// Each process works in a folder of its own. A failure prints the seed and the last operations.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string>
#include <vector>

#include "operations.h"
#include "tree_compare.h"

namespace {

struct Options {
  std::string one;
  std::string other;
  std::uint64_t seed = 1;
  std::uint64_t ops = 10000;
  std::uint64_t checkpoint = 5000;
  std::uint64_t processes = 1;
};

bool Parse(int argc, char** argv, Options& options) {
  if (argc < 3) return false;
  options.one = argv[1];
  options.other = argv[2];
  for (int i = 3; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    std::uint64_t* value = name == "--seed"         ? &options.seed
                           : name == "--ops"        ? &options.ops
                           : name == "--checkpoint" ? &options.checkpoint
                           : name == "--processes"  ? &options.processes
                                                    : nullptr;
    if (value == nullptr) return false;
    *value = std::strtoull(argv[i + 1], nullptr, 10);
  }
  return argc % 2 == 1 && options.checkpoint > 0 && options.processes > 0;
}

int Fail(std::uint64_t seed, std::uint64_t op, const std::string& what,
         const std::deque<std::string>& last) {
  std::string text = "seed " + std::to_string(seed) + ", op " + std::to_string(op) + ": " + what;
  for (const std::string& each : last) text += "\n    " + each;
  std::fprintf(stderr, "%s\n", text.c_str());
  return 1;
}

int Run(const std::string& one, const std::string& other, std::uint64_t seed,
        const Options& options) {
  constexpr std::size_t kRemembered = 40;
  if (mkdir(one.c_str(), 0755) != 0 || mkdir(other.c_str(), 0755) != 0) {
    std::perror("mkdir");
    return 2;
  }
  tornfs::Sides sides(one, other, seed);
  std::deque<std::string> last;
  for (std::uint64_t op = 1; op <= options.ops; ++op) {
    const std::string differs = sides.Step();
    last.push_back(sides.last());
    if (last.size() > kRemembered) last.pop_front();
    if (!differs.empty()) return Fail(seed, op, differs, last);
    if (op % options.checkpoint != 0 && op != options.ops) continue;
    sides.Flush();
    const std::string trees = tornfs::CompareTrees(one, other);
    if (!trees.empty()) return Fail(seed, op, trees, last);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!Parse(argc, argv, options)) {
    std::fprintf(stderr,
                 "usage: random_ops DIR DIR [--seed N] [--ops N] [--checkpoint N] "
                 "[--processes N]\n");
    return 2;
  }
  umask(022);
  std::vector<pid_t> children;
  for (std::uint64_t i = 0; i < options.processes; ++i) {
    const pid_t pid = fork();
    if (pid < 0) return 2;
    const std::string folder = "/p" + std::to_string(i);
    if (pid == 0) {
      _exit(Run(options.one + folder, options.other + folder, options.seed + i, options));
    }
    children.push_back(pid);
  }
  int worst = 0;
  for (const pid_t pid : children) {
    int status = 0;
    if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status)) worst = 2;
    if (WIFEXITED(status) && WEXITSTATUS(status) > worst) worst = WEXITSTATUS(status);
  }
  if (worst == 0) {
    std::printf("%llu operations, no difference\n",
                static_cast<unsigned long long>(options.ops * options.processes));
  }
  return worst;
}
