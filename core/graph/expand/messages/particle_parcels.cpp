// Particles in halos on other nodes: what of them is in messages.
//
//   all       a patch's values of one label, after a relocation and at the start: the image gets as many
//   in_halo   the values of those that patches of the other process see, link after link; at both ends the
//             renewals have found the same ones, in the same order
//   back      what tasks added to those, the other way
#include <cstring>

#include "core/graph/expand/messages/channel.hpp"

namespace strata::graph {

std::int64_t ParticleParcel::count() const {
    if (what == What::all) return patch->count;
    std::int64_t all = 0;
    for (const HaloPlaces& each : places) all += each.count();
    return all;
}

std::size_t ParticleParcel::bytes() const {
    return static_cast<std::size_t>(count() * column.bytes * column.components) +
           (what == What::all ? sizeof(std::int64_t) : 0);
}

std::byte* ParticleParcel::pack(std::byte* message) const {
    const auto value = static_cast<std::size_t>(column.bytes);
    const auto put = [&](const std::byte* from, std::int64_t values) {
        const auto length = static_cast<std::size_t>(values) * value;
        if (length > 0) std::memcpy(message, from, length);
        message += length;
    };
    if (what == What::back) {
        for (const HaloPlaces& each : places)
            for (int c = 0; c < column.components; ++c)
                put(list->base + c * list->stride + (each.of->own + each.of->begin(each.link)) * column.bytes,
                    each.count());
        return message;
    }
    const ParticleArrays& arrays = column.arrays(*patch);
    const auto component = [&](int c) { return column.at(arrays) + c * column.stride(arrays); };
    if (what == What::all) {
        std::memcpy(message, &patch->count, sizeof patch->count);
        message += sizeof patch->count;
        for (int c = 0; c < column.components; ++c) put(component(c), patch->count);
        return message;
    }
    for (const HaloPlaces& each : places)
        for (int c = 0; c < column.components; ++c)
            for (std::int64_t k = 0, all = each.count(); k < all; ++k, message += value)
                std::memcpy(message, component(c) + each.at()[k] * column.bytes, value);
    return message;
}

const std::byte* ParticleParcel::unpack(const std::byte* message) const {
    const auto value = static_cast<std::size_t>(column.bytes);
    const auto take = [&](std::byte* to, std::int64_t values) {
        const auto length = static_cast<std::size_t>(values) * value;
        if (length > 0) std::memcpy(to, message, length);
        message += length;
    };
    if (what == What::back) {
        list->make_room(populations->pool(), 0, count(), column.bytes, column.components);
        std::int64_t begin = 0;
        for (std::size_t i = 0; i < places.size(); ++i) {
            begins[i] = begin;
            for (int c = 0; c < column.components; ++c)
                take(list->base + c * list->stride + begin * column.bytes, places[i].count());
            begin += places[i].count();
        }
        return message;
    }
    if (what == What::all) {
        std::int64_t now = 0;
        std::memcpy(&now, message, sizeof now);
        message += sizeof now;
        populations->show(column.set, *patch, now);
    }
    const ParticleArrays& arrays = column.arrays(*patch);
    const auto component = [&](int c) { return column.at(arrays) + c * column.stride(arrays); };
    if (what == What::all) {
        for (int c = 0; c < column.components; ++c) take(component(c), patch->count);
        return message;
    }
    for (const HaloPlaces& each : places)
        for (int c = 0; c < column.components; ++c)
            for (std::int64_t k = 0, all = each.count(); k < all; ++k, message += value)
                std::memcpy(component(c) + each.at()[k] * column.bytes, message, value);
    return message;
}

}  // namespace strata::graph
