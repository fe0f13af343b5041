#include "solvers/flow/slice_frames.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/run/driver/grid_values.hpp"
#include "methods/curvilinear/origin.hpp"
#include "methods/curvilinear/piece.hpp"
#include "solvers/flow/geometry.hpp"
#include "solvers/flow/moved_nodes.hpp"
#include "solvers/flow/output/row_file.hpp"
#include "solvers/flow/output/slice_file.hpp"
#include "solvers/flow/output/slice_reach.hpp"
#include "solvers/flow/output/surface.hpp"

namespace strata::flow {

using namespace graph;

namespace {

/// The axis of a zone that is this one in its file.
std::size_t axis_given(const ZoneShape& shape, int axis) {
    return static_cast<std::size_t>(std::find(shape.axes.begin(), shape.axes.end(), axis) -
                                    shape.axes.begin());
}

/// Planes of a three-dimensional file have two of its three indices.
Slice read_slice(const std::string& text, const CaseSchema& keys, const GridSystem& grid) {
    const int dimensions = grid.dimensions;
    try {
        try {
            return slice_of(text, dimensions);
        } catch (const Error&) {
            const Slice slice = slice_of(text, 3);
            for (const ZoneShape& shape : grid.source->zones())
                if (slice.kind == Slice::Kind::nodes && shape.origin == slice.zone &&
                    axis_given(shape, slice.axis) < static_cast<std::size_t>(dimensions))
                    return slice;
            throw;
        }
    } catch (const Error&) {
        keys.refuse("output.slices", fmt::format("'{}' is no slice of this grid", text),
                    dimensions == 3
                        ? "\"x = 0.5\", \"1: k = 5\" (zone, node, from 1), \"azimuth = 60\" or \"Q = 0.01\""
                        : "\"x = 0.5\", \"1: i = 5\" (zone, node, from 1) or \"Q = 0.01\"");
    }
}

/// Refuses a plane or half plane that meets no cell of a grid that stands still in its frame.
void place_within_grid(Slice& slice, const std::string& text, const CaseSchema& keys, const GridSystem& grid,
                       Reaches& reaches) {
    const std::vector<Reach>& all = reaches.of(slice);
    if (const std::optional<double> place = within(slice, all)) {
        slice.place = *place;
        return;
    }
    std::string allowed;
    for (const Reach& one : all)
        allowed += fmt::format("{}{:.6g} to {:.6g}", allowed.empty() ? "" : ", ", one.low, one.high);
    const bool angle = slice.kind == Slice::Kind::azimuth, sector = angle && is_sector(grid);
    allowed += fmt::format("{}, where the grid{} lies", angle ? " degrees" : "", sector ? "'s sector" : "");
    if (sector && all.size() == 1) {
        const double turn = all[0].high - all[0].low, middle = all[0].low + 0.5 * turn;
        allowed += fmt::format("; the flow at {:g} is that at {:.6g}, turned", slice.place,
                               slice.place + turn * std::round((middle - slice.place) / turn));
    }
    keys.refuse("output.slices", fmt::format("'{}' meets no cell of the grid", text), allowed);
}

}  // namespace

std::vector<Slice> case_slices(const Settings& settings, const CaseSchema& keys, const GridSystem& grid) {
    const std::vector<Plot3dZone> zones = origin_zones(*grid.source, PointsAre::nodes);
    Reaches reaches(grid);
    std::vector<Slice> all;
    std::set<std::string> names;
    for (const std::string& text : settings.output.slices) {
        Slice slice = read_slice(text, keys, grid);
        if (slice.kind == Slice::Kind::azimuth) {
            if (settings.rotation_rate() == 0)
                keys.refuse("output.slices",
                            fmt::format("'{}' is about the axis of a frame that turns", text),
                            "a plane, or a case with frame.rotation_rate or frame.tip_mach");
            slice.axis = settings.frame.axis[0] - 'x', slice.centre = settings.motion().centre;
        }
        if (slice.kind == Slice::Kind::criterion && settings.output.vortices == 0)
            keys.refuse("output.slices",
                        fmt::format("the case does not find the Q criterion, which '{}' asks for", text),
                        "a plane, or output.vortices > 0");
        if (slice.zone >= static_cast<int>(zones.size()))
            keys.refuse("output.slices", fmt::format("the grid has no zone for '{}'", text),
                        fmt::format("zones 1 to {}", zones.size()));
        if (slice.zone >= 0) {
            const std::span<const ZoneShape> shapes = grid.source->zones();
            const std::size_t axis =
                axis_given(*std::find_if(shapes.begin(), shapes.end(),
                                         [&](const ZoneShape& shape) { return shape.origin == slice.zone; }),
                           slice.axis);
            if (axis >= static_cast<std::size_t>(grid.dimensions))
                keys.refuse("output.slices",
                            fmt::format("the zone is one plane of cells, across this index: '{}'", text),
                            "its two other indices");
            const int most = zones[static_cast<std::size_t>(slice.zone)].points[axis];
            if (slice.node >= most)
                keys.refuse("output.slices", fmt::format("the zone has no such node: '{}'", text),
                            fmt::format("nodes 1 to {}", most));
        }
        if (slice.kind == Slice::Kind::azimuth || (slice.kind == Slice::Kind::plane && !settings.moves()))
            place_within_grid(slice, text, keys, grid, reaches);
        if (!names.insert(slice.name).second)
            keys.refuse("output.slices", fmt::format("'{}' has the file of a slice before it", text),
                        "places that differ within six digits");
        all.push_back(slice);
    }
    return all;
}

namespace {

constexpr const char* kHead = "x,y,z,size,rho,u,v,w,p,zone,i,j,k\n";
constexpr const char* kHeadWithVortices =
    "x,y,z,size,rho,u,v,w,p,vorticity_x,vorticity_y,vorticity_z,q_criterion,zone,i,j,k\n";
constexpr int kNumber = 24, kCount = 9;

class SliceFrames final : public Frames {
  public:
    SliceFrames(std::shared_ptr<const Flow> flow, const Settings& settings)
        : flow_(std::move(flow)),
          every_(settings.output.slice_steps),
          gamma_(settings.flow.gamma),
          vortices_(settings.output.vortices > 0) {}

