// Bodies from STL files.
#include <string>

#include "core/base/error.hpp"
#include "tests/catch.hpp"
#include "tests/geometry/stl_files.hpp"
#include "tests/solvers/mpm/mpm_runs.hpp"

using namespace strata;
using namespace strata::mpm;
using namespace strata::mpm::tests;
using strata::tests::StlFile;

TEST_CASE("a box from an STL file moves as the box does, to the last bit") {
    Settings s;
    s.cells = {12, 12, 12}, s.patch_cells = {6, 6, 6}, s.size = {1.2, 1.2, 1.2};
    s.laws = {"neo-hookean"}, s.densities = {1000}, s.young = {1e5}, s.poisson = {0.3};
    s.velocities = {0, -3, 0}, s.gravity = {0, -10, 0};
    s.end = 0.05;
    const auto cube = strata::tests::box({0.25, 0.15, 0.25}, {0.75, 0.65, 0.75});
    const StlFile file(strata::tests::binary(cube));
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
