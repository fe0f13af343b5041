#include "solvers/mpm/settings.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace strata::mpm {

namespace {

using graph::CaseSchema;
using graph::Choice;
using graph::EntryKeys;

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
    keys.arrays("walls", &s.walls,
                [](const EntryKeys& entry, GivenWall& wall) {
                    entry.key("side", Choice(&wall.side, kWallSides),
                              {.required = true, .meaning = "of the domain; x, y, z: both sides"});
                    entry.key(
                        "kind", Choice(&wall.kind, kWalls),
                        {.required = true,
                         .meaning = "slip, stick, Coulomb's friction (and bodies may part from it), or the "
                                    "opposite side"});
                    entry.key("velocity", &wall.velocity, {.unit = "m/s", .meaning = "along itself only"});
                },
                {.entries = {0, 6}, .meaning = "of the domain; sides without one: symmetry"});
}

void add_plate_keys(CaseSchema& keys, Settings& s) {
    keys.arrays(
        "plates", &s.plates,
        [](const EntryKeys& entry, Plate& plate) {
            entry.key("axis", Choice(&plate.axis, kAxes), {.required = true, .meaning = "across the plate"});
            entry.key("place", &plate.place,
                      {.unit = "m", .required = true, .meaning = "of its face on this axis, at the start"});
            entry.key("side", Choice(&plate.upper, kSides),
                      {.required = true, .meaning = "that it fills: of smaller or larger coordinates"});
            entry.key("kind", Choice(&plate.kind, kPlates), {.meaning = "as of walls"});
            entry.key("velocity", &plate.velocity, {.unit = "m/s", .meaning = "of the plate"});
        },
        {.entries = {0, 16}, .meaning = "walls that move: each fills a part of the domain"});
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

/// How a shape is written: of bodies, and of surfaces under load.
template <class Shape>
void add_shape_keys(const EntryKeys& entry, Shape& of, const std::string& box) {
    entry.key("from", &of.a,
              {.unit = "m", .meaning = box + ": the low corner; cylinder: one end of its axis"});
    entry.key("to", &of.b, {.unit = "m", .meaning = box + ": the high corner; cylinder: the other end"});
    entry.key("centre", &of.centre, {.unit = "m", .meaning = "sphere"});
    entry.key("radius", &of.radius, {.unit = "m", .least = 0, .meaning = "sphere, cylinder"});
}

/// Contact is between bodies, so its keys are among theirs.
void add_body_keys(CaseSchema& keys, Settings& s) {
    keys.arrays(
        "bodies", &s.bodies,
        [](const EntryKeys& entry, Body& body) {
            entry.key("shape", Choice(&body.shape, kBodies),
                      {.required = true, .meaning = "stl: a closed surface from a file"});
            add_shape_keys(entry, body, "box");
            entry.key("file", &body.file,
                      {.meaning = "stl: the file, beside the case or else in the current directory"});
            entry.key(
                "scale", &body.scale,
                {.unit = "1", .least = 0, .above_least = true, .meaning = "stl: of the file's lengths"});
            entry.key("move", &body.move, {.unit = "m", .meaning = "stl: by so much, after it is scaled"});
            entry.key("material", &body.made_of, {.meaning = "the name of one; none: the first"});
            entry.key("hole", &body.hole, {.meaning = "a hole in the bodies after it"});
            entry.key("velocity", &body.velocity, {.unit = "m/s", .meaning = "at the start"});
            entry.key(
                "group", &body.group,
                {.least = 0,
                 .most = 7,
                 .meaning = "bodies of one group stick to each other, others are in contact with it and have "
                            "a velocity field of their own; the surface of the lower number says where "
                            "normals point"});
        },
        {.entries = {1, 1024}, .meaning = "where they overlap the first counts"});
    keys.key(
        "particles.per_cell", &s.per_cell,
        {.least = 1, .most = 32, .entries = {3, 3}, .meaning = "particles in a cell, in each direction"});
    keys.key(
        "particles.edges", &s.edges,
        {.choices = {"whole", "cut"},
         .meaning = "particles at surfaces are whole, if their middle is in the body, or what of them is "
                    "in it"});
    keys.key("contact.friction", &s.friction,
             {.unit = "1",
              .least = 0,
              .meaning = "Coulomb's coefficient between groups, and at walls and plates of kind friction"});
}

void add_load_keys(CaseSchema& keys, Settings& s) {
    keys.key("loads.gravity", &s.gravity, {.unit = "m/s2", .entries = {3, 3}, .meaning = "acceleration"});
    keys.key("loads.pull", &s.pull,
             {.unit = "N",
              .meaning = "opposite forces on the two ends, in x, of each body (its outermost particles)"});
    keys.key("loads.rise", &s.rise,
             {.unit = "s", .least = 0, .meaning = "over which loads on surfaces grow from 0"});
    keys.key("loads.damping", &s.damping,
             {.unit = "1/s", .least = 0, .meaning = "of all velocities, for static solutions"});
    keys.arrays(
        "surfaces", &s.surfaces,
        [](const EntryKeys& entry, Surface& surface) {
            entry.key(
                "shape", Choice(&surface.shape, kSurfaces),
                {.required = true, .meaning = "flat in one direction; all around; the side of a cylinder"});
            add_shape_keys(entry, surface, "rectangle");
            entry.key(
                "pressure", &surface.pressure,
                {.unit = "Pa",
                 .meaning = "following the surface: away from the axis or centre, to larger coordinates "
                            "on a rectangle; < 0 the other way"});
            entry.key("traction", &surface.traction, {.unit = "Pa", .meaning = "per undeformed area"});
        },
        {.entries = {0, 64}, .meaning = "of bodies, under pressure or traction"});
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
    keys.key("verify.energy", &s.energy_limit,
             {.unit = "1",
              .least = 0,
              .decides = false,
              .meaning =
                  "energy that was lost or won, as a share of the largest that there was; 0: not "
                  "compared; where verify.error is 0 too nothing is verified, and a run beyond 0.05 fails"});
}

}  // namespace

void declare_keys(CaseSchema& keys, Settings& s) {
    add_grid_keys(keys, s);
    add_plate_keys(keys, s);
    add_method_keys(keys, s);
    add_material_keys(keys, s.given_materials);
    add_body_keys(keys, s);
    add_load_keys(keys, s);
    add_exact_keys(keys, s);
    add_time_and_check_keys(keys, s);
    keys.former(former_keys());
}

CaseSchema schema(Settings& s) {
    CaseSchema keys(kSolver, kSummary);
    declare_keys(keys, s);
    return keys;
}

Transfer Settings::transfer() const {
    return transfer_name == "flip" ? Transfer::flip : transfer_name == "pic" ? Transfer::pic : Transfer::apic;
}

int Settings::wall_number(int axis, int upper) const {
    for (std::size_t i = 0; i < walls.size(); ++i)
        if (walls[i].is_at(axis, upper)) return static_cast<int>(i);
    return -1;
}

Wall Settings::wall(std::size_t axis, int upper) const {
    const int number = wall_number(static_cast<int>(axis), upper);
    return number < 0 ? Wall::symmetry : walls[static_cast<std::size_t>(number)].kind;
}

Real3 Settings::wall_speed(int axis, int upper) const {
    const int number = wall_number(axis, upper);
    return number < 0 ? Real3{} : walls[static_cast<std::size_t>(number)].velocity;
}

int Settings::groups() const {
    std::int64_t last = 0;
    for (const Body& body : bodies) last = std::max(last, body.group);
    return 1 + static_cast<int>(last);
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
