// Sets of zones: from a table, or generated from published figures.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/balance/plan.hpp"

namespace strata::balance {

/// Zones and their names. The problem's costs are the zones' points, or the costs of the table.
struct Zones {
    std::string source;  ///< the file, or "generated: ..."
    bool generated = false;
    std::vector<std::string> names;  ///< [patch], each once
    Problem problem;
};

/// Reads a table with the columns `name` and one of `points`, `cost` (a time on one thread) or `i,j,k`
/// (dimensions; points are their product). `x,y,z` (centre) or `x0,y0,z0,x1,y1,z1` (box) place a zone.
/// Overlapping boxes exchange data, unless a table of exchanges replaces that. Throws Error with file, line
/// and column.
[[nodiscard]] Zones read_zones(const std::string& path);

/// Reads a table with the columns a,b,bytes (a and b: names of zones) into the zones' problem, replacing its
/// exchanges.
void read_exchanged(const std::string& path, Zones& zones);

/// The properties of a generated set.
struct ZoneSet {
    std::string name;
    int zones;
    std::int64_t points;       ///< the sum, met exactly
    std::int64_t least, most;  ///< both occur
    double spread;             ///< standard deviation of the logarithm of sizes
    std::string about;         ///< the published and the assumed properties
};

/// "origin2000", "overflow-d" and "ins3d": the sets of the papers.
[[nodiscard]] const std::vector<ZoneSet>& published_sets();
/// One of them, or "ZONES:POINTS:LEAST:MOST", such as 160:35e6:11e3:1.4e6. Throws Error.
[[nodiscard]] ZoneSet find_set(std::string_view text);

/// Draws sizes log-normally between least and most, centred so that they sum to the number of points, then
/// rounded to meet it exactly. Zones are boxes with volumes in proportion to their points, placed at random
/// in a cube of about their total volume. Overlapping ones exchange five doubles for each point of the common
/// part's surface. The same set and seed give the same zones on every machine.
[[nodiscard]] Zones generate(const ZoneSet& set, std::uint64_t seed);

}  // namespace strata::balance
