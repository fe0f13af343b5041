#include "solvers/md/outside/outside.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/text.hpp"

namespace strata::md {

using graph::CaseSchema;

void Outside::add_keys(CaseSchema& keys) {
    keys.key("system.boundary", &boundary,
             {.choices = {"periodic", "open", "walls"},
              .entries = {0, 3},
              .meaning = "in each direction: periodic; open: atoms go where they like; walls at both faces "
                         "([walls]). None: periodic, or as an extended XYZ file has it"});
    keys.key("groups.names", &names, {.entries = {0, Groups::kMost}, .meaning = "of sets of atoms"});
    keys.key("groups.members", &members,
             {.entries = {0, 4096},
              .meaning = "who is in them from the start on, lines of a name add up: \"" +
                         std::string(Groups::kForm) + "\""});
    keys.key("groups.series", &series,
             {.entries = {0, Groups::kMost},
              .meaning = "groups with their temperature, kinetic energy and force in the series"});
    const auto list = [&](const char* name, std::vector<std::string>* to, const char* meaning) {
        keys.key(name, to, {.entries = {0, 64}, .meaning = meaning});
    };
    list("outside.forces", &given_forces, "\"GROUP FX FY FZ\": a force on each atom; GROUP: or all");
    list("outside.accelerations", &given_accelerations, "\"GROUP AX AY AZ\": gravity, for instance");
    list("outside.springs", &given_springs,
         "\"GROUP K\": a force -K d towards the place where an atom was at the start");
    list("outside.frozen", &frozen, "groups that do not move: their degrees of freedom do not count");
    list("outside.moving", &given_moving,
         "\"GROUP VX VY VZ\": groups with this velocity, whatever acts on them");
    list("walls.faces", &faces,
         "\"FACE lj93 EPSILON SIGMA CUTOFF\", \"FACE lj126 EPSILON SIGMA CUTOFF\", \"FACE harmonic EPSILON "
         "CUTOFF\" "
         "or \"FACE reflect\", and maybe \"of GROUP\"; FACE: xlo, xhi, ylo, yhi, zlo, zhi");
}

namespace {

/// "GROUP and so many numbers".
struct GroupNumbers {
    std::int32_t group;
    std::vector<double> numbers;
};

class Reader {
  public:
    Reader(const CaseSchema& keys, const Groups& groups) : keys_(keys), groups_(groups) {}

    [[nodiscard]] std::int32_t group(const char* key, std::string_view name, bool all) const {
        const auto bit = groups_.bit(name);
        if (!bit || (*bit == 0 && !all))
            keys_.refuse(key, fmt::format("there is no group '{}'", name),
                         fmt::format("{}{}", all ? "all, " : "", fmt::join(groups_.names(), ", ")));
        return *bit;
    }
    [[nodiscard]] std::vector<GroupNumbers> numbers(const char* key, const std::vector<std::string>& texts,
                                                    std::size_t count, bool all, const char* form) const {
        std::vector<GroupNumbers> made;
        for (const std::string& text : texts) {
            const auto words = words_of(text);
            if (words.size() != 1 + count) keys_.refuse(key, fmt::format("'{}'", text), form);
            GroupNumbers& one = made.emplace_back(GroupNumbers{group(key, words[0], all), {}});
            for (std::size_t w = 1; w <= count; ++w) {
                const auto number = real_of(words[w]);
                if (!number) keys_.refuse(key, fmt::format("'{}' is no number", words[w]), form);
                one.numbers.push_back(*number);
            }
        }
        return made;
    }
    [[nodiscard]] std::vector<Push> pushes(const char* key, const std::vector<std::string>& texts, bool all,
                                           const char* form) const {
        std::vector<Push> made;
        for (const GroupNumbers& each : numbers(key, texts, 3, all, form))
            made.push_back({each.group, {each.numbers[0], each.numbers[1], each.numbers[2]}});
        return made;
    }

