// Keys of cases reach the settings whose effects other tests show: those that no case and no other text of a
// test sets. tests/keys asks that each key is set somewhere.
#include <cmath>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "solvers/flow/settings.hpp"
#include "solvers/md/settings.hpp"
#include "solvers/mpm/settings.hpp"
#include "solvers/transport/settings.hpp"
#include "tests/catch.hpp"
#include "tests/graph/temporary.hpp"
#include "tests/solvers/md/md_runs.hpp"

using namespace strata;
using namespace strata::tests;

namespace {

using Numbers = std::vector<double>;

/// The settings that a case's text makes.
template <class Settings>
Settings read(graph::CaseSchema (*schema)(Settings&), const std::string& text) {
    Settings settings;
    schema(settings).read_text(text, "case.toml");
    return settings;
}

}  // namespace

TEST_CASE("what a case of compressible flow says reaches gas, scheme, time and reference values") {
    const flow::Settings s = read(flow::schema, R"(
solver = "flow"
[flow]
equations = "rans"
model = "sst"
alpha = 3.0
beta = 11.0
gamma = 1.3
prandtl = 0.68
turbulent_prandtl = 0.85
axisymmetric = true
[scheme]
order = 1
turbulence_order = 2
entropy_fix = 0.15
[time]
cfl = 50.0
cfl_turbulence = 20.0
cycle = "w"
[reference]
area = 2.0
length = 4.0
[initial]
place = 0.25
right = [0.5, -1.0, 0.4]
[overset]
lean = 3.0
)");
    const flow::Scheme scheme = s.scheme();
    CHECK(scheme.gas.gamma == 1.3);
    CHECK(scheme.gas.prandtl == 0.68);
    CHECK(scheme.gas.turbulent_prandtl == 0.85);
    CHECK(scheme.axisymmetric);
    CHECK(scheme.muscl.first_order);
    CHECK(scheme.sst.second_order);
    CHECK(scheme.entropy_fix == 0.15);
    CHECK(s.far_field(2).p == 1 / 1.3);
    CHECK(s.time.cfl == 50);
    CHECK(s.time.cfl_turbulence == 20);
    CHECK(s.time.cycle == "w");
    CHECK(s.initial.place == 0.25);
    CHECK(s.initial.right == Numbers{0.5, -1, 0.4});
    CHECK(s.overset.lean == 3);
    const flow::Reference reference = s.reference_values(3);
    CHECK(reference.area == 2);
    CHECK(reference.length == 4);
    CHECK(reference.alpha == 3);
    CHECK(reference.beta == 11);
    // Without the keys the scheme is of second order, the model's variables of first.
    const flow::Settings plain = read(flow::schema, "solver = \"flow\"\n[flow]\nequations = \"rans\"\n");
    CHECK(!plain.scheme().muscl.first_order);
    CHECK(!plain.scheme().sa.second_order);
    CHECK(plain.reference_values(3).length == 1);
}

