// What no key of a case says alone: materials, bodies, plates and surfaces; and what cannot be.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "methods/geometry/stl.hpp"
#include "solvers/mpm/fill.hpp"
#include "solvers/mpm/settings.hpp"
#include "solvers/mpm/surface.hpp"

namespace strata::mpm {

namespace {

/// Refuses a list that a case may leave out, where it has neither no entries nor `each` for each of n things.
template <class T>
void check_count(const graph::CaseSchema& keys, const char* key, const std::vector<T>& entries, std::size_t n,
                 const char* thing, std::size_t each = 1) {
    if (entries.empty() || entries.size() == each * n) return;
    keys.refuse(key,
                fmt::format("{} for each {} {} needed", each == 1 ? "an entry" : "three numbers", thing,
                            each == 1 ? "is" : "are"),
                fmt::format("none, or {}", each * n));
}

/// The i-th three of a list that may have been left out: zeros.
Real3 three_of(const std::vector<double>& numbers, std::size_t i) {
    if (numbers.empty()) return {};
    return {numbers[3 * i], numbers[3 * i + 1], numbers[3 * i + 2]};
}

/// One of each kind's numbers for each material.
void make_materials(Settings& s, const graph::CaseSchema& keys) {
    const std::size_t n = s.laws.size();
    const auto as_many = [&](const char* key, std::size_t entries) {
        if (entries != n)
            keys.refuse(key, "an entry for each material is needed",
                        fmt::format("{} entries, as materials.law has", n));
    };
    as_many("materials.density", s.densities.size());
    as_many("materials.poisson", s.poisson.size());
    for (std::size_t i = 0; i < n; ++i) {
        const bool rubber = s.laws[i] == "mooney-rivlin";
        if (rubber) {
            as_many("materials.c1", s.c1.size());
            as_many("materials.c2", s.c2.size());
            if (s.c1[i] + s.c2[i] <= 0)
                keys.refuse("materials.c1", "the material has no stiffness", "c1 + c2 > 0");
            s.materials.push_back(Material::mooney_rivlin(s.densities[i], s.c1[i], s.c2[i], s.poisson[i]));
        } else {
            as_many("materials.young", s.young.size());
            if (s.young[i] <= 0) keys.refuse("materials.young", "the material has no stiffness", "> 0");
            const Law law = s.laws[i] == "linear"      ? Law::linear
                            : s.laws[i] == "von-mises" ? Law::von_mises
                                                       : Law::neo_hookean;
            Material m = Material::elastic(law, s.densities[i], s.young[i], s.poisson[i]);
            if (law == Law::von_mises) {
                as_many("materials.yield", s.yield.size());
                if (!s.hardening.empty()) as_many("materials.hardening", s.hardening.size());
                if (s.yield[i] <= 0) keys.refuse("materials.yield", "the material is a liquid", "> 0");
                m.yield = s.yield[i], m.hardening = s.hardening.empty() ? 0 : s.hardening[i];
            }
            s.materials.push_back(m);
        }
    }
}

/// "stl FILE x y z scale".
Body read_stl(const std::string& text, const graph::CaseSchema& keys) {
    std::istringstream words(text);
    std::string name, file, more;
    Body body;
    body.shape = Body::Shape::stl;
    Real3 place{};
    double scale = 0;
    if (!(words >> name >> file >> place[0] >> place[1] >> place[2] >> scale) || (words >> more) ||
        !(scale > 0))
        keys.refuse("bodies.shapes", fmt::format("no shape: \"{}\"", text),
                    "\"stl FILE x y z scale\", with scale > 0 and no spaces in the file's name");
    const auto path = keys.path("bodies.shapes", file);
    body.solid =
        std::make_shared<const geometry::Solid>(geometry::read_stl(path, place, scale), path.string());
    return body;
}

Body read_body(const std::string& text, const graph::CaseSchema& keys) {
    std::istringstream words(text);
    std::string name;
    words >> name;
    if (name == "stl") return read_stl(text, keys);
    std::vector<double> numbers;
    for (double x = 0; words >> x;) numbers.push_back(x);
    Body body;
    const std::size_t wanted = name == "box" ? 6 : name == "sphere" ? 4 : name == "cylinder" ? 7 : 0;
    if (wanted == 0 || numbers.size() != wanted || !words.eof())
        keys.refuse("bodies.shapes", fmt::format("no shape: \"{}\"", text),
                    "\"box x y z x y z\", \"sphere x y z r\", \"cylinder x y z x y z r\" or \"stl FILE x y z "
                    "scale\"");
    const auto triple = [&](std::size_t at) { return Real3{numbers[at], numbers[at + 1], numbers[at + 2]}; };
    body.shape = name == "box"      ? Body::Shape::box
                 : name == "sphere" ? Body::Shape::sphere
                                    : Body::Shape::cylinder;
    body.a = triple(0);
    body.b = name == "sphere" ? body.a : triple(3);
    if (name != "box") body.radius = numbers.back();
    bool empty = name != "box" && !(body.radius > 0);
    if (name == "box")
        for (std::size_t d = 0; d < 3; ++d) empty = empty || !(body.b[d] > body.a[d]);
    if (name == "cylinder") empty = empty || body.a == body.b;
    if (empty)
        keys.refuse("bodies.shapes", fmt::format("nothing is in \"{}\"", text),
                    "a high corner above the low one; a radius > 0; two ends that differ");
    return body;
}

void make_bodies(Settings& s, const graph::CaseSchema& keys) {
    const std::size_t n = s.shapes.size();
    check_count(keys, "bodies.material", s.body_materials, n, "body");
    check_count(keys, "bodies.velocity", s.velocities, n, "body", 3);
    check_count(keys, "contact.groups", s.contact_groups, n, "body");
    // Half of a body may be the image of the other behind a symmetry wall.
    const auto beyond = [&](std::size_t d, const Body& body) {
        const double slack = 1e-12 * s.size[d], middle = 0.5 * (body.low()[d] + body.high()[d]);
        const auto half = [&](int upper, double wall) {
            return s.wall(d, upper) == Wall::symmetry && std::abs(middle - wall) <= slack;
        };
        return (body.low()[d] < -slack && !half(0, 0)) ||
               (body.high()[d] > s.size[d] + slack && !half(1, s.size[d]));
    };
    for (std::size_t i = 0; i < n; ++i) {
        Body body = read_body(s.shapes[i], keys);
        if (!s.body_materials.empty()) body.material = static_cast<int>(s.body_materials[i]);
        if (!s.contact_groups.empty()) body.group = static_cast<int>(s.contact_groups[i]);
        if (body.material >= static_cast<int>(s.materials.size()))
            keys.refuse("bodies.material", "there is no such material",
                        fmt::format("0 .. {}", s.materials.size() - 1));
        body.velocity = three_of(s.velocities, i);
        for (std::size_t d = 0; d < 3; ++d)
            if (body.material >= 0 && beyond(d, body))
                keys.refuse(
                    "bodies.shapes",
                    fmt::format("\"{}\" has particles outside the domain, in {}", s.shapes[i], "xyz"[d]),
                    fmt::format("0 .. {} m", s.size[d]));
        s.bodies.push_back(body);
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
            "\"{}\", {:.6g} x {:.6g} x {:.6g} m large; particles are {:.6g} x {:.6g} x {:.6g} m apart",
            s.shapes[i], high[0] - low[0], high[1] - low[1], high[2] - low[2], apart[0], apart[1], apart[2]);
        if (body.material < 0)
            keys.refuse("bodies.shapes", fmt::format("no particle is in the hole {}", shape),
                        "a hole within a body that comes after it, and larger than particles are apart; or "
                        "more of bodies.per_cell or grid.cells");
        keys.refuse("bodies.shapes", fmt::format("no particle is in {}", shape),
                    fmt::format("a body that is larger than particles are apart and not within those before "
                                "it; or more of bodies.per_cell or grid.cells{}",
                                s.edges == "cut" ? "" : "; or bodies.edges = \"cut\""));
    }
    for (std::size_t i = 0; s.pull != 0 && i < s.bodies.size(); ++i)
        for (const bool upper : {false, true})
            if (s.bodies[i].material >= 0 && particles_at_end(s, static_cast<int>(i), upper) == 0)
                keys.refuse(
                    "loads.pull",
                    fmt::format("\"{}\" has no particle at its {} end in x to be pulled at", s.shapes[i],
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
            keys.refuse("loads.surfaces", fmt::format("\"{}\" lies on no body", s.surface_shapes[i]),
                        "the surface of a shape of bodies.shapes, or a part of it, within the domain");
}

/// Refuses a plate that is never in the domain.
void check_plates(const Settings& s, const graph::CaseSchema& keys) {
    for (std::size_t i = 0; i < s.plates.size(); ++i) {
        const Plate& plate = s.plates[i];
        const auto a = static_cast<std::size_t>(plate.axis);
        const double last = plate.place + plate.velocity[a] * s.end;
        if (plate.upper ? std::min(plate.place, last) < s.size[a] : std::max(plate.place, last) > 0) continue;
        keys.refuse("plates.faces",
                    fmt::format("\"{}\" is outside of the domain until time.end", s.plate_faces[i]),
                    fmt::format("a plate within 0 .. {:.6g} m, or one that comes in", s.size[a]));
    }
}

void check_walls(const Settings& s, const graph::CaseSchema& keys) {
    if (s.walls.size() != 3 && s.walls.size() != 6)
        keys.refuse("grid.walls", "walls are named by direction or by side", "3 or 6 entries");
    if (!s.wall_velocity.empty() && s.wall_velocity.size() != 18)
        keys.refuse("grid.wall_velocity", "three numbers for each wall are needed", "none, or 18");
    for (std::size_t a = 0; a < 3; ++a)
        for (int upper = 0; upper < 2; ++upper) {
            const Wall kind = s.wall(a, upper);
            if (kind == Wall::periodic && s.wall(a, 1 - upper) != Wall::periodic)
                keys.refuse("grid.walls", "what leaves a periodic side comes in at the other",
                            "\"periodic\" on both sides of a direction, or on none");
            if (kind == Wall::friction && s.shape != "linear")
                keys.refuse("grid.walls", "only linear functions have all grid points on or before a wall",
                            "method.shape = \"linear\", or a plate at rest of kind \"friction\"");
            const Real3 v = s.wall_speed(static_cast<int>(a), upper);
            if (v[a] != 0)
                keys.refuse("grid.wall_velocity", "walls of the domain move along themselves",
                            "0 across each wall; a plate for one that comes nearer");
            if ((v[0] != 0 || v[1] != 0 || v[2] != 0) && kind != Wall::fixed && kind != Wall::friction)
                keys.refuse("grid.wall_velocity", "what slips does not feel how a wall moves",
                            "0 where a wall is not fixed and has no friction");
        }
}

void make_surfaces(Settings& s, const graph::CaseSchema& keys) {
    const std::size_t n = s.surface_shapes.size();
    check_count(keys, "loads.pressure", s.pressures, n, "surface");
    check_count(keys, "loads.traction", s.tractions, n, "surface", 3);
    for (std::size_t i = 0; i < n; ++i) {
        std::istringstream words(s.surface_shapes[i]);
        std::string name;
        words >> name;
        std::vector<double> at;
        for (double x = 0; words >> x;) at.push_back(x);
        const std::size_t wanted = name == "sphere"      ? 4
                                   : name == "cylinder"  ? 7
                                   : name == "rectangle" ? 6
                                                         : 0;
        Surface f;
        bool good = wanted != 0 && at.size() == wanted && words.eof();
        if (good) {
            f.shape = name == "sphere"     ? Body::Shape::sphere
                      : name == "cylinder" ? Body::Shape::cylinder
                                           : Body::Shape::box;
            f.a = {at[0], at[1], at[2]}, f.b = f.a;
            if (name != "sphere") f.b = {at[3], at[4], at[5]};
            if (name != "rectangle") f.radius = at.back();
            int flat = 0;
            for (std::size_t d = 0; d < 3; ++d) flat += f.a[d] == f.b[d], good = good && f.a[d] <= f.b[d];
            if (name == "rectangle") good = good && flat == 1;
            if (name == "cylinder") good = flat < 3;
            if (name != "rectangle") good = good && f.radius > 0;
        }
        if (!good)
            keys.refuse("loads.surfaces", fmt::format("no surface: \"{}\"", s.surface_shapes[i]),
                        "\"sphere x y z r\", \"cylinder x y z x y z r\" or \"rectangle x y z x y z\", flat "
                        "in one direction");
        if (!s.pressures.empty()) f.pressure = s.pressures[i];
        f.traction = three_of(s.tractions, i);
        s.surfaces.push_back(f);
    }
}

void make_plates(Settings& s, const graph::CaseSchema& keys) {
    const std::size_t n = s.plate_faces.size();
    check_count(keys, "plates.kind", s.plate_kinds, n, "plate");
    check_count(keys, "plates.velocity", s.plate_velocities, n, "plate", 3);
    for (std::size_t i = 0; i < n; ++i) {
        std::istringstream words(s.plate_faces[i]);
        std::string axis, side;
        Plate plate;
        const std::string names = "xyz";
        if (!(words >> axis >> side >> plate.place) || !(words >> std::ws).eof() || axis.size() != 1 ||
            names.find(axis) == std::string::npos || (side != ">" && side != "<"))
            keys.refuse("plates.faces", fmt::format("no plate: \"{}\"", s.plate_faces[i]),
                        "\"x > 0.8\", with x, y or z, > or <, and a place in m");
        plate.axis = static_cast<int>(names.find(axis)), plate.upper = side == ">";
        plate.kind = s.plate_kinds.empty() ? Wall::symmetry : wall_named(s.plate_kinds[i]);
        plate.velocity = three_of(s.plate_velocities, i);
        s.plates.push_back(plate);
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
        keys.refuse("exact.problem", "a linear cylinder with a hole, under pressure that rises inside it",
                    "two cylinders, the hole first; a cylinder as surface; law \"linear\"; loads.rise > 0");
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
                    "false with contact.groups");
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
                    "\"points\" with several contact.groups");
    const auto rubs = [](const std::string& kind) { return kind == "friction"; };
    if (s.friction > 0 && !s.contact() && std::ranges::none_of(s.walls, rubs) &&
        std::ranges::none_of(s.plate_kinds, rubs))
        keys.refuse("contact.friction", "nothing is in contact",
                    "0, or several contact.groups, or a wall or plate of kind \"friction\"");
}

void check_exact_problem(const Settings& s, const graph::CaseSchema& keys) {
    if (s.problem == "sliding" && (s.bodies.size() != 2 || s.groups() != 2 || s.gravity[0] == 0))
        keys.refuse("exact.problem", "one body slides on another, drawn by gravity",
                    "two shapes, contact.groups = [0, 1], loads.gravity in x and y");
    if (s.manufactured() && !s.surfaces.empty())
        keys.refuse("loads.surfaces", "a manufactured solution has its own loads", "none");
    if (s.problem == "cylinder") check_cylinder(s, keys);
    const bool own = s.problem == "sliding" || s.problem == "cylinder";
    if (s.vortex()) check_vortex(s, keys);
    if (s.exact() && !own && s.amplitude == 0) keys.refuse("exact.amplitude", "nothing would move", "not 0");
    if (s.exact() && !own && (s.materials.size() != 1 || (s.bodies.size() != 1 && !s.vortex())))
        keys.refuse("exact.problem", "an exact solution is that of one body", "one shape, one material");
    if (s.manufactured() && s.materials[0].law != Law::neo_hookean)
        keys.refuse("materials.law", "manufactured solutions were derived for one law", "neo-hookean");
    if (s.problem == "axial" && (s.materials[0].law != Law::linear || s.wall(0) != Wall::fixed))
        keys.refuse("exact.problem", "the axial mode is that of a linear bar between x = 0 and its free end",
                    "materials.law = [\"linear\"], grid.walls[0] = \"fixed\"");
    if (s.problem == "impact") check_impact(s, keys);
    if (s.problem == "periodic bar" && s.wall(0) != Wall::periodic)
        keys.refuse("grid.walls", "the bar has no ends", "\"periodic\" in x");
}

}  // namespace

void complete(Settings& s, const graph::CaseSchema& keys) {
    s.materials.clear(), s.bodies.clear(), s.plates.clear(), s.surfaces.clear();
    check_walls(s, keys);
    make_plates(s, keys);
    make_surfaces(s, keys);
    make_materials(s, keys);
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
