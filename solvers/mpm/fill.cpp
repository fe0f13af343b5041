#include "solvers/mpm/fill.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>

#include "solvers/mpm/exact.hpp"

namespace strata::mpm {

using graph::Box;
using graph::Int3;

namespace {

/// Points on a surface are inside, whatever rounding did to them.
constexpr double kTouch = 1e-9;

}  // namespace

bool Body::contains(const Real3& x) const {
    if (shape == Shape::stl) return solid->contains(x);
    if (shape == Shape::box) {
        for (std::size_t d = 0; d < 3; ++d)
            if (x[d] < a[d] - kTouch || x[d] > b[d] + kTouch) return false;
        return true;
    }
    Real3 to{}, axis{};
    double along = 0, length = 0, distance = 0;
    for (std::size_t d = 0; d < 3; ++d) {
        to[d] = x[d] - a[d], axis[d] = b[d] - a[d];
        along += to[d] * axis[d], length += axis[d] * axis[d];
    }
    const double share = shape == Shape::cylinder ? along / length : 0;
    if (share < 0 || share > 1) return false;
    for (std::size_t d = 0; d < 3; ++d) distance += std::pow(to[d] - share * axis[d], 2);
    return distance <= std::pow(radius + kTouch, 2);
}

Real3 Body::low() const {
    if (shape == Shape::stl) return solid->bounds().lo;
    Real3 least{};
    for (std::size_t d = 0; d < 3; ++d) {
        double reach = shape == Shape::box ? 0 : radius;
        if (shape == Shape::cylinder) {  // a disk across the axis reaches r sin(angle to the axis)
            double length = 0;
            for (std::size_t e = 0; e < 3; ++e) length += std::pow(b[e] - a[e], 2);
            reach = radius * std::sqrt(std::max(0.0, 1 - std::pow(b[d] - a[d], 2) / length));
        }
        least[d] = std::min(a[d], b[d]) - reach;
    }
    return least;
}

Real3 Body::high() const {
    if (shape == Shape::stl) return solid->bounds().hi;
    const Real3 least = low();
    Real3 most{};
    for (std::size_t d = 0; d < 3; ++d) most[d] = a[d] + b[d] - least[d];
    return most;
}

int body_at(const Settings& s, const Real3& x) {
    const auto body =
        std::find_if(s.bodies.begin(), s.bodies.end(), [&](const Body& b) { return b.contains(x); });
    return body == s.bodies.end() || body->material < 0 ? -1 : static_cast<int>(body - s.bodies.begin());
}

namespace {

/// Whether a body's point is at its lower or upper end in x: within one particle's part of a cell.
bool at_end(const Settings& s, const Body& body, double x, bool upper) {
    const double part = s.spacing()[0] / static_cast<double>(s.per_cell[0]) * (1 - 1e-9);
    return upper ? x > body.high()[0] - part : x < body.low()[0] + part;
}

Real3 part_of(const Settings& s, const Int3& cell, const std::array<std::int64_t, 3>& part) {
    const Real3 h = s.spacing();
    Real3 X{};
    for (std::size_t d = 0; d < 3; ++d)
        X[d] = (cell[d] + (static_cast<double>(part[d]) + 0.5) / static_cast<double>(s.per_cell[d])) * h[d];
    return X;
}

template <class Each>
void each_part(const Settings& s, Each each) {
    std::int64_t sub = 0;
    for (std::int64_t c = 0; c < s.per_cell[2]; ++c)
        for (std::int64_t b = 0; b < s.per_cell[1]; ++b)
            for (std::int64_t a = 0; a < s.per_cell[0]; ++a, ++sub) each(std::array{a, b, c}, sub);
}

/// What of a part of a cell is in a body: found at 8 x 8 x 8 points (one along a direction of one cell).
struct Piece {
    int body;
    double share;
    Real3 middle;
};
std::vector<Piece> pieces_of(const Settings& s, const Int3& cell, const std::array<std::int64_t, 3>& part) {
    const Real3 h = s.spacing(), middle = part_of(s, cell, part);
    Real3 size{};
    for (std::size_t d = 0; d < 3; ++d) size[d] = h[d] / static_cast<double>(s.per_cell[d]);
    const auto scan = [&](int most, auto each) {
        Int3 n{};
        for (std::size_t d = 0; d < 3; ++d) n[d] = s.cells[d] == 1 ? 1 : most;
        for (int k = 0; k < n[2]; ++k)
            for (int j = 0; j < n[1]; ++j)
                for (int i = 0; i < n[0]; ++i) {
                    const Int3 at{i, j, k};
                    Real3 x = middle;
                    for (std::size_t d = 0; d < 3; ++d) {
                        // Rough: from side to side; fine: at the middles of equal parts.
                        const double place = most == 3 ? 0.5 * at[d] : (at[d] + 0.5) / n[d];
                        if (n[d] > 1) x[d] += (place - 0.5) * size[d];
                    }
                    each(x, 1.0 / (double(n[0]) * n[1] * n[2]));
                }
    };
    const int whole = body_at(s, middle);
    bool same = true;
    scan(3, [&](const Real3& x, double) { same = same && body_at(s, x) == whole; });
    std::vector<Piece> found;
    if (same) {
        if (whole >= 0) found.push_back({whole, 1, middle});
        return found;
    }
    scan(8, [&](const Real3& x, double share) {
        const int body = body_at(s, x);
        if (body < 0) return;
        auto piece = std::find_if(found.begin(), found.end(), [&](const Piece& p) { return p.body == body; });
        if (piece == found.end()) piece = found.insert(found.end(), {body, 0, {}});
        piece->share += share;
        for (std::size_t d = 0; d < 3; ++d) piece->middle[d] += share * x[d];
    });
    for (Piece& p : found)
        for (double& x : p.middle) x /= p.share;
    return found;
}

/// How many particles a part of a cell holds, of one body or (-1) of all.
double held_by(const Settings& s, const Int3& cell, const std::array<std::int64_t, 3>& part, int of_body) {
    double held = 0;
    if (s.edges == "cut") {
        for (const Piece& piece : pieces_of(s, cell, part))
            if (of_body < 0 || piece.body == of_body) held += piece.share;
    } else {
        const int body = body_at(s, part_of(s, cell, part));
        held = body >= 0 && (of_body < 0 || body == of_body) ? 1 : 0;
    }
    return held;
}

/// The cells from which particles can be in `cells` at the start: where an exact solution displaces them,
/// also those around.
Box cells_of_origin(const Settings& s, const graph::Grid& grid, const Box& cells) {
    if (!s.manufactured()) return cells;
    const Real3 h = s.spacing();
    const Box domain = grid.shape().cells;
    Box from = cells;
    for (std::size_t d = 0; d < 3; ++d) {
        const int reach = 1 + static_cast<int>(std::ceil(std::abs(s.amplitude) / h[d]));
        from.lo[d] -= reach, from.hi[d] += reach;
        if (!grid.shape().periodic[d] || from.hi[d] - from.lo[d] >= domain.hi[d] - domain.lo[d]) {
            from.lo[d] = std::max(from.lo[d], domain.lo[d]);
            from.hi[d] = std::min(from.hi[d], domain.hi[d]);
            if (grid.shape().periodic[d]) from.lo[d] = domain.lo[d], from.hi[d] = domain.hi[d];
        }
    }
    return from;
}

/// The particles of one patch while they are found.
class PatchFilling {
  public:
    PatchFilling(const Settings& settings, const graph::Grid& grid, int patch)
        : s_(settings), shape_(grid.shape()), h_(settings.spacing()), cells_(grid.box(patch)) {}

