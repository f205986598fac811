// Store: a key-value store that somebody else wrote, behind two calls.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace stores {

class Store {
 public:
  virtual ~Store() = default;

  // Stores a value; with `durable` it must survive a power loss once this returns.
  // Returns what went wrong, empty if nothing.
  [[nodiscard]] virtual std::string Put(const std::string& key, const std::string& value,
                                        bool durable) = 0;
  // The value, or nothing if the key is not there. `problem` is set if the store cannot tell.
  [[nodiscard]] virtual std::optional<std::string> Get(const std::string& key,
                                                       std::string& problem) = 0;
  // Reads all there is with every check that the store has. Empty if it is sound.
  [[nodiscard]] virtual std::string Verify() = 0;
};

// Opens, and creates if there is none, the store in the folder `path`, which need not exist. Null,
// and `problem` is set, if that fails.
using Opener = std::unique_ptr<Store> (*)(const std::string& path, std::string& problem);

[[nodiscard]] std::unique_ptr<Store> OpenLmdb(const std::string& path, std::string& problem);
[[nodiscard]] std::unique_ptr<Store> OpenLevelDb(const std::string& path, std::string& problem);
[[nodiscard]] std::unique_ptr<Store> OpenRocksDb(const std::string& path, std::string& problem);

}  // namespace stores