TEST_CASE("what a case of compressible flow says of grids and of their boundaries reaches these alone") {
    const flow::Settings s = read(flow::schema, R"(
solver = "flow"
[grid]
form = "unformatted big-endian single"
shift = [1.0, 2.0, 3.0]
before = 0.75
length = 1.5
naca = "2412"
tail = "blunt"
taper = 0.5
sweep = 30.0
twist = -3.0
[grid.motion]
kind = "pitch"
mean = 10.0
amplitude = 20.0
[mesh.near]
naca = "4415"
[boundary.hot]
kind = "wall"
temperature = 1.2
rotation = [0.3]
[boundary.above]
kind = "far-field"
hover_thrust = 0.01
[boundary.inlet]
kind = "total-inflow"
direction = [4.0, 3.0, 1.0]
[boundary.outlet]
kind = "mass-outflow"
mass_flow = 0.57
)");
    CHECK(s.grid.form == "unformatted big-endian single");
    CHECK(s.grid.shift == Numbers{1, 2, 3});
    CHECK(s.grid.own.of<flow::PlateGrid>().before == 0.75);
    CHECK(s.grid.own.of<flow::PlateGrid>().length == 1.5);
    CHECK(s.grid.naca == "2412");
    CHECK(s.grid.tail == "blunt");
    CHECK(s.grid.own.of<flow::WingGrid>().taper == 0.5);
    CHECK(s.grid.own.of<flow::WingGrid>().sweep == 30);
    CHECK(s.grid.own.of<flow::WingGrid>().twist == -3);
    CHECK(s.grid.motion.kind == "pitch");
    CHECK(s.grid.motion.mean == 10);
    CHECK(s.grid.motion.amplitude == 20);
    CHECK(s.meshes.at("near").grid.naca == "4415");
    CHECK(s.meshes.at("near").grid.tail == "scaled");
    REQUIRE(s.boundaries.size() == 4);
    CHECK(s.boundaries.at("hot").temperature == 1.2);
    CHECK(s.boundaries.at("hot").rotation == Numbers{0.3});
    CHECK(s.boundaries.at("above").hover_thrust == 0.01);
    CHECK(s.boundaries.at("above").rotation.empty());
    CHECK(s.boundaries.at("inlet").direction == Numbers{4, 3, 1});
    CHECK(s.boundaries.at("outlet").mass_flow == 0.57);
    CHECK(s.boundaries.at("inlet").mass_flow == 0);
}

TEST_CASE("a restart that changes what steps find for output is told key, both values, why, and what to do") {
    const std::string plain = "solver = \"flow\"\n[output]\n";
    flow::Settings before;
    graph::CaseSchema then = flow::schema(before);
    then.read_text(plain, "first.toml");
    const std::vector<std::vector<std::string>> changes = {
        {"vortices", "5", "0"},   {"plot3d", "10", "0"},           {"slices", "[\"x = 0.5\"]", "[]"},
        {"average", "2.5", "-1"}, {"probes", "[0.5, 0.25]", "[]"}, {"stations", "[0.75]", "[]"}};
    for (const std::vector<std::string>& change : changes) {
        const std::string key = "output." + change[0];
        CAPTURE(key);
        flow::Settings now;
        graph::CaseSchema keys = flow::schema(now);
        keys.read_text(plain + change[0] + " = " + change[1] + "\n", "case.toml");
        std::string said;
        try {
            keys.expect_restart(then.values_for_restart(), "run/checkpoint-000004");
        } catch (const Error& error) {
            said = error.text();
        }
        const std::string values =
            key + " (line 3) is " + change[1] + ", in the checkpoint " + change[2] + ";";
        for (const std::string& part : {"at: case.toml:3 " + key + "\n", "given: " + values,
                                        std::string("what steps find for output.vortices, plot3d, slices"),
                                        std::string("flow.start = \"RUN/STEP.q\"\n")})
            CHECK(said.find(part) != std::string::npos);
    }
}

