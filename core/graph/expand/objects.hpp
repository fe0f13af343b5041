// The objects of the patches that one process has. They are in memory of its own: no other process reads
// them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "core/graph/expand/assignment.hpp"
#include "core/graph/resolve/resolved.hpp"

namespace strata::graph {

class Objects {
  public:
    /// All are as their type's default constructor makes them.
    Objects(const Graph& graph, const Resolved& resolved, const OwnPatches& patches);

    [[nodiscard]] bool is_object(StorageId storage) const { return bool(types_[storage]); }
    [[nodiscard]] int count(StorageId storage) const { return static_cast<int>(all_[storage].size()); }
    /// Of this process's patch with that number; the address stays.
    [[nodiscard]] std::byte* at(StorageId storage, int local) const {
        return static_cast<std::byte*>(all_[storage][static_cast<std::size_t>(local)].get());
    }
    /// The object as bytes, and back.
    [[nodiscard]] std::vector<std::byte> read(StorageId storage, int local) const;
    void write(StorageId storage, int local, std::span<const std::byte> packed);
    /// Moves the object of a patch here; what remains there has no value.
    void take(StorageId storage, int local, const Objects& from, int local_there);
    /// Of all objects, as ObjectOptions::bytes says. Between steps.
    [[nodiscard]] std::size_t bytes() const;

  private:
    VectorBy<StorageId, std::shared_ptr<const ObjectType>> types_;
    VectorBy<StorageId, std::vector<std::shared_ptr<void>>> all_;  // [storage][local]
};

}  // namespace strata::graph
