#include "core/balance/zones.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <unordered_map>

#include "core/balance/csv.hpp"
#include "core/base/error.hpp"

namespace strata::balance {
namespace {

constexpr double kMost = 1e300;
constexpr int kSides = 6;
const char* const kBox[kSides] = {"x0", "y0", "z0", "x1", "y1", "z1"};

double cost_of(const Csv& table) {
    if (table.has("cost")) return table.number("cost", 0, kMost);
    if (table.has("points")) return table.number("points", 0, kMost);
    double points = 1;
    for (const char* side : {"i", "j", "k"}) points *= table.number(side, 1, 1e9);
    return points;
}

/// Whether all columns are there. Throws Error where only some are.
bool has_all(const Csv& table, const std::string& path, const std::vector<std::string>& columns) {
    size_t found = 0;
    for (const std::string& column : columns) found += table.has(column) ? 1 : 0;
    if (found != 0 && found != columns.size())
        throw Error("columns that belong together are not all there")
            .at(path)
            .allowed(fmt::format("{}, or none of them", fmt::join(columns, ",")));
    return found != 0;
}

}  // namespace

Zones read_zones(const std::string& path) {
    Csv table(path,
              {"name", "points", "cost", "i", "j", "k", "x", "y", "z", "x0", "y0", "z0", "x1", "y1", "z1"});
    table.require("name");
    const bool dimensions = has_all(table, path, {"i", "j", "k"});
    const bool centres = has_all(table, path, {"x", "y", "z"});
    const bool boxes = has_all(table, path, {kBox, kBox + kSides});
    if (!table.has("cost") && !table.has("points") && !dimensions)
        throw Error("the table has no sizes").at(path).allowed("a column points, a column cost, or i,j,k");

    Zones zones;
    zones.source = path;
    std::vector<Box> placed;
    std::unordered_map<std::string, int> line_of;
    while (table.next()) {
        const std::string& name = table.text("name");
        if (name.empty()) throw table.error("name", "a zone has no name");
        if (const auto [first, is_new] = line_of.try_emplace(name, table.line()); !is_new)
            throw table.error("name", "a zone's name occurs twice")
                .allowed(fmt::format("each once; it is in line {} already", first->second));
        zones.names.push_back(name);
        zones.problem.costs.push_back(cost_of(table));
        if (boxes) {
            Box box{};
            for (size_t d = 0; d < 3; ++d) {
                box.low[d] = table.number(kBox[d], -kMost, kMost);
                box.high[d] = table.number(kBox[d + 3], -kMost, kMost);
                if (box.high[d] < box.low[d]) throw table.error(kBox[d + 3], "a box ends before it begins");
            }
            placed.push_back(box);
        }
        if (centres) {
            zones.problem.centres.push_back({table.number("x", -kMost, kMost),
                                             table.number("y", -kMost, kMost),
                                             table.number("z", -kMost, kMost)});
        } else if (boxes) {
            const Box& box = placed.back();
            Point centre{};
            for (size_t d = 0; d < 3; ++d) centre[d] = 0.5 * box.low[d] + 0.5 * box.high[d];
            zones.problem.centres.push_back(centre);
        }
    }
    if (zones.names.empty()) throw Error("the table has no zones").at(path);
    zones.problem.exchanged = overlaps(placed);
    return zones;
}

void read_exchanged(const std::string& path, Zones& zones) {
    std::unordered_map<std::string, int> index;
    for (size_t i = 0; i < zones.names.size(); ++i) index[zones.names[i]] = static_cast<int>(i);
    Csv table(path, {"a", "b", "bytes"});
    for (const char* column : {"a", "b", "bytes"}) table.require(column);
    std::vector<Exchanged> exchanged;
    const auto zone = [&](const char* column) {
        const auto found = index.find(table.text(column));
        if (found == index.end()) throw table.error(column, "there is no zone of this name");
        return found->second;
    };
    while (table.next()) {
        const int a = zone("a"), b = zone("b");
        if (a == b) throw table.error("b", "a zone exchanges nothing with itself");
        exchanged.push_back({a, b, table.number("bytes", 0, kMost)});
    }
    zones.problem.exchanged = std::move(exchanged);
}

}  // namespace strata::balance
