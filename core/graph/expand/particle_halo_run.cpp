// Halos of particles: what their operations do.
#include <cstring>

#include "core/base/error.hpp"
#include "core/graph/expand/particle_halo.hpp"

namespace strata::graph {

namespace {

/// Keeps the places of particles that are near a box, in their order, behind `count` places.
template <class Real>
class FindNear {
  public:
    FindNear(const HaloRenewal& of, const ParticlePatch& patch, const HaloTarget& to,
             const ParticleColumn& position)
        : of_(of), to_(to), count_(patch.count) {
        const ParticleArrays& arrays = position.arrays(patch);
        for (int c = 0; c < of.directions; ++c)
            x_[c] = reinterpret_cast<const Real*>(position.at(arrays) + c * position.stride(arrays));
    }
    /// There is room for all particles of the patch. Returns how many there are.
    std::int64_t go(std::int32_t* places) const {
        switch (of_.directions) {
            case 1:
                return all<1>(places);
            case 2:
                return all<2>(places);
            default:
                return all<3>(places);
        }
    }

  private:
    template <int directions>
    std::int64_t all(std::int32_t* places) const {
        const double limit = of_.distance * of_.distance;
        std::int64_t found = 0;
        for (std::int64_t i = 0; i < count_; ++i) {
            double square = 0;
            for (int c = 0; c < directions; ++c) {
                const auto a = static_cast<std::size_t>(c);
                const double x =
                    static_cast<double>(static_cast<Real>(static_cast<double>(x_[c][i]) + to_.shift[a]));
                const double below = to_.lo[a] - x, above = x - to_.hi[a];
                const double apart = below > above ? below : above;
                const double gap = apart > 0 ? apart : 0;
                square += gap * gap;
            }
            places[found] = static_cast<std::int32_t>(i);
            found += static_cast<int>(square < limit);
        }
        return found;
    }

