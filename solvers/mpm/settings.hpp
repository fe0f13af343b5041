// What a case of this solver may say.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/graph/declare/family.hpp"
#include "core/run/case/former.hpp"
#include "core/run/case/time_keys.hpp"
#include "methods/geometry/solid.hpp"
#include "solvers/mpm/materials.hpp"

namespace strata::mpm {

using graph::Real3;

inline constexpr const char* kSolver = "mpm";
inline constexpr const char* kSummary = "Solids by the material point method: explicit, hyperelastic, 3-D.";

enum class Wall : std::uint8_t { symmetry, fixed, friction, periodic };
enum class Transfer : std::uint8_t { flip, pic, apic };

/// The wall on one side of the domain, or on both of a direction.
struct GivenWall {
    int side = 0;  // of kWallSides
    Wall kind = Wall::symmetry;
    Real3 velocity{};

    [[nodiscard]] bool is_at(int axis, int upper) const {
        return side % 3 == axis && (side < 3 || side / 3 == 1 + upper);
    }
};

/// A body: a simple shape that is filled with particles.
struct Body {
    enum class Shape : std::uint8_t { box, sphere, cylinder, stl } shape = Shape::box;
    Real3 a{}, b{};  // box: low and high corner; cylinder: ends of the axis; sphere: a is the centre
    double radius = 0;
    int material = 0;  // -1: a hole
    std::int64_t group = 0;
    Real3 velocity{};
    std::shared_ptr<const geometry::Solid> solid = {};  // stl

    /// As a case gives them, for complete().
    Real3 centre{}, move{};
    double scale = 1;
    std::string made_of = {}, file = {};
    bool hole = false;

    [[nodiscard]] bool contains(const Real3& x) const;
    /// Of the box around it.
    [[nodiscard]] Real3 low() const;
    [[nodiscard]] Real3 high() const;
};

/// A part of bodies' surfaces on which a pressure or a traction acts: a sphere, a cylinder's side, or a
/// rectangle (a box without extent in one direction).
struct Surface {
    Body::Shape shape = Body::Shape::box;
    Real3 a{}, b{}, centre{};
    double radius = 0;
    double pressure = 0;  // away from the axis or centre; to larger coordinates
    Real3 traction{};     // Pa, on the undeformed area
};

/// A half space that moves: at time t what is beyond `place` + velocity[axis] t along the axis.
struct Plate {
    int axis = 0;
    bool upper = true;  // it fills the side of larger coordinates
    double place = 0;
    Wall kind = Wall::symmetry;
    Real3 velocity{};
};

/// The values before reading are the defaults.
struct Settings : graph::TimeKeys {
    Settings() : TimeKeys{.about = "cells that the fastest wave crosses in a step", .most = 2, .cfl = 0.4} {}

    std::vector<std::int64_t> cells, patch_cells{8, 8, 8};
    std::vector<double> size;
    std::vector<GivenWall> walls;  // sides without one: symmetry

    std::string shape = "linear", transfer_name = "flip";
    double flip = 0.99;
    std::string quadrature = "points", deformation = "forward";
    bool fused = false;

    std::vector<GivenMaterial> given_materials;
    std::vector<Body> bodies;
    std::vector<Plate> plates;
    std::vector<Surface> surfaces;
    std::vector<std::int64_t> per_cell{2, 2, 2};
    std::string edges = "whole";
    double friction = 0;

    std::vector<double> gravity{0, 0, 0};
    double pull = 0;
    double rise = 0, damping = 0;

    std::string problem = "none";
    double amplitude = 0;

    double error_limit = 0, energy_limit = 0;

    /// Made from the above by complete().
    std::vector<Material> materials;

