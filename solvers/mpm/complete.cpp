// What no key of a case says alone: materials, bodies, plates and surfaces; and what cannot be.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "methods/geometry/stl.hpp"
#include "solvers/mpm/fill.hpp"
#include "solvers/mpm/settings.hpp"
#include "solvers/mpm/surface.hpp"

namespace strata::mpm {

namespace {

/// "bodies[2].radius".
std::string entry_key(const char* array, std::size_t i, const char* key) {
    return fmt::format("{}[{}].{}", array, i, key);
}

/// Refuses keys that a shape does not have.
template <class Shape>
void check_shape_keys(const char* array, std::size_t i, const Shape& of, const char* name,
                      const graph::CaseSchema& keys) {
    const bool ball = of.shape == Body::Shape::sphere, file = of.shape == Body::Shape::stl;
    const auto unused = [&](const char* key, bool given, bool used) {
        if (given && !used)
            keys.refuse(entry_key(array, i, key), fmt::format("\"{}\" has no such key", name), "none");
    };
    unused("from", of.a != Real3{} && of.a != of.centre, !ball && !file);
    unused("to", of.b != Real3{} && of.b != of.centre, !ball && !file);
    unused("centre", of.centre != Real3{}, ball);
    unused("radius", of.radius != 0, of.shape != Body::Shape::box && !file);
}

void make_shape(Body& body, std::size_t i, const graph::CaseSchema& keys) {
    const char* const name = graph::name_in(kBodies, body.shape);
    check_shape_keys("bodies", i, body, name, keys);
    if (body.shape == Body::Shape::stl) {
        const std::string key = entry_key("bodies", i, "file");
        if (body.file.empty()) keys.refuse(key, "an STL file is needed", "its name");
        const auto path = keys.path(key, body.file);
        body.solid = std::make_shared<const geometry::Solid>(geometry::read_stl(path, body.move, body.scale),
                                                             path.string());
        return;
    }
    if (!body.file.empty())
        keys.refuse(entry_key("bodies", i, "file"), fmt::format("\"{}\" has no file", name), "none");
    if (body.shape == Body::Shape::sphere) body.a = body.b = body.centre;
    if (body.shape != Body::Shape::box && !(body.radius > 0))
        keys.refuse(entry_key("bodies", i, "radius"), fmt::format("nothing is in the {}", name), "> 0");
    if (body.shape == Body::Shape::cylinder && body.a == body.b)
        keys.refuse(entry_key("bodies", i, "to"), "nothing is in the cylinder", "two ends that differ");
    for (std::size_t d = 0; body.shape == Body::Shape::box && d < 3; ++d)
        if (!(body.b[d] > body.a[d]))
            keys.refuse(entry_key("bodies", i, "to"), "nothing is in the box", "a corner above `from`");
}

/// The material that a body names, by its number.
int material_of(const Settings& s, std::size_t i, const graph::CaseSchema& keys) {
    const Body& body = s.bodies[i];
    if (body.hole || body.made_of.empty()) return body.hole ? -1 : body.material;
    std::vector<std::string> names;
    for (const GivenMaterial& m : s.given_materials) {
        if (m.name == body.made_of) return static_cast<int>(names.size());
        names.push_back('"' + m.name + '"');
    }
    keys.refuse(entry_key("bodies", i, "material"), "there is no such material",
                fmt::format("{}", fmt::join(names, ", ")));
}

void make_bodies(Settings& s, const graph::CaseSchema& keys) {
    // Half of a body may be the image of the other behind a symmetry wall.
    const auto beyond = [&](std::size_t d, const Body& body) {
        const double slack = 1e-12 * s.size[d], middle = 0.5 * (body.low()[d] + body.high()[d]);
        const auto half = [&](int upper, double wall) {
            return s.wall(d, upper) == Wall::symmetry && std::abs(middle - wall) <= slack;
        };
        return (body.low()[d] < -slack && !half(0, 0)) ||
               (body.high()[d] > s.size[d] + slack && !half(1, s.size[d]));
    };
    for (std::size_t i = 0; i < s.bodies.size(); ++i) {
        Body& body = s.bodies[i];
        make_shape(body, i, keys);
        body.material = material_of(s, i, keys);
        for (std::size_t d = 0; d < 3; ++d)
            if (body.material >= 0 && beyond(d, body))
                keys.refuse(entry_key("bodies", i, "shape"),
                            fmt::format("the body has particles outside the domain, in {}", "xyz"[d]),
                            fmt::format("0 .. {} m", s.size[d]));
    }
}

/// Refuses a body that gets no particle, and a hole that takes none away: what is between particles is not
/// seen, and it would be missing without a word.
void check_filled(const Settings& s, const graph::CaseSchema& keys) {
    const Real3 h = s.spacing();
    Real3 apart{};
    for (std::size_t d = 0; d < 3; ++d) apart[d] = h[d] / static_cast<double>(s.per_cell[d]);
    for (std::size_t i = 0; i < s.bodies.size(); ++i) {
        const Body& body = s.bodies[i];
        if (is_met(s, static_cast<int>(i))) continue;
        const Real3 low = body.low(), high = body.high();
        const std::string shape = fmt::format(
            "{}, {:.6g} x {:.6g} x {:.6g} m large; particles are {:.6g} x {:.6g} x {:.6g} m apart",
            graph::name_in(kBodies, body.shape), high[0] - low[0], high[1] - low[1], high[2] - low[2],
            apart[0], apart[1], apart[2]);
        const std::string key = entry_key("bodies", i, "shape");
        if (body.material < 0)
            keys.refuse(key, fmt::format("no particle is in the hole: a {}", shape),
                        "a hole within a body that comes after it, and larger than particles are apart; or "
                        "more of particles.per_cell or grid.cells");
        keys.refuse(key, fmt::format("no particle is in the body: a {}", shape),
                    fmt::format("a body that is larger than particles are apart and not within those before "
                                "it; or more of particles.per_cell or grid.cells{}",
                                s.edges == "cut" ? "" : "; or particles.edges = \"cut\""));
    }
    for (std::size_t i = 0; s.pull != 0 && i < s.bodies.size(); ++i)
        for (const bool upper : {false, true})
            if (s.bodies[i].material >= 0 && particles_at_end(s, static_cast<int>(i), upper) == 0)
                keys.refuse(
                    "loads.pull",
                    fmt::format("bodies[{}] has no particle at its {} end in x to be pulled at", i,
                                upper ? "upper" : "lower"),
                    fmt::format("0, or bodies that end flat in x: a particle within {:.6g} m of each end",
                                apart[0]));
}

/// Refuses a surface under load that lies on no body.
void check_loaded(const Settings& s, const graph::CaseSchema& keys) {
    const std::vector<SurfacePoint> points = surface_points(s);
    for (std::size_t i = 0; i < s.surfaces.size(); ++i)
        if (std::none_of(points.begin(), points.end(),
                         [&](const SurfacePoint& p) { return p.surface == static_cast<int>(i); }))
            keys.refuse(entry_key("surfaces", i, "shape"), "the surface lies on no body",
                        "the surface of one of [[bodies]], or a part of it, within the domain");
}

/// Refuses a plate that is never in the domain.
void check_plates(const Settings& s, const graph::CaseSchema& keys) {
    for (std::size_t i = 0; i < s.plates.size(); ++i) {
        const Plate& plate = s.plates[i];
        const auto a = static_cast<std::size_t>(plate.axis);
        const double last = plate.place + plate.velocity[a] * s.end;
        if (plate.upper ? std::min(plate.place, last) < s.size[a] : std::max(plate.place, last) > 0) continue;
        keys.refuse(entry_key("plates", i, "place"), "the plate is outside of the domain until time.end",
                    fmt::format("a plate within 0 .. {:.6g} m, or one that comes in", s.size[a]));
    }
}

void check_walls(const Settings& s, const graph::CaseSchema& keys) {
    for (int a = 0; a < 3; ++a)
        for (int upper = 0; upper < 2; ++upper) {
            const int number = s.wall_number(a, upper);
            if (number < 0) continue;
            const auto i = static_cast<std::size_t>(number);
            const GivenWall& wall = s.walls[i];
            for (std::size_t other = i + 1; other < s.walls.size(); ++other)
                if (s.walls[other].is_at(a, upper))
                    keys.refuse(entry_key("walls", other, "side"), "a side has two walls", "each side once");
            if (wall.kind == Wall::periodic &&
                s.wall(static_cast<std::size_t>(a), 1 - upper) != Wall::periodic)
                keys.refuse(entry_key("walls", i, "kind"),
                            "what leaves a periodic side comes in at the other",
                            "\"periodic\" on both sides of a direction, or on none");
            if (wall.kind == Wall::friction && s.shape != "linear")
                keys.refuse(entry_key("walls", i, "kind"),
                            "only linear functions have all grid points on or before a wall",
                            "method.shape = \"linear\", or a plate at rest of kind \"friction\"");
            if (wall.velocity[static_cast<std::size_t>(a)] != 0)
                keys.refuse(entry_key("walls", i, "velocity"), "walls of the domain move along themselves",
                            "0 across each wall; a plate for one that comes nearer");
            if (wall.velocity != Real3{} && wall.kind != Wall::fixed && wall.kind != Wall::friction)
                keys.refuse(entry_key("walls", i, "velocity"), "what slips does not feel how a wall moves",
                            "0 where a wall is not fixed and has no friction");
        }
}

void make_surfaces(Settings& s, const graph::CaseSchema& keys) {
    for (std::size_t i = 0; i < s.surfaces.size(); ++i) {
        Surface& f = s.surfaces[i];
        const auto refuse = [&](const char* key, const std::string& allowed) {
            keys.refuse(entry_key("surfaces", i, key),
                        fmt::format("this is no {}", graph::name_in(kSurfaces, f.shape)), allowed);
        };
        check_shape_keys("surfaces", i, f, graph::name_in(kSurfaces, f.shape), keys);
        if (f.shape == Body::Shape::sphere) f.a = f.b = f.centre;
        int flat = 0;
        bool above = true;
        for (std::size_t d = 0; d < 3; ++d) flat += f.a[d] == f.b[d] ? 1 : 0, above &= f.a[d] <= f.b[d];
        if (f.shape == Body::Shape::box && (flat != 1 || !above))
            refuse("to", "above `from` in two directions, and the same in one");
        if (f.shape == Body::Shape::cylinder && flat == 3) refuse("to", "two ends that differ");
        if (f.shape != Body::Shape::box && !(f.radius > 0)) refuse("radius", "> 0");
    }
}

/// The ring's hole comes first; both cylinders are round the same axis, along z.
void check_vortex(const Settings& s, const graph::CaseSchema& keys) {
    bool ring = s.bodies.size() == 2 && s.bodies[0].material < 0;
    for (const Body& body : s.bodies)
        ring = ring && body.shape == Body::Shape::cylinder && body.a[0] == s.bodies[0].a[0] &&
               body.a[1] == s.bodies[0].a[1] && body.b[0] == body.a[0] && body.b[1] == body.a[1];
    if (!ring || !(s.bodies[0].radius < s.bodies[1].radius))
        keys.refuse("exact.problem", "a vortex turns a ring",
                    "two cylinders around one axis along z, the smaller one first and a hole");
}

void check_cylinder(const Settings& s, const graph::CaseSchema& keys) {
    const bool shapes = s.bodies.size() == 2 && s.bodies[0].material < 0 && s.surfaces.size() == 1 &&
                        s.bodies[0].shape == Body::Shape::cylinder &&
                        s.bodies[1].shape == Body::Shape::cylinder &&
                        s.surfaces[0].shape == Body::Shape::cylinder;
    if (!shapes || s.materials[0].law != Law::linear || !(s.rise > 0))
        keys.refuse(
            "exact.problem", "a linear cylinder with a hole, under pressure that rises inside it",
            "two cylinders, the hole first; a cylinder in [[surfaces]]; law \"linear\"; loads.rise > 0");
}

/// Waves run along x between the wall and the other end.
void check_impact(const Settings& s, const graph::CaseSchema& keys) {
    const Body& bar = s.bodies[0];
    bool held = bar.low()[0] == 0 && s.wall(0) != Wall::periodic;
    for (std::size_t d = 1; d < 3; ++d)
        held = held && s.wall(d) == Wall::symmetry && bar.low()[d] <= 0 && bar.high()[d] >= s.size[d];
    if (bar.shape != Body::Shape::box || !held)
        keys.refuse("exact.problem", "the bar begins at the wall x = 0, and its sides are held",
                    "a box from x = 0 that fills y and z, between symmetry walls");
    if (s.end > bar.high()[0] / s.materials[0].wave_speed())
        keys.refuse("time.end", "waves come back from the other end before",
                    fmt::format("up to {:.6g} s", bar.high()[0] / s.materials[0].wave_speed()));
}

/// Loads, method and contact, each of which forbids some of the others.
void check_method(const Settings& s, const graph::CaseSchema& keys) {
    if (s.wall(2) == Wall::symmetry && s.cells[2] == 1 && s.gravity[2] != 0)
        keys.refuse("loads.gravity", "nothing falls across a plane problem", "0 in z");
    if (s.contact() && s.fused)
        keys.refuse("method.fused", "CST and CIF are one task where all bodies share one velocity field",
                    "false with several groups of bodies");
    if (s.by_cells() && !s.quadratic())
        keys.refuse("method.quadrature", "forces are integrals over cells for B-splines alone",
                    "\"points\", or method.shape = \"quadratic\"");
    if (s.by_cells() && s.transfer() == Transfer::flip)
        keys.refuse("method.transfer", "with integrals over cells FLIP's velocities grow without bound",
                    "\"apic\" or \"pic\" with method.quadrature = \"cells\"");
    if (s.by_cells() && s.fused)
        keys.refuse("method.fused",
                    "a cell's stress is fitted to its neighbours' as well, so CIF waits for CST",
                    "false with method.quadrature = \"cells\"");
    if (s.by_cells() && s.contact())
        keys.refuse("method.quadrature", "a cell that several bodies share is none that one fills",
                    "\"points\" with several groups of bodies");
    const auto rubs = [](const auto& wall) { return wall.kind == Wall::friction; };
    if (s.friction > 0 && !s.contact() && std::ranges::none_of(s.walls, rubs) &&
        std::ranges::none_of(s.plates, rubs))
        keys.refuse("contact.friction", "nothing is in contact",
                    "0, or several groups of bodies, or a wall or plate of kind \"friction\"");
}

void check_exact_problem(const Settings& s, const graph::CaseSchema& keys) {
    if (s.problem == "sliding" && (s.bodies.size() != 2 || s.groups() != 2 || s.gravity[0] == 0))
        keys.refuse("exact.problem", "one body slides on another, drawn by gravity",
                    "two bodies, the second with group = 1, loads.gravity in x and y");
    if (s.manufactured() && !s.surfaces.empty())
        keys.refuse("surfaces", "a manufactured solution has its own loads", "no [[surfaces]]");
    if (s.problem == "cylinder") check_cylinder(s, keys);
    const bool own = s.problem == "sliding" || s.problem == "cylinder";
    if (s.vortex()) check_vortex(s, keys);
    if (s.exact() && !own && s.amplitude == 0) keys.refuse("exact.amplitude", "nothing would move", "not 0");
    if (s.exact() && !own && (s.materials.size() != 1 || (s.bodies.size() != 1 && !s.vortex())))
        keys.refuse("exact.problem", "an exact solution is that of one body", "one body, one material");
    if (s.manufactured() && s.materials[0].law != Law::neo_hookean)
        keys.refuse("materials[0].law", "manufactured solutions were derived for one law", "neo-hookean");
    if (s.problem == "axial" && (s.materials[0].law != Law::linear || s.wall(0) != Wall::fixed))
        keys.refuse("exact.problem", "the axial mode is that of a linear bar between x = 0 and its free end",
                    "law = \"linear\" of its material, a fixed wall at x-min");
    if (s.problem == "impact") check_impact(s, keys);
    if (s.problem == "periodic bar" && s.wall(0) != Wall::periodic)
        keys.refuse("exact.problem", "the bar has no ends", "a periodic wall at side x");
}

}  // namespace

void complete(Settings& s, const graph::CaseSchema& keys) {
    check_walls(s, keys);
    make_surfaces(s, keys);
    s.materials = materials_of(s.given_materials, keys);
    make_bodies(s, keys);
    check_filled(s, keys);
    check_loaded(s, keys);
    check_plates(s, keys);
    check_method(s, keys);
    check_exact_problem(s, keys);
    if (s.error_limit > 0 && !s.exact())
        keys.refuse("verify.error", "no exact solution is known for this case", "0, or exact.problem");
}

}  // namespace strata::mpm
