// Facets, trees of boxes, parts of surfaces, turns and rigid motions.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "methods/geometry/rigid.hpp"
#include "methods/geometry/surface.hpp"
#include "tests/catch.hpp"

using namespace strata::geometry;

namespace {

/// The smallest distance to points of a facet that lie close together.
double sampled(const Real3& x, const Facet& e) {
    double least = Bounds::kNone;
    constexpr int n = 200;
    for (int a = 0; a <= n; ++a)
        for (int b = 0; a + b <= n; ++b) {
            double sum = 0;
            for (std::size_t d = 0; d < 3; ++d) {
                const double at = e[0][d] + (e[1][d] - e[0][d]) * a / n + (e[2][d] - e[0][d]) * b / n - x[d];
                sum += at * at;
            }
            least = std::min(least, sum);
        }
    return least;
}

struct Drawn {
    std::mt19937_64 random{7};
    double number(double lo, double hi) {
        return lo + (hi - lo) * static_cast<double>(random() >> 11) / 9007199254740992.0;
    }
    Real3 point(double lo, double hi, int dimensions) {
        return {number(lo, hi), number(lo, hi), dimensions == 3 ? number(lo, hi) : 0};
    }
};

std::vector<Facet> drawn_facets(Drawn& points, int count) {
    std::vector<Facet> facets;
    for (int n = 0; n < count; ++n) {
        const Real3 a = points.point(0, 1, 3);
        facets.push_back({a, a, a});
        for (std::size_t c = 1; c < 3; ++c)
            for (std::size_t d = 0; d < 3; ++d) facets.back()[c][d] += points.number(-0.1, 0.1);
    }
    return facets;
}

}  // namespace

TEST_CASE("the distance to a triangle is that to the nearest of its points") {
    Drawn points;
    for (int n = 0; n < 40; ++n) {
        const Facet e{points.point(0, 1, 3), points.point(0, 1, 3), points.point(0, 1, 3)};
        const Real3 x = points.point(-1, 2, 3);
        const double exact = std::sqrt(squared_distance(x, e)), near = std::sqrt(sampled(x, e));
        CHECK(exact <= near * (1 + 1e-14));
        CHECK(exact >= near - 0.01);
    }
    const Facet flat{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}};
    CHECK(squared_distance({0.2, 0.3, -2}, flat) == 4);       // above the inside
    CHECK(squared_distance({0.5, -3, 4}, flat) == 25);        // an edge
    CHECK(squared_distance({-3, -4, 0}, flat) == 25);         // a corner
    CHECK(squared_distance({1, 1, 0}, flat) == Approx(0.5));  // the edge that is not along an axis
    CHECK(squared_distance({2, 0, 1}, {{{0, 0, 0}, {1, 0, 0}, {1, 0, 0}}}) == 2);    // a segment
    CHECK(squared_distance({2, 1, 0}, {{{0, 0, 0}, {0.5, 0, 0}, {1, 0, 0}}}) == 2);  // collapsed to a line
    CHECK(squared_distance({0, 2, 0}, {{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}}) == 4);    // to a point
}

TEST_CASE("the tree finds what looking at all facets finds, bit for bit") {
    Drawn points;
    for (const int count : {0, 1, 4, 5, 37, 3000}) {
        const std::vector<Facet> facets = drawn_facets(points, count);
        const Tree tree(facets);
        for (int n = 0; n < 200; ++n) {
            const Real3 x = points.point(-0.5, 1.5, 3);
            double least = Bounds::kNone;
            for (const Facet& facet : facets) least = std::min(least, squared_distance(x, facet));
            CHECK(tree.nearest(x) == least);
            CHECK(tree.nearest(x, least / 2) == least / 2);
            CHECK(tree.nearest(x, least * 2) == least);
        }
    }
}

