// A grid from files: PLOT3D nodes, and a neutral map file that says what its faces are.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "methods/curvilinear/grid.hpp"
#include "methods/curvilinear/join.hpp"
#include "methods/curvilinear/plot3d.hpp"

namespace strata::flow {

/// What a case says of its grid files.
struct GridFiles {
    std::filesystem::path grid;  // PLOT3D; NAME.xz is unpacked, and is then held whole
    std::filesystem::path map;   // neutral map file; none: joins are found, other faces are named
                                 // "ZONE:i-min", as the file has them
    Plot3dKnown form;            // what is known of the form of `grid`; the rest is detected
    /// 2: a three-dimensional file with one cell (or plane) across is read as a two-dimensional grid.
    int dimensions = 0;              // 0: as the file says
    std::vector<Periodic> periodic;  // pairs of faces to be found
};

/// Reads shapes, joins and boundaries; nodes are read when they are asked for. Zones are not cut: cut() does.
/// Left-handed zones are turned (their last axis runs backwards), and `turned` says so; names of faces and
/// indices in messages stay those of the file.
/// Throws Error with file, line, zone and indices for files that are truncated or say what cannot be, for
/// joins whose nodes do not match, and for zones that touch no others.
[[nodiscard]] GridSystem read_grid(const GridFiles& files);

/// Throws Error with zone and indices where a cell of these has no positive volume, or a node is no number,
/// or where iblank says that one is a hole and there may be none. For tasks that check the cells of their
/// patches; reads the nodes around them.
void check_cells(const GridSource& source, int zone, const Box& cells, bool holes = false);

/// Of each of these cells, i fastest, whether iblank 0 at one of its nodes makes it a hole.
[[nodiscard]] std::vector<std::uint8_t> blanked_cells(const GridSource& source, int zone, const Box& cells);

}  // namespace strata::flow
