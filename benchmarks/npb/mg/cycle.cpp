#include "benchmarks/npb/mg/cycle.hpp"

#include <algorithm>
#include <cmath>

namespace strata::npb::mg {
namespace {

/// Rows that are worked on together: of as many planes as an operator needs they fit into the second cache.
constexpr std::int64_t kStrip = 16;

std::size_t window_plane(std::int64_t n) {
    return static_cast<std::size_t>(Field::layer_of(n, n)) + 2 * static_cast<std::size_t>(Field::kLine);
}

}  // namespace

std::uint64_t Cycle::window_bytes(std::int64_t n, int workers) {
    return static_cast<std::uint64_t>(kWindow * workers + 2) * window_plane(n) * sizeof(double);
}

Cycle::Cycle(Levels& levels, Break fault) : levels_(levels), group_(levels.group()), fault_(fault) {
    const Level& finest = levels.level(levels.finest());
    if (!finest.swept) return;
    window_plane_ = window_plane(finest.n);
    window_ = group_.array<double>("window", window_bytes(finest.n, group_.workers()) / sizeof(double));
}

Plane Cycle::kept(int k, std::int64_t i) const {
    const std::ptrdiff_t row = Field::row_of(levels_.level(k).n);
    return {window_.data() + static_cast<std::size_t>(i) * window_plane_ + row + Field::kLine, row};
}

std::span<double> Cycle::memory(int k, Plane plane) const {
    const std::int64_t n = levels_.level(k).n;
    return {plane.at(-1) - 1, static_cast<std::size_t>(plane.row * (n + 1) + n + 2)};
}

void Cycle::run() {
    for (int k = levels_.finest(); k > 1; --k) down(k);
    bottom();
    for (int k = 2; k <= levels_.finest(); ++k) up(k);
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
                    residual(slab(l.u, z), levels_.v().plane(z), l.r.plane(z), l.u.nx, {0, l.u.ny},
                             levels_.scratch(worker));
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

void Cycle::residual_and_restrict() {
    const int k = levels_.finest();
    const Field &u = levels_.level(k).u, &v = levels_.v();
    const Field coarse = levels_.coarse_part(k, levels_.level(k - 1).r);
    // The last coarse plane also needs the fine one behind it: the first of the process above.
    const bool others = levels_.halo(k).meets_others();
    if (others) {
        const Plane first = window(k, 0, kFirst);
        group_.each_part_of(u.ny, [&](std::int64_t begin, std::int64_t end, int worker) {
            residual(slab(u, 0), v.plane(0), first, u.nx, {begin, end}, levels_.scratch(worker));
        });
        group_.once([&] { wrap(first, u.nx, u.ny); });
        levels_.halo(k).exchange_planes(memory(k, first), {}, {}, memory(k, from_above(k)), group_);
    }
    group_.each([&](int worker, int workers) {
        const Share part(coarse.nz, worker, workers);
        const Scratch scratch = levels_.scratch(worker);
        for (std::int64_t y = 0; y < coarse.ny; y += kStrip) {
            // Down a strip of rows, whose planes stay in the cache. A worker's last coarse plane and a
            // strip's last coarse row also need the fine one behind them, which is computed for itself.
            const Rows rows{y, std::min(y + kStrip, coarse.ny)};
            const Rows fine{2 * rows.begin, std::min(2 * rows.end + 1, u.ny)};
            const auto make = [&](std::int64_t z) {
                if (others && z == u.nz) return from_above(k);
                const Plane r = window(k, worker, z % 3);
                const Slab here = slab(u, z % u.nz);
                residual(here, v.plane(z % u.nz), r, u.nx, fine, scratch);
                if (2 * rows.end == u.ny)
                    residual(here, v.plane(z % u.nz), {r.at(u.ny), r.row}, u.nx, {0, 1}, scratch);
                wrap_ends(r, u.nx, {fine.begin, 2 * rows.end + 1});
                return r;
            };
            if (part.begin == part.end) continue;
            Plane below = make(2 * part.begin);
            for (std::int64_t z = part.begin; z < part.end; ++z) {
                const Plane here = make(2 * z + 1), above = make(2 * z + 2);
                restrict({below, here, above}, coarse.plane(z), coarse.nx, rows, scratch);
                below = above;
            }
        }
    });
}

void Cycle::bottom() {
    Level& l = levels_.level(1);
    group_.once([&] {
        for (std::int64_t z = 0; z < l.u.nz; ++z)
            smooth(slab(l.r, z), l.u.plane(z), levels_.smoother(), true, l.u.nx, {0, l.u.ny},
                   levels_.scratch(0));
    });
    levels_.halo(1).exchange(l.u, group_);
}

void Cycle::up(int k) {
    Level& l = levels_.level(k);
    if (l.swept)
        sweep_up(k);
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
    planes(0, l.u.nz, [&](std::int64_t z, Scratch scratch) {
        residual(slab(l.u, z), v.plane(z), l.r.plane(z), l.u.nx, {0, l.u.ny}, scratch);
    });
    levels_.halo(k).exchange(l.r, group_);
    planes(0, l.u.nz, [&](std::int64_t z, Scratch scratch) {
        smooth(slab(l.r, z), l.u.plane(z), levels_.smoother(), false, l.u.nx, {0, l.u.ny}, scratch);
    });
}

void Cycle::sweep_up(int k) {
    Level& l = levels_.level(k);
    const bool finest = k == levels_.finest();
    const Field w = levels_.coarse_part(k, levels_.level(k - 1).u);
    const Field &u = l.u, &v = finest ? levels_.v() : l.r;
    const std::int64_t nx = u.nx, ny = u.ny;
    const bool others = levels_.halo(k).meets_others();
    const auto interpolate = [&](std::int64_t z, Scratch scratch) {
        prolong(w, u.plane(z), z, !finest, nx, {-1, ny + 1}, scratch);
    };
    const auto residual_into = [&](Plane r, std::int64_t z, Scratch scratch) {
        residual(slab(u, z), v.plane(z), r, nx, {0, ny}, scratch);
        wrap(r, nx, ny);
    };
    // First what neighbours need: the two planes at either end of each worker's part, then the residual
    // there.
    group_.each([&](int worker, int workers) {
        const Share part(u.nz, worker, workers);
        const Scratch scratch = levels_.scratch(worker);
        for (const std::int64_t z : {part.begin, part.begin + 1, part.end - 2, part.end - 1})
            interpolate(z, scratch);
        if (worker == 0) interpolate(-1, scratch);
        if (worker == workers - 1) interpolate(u.nz, scratch);
    });
    group_.each([&](int worker, int workers) {
        const Share part(u.nz, worker, workers);
        if (part.end - part.begin > 4) interpolate(part.begin + 2, levels_.scratch(worker));
        if (part.end - part.begin > 5) interpolate(part.end - 3, levels_.scratch(worker));
        residual_into(window(k, worker, kFirst), part.begin, levels_.scratch(worker));
        residual_into(window(k, worker, kLast), part.end - 1, levels_.scratch(worker));
    });
    if (others)
        levels_.halo(k).exchange_planes(memory(k, window(k, 0, kFirst)),
                                        memory(k, window(k, group_.workers() - 1, kLast)),
                                        memory(k, from_below(k)), memory(k, from_above(k)), group_);
    // Then the rest, one plane after the other and some rows at a time: interpolation two planes and a row
    // ahead, the residual one plane ahead, then what it smooths, a row behind. The first and the last row of
    // a plane need the residual's rows round the edge, and come last.
    group_.each([&](int worker, int workers) {
        const Share part(u.nz, worker, workers);
        const Scratch scratch = levels_.scratch(worker);
        const auto residual_at = [&](std::int64_t z) {
            if (others && z < 0) return from_below(k);
            if (others && z == u.nz) return from_above(k);
            if (z < part.begin) return window(k, (worker + workers - 1) % workers, kLast);
            if (z == part.begin) return window(k, worker, kFirst);
            if (z == part.end - 1) return window(k, worker, kLast);
            if (z == part.end) return window(k, (worker + 1) % workers, kFirst);
            return window(k, worker, z % 3);
        };
        for (std::int64_t z = part.begin; z < part.end; ++z) {
            const bool interpolated = z > part.begin && z + 2 < part.end - 3, made = z + 1 < part.end - 1;
            const Slab r = {residual_at(z - 1), residual_at(z), residual_at(z + 1)};
            const auto smooth_rows = [&](Rows rows) {
                smooth(r, u.plane(z), levels_.smoother(), false, nx, rows, scratch);
            };
            for (std::int64_t y = 0; y < ny; y += kStrip) {
                const std::int64_t end = std::min(y + kStrip, ny);
                if (interpolated)
                    prolong(w, u.plane(z + 2), z + 2, !finest, nx, {y == 0 ? -1 : y + 1, end + 1}, scratch);
                if (made) {
                    residual(slab(u, z + 1), v.plane(z + 1), r.above, nx, {y, end}, scratch);
                    wrap_ends(r.above, nx, {y, end});
                }
                smooth_rows({std::max<std::int64_t>(y - 1, 1), end - 1});
            }
            if (made) wrap_rows(r.above, nx, ny);
            smooth_rows({0, 1});
            smooth_rows({ny - 1, ny});
            wrap(u.plane(z), nx, ny);
        }
    });
}

double Cycle::norm() {
    const Level& l = levels_.level(levels_.finest());
    const double sum = group_.sum_each<1>([&](int worker, int workers) {
        const Share part(l.u.nz, worker, workers);
        double total = 0;
        for (std::int64_t z = part.begin; z < part.end; ++z) {
            const Plane r = l.swept ? window(levels_.finest(), worker, 0) : l.r.plane(z);
            residual(slab(l.u, z), levels_.v().plane(z), r, l.u.nx, {0, l.u.ny}, levels_.scratch(worker));
            total += squares(r, l.u.nx, l.u.ny);
        }
        return std::array{total};
    })[0];
    const auto n = static_cast<double>(l.n);
    return std::sqrt(sum / (n * n * n));
}

double Cycle::bytes() {
    // In arrays of the level's size, a store counted once. Swept: down u and v of the finest grid are read;
    // up u is read and written (on coarser grids written) and v read. Pass by pass the residual is stored and
    // read again, and u once more read and written.
    double total = 0;
    for (int k = 2; k <= levels_.finest(); ++k) {
        const Level& l = levels_.level(k);
        const bool finest = k == levels_.finest();
        const double down = !finest ? 1 : l.swept ? 2 : 4;
        const double up = (finest ? 2 : 1) + (l.swept ? 1 : 6);
        const double coarse = 2.0 / 8;  // what the coarser grid gets and gives
        total += 8.0 * static_cast<double>(l.u.nx * l.u.ny * l.u.nz) * group_.size() * (down + up + coarse);
    }
    return total;
}

}  // namespace strata::npb::mg