    [[nodiscard]] graph::GridShape grid() const;
    [[nodiscard]] Real3 spacing() const;
    [[nodiscard]] bool quadratic() const { return shape == "quadratic"; }
    [[nodiscard]] Transfer transfer() const;
    /// APIC with linear functions: C is the gradient itself, of velocities of its own.
    [[nodiscard]] bool affine_gradient() const { return shape == "linear" && transfer() == Transfer::apic; }
    [[nodiscard]] bool gimp() const { return shape == "gimp"; }
    /// Whether internal forces are integrals over cells (quadrature.hpp).
    [[nodiscard]] bool by_cells() const { return quadrature == "cells"; }
    /// Whether a step's gradient is that at its end (deformation.hpp).
    [[nodiscard]] bool backward() const { return deformation == "backward"; }
    /// The one on a side of the domain, by its number in `walls`; -1: none is given.
    [[nodiscard]] int wall_number(int axis, int upper) const;
    [[nodiscard]] Wall wall(std::size_t axis, int upper = 0) const;
    [[nodiscard]] Real3 wall_speed(int axis, int upper) const;
    /// Whether there is an exact solution, and whether a body force of its own drives it.
    [[nodiscard]] bool exact() const { return problem != "none"; }
    [[nodiscard]] bool manufactured() const {
        return problem == "periodic bar" || problem == "cube" || vortex();
    }
    [[nodiscard]] bool vortex() const { return problem == "vortex"; }
    /// How many velocity fields there are; whether there are several, of bodies in contact.
    [[nodiscard]] int groups() const;
    [[nodiscard]] bool contact() const { return groups() > 1; }
    [[nodiscard]] bool rubs() const { return contact() && friction > 0; }  // bodies, on each other
    /// Whether any material is plastic.
    [[nodiscard]] bool plastic() const;
    /// Whether particles carry a force of their own.
    [[nodiscard]] bool loads() const { return pull != 0 || changing_loads(); }
    /// Whether it is another one in each step.
    [[nodiscard]] bool changing_loads() const { return manufactured() || !surfaces.empty(); }
    [[nodiscard]] std::int64_t particles_per_cell() const { return per_cell[0] * per_cell[1] * per_cell[2]; }
};

/// The names that cases give to these.
constexpr graph::Named<Wall> kWalls[] = {{"symmetry", Wall::symmetry},
                                         {"fixed", Wall::fixed},
                                         {"friction", Wall::friction},
                                         {"periodic", Wall::periodic}};
constexpr graph::Named<Wall> kPlates[] = {
    {"symmetry", Wall::symmetry}, {"fixed", Wall::fixed}, {"friction", Wall::friction}};
constexpr graph::Named<Body::Shape> kBodies[] = {{"box", Body::Shape::box},
                                                 {"sphere", Body::Shape::sphere},
                                                 {"cylinder", Body::Shape::cylinder},
                                                 {"stl", Body::Shape::stl}};
constexpr graph::Named<Body::Shape> kSurfaces[] = {
    {"rectangle", Body::Shape::box}, {"sphere", Body::Shape::sphere}, {"cylinder", Body::Shape::cylinder}};
constexpr graph::Named<int> kWallSides[] = {{"x", 0},     {"y", 1},     {"z", 2},
                                            {"x-min", 3}, {"y-min", 4}, {"z-min", 5},
                                            {"x-max", 6}, {"y-max", 7}, {"z-max", 8}};
constexpr graph::Named<int> kAxes[] = {{"x", 0}, {"y", 1}, {"z", 2}};
constexpr graph::Named<bool> kSides[] = {{"lower", false}, {"upper", true}};

/// Declares the keys, bound to the settings, which must outlive them.
void declare_keys(graph::CaseSchema& keys, Settings& settings);
/// A schema with these keys alone.
[[nodiscard]] graph::CaseSchema schema(Settings& settings);

/// What the case said in keys of former versions, and how it says it now.
[[nodiscard]] graph::FormerKeys former_keys();

/// Finds out what no key says alone (materials, bodies) and refuses what cannot be. Throws Error with the
/// key's place.
void complete(Settings& settings, const graph::CaseSchema& schema);

}  // namespace strata::mpm
