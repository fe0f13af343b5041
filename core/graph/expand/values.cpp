#include "core/graph/expand/values.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/graph/expand/plan.hpp"

namespace strata::graph {

namespace {

/// Where the first value that the patch owns lies, and the geometry of all: its `to` and `from` are the same.
BoxCopy own_values(const LabelInfo& label, int patch, const PatchArray& array, std::byte* origin) {
    return values_copy(label, patch, array, origin, array, origin);
}

std::byte* buffer_of(const Plan& plan, const Kept& kept, int local, Epoch rounds) {
    const PatchArray& array = plan.memory().own(kept.storage, local);
    const std::uint32_t buffer =
        buffer_number(rounds, static_cast<std::uint32_t>(kept.back), static_cast<std::uint32_t>(kept.depth));
    return array.origin + static_cast<std::int64_t>(buffer) * array.buffer_stride;
}

}  // namespace

BoxCopy values_copy(const LabelInfo& label, int patch, const PatchArray& from_array, const std::byte* from,
                    const PatchArray& to_array, std::byte* to) {
    BoxCopy copy{to,
                 from,
                 strides(to_array, label.bytes),
                 strides(from_array, label.bytes),
                 {},
                 label.components,
                 static_cast<std::uint32_t>(label.bytes)};
    if (label.kind == Kind::field) {
        const Box own = owned(label, patch);
        // Null: this side is packed, and gets its address later.
        if (to != nullptr) copy.to += distance(to_array, own.lo, label.bytes);
        if (from != nullptr) copy.from += distance(from_array, own.lo, label.bytes);
        copy.extent = extent_of(own);
    } else {
        copy.extent = {static_cast<int>(label.kind == Kind::scalar ? 1 : from_array.count), 1, 1};
        if (label.kind == Kind::scalar)
            copy.to_strides.component = copy.from_strides.component = static_cast<std::int64_t>(label.bytes);
    }
    return copy;
}

std::vector<Kept> kept_versions(const Plan& plan) {
    std::vector<Kept> all;
    const auto& storages = plan.resolved().storages;
    for (const StorageId s : storages.ids()) {
        const Storage& storage = storages[s];
        if (!storage.kept) continue;
        const int versions = storage.depth > 1 ? storage.depth - 1 : 1;
        for (int back = 0; back < versions; ++back)
            all.push_back({storage.label, s, back,
                           storage.depth > 1 ? plan.scope(storage.scope) : std::uint16_t{0}, storage.depth});
    }
    std::sort(all.begin(), all.end(), [](const Kept& a, const Kept& b) {
        return a.label != b.label ? a.label < b.label : a.back < b.back;
    });
    return all;
}

BoxCopy values_in_place(const Plan& plan, const Kept& kept, int local, Epoch rounds) {
    const LabelInfo& label = plan.graph().labels()[kept.label];
    int patch = 0;
    if (label.kind != Kind::scalar)
        patch =
            plan.memory().patches()[number_of(plan.graph(), *label.family)][static_cast<std::size_t>(local)];
    return own_values(label, patch, plan.memory().own(kept.storage, local),
                      buffer_of(plan, kept, local, rounds));
}

std::vector<std::byte> read_values(const Plan& plan, const Kept& kept, int local, Epoch rounds) {
    std::vector<std::byte> values;
    read_values(plan, kept, local, rounds, values);
    return values;
}

void read_values(const Plan& plan, const Kept& kept, int local, Epoch rounds, std::vector<std::byte>& into) {
    const Populations& particles = plan.memory().populations();
    if (particles.is_particles(kept.storage)) {
        into = particles.read(kept.storage, particles.own(particles.column(kept.storage).set, local));
        return;
    }
    if (plan.memory().objects().is_object(kept.storage)) {
        into = plan.memory().objects().read(kept.storage, local);
        return;
    }
    const BoxCopy copy = values_in_place(plan, kept, local, rounds);
    into.resize(static_cast<std::size_t>(copy.volume()));
    pack_box(copy, into.data());
}

void write_values(const Plan& plan, const Kept& kept, int local, Epoch rounds,
                  std::span<const std::byte> values) {
    Populations& particles = plan.memory().populations();
    if (particles.is_particles(kept.storage))
        return particles.write(kept.storage, particles.own(particles.column(kept.storage).set, local),
                               values);
    if (plan.memory().objects().is_object(kept.storage))
        return plan.memory().objects().write(kept.storage, local, values);
    const BoxCopy copy = values_in_place(plan, kept, local, rounds);
    if (values.size() != static_cast<std::size_t>(copy.volume()))
        throw Error(fmt::format("values of '{}' have another size", plan.graph().labels()[kept.label].name))
            .given(fmt::format("{} bytes", values.size()))
            .allowed(fmt::format("{} bytes, those of the label on this patch", copy.volume()));
    unpack_box(copy, values.data());
}

}  // namespace strata::graph
