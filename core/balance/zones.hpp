// Sets of zones: from a table, or generated to published figures.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/balance/plan.hpp"

namespace strata::balance {

/// Zones and what they are called; the problem's costs are their points, or whatever the table says.
struct Zones {
    std::string source;  ///< the file, or "generated: ..."
    bool generated = false;
    std::vector<std::string> names;  ///< [patch], each once
    Problem problem;
};

/// Reads a table with the columns `name` and one of `points`, `cost` (a time on one thread) or `i,j,k`
/// (dimensions, of which points are the product); `x,y,z` (centre) or `x0,y0,z0,x1,y1,z1` (box) place a zone.
/// Boxes that overlap exchange data, unless a table of exchanges says who does. Throws Error with file, line
/// and column.
[[nodiscard]] Zones read_zones(const std::string& path);

/// Reads a table with the columns a,b,bytes (names of zones) into the zones' problem, in place of what it
/// has.
void read_exchanged(const std::string& path, Zones& zones);

/// The properties that a generated set keeps.
struct ZoneSet {
    std::string name;
    int zones;
    std::int64_t points;       ///< the sum, met exactly
    std::int64_t least, most;  ///< both occur
    double spread;             ///< standard deviation of the logarithm of sizes
    std::string about;         ///< what was published, what is assumed
};

/// "origin2000", "overflow-d" and "ins3d": the sets of the papers.
[[nodiscard]] const std::vector<ZoneSet>& published_sets();
/// One of them, or "ZONES:POINTS:LEAST:MOST", such as 160:35e6:11e3:1.4e6. Throws Error.
[[nodiscard]] ZoneSet find_set(std::string_view text);

/// Sizes drawn log-normally between least and most, centred such that they sum to the published number of
/// points, then rounded to meet it exactly. Zones are boxes of a volume in proportion to their points, placed
/// at random in a cube that they fill about once over; those that overlap exchange five doubles for each
/// point of the common part's surface. The same set and seed give the same zones on every machine.
[[nodiscard]] Zones generate(const ZoneSet& set, std::uint64_t seed);

}  // namespace strata::balance
