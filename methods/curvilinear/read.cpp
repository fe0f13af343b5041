#include "methods/curvilinear/read.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/error.hpp"
#include "methods/curvilinear/map_file.hpp"
#include "methods/curvilinear/metrics.hpp"
#include "methods/curvilinear/piece.hpp"

namespace strata::flow {

namespace {

/// Zones of a PLOT3D file, on the axes of the grid.
class FileGrid final : public GridSource {
  public:
    FileGrid(Plot3dFile file, int dimensions, std::array<int, 3> axes, std::array<int, 3> components)
        : file_(std::move(file)), dimensions_(dimensions), axes_(axes), components_(components) {
        for (std::size_t z = 0; z < file_.zones().size(); ++z) {
            ZoneShape zone;
            zone.origin = static_cast<int>(z);
            zone.axes = axes;
            for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions); ++a)
                zone.cells[a] = points(z, a) - 1;
            zones_.push_back(zone);
        }
    }
    [[nodiscard]] std::span<const ZoneShape> zones() const override { return zones_; }
    [[nodiscard]] int dimensions() const override { return dimensions_; }
    [[nodiscard]] bool has_blanks() const override { return file_.form().blanks; }
    [[nodiscard]] const Plot3dFile& file() const { return file_; }
    void nodes(int zone, const Box& nodes, double* x) const override {
        for (int d = 0; d < dimensions_; ++d) {
            double* to = x + d * nodes.volume();
            file_.values(zone, components_[static_cast<std::size_t>(d)], in_file(zone, nodes), to);
            order(zone, nodes, to);
        }
    }
    void blanks(int zone, const Box& nodes, std::int32_t* blank) const override {
        if (!has_blanks()) return GridSource::blanks(zone, nodes, blank);
        file_.blanks(zone, in_file(zone, nodes), blank);
        order(zone, nodes, blank);
    }
    /// The last axis of a zone runs backwards from now on.
    void turn(int zone) {
        ZoneShape& shape = zones_[static_cast<std::size_t>(zone)];
        const auto last = static_cast<std::size_t>(dimensions_ - 1);
        shape.first[last] = shape.cells[last], shape.step[last] = -1;
    }

  private:
    [[nodiscard]] int points(std::size_t zone, std::size_t axis) const {
        return file_.zones()[zone].points[static_cast<std::size_t>(axes_[axis])];
    }
    [[nodiscard]] Box in_file(int zone, const Box& nodes) const {
        const ZoneShape& shape = zones_[static_cast<std::size_t>(zone)];
        Box box{{0, 0, 0}, {1, 1, 1}};
        for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions_); ++a) {
            const auto there = static_cast<std::size_t>(axes_[a]);
            const bool back = shape.step[a] < 0;
            box.lo[there] = back ? shape.first[a] - (nodes.hi[a] - 1) : nodes.lo[a];
            box.hi[there] = back ? shape.first[a] - nodes.lo[a] + 1 : nodes.hi[a];
        }
        return box;
    }
    /// Turns the last axis of values back, where it runs backwards.
    template <class T>
    void order(int zone, const Box& nodes, T* values) const {
        const auto last = static_cast<std::size_t>(dimensions_ - 1);
        if (zones_[static_cast<std::size_t>(zone)].step[last] > 0) return;
        const std::int64_t rows = nodes.extent(static_cast<int>(last)), size = nodes.volume() / rows;
        for (std::int64_t row = 0; row < rows / 2; ++row)
            std::swap_ranges(values + row * size, values + (row + 1) * size,
                             values + (rows - 1 - row) * size);
    }
    Plot3dFile file_;
    int dimensions_;
    std::array<int, 3> axes_, components_;
    std::vector<ZoneShape> zones_;
};

/// The axis of a three-dimensional file along which all zones have this many points; none: -1.
int flat_axis(const Plot3dFile& file, int points) {
    for (int axis = 2; axis >= 0; --axis)
        if (std::all_of(file.zones().begin(), file.zones().end(), [&](const Plot3dZone& zone) {
                return zone.points[static_cast<std::size_t>(axis)] == points;
            }))
            return axis;
    return -1;
}

/// The coordinate that is the same on the first plane of zone 1 across an axis.
int still_component(const Plot3dFile& file, int across) {
    Box plane{{0, 0, 0}, file.zones()[0].points};
    plane.hi[static_cast<std::size_t>(across)] = 1;
    std::vector<double> x(static_cast<std::size_t>(plane.volume()));
    int still = 0;
    double least = -1;
    for (int d = 0; d < 3; ++d) {
        file.values(0, d, plane, x.data());
        const auto [low, high] = std::minmax_element(x.begin(), x.end());
        if (least < 0 || *high - *low < least) least = *high - *low, still = d;
    }
    if (least > 1e-6 * std::max(1.0, std::abs(x[0])) && least > 0)
        throw Error(fmt::format("the first plane of nodes across {} is not flat", "ijk"[across]))
            .at(file.name())
            .given(fmt::format("{} changes by {:.3g} in it, and the others by more", "xyz"[still], least))
            .allowed("one coordinate that is the same in all of a plane grid")
            .remedy("a grid in space needs two cells or more along each axis, and grid.dimensions = 0 or 3");
    return still;
}

