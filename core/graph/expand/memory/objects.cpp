#include "core/graph/expand/memory/objects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/base/error.hpp"
#include "core/graph/expand/memory/memory.hpp"

namespace strata::graph {

Objects::Objects(const Graph& graph, const Resolved& resolved, const OwnPatches& patches) {
    const auto is_one = [&](const Storage& storage) { return label_of(graph, storage).kind == Kind::object; };
    if (std::none_of(resolved.storages.begin(), resolved.storages.end(), is_one)) return;
    for (const Storage& storage : resolved.storages) {
        const LabelInfo& label = label_of(graph, storage);
        types_.push_back(label.kind == Kind::object ? label.object : nullptr);
        all_.emplace_back();
        if (label.kind != Kind::object) continue;
        for (std::size_t i = 0; i < patches[number_of(graph, *label.family)].size(); ++i)
            all_.back().push_back(std::make_unique<One>(One{label.object->make()}));
    }
}

std::vector<std::byte> Objects::read(StorageId storage, int local) const {
    if (types_[storage]->packs()) return types_[storage]->pack(at(storage, local));
    const ObjectMade& of = made(storage, local);
    const std::int64_t numbers[] = {of.by.number(), of.step, of.round};
    const auto bytes = std::as_bytes(std::span(numbers));
    return {bytes.begin(), bytes.end()};
}

void Objects::write(StorageId storage, int local, std::span<const std::byte> packed) {
    if (types_[storage]->packs()) return types_[storage]->unpack(packed, at(storage, local));
    std::int64_t numbers[3];
    if (packed.size() != sizeof numbers)
        throw Error("it is not known which task made an object", kFailure)
            .given(fmt::format("{} bytes", packed.size()))
            .allowed(fmt::format("{}", sizeof numbers));
    std::memcpy(numbers, packed.data(), sizeof numbers);
    made(storage, local) = {TaskId(numbers[0]), numbers[1], numbers[2]};
    lacks(storage, local) = true;
}

void Objects::forget(StorageId storage, int local) const {
    types_[storage]->move(types_[storage]->make().get(), at(storage, local));
    lacks(storage, local) = true;
}

void Objects::take(StorageId storage, int local, const Objects& from, StorageId there, int local_there) {
    types_[storage]->move(from.at(there, local_there), at(storage, local));
}

std::size_t Objects::bytes() const {
    std::size_t sum = 0;
    for (const StorageId s : all_.ids())
        for (const auto& each : all_[s]) sum += types_[s]->bytes(each->it.get());
    return sum;
}

}  // namespace strata::graph
