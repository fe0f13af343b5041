// Halos of particles: what their operations do.
#include <algorithm>
#include <cstring>
#include <vector>

#include "core/base/error.hpp"
#include "core/graph/expand/particles/particle_halo.hpp"

namespace strata::graph {

namespace {

/// The particles of one patch, and the boxes around each so many that follow one another. They lie in order
/// of cell, so these are small, and most are near no border.
template <class Real>
class Boxed {
  public:
    static constexpr std::int64_t kEach = 8;

    /// Keeps its memory from one patch to the next.
    void begin(const HaloRenewal& of, const ParticlePatch& patch, const ParticleColumn& position) {
        directions_ = of.directions;
        limit_ = of.distance * of.distance;
        count_ = patch.count;
        const ParticleArrays& arrays = position.arrays(patch);
        for (int c = 0; c < directions_; ++c)
            x_[c] = reinterpret_cast<const Real*>(position.at(arrays) + c * position.stride(arrays));
        boxes_.resize(static_cast<std::size_t>((count_ + kEach - 1) / kEach));
        for (int c = 0; c < directions_; ++c)
            for (std::size_t b = 0; b < boxes_.size(); ++b) {
                const std::int64_t first = static_cast<std::int64_t>(b) * kEach;
                const std::int64_t end = std::min(count_, first + kEach);
                Real lo = x_[c][first], hi = lo;
                for (std::int64_t i = first + 1; i < end; ++i) {
                    const Real x = x_[c][i];
                    lo = x < lo ? x : lo, hi = x > hi ? x : hi;
                }
                boxes_[b].lo[c] = lo, boxes_[b].hi[c] = hi;
            }
    }
    /// Writes the places of those that are near a box, in their order. There is room for all particles of the
    /// patch. Returns how many there are.
    std::int64_t find(const HaloTarget& to, std::int32_t* places) const {
        switch (directions_) {
            case 1:
                return find_in<1>(to, places);
            case 2:
                return find_in<2>(to, places);
            default:
                return find_in<3>(to, places);
        }
    }

  private:
    struct Extent {
        Real lo[3], hi[3];
    };
    /// From a value to where it is for the target. It never falls where the value grows, and so does what is
    /// computed from it: no particle is nearer than the box around it, to the last bit.
    static double shifted(Real x, double shift) {
        return static_cast<double>(static_cast<Real>(static_cast<double>(x) + shift));
    }
    template <int directions>
    std::int64_t find_in(const HaloTarget& to, std::int32_t* places) const {
        const auto square = [&](const auto& low, const auto& high) {
            double sum = 0;
            for (int c = 0; c < directions; ++c) {
                const auto a = static_cast<std::size_t>(c);
                const double below = to.lo[a] - shifted(high(c), to.shift[a]);
                const double above = shifted(low(c), to.shift[a]) - to.hi[a];
                const double apart = below > above ? below : above;
                const double gap = apart > 0 ? apart : 0;
                sum += gap * gap;
            }
            return sum;
        };
        std::int64_t found = 0;
        for (std::size_t b = 0; b < boxes_.size(); ++b) {
            const Extent& box = boxes_[b];
            if (!(square([&](int c) { return box.lo[c]; }, [&](int c) { return box.hi[c]; }) < limit_))
                continue;
            const std::int64_t first = static_cast<std::int64_t>(b) * kEach;
            for (std::int64_t i = first, end = std::min(count_, first + kEach); i < end; ++i) {
                const auto at = [&](int c) { return x_[c][i]; };
                places[found] = static_cast<std::int32_t>(i);
                found += static_cast<int>(square(at, at) < limit_);
            }
        }
        return found;
    }

    int directions_ = 3;
    double limit_ = 0;
    std::int64_t count_ = 0;
    const Real* x_[3] = {};
    std::vector<Extent> boxes_;
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
        auto* __restrict to = reinterpret_cast<T*>(call.column.at(arrays) + c * call.column.stride(arrays));
        const bool begins_with_own = !call.parts.empty() && call.parts.front().to.of == nullptr;
        if (count > 0 && !begins_with_own) std::memset(to, 0, static_cast<std::size_t>(count) * sizeof(T));
        for (const HaloCombineCall::Part& part : call.parts) {
            const auto* __restrict from = reinterpret_cast<const T*>(part.list->base + c * part.list->stride);
            if (part.to.of == nullptr && &part == call.parts.data()) {
                for (std::int64_t i = 0; i < count; ++i) to[i] = T{} + from[i];  // of -0 this makes 0
                continue;
            }
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
    static thread_local Boxed<Real> particles;
    std::int64_t used = 0;
    for (std::size_t link = 0; link < links.size(); ++link) {
        const ParticlePatch* const patch = links[link].patch;
        if (link == 0 || patch != links[link - 1].patch) particles.begin(*this, *patch, by);
        make_room(*pool, here->domain, *halo, used, used + patch->count);
        used += particles.find({lo, hi, links[link].shift}, halo->from + used);
        halo->ends[link] = used;
    }
    halo->own = here->count;
    halo->all = here->count + used;
    used = 0;
    if (!targets.empty()) particles.begin(*this, *here, by);
    for (std::size_t target = 0; target < targets.size(); ++target) {
        make_room(*pool, here->domain, *given, used, used + here->count);
        used += particles.find(targets[target], given->from + used);
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
    *list = lists->take(here->domain, halo->all, bytes, column->components);
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

void HaloRead::end() const {
    lists->give(*list, here->domain);
    *list = {};
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
