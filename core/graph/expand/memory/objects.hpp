// The objects of the patches that one process has. They are in memory of its own: no other process reads
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/graph/expand/assign/assignment.hpp"
#include "core/graph/resolve/resolved.hpp"

namespace strata::graph {

/// The call that made an object.
struct ObjectMade {
    TaskId by;
    std::int64_t step = 0, round = 0;
};

class Objects {
  public:
    /// All are as their type's default constructor makes them.
    Objects(const Graph& graph, const Resolved& resolved, const OwnPatches& patches);

    [[nodiscard]] bool is_object(StorageId storage) const {
        return types_.has(storage) && types_[storage] != nullptr;
    }
    [[nodiscard]] int count(StorageId storage) const {
        return all_.has(storage) ? static_cast<int>(all_[storage].size()) : 0;
    }
    /// Of this process's patch with that number; the address stays.
    [[nodiscard]] std::byte* at(StorageId storage, int local) const {
        return static_cast<std::byte*>(all_[storage][static_cast<std::size_t>(local)]->it.get());
    }
    /// The call that made the object last.
    [[nodiscard]] ObjectMade& made(StorageId storage, int local) const {
        return all_[storage][static_cast<std::size_t>(local)]->made;
    }
    /// Whether the object itself has not come with its patch, and is to be made again.
    [[nodiscard]] bool& lacks(StorageId storage, int local) const {
        return all_[storage][static_cast<std::size_t>(local)]->lacks;
    }
    /// The object is lacking from now on, and as its type's default constructor makes it.
    void forget(StorageId storage, int local) const;
    /// The object as bytes, and back; of one that is not packed the call that made it.
    [[nodiscard]] std::vector<std::byte> read(StorageId storage, int local) const;
    void write(StorageId storage, int local, std::span<const std::byte> packed);
    /// Moves an object here, maybe that of another graph's label; what remains there has no value.
    void take(StorageId storage, int local, const Objects& from, StorageId there, int local_there);
    /// Of all objects, as ObjectOptions::bytes says. Between steps.
    [[nodiscard]] std::size_t bytes() const;

  private:
    struct One {
        std::shared_ptr<void> it;
        ObjectMade made{};
        bool lacks = false;
    };
    // Empty where the graph has no objects.
    VectorBy<StorageId, std::shared_ptr<const ObjectType>> types_;
    VectorBy<StorageId, std::vector<std::unique_ptr<One>>> all_;  // [storage][local]
};

}  // namespace strata::graph
