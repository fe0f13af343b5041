// Bodies from STL files: what is inside, however rays meet edges and corners, and what is wrong with a file.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numbers>

#include <sys/resource.h>
#include <unistd.h>

#include "core/base/error.hpp"
#include "solvers/mpm/stl.hpp"
#include "tests/catch.hpp"
#include "tests/solvers/mpm_runs.hpp"

using namespace strata;
using namespace strata::mpm;
using namespace strata::mpm::tests;

namespace {

using Triangles = std::vector<Solid::Triangle>;

/// A box as 12 triangles.
Triangles box(const Real3& low, const Real3& high) {
    Triangles found;
    const auto corner = [&](int i) {
        return Real3{(i & 1) != 0 ? high[0] : low[0], (i & 2) != 0 ? high[1] : low[1],
                     (i & 4) != 0 ? high[2] : low[2]};
    };
    const int faces[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                             {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    for (const auto& f : faces) {
        found.push_back({corner(f[0]), corner(f[1]), corner(f[2])});
        found.push_back({corner(f[0]), corner(f[2]), corner(f[3])});
    }
    return found;
}

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

struct File {
    std::filesystem::path path;
    explicit File(const std::string& bytes)
        : path(std::filesystem::temp_directory_path() / ("strata-stl-" + std::to_string(getpid()) + ".stl")) {
        std::ofstream(path, std::ios::binary) << bytes;
    }
    ~File() { std::filesystem::remove(path); }
};

std::string binary(const Triangles& triangles) {
    std::string bytes(80, ' ');
    bytes.replace(0, 5, "solid");  // as some programs begin binary files
    const auto count = static_cast<std::uint32_t>(triangles.size());
    bytes.append(reinterpret_cast<const char*>(&count), 4);
    for (const auto& t : triangles) {
        float numbers[12] = {};
        for (std::size_t p = 0; p < 3; ++p)
            for (std::size_t d = 0; d < 3; ++d) numbers[3 + 3 * p + d] = static_cast<float>(t[p][d]);
        bytes.append(reinterpret_cast<const char*>(numbers), sizeof numbers);
        bytes.append(2, '\0');
    }
    return bytes;
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
    const File file(bytes);
    try {
        (void)Solid::read(file.path, {0, 0, 0}, 1);
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
        const File file(bytes);
        const Solid solid = Solid::read(file.path, {1, 1, 1}, 0.125);
        CHECK(solid.triangles().size() == 12);
        CHECK(solid.low() == Real3{1, 1, 1});
        CHECK(solid.high() == Real3{1.25, 1.5, 2});
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

TEST_CASE("a box from an STL file moves as the box does, to the last bit") {
    Settings s;
    s.cells = {12, 12, 12}, s.patch_cells = {6, 6, 6}, s.size = {1.2, 1.2, 1.2};
    s.laws = {"neo-hookean"}, s.densities = {1000}, s.young = {1e5}, s.poisson = {0.3};
    s.velocities = {0, -3, 0}, s.gravity = {0, -10, 0};
    s.end = 0.05;
    const File file(binary(box({0.25, 0.15, 0.25}, {0.75, 0.65, 0.75})));
    Settings other = s;
    s.shapes = {"box 0.25 0.15 0.25 0.75 0.65 0.75"};
    other.shapes = {"stl " + file.path.string() + " 0 0 0 1"};
    const Ended one = run(settled(s));
    CHECK(one.points.size() > 800);
    CHECK(same_bits(one, run(settled(other))));
    // Beyond either side of the domain.
    for (const char* place : {" 0.5 0 0 1", " -0.3 0 0 1"}) {
        other.shapes = {"stl " + file.path.string() + place};
        std::string why;
        try {
            settled(other);
        } catch (const Error& error) {
            why = error.text();
        }
        CHECK(why.find("outside the domain, in x") != std::string::npos);
    }
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
    const File file(far);
    try {
        (void)Solid::read(file.path, {}, 1);
        FAIL("it was taken");
    } catch (const Error& error) {
        CHECK(error.text().find("triangle 1 lies too far away") != std::string::npos);
        CHECK(error.text().find("1e+100") != std::string::npos);
    }
}