TEST_CASE("the nearest point of a surface is at its distance, and of several that of the first facet") {
    Drawn points;
    const std::vector<Facet> facets = drawn_facets(points, 300);
    const Surface surface(3, facets);
    const Tree tree(facets);
    for (int n = 0; n < 200; ++n) {
        const Real3 x = points.point(-0.5, 1.5, 3), off = minus(x, surface.nearest(x));
        CHECK(dot(off, off) == Approx(tree.nearest(x)).epsilon(1e-9).margin(1e-14));
    }
    // Equally far from nine points in a row, whatever the order in the tree.
    for (std::size_t first = 0; first < 9; ++first) {
        std::vector<Facet> around;
        for (std::size_t n = 0; n < 9; ++n) {
            const double angle = 2 * std::numbers::pi * static_cast<double>((n + first) % 9) / 9;
            const Real3 p{std::cos(angle), std::sin(angle), 0};
            around.push_back({p, p, p});
            for (Real3& corner : around.back()) corner[2] = std::sqrt(std::max(0.0, 4 - dot(p, p)));
        }
        double least = Bounds::kNone;
        Real3 wanted{};
        for (const Facet& facet : around)
            if (const double d = dot(facet[0], facet[0]); d < least) least = d, wanted = facet[0];
        CHECK(Surface(3, around).nearest({0, 0, 0}) == wanted);
    }
    CHECK(Surface(3, {}).nearest({1, 2, 3}) == Real3{1, 2, 3});
}

TEST_CASE("a tree of boxes finds those that meet a window") {
    Drawn drawn;
    std::vector<NumberedBox> boxes(500);
    for (NumberedBox& item : boxes) {
        item.number = static_cast<std::int32_t>(&item - boxes.data());
        for (std::size_t d = 0; d < 3; ++d) {
            item.box.lo[d] = drawn.number(0, 1);
            item.box.hi[d] = item.box.lo[d] + drawn.number(0, d == 1 ? 0.01 : 0.3);
        }
    }
    const Tree tree(boxes);
    for (int n = 0; n < 500; ++n) {
        Bounds window;
        for (std::size_t d = 0; d < 3; ++d) window.lo[d] = window.hi[d] = drawn.number(0, 1);
        if (n % 2 == 0) window.hi[0] += 0.2;
        std::vector<bool> met(boxes.size(), false);
        tree.meeting(window, [&](const NumberedBox& item) {
            CHECK_FALSE(met[std::size_t(item.number)]);
            met[std::size_t(item.number)] = true;
        });
        for (std::size_t i = 0; i < boxes.size(); ++i) CHECK(met[i] == boxes[i].box.meets(window));
    }
}

TEST_CASE("a turn's powers fill the whole, or one sector on each side") {
    const auto turn = [](double degrees) {
        const double a = degrees * std::numbers::pi / 180, c = std::cos(a), s = std::sin(a);
        return Rotation{{{c, -s, 0}, {s, c, 0}, {0, 0, 1}}};
    };
    CHECK(powers_of(turn(90)).size() == 4);
    CHECK(powers_of(turn(-120)).size() == 3);
    CHECK(powers_of(turn(180)).size() == 2);
    CHECK(powers_of(turn(80)).size() == 9);  // twice around
    const auto open = powers_of(turn(50 * std::sqrt(2)));
    REQUIRE(open.size() == 3);
    CHECK(difference(open[2], turn(-50 * std::sqrt(2))) < 1e-15);
}

TEST_CASE("a body sees the places of another where both have moved, and its own where they are") {
    const Real3 axis{2.0 / 7, 3.0 / 7, 6.0 / 7}, x{0.3, -1.2, 0.7};
    const Rigid own = turned_about(axis, {1, 2, 3}, 0.4), other = turned_about(axis, {0, -1, 2}, -1.1);
    CHECK_FALSE(seen_by(own, own).moves());
    const Real3 seen = other(seen_by(other, own)(x)), there = own(x);
    for (std::size_t d = 0; d < 3; ++d) CHECK(seen[d] == Approx(there[d]).epsilon(1e-14));
    // Turning at a rate about the same axis takes it there.
    const RigidMotion motion{.spin = axis, .centre = {1, 2, 3}};
    const double step = 1e-6;
    const Real3 next = turned_about(axis, {1, 2, 3}, step)(x), velocity = motion.at(x);
    for (std::size_t d = 0; d < 3; ++d) CHECK((next[d] - x[d]) / step == Approx(velocity[d]).margin(1e-5));
}
