// Values on the zones of the file or generator that the zones of a system were cut from: Q files of a user's
// own grid.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "methods/curvilinear/grid.hpp"
#include "methods/curvilinear/plot3d.hpp"

namespace strata::flow {

/// Whether the points of a file are the nodes of the grid, or its cells.
enum class PointsAre { nodes, cells };

/// Those zones, with their numbers of points.
[[nodiscard]] std::vector<Plot3dZone> origin_zones(const GridSource& source, PointsAre are,
                                                   int variables = 0);

/// Values of a Q or function file of the same grid, at its nodes or in its cells, which the sizes of zones
/// tell.
class OriginValues {
  public:
    /// Throws Error where zones have other sizes than the grid.
    OriginValues(std::shared_ptr<const GridSource> source, const std::filesystem::path& path,
                 Plot3dContent content, const Plot3dKnown& known = {});
    [[nodiscard]] const Plot3dFile& file() const { return file_; }
    /// One component in a box of cells of a zone of the system, i fastest: of a file of nodes the means of
    /// corners.
    void cells(int zone, int component, const Box& cells, double* to) const;

  private:
    void points(int zone, int component, const Box& box, double* to) const;
    std::shared_ptr<const GridSource> source_;
    Plot3dFile file_;
    PointsAre are_ = PointsAre::nodes;
};

/// A grid, Q or function file of those zones. One process calls create(), then any number of them put values.
/// In cells: each cell is of one zone of the system, and a run that starts from it has the values that the
/// other one had. At nodes: one at which zones were cut apart is written by the zone behind it, so that it
/// has one value whoever writes when.
class OriginWriter {
  public:
    OriginWriter(std::shared_ptr<const GridSource> source, std::filesystem::path path, Plot3dContent content,
                 Plot3dForm form, int variables = 0, PointsAre are = PointsAre::cells);
    void create(const std::array<double, 4>& conditions = {}) const;
    void cells(int zone, int component, const Box& cells, const double* from) const;
    void nodes(int zone, int component, const Box& nodes, const double* from) const;
    /// iblank, of a form with it.
    void blanks(int zone, const Box& nodes, const std::int32_t* from) const;
    /// The nodes of the grid itself.
    void nodes_of_grid(int zone, const Box& nodes) const;

  private:
    template <class Value, class Put>
    void own_nodes(int zone, const Box& nodes, const Value* from, Put&& put) const;

    std::shared_ptr<const GridSource> source_;
    std::vector<Plot3dZone> zones_;
    Plot3dWriter writer_;
};

}  // namespace strata::flow