std::shared_ptr<FileGrid> open(const GridFiles& files) {
    Plot3dFile file(files.grid, Plot3dContent::grid, files.form);
    std::array<int, 3> same{0, 1, 2};
    const auto refuse = [&](const std::string& message) { return Error(message).at(file.name()); };
    if (file.form().dimensions == 2) {
        if (files.dimensions == 3)
            throw refuse("the grid file has two dimensions, and three are asked for")
                .given("dimensions = 3")
                .allowed("2, or 0: as the file says");
        return std::make_shared<FileGrid>(std::move(file), 2, same, same);
    }
    int across = flat_axis(file, 1);
    if (across < 0 && files.dimensions == 2) {
        across = flat_axis(file, 2);
        if (across < 0)
            throw refuse("the grid is no plane of nodes or of cells, and two dimensions are asked for")
                .given(fmt::format("zone 1 has {} x {} x {} points", file.zones()[0].points[0],
                                   file.zones()[0].points[1], file.zones()[0].points[2]))
                .allowed("1 or 2 points along one axis, the same axis in all zones")
                .remedy("dimensions = 0, and the grid is one in space");
    }
    if (across < 0 || files.dimensions == 3) {
        for (std::size_t z = 0; z < file.zones().size(); ++z)
            for (const int n : file.zones()[z].points)
                if (n < 2)
                    throw refuse(fmt::format("zone {} has no cells", z + 1))
                        .given("1 point along an axis")
                        .allowed("2 and more")
                        .remedy(
                            "a plane grid has one point along the same axis in all zones, and dimensions = "
                            "2");
        return std::make_shared<FileGrid>(std::move(file), 3, same, same);
    }
    const int still = still_component(file, across);
    std::array<int, 3> axes{}, components{};
    for (int a = 0, next = 0; a < 3; ++a)
        if (a != across) axes[static_cast<std::size_t>(next++)] = a;
    for (int d = 0, next = 0; d < 3; ++d)
        if (d != still) components[static_cast<std::size_t>(next++)] = d;
    axes[2] = across, components[2] = still;
    return std::make_shared<FileGrid>(std::move(file), 2, axes, components);
}

double volume_of(const GridSource& source, int zone, const Int3& cell) {
    const Box one{cell, {cell[0] + 1, cell[1] + 1, cell[2] + 1}};
    const Piece nodes = nodes_of(source, zone, one);
    Piece volume(one, 1);
    if (source.dimensions() == 2)
        volumes<2>(one, nodes.view(), volume.view());
    else
        volumes<3>(one, nodes.view(), volume.view());
    return volume.data()[0];
}

/// Whether most of some cells of a zone have negative volumes.
bool left_handed(const GridSource& source, int zone) {
    const Int3& n = source.zones()[static_cast<std::size_t>(zone)].cells;
    int votes = 0;
    for (int sample = 0; sample < 9; ++sample) {
        Int3 cell;
        for (std::size_t a = 0; a < 3; ++a)
            cell[a] =
                static_cast<int>(std::int64_t{n[a] - 1} * ((sample * static_cast<int>(2 * a + 1)) % 9) / 8);
        const double volume = volume_of(source, zone, cell);
        votes += volume < 0 ? 1 : volume > 0 ? -1 : 0;
    }
    return votes > 0;
}

}  // namespace

GridSystem read_grid(const GridFiles& files) {
    const auto grid = open(files);
    GridSystem system{grid, {}, {}, grid->dimensions(), {}};
    system.notes.push_back(fmt::format("{}: {}, {} zone{}", grid->file().name(), text_of(grid->file().form()),
                                       grid->zones().size(), grid->zones().size() == 1 ? "" : "s"));
    std::vector<std::string> turned;
    for (int z = 0; z < static_cast<int>(grid->zones().size()); ++z) {
        for (std::size_t a = 0; a < static_cast<std::size_t>(system.dimensions); ++a)
            if (grid->zones()[static_cast<std::size_t>(z)].cells[a] < 1)
                throw Error(fmt::format("zone {} has no cells", z + 1))
                    .at(grid->file().name())
                    .given("1 point along an axis")
                    .allowed("2 and more")
                    .remedy("take the zone out of the file");
        if (!left_handed(*grid, z)) continue;
        grid->turn(z);
        turned.push_back(fmt::format("{}", z + 1));
    }
    if (!turned.empty())
        system.turned.push_back(fmt::format(
            "zone{} {} of {} {} left-handed and turned inside (along {}); names and indices stay the file's",
            turned.size() == 1 ? "" : "s", fmt::join(turned, ", "), grid->file().name(),
            turned.size() == 1 ? "is" : "are",
            axis_text(*grid, 0, static_cast<std::size_t>(system.dimensions - 1))));
    // Joins that are wrong are those of the map, or else of the grid.
    const auto in_file = [](const std::filesystem::path& file, auto&& call) {
        try {
            call();
        } catch (Error& error) {
            throw error.at(file.string());
        }
    };
    if (!files.map.empty()) {
        read_map(files.map, system);
        in_file(files.map, [&] { check_joins(system); });
    }
    if (files.map.empty() || !files.periodic.empty()) find_joins(system, files.periodic);
    in_file(files.map.empty() ? files.grid : files.map, [&] { check_connected(system); });
    if (files.map.empty()) name_the_rest(system);
    return system;
}

}  // namespace strata::flow