    /// What a part of a cell holds: a whole particle, or a piece of each body.
    void fill_part(const Int3& cell, const std::array<std::int64_t, 3>& part, std::int64_t number) {
        const Int3& n = shape_.cells.hi;
        const std::int64_t at = (std::int64_t{cell[2]} * n[1] + cell[1]) * n[0] + cell[0];
        Particle p;
        p.id = at * s_.particles_per_cell() + number;
        if (s_.edges == "cut") {
            for (const Piece& piece : pieces_of(s_, cell, part)) {
                Particle own = p;
                own.id += ids_of_a_body() * piece.body;  // a part may belong to several bodies
                own.X = piece.middle, own.body = piece.body, own.share = piece.share;
                put(own);
            }
            return;
        }
        p.X = part_of(s_, cell, part);
        p.body = body_at(s_, p.X);
        if (p.body >= 0) put(p);
    }
    /// Their ids follow those of all bodies.
    void add_surface(const std::vector<SurfacePoint>& points) {
        const std::int64_t first = ids_of_a_body() * static_cast<std::int64_t>(s_.bodies.size());
        for (std::size_t i = 0; i < points.size(); ++i) {
            Particle p;
            p.id = first + static_cast<std::int64_t>(i);
            p.X = points[i].x, p.body = points[i].body, p.share = 0;
            p.surface = points[i].surface, p.area = points[i].area;
            put(p);
        }
    }
    std::vector<Particle> by_cell_and_id() && {
        std::sort(found_.begin(), found_.end(), [](const Particle& a, const Particle& b) {
            return std::tie(a.cell, a.id) < std::tie(b.cell, b.id);
        });
        return std::move(found_);
    }

