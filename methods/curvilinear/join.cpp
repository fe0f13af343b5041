#include "methods/curvilinear/join.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "methods/curvilinear/face_nodes.hpp"

namespace strata::flow {

namespace {

/// A face with the cells on it that are neither boundary nor joined.
struct FreeFace {
    int zone;
    Face face;
    Points points;
    std::array<std::size_t, 2> axes;
    int n[2];                 // cells along them
    std::vector<char> taken;  // [u + n[0] v]

    FreeFace(const GridSource& source, int z, const Face& f) : zone(z), face(f), axes(along(f.axis)) {
        points = whole_face(source.zones()[static_cast<std::size_t>(z)].cells, f);
        for (std::size_t t = 0; t < 2; ++t) n[t] = points.end[axes[t]];
        taken.resize(static_cast<std::size_t>(n[0]) * static_cast<std::size_t>(n[1]));
    }
    [[nodiscard]] std::size_t at(int u, int v) const {
        return static_cast<std::size_t>(v) * static_cast<std::size_t>(n[0]) + static_cast<std::size_t>(u);
    }
    [[nodiscard]] bool has(int u, int v) const { return u >= 0 && v >= 0 && u < n[0] && v < n[1]; }
    [[nodiscard]] bool free(int u, int v) const { return has(u, v) && taken[at(u, v)] == 0; }
    void take(const Points& range) {
        for (int v = range.begin[axes[1]]; v < range.end[axes[1]]; ++v)
            for (int u = range.begin[axes[0]]; u < range.end[axes[0]]; ++u) taken[at(u, v)] = 1;
    }
    [[nodiscard]] Points range(int u0, int u1, int v0, int v1) const {
        Points found = points;
        found.begin[axes[0]] = u0, found.end[axes[0]] = u1;
        found.begin[axes[1]] = v0, found.end[axes[1]] = v1;
        return found;
    }
    /// Calls call(u0, u1, v0, v1) for rectangles of free cells, which `call` takes.
    template <class Call>
    void for_rectangles(Call&& call) const {
        for (int v = 0; v < n[1]; ++v)
            for (int u = 0; u < n[0]; ++u) {
                if (!free(u, v)) continue;
                int u1 = u, v1 = v;
                while (free(u1, v)) ++u1;
                const auto row_free = [&](int row) {
                    for (int m = u; m < u1; ++m)
                        if (!free(m, row)) return false;
                    return true;
                };
                while (row_free(v1)) ++v1;
                call(u, u1, v, v1);
            }
    }
};

std::vector<FreeFace> free_faces(const GridSystem& system) {
    const GridSource& source = *system.source;
    std::vector<FreeFace> faces;
    const int each = 2 * system.dimensions;
    for (int z = 0; z < static_cast<int>(source.zones().size()); ++z)
        for (int f = 0; f < each; ++f) faces.emplace_back(source, z, Face{f / 2, f % 2 == 1});
    const auto take = [&](int zone, const Points& points, const std::string& what) {
        const Face face = face_of(source, zone, points, what);
        if (face.axis < system.dimensions)
            faces[static_cast<std::size_t>(zone * each + 2 * face.axis + face.upper)].take(points);
    };
    for (const BoundaryRange& b : system.boundaries)
        take(b.zone, b.points, fmt::format("boundary '{}'", b.name));
    for (const JoinRange& join : system.joins) {
        take(join.zone, join.points, "a join");
        take(join.donor, upward(join.donor_points), "the donor of a join");
    }
    return faces;
}

/// All free faces with their nodes, and the cells on them by the places of their centres.
class Matching {
  public:
    Matching(GridSystem& system, std::vector<FreeFace> faces) : system_(system), faces_(std::move(faces)) {
        for (const FreeFace& f : faces_) nodes_.emplace_back(*system_.source, f.zone, f.points);
        double extent = 0;
        for (std::size_t f = 0; f < faces_.size(); ++f)
            for (const Int3& corner : {faces_[f].points.begin, faces_[f].points.end})
                for (const double value : nodes_[f](corner)) extent = std::max(extent, std::abs(value));
        width_ = std::max(1e-5 * extent, 1e-290);
    }

