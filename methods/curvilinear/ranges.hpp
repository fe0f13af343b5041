// Ranges of nodes on faces: for files, joins and cuts.
#pragma once

#include <array>
#include <cstdlib>
#include <string>

#include "methods/curvilinear/grid.hpp"

namespace strata::flow {

/// All nodes of a face.
[[nodiscard]] Points whole_face(const Int3& cells, const Face& face);

/// The two axes along a face, the lower first.
[[nodiscard]] inline std::array<std::size_t, 2> along(int axis) {
    return axis == 0   ? std::array<std::size_t, 2>{1, 2}
           : axis == 1 ? std::array<std::size_t, 2>{0, 2}
                       : std::array<std::size_t, 2>{0, 1};
}

/// The face of a zone on which points lie. Throws Error (with `what` for the message) where they are of none:
/// outside of the zone, on no face, or without extent along it.
[[nodiscard]] Face face_of(const GridSource& source, int zone, const Points& points, const std::string& what);

/// Where a node of the zone is in the donor: what JoinRange says.
[[nodiscard]] Int3 donor_point(const JoinRange& join, const Int3& point);
/// The donor's points as a range that runs upwards.
[[nodiscard]] Points upward(const Points& points);
/// The same join, said for the donor.
[[nodiscard]] JoinRange other_side(const JoinRange& join);
/// The join of a part of its points.
[[nodiscard]] JoinRange part_of(const JoinRange& join, const Points& points);

/// By an angle in degrees about axis 0, 1 or 2, right-handed. Quarter turns are exact.
[[nodiscard]] graph::Rotation turn_about(int axis, double degrees);

}  // namespace strata::flow
