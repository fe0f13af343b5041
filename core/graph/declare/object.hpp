// Objects that a patch owns: one value of any C++ type on each patch, e.g. a factorisation, a neighbour list,
// a search tree. Only the process that has the patch can read it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace strata::graph {

/// How the objects of a label are handled where their type is not known.
struct ObjectType {
    std::function<std::shared_ptr<void>()> make;  // T{}
    std::function<void(void* from, void* to)> move;
    std::function<std::size_t(const void*)> bytes;
    /// Both, or neither.
    std::function<std::vector<std::byte>(const void*)> pack;
    std::function<void(std::span<const std::byte>, void* to)> unpack;
    [[nodiscard]] bool packs() const { return bool(pack); }
};

/// Optional properties of an object.
///   graph.object<Lu>("factors", grid, {.bytes = [](const Lu& lu) { return sizeof lu + 8 * lu.u.size(); }});
template <class T>
struct ObjectOptions {
    /// The memory that it takes, for reports; without it sizeof(T).
    std::function<std::size_t(const T&)> bytes{};
    /// The object as bytes and back, for patches that move to another process and for checkpoints. The same
    /// object must give the same bytes. Both, or neither.
    std::function<std::vector<std::byte>(const T&)> pack{};
    std::function<T(std::span<const std::byte>)> unpack{};
    std::string unit = {}, about = {};
};

template <class T>
[[nodiscard]] std::shared_ptr<const ObjectType> object_type(ObjectOptions<T> options) {
    const auto as = [](const void* it) -> const T& { return *static_cast<const T*>(it); };
    auto type = std::make_shared<ObjectType>();
    type->make = [] { return std::make_shared<T>(); };
    type->move = [](void* from, void* to) { *static_cast<T*>(to) = std::move(*static_cast<T*>(from)); };
    type->bytes = [as, bytes = std::move(options.bytes)](const void* it) {
        return bytes ? bytes(as(it)) : sizeof(T);
    };
    if (options.pack)
        type->pack = [as, pack = std::move(options.pack)](const void* it) { return pack(as(it)); };
    if (options.unpack)
        type->unpack = [unpack = std::move(options.unpack)](std::span<const std::byte> from, void* to) {
            *static_cast<T*>(to) = unpack(from);
        };
    return type;
}

}  // namespace strata::graph
