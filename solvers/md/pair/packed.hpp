// Positions by clusters: of four atoms x, then y, then z, then species. Forces by clusters in the same way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

#include "core/lanes/wide.hpp"
#include "solvers/md/pair/pairs.hpp"

namespace strata::md {

using namespace wide;  // kernels on packed atoms are made of these

inline constexpr std::size_t kPerCluster = 16;  ///< values: 64 bytes of floats, 128 of doubles

/// Memory of a thread, used again for each patch so that it stays in its cache.
template <class Real, int which>
Real* scratch(std::size_t values) {
    struct Free {
        void operator()(Real* p) const { ::operator delete[](p, std::align_val_t(64)); }
    };
    thread_local std::unique_ptr<Real[], Free> memory;
    thread_local std::size_t room = 0;
    if (values > room) {
        room = values + values / 4;
        memory.reset();
        memory.reset(new (std::align_val_t(64)) Real[room]);
    }
    return memory.get();
}

/// Of own clusters, then those of the halo, relative to the list's origin.
template <class Real>
const Real* pack(const Pairs& pairs, const Sight& sight) {
    const std::size_t own = pairs.own().atoms().size(), all = own + pairs.halo().atoms().size();
    Real* const packed = scratch<Real, 0>(all * 4);
    const std::array<double, 3> origin = pairs.origin();
    std::size_t slot = 0;
    double away = pairs.away();
    for (const Clusters* clusters : {&pairs.own(), &pairs.halo()})
        for (std::size_t k = 0; k < clusters->atoms().size(); k += kCluster, slot += kCluster) {
            const std::int32_t* const atom = clusters->atoms().data() + k;
            Real* const p = packed + slot * 4;
            if (atom[kCluster - 1] >= 0) [[likely]] {
                for (std::size_t c = 0; c < 3; ++c)
                    for (std::size_t l = 0; l < kCluster; ++l)
                        p[4 * c + l] = static_cast<Real>(sight.x[c][atom[l]] - origin[c]);
            } else {
                for (std::size_t l = 0; l < kCluster; ++l) {
                    away += atom[l] < 0 ? pairs.away() : 0;
                    for (std::size_t c = 0; c < 3; ++c)
                        p[4 * c + l] =
                            static_cast<Real>(atom[l] < 0 ? away : sight.x[c][atom[l]] - origin[c]);
                }
            }
            for (std::size_t l = 0; l < kCluster; ++l) {
                const Whole<Real> kind = sight.species == nullptr || atom[l] < 0 ? 0 : sight.species[atom[l]];
                std::memcpy(p + 12 + l, &kind, sizeof kind);
            }
        }
    return packed;
}

/// Adds forces by slots to those by atoms.
template <class Real, bool sums>
void unpack(const Pairs& pairs, const Real* x, const Real* by_slot, double* const f[3], double* virial) {
    for (const Clusters* clusters : {&pairs.own(), &pairs.halo()})
        for (std::size_t k = 0; k < clusters->atoms().size();
             k += kCluster, x += kPerCluster, by_slot += kPerCluster)
            for (std::size_t l = 0; l < kCluster; ++l) {
                const std::int32_t atom = clusters->atoms()[k + l];
                if (atom < 0) break;
                double g[3];
                for (std::size_t c = 0; c < 3; ++c)
                    f[c][atom] += g[c] = static_cast<double>(by_slot[4 * c + l]);
                if constexpr (!sums) continue;
                // The sum over pairs of r f is that over atoms of x f.
                const double at[3] = {x[l], x[4 + l], x[8 + l]};
                constexpr int kFirst[] = {0, 1, 2, 0, 0, 1}, kSecond[] = {0, 1, 2, 1, 2, 2};
                for (int v = 0; v < 6; ++v) virial[v] += at[kFirst[v]] * g[kSecond[v]];
            }
}

}  // namespace strata::md
