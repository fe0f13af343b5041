// Surfaces from STL files.
#pragma once

#include <filesystem>
#include <vector>

#include "methods/geometry/facet.hpp"

namespace strata::geometry {

/// The triangles of a file, binary or ASCII (Marshall Burns, Automated Fabrication, 1993, section 6.5;
/// "solid" at the beginning of a binary file is told from ASCII by the file's size). Points become place +
/// scale x. Throws Error naming the file and the triangle, from 1: for text that is no STL (and the line),
/// and a file that ends too early. Coordinates may be no numbers, and the surface open: Solid refuses these.
[[nodiscard]] std::vector<Facet> read_stl(const std::filesystem::path& file, const Real3& place,
                                          double scale);

}  // namespace strata::geometry
