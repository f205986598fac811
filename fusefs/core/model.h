// Model: a persistence model, as data. It answers two questions for the engine and for windows:
// what does an op or a barrier make durable, and which effects may only survive together or in
// order?
//
// The models, from weakest to strongest:
//   posix        data by fsync of the file, names by fsync of the directory; a rename is whole;
//                blocks never written read as zeros; everything else is independent. The default.
//   lazyfs       what LazyFS does: names, sizes and attributes are durable at once, data by fsync.
//   prefix-torn  ops become durable in the order they were made; the last write may be torn.
//   strict       the same, and no write is ever torn.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "common/result.h"
#include "fusefs/core/effect.h"

namespace tornfs {

// What an effect needs to survive, besides the earlier versions of its own cell.
enum class Order : std::uint8_t {
  kNone,   // Nothing.
  kTotal,  // Every effect of every earlier op.
};

// How small a piece of a write can survive by itself.
enum class Tear : std::uint8_t {
  kNone,    // A write(2) survives whole or not at all.
  kPage,    // The data cell is a page of 4096 bytes.
  kSector,  // The data cell is a sector of 512 bytes.
  kByte,    // As kPage, and each lost page may hold any prefix of what was written to it.
};

struct Model {
  std::string_view name;
  std::string_view about;  // One line.
  Order order = Order::kNone;
  // Durable as soon as the op is done.
  bool entries_at_once = false;
  bool sizes_at_once = false;
  bool attributes_at_once = false;
  // fdatasync leaves the attributes out.
  bool fdatasync_skips_attributes = true;
  // Groups that are never split.
  bool rename_whole = true;
  bool truncate_whole = true;
  // Overrules --tear where the model forbids tearing.
  bool never_torn = false;

  [[nodiscard]] bool AtOnce(CellKind kind) const;
  [[nodiscard]] bool Whole(GroupTag group) const;
  // The tearing that results from what the user asked for and what the model allows.
  [[nodiscard]] Tear Effective(Tear asked) const { return never_torn ? Tear::kNone : asked; }
  // True if a barrier of `kind` on `effect.ino` asks for `effect`. What order and groups add to
  // that is for the caller.
  [[nodiscard]] bool Covers(OpKind barrier, const Effect& effect) const;
};

// Every built-in model, weakest first.
[[nodiscard]] std::span<const Model> Models();
// Errors: kInvalid, with the known names in the text.
[[nodiscard]] Result<const Model*> FindModel(std::string_view name);

[[nodiscard]] std::string_view TearName(Tear tear);
// Errors: kInvalid, with the known names in the text.
[[nodiscard]] Result<Tear> ParseTear(std::string_view text);

}  // namespace tornfs
