#include "benchmarks/npb/mg/cycle.hpp"

#include <algorithm>
#include <cmath>

namespace strata::npb::mg {
namespace {

std::size_t window_plane(std::int64_t n) {
    return static_cast<std::size_t>(Field::layer_of(n, n)) + 2 * static_cast<std::size_t>(Field::kLine);
}

/// u = u + C r on a whole plane.
void smooth_plane(const Field& r, const Field& u, std::int64_t z, const Weights& c, bool fresh,
                  Scratch scratch) {
    const Slab here = slab(r, z);
    const Plane to = u.plane(z);
    smooth(here, to, c, fresh, u.nx, {0, u.ny}, scratch, {soon(to), soon(here.below)});
}

}  // namespace

std::uint64_t Cycle::window_bytes(std::int64_t n, std::int64_t planes, int workers) {
    return (static_cast<std::uint64_t>(kWindow * workers + 2) * window_plane(n) +
            static_cast<std::uint64_t>(planes * kEdgeRows * Field::row_of(n))) *
           sizeof(double);
}

Cycle::Cycle(Levels& levels, Break fault) : levels_(levels), group_(levels.group()), fault_(fault) {
    const Level& finest = levels.level(levels.finest());
    if (!finest.swept) return;
    window_plane_ = window_plane(finest.n);
    window_ = group_.array<double>("window",
                                   window_bytes(finest.n, finest.u.nz, group_.workers()) / sizeof(double));
}

Plane Cycle::kept(int k, std::int64_t i) const {
    const std::ptrdiff_t row = Field::row_of(levels_.level(k).n);
    return {window_.data() + static_cast<std::size_t>(i) * window_plane_ + row + Field::kLine, row};
}

Plane Cycle::edge_rows(int k, std::int64_t z, std::int64_t first) const {
    const std::ptrdiff_t row = Field::row_of(levels_.level(k).n);
    double* const behind_planes =
        window_.data() + static_cast<std::size_t>(kWindow * group_.workers() + 2) * window_plane_;
    return {behind_planes + (z * kEdgeRows + first) * row + Field::kLine, row};
}

std::span<double> Cycle::memory(int k, Plane plane) const {
    const std::int64_t n = levels_.level(k).n;
    return {plane.at(-1) - 1, static_cast<std::size_t>(plane.row * (n + 1) + n + 2)};
}

void Cycle::run(bool another) {
    for (int k = levels_.finest(); k > 1; --k) down(k);
    bottom();
    for (int k = 2; k <= levels_.finest(); ++k) up(k, another && k == levels_.finest());
}

void Cycle::down(int k) {
    Level& l = levels_.level(k);
    if (k == levels_.finest() && l.swept) {
        residual_and_restrict();
    } else {
        if (k == levels_.finest()) {
            group_.each([&](int worker, int workers) {
                const Share part(l.u.nz, worker, workers);
                for (std::int64_t z = part.begin; z < part.end; ++z)
                    residual_of_plane(l.u, levels_.v(), z, l.r.plane(z), levels_.scratch(worker));
            });
            levels_.halo(k).exchange(l.r, group_);
        }
        restrict_from(k, l.r);
    }
    const Field& coarse = levels_.level(k - 1).r;
    levels_.unite(k, coarse);
    levels_.halo(k - 1).exchange(coarse, group_);
}

void Cycle::restrict_from(int k, const Field& r) {
    const Field coarse = levels_.coarse_part(k, levels_.level(k - 1).r);
    group_.each([&](int worker, int workers) {
        const Share part(coarse.nz, worker, workers);
        for (std::int64_t z = part.begin; z < part.end; ++z)
            restrict(slab(r, 2 * z + 1), coarse.plane(z), coarse.nx, {0, coarse.ny}, levels_.scratch(worker));
    });
}

void Cycle::bottom() {
    Level& l = levels_.level(1);
    group_.once([&] {
        for (std::int64_t z = 0; z < l.u.nz; ++z)
            smooth_plane(l.r, l.u, z, levels_.smoother(), true, levels_.scratch(0));
    });
    levels_.halo(1).exchange(l.u, group_);
}

void Cycle::up(int k, bool another) {
    Level& l = levels_.level(k);
    if (l.swept)
        sweep_up(k, another && fault_ == Break::none);
    else
        pass_up(k);
    // What a broken kernel does: the correction is lost, or one point of it is a little wrong.
    if (fault_ != Break::none && k == levels_.finest() && group_.rank() == 0)
        group_.once([&] { l.u.at(1, 1, 1) *= fault_ == Break::skip ? 0 : 1 + 1e-3; });
    if (l.swept)
        levels_.halo(k).exchange_planes(l.u, group_);
    else
        levels_.halo(k).exchange(l.u, group_);
}

void Cycle::pass_up(int k) {
    Level& l = levels_.level(k);
    const bool finest = k == levels_.finest();
    const Field w = levels_.coarse_part(k, levels_.level(k - 1).u);
    const Field& v = finest ? levels_.v() : l.r;
    const auto planes = [&](std::int64_t first, std::int64_t count, auto&& what) {
        group_.each([&](int worker, int workers) {
            const Share part(count, worker, workers);
            for (std::int64_t z = first + part.begin; z < first + part.end; ++z)
                what(z, levels_.scratch(worker));
        });
    };
    // Values around the block come with the interpolation, as the coarse grid has them.
    planes(-1, l.u.nz + 2, [&](std::int64_t z, Scratch scratch) {
        prolong(w, l.u.plane(z), z, !finest, l.u.nx, {-1, l.u.ny + 1}, scratch);
    });
    planes(0, l.u.nz,
           [&](std::int64_t z, Scratch scratch) { residual_of_plane(l.u, v, z, l.r.plane(z), scratch); });
    levels_.halo(k).exchange(l.r, group_);
    planes(0, l.u.nz, [&](std::int64_t z, Scratch scratch) {
        smooth_plane(l.r, l.u, z, levels_.smoother(), false, scratch);
    });
}

double Cycle::norm() {
    const Level& l = levels_.level(levels_.finest());
    const double sum = group_.sum_each<1>([&](int worker, int workers) {
        const Share part(l.u.nz, worker, workers);
        double total = 0;
        for (std::int64_t z = part.begin; z < part.end; ++z) {
            const Plane r = l.swept ? window(levels_.finest(), worker, 0) : l.r.plane(z);
            residual_of_plane(l.u, levels_.v(), z, r, levels_.scratch(worker));
            total += squares(r, l.u.nx, l.u.ny);
        }
        return std::array{total};
    })[0];
    const auto n = static_cast<double>(l.n);
    return std::sqrt(sum / (n * n * n));
}

double Cycle::bytes(int cycles) {
    // In arrays of the level's size, a store counted once. Swept: up u is read and written (on coarser grids
    // written) and v read; u and v of the finest grid are read on the way down by the first cycle alone. Pass
    // by pass the residual is stored and read again, and u once more read and written.
    double total = 0;
    for (int k = 2; k <= levels_.finest(); ++k) {
        const Level& l = levels_.level(k);
        const bool finest = k == levels_.finest();
        const double down = !finest ? 1 : l.swept ? 2.0 / cycles : 4;
        const double up = (finest ? 2 : 1) + (l.swept ? 1 : 6);
        const double coarse = 2.0 / 8;  // what the coarser grid gets and gives
        total += 8.0 * static_cast<double>(l.u.nx * l.u.ny * l.u.nz) * group_.size() * (down + up + coarse);
    }
    return total * cycles;
}

double Cycle::compulsory_bytes(int cycles) {
    double total = 0;
    for (int k = 1; k <= levels_.finest(); ++k) {
        const double arrays = k == levels_.finest() ? 3 : 2;
        total += arrays * 8.0 * std::pow(8.0, k);  // 2^k points in each direction
    }
    return total * cycles;
}

}  // namespace strata::npb::mg