    void set_aside_collapsed() {
        for (std::size_t f = 0; f < faces_.size(); ++f) {
            FreeFace& face = faces_[f];
            bool all = true, any = false;
            for (int v = 0; v < face.n[1] && all; ++v)
                for (int u = 0; u < face.n[0] && all; ++u)
                    if (face.free(u, v)) any = true, all = collapsed(f, u, v);
            if (!any || !all) continue;
            face.for_rectangles([&](int u0, int u1, int v0, int v1) {
                const Points points = face.range(u0, u1, v0, v1);
                system_.boundaries.push_back({face.zone, face.face, points, "collapsed"});
                face.take(points);
            });
            system_.notes.push_back(fmt::format("face {} of {} is collapsed: its cells have no area there",
                                                face_text(*system_.source, face.zone, face.face),
                                                zone_text(*system_.source, face.zone)));
        }
    }

    void find(const std::vector<Periodic>& images) {
        for (std::size_t f = 0; f < faces_.size(); ++f)
            for (int v = 0; v < faces_[f].n[1]; ++v)
                for (int u = 0; u < faces_[f].n[0]; ++u)
                    if (faces_[f].free(u, v) && !collapsed(f, u, v))
                        by_place_[key(centre(f, u, v))].push_back({f, u, v});
        for (const Periodic& periodic : images)
            for (std::size_t f = 0; f < faces_.size(); ++f)
                for (int v = 0; v < faces_[f].n[1]; ++v)
                    for (int u = 0; u < faces_[f].n[0]; ++u)
                        if (faces_[f].free(u, v) && !collapsed(f, u, v)) match(f, u, v, periodic);
    }

  private:
    struct Cell {
        std::size_t face;
        int u, v;
    };
    using Key = std::array<std::int64_t, 3>;
    struct Hash {
        std::size_t operator()(const Key& key) const {
            std::size_t hash = 0;
            for (const std::int64_t k : key) hash = hash * 1000003 + static_cast<std::size_t>(k);
            return hash;
        }
    };

    [[nodiscard]] Key key(const Real3& x) const {
        const auto place = [&](double along) {
            constexpr double most = 1e18;  // places beside it are numbers, too
            const double at = along / width_;
            return std::llround(at > -most ? std::min(at, most) : -most);  // also of what is no number
        };
        return {place(x[0]), place(x[1]), place(x[2])};
    }
    [[nodiscard]] Int3 node(const FreeFace& face, int u, int v) const {
        Int3 at = face.points.begin;
        at[face.axes[0]] += u, at[face.axes[1]] += v;
        return at;
    }
    [[nodiscard]] std::array<Real3, 4> corners(std::size_t f, int u, int v) const {
        const FreeFace& face = faces_[f];
        return {nodes_[f](node(face, u, v)), nodes_[f](node(face, u + 1, v)), nodes_[f](node(face, u, v + 1)),
                nodes_[f](node(face, u + 1, v + 1))};
    }
    [[nodiscard]] Real3 centre(std::size_t f, int u, int v) const {
        Real3 sum{};
        for (const Real3& corner : corners(f, u, v))
            for (std::size_t d = 0; d < 3; ++d) sum[d] += 0.25 * corner[d];
        return sum;
    }
    /// Whether a cell has no area on the face.
    [[nodiscard]] bool collapsed(std::size_t f, int u, int v) const {
        const auto c = corners(f, u, v);
        double longest = 0;
        for (const auto& [a, b] : {std::pair{0, 1}, {0, 2}, {1, 3}, {2, 3}})
            longest =
                std::max(longest, distance(c[static_cast<std::size_t>(a)], c[static_cast<std::size_t>(b)]));
        double size = 0;
        for (const Real3& corner : c)
            for (const double value : corner) size = std::max(size, std::abs(value));
        if (longest <= 1e-13 * size) return true;
        if (system_.dimensions == 2) return false;
        Real3 p, q, s;
        for (std::size_t d = 0; d < 3; ++d) p[d] = c[3][d] - c[0][d], q[d] = c[2][d] - c[1][d];
        s = {p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]};
        return 0.5 * distance(s, {}) <= 1e-10 * longest * longest;
    }