TEST_CASE("what a case of material points says of walls, plates and loads makes these") {
    mpm::Settings s;
    graph::CaseSchema keys = mpm::schema(s);
    keys.read_text(R"(
solver = "mpm"
[grid]
cells = [8, 8, 8]
size = [1.0, 1.0, 1.0]
[[walls]]
side = "y-min"
kind = "friction"
velocity = [0.5, 0.0, 0.0]
[[walls]]
side = "y-max"
kind = "friction"
velocity = [0.0, 0.0, 0.25]
[[plates]]
axis = "x"
place = 0.875
side = "upper"
kind = "fixed"
velocity = [-2.0, 0.0, 0.0]
[[plates]]
axis = "y"
place = 0.125
side = "lower"
velocity = [0.0, 3.0, 0.0]
[[materials]]
name = "rubber"
law = "mooney-rivlin"
density = 1000.0
c1 = 1e5
c2 = 2e4
poisson = 0.49
[[materials]]
name = "metal"
law = "von-mises"
density = 2700.0
young = 70e9
poisson = 0.33
yield = 200e6
hardening = 2e9
[particles]
per_cell = [1, 2, 2]
edges = "cut"
[contact]
friction = 0.25
[[bodies]]
shape = "sphere"
centre = [0.5, 0.5, 0.5]
radius = 0.2
hole = true
[[bodies]]
shape = "box"
from = [0.25, 0.25, 0.25]
to = [0.75, 0.75, 0.75]
material = "metal"
velocity = [1.0, 2.0, 3.0]
group = 0
[[surfaces]]
shape = "rectangle"
from = [0.75, 0.25, 0.25]
to = [0.75, 0.75, 0.75]
traction = [0.0, 400.0, 0.0]
[[surfaces]]
shape = "sphere"
centre = [0.5, 0.5, 0.5]
radius = 0.2
pressure = 5.0
[method]
fused = true
[time]
end = 0.1
longest = 2e-3
)",
                   "case.toml");
    mpm::complete(s, keys);
    CHECK(s.bounded(1e-3) == 1e-3);
    CHECK(s.bounded(3e-3) == 2e-3);
    CHECK(s.wall_speed(1, 0) == graph::Real3{0.5, 0, 0});
    CHECK(s.wall_speed(1, 1) == graph::Real3{0, 0, 0.25});
    REQUIRE(s.plates.size() == 2);
    CHECK(s.plates[0].axis == 0);
    CHECK(s.plates[0].upper);
    CHECK(s.plates[0].place == 0.875);
    CHECK(s.plates[0].kind == mpm::Wall::fixed);
    CHECK(s.plates[0].velocity == graph::Real3{-2, 0, 0});
    CHECK(s.plates[1].axis == 1);
    CHECK(!s.plates[1].upper);
    CHECK(s.plates[1].kind == mpm::Wall::symmetry);
    CHECK(s.plates[1].velocity == graph::Real3{0, 3, 0});
    REQUIRE(s.surfaces.size() == 2);
    CHECK(s.surfaces[0].traction == graph::Real3{0, 400, 0});
    CHECK(s.surfaces[0].pressure == 0);
    CHECK(s.surfaces[1].a == graph::Real3{0.5, 0.5, 0.5});
    CHECK(s.surfaces[1].pressure == 5);
    REQUIRE(s.materials.size() == 2);
    CHECK(s.materials[0].law == mpm::Law::mooney_rivlin);
    CHECK(s.materials[0].c2 == 2e4);
    CHECK(s.materials[1].yield == 200e6);
    CHECK(s.materials[1].hardening == 2e9);
    REQUIRE(s.bodies.size() == 2);
    CHECK(s.bodies[0].material == -1);
    CHECK(s.bodies[0].radius == 0.2);
    CHECK(s.bodies[1].b == graph::Real3{0.75, 0.75, 0.75});
    CHECK(s.bodies[1].material == 1);
    CHECK(s.bodies[1].velocity == graph::Real3{1, 2, 3});
    CHECK(s.groups() == 1);
    CHECK(s.fused);
    CHECK(s.per_cell == std::vector<std::int64_t>{1, 2, 2});
    CHECK(s.edges == "cut");
    CHECK(s.friction == 0.25);
}

namespace {

md::Settings completed(const std::string& more) {
    md::Settings s;
    graph::CaseSchema keys = md::schema(s);
    keys.read_text("solver = \"md\"\n[time]\nstep = 0.005\nsteps = 100\n" + more, "case.toml");
    md::complete(s, keys);
    return s;
}

}  // namespace

TEST_CASE("unlike kinds of atoms are mixed by the rule that a case names", "[md]") {
    const TemporaryFolder folder;
    const std::string pair = folder
                                 .write("pair.xyz",
                                        "2\nLattice=\"16 0 0 0 16 0 0 0 16\" Properties=species:S:1:pos:R:3 "
                                        "pbc=\"T T T\"\nA 8 8 8\nB 9 8 8\n")
                                 .string();
    const auto mixture = [&](const std::string& rule) {
        return completed("[system]\nfile = \"" + pair + "\"\ntemperature = 1.44\n" + R"([kinds]
names = ["A", "B"]
masses = [1.0, 9.0]
epsilon = [1.0, 4.0]
sigma = [1.0, 0.25]
mixing = ")" + rule + "\"\n");
    };
    const md::LennardJones geometric = mixture("geometric").potential();
    const md::LennardJones lorentz = mixture("lorentz-berthelot").potential();
    REQUIRE(geometric.sigma.size() == 4);
    CHECK(geometric.epsilon[1] == Approx(2));
    CHECK(geometric.sigma[1] == Approx(0.5));
    CHECK(lorentz.epsilon[1] == Approx(2));
    CHECK(lorentz.sigma[1] == Approx(0.625));
    CHECK(mixture("geometric").mass_shares() == Numbers{1, 9});
}

