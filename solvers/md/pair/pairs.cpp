#include "solvers/md/pair/pairs.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "solvers/md/pair/packed.hpp"
#include "solvers/md/pair/refit.hpp"

namespace strata::md {

namespace {

/// What only a rebuild or a pruning needs, of each thread; patches keep what is left, in memory of little
/// more than its length.
struct Room {
    std::vector<std::uint32_t> entries;
    std::vector<std::int32_t> own, halo;  // atoms
    Clusters own_clusters, halo_clusters;
};
Room& room() {
    static thread_local Room mine;
    return mine;
}

/// Of each entry two rows of lanes: writes the entries that have some, near to the couples that have them.
/// Returns how many. There is room for sixteen more, here and in `lanes`.
std::size_t keep(std::span<const std::uint32_t> entries, const std::uint16_t* lanes, std::uint32_t* kept) {
    std::uint32_t* to = kept;
#if defined(__AVX512F__) && defined(__AVX512BW__)
    for (std::size_t k = 0; k < entries.size(); k += 16) {
        const std::size_t left = entries.size() - k;
        const auto there = static_cast<__mmask16>(left < 16 ? (1U << left) - 1 : 0xffffU);
        const __m512i bytes = _mm512_maskz_loadu_epi32(there, lanes + 2 * k);
        // A bit for each byte that is not 0, and their sum.
        const __m512i bits =
            _mm512_maskz_mov_epi8(_mm512_test_epi8_mask(bytes, bytes), _mm512_set1_epi32(0x08040201));
        const __m512i which =
            _mm512_madd_epi16(_mm512_maddubs_epi16(bits, _mm512_set1_epi8(1)), _mm512_set1_epi16(1));
        const __m512i cluster =
            _mm512_andnot_si512(_mm512_set1_epi32(kAll), _mm512_maskz_loadu_epi32(there, entries.data() + k));
        const __mmask16 yes = _mm512_test_epi32_mask(which, which);
        _mm512_storeu_si512(to, _mm512_maskz_compress_epi32(yes, _mm512_or_si512(cluster, which)));
        to += __builtin_popcount(yes);
    }
#else
    for (std::size_t k = 0; k < entries.size(); ++k) {
        std::uint32_t which = 0;
        for (std::uint32_t couple = 0; couple < kCouples; ++couple)
            which |= (lanes[2 * k + couple / 2] >> couple % 2 * 8 & 0xff) != 0 ? 1U << couple : 0U;
        *to = (entries[k] & ~kAll) | which;
        to += which != 0 ? 1 : 0;
    }
#endif
    return static_cast<std::size_t>(to - kept);
}

}  // namespace

void Pairs::build(const Sight& sight, std::span<const std::uint8_t> counts, double reach) {
    auto& [entries, own, halo, own_clusters, halo_clusters] = room();
    own.resize(static_cast<std::size_t>(sight.own)), halo.clear();
    std::iota(own.begin(), own.end(), 0);
    for (std::size_t k = 0; k < counts.size(); ++k)
        if (counts[k] != 0) halo.push_back(static_cast<std::int32_t>(own.size() + k));

    double widest = 0;
    for (std::size_t c = 0; c < 3; ++c) {
        double lo = own.empty() ? 0 : sight.x[c][0], hi = lo;
        for (const auto* atoms : {&own, &halo})
            for (const std::int32_t i : *atoms)
                lo = std::min(lo, sight.x[c][i]), hi = std::max(hi, sight.x[c][i]);
        origin_[c] = (lo + hi) / 2;
        widest = std::max(widest, hi - lo);
        if (!sight.scattered || own.empty()) continue;
        // Positions in float are exact where most atoms are.
        std::vector<double> along(sight.x[c], sight.x[c] + own.size());
        const auto middle = along.begin() + static_cast<std::ptrdiff_t>(own.size() / 2);
        std::nth_element(along.begin(), middle, along.end());
        origin_[c] = *middle;
    }
    away_ = 16 * (widest + reach);
    // What the distance of two positions in float may be wrong by.
    rounding_ = 0x1p-21 * (widest + reach);
    own_clusters.sort(sight.x, own, origin_, kPair);
    halo_clusters.sort(sight.x, halo, origin_, kCluster);
    own_.keep_atoms(own_clusters), halo_.keep_atoms(halo_clusters);

    const auto eights = static_cast<std::size_t>(own_.count() / 2);
    const auto behind_own = static_cast<std::uint32_t>(own_.count());
    const float far = static_cast<float>(reach + rounding_);
    outer_.begin.assign(1, 0);
    outer_.begin.reserve(eights + 1);
    std::size_t count = 0;
    const std::size_t most = behind_own + static_cast<std::size_t>(halo_.count()) + 32;
    for (std::size_t eight = 0; eight < eights; ++eight) {
        // Most have far fewer than all, but room is made for all.
        if (count + most > entries.size())
            entries.resize(std::max({count + most, entries.size() + entries.size() / 4, 24 * eights}));
        const auto first = static_cast<std::int32_t>(2 * eight);
        Clusters::Box box = own_clusters.box(first);
        const Clusters::Box second = own_clusters.box(first + 1);
        if (second.lo[0] < 1e29F)
            for (int c = 0; c < 3; ++c)
                box.lo[c] = std::min(box.lo[c], second.lo[c]), box.hi[c] = std::max(box.hi[c], second.hi[c]);
        std::uint32_t* const begin = entries.data() + count;
        std::uint32_t* end = own_clusters.near(box, far, first + 2, 0, begin);
        end = halo_clusters.near(box, far, 0, behind_own, end);
        count += static_cast<std::size_t>(end - begin);
        outer_.begin.push_back(static_cast<std::uint32_t>(count));
    }
    refit(outer_.entries, count);
    std::copy_n(entries.data(), count, outer_.entries.data());
    pruned_ = false;
}

void Pairs::prune(const Sight& sight, double inner) {
    const float* const x = pack<float>(*this, sight);
    const double far = inner + rounding_;
    const Wide<float> square(static_cast<float>(far * far));
    inner_.begin.assign(1, 0);
    std::vector<std::uint32_t>& kept = room().entries;
    if (kept.size() < outer_.entries.size() + 16) kept.resize(outer_.entries.size() + 16);
    static thread_local std::vector<std::uint16_t> lanes;
    std::size_t count = 0;
    for (std::size_t eight = 0; eight + 1 < outer_.begin.size(); ++eight) {
        Wide<float> at[2][3];
        for (std::size_t row = 0; row < 2; ++row)
            for (std::size_t c = 0; c < 3; ++c)
                at[row][c] = each(x + (2 * eight + row) * kPerCluster + 4 * c);
        const std::span<const std::uint32_t> entries = outer_.of(eight);
        if (lanes.size() < 2 * entries.size() + 32) lanes.resize(2 * entries.size() + 32);
        std::uint16_t* lane = lanes.data();
        for (const std::uint32_t entry : entries) {
            const float* const other = x + entry / kWhich * kPerCluster;
            const Wide<float> u[3] = {spread(other), spread(other + 4), spread(other + 8)};
            for (std::size_t row = 0; row < 2; ++row) {
                const Wide<float> dx = at[row][0] - u[0], dy = at[row][1] - u[1], dz = at[row][2] - u[2];
                *lane++ = lanes_within(fma(dz, dz, fma(dy, dy, dx * dx)), square);
            }
        }
        count += keep(entries, lanes.data(), kept.data() + count);
        inner_.begin.push_back(static_cast<std::uint32_t>(count));
    }
    refit(inner_.entries, count);
    std::copy_n(kept.data(), count, inner_.entries.data());
    pruned_ = true;
}

std::size_t Pairs::bytes() const {
    std::size_t sum = own_.bytes() + halo_.bytes();
    for (const List* list : {&outer_, &inner_})
        sum += (list->entries.capacity() + list->begin.capacity()) * sizeof(std::uint32_t);
    return sum;
}

}  // namespace strata::md
