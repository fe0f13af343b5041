#include "solvers/flow/boundary_tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "core/base/error.hpp"
#include "core/run/case/key_text.hpp"

namespace strata::flow {

namespace {

constexpr std::size_t kMostFaces = 4;  // of a name, in a comment

std::vector<std::string> table_names(const std::set<std::string>& names) {
    std::vector<std::string> all;
    for (const std::string& name : names) all.push_back(fmt::format("[boundary.{}]", graph::key_text(name)));
    return all;
}

}  // namespace

std::string likely_kind(const std::string& name, const Settings& settings, int dimensions) {
    std::string lower = name;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const auto has = [&](const char* part) { return lower.find(part) != std::string::npos; };
    if (has("wall") || has("solid")) return settings.flow.equations == "euler" ? "slip-wall" : "wall";
    if (has("symmetry")) return "symmetry";
    if (has("collapsed")) return dimensions == 3 || settings.flow.axisymmetric ? "axis" : "symmetry";
    const bool is_within = settings.overlaps() && name.rfind(settings.meshes.begin()->first + "-", 0) != 0;
    return is_within ? "overset" : "far-field";
}

std::string missing_tables(const GridSystem& grid, const Settings& settings) {
    // In the order of the grid.
    std::vector<std::string> names;
    std::map<std::string, std::vector<std::string>> faces;
    for (const BoundaryRange& range : grid.boundaries) {
        if (settings.boundaries.count(range.name) != 0 || range.face.axis >= grid.dimensions) continue;
        std::vector<std::string>& of = faces[range.name];
        if (of.empty()) names.push_back(range.name);
        of.push_back(fmt::format("{} of {}", face_text(*grid.source, range.zone, range.face),
                                 zone_text(*grid.source, range.zone)));
    }
    std::string text;
    for (const std::string& name : names) {
        std::vector<std::string>& of = faces[name];
        const std::size_t more = of.size() - std::min(of.size(), kMostFaces);
        of.resize(of.size() - more);
        std::string comment = fmt::format("{}", fmt::join(of, ", "));
        if (more > 0) comment += fmt::format(" and {} more", more);
        // A name from a file may hold what a comment must not.
        std::replace_if(
            comment.begin(), comment.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
        text += fmt::format("[boundary.{}]   # {}\nkind = \"{}\"\n\n", graph::key_text(name), comment,
                            likely_kind(name, settings, grid.dimensions));
    }
    return text;
}

void check_boundary_tables(const GridSystem& grid, const Settings& settings, const graph::CaseSchema& keys) {
    std::set<std::string> of_grid, unused;
    for (const BoundaryRange& range : grid.boundaries)
        if (range.face.axis < grid.dimensions) of_grid.insert(range.name);
    for (const auto& [name, table] : settings.boundaries)
        if (of_grid.count(name) == 0) unused.insert(name);
    const std::string tables = missing_tables(grid, settings);
    if (!tables.empty()) {
        const auto missing = static_cast<std::size_t>(
            std::count_if(of_grid.begin(), of_grid.end(),
                          [&](const std::string& name) { return settings.boundaries.count(name) == 0; }));
        Error error(missing == 1
                        ? "the case says nothing of a boundary of its grid"
                        : fmt::format("the case says nothing of {} boundaries of its grid", missing));
        error.at(keys.file());
        if (!unused.empty())
            error.given(
                fmt::format("{}, which the grid does not have", fmt::join(table_names(unused), ", ")));
        error.allowed(
            "a table for each boundary: kind = \"wall\", \"slip-wall\", \"far-field\", \"symmetry\" ... "
            "(strata run flow --help lists all)");
        error.remedy("add these lines to the case, with the kind that each boundary has\n\n" + tables);
        throw error;
    }
    if (unused.empty()) return;
    keys.refuse("boundary." + *unused.begin() + ".kind",
                fmt::format("the grid has no boundary for {}", fmt::join(table_names(unused), ", ")),
                fmt::format("{}", fmt::join(of_grid, ", ")));
}

}  // namespace strata::flow
