#include "solvers/mpm/settings.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace strata::mpm {

namespace {

using graph::CaseSchema;

void add_grid_keys(CaseSchema& keys, Settings& s) {
    keys.key("grid.cells", &s.cells,
             {.least = 1,
              .most = 1 << 20,
              .entries = {3, 3},
              .required = true,
              .meaning = "in each direction; one in z, between symmetry walls: a plane problem"});
    keys.key("grid.patch", &s.patch_cells,
             {.least = 1, .most = 1 << 20, .entries = {3, 3}, .meaning = "cells of a patch"});
    keys.key("grid.size", &s.size,
             {.unit = "m",
              .least = 0,
              .above_least = true,
              .entries = {3, 3},
              .required = true,
              .meaning = "of the domain, from (0, 0, 0) on"});
    keys.key("grid.walls", &s.walls,
             {.choices = {"symmetry", "fixed", "friction", "periodic"},
              .entries = {3, 6},
              .meaning = "both sides of each direction, or lower and upper of x, of y, of z: slip, stick, "
                         "Coulomb's friction (and bodies may part from it), or the opposite side"});
    keys.key(
        "grid.wall_velocity", &s.wall_velocity,
        {.unit = "m/s",
         .entries = {0, 18},
         .meaning = "three numbers a wall, lower and upper of x, of y, of z; along walls only; none: all "
                    "are at rest"});
}

void add_plate_keys(CaseSchema& keys, Settings& s) {
    keys.key("plates.faces", &s.plate_faces,
             {.entries = {0, 16},
              .meaning = "walls that move: \"x > 0.8\" or \"y < 0.1\" fills that part of the domain, in m, "
                         "at the start"});
    keys.key("plates.kind", &s.plate_kinds,
             {.choices = {"symmetry", "fixed", "friction"},
              .entries = {0, 16},
              .meaning = "of each plate, as of walls; none: all symmetry"});
    keys.key("plates.velocity", &s.plate_velocities,
             {.unit = "m/s", .entries = {0, 48}, .meaning = "three numbers a plate; none: at rest"});
}

void add_method_keys(CaseSchema& keys, Settings& s) {
    keys.key("method.shape", &s.shape,
             {.choices = {"linear", "quadratic", "gimp"},
              .meaning = "shape functions: (tri)linear, B-splines, or linear ones averaged over particles "
                         "(uGIMP; patches of two cells and more)"});
    keys.key("method.transfer", &s.transfer_name,
             {.choices = {"flip", "pic", "apic"}, .meaning = "of velocities from the grid to particles"});
    keys.key("method.flip", &s.flip,
             {.least = 0, .most = 1, .meaning = "share of FLIP where transfer is flip; the rest is PIC"});
    keys.key(
        "method.quadrature", &s.quadrature,
        {.choices = {"points", "cells"},
         .meaning = "of internal forces: sums over particles, or integrals over cells of the stress that "
                    "is fitted to them (shape \"quadratic\", transfer not \"flip\"): second order where "
                    "particles cross cells"});
    keys.key(
        "method.deformation", &s.deformation,
        {.choices = {"forward", "backward"},
         .meaning = "F' = (1 + dt grad v) F, or (1 - dt grad v)^-1 F, which is exact for the gradient at "
                    "the end of a step, where it is taken"});
    keys.key(
        "method.fused", &s.fused,
        {.meaning = "CST and CIF as one task: the same bits, less memory traffic; false: the six tasks"});
}

void add_material_keys(CaseSchema& keys, Settings& s) {
    keys.key("materials.law", &s.laws,
             {.choices = {"neo-hookean", "mooney-rivlin", "linear", "von-mises"},
              .entries = {1, 64},
              .required = true,
              .meaning = "of each material; linear: small strains and rotations; von-mises: elastic (Hencky) "
                         "and plastic with isotropic hardening"});
    keys.key("materials.density", &s.densities,
             {.unit = "kg/m3",
              .least = 0,
              .above_least = true,
              .entries = {1, 64},
              .required = true,
              .meaning = "undeformed"});
    keys.key(
        "materials.young", &s.young,
        {.unit = "Pa", .least = 0, .entries = {0, 64}, .meaning = "Young's modulus (not mooney-rivlin)"});
    keys.key(
        "materials.poisson", &s.poisson,
        {.least = -0.99, .most = 0.499, .entries = {1, 64}, .required = true, .meaning = "Poisson's ratio"});
    keys.key("materials.c1", &s.c1,
             {.unit = "Pa", .least = 0, .entries = {0, 64}, .meaning = "mooney-rivlin"});
    keys.key("materials.c2", &s.c2,
             {.unit = "Pa", .least = 0, .entries = {0, 64}, .meaning = "mooney-rivlin"});
    keys.key("materials.yield", &s.yield,
             {.unit = "Pa", .least = 0, .entries = {0, 64}, .meaning = "von-mises: yield stress"});
    keys.key(
        "materials.hardening", &s.hardening,
        {.unit = "Pa",
         .least = 0,
         .entries = {0, 64},
         .meaning = "von-mises: growth of the yield stress with the equivalent plastic strain; none: 0"});
}

/// Contact is between bodies, so its keys are among theirs.
void add_body_keys(CaseSchema& keys, Settings& s) {
    keys.key("bodies.shapes", &s.shapes,
             {.entries = {1, 1024},
              .required = true,
              .meaning =
                  "\"box x y z x y z\", \"sphere x y z r\", \"cylinder x y z x y z r\" (ends of its axis), "
                  "in m, \"stl FILE x y z scale\" (a closed surface, scaled and then moved; FILE beside the "
                  "case, or else in the current directory); where they overlap the first counts"});
    keys.key("bodies.material", &s.body_materials,
             {.least = -1,
              .most = 63,
              .entries = {0, 1024},
              .meaning = "of each body, from 0; -1: a hole in those after it; none: all 0"});
    keys.key("bodies.velocity", &s.velocities,
             {.unit = "m/s", .entries = {0, 3072}, .meaning = "three numbers a body; none: at rest"});
    keys.key(
        "bodies.per_cell", &s.per_cell,
        {.least = 1, .most = 32, .entries = {3, 3}, .meaning = "particles in a cell, in each direction"});
    keys.key(
        "contact.groups", &s.contact_groups,
        {.least = 0,
         .most = 7,
         .entries = {0, 1024},
         .meaning = "of each body: those of one group stick to each other, others are in contact with it "
                    "and have a velocity field of their own; the surface of the lower number says where "
                    "normals point; none: all are one group"});
    keys.key("contact.friction", &s.friction,
             {.unit = "1",
              .least = 0,
              .meaning = "Coulomb's coefficient between groups, and at walls and plates of kind friction"});
    keys.key(
        "bodies.edges", &s.edges,
        {.choices = {"whole", "cut"},
         .meaning = "particles at surfaces are whole, if their middle is in the body, or what of them is "
                    "in it"});
}

void add_load_keys(CaseSchema& keys, Settings& s) {
    keys.key("loads.gravity", &s.gravity, {.unit = "m/s2", .entries = {3, 3}, .meaning = "acceleration"});
    keys.key("loads.pull", &s.pull,
             {.unit = "N",
              .meaning = "opposite forces on the two ends, in x, of each body (its outermost particles)"});
    keys.key("loads.surfaces", &s.surface_shapes,
             {.entries = {0, 64},
              .meaning = "under pressure or traction: \"sphere x y z r\", \"cylinder x y z x y z r\" (its "
                         "side), \"rectangle x y z x y z\" (flat in one direction), in m"});
    keys.key("loads.pressure", &s.pressures,
             {.unit = "Pa",
              .entries = {0, 64},
              .meaning = "of each surface, following it: away from the axis or centre, to larger coordinates "
                         "on a rectangle; < 0 the other way; none: 0"});
    keys.key("loads.traction", &s.tractions,
             {.unit = "Pa",
              .entries = {0, 192},
              .meaning = "three numbers a surface, per undeformed area; none: 0"});
    keys.key("loads.rise", &s.rise,
             {.unit = "s", .least = 0, .meaning = "over which loads on surfaces grow from 0"});
    keys.key("loads.damping", &s.damping,
             {.unit = "1/s", .least = 0, .meaning = "of all velocities, for static solutions"});
}

void add_exact_keys(CaseSchema& keys, Settings& s) {
    keys.key(
        "exact.problem", &s.problem,
        {.choices = {"none", "axial", "impact", "sliding", "cylinder", "periodic bar", "cube", "vortex"},
         .meaning = "axial: a bar fixed at x = 0 in its first mode; impact: one that hits x = 0; sliding: "
                    "the second body on the first, along x; cylinder: thick, under pressure inside; "
                    "periodic bar, cube (a square with one cell in z), vortex (a ring that is turned "
                    "in its middle): manufactured solutions (docs/mpm.md)"});
    keys.key("exact.amplitude", &s.amplitude,
             {.meaning = "axial, impact: of the velocity, m/s; manufactured: of the displacement, m; vortex: "
                         "of the angle, rad"});
}

void add_time_and_check_keys(CaseSchema& keys, Settings& s) {
    s.declare_time(keys);
    keys.key(
        "verify.error", &s.error_limit,
        {.unit = "1",
         .least = 0,
         .decides = false,
         .meaning = "root-mean-square error of displacements as a share of the amplitude; 0: not compared"});
    keys.key(
        "verify.energy", &s.energy_limit,
        {.unit = "1",
         .least = 0,
         .decides = false,
         .meaning = "energy that was lost or won, as a share of the largest that there was; 0: 0.05 where "
                    "verify.error is 0 too, else not compared"});
}

}  // namespace

