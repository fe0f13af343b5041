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
    s.given_materials = {elastic(Law::neo_hookean, 1000, 1e5, 0.3)};
    s.gravity = {0, -10, 0};
    s.end = 0.05;
    const auto cube = strata::tests::box({0.25, 0.15, 0.25}, {0.75, 0.65, 0.75});
    const StlFile file(strata::tests::binary(cube));
    Settings other = s;
    s.bodies = {box({0.25, 0.15, 0.25}, {0.75, 0.65, 0.75})};
    other.bodies = {{.shape = Body::Shape::stl, .file = file.path.string()}};
    s.bodies[0].velocity = other.bodies[0].velocity = {0, -3, 0};
    const Ended one = run(settled(s));
    CHECK(one.points.size() > 800);
    CHECK(same_bits(one, run(settled(other))));
    // Beyond either side of the domain.
    for (const double x : {0.5, -0.3}) {
        other.bodies[0].move = {x, 0, 0};
        std::string why;
        try {
            settled(other);
        } catch (const Error& error) {
            why = error.text();
        }
        CHECK(why.find("outside the domain, in x") != std::string::npos);
    }
}
