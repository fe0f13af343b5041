// Bodies from STL files: what is inside, however rays meet edges and corners, and what is wrong with a file.
#include <cmath>
#include <numbers>
#include <string>

#include <sys/resource.h>

#include "core/base/error.hpp"
#include "methods/geometry/solid.hpp"
#include "methods/geometry/stl.hpp"
#include "tests/catch.hpp"
#include "tests/geometry/stl_files.hpp"

using namespace strata;
using namespace strata::geometry;
using namespace strata::tests;

namespace {

/// A torus about (0, 0, 0), its axis along z: rays along x cross it up to four times.
Triangles torus(double large, double small, int n) {
    const auto at = [&](int i, int j) {
        const double u = 2 * std::numbers::pi * (i % n) / n, v = 2 * std::numbers::pi * (j % n) / n;
        const double r = large + small * std::cos(v);
        return Real3{r * std::cos(u), r * std::sin(u), small * std::sin(v)};
    };
    Triangles found;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            found.push_back({at(i, j), at(i + 1, j), at(i + 1, j + 1)});
            found.push_back({at(i, j), at(i + 1, j + 1), at(i, j + 1)});
        }
    return found;
}

std::string ascii(const Triangles& triangles) {
    std::string text = "solid part\n";
    for (const auto& t : triangles) {
        text += "facet normal 0 0 0\n outer loop\n";
        for (const auto& x : t)
            text += "  vertex " + std::to_string(x[0]) + " " + std::to_string(x[1]) + " " +
                    std::to_string(x[2]) + "\n";
        text += " endloop\nendfacet\n";
    }
    return text + "endsolid part\n";
}

std::string refusal(const std::string& bytes) {
    const StlFile file(bytes);
    try {
        (void)Solid(read_stl(file.path, {0, 0, 0}, 1), file.path);
    } catch (const Error& error) {
        CHECK(error.text().find(file.path.string()) != std::string::npos);
        return error.text();
    }
    return "";
}

}  // namespace

TEST_CASE("a closed surface knows its inside, also where rays meet its edges and corners") {
    const Solid cube(box({0, 0, 0}, {1, 1, 1}), "cube");
    int inside = 0;
    for (int k = -1; k <= 8; ++k)
        for (int j = -1; j <= 8; ++j)
            for (int i = -1; i <= 8; ++i) {
                // Also through corners and along the diagonals of faces. A side belongs to the box at low
                // ends.
                const bool in = i >= 0 && i < 8 && j >= 0 && j < 8 && k >= 0 && k < 8;
                CHECK(cube.contains({i / 8.0, j / 8.0, k / 8.0}) == in);
                inside += cube.contains({i / 8.0, j / 8.0, k / 8.0});
            }
    CHECK(inside == 512);

    const Solid ring(torus(0.7, 0.25, 160), "ring");
    double volume = 0;
    const int n = 60;
    for (int k = 0; k < n; ++k)
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < n; ++i) {
                const double x = 2.0 * (i + 0.5) / n - 1, y = 2.0 * (j + 0.5) / n - 1,
                             z = 2.0 * (k + 0.5) / n - 1;
                const bool in = ring.contains({x, y, z});
                const double away = std::hypot(std::hypot(x, y) - 0.7, z);
                if (std::abs(away - 0.25) > 1e-3) CHECK(in == (away < 0.25));
                volume += in * 8.0 / (n * n * n);
            }
    CHECK(std::abs(volume / (2 * std::numbers::pi * std::numbers::pi * 0.7 * 0.0625) - 1) < 0.03);
}

TEST_CASE("binary and ASCII files give the same body, scaled and moved") {
    const Triangles shape = box({0, 0, 0}, {2, 4, 8});
    for (const std::string& bytes : {binary(shape), ascii(shape)}) {
        const StlFile file(bytes);
        const Solid solid(read_stl(file.path, {1, 1, 1}, 0.125), file.path);
        CHECK(solid.triangles().size() == 12);
        CHECK(solid.bounds().lo == Real3{1, 1, 1});
        CHECK(solid.bounds().hi == Real3{1.25, 1.5, 2});
        CHECK(solid.contains({1.2, 1.4, 1.9}));
        CHECK_FALSE(solid.contains({1.3, 1.4, 1.9}));
    }
}

TEST_CASE("a file that is no closed surface is refused with its name and the triangle") {
    Triangles open = box({0, 0, 0}, {1, 1, 1});
    open.erase(open.begin() + 4);
    CHECK(refusal(binary(open)).find("not closed at triangle") != std::string::npos);
    const std::string whole = binary(box({0, 0, 0}, {1, 1, 1}));
    CHECK(refusal(whole.substr(0, 84 + 50 * 7 + 20)).find("ends in triangle 8") != std::string::npos);
    Triangles odd = box({0, 0, 0}, {1, 1, 1});
    odd[2][1][0] = std::nan("");
    CHECK(refusal(binary(odd)).find("triangle 3 is no number") != std::string::npos);
    std::string text = ascii(box({0, 0, 0}, {1, 1, 1}));
    text.replace(text.find("vertex"), 6, "vortex");
    CHECK(refusal(text).find(":4 (triangle 1)") != std::string::npos);
    CHECK(refusal("nothing").find("no STL") != std::string::npos);
}

TEST_CASE("a surface whose triangles all lie across it takes no more memory than its triangles") {
    // 20,000 times the same triangle: each would be in each of 141 x 141 columns, 1.6 GB of them.
    const Solid solid(Triangles(20'000, {Real3{0, 0, 0}, Real3{0, 1, 0}, Real3{0, 0, 1}}), "many");
    CHECK_FALSE(solid.contains({-1, 0.2, 0.2}));
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    CHECK(used.ru_maxrss < 400'000);  // KiB
}

TEST_CASE("corners whose distance no number holds are refused") {
    const std::string far =
        "solid\nfacet normal 0 0 0\nouter loop\nvertex 0 -1e308 0\nvertex 0 1e308 0\n"
        "vertex 0 0 1e308\nendloop\nendfacet\nendsolid\n";
    const StlFile file(far);
    try {
        (void)Solid(read_stl(file.path, {}, 1), file.path);
        FAIL("it was taken");
    } catch (const Error& error) {
        CHECK(error.text().find("triangle 1 lies too far away") != std::string::npos);
        CHECK(error.text().find("1e+100") != std::string::npos);
    }
}
