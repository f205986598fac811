// PersistentMap<Key, Value>: an ordered map whose copy is a value and costs nothing.
//
// A B+tree with reference-counted nodes. Copying the map copies the root pointer; a change copies
// the path from the root to one leaf, or changes it in place where nobody shares it. This is what
// makes a crash state, a base and a world cheap: each is a tree of these maps.
//
// Nodes are split when full and freed when empty, never merged: maps here shrink only by emptying.
//
// Cost: copy O(1); find, insert, erase O(log n); a cursor step O(1) amortised.
// Threads: none; counts are not atomic. Pointers to values are valid until the next change of any
// map that shares them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "common/check.h"

namespace tornfs {

template <class Key, class Value, std::size_t kFanout = 16>
class PersistentMap {
  struct Node;

 public:
  PersistentMap() = default;
  PersistentMap(const PersistentMap& other) : root_(Share(other.root_)), size_(other.size_) {}
  PersistentMap(PersistentMap&& other) noexcept
      : root_(std::exchange(other.root_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  PersistentMap& operator=(PersistentMap other) noexcept {
    std::swap(root_, other.root_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~PersistentMap() { Drop(root_); }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  // True if both are copies of one map and neither changed since; false says nothing.
  [[nodiscard]] bool SameRoot(const PersistentMap& other) const { return root_ == other.root_; }

  // The value of `key`, or null.
  template <class K>
  [[nodiscard]] const Value* Find(const K& key) const {
    const Node* node = root_;
    if (node == nullptr) return nullptr;
    while (!node->leaf) node = node->child[node->ChildFor(key)];
    const std::size_t at = node->LowerBound(key);
    return at < node->count && !(key < node->key[at]) ? &node->value[at] : nullptr;
  }

  // The value of `key` to be changed, or null. Copies what is shared.
  template <class K>
  [[nodiscard]] Value* FindMutable(const K& key) {
    if (Find(key) == nullptr) return nullptr;
    Node* node = Own(root_);
    while (!node->leaf) node = Own(node->child[node->ChildFor(key)]);
    return &node->value[node->LowerBound(key)];
  }

  // Sets `key` to `value`; true if it was not there before.
  bool Set(Key key, Value value) {
    if (root_ == nullptr) root_ = new Node(true);
    Node* sibling = nullptr;
    const bool added = SetIn(root_, std::move(key), std::move(value), &sibling);
    if (sibling != nullptr) {
      Node* root = new Node(false);
      root->key[0] = root_->key[0];
      root->key[1] = sibling->key[0];
      root->child[0] = root_;
      root->child[1] = sibling;
      root->count = 2;
      root_ = root;
    }
    size_ += added ? 1 : 0;
    return added;
  }

  // Removes `key`; true if it was there.
  template <class K>
  bool Erase(const K& key) {
    if (Find(key) == nullptr) return false;
    EraseIn(root_, key);
    --size_;
    return true;
  }

  // Walks entries in key order. Invalid after the map changes.
  class Cursor {
   public:
    [[nodiscard]] bool valid() const { return depth_ > 0; }
    [[nodiscard]] const Key& key() const { return Top().node->key[Top().index]; }
    [[nodiscard]] const Value& value() const { return Top().node->value[Top().index]; }
    void Next() {
      ++path_[depth_ - 1].index;
      Settle();
    }

   private:
    friend class PersistentMap;
    struct Step {
      const Node* node;
      std::size_t index;
    };
    [[nodiscard]] const Step& Top() const { return path_[depth_ - 1]; }
    // Moves up past exhausted nodes, then down to the leaf.
    void Settle() {
      while (depth_ > 0 && Top().index >= Top().node->count) {
        if (--depth_ > 0) ++path_[depth_ - 1].index;
      }
      while (depth_ > 0 && !Top().node->leaf) {
        const Node* next = Top().node->child[Top().index];
        CHECK(depth_ < path_.size());
        path_[depth_++] = {next, 0};
      }
    }
    // 16^24 entries are more than there are.
    std::array<Step, 24> path_{};
    std::size_t depth_ = 0;
  };

  [[nodiscard]] Cursor Begin() const {
    Cursor cursor;
    if (root_ != nullptr) {
      cursor.path_[cursor.depth_++] = {root_, 0};
      cursor.Settle();
    }
    return cursor;
  }

  // The first entry whose key is not below `key`.
  template <class K>
  [[nodiscard]] Cursor LowerBound(const K& key) const {
    Cursor cursor;
    const Node* node = root_;
    while (node != nullptr && !node->leaf) {
      const std::size_t at = node->ChildFor(key);
      cursor.path_[cursor.depth_++] = {node, at};
      node = node->child[at];
    }
    if (node != nullptr) {
      cursor.path_[cursor.depth_++] = {node, node->LowerBound(key)};
      cursor.Settle();
    }
    return cursor;
  }

  // The last entry whose key is not above `key`, or an invalid cursor.
  template <class K>
  [[nodiscard]] Cursor Floor(const K& key) const {
    Cursor cursor;
    if (root_ != nullptr) FloorIn(root_, key, cursor);
    return cursor;
  }

  // Calls visit(key, before, after) in key order for each key that only one of the maps has (the
  // other pointer is null) or whose values are not same(before, after).
  // Nodes that both share are passed over: for two maps of one origin the cost is about that of
  // the changes between them.
  template <class Same, class Visit>
  void ForEachChange(const PersistentMap& before, Same&& same, Visit&& visit) const {
    Cursor old = before.Begin();
    Cursor now = Begin();
    while (old.valid() || now.valid()) {
      if (old.valid() && now.valid() && SkipShared(old, now)) continue;
      if (!now.valid() || (old.valid() && old.key() < now.key())) {
        visit(old.key(), &old.value(), nullptr);
        old.Next();
      } else if (!old.valid() || now.key() < old.key()) {
        visit(now.key(), nullptr, &now.value());
        now.Next();
      } else {
        if (!same(old.value(), now.value())) visit(now.key(), &old.value(), &now.value());
        old.Next();
        now.Next();
      }
    }
  }

 private:
  // If both cursors stand at the first entry of one and the same node, moves them behind it.
  static bool SkipShared(Cursor& a, Cursor& b) {
    std::size_t shared = 0;  // Levels from the leaves up to the highest such node.
    for (std::size_t up = 1; up <= a.depth_ && up <= b.depth_; ++up) {
      const auto& in_a = a.path_[a.depth_ - up];
      const auto& in_b = b.path_[b.depth_ - up];
      if (in_a.index != 0 || in_b.index != 0) break;
      if (in_a.node == in_b.node) shared = up;
    }
    if (shared == 0) return false;
    for (Cursor* cursor : {&a, &b}) {
      cursor->depth_ -= shared - 1;
      cursor->path_[cursor->depth_ - 1].index = cursor->Top().node->count;
      cursor->Settle();
    }
    return true;
  }

  // In an inner node, every key below child[i] is at least key[i] and less than key[i + 1].
  struct Node {
    explicit Node(bool is_leaf) : leaf(is_leaf) {}
    Node(const Node& other)
        : count(other.count), leaf(other.leaf), key(other.key), value(other.value) {
      if (!leaf) {
        for (std::size_t i = 0; i < count; ++i) child[i] = Share(other.child[i]);
      }
    }
    Node& operator=(const Node&) = delete;

    std::uint32_t refs = 1;
    std::uint16_t count = 0;
    bool leaf;
    std::array<Key, kFanout> key{};
    std::array<Value, kFanout> value{};  // Used by leaves.
    std::array<Node*, kFanout> child{};  // Used by inner nodes.

    template <class K>
    [[nodiscard]] std::size_t LowerBound(const K& wanted) const {
      std::size_t at = 0;
      while (at < count && key[at] < wanted) ++at;
      return at;
    }
    template <class K>
    [[nodiscard]] std::size_t UpperBound(const K& wanted) const {
      std::size_t at = 0;
      while (at < count && !(wanted < key[at])) ++at;
      return at;
    }
    template <class K>
    [[nodiscard]] std::size_t ChildFor(const K& wanted) const {
      const std::size_t at = UpperBound(wanted);
      return at == 0 ? 0 : at - 1;
    }
    void MoveSlot(std::size_t to, Node& from_node, std::size_t from) {
      key[to] = std::move(from_node.key[from]);
      if (leaf) {
        value[to] = std::move(from_node.value[from]);
      } else {
        child[to] = from_node.child[from];
      }
    }
    void OpenSlot(std::size_t at) {
      for (std::size_t i = count; i > at; --i) MoveSlot(i, *this, i - 1);
      ++count;
    }
    void CloseSlot(std::size_t at) {
      for (std::size_t i = at; i + 1 < count; ++i) MoveSlot(i, *this, i + 1);
      --count;
      key[count] = Key();
      value[count] = Value();
      child[count] = nullptr;
    }
  };

  static Node* Share(Node* node) {
    if (node != nullptr) ++node->refs;
    return node;
  }

  static void Drop(Node* node) {
    if (node == nullptr || --node->refs > 0) return;
    if (!node->leaf) {
      for (std::size_t i = 0; i < node->count; ++i) Drop(node->child[i]);
    }
    delete node;
  }

  // The node in `slot`, made ours alone.
  static Node* Own(Node*& slot) {
    if (slot->refs > 1) {
      Node* copy = new Node(*slot);
      --slot->refs;
      slot = copy;
    }
    return slot;
  }

  // Moves the upper half of a full node into a new sibling.
  static Node* Split(Node& node) {
    auto* sibling = new Node(node.leaf);
    const std::size_t half = kFanout / 2;
    for (std::size_t i = half; i < kFanout; ++i) sibling->MoveSlot(i - half, node, i);
    sibling->count = static_cast<std::uint16_t>(kFanout - half);
    for (std::size_t i = half; i < kFanout; ++i) {
      node.key[i] = Key();
      node.value[i] = Value();
      node.child[i] = nullptr;
    }
    node.count = static_cast<std::uint16_t>(half);
    return sibling;
  }

  // Sets in the tree at `slot`; a split leaves the new right half in `*sibling`.
  static bool SetIn(Node*& slot, Key&& key, Value&& value, Node** sibling) {
    Node* node = Own(slot);
    if (node->leaf) {
      const std::size_t at = node->LowerBound(key);
      if (at < node->count && !(key < node->key[at])) {
        node->value[at] = std::move(value);
        return false;
      }
      if (node->count == kFanout) {
        *sibling = Split(*node);
        if (at > node->count) {
          Insert(**sibling, at - node->count, std::move(key), std::move(value));
          return true;
        }
      }
      Insert(*node, at, std::move(key), std::move(value));
      return true;
    }
    const std::size_t at = node->ChildFor(key);
    if (at == 0 && key < node->key[0]) node->key[0] = key;
    Node* split = nullptr;
    const bool added = SetIn(node->child[at], std::move(key), std::move(value), &split);
    if (split != nullptr) AddChild(*node, at + 1, split, sibling);
    return added;
  }

  static void Insert(Node& leaf, std::size_t at, Key&& key, Value&& value) {
    leaf.OpenSlot(at);
    leaf.key[at] = std::move(key);
    leaf.value[at] = std::move(value);
  }

  static void AddChild(Node& node, std::size_t at, Node* child, Node** sibling) {
    Node* target = &node;
    if (node.count == kFanout) {
      *sibling = Split(node);
      if (at > node.count) {
        at -= node.count;
        target = *sibling;
      }
    }
    target->OpenSlot(at);
    target->key[at] = child->key[0];
    target->child[at] = child;
  }

  // Requires that `key` is there. Frees nodes that become empty.
  template <class K>
  static void EraseIn(Node*& slot, const K& key) {
    Node* node = Own(slot);
    if (node->leaf) {
      node->CloseSlot(node->LowerBound(key));
    } else {
      const std::size_t at = node->ChildFor(key);
      EraseIn(node->child[at], key);
      if (node->child[at] == nullptr) node->CloseSlot(at);
    }
    if (node->count == 0) {
      delete node;
      slot = nullptr;
    }
  }

  template <class K>
  static bool FloorIn(const Node* node, const K& key, Cursor& cursor) {
    const std::size_t depth = cursor.depth_;
    for (std::size_t at = node->UpperBound(key); at-- > 0;) {
      cursor.depth_ = depth;
      cursor.path_[cursor.depth_++] = {node, at};
      if (node->leaf || FloorIn(node->child[at], key, cursor)) return true;
    }
    cursor.depth_ = depth;
    return false;
  }

  Node* root_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace tornfs
