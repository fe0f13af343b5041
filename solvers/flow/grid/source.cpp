#include <fmt/format.h>

#include <algorithm>

#include "solvers/flow/grid/grid.hpp"

namespace strata::flow {

void GridSource::blanks(int zone, const Box& nodes, std::int32_t* blank) const {
    (void)zone;
    std::fill_n(blank, nodes.volume(), 1);
}

Box GridSource::node_box(int zone) const {
    const Int3& cells = zones()[static_cast<std::size_t>(zone)].cells;
    return {{0, 0, 0}, {cells[0] + 1, cells[1] + 1, dimensions() == 3 ? cells[2] + 1 : 1}};
}

std::string zone_text(const GridSource& source, int zone) {
    const std::string& name = source.zones()[static_cast<std::size_t>(zone)].name;
    return name.empty() ? fmt::format("zone {}", zone + 1) : fmt::format("zone {} ({})", zone + 1, name);
}

std::string face_text(const Face& face) {
    return fmt::format("{}-{}", "ijk"[face.axis], face.upper ? "max" : "min");
}

}  // namespace strata::flow
