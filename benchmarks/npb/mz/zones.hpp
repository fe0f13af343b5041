// The zones of the multi-zone benchmarks (R. Van der Wijngaart, H. Jin, "NAS Parallel Benchmarks, Multi-Zone
// Versions", NAS-03-010; what it leaves open: docs/npb.md).
#pragma once

#include <vector>

#include "benchmarks/npb/common/classes.hpp"
#include "benchmarks/npb/flow/field.hpp"

namespace strata::npb::mz {

using flow::Index;

enum class Kind { bt, sp, lu };

/// Where a zone borders on another one: low and high in x, then in y. Round the edges the first is next to
/// the last; in z there are no neighbours.
inline constexpr std::size_t kSides = 4;

/// The zones of a class: a rectangle of grids side by side, all as high as the whole.
struct Zones {
    Index points{};                    // of all together
    std::vector<std::int64_t> widths;  // along x
    std::vector<std::int64_t> depths;  // along y
    flow::Scale scale{};               // of every zone, whatever its size

    [[nodiscard]] std::size_t count() const { return widths.size() * depths.size(); }
    /// Points of zone z; x runs fastest among zones.
    [[nodiscard]] Index size(std::size_t zone) const {
        return {widths[zone % widths.size()], depths[zone / widths.size()], points[2]};
    }
    [[nodiscard]] std::size_t neighbour(std::size_t zone, std::size_t side) const;
};

[[nodiscard]] Zones zones_of(Kind kind, Class size);

/// n points in equal parts: part i ends before floor((i + 1) n / parts).
[[nodiscard]] std::vector<std::int64_t> even_widths(std::int64_t n, int parts);
/// n points in parts that grow by one factor, the last being `ratio` times as wide as the first: with r =
/// ratio^(1 / (parts - 1)), part i ends before floor(n (r^(i + 1) - 1) / (r^parts - 1) + 0.45).
[[nodiscard]] std::vector<std::int64_t> growing_widths(std::int64_t n, int parts, double ratio);

}  // namespace strata::npb::mz