    const HaloRenewal& of_;
    const HaloTarget& to_;
    const std::int64_t count_;
    const Real* x_[3] = {};
};

void make_room(GrowingPool& pool, int domain, HaloPatch& halo, std::int64_t used, std::int64_t count) {
    if (count <= halo.capacity) return;
    const auto bytes = [](std::int64_t n) { return static_cast<std::size_t>(n) * sizeof(std::int32_t); };
    const std::int64_t wanted = count + count / 4 + 64;
    auto* room = reinterpret_cast<std::int32_t*>(pool.take(bytes(wanted), domain));
    if (used > 0) std::memcpy(room, halo.from, bytes(used));
    pool.give(reinterpret_cast<std::byte*>(halo.from), bytes(halo.capacity), domain);
    halo.from = room, halo.capacity = wanted;
}

/// The label's values on the patch, without gaps, and then in the halo.
template <class T>
void gather(T* to, const T* from, const std::int32_t* places, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = from[places[i]];
}
template <class T>
void gather_shifted(T* to, const T* from, const std::int32_t* places, std::int64_t count, double shift) {
    for (std::int64_t i = 0; i < count; ++i)
        to[i] = static_cast<T>(static_cast<double>(from[places[i]]) + shift);
}
void gather_bytes(std::byte* to, const std::byte* from, const std::int32_t* places, std::int64_t count,
                  std::size_t bytes) {
    for (std::int64_t i = 0; i < count; ++i, to += bytes)
        std::memcpy(to, from + static_cast<std::size_t>(places[i]) * bytes, bytes);
}

template <class T>
void add(const HaloCombineCall& call) {
    const std::int64_t count = call.here->count;
    const ParticleArrays& arrays = call.column.arrays(*call.here);
    for (int c = 0; c < call.column.components; ++c) {
        auto* to = reinterpret_cast<T*>(call.column.at(arrays) + c * call.column.stride(arrays));
        if (count > 0) std::memset(to, 0, static_cast<std::size_t>(count) * sizeof(T));
        for (const HaloCombineCall::Part& part : call.parts) {
            const auto* from = reinterpret_cast<const T*>(part.list->base + c * part.list->stride);
            if (part.to.of == nullptr) {
                for (std::int64_t i = 0; i < count; ++i) to[i] += from[i];
                continue;
            }
            from += part.begin != nullptr ? *part.begin : part.to.of->own + part.to.of->begin(part.to.link);
            const std::int32_t* places = part.to.at();
            for (std::int64_t k = 0, all = part.to.count(); k < all; ++k) to[places[k]] += from[k];
        }
    }
}

}  // namespace

template <class Real>
void HaloRenewal::find_members(const ParticleColumn& by) const {
    std::int64_t used = 0;
    for (std::size_t link = 0; link < links.size(); ++link) {
        make_room(*pool, here->domain, *halo, used, used + links[link].patch->count);
        const HaloTarget own{lo, hi, links[link].shift};
        used += FindNear<Real>(*this, *links[link].patch, own, by).go(halo->from + used);
        halo->ends[link] = used;
    }
    halo->own = here->count;
    halo->all = here->count + used;
    used = 0;
    for (std::size_t target = 0; target < targets.size(); ++target) {
        make_room(*pool, here->domain, *given, used, used + here->count);
        used += FindNear<Real>(*this, *here, targets[target], by).go(given->from + used);
        given->ends[target] = used;
    }
}

void HaloRenewal::find(const ParticleColumn& by) const {
    by.bytes == sizeof(double) ? find_members<double>(by) : find_members<float>(by);
    members->own = halo->own, members->all = halo->all;
    std::memcpy(count, &halo->all, sizeof halo->all);
    if (!by_number) return;
    members->clear(halo->all);
    const auto numbers = [&](const ParticlePatch& of) {
        return reinterpret_cast<const std::int64_t*>(number.at(number.arrays(of)));
    };
    for (std::int64_t i = 0; i < here->count; ++i) members->add(numbers(*here)[i], i);
    for (std::size_t link = 0; link < links.size(); ++link) {
        const std::int64_t* theirs = numbers(*links[link].patch);
        for (std::int64_t k = halo->begin(link); k < halo->ends[link]; ++k)
            members->add(theirs[halo->from[k]], halo->own + k);
    }
}

void HaloRenewal::again() const { find(renewed); }

Outcome HaloRenewal::go(void* what, Worker&) {
    const auto& call = *static_cast<const HaloRenewal*>(what);
    call.find(call.position);
    const ParticleArrays &from = call.position.arrays(*call.here), &to = call.renewed.arrays(*call.here);
    for (int c = 0; c < call.position.components && call.here->count > 0; ++c)
        std::memcpy(call.renewed.at(to) + c * call.renewed.stride(to),
                    call.position.at(from) + c * call.position.stride(from),
                    static_cast<std::size_t>(call.here->count * call.position.bytes));
    return Outcome::done;
}

UseData HaloRead::go() const {
    const std::int64_t bytes = column->bytes;
    list->make_room(*pool, here->domain, halo->all, bytes, column->components);
    const auto each = [&](const ParticlePatch& of, int c) -> const std::byte* {
        const ParticleArrays& arrays = column->arrays(of);
        return column->at(arrays) + c * column->stride(arrays);
    };
    for (int c = 0; c < column->components; ++c) {
        std::byte* to = list->base + c * list->stride;
        if (halo->own > 0) std::memcpy(to, each(*here, c), static_cast<std::size_t>(halo->own * bytes));
        to += halo->own * bytes;
        for (std::size_t link = 0; link < links.size(); ++link) {
            const std::int64_t begin = halo->begin(link), count = halo->ends[link] - begin;
            if (count == 0) continue;
            const std::byte* from = each(*links[link].patch, c);
            const std::int32_t* places = halo->from + begin;
            const double shift = position ? links[link].shift[static_cast<std::size_t>(c)] : 0;
            if (shift != 0 && element == Element::f64)
                gather_shifted(reinterpret_cast<double*>(to), reinterpret_cast<const double*>(from), places,
                               count, shift);
            else if (shift != 0)
                gather_shifted(reinterpret_cast<float*>(to), reinterpret_cast<const float*>(from), places,
                               count, shift);
            else if (bytes == 8)
                gather(reinterpret_cast<std::uint64_t*>(to), reinterpret_cast<const std::uint64_t*>(from),
                       places, count);
            else
                gather_bytes(to, from, places, count, static_cast<std::size_t>(bytes));
            to += count * bytes;
        }
    }
    UseData data;
    data.origin = list->base;
    data.component = list->stride / bytes;
    data.count = halo->all;
    return data;
}

UseData HaloSum::go() const {
    list->make_room(*pool, domain, halo->all, bytes, components);
    for (int c = 0; c < components; ++c)
        std::memset(list->base + c * list->stride, 0, static_cast<std::size_t>(halo->all * bytes));
    UseData data;
    data.origin = list->base;
    data.component = list->stride / bytes;
    data.count = halo->all;
    return data;
}

Outcome HaloCombineCall::go(void* what, Worker&) {
    const auto& call = *static_cast<const HaloCombineCall*>(what);
    switch (call.element) {
        case Element::f64:
            add<double>(call);
            break;
        case Element::f32:
            add<float>(call);
            break;
        case Element::i64:  // unsigned: they wrap around
            add<std::uint64_t>(call);
            break;
        default:
            add<std::uint32_t>(call);
            break;
    }
    return Outcome::done;
}

}  // namespace strata::graph