    /// How far apart points may be: a part of the shortest edge that is longer than nothing.
    [[nodiscard]] static double tolerance(const std::array<Real3, 4>& c) {
        double shortest = 0;
        for (const auto& [a, b] : {std::pair{0, 1}, {0, 2}, {1, 3}, {2, 3}}) {
            const double length = distance(c[static_cast<std::size_t>(a)], c[static_cast<std::size_t>(b)]);
            if (length > 0) shortest = shortest > 0 ? std::min(shortest, length) : length;
        }
        return kMatch * shortest;
    }
    /// Whether the corners of cell (u, v) are where the join has its donor's.
    [[nodiscard]] bool fits(std::size_t f, std::size_t g, int u, int v, const JoinRange& join) const {
        const FreeFace& face = faces_[f];
        const auto c = corners(f, u, v);
        const double most = tolerance(c);
        for (int n = 0; n < 4; ++n) {
            const Real3 there = nodes_[g](donor_point(join, node(face, u + (n & 1), v + (n >> 1))));
            if (distance(c[static_cast<std::size_t>(n)], image(join.turn, join.shift, there)) > most)
                return false;
        }
        return true;
    }
    /// The cell of the donor's face behind cell (u, v).
    [[nodiscard]] Cell behind(std::size_t f, std::size_t g, int u, int v, const JoinRange& join) const {
        const Int3 a = donor_point(join, node(faces_[f], u, v)),
                   b = donor_point(join, node(faces_[f], u + 1, v + 1));
        const auto& axes = faces_[g].axes;
        return {g, std::min(a[axes[0]], b[axes[0]]), std::min(a[axes[1]], b[axes[1]])};
    }

    /// Joins of cell (u, v) of face f with a cell of face g: all ways that keep a right hand.
    [[nodiscard]] std::vector<JoinRange> ways(std::size_t f, const Cell& mine, const Cell& other,
                                              const Periodic& periodic) const {
        const FreeFace &here = faces_[f], &there = faces_[other.face];
        std::vector<JoinRange> found;
        for (int way = 0; way < 8; ++way) {
            const bool swap = (way & 1) != 0;
            if (swap && system_.dimensions == 2) continue;
            const int back[2] = {(way >> 1) & 1, (way >> 2) & 1};
            JoinRange join;
            join.zone = here.zone, join.donor = there.zone;
            join.turn = periodic.turn, join.shift = periodic.shift;
            join.points = here.range(mine.u, mine.u + 1, mine.v, mine.v + 1);
            Points donor = there.range(other.u, other.u + 1, other.v, other.v + 1);
            for (std::size_t t = 0; t < 2; ++t) {
                const std::size_t axis = there.axes[swap ? 1 - t : t];
                join.transform[here.axes[t]] = (back[t] != 0 ? -1 : 1) * (static_cast<int>(axis) + 1);
                if (back[t] != 0) std::swap(donor.begin[axis], donor.end[axis]);
            }
            join.donor_points = donor;
            join.transform[static_cast<std::size_t>(here.face.axis)] =
                (here.face.upper == there.face.upper ? -1 : 1) * (there.face.axis + 1);
            if (system_.dimensions == 2 && join.transform[2] != 3) continue;
            if (right_handed(join.transform) && fits(f, other.face, mine.u, mine.v, join))
                found.push_back(join);
        }
        return found;
    }
    [[nodiscard]] static bool right_handed(const Int3& t) {
        int sign = 1;
        for (std::size_t a = 0; a < 3; ++a) {
            if (t[a] < 0) sign = -sign;
            for (std::size_t b = a + 1; b < 3; ++b)
                if (std::abs(t[a]) > std::abs(t[b])) sign = -sign;
        }
        return sign > 0;
    }

    /// Takes a cell and the one behind it, if both are free, different, and match.
    [[nodiscard]] bool claim(std::size_t f, std::size_t g, int u, int v, const JoinRange& join) {
        if (!faces_[f].free(u, v) || collapsed(f, u, v) || !fits_within(f, g, u, v, join)) return false;
        const Cell other = behind(f, g, u, v, join);
        if (!faces_[g].free(other.u, other.v) || (f == g && other.u == u && other.v == v)) return false;
        faces_[f].taken[faces_[f].at(u, v)] = faces_[g].taken[faces_[g].at(other.u, other.v)] = 1;
        return true;
    }
    [[nodiscard]] bool fits_within(std::size_t f, std::size_t g, int u, int v, const JoinRange& join) const {
        const Cell other = behind(f, g, u, v, join);
        return faces_[g].has(other.u, other.v) && fits(f, g, u, v, join);
    }
    void release(std::size_t f, std::size_t g, int u, int v, const JoinRange& join) {
        const Cell other = behind(f, g, u, v, join);
        faces_[f].taken[faces_[f].at(u, v)] = faces_[g].taken[faces_[g].at(other.u, other.v)] = 0;
    }
    /// The rectangle from cell (u, v) on over which a join holds: its upper ends. Its cells are taken.
    std::array<int, 2> grow(std::size_t f, std::size_t g, int u, int v, const JoinRange& join) {
        int u1 = u, v1 = v;
        while (claim(f, g, u1, v, join)) ++u1;
        if (u1 == u) return {u, v};
        const auto claim_row = [&](int row) {
            for (int m = u; m < u1; ++m) {
                if (claim(f, g, m, row, join)) continue;
                while (m-- > u) release(f, g, m, row, join);
                return false;
            }
            return true;
        };
        for (++v1; v1 < faces_[f].n[1] && claim_row(v1);) ++v1;
        return {u1, v1};
    }

