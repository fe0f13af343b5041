#include "core/balance/space_curve.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace strata::balance {
namespace {

constexpr int kBits = 21;  // three coordinates fit in one word

/// The end of each chunk when each process takes as much as it can within `limit`. `reached`: if all fits,
/// the longest time; else the smallest limit for which the probe would differ.
struct Probe {
    bool fits;
    double reached;
    std::vector<size_t> ends;
};

Probe probe(const std::vector<double>& sums, std::span<const double> speeds, double limit) {
    Probe result{false, 0, {}};
    const size_t n = sums.size() - 1;
    double next = INFINITY;
    size_t begin = 0;
    for (const double speed : speeds) {
        // The same expression as for a chunk's time, so that a reached limit is reached again.
        const auto fits = [&](double sum) { return (sum - sums[begin]) / speed <= limit; };
        const auto from = sums.begin() + static_cast<long>(begin) + 1;
        const auto end = static_cast<size_t>(std::partition_point(from, sums.end(), fits) - sums.begin()) - 1;
        result.reached = std::max(result.reached, (sums[end] - sums[begin]) / speed);
        if (end < n) next = std::min(next, (sums[end + 1] - sums[begin]) / speed);
        result.ends.push_back(end);
        begin = end;
    }
    result.fits = begin == n;
    if (!result.fits) result.reached = next;
    return result;
}

}  // namespace

std::uint64_t hilbert_place(std::array<std::uint32_t, 3> cell) {
    constexpr std::uint32_t top = 1U << (kBits - 1);
    for (std::uint32_t bit = top; bit > 1; bit >>= 1) {
        const std::uint32_t below = bit - 1;
        for (std::uint32_t& axis : cell) {
            if ((axis & bit) != 0) {
                cell[0] ^= below;
            } else {
                const std::uint32_t change = (cell[0] ^ axis) & below;
                cell[0] ^= change;
                axis ^= change;
            }
        }
    }
    cell[1] ^= cell[0];
    cell[2] ^= cell[1];
    std::uint32_t flip = 0;
    for (std::uint32_t bit = top; bit > 1; bit >>= 1)
        if ((cell[2] & bit) != 0) flip ^= bit - 1;
    for (std::uint32_t& axis : cell) axis ^= flip;

    std::uint64_t place = 0;
    for (int bit = kBits - 1; bit >= 0; --bit)
        for (const std::uint32_t axis : cell) place = place << 1 | ((axis >> bit) & 1U);
    return place;
}

std::vector<int> hilbert_order(std::span<const Point> points) {
    Point low{INFINITY, INFINITY, INFINITY}, high{-INFINITY, -INFINITY, -INFINITY};
    for (const Point& point : points) {
        for (size_t d = 0; d < 3; ++d) {
            low[d] = std::min(low[d], point[d]);
            high[d] = std::max(high[d], point[d]);
        }
    }
    // One scale for all axes: cells are cubes, so that points near on the curve are near in space.
    double side = 0;
    for (size_t d = 0; d < 3; ++d) side = std::max(side, high[d] - low[d]);
    const double scale = side > 0 ? ((1U << kBits) - 1) / side : 0;
    std::vector<std::uint64_t> places;
    places.reserve(points.size());
    for (const Point& point : points) {
        std::array<std::uint32_t, 3> cell{};
        for (size_t d = 0; d < 3; ++d) cell[d] = static_cast<std::uint32_t>((point[d] - low[d]) * scale);
        places.push_back(hilbert_place(cell));
    }
    std::vector<int> order(points.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
        return places[static_cast<size_t>(a)] < places[static_cast<size_t>(b)];
    });
    return order;
}

Owners split_sequence(std::span<const double> costs, std::span<const double> speeds) {
    std::vector<double> sums(costs.size() + 1, 0.0);
    std::partial_sum(costs.begin(), costs.end(), sums.begin() + 1);
    const double fastest = *std::max_element(speeds.begin(), speeds.end());
    // All costs on one process always fit; below the mean they never do. Each probe moves one end of the
    // interval to the time of a possible chunk. There are finitely many of these, so the ends meet.
    double low = sums.back() / std::accumulate(speeds.begin(), speeds.end(), 0.0) * (1 - 1e-9);
    double high = sums.back() / fastest;
    Probe best = probe(sums, speeds, high);
    if (best.fits) high = best.reached;
    while (low < high) {
        const double middle = 0.5 * (low + high);
        Probe now = probe(sums, speeds, middle > low && middle < high ? middle : low);
        if (now.fits) {
            high = now.reached;
            best = std::move(now);
        } else {
            low = std::max(std::nextafter(low, INFINITY), now.reached);
        }
    }
    Owners owners(costs.size(), 0);
    size_t begin = 0;
    for (size_t p = 0; p < speeds.size(); ++p)
        for (; begin < best.ends[p]; ++begin) owners[begin] = static_cast<int>(p);
    return owners;
}

}  // namespace strata::balance