    [[nodiscard]] std::int64_t every() const override { return every_; }
    [[nodiscard]] bool at_end() const override { return true; }
    void begin(const Simulation&, team::Team&, const std::filesystem::path& folder, std::int64_t,
               bool) override {
        folder_ = folder;
    }
    void write(const Simulation& run, team::Team& team, double time) override {
        if (run.step() == 0) return;  // tasks of steps find what nodes have
        for (const Slice& slice : flow_->slices) write(slice, run, team, time);
    }

  private:
    void write(const Slice& slice, const Simulation& run, team::Team& team, double time) const {
        ValuesNow now(run);
        const Zones& zones = flow_->grid().zones();
        const std::vector<int>& patches = now.patches(zones);
        // Rows before those of each patch: the cells that are cut are known to its process alone.
        std::vector<std::string> text(patches.size());
        std::vector<PatchSurface> surfaces;
        std::vector<std::int64_t> first(static_cast<std::size_t>(zones.patches()) + 1, 0);
        for (std::size_t local = 0; local < patches.size(); ++local) {
            const int patch = patches[local];
            const int zone = zones.zone_of(patch);
            SlicePieces pieces = pieces_of(slice, now, static_cast<int>(local), patch, run.step());
            for (const SliceRow& row : pieces.rows) text[local] += text_of(zone, row);
            PatchSurface& surface =
                surfaces.emplace_back(PatchSurface{.patch = patch, .surface = std::move(pieces.surface)});
            for (const Int3& cell : surface.surface.cells) surface.cells.push_back(given_number(zone, cell));
            first[static_cast<std::size_t>(patch) + 1] = static_cast<std::int64_t>(text[local].size());
        }
        team.together().reduce(std::span<std::int64_t>(first), std::plus<>());
        for (std::size_t p = 1; p < first.size(); ++p) first[p] += first[p - 1];
        const std::string name = fmt::format("slice-{}-{:06}", slice.name, run.step());
        write_slice(team, folder_ / (name + ".vtp"), surfaces, zones.patches(), flow_->grid().dimensions(),
                    vortices_, time);
        RowFile::write(team, folder_ / (name + ".csv"), vortices_ ? kHeadWithVortices : kHead,
                       [&](const RowFile::Place& put) {
                           for (std::size_t local = 0; local < patches.size(); ++local)
                               put(text[local], first[static_cast<std::size_t>(patches[local])]);
                       });
    }

