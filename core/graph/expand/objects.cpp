#include "core/graph/expand/objects.hpp"

#include "core/graph/expand/memory.hpp"

namespace strata::graph {

Objects::Objects(const Graph& graph, const Resolved& resolved, const OwnPatches& patches) {
    for (const Storage& storage : resolved.storages) {
        const LabelInfo& label = label_of(graph, storage);
        types_.push_back(label.kind == Kind::object ? label.object : nullptr);
        all_.emplace_back();
        if (label.kind != Kind::object) continue;
        for (std::size_t i = 0; i < patches[number_of(graph, *label.family)].size(); ++i)
            all_.back().push_back(label.object->make());
    }
}

std::vector<std::byte> Objects::read(StorageId storage, int local) const {
    return types_[storage]->pack(at(storage, local));
}

void Objects::write(StorageId storage, int local, std::span<const std::byte> packed) {
    types_[storage]->unpack(packed, at(storage, local));
}

void Objects::take(StorageId storage, int local, const Objects& from, int local_there) {
    types_[storage]->move(from.at(storage, local_there), at(storage, local));
}

std::size_t Objects::bytes() const {
    std::size_t sum = 0;
    for (const StorageId s : all_.ids())
        for (const std::shared_ptr<void>& each : all_[s]) sum += types_[s]->bytes(each.get());
    return sum;
}

}  // namespace strata::graph