  private:
    const CaseSchema& keys_;
    const Groups& groups_;
};

std::array<Border, 3> read_borders(const CaseSchema& keys, const std::vector<std::string>& given,
                                   const std::array<bool, 3>& open) {
    if (given.size() == 1 || given.size() == 2)
        keys.refuse("system.boundary", "not one for each direction", "3 of periodic, open, walls; or none");
    std::array<Border, 3> borders{};
    for (std::size_t a = 0; a < 3; ++a) {
        if (given.empty()) {
            borders[a] = open[a] ? Border::open : Border::periodic;
            continue;
        }
        borders[a] = given[a] == "open"    ? Border::open
                     : given[a] == "walls" ? Border::walls
                                           : Border::periodic;
        if (open[a] && borders[a] == Border::periodic)
            keys.refuse("system.boundary", fmt::format("system.file says that {} is not periodic", "xyz"[a]),
                        "open or walls there");
    }
    return borders;
}

std::vector<Wall> read_walls(const CaseSchema& keys, const std::vector<std::string>& faces,
                             const Reader& read, const std::array<Border, 3>& borders) {
    std::vector<Wall> walls;
    for (const std::string& text : faces) {
        auto words = words_of(text);
        std::int32_t group = 0;
        if (words.size() > 2 && words[words.size() - 2] == "of") {
            group = read.group("walls.faces", words.back(), true);
            words.resize(words.size() - 2);
        }
        const auto wall = Wall::of(words);
        if (!wall)
            keys.refuse(
                "walls.faces", fmt::format("'{}' is no wall", text),
                "FACE lj93 EPSILON SIGMA CUTOFF, FACE lj126 EPSILON SIGMA CUTOFF, FACE harmonic EPSILON "
                "CUTOFF or FACE reflect, with FACE xlo, xhi, ylo, yhi, zlo or zhi; and maybe of GROUP");
        if (borders[wall->axis()] == Border::periodic)
            keys.refuse("walls.faces", fmt::format("'{}' is at a periodic border", text),
                        "faces of directions that are open or walls (system.boundary)");
        walls.push_back(*wall);
        walls.back().group = group;
    }
    for (std::size_t face = 0; face < Wall::kFaces.size(); ++face)
        if (borders[face / 2] == Border::walls &&
            std::none_of(walls.begin(), walls.end(), [&](const Wall& w) { return w.face() == face; }))
            keys.refuse("walls.faces", fmt::format("there is no wall {}", Wall::kFaces[face]),
                        "one at each face of a direction with walls; or \"open\" in system.boundary");
    return walls;
}

}  // namespace

void Outside::complete(const CaseSchema& keys, const std::vector<std::string>& kinds,
                       const std::array<bool, 3>& file_open) {
    borders = read_borders(keys, boundary, file_open);
    for (const std::string& name : names)
        if (name == "all" || words_of(name).size() != 1 || std::count(names.begin(), names.end(), name) > 1)
            keys.refuse("groups.names", fmt::format("'{}'", name),
                        "one word each, none twice, none of them all");
    groups = Groups(names, kinds);
    for (const std::string& line : members)
        if (const std::string wrong = groups.add(line); !wrong.empty())
            keys.refuse("groups.members", fmt::format("'{}': {}", line, wrong),
                        fmt::format("{}; groups: {}; kinds: {}", Groups::kForm, fmt::join(names, ", "),
                                    fmt::join(kinds, ", ")));
    without_atoms.clear();
    for (const std::string& line : members) {
        try {
            keys.refuse("groups.members", fmt::format("no atom is in '{}' at the start", line),
                        "lines that hold an atom or more: places are those of the first atoms, in the box");
        } catch (const Error& error) {  // kept until the atoms are known
            without_atoms.push_back(error);
        }
    }
    if (const auto name = groups.empty())
        keys.refuse("groups.members", fmt::format("nobody is in the group '{}'", *name),
                    fmt::format("a line \"{}: ...\"", *name));

    const Reader read(keys, groups);
    watched.clear(), springs.clear();
    for (const std::string& name : series) watched.push_back(read.group("groups.series", name, false));
    forces = read.pushes("outside.forces", given_forces, true, "\"GROUP FX FY FZ\"");
    accelerations = read.pushes("outside.accelerations", given_accelerations, true, "\"GROUP AX AY AZ\"");
    moving = read.pushes("outside.moving", given_moving, false, "\"GROUP VX VY VZ\"");
    for (const std::string& name : frozen) moving.push_back({read.group("outside.frozen", name, false), {}});
    for (const auto& each :
         read.numbers("outside.springs", given_springs, 1, true, "\"GROUP K\", K above 0")) {
        if (each.numbers[0] <= 0)
            keys.refuse("outside.springs", fmt::format("{}", each.numbers[0]), "\"GROUP K\", K above 0");
        springs.push_back({each.group, each.numbers[0]});
    }
    walls = read_walls(keys, faces, read, borders);
}

bool Outside::open() const { return std::count(borders.begin(), borders.end(), Border::open) > 0; }

std::int32_t Outside::held() const {
    std::int32_t bits = 0;
    for (const Push& each : moving) bits |= each.group;
    return bits;
}

bool Outside::reflects() const {
    return std::any_of(walls.begin(), walls.end(), [](const Wall& wall) { return wall.reflects(); });
}

std::vector<std::size_t> Outside::faces_with_walls() const {
    std::vector<std::size_t> all;
    for (std::size_t face = 0; face < Wall::kFaces.size(); ++face)
        if (std::any_of(walls.begin(), walls.end(), [&](const Wall& wall) { return wall.face() == face; }))
            all.push_back(face);
    return all;
}

bool Outside::works() const {
    const auto along_periodic = [this](const Push& push) {
        for (std::size_t a = 0; a < 3; ++a)
            if (periodic(a) && push.vector[a] != 0) return true;
        return false;
    };
    return std::any_of(moving.begin(), moving.end(),
                       [](const Push& p) { return p.vector != decltype(p.vector){}; }) ||
           std::any_of(forces.begin(), forces.end(), along_periodic) ||
           std::any_of(accelerations.begin(), accelerations.end(), along_periodic);
}

int Outside::kept_momenta() const {
    if (!moving.empty() || !springs.empty()) return 0;
    int kept = 0;
    for (std::size_t a = 0; a < 3; ++a) {
        const auto along = [a](const Push& push) { return push.vector[a] != 0; };
        kept += std::none_of(forces.begin(), forces.end(), along) &&
                        std::none_of(accelerations.begin(), accelerations.end(), along) &&
                        std::none_of(walls.begin(), walls.end(),
                                     [a](const Wall& wall) { return wall.axis() == a; })
                    ? 1
                    : 0;
    }
    return kept;
}

}  // namespace strata::md
