#include "solvers/flow/plot3d_frames.hpp"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>

#include "core/run/checkpoint/all_or_none.hpp"
#include "core/run/driver/grid_values.hpp"
#include "methods/curvilinear/origin.hpp"
#include "solvers/flow/geometry.hpp"
#include "solvers/flow/moved_nodes.hpp"

namespace strata::flow {

using namespace graph;

namespace {

class Plot3dFrames final : public Frames {
  public:
    Plot3dFrames(std::shared_ptr<const Flow> flow, const Settings& settings)
        : flow_(std::move(flow)), every_(settings.output.plot3d) {
        conditions_ = {settings.flow.mach, settings.flow.alpha, settings.flow.reynolds, 0};
        form_.dimensions = flow_->grid().dimensions();
    }

    [[nodiscard]] std::int64_t every() const override { return every_; }
    void begin(const Simulation& run, team::Team& team, const std::filesystem::path& folder, std::int64_t,
               bool restarted) override {
        folder_ = folder;
        if (restarted) return;
        write_grid(run, team, "grid.xyz");
    }
    void write(const Simulation& run, team::Team& team, double time) override {
        if (run.step() == 0) return;  // tasks of steps find what nodes have
        if (flow_->grid().moves()) write_grid(run, team, fmt::format("{:06}.xyz", run.step()));
        write_state(run, team, time);
    }

  private:
    /// Where grids move, their nodes are those at the end of the step.
    void write_grid(const Simulation& run, team::Team& team, const std::string& name) {
        form_.blanks = flow_->finest().overset != nullptr;
        const FlowZones& grid = flow_->grid();
        ValuesNow now(run);
        write_file(run, team, folder_ / name, Plot3dContent::grid,
                   [&](const OriginWriter& to, int local, int zone, const Box& nodes) {
                       if (grid.moves())
                           put_moved(to, zone, nodes, grid.motions().placed(grid.mesh_of(zone), run.step()));
                       else
                           to.nodes_of_grid(zone, nodes);
                       if (!form_.blanks) return;
                       std::vector<std::byte> bytes;
                       now.read({flow_->shown.iblank.id()}, local, 1, bytes);
                       std::vector<std::int32_t> blanks(static_cast<std::size_t>(nodes.volume()));
                       std::memcpy(blanks.data(), bytes.data(), blanks.size() * sizeof(std::int32_t));
                       to.blanks(zone, nodes, blanks.data());
                   });
    }
    void put_moved(const OriginWriter& to, int zone, const Box& nodes, const geometry::Rigid& placed) const {
        const FlowZones& grid = flow_->grid();
        Piece x(nodes, grid.dimensions());
        grid.source().nodes(zone, nodes, x.data());
        grid.dimensions() == 2 ? place_nodes<2>(x, placed) : place_nodes<3>(x, placed);
        for (int d = 0; d < grid.dimensions(); ++d) to.nodes(zone, d, nodes, x.data() + d * nodes.volume());
    }
    void write_state(const Simulation& run, team::Team& team, double time) {
        conditions_[3] = time;
        const int numbers = form_.dimensions + 2;
        ValuesNow now(run);
        write_file(run, team, folder_ / fmt::format("{:06}.q", run.step()), Plot3dContent::q,
                   [&](const OriginWriter& to, int local, int zone, const Box& nodes) {
                       std::vector<std::byte> bytes;
                       now.read({flow_->shown.at_nodes.id()}, local, numbers, bytes);
                       const auto count = static_cast<std::size_t>(nodes.volume());
                       std::vector<double> values(count);
                       for (int c = 0; c < numbers; ++c) {
                           std::memcpy(values.data(),
                                       bytes.data() + static_cast<std::size_t>(c) * count * sizeof(double),
                                       count * sizeof(double));
                           to.nodes(zone, c, nodes, values.data());
                       }
                   });
    }

    /// put(writer, patch of this process, zone, nodes) for each patch: whole files, or none.
    template <class Put>
    void write_file(const Simulation& run, team::Team& team, const std::filesystem::path& path,
                    Plot3dContent content, Put put) const {
        const std::filesystem::path partial =
            path.parent_path() / ("." + path.filename().string() + ".partial");
        const auto undo = [&] {
            std::error_code ignored;
            std::filesystem::remove(partial, ignored);
        };
        const FlowZones& grid = flow_->grid();
        const OriginWriter writer(grid.system().source, partial, content, form_, form_.dimensions + 2,
                                  PointsAre::nodes);
        first_or_none(
            team, [&] { writer.create(conditions_); }, undo);
        ValuesNow now(run);
        const std::vector<int>& patches = now.patches(grid.zones());
        // One node after the other: network file systems cache whole pages.
        for (int node = 0; node < team.nodes(); ++node)
            all_or_none(
                team,
                [&] {
                    if (team.node() != node) return;
                    for (int local = 0; local < static_cast<int>(patches.size()); ++local) {
                        const int patch = patches[static_cast<std::size_t>(local)];
                        const Box cells = grid.zones().box(patch);
                        const Box nodes = grid.dimensions() == 2 ? PatchGeometry<2>(cells).node_box()
                                                                 : PatchGeometry<3>(cells).node_box();
                        put(writer, local, grid.zones().zone_of(patch), nodes);
                    }
                },
                undo);
        first_or_none(
            team, [&] { std::filesystem::rename(partial, path); }, undo);
    }

    std::shared_ptr<const Flow> flow_;
    std::int64_t every_;
    std::array<double, 4> conditions_{};
    Plot3dForm form_;
    std::filesystem::path folder_;
};

}  // namespace

std::shared_ptr<Frames> plot3d_frames(std::shared_ptr<const Flow> flow, const Settings& settings) {
    return std::make_shared<Plot3dFrames>(std::move(flow), settings);
}

}  // namespace strata::flow
