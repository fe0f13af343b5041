#include "benchmarks/npb/lu/integral.hpp"

namespace strata::npb::lu {

void add_plane(const flow::Cell& cell, std::int64_t z, FaceSums& sum) {
    const flow::Tile& t = cell.tile;
    // The box: 1 to n - 2 along x, 1 to n - 3 along y, 2 to n - 2 along z.
    const flow::Index low = {1, 1, 2}, high = {t.n[0] - 2, t.n[1] - 3, t.n[2] - 2};
    for (std::int64_t y = 0; y < t.size[1]; ++y)
        for (std::int64_t x = 0; x < t.size[0]; ++x) {
            const flow::Index at = {t.begin[0] + x, t.begin[1] + y, t.begin[2] + z};
            std::array<double, 3> weight{};  // of how many intervals it is an end
            bool within = true;
            for (std::size_t d = 0; d < 3; ++d) {
                within = within && at[d] >= low[d] && at[d] <= high[d];
                weight[d] = at[d] == low[d] || at[d] == high[d] ? 1 : 2;
            }
            if (!within) continue;
            const auto u = [&](int m) { return cell.u.at(m, x, y, z); };
            const double pressure =
                flow::k2 * (u(4) - 0.5 * (u(1) * u(1) + u(2) * u(2) + u(3) * u(3)) / u(0));
            for (std::size_t d = 0; d < 3; ++d)
                if (weight[d] == 1) sum[d] += pressure * weight[(d + 1) % 3] * weight[(d + 2) % 3];
        }
}

double integral_of(const FaceSums& sums, const flow::Scale& scale) {
    double total = 0;
    for (std::size_t d = 0; d < 3; ++d) total += sums[d] / (scale[(d + 1) % 3] * scale[(d + 2) % 3]);
    return 0.25 * total;
}

double surface_integral(const flow::Cells& cells) {
    const FaceSums sums = cells.group().sum_each<3>([&](int worker, int workers) {
        FaceSums sum{};
        for (const flow::Cell& cell : cells.cells()) {
            const Share own(cell.tile.size[2], worker, workers);
            for (std::int64_t z = own.begin; z < own.end; ++z) add_plane(cell, z, sum);
        }
        return sum;
    });
    return integral_of(sums, cells.cells().front().tile.scale);
}

}  // namespace strata::npb::lu
