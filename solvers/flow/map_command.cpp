#include "solvers/flow/map_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "methods/curvilinear/map_file.hpp"

namespace strata::flow {

namespace {

/// "x 0 to 1, y -0.5 to 0.5" of the nodes of a range.
std::string extent_text(const GridSource& source, int zone, const Points& points) {
    Box box;
    for (std::size_t a = 0; a < 3; ++a) box.lo[a] = points.begin[a], box.hi[a] = points.end[a] + 1;
    if (source.dimensions() == 2) box.lo[2] = 0, box.hi[2] = 1;
    const std::int64_t count = box.volume();
    std::vector<double> x(static_cast<std::size_t>(source.dimensions() * count));
    source.nodes(zone, box, x.data());
    std::string text;
    for (int d = 0; d < source.dimensions(); ++d) {
        const auto [low, high] = std::minmax_element(x.begin() + d * count, x.begin() + (d + 1) * count);
        text += fmt::format("{}{} {:.5g} to {:.5g}", d == 0 ? "" : ", ", "xyz"[d], *low, *high);
    }
    return text;
}

}  // namespace

void write_found_map(const GridFiles& files, const std::filesystem::path& to) {
    std::error_code ignored;
    if (std::filesystem::exists(to, ignored))
        throw Error("the map file is there already")
            .at(to.string())
            .remedy("--out with another name; or remove this one, with what was changed in it");
    GridSystem grid = read_grid(files);
    const GridSource& source = *grid.source;
    for (const auto* notes : {&grid.notes, &grid.turned})
        for (const std::string& note : *notes) fmt::print("{}\n", note);
    const auto turned =
        std::erase_if(grid.joins, [](const JoinRange& join) { return join.turn != graph::kNoRotation; });
    write_map(to, grid);
    std::size_t named = 0;
    fmt::print("\n{:<20} {:<26} {}\n", "boundary", "nodes", "where");
    for (const BoundaryRange& range : grid.boundaries) {
        if (range.name != "collapsed") ++named;
        fmt::print("{:<20} {:<26} {}\n", range.name, range_text(source, range.zone, range.points),
                   extent_text(source, range.zone, range.points));
    }
    fmt::print("\n{}: joins: {}; parts of faces to be named: {}; collapsed: {}\n", to.string(),
               grid.joins.size(), named, grid.boundaries.size() - named);
    if (turned > 0)
        fmt::print("joins by the turn are left out ({}): the case says grid.turn, and they are found again\n",
                   turned);
    fmt::print(
        "Change names in it as you like; faces with one name are one boundary. In the case: grid.map, and "
        "a table [boundary.\"NAME\"] for each name.\n");
}

}  // namespace strata::flow