    void match(std::size_t f, int u, int v, const Periodic& periodic) {
        const Real3 x = centre(f, u, v);
        Real3 moved, y{};
        for (std::size_t d = 0; d < 3; ++d) moved[d] = x[d] - periodic.shift[d];
        for (std::size_t r = 0; r < 3; ++r)
            for (std::size_t c = 0; c < 3; ++c) y[r] += periodic.turn[c][r] * moved[c];
        const Key middle = key(y);
        const double most_apart = tolerance(corners(f, u, v));
        std::vector<JoinRange> candidates;
        std::vector<std::size_t> donors;
        for (std::int64_t n = 0; n < 27; ++n) {
            const auto near =
                by_place_.find({middle[0] + n % 3 - 1, middle[1] + n / 3 % 3 - 1, middle[2] + n / 9 - 1});
            if (near == by_place_.end()) continue;
            for (const Cell& other : near->second) {
                if (!faces_[other.face].free(other.u, other.v) ||
                    (other.face == f && other.u == u && other.v == v) ||
                    distance(centre(other.face, other.u, other.v), y) > most_apart)
                    continue;
                for (const JoinRange& join : ways(f, {f, u, v}, other, periodic)) {
                    candidates.push_back(join);
                    donors.push_back(other.face);
                }
            }
        }
        // Of several ways (where edges are collapsed, or three faces meet) the one that goes farthest.
        std::optional<JoinRange> best;
        std::int64_t most = 0;
        std::size_t donor = 0;
        for (std::size_t n = 0; n < candidates.size(); ++n) {
            const auto end = grow(f, donors[n], u, v, candidates[n]);
            const std::int64_t cells = std::int64_t{end[0] - u} * (end[1] - v);
            for (int b = v; b < end[1]; ++b)
                for (int a = u; a < end[0]; ++a) release(f, donors[n], a, b, candidates[n]);
            if (cells > most) most = cells, best = candidates[n], donor = donors[n];
        }
        if (!best) return;
        const auto end = grow(f, donor, u, v, *best);
        system_.joins.push_back(part_of(*best, faces_[f].range(u, end[0], v, end[1])));
    }

    GridSystem& system_;
    std::vector<FreeFace> faces_;
    std::vector<FaceNodes> nodes_;
    double width_ = 1;
    std::unordered_map<Key, std::vector<Cell>, Hash> by_place_;
};

}  // namespace

void find_joins(GridSystem& system, const std::vector<Periodic>& periodic) {
    auto faces = free_faces(system);
    std::erase_if(faces, [](const FreeFace& f) {
        return std::all_of(f.taken.begin(), f.taken.end(), [](char taken) { return taken != 0; });
    });
    Matching matching(system, std::move(faces));
    matching.set_aside_collapsed();
    std::vector<Periodic> images{{}};
    images.insert(images.end(), periodic.begin(), periodic.end());
    matching.find(images);
}

void name_the_rest(GridSystem& system) {
    const auto zones = system.source->zones();
    std::vector<FreeFace> faces = free_faces(system);
    // In the order of the file, also where an axis runs backwards.
    std::stable_sort(faces.begin(), faces.end(), [&](const FreeFace& a, const FreeFace& b) {
        const auto place = [&](const FreeFace& f) {
            const Face given = given_face(zones[static_cast<std::size_t>(f.zone)], f.face);
            return std::tuple(f.zone, given.axis, given.upper);
        };
        return place(a) < place(b);
    });
    for (FreeFace& face : faces) {
        const auto& zone = zones[static_cast<std::size_t>(face.zone)];
        face.for_rectangles([&](int u0, int u1, int v0, int v1) {
            const Points points = face.range(u0, u1, v0, v1);
            system.boundaries.push_back(
                {face.zone, face.face, points,
                 fmt::format("{}:{}", zone.name.empty() ? fmt::format("{}", face.zone + 1) : zone.name,
                             face_text(*system.source, face.zone, face.face))});
            face.take(points);
        });
    }
}

}  // namespace strata::flow