TEST_CASE("patches have about as many atoms as a case says", "[md]") {
    const auto counts = [](const std::string& patch_atoms) {
        return completed(
                   "[system]\ncells = [10, 10, 10]\ndensity = 0.8442\ntemperature = 1.44\n"
                   "patch_atoms = " +
                   patch_atoms + "\n")
            .counts;
    };
    CHECK(counts("500") == graph::Int3{2, 2, 2});  // of 4000
    CHECK(counts("4000") == graph::Int3{1, 1, 1});
}

TEST_CASE("a skin follows from the drift of the energy that a case allows", "[md]") {
    const auto skin = [](const std::string& neighbours) {
        return completed(
                   "[system]\ncells = [10, 10, 10]\ndensity = 0.8442\ntemperature = 1.44\n[neighbours]\n" +
                   neighbours)
            .skin;
    };
    CHECK(skin("skin = 0.4\n") == 0.4);
    const double loose = skin("skin = 0.4\nevery = 10\ndrift = 1e-2\n");
    const double tight = skin("skin = 0.4\nevery = 10\ndrift = 1e-6\n");
    const double rare = skin("skin = 0.4\nevery = 40\ndrift = 1e-6\n");
    CAPTURE(loose, tight, rare);
    CHECK(loose > 0);
    CHECK(loose < tight);
    CHECK(tight < rare);
    CHECK(completed("[system]\ncells = [10, 10, 10]\ndensity = 0.8442\ntemperature = 1.44\n[neighbours]\n"
                    "margin = 0.2\n")
              .margin == 0.2);
}

TEST_CASE("no atom goes farther in a step of a minimisation than a case says", "[md]") {
    const TemporaryFolder folder;
    // Two atoms far within each other's repulsion.
    const std::string pair = folder
                                 .write("pair.xyz",
                                        "2\nLattice=\"16 0 0 0 16 0 0 0 16\" Properties=species:S:1:pos:R:3 "
                                        "pbc=\"T T T\"\nX 8 8 8\nX 8.5 8 8\n")
                                 .string();
    const auto way = [&](const std::string& longest) {
        md::Settings s =
            completed("method = \"fire\"\n[system]\nfile = \"" + pair +
                      "\"\ntemperature = 0\n[barostat]\nleast = 0.8\n[minimise]\nway = " + longest + "\n");
        CHECK(s.least_scale == 0.8);
        s.patches = {1, 1, 1};
        md::tests::Running run(s);
        const double before = run.atoms().at(1)[0];
        run.advance(2);
        return std::abs(run.atoms().at(1)[0] - before);
    };
    const double wide = way("0.05"), narrow = way("0.001");
    CAPTURE(wide, narrow);
    CHECK(wide > 0.005);
    CHECK(narrow > 0);
    CHECK(narrow <= 2 * 0.001 * (1 + 1e-12));
}

TEST_CASE("the background of a profile and the centre are those of the case") {
    const transport::Settings s = read(transport::schema, R"(
solver = "transport"
equation = "advection"
[grid]
cells = [32, 32]
size = [1.0, 1.0]
[profile]
kind = "gaussian"
background = 0.25
centre = [0.5, 0.25]
[time]
end = 0.1
longest = 0.01
)");
    CHECK(s.longest == 0.01);
    CHECK(s.background == 0.25);
    CHECK(s.centre == Numbers{0.5, 0.25});
    CHECK(s.width == 0.1);
}