  private:
    [[nodiscard]] std::int64_t ids_of_a_body() const {
        const Int3& n = shape_.cells.hi;
        return std::int64_t{n[0]} * n[1] * n[2] * s_.particles_per_cell();
    }
    /// Moves a particle to where it is at the start, and keeps it if that is in the patch.
    void put(Particle p) {
        const Body& body = s_.bodies[static_cast<std::size_t>(p.body)];
        p.x = p.X, p.v = body.velocity;
        if (s_.exact()) {
            const Motion m = exact_motion(s_, p.X, 0);
            for (std::size_t d = 0; d < 3; ++d) p.x[d] += m.u[d], p.v[d] += m.v[d];
            p.stretch = m.stretch;
        }
        Int3 now{};
        for (std::size_t d = 0; d < 3; ++d) {
            if (shape_.periodic[d]) p.x[d] -= std::floor(p.x[d] / s_.size[d]) * s_.size[d];
            now[d] = static_cast<int>(std::floor(p.x[d] * (1.0 / h_[d])));
        }
        if (!cells_.contains(now)) return;
        p.cell = ((now[2] - cells_.lo[2]) * cells_.extent(1) + (now[1] - cells_.lo[1])) * cells_.extent(0) +
                 now[0] - cells_.lo[0];
        if (s_.pull != 0 && p.surface < 0)
            p.pulled = (at_end(s_, body, p.X[0], true) ? 1 : 0) - (at_end(s_, body, p.X[0], false) ? 1 : 0);
        found_.push_back(p);
    }

    const Settings& s_;
    const graph::GridShape& shape_;
    const Real3 h_;
    const Box cells_;
    std::vector<Particle> found_;
};

}  // namespace

std::vector<Particle> fill(const Settings& s, const graph::Grid& grid, int patch,
                           const std::vector<SurfacePoint>& surface) {
    const Box domain = grid.shape().cells, from = cells_of_origin(s, grid, grid.box(patch));
    PatchFilling filling(s, grid, patch);
    const auto wrapped = [&](int i, std::size_t d) {
        const int n = domain.hi[d];
        return ((i % n) + n) % n;
    };
    for (int k = from.lo[2]; k < from.hi[2]; ++k)
        for (int j = from.lo[1]; j < from.hi[1]; ++j)
            for (int i = from.lo[0]; i < from.hi[0]; ++i)
                each_part(s, [&](const auto& part, std::int64_t number) {
                    filling.fill_part({wrapped(i, 0), wrapped(j, 1), wrapped(k, 2)}, part, number);
                });
    filling.add_surface(surface);
    return std::move(filling).by_cell_and_id();
}

bool is_met(const Settings& s, int body) {
    const Body& of = s.bodies[static_cast<std::size_t>(body)];
    const bool hole = of.material < 0;
    Settings without;
    if (hole) without = s, without.bodies.erase(without.bodies.begin() + body);
    const Real3 h = s.spacing(), low = of.low(), high = of.high();
    Int3 first{}, last{};
    for (std::size_t d = 0; d < 3; ++d) {
        const auto index = [&](double x) {
            return static_cast<int>(
                std::clamp(std::floor(x / h[d]), 0.0, static_cast<double>(s.cells[d] - 1)));
        };
        first[d] = index(low[d] - kTouch), last[d] = index(high[d] + kTouch);
    }
    // Cells far from each other first: most bodies are found at once.
    int apart = 1;
    for (std::size_t d = 0; d < 3; ++d)
        while (2 * apart <= last[d] - first[d]) apart *= 2;
    for (; apart > 0; apart /= 2)
        for (int k = first[2]; k <= last[2]; k += apart)
            for (int j = first[1]; j <= last[1]; j += apart)
                for (int i = first[0]; i <= last[0]; i += apart) {
                    bool met = false;
                    each_part(s, [&](const auto& part, std::int64_t) {
                        if (met) return;
                        const Int3 cell{i, j, k};
                        met = hole ? held_by(without, cell, part, -1) > held_by(s, cell, part, -1) + 1e-9
                                   : held_by(s, cell, part, body) > 0;
                    });
                    if (met) return true;
                }
    return false;
}

std::int64_t particles_at_end(const Settings& s, int body, bool upper) {
    const Body& of = s.bodies[static_cast<std::size_t>(body)];
    const Real3 h = s.spacing(), low = of.low(), high = of.high();
    const auto index = [&](double x, std::size_t d) {
        return std::clamp(static_cast<int>(std::floor(x / h[d])), 0, static_cast<int>(s.cells[d]) - 1);
    };
    const int end = index(upper ? high[0] : low[0], 0), last = static_cast<int>(s.cells[0]) - 1;
    std::int64_t count = 0;
    for (int k = index(low[2], 2); k <= index(high[2], 2); ++k)
        for (int j = index(low[1], 1); j <= index(high[1], 1); ++j)
            for (int i = std::max(0, end - 1); i <= std::min(last, end + 1); ++i)
                each_part(s, [&](const auto& part, std::int64_t) {
                    const Real3 X = part_of(s, {i, j, k}, part);
                    count += body_at(s, X) == body && at_end(s, of, X[0], upper);
                });
    return count;
}

}  // namespace strata::mpm
