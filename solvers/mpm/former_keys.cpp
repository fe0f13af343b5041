// Keys that cases of material points had until materials, bodies, plates and surfaces became tables of their
// own: lists with an entry for each of them, and shapes in texts.
#include <fmt/format.h>

#include <memory>
#include <sstream>

#include "core/run/case/former.hpp"
#include "solvers/mpm/settings.hpp"

namespace strata::mpm {

using graph::case_text;
using graph::CaseSchema;
using graph::Renewed;

namespace {

struct Former {
    std::vector<std::string> laws, shapes, surfaces, faces, kinds, walls;
    std::vector<double> density, young, poisson, c1, c2, yield, hardening;
    std::vector<std::int64_t> material, groups, per_cell;
    std::vector<double> velocity, pressure, traction, plate_velocity, wall_velocity;
    std::string edges;
};

void declare(CaseSchema& keys, Former& f) {
    f = {};
    keys.key("grid.walls", &f.walls, {.choices = {"symmetry", "fixed", "friction", "periodic"}});
    keys.key("grid.wall_velocity", &f.wall_velocity, {});
    keys.key("materials.law", &f.laws, {.choices = {"neo-hookean", "mooney-rivlin", "linear", "von-mises"}});
    keys.key("materials.density", &f.density, {}).key("materials.young", &f.young, {});
    keys.key("materials.poisson", &f.poisson, {}).key("materials.c1", &f.c1, {});
    keys.key("materials.c2", &f.c2, {}).key("materials.yield", &f.yield, {});
    keys.key("materials.hardening", &f.hardening, {});
    keys.key("bodies.shapes", &f.shapes, {}).key("bodies.material", &f.material, {});
    keys.key("bodies.velocity", &f.velocity, {}).key("contact.groups", &f.groups, {});
    keys.key("bodies.per_cell", &f.per_cell, {.entries = {3, 3}}).key("bodies.edges", &f.edges, {});
    keys.key("plates.faces", &f.faces, {}).key("plates.kind", &f.kinds, {});
    keys.key("plates.velocity", &f.plate_velocity, {});
    keys.key("loads.surfaces", &f.surfaces, {}).key("loads.pressure", &f.pressure, {});
    keys.key("loads.traction", &f.traction, {});
}

/// Lines of a table.
class Table {
  public:
    explicit Table(const std::string& section) : text_("[[" + section + "]]\n") {}
    template <class T>
    Table& add(const char* key, const T& value) {
        text_ += fmt::format("{} = {}\n", key, case_text(value));
        return *this;
    }
    Table& line(const std::string& line) {
        text_ += line + '\n';
        return *this;
    }
    /// With a blank line behind it.
    [[nodiscard]] std::string text() const { return text_ + '\n'; }