    [[nodiscard]] SlicePieces pieces_of(const Slice& slice, ValuesNow& now, int local, int patch,
                                        std::int64_t at_step) const {
        return flow_->grid().dimensions() == 2 ? pieces<2>(slice, now, local, patch, at_step)
                                               : pieces<3>(slice, now, local, patch, at_step);
    }
    template <int Dim>
    [[nodiscard]] SlicePieces pieces(const Slice& slice, ValuesNow& now, int local, int patch,
                                     std::int64_t at_step) const {
        const FlowZones& grid = flow_->grid();
        const int zone = grid.zones().zone_of(patch);
        const Box cells = grid.zones().box(patch);
        const ZoneShape& shape = grid.source().zones()[static_cast<std::size_t>(zone)];
        if (slice.zone >= 0 && shape.origin != slice.zone) return {};
        const bool by_index = slice.kind == Slice::Kind::nodes;
        const std::size_t a = by_index ? axis_given(shape, slice.axis) : 0;
        const int node = (slice.node - shape.first[a]) * shape.step[a];
        if (by_index && (node < 0 || node > shape.cells[a])) return {};
        // Faces are those of the cells above them in the file; where a zone was cut there, of the part
        // behind.
        const bool back = shape.step[a] < 0, at_end = node == (back ? 0 : shape.cells[a]);
        if (by_index && at_end && goes_on(shape, a)) return {};
        const bool below = back != at_end;

        Piece nodes = nodes_of(grid.source(), zone, cells);
        if (grid.moves()) place_nodes<Dim>(nodes, grid.motions().placed(grid.mesh_of(zone), at_step));
        const auto at = std::as_const(nodes).view();
        const auto at_nodes = [&](List<double> label, int components) {
            std::vector<std::byte> bytes;
            now.read({label.id()}, local, components, bytes);
            Piece values(nodes.box(), components);
            std::memcpy(values.data(), bytes.data(), bytes.size());
            return values;
        };
        const Piece values = at_nodes(flow_->shown.at_nodes, Dim + 2);
        const Piece turning =
            vortices_ ? at_nodes(flow_->shown.vortices_at_nodes, kVortexNumbers<Dim>) : Piece({}, 0);
        const NodeValues q = values.view(), v = vortices_ ? turning.view() : no_vortices();
        const IsCut is_cut = no_hole(now, local, cells);
        return !by_index
                   ? cut_cells<Dim>(slice, cells, at, q, gamma_, is_cut, v)
                   : index_faces<Dim>(static_cast<int>(a), node, below, cells, at, q, gamma_, is_cut, v);
    }
    /// Of meshes that overlap: which cells are no holes.
    [[nodiscard]] IsCut no_hole(ValuesNow& now, int local, const Box& cells) const {
        const auto& overset = flow_->finest().overset;
        if (overset == nullptr) return {};
        std::vector<std::byte> bytes;
        now.read({overset->status().id()}, local, 1, bytes);
        return [bytes = std::move(bytes), cells](const Int3& cell) {
            std::int32_t is = 0;
            std::memcpy(&is,
                        bytes.data() + static_cast<std::size_t>(overset::number_of(cells, cell)) * sizeof is,
                        sizeof is);
            return is != static_cast<std::int32_t>(overset::Cell::hole);
        };
    }
    /// Whether another part lies behind this one in the file.
    [[nodiscard]] bool goes_on(const ZoneShape& shape, std::size_t axis) const {
        const bool back = shape.step[axis] < 0;
        const std::span<const ZoneShape> all = flow_->grid().source().zones();
        return std::any_of(all.begin(), all.end(), [&](const ZoneShape& other) {
            Int3 begins = other.first, behind = shape.first;
            if (back)
                begins[axis] -= other.cells[axis];
            else
                behind[axis] += shape.cells[axis];
            return other.origin == shape.origin && begins == behind;
        });
    }

    /// Zone, i, j, k in the grid as given.
    [[nodiscard]] std::array<std::int32_t, 4> given_number(int zone, const Int3& cell) const {
        return number_of(flow_->grid().source().zones(), zone, cell);
    }
    [[nodiscard]] std::string text_of(int zone, const SliceRow& row) const {
        std::string text;
        for (const double value : {row.x[0], row.x[1], row.x[2], row.size})
            text += fmt::format("{:>{}.16e},", value, kNumber);
        for (std::size_t c = 0; c < (vortices_ ? 9 : 5); ++c)
            text += fmt::format("{:>{}.16e},", row.values[c], kNumber);
        const auto number = given_number(zone, row.cell);
        for (std::size_t c = 0; c < 4; ++c)
            text += fmt::format("{:>{}}{}", number[c], kCount, c < 3 ? ',' : '\n');
        return text;
    }

    std::shared_ptr<const Flow> flow_;
    std::int64_t every_;
    double gamma_;
    bool vortices_;
    std::filesystem::path folder_;
};

}  // namespace

std::shared_ptr<Frames> slice_frames(std::shared_ptr<const Flow> flow, const Settings& settings) {
    return std::make_shared<SliceFrames>(std::move(flow), settings);
}

}  // namespace strata::flow
