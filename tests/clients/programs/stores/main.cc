// stores: keeps numbered values in a key-value store, and says which are kept.
//
//   stores STORE put DIR FIRST COUNT [--no-sync]   prints `put N` for each value that is stored
//   stores STORE check DIR PROMISES                is the store sound, with every `put N` of the
//   file?
//
// Values are up to 3 KB and follow from the number. Exit status: 0 good, 1 not, 2 usage, 77 built
// without that store.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

#include "store.h"

namespace {

const std::map<std::string, stores::Opener>& Openers() {
  static const std::map<std::string, stores::Opener> openers{
#ifdef HAVE_LMDB
      {"lmdb", stores::OpenLmdb},
#endif
#ifdef HAVE_LEVELDB
      {"leveldb", stores::OpenLevelDb},
#endif
#ifdef HAVE_ROCKSDB
      {"rocksdb", stores::OpenRocksDb},
#endif
  };
  return openers;
}

std::string Key(long number) { return "key " + std::to_string(number); }

std::string Value(long number) {
  return "value " + std::to_string(number) +
         std::string(static_cast<std::size_t>(number * 37 % 3000), 'v');
}

int Complain(const std::string& what) {
  std::printf("%s\n", what.c_str());
  return 1;
}

int Put(stores::Store& store, long first, long count, bool durable) {
  for (long number = first; number < first + count; ++number) {
    const std::string problem = store.Put(Key(number), Value(number), durable);
    if (!problem.empty()) return Complain("put failed: " + problem);
    std::printf("put %ld\n", number);
    std::fflush(stdout);
  }
  return 0;
}

int Check(stores::Store& store, const char* promises) {
  std::string problem = store.Verify();
  if (!problem.empty()) return Complain("not sound: " + problem);
  std::ifstream lines(promises);
  if (!lines) return Complain("the promises cannot be read");
  std::string line;
  while (std::getline(lines, line)) {
    long number = 0;
    if (std::sscanf(line.c_str(), "put %ld", &number) != 1) continue;
    const std::optional<std::string> found = store.Get(Key(number), problem);
    if (!problem.empty()) return Complain("get failed: " + problem);
    if (!found) return Complain("value " + std::to_string(number) + " is missing");
    if (*found != Value(number)) return Complain("value " + std::to_string(number) + " is damaged");
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 2 ? argv[2] : "";
  const bool put =
      what == "put" && (argc == 6 || (argc == 7 && argv[6] == std::string("--no-sync")));
  if (!put && !(what == "check" && argc == 5)) {
    std::fputs("usage: stores STORE put DIR FIRST COUNT [--no-sync] | STORE check DIR PROMISES\n",
               stderr);
    return 2;
  }
  const auto opener = Openers().find(argv[1]);
  if (opener == Openers().end()) return 77;
  std::string problem;
  const std::unique_ptr<stores::Store> store = opener->second(argv[3], problem);
  if (store == nullptr) return Complain("cannot be opened: " + problem);
  if (!put) return Check(*store, argv[4]);
  return Put(*store, std::atol(argv[4]), std::atol(argv[5]), argc == 6);
}