  private:
    std::string text_;
};

std::vector<double> three(const std::vector<double>& numbers, std::size_t i) {
    return {numbers.begin() + static_cast<std::ptrdiff_t>(3 * i),
            numbers.begin() + static_cast<std::ptrdiff_t>(3 * i + 3)};
}

bool moves(const std::vector<double>& velocity) {
    for (const double v : velocity)
        if (v != 0) return true;
    return false;
}

/// Refuses a list that has neither an entry for each of n things nor, where it may be left out, none.
template <class T>
void expect(const CaseSchema& keys, const char* key, const std::vector<T>& list, std::size_t n,
            bool needed = false) {
    if (list.size() != n && (needed || !list.empty()))
        keys.refuse(key, "a list has too few or too many entries", fmt::format("{}", n));
}

std::string material_name(const Former& f, std::size_t i) {
    std::size_t before = 0;
    for (std::size_t j = 0; j < i; ++j) before += f.laws[j] == f.laws[i] ? 1 : 0;
    return before == 0 ? f.laws[i] : fmt::format("{} {}", f.laws[i], before + 1);
}

std::string materials(const Former& f, const CaseSchema& keys) {
    const std::size_t n = f.laws.size();
    expect(keys, "materials.density", f.density, n, true);
    expect(keys, "materials.poisson", f.poisson, n, true);
    for (const auto& [key, list] : {std::pair{"young", &f.young},
                                    {"c1", &f.c1},
                                    {"c2", &f.c2},
                                    {"yield", &f.yield},
                                    {"hardening", &f.hardening}})
        expect(keys, fmt::format("materials.{}", key).c_str(), *list, n);
    std::string text;
    for (std::size_t i = 0; i < n; ++i) {
        Table table("materials");
        if (n > 1) table.add("name", material_name(f, i));
        table.add("law", f.laws[i]).add("density", f.density[i]);
        const bool rubber = f.laws[i] == "mooney-rivlin", metal = f.laws[i] == "von-mises";
        const auto add = [&](const char* key, const std::vector<double>& list, bool has) {
            if (has && i < list.size()) table.add(key, list[i]);
        };
        add("young", f.young, !rubber), add("c1", f.c1, rubber), add("c2", f.c2, rubber);
        table.add("poisson", f.poisson[i]);
        add("yield", f.yield, metal), add("hardening", f.hardening, metal);
        text += table.text();
    }
    return text;
}

/// "box x y z x y z", "sphere x y z r" and the others, of bodies and of surfaces.
void add_shape(Table& table, const std::string& shape, const char* key, const CaseSchema& keys) {
    std::istringstream words(shape);
    std::string name, file;
    words >> name;
    if (name == "stl") words >> file;
    std::vector<double> at;
    for (double x = 0; words >> x;) at.push_back(x);
    const std::size_t wanted = name == "box" || name == "rectangle" ? 6
                               : name == "sphere"                   ? 4
                               : name == "cylinder"                 ? 7
                               : name == "stl"                      ? 4
                                                                    : 0;
    if (wanted == 0 || at.size() != wanted || !words.eof())
        keys.refuse(key, fmt::format("no shape: \"{}\"", shape),
                    "\"box x y z x y z\", \"sphere x y z r\", \"cylinder x y z x y z r\", \"rectangle x y z "
                    "x y z\" or \"stl FILE x y z scale\"");
    table.add("shape", name);
    if (name == "stl") {
        table.add("file", file);
        if (moves(three(at, 0))) table.add("move", three(at, 0));
        if (at[3] != 1) table.add("scale", at[3]);
    } else if (name == "sphere") {
        table.add("centre", three(at, 0)).add("radius", at[3]);
    } else {
        table.add("from", three(at, 0)).add("to", three(at, 1));
        if (name == "cylinder") table.add("radius", at[6]);
    }
}

std::string bodies(const Former& f, const CaseSchema& keys) {
    const std::size_t n = f.shapes.size();
    expect(keys, "bodies.material", f.material, n);
    expect(keys, "bodies.velocity", f.velocity, 3 * n);
    expect(keys, "contact.groups", f.groups, n);
    std::string text;
    for (std::size_t i = 0; i < n; ++i) {
        Table table("bodies");
        add_shape(table, f.shapes[i], "bodies.shapes", keys);
        const std::int64_t material = f.material.empty() ? 0 : f.material[i];
        if (material >= static_cast<std::int64_t>(f.laws.size()))
            keys.refuse("bodies.material", "there is no such material",
                        fmt::format("-1 .. {}", f.laws.size() - 1));
        if (material < 0) table.line("hole = true");
        if (material >= 0 && f.laws.size() > 1)
            table.add("material", material_name(f, static_cast<std::size_t>(material)));
        if (!f.velocity.empty() && moves(three(f.velocity, i))) table.add("velocity", three(f.velocity, i));
        if (!f.groups.empty() && f.groups[i] != 0) table.line(fmt::format("group = {}", f.groups[i]));
        text += table.text();
    }
    return text;
}

std::string particles(const Former& f) {
    std::string text;
    if (!f.per_cell.empty())
        text += fmt::format("per_cell = [{}, {}, {}]\n", f.per_cell[0], f.per_cell[1], f.per_cell[2]);
    if (!f.edges.empty()) text += fmt::format("edges = {}\n", case_text(f.edges));
    return text.empty() ? text : "[particles]\n" + text + '\n';
}

/// Both sides of a direction together, where they are alike.
std::string walls(const Former& f, const CaseSchema& keys) {
    if (!f.walls.empty() && f.walls.size() != 3 && f.walls.size() != 6)
        keys.refuse("grid.walls", "walls are named by direction or by side", "3 or 6 entries");
    expect(keys, "grid.wall_velocity", f.wall_velocity, 18);
    std::string text;
    const auto kind = [&](std::size_t axis, std::size_t upper) {
        return f.walls.empty() ? "symmetry" : f.walls.size() == 6 ? f.walls[2 * axis + upper] : f.walls[axis];
    };
    const auto velocity = [&](std::size_t axis, std::size_t upper) {
        return f.wall_velocity.empty() ? std::vector<double>(3, 0.0)
                                       : three(f.wall_velocity, 2 * axis + upper);
    };
    const auto add = [&](const std::string& side, std::size_t axis, std::size_t upper) {
        if (kind(axis, upper) == "symmetry" && !moves(velocity(axis, upper))) return;
        Table table("walls");
        table.add("side", side).add("kind", std::string(kind(axis, upper)));
        if (moves(velocity(axis, upper))) table.add("velocity", velocity(axis, upper));
        text += table.text();
    };
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const std::string name(1, "xyz"[axis]);
        if (kind(axis, 0) == kind(axis, 1) && velocity(axis, 0) == velocity(axis, 1))
            add(name, axis, 0);
        else
            add(name + "-min", axis, 0), add(name + "-max", axis, 1);
    }
    return text;
}

std::string plates(const Former& f, const CaseSchema& keys) {
    const std::size_t n = f.faces.size();
    expect(keys, "plates.kind", f.kinds, n);
    expect(keys, "plates.velocity", f.plate_velocity, 3 * n);
    std::string text;
    for (std::size_t i = 0; i < n; ++i) {
        std::istringstream words(f.faces[i]);
        std::string axis, side;
        double place = 0;
        if (!(words >> axis >> side >> place) || !(words >> std::ws).eof() || axis.size() != 1 ||
            std::string("xyz").find(axis) == std::string::npos || (side != ">" && side != "<"))
            keys.refuse("plates.faces", fmt::format("no plate: \"{}\"", f.faces[i]),
                        "\"x > 0.8\", with x, y or z, > or <, and a place in m");
        Table table("plates");
        table.add("axis", axis).add("place", place).add("side", std::string(side == ">" ? "upper" : "lower"));
        if (!f.kinds.empty()) table.add("kind", f.kinds[i]);
        if (!f.plate_velocity.empty()) table.add("velocity", three(f.plate_velocity, i));
        text += table.text();
    }
    return text;
}

std::string surfaces(const Former& f, const CaseSchema& keys) {
    const std::size_t n = f.surfaces.size();
    expect(keys, "loads.pressure", f.pressure, n);
    expect(keys, "loads.traction", f.traction, 3 * n);
    std::string text;
    for (std::size_t i = 0; i < n; ++i) {
        Table table("surfaces");
        add_shape(table, f.surfaces[i], "loads.surfaces", keys);
        if (!f.pressure.empty()) table.add("pressure", f.pressure[i]);
        if (!f.traction.empty()) table.add("traction", three(f.traction, i));
        text += table.text();
    }
    return text;
}

}  // namespace

graph::FormerKeys former_keys() {
    const auto of = std::make_shared<Former>();
    return {.declare = [of](CaseSchema& keys) { declare(keys, *of); },
            .renew =
                [of](const CaseSchema& keys) {
                    std::vector<Renewed> all;
                    const auto add = [&](const char* section, const std::string& text) {
                        if (!text.empty()) all.push_back({section, text});
                    };
                    add("grid", walls(*of, keys));
                    add("plates", plates(*of, keys));
                    add("materials", materials(*of, keys));
                    add("bodies", particles(*of) + bodies(*of, keys));
                    add("loads", surfaces(*of, keys));
                    return all;
                }};
}

}  // namespace strata::mpm