void declare_keys(CaseSchema& keys, Settings& s) {
    add_grid_keys(keys, s);
    add_plate_keys(keys, s);
    add_method_keys(keys, s);
    add_material_keys(keys, s);
    add_body_keys(keys, s);
    add_load_keys(keys, s);
    add_exact_keys(keys, s);
    add_time_and_check_keys(keys, s);
}

CaseSchema schema(Settings& s) {
    CaseSchema keys(kSolver, kSummary);
    declare_keys(keys, s);
    return keys;
}

Transfer Settings::transfer() const {
    return transfer_name == "flip" ? Transfer::flip : transfer_name == "pic" ? Transfer::pic : Transfer::apic;
}

Wall wall_named(const std::string& name) {
    return name == "periodic"   ? Wall::periodic
           : name == "fixed"    ? Wall::fixed
           : name == "friction" ? Wall::friction
                                : Wall::symmetry;
}

Wall Settings::wall(std::size_t axis, int upper) const {
    return wall_named(walls.size() == 6 ? walls[2 * axis + static_cast<std::size_t>(upper)] : walls[axis]);
}

Real3 Settings::wall_speed(int axis, int upper) const {
    if (wall_velocity.empty()) return {};
    const auto first = static_cast<std::size_t>(6 * axis + 3 * upper);
    return {wall_velocity[first], wall_velocity[first + 1], wall_velocity[first + 2]};
}

int Settings::groups() const {
    return contact_groups.empty() ? 1 : 1 + static_cast<int>(std::ranges::max(contact_groups));
}

bool Settings::plastic() const {
    return std::any_of(materials.begin(), materials.end(), [](const Material& m) { return m.plastic(); });
}

graph::GridShape Settings::grid() const {
    graph::GridShape shape;
    for (std::size_t d = 0; d < 3; ++d) {
        shape.cells.hi[d] = static_cast<int>(cells[d]);
        shape.patch_cells[d] = static_cast<int>(patch_cells[d]);
        shape.periodic[d] = wall(d) == Wall::periodic;
        shape.spacing[d] = size[d] / static_cast<double>(cells[d]);
    }
    return shape;
}

Real3 Settings::spacing() const { return grid().spacing; }

}  // namespace strata::mpm
