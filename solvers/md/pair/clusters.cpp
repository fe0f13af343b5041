#include "solvers/md/pair/clusters.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "core/base/error.hpp"
#include "solvers/md/pair/refit.hpp"

namespace strata::md {

namespace {

/// A column is as wide as a cube that holds so many atoms: of all widths this leaves the fewest pairs of
/// clusters within a cutoff of 2.5 to 5 in a Lennard-Jones liquid.
constexpr double kColumn = 5.5;
/// Bins along a column, in units of its width: fine enough that a bin has hardly two atoms.
constexpr double kBinsOfWidth = 10;

using Place = std::array<float, 3>;

/// Of each thread: used again for each patch.
struct Room {
    std::vector<Place> places, sorted;
    std::vector<std::int32_t> bin, next, cells;
};
Room& room() {
    static thread_local Room mine;
    return mine;
}

struct Extent {
    Place lo, hi;
};
Extent extent_of(const std::vector<Place>& places) {
    Extent e{places[0], places[0]};
    for (const Place& p : places)
        for (std::size_t c = 0; c < 3; ++c)
            e.lo[c] = std::min(e.lo[c], p[c]), e.hi[c] = std::max(e.hi[c], p[c]);
    return e;
}

/// The density that atoms see on average: also where most of the box around them is empty.
double density(const std::vector<Place>& places, const Extent& e) {
    const auto count = static_cast<double>(places.size());
    double volume = 1;
    for (std::size_t c = 0; c < 3; ++c) volume *= std::max(1e-6, static_cast<double>(e.hi[c] - e.lo[c]));
    // Cells of some eight atoms, were they spread evenly.
    const double side = std::cbrt(8 * volume / count);
    std::size_t n[3];
    for (std::size_t c = 0; c < 3; ++c)
        n[c] = 1 + static_cast<std::size_t>(std::min(1e3, static_cast<double>(e.hi[c] - e.lo[c]) / side));
    std::vector<std::int32_t>& cells = room().cells;
    cells.assign(n[0] * n[1] * n[2], 0);
    for (const Place& p : places) {
        std::size_t at = 0;
        for (std::size_t c = 0; c < 3; ++c)
            at = at * n[c] +
                 std::min(n[c] - 1, static_cast<std::size_t>(static_cast<double>(p[c] - e.lo[c]) / side));
        ++cells[at];
    }
    double squares = 0;
    for (const std::int32_t k : cells) squares += static_cast<double>(k) * k;
    return squares / count / (side * side * side);
}

}  // namespace

void Clusters::sort(const double* const x[3], std::span<const std::int32_t> atoms,
                    const std::array<double, 3>& origin, int multiple) {
    const std::size_t n = atoms.size(), m = static_cast<std::size_t>(multiple), slots = (n + m - 1) / m * m;
    atoms_.assign(slots, -1);
    count_ = static_cast<std::int32_t>(slots / kCluster);
    for (auto* boxes : {&lo_, &hi_})
        for (auto& along : *boxes) along.clear();
    if (n == 0) return;

    std::vector<Place>& places = room().places;
    places.resize(n);
    for (std::size_t k = 0; k < n; ++k)
        for (std::size_t c = 0; c < 3; ++c) {
            places[k][c] = static_cast<float>(x[c][atoms[k]] - origin[c]);
            if (!std::isfinite(places[k][c]))
                throw Error("an atom's position is no number any more", kFailure)
                    .remedy("take a shorter time step, or start from atoms that do not overlap");
        }
    choose_bins(places);
    walk(places, atoms);
    find_boxes(room().sorted);
}

/// How many bins there are in each direction, and how wide they are.
void Clusters::choose_bins(const std::vector<Place>& places) {
    const Extent extent = extent_of(places);
    double width = std::cbrt(kColumn / density(places, extent));
    const auto bins = [&](double side, double length) {
        return 1 + static_cast<int>(std::min(1e6, length / side));
    };
    double length[3];
    for (std::size_t c = 0; c < 3; ++c) length[c] = static_cast<double>(extent.hi[c] - extent.lo[c]);
    double height = width / kBinsOfWidth;
    const auto all_bins = [&] {
        return 1.0 * bins(width, length[0]) * bins(width, length[1]) * bins(height, length[2]);
    };
    while (all_bins() > 8.0 * static_cast<double>(places.size()) + 64) width *= 1.25, height *= 1.25;
    for (std::size_t c = 0; c < 3; ++c) {
        side_[c] = static_cast<float>(c < 2 ? width : height);
        bins_[c] = bins(c < 2 ? width : height, length[c]);
        lowest_[c] = extent.lo[c];
    }
}

/// Slots get their atoms bin by bin, in the order of the walk; room().sorted has the places of these.
void Clusters::walk(const std::vector<Place>& places, std::span<const std::int32_t> atoms) {
    const std::size_t n = atoms.size();
    std::vector<std::int32_t>& bin = room().bin;
    bin.resize(n);
    begin_.assign(static_cast<std::size_t>(bins_[0]) * bins_[1] * bins_[2] + 1, 0);
    for (std::size_t k = 0; k < n; ++k) {
        int at[3];
        for (std::size_t c = 0; c < 3; ++c)
            at[c] = std::min(bins_[c] - 1, static_cast<int>((places[k][c] - lowest_[c]) / side_[c]));
        if (at[0] % 2 == 1) at[1] = bins_[1] - 1 - at[1];
        const int column = at[0] * bins_[1] + at[1];
        if (column % 2 == 1) at[2] = bins_[2] - 1 - at[2];
        bin[k] = column * bins_[2] + at[2];
        ++begin_[static_cast<std::size_t>(bin[k]) + 1];
    }
    for (std::size_t b = 1; b < begin_.size(); ++b) begin_[b] += begin_[b - 1];
    std::vector<std::int32_t>& next = room().next;
    next.assign(begin_.begin(), begin_.end() - 1);
    std::vector<Place>& sorted = room().sorted;
    sorted.resize(n);
    for (std::size_t k = 0; k < n; ++k) {
        const auto slot = static_cast<std::size_t>(next[static_cast<std::size_t>(bin[k])]++);
        atoms_[slot] = atoms[k], sorted[slot] = places[k];
    }
}

/// The box of each cluster, from the places of its atoms.
void Clusters::find_boxes(const std::vector<Place>& sorted) {
    const auto clusters = static_cast<std::size_t>(count_);
    constexpr float kNowhere = 1e30F;  // a cluster without an atom is near nothing
    for (std::size_t c = 0; c < 3; ++c) {
        lo_[c].assign(clusters + 16, kNowhere), hi_[c].assign(clusters + 16, kNowhere);
        for (std::size_t k = 0; k < clusters; ++k) {
            if (kCluster * k >= sorted.size()) break;
            float lo = sorted[kCluster * k][c], hi = lo;
            for (std::size_t s = kCluster * k + 1; s < std::min(sorted.size(), kCluster * (k + 1)); ++s)
                lo = std::min(lo, sorted[s][c]), hi = std::max(hi, sorted[s][c]);
            lo_[c][k] = lo, hi_[c][k] = hi;
        }
    }
}

std::uint32_t* Clusters::test(const Box& box, float square, std::int32_t begin, std::int32_t end,
                              std::uint32_t plus, std::uint32_t* found) const {
#ifdef __AVX512F__
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    for (std::int32_t k = begin; k < end; k += 16) {
        __m512 sum = _mm512_setzero_ps();
        for (std::size_t c = 0; c < 3; ++c) {
            const __m512 below = _mm512_sub_ps(_mm512_set1_ps(box.lo[c]), _mm512_loadu_ps(&hi_[c][k]));
            const __m512 above = _mm512_sub_ps(_mm512_loadu_ps(&lo_[c][k]), _mm512_set1_ps(box.hi[c]));
            const __m512 d = _mm512_max_ps(_mm512_max_ps(below, above), _mm512_setzero_ps());
            sum = _mm512_add_ps(sum, _mm512_mul_ps(d, d));
        }
        __mmask16 yes = _mm512_cmplt_ps_mask(sum, _mm512_set1_ps(square));
        if (end - k < 16) yes &= static_cast<__mmask16>((1U << (end - k)) - 1);
        const __m512i number = _mm512_add_epi32(lanes, _mm512_set1_epi32(k + static_cast<int>(plus)));
        const __m512i entry = _mm512_or_epi32(_mm512_slli_epi32(number, kCouples), _mm512_set1_epi32(kAll));
        _mm512_storeu_si512(found, _mm512_maskz_compress_epi32(yes, entry));
        found += __builtin_popcount(yes);
    }
#else
    for (std::int32_t k = begin; k < end; ++k) {
        float sum = 0;
        for (std::size_t c = 0; c < 3; ++c) {
            const float below = box.lo[c] - hi_[c][static_cast<std::size_t>(k)];
            const float above = lo_[c][static_cast<std::size_t>(k)] - box.hi[c];
            const float d = std::max(std::max(below, above), 0.0F);
            sum += d * d;
        }
        *found = (static_cast<std::uint32_t>(k) + plus) * kWhich + kAll;
        found += sum < square ? 1 : 0;
    }
#endif
    return found;
}

std::uint32_t* Clusters::near(const Box& box, float reach, std::int32_t first, std::uint32_t plus,
                              std::uint32_t* found) const {
    if (count_ == 0) return found;
    int from[3], to[3];
    for (std::size_t c = 0; c < 2; ++c) {
        const auto bin = [&](float at) {
            return static_cast<int>(std::floor(std::clamp((at - lowest_[c]) / side_[c], -2.0F, 2e6F)));
        };
        from[c] = std::max(0, bin(box.lo[c] - reach));
        to[c] = std::min(bins_[c] - 1, bin(box.hi[c] + reach));
    }
    // How far a column is away from the box.
    const auto gap = [&](std::size_t c, int at) {
        const float low = lowest_[c] + static_cast<float>(at) * side_[c], high = low + side_[c];
        return std::max({0.0F, low - box.hi[c], box.lo[c] - high});
    };
    std::int32_t next = first;
    for (int i = from[0]; i <= to[0]; ++i) {
        const float apart_x = gap(0, i);
        for (int k = from[1]; k <= to[1]; ++k) {
            const int j = i % 2 == 1 ? to[1] + from[1] - k : k;  // in the order of the walk
            const int column = i * bins_[1] + (i % 2 == 1 ? bins_[1] - 1 - j : j);
            const auto bin = static_cast<std::size_t>(column) * static_cast<std::size_t>(bins_[2]);
            if (begin_[bin + static_cast<std::size_t>(bins_[2])] <= kCluster * next) continue;
            const float apart_y = gap(1, j);
            // The edges of bins and of boxes are rounded apart.
            const float left = reach * reach * 1.0001F - apart_x * apart_x - apart_y * apart_y;
            if (left <= 0) continue;
            const float high = std::sqrt(left);
            const auto level = [&](float at) {
                return static_cast<int>(std::clamp((at - lowest_[2]) / side_[2], -1.0F, 2e6F));
            };
            int low_bin = std::max(0, level(box.lo[2] - high) - 1);
            int high_bin = std::min(bins_[2] - 1, level(box.hi[2] + high) + 1);
            if (column % 2 == 1) {
                std::swap(low_bin, high_bin);
                low_bin = bins_[2] - 1 - low_bin, high_bin = bins_[2] - 1 - high_bin;
            }
            if (low_bin > high_bin) continue;
            const std::int32_t begin = begin_[bin + static_cast<std::size_t>(low_bin)];
            const std::int32_t end = begin_[bin + static_cast<std::size_t>(high_bin) + 1];
            if (begin == end) continue;
            const std::int32_t behind = (end - 1) / kCluster + 1;
            next = std::max(next, begin / kCluster);
            if (next < behind) found = test(box, reach * reach, next, behind, plus, found);
            next = std::max(next, behind);
        }
    }
    return found;
}

void Clusters::keep_atoms(const Clusters& of) {
    refit(atoms_, of.atoms_.size());
    std::copy(of.atoms_.begin(), of.atoms_.end(), atoms_.begin());
    count_ = of.count_;
}

std::size_t Clusters::bytes() const {
    std::size_t sum = (atoms_.capacity() + begin_.capacity()) * sizeof(std::int32_t);
    for (std::size_t c = 0; c < 3; ++c) sum += (lo_[c].capacity() + hi_[c].capacity()) * sizeof(float);
    return sum;
}

}  // namespace strata::md
