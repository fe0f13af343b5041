// The generators, one for each kind of grid, and what they share.
#pragma once

#include <string>

#include "methods/curvilinear/generate.hpp"

namespace strata::flow {

[[nodiscard]] GridSystem generate_brick(const BrickGrid& wanted);
[[nodiscard]] GridSystem generate_tube(const TubeGrid& tube);
[[nodiscard]] GridSystem generate_plate(const PlateGrid& plate);
[[nodiscard]] GridSystem generate_cylinder(const CylinderGrid& grid);
[[nodiscard]] GridSystem generate_airfoil(const AirfoilGrid& wanted);
[[nodiscard]] GridSystem generate_wing(const WingGrid& wanted);
[[nodiscard]] GridSystem generate_sector(const SectorGrid& wanted);

/// Throws Error naming a key where a condition does not hold.
void require(bool holds, const std::string& key, const std::string& given, const std::string& allowed);
/// A whole face.
void add_boundary(GridSystem& system, int zone, const Face& face, const std::string& name);

}  // namespace strata::flow
