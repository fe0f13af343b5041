#include "benchmarks/npb/mz/zones.hpp"

#include <cmath>

namespace strata::npb::mz {
namespace {

struct Size {
    Index points;
    int zones;  // of BT and SP in each direction
};

constexpr Size kSizes[] = {{{24, 24, 6}, 2},       {{64, 64, 8}, 4},         {{128, 128, 16}, 4},
                           {{304, 208, 17}, 8},    {{480, 320, 28}, 16},     {{1632, 1216, 34}, 32},
                           {{4224, 3456, 92}, 64}, {{12032, 8960, 250}, 128}};
constexpr int kZonesOfLu = 4;  // in each direction, in every class

}  // namespace

std::size_t Zones::neighbour(std::size_t zone, std::size_t side) const {
    const std::size_t nx = widths.size(), ny = depths.size();
    std::size_t x = zone % nx, y = zone / nx;
    if (side == 0) x = (x + nx - 1) % nx;
    if (side == 1) x = (x + 1) % nx;
    if (side == 2) y = (y + ny - 1) % ny;
    if (side == 3) y = (y + 1) % ny;
    return y * nx + x;
}

std::vector<std::int64_t> even_widths(std::int64_t n, int parts) {
    std::vector<std::int64_t> widths;
    for (int i = 0; i < parts; ++i) widths.push_back((i + 1) * n / parts - i * n / parts);
    return widths;
}

std::vector<std::int64_t> growing_widths(std::int64_t n, int parts, double ratio) {
    const double r = std::exp(std::log(ratio) / (parts - 1));
    std::vector<std::int64_t> widths;
    std::int64_t begin = 0;
    for (int i = 1; i <= parts; ++i) {
        const double end = static_cast<double>(n) * (std::pow(r, i) - 1) / (std::pow(r, parts) - 1);
        widths.push_back(static_cast<std::int64_t>(end + 0.45) - begin);
        begin += widths.back();
    }
    return widths;
}

Zones zones_of(Kind kind, Class size) {
    const auto& [points, across] = kSizes[index(size)];
    const int zones = kind == Kind::lu ? kZonesOfLu : across;
    Zones all{points, even_widths(points[0], zones), even_widths(points[1], zones), {}};
    if (kind == Kind::bt) {
        const double ratio = size == Class::S ? 3.0 : 4.5;
        all.widths = growing_widths(points[0], zones, ratio);
        all.depths = growing_widths(points[1], zones, ratio);
    }
    // The mean spacing serves all zones, so that an uneven one begins at 0 and does not end at 1. LU's zones
    // span the unit cube.
    if (kind == Kind::lu)
        all.scale = flow::scale_of({all.widths.front(), all.depths.front(), points[2]});
    else
        all.scale = {static_cast<double>(points[0] - 1) / zones, static_cast<double>(points[1] - 1) / zones,
                     static_cast<double>(points[2] - 1)};
    return all;
}

}  // namespace strata::npb::mz
