#include "solvers/flow/output/surface.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <span>

#include "core/run/driver/grid_values.hpp"
#include "solvers/flow/output/row_file.hpp"

namespace strata::flow {

using namespace graph;

std::array<std::int32_t, 4> number_of(std::span<const ZoneShape> shapes, int zone, const Int3& cell) {
    std::array<std::int32_t, 4> number{zone + 1, cell[0] + 1, cell[1] + 1, cell[2] + 1};
    if (shapes.empty()) return number;
    const ZoneShape& shape = shapes[static_cast<std::size_t>(zone)];
    const Int3 given = given_cell(shape, cell);
    number[0] = shape.origin + 1;
    for (std::size_t d = 0; d < 3; ++d) number[d + 1] = given[d] + 1;
    return number;
}

namespace {

/// The corners of a wall face, around it.
template <int Dim>
void put_corners(const PatchFace& face, const FieldView<const double>& nodes, const Int3& cell,
                 const ListView<double>& corners, const ListView<std::int32_t>& numbers, std::int64_t entry) {
    constexpr int count = Dim == 2 ? 2 : 4;
    const std::size_t b = face.axis() == 0 ? 1 : 0, c = face.axis() == 2 ? 1 : 2;
    for (int n = 0; n < count; ++n) {
        Int3 at = cell;
        if (face.face.upper) ++at[face.axis()];
        if (n == 1 || n == 2) ++at[b];
        if (n >= 2) ++at[c];
        const std::int64_t to = count * entry + n;
        for (int d = 0; d < 3; ++d)
            corners.component(d)[static_cast<std::size_t>(to)] = d < Dim ? nodes(at[0], at[1], at[2], d) : 0;
        numbers[to] = static_cast<std::int32_t>(to);
    }
}

template <class T>
void put(const ListView<T>& list, std::int64_t entry, const auto& values) {
    for (std::size_t c = 0; c < values.size(); ++c)
        list.component(static_cast<int>(c))[static_cast<std::size_t>(entry)] = values[c];
}

SurfaceLabels make_labels(Graph& graph, const Surface& s) {
    SurfaceLabels labels;
    labels.grid = &s.grid;
    labels.first.assign(1, 0);
    for (int patch = 0; patch < s.grid.patches(); ++patch) {
        std::int64_t faces = 0;
        for (const auto& wall : s.walls[static_cast<std::size_t>(patch)])
            faces += PatchFace(s.grid.box(patch), wall.face).first().volume();
        labels.first.push_back(labels.first.back() + faces);
    }
    const auto entries = [first = labels.first](int patch) {
        return first[static_cast<std::size_t>(patch) + 1] - first[static_cast<std::size_t>(patch)];
    };
    const auto list = [&](const char* name, int components, const char* about) {
        return graph.list<double>(std::string("wall ") + name, s.grid, entries,
                                  {.components = components, .about = about, .kept = true});
    };
    const int count = s.dimensions == 2 ? 2 : 4;
    const auto corners = [=](int patch) { return count * entries(patch); };
    labels.corners = graph.list<double>("wall corners", s.grid, corners, {.components = 3, .kept = true});
    labels.numbers = graph.list<std::int32_t>("wall corner numbers", s.grid, corners, {.kept = true});
    labels.centre = list("centre", 3, "of each wall face");
    labels.cp = list("Cp", 1, "pressure coefficient");
    labels.cf = list("Cf", 3, "friction coefficient, a vector");
    labels.y_plus = list("y+", 1, "of the first cell's centre");
    labels.cell = graph.list<std::int32_t>("wall cell", s.grid, entries,
                                           {.components = 4, .about = "zone, i, j, k, from 1", .kept = true});
    if (s.known)
        labels.computed = graph.list<std::int32_t>("wall computed", s.grid, entries,
                                                   {.about = "1: the face's cell is computed", .kept = true});
    return labels;
}

}  // namespace

SurfaceLabels declare_surface(Graph& graph, Scope& scope, const Surface& s,
                              const TypedVersion<double, Kind::field>& q) {
    const SurfaceLabels labels = make_labels(graph, s);
    Task task = scope.task("walls", s.grid);
    const auto nodes = s.nodes(task);
    const auto flow = task.need(q, ghosts(1).without_corners());
    const auto centres = s.centres(task);
    const auto to_corners = task.make(labels.corners);
    const auto to_numbers = task.make(labels.numbers);
    const auto to_centre = task.make(labels.centre), to_cp = task.make(labels.cp),
               to_cf = task.make(labels.cf), to_y_plus = task.make(labels.y_plus);
    const auto to_cell = task.make(labels.cell);
    ListUse<std::int32_t> to_computed;
    std::function<Known(const Here&, const Int3&)> known;
    if (labels.computed) to_computed = task.make(*labels.computed), known = s.known(task, ghosts(0));
    task.run([=, all = s.walls, gas = s.gas, motion = s.motion, reference = s.reference,
              dimensions = s.dimensions, shapes = s.shapes, grid = &s.grid](Here& here) {
        if (all[static_cast<std::size_t>(here.patch)].empty()) return;
        std::int64_t entry = 0;
        const auto x = nodes(here);
        const RigidMotion moves = motion ? motion(here.patch, here.step) : RigidMotion{};
        const int zone = grid->zone_of(here.patch);
        const auto centre = here[to_centre], cp = here[to_cp], cf = here[to_cf], y_plus = here[to_y_plus],
                   corner = here[to_corners];
        const auto cells = here[to_cell], numbers = here[to_numbers];
        for (const auto& wall : all[static_cast<std::size_t>(here.patch)]) {
            const PatchFace face(here.cells(), wall.face);
            const auto write = [&](const WallPoint& point) {
                put(centre, entry, point.centre);
                put(cf, entry, friction_coefficient(point, reference));
                cp[entry] = pressure_coefficient(point, reference, gas.gamma);
                y_plus[entry] = point.y_plus;
                put(cells, entry, number_of(shapes, zone, point.cell));
                if (known) here[to_computed][entry] = known(here, point.cell) == Known::computed ? 1 : 0;
                if (dimensions == 2)
                    put_corners<2>(face, x, point.cell, corner, numbers, entry);
                else
                    put_corners<3>(face, x, point.cell, corner, numbers, entry);
                ++entry;
            };
            if (dimensions == 2)
                wall_points<2>(gas, *wall.boundary, moves, face, x, here[flow], centres(here), write);
            else
                wall_points<3>(gas, *wall.boundary, moves, face, x, here[flow], centres(here), write);
        }
    });
    return labels;
}

ShownShape surface_shape(const SurfaceLabels& labels, int dimensions) {
    if (dimensions == 2)
        return lines("walls", *labels.grid, labels.corners,
                     {.connectivity = labels.numbers, .type = CellType::line});
    return surface("walls", *labels.grid, labels.corners,
                   {.connectivity = labels.numbers, .type = CellType::quadrilateral});
}

namespace {

class SurfaceFile : public Frames {
  public:
    SurfaceFile(SurfaceLabels labels, std::int64_t every) : labels_(std::move(labels)), every_(every) {}

    [[nodiscard]] std::int64_t every() const override { return every_; }
    void begin(const Simulation&, team::Team&, const std::filesystem::path& folder, std::int64_t,
               bool) override {
        folder_ = folder;
    }
    [[nodiscard]] bool at_end() const override { return true; }
    void write(const Simulation& run, team::Team& team, double) override {
        if (run.step() == 0) return;  // tasks of steps find what walls have
        const auto path = folder_ / fmt::format("surface-{:06}.csv", run.step());
        const std::vector<std::int64_t> first = first_rows(run, team);
        RowFile::write(team, path, kHead, [&](const RowFile::Place& put) { put_rows(run, first, put); });
    }

  private:
    static constexpr const char* kHead = "x,y,z,cp,cfx,cfy,cfz,yplus,zone,i,j,k\n";
    static constexpr int kNumber = 24, kCount = 9;
    static constexpr std::int64_t kRow = 8 * (kNumber + 1) + 4 * (kCount + 1);

    /// A list's values on a patch: [component * entries + entry].
    template <class T>
    static std::vector<T> values(ValuesNow& now, LabelId label, int local, int components) {
        std::vector<std::byte> bytes;
        now.read({label}, local, components, bytes);
        std::vector<T> all(bytes.size() / sizeof(T));
        std::memcpy(all.data(), bytes.data(), bytes.size());
        return all;
    }

    [[nodiscard]] std::size_t faces_of(std::size_t patch) const {
        return static_cast<std::size_t>(labels_.first[patch + 1] - labels_.first[patch]);
    }
    /// Whether the cells of a patch's wall faces are computed; empty: all are.
    [[nodiscard]] std::vector<std::int32_t> computed(ValuesNow& now, int local) const {
        if (!labels_.computed) return {};
        return values<std::int32_t>(now, labels_.computed->id(), local, 1);
    }

    /// [patch] the rows of the patches before it. Which faces are left out each process knows of its own.
    [[nodiscard]] std::vector<std::int64_t> first_rows(const Simulation& run, team::Team& team) const {
        if (!labels_.computed) return labels_.first;
        ValuesNow now(run);
        const std::vector<int>& patches = now.patches(*labels_.grid);
        std::vector<std::int64_t> first(labels_.first.size(), 0);
        for (int local = 0; local < static_cast<int>(patches.size()); ++local) {
            const auto patch = static_cast<std::size_t>(patches[static_cast<std::size_t>(local)]);
            if (faces_of(patch) == 0) continue;
            for (const std::int32_t is : computed(now, local)) first[patch + 1] += is;
        }
        team.together().reduce(std::span<std::int64_t>(first), std::plus<>());
        for (std::size_t p = 1; p < first.size(); ++p) first[p] += first[p - 1];
        return first;
    }

    void put_rows(const Simulation& run, const std::vector<std::int64_t>& first,
                  const RowFile::Place& put) const {
        ValuesNow now(run);
        const std::vector<int>& patches = now.patches(*labels_.grid);
        for (int local = 0; local < static_cast<int>(patches.size()); ++local) {
            const auto patch = static_cast<std::size_t>(patches[static_cast<std::size_t>(local)]);
            const std::size_t count = faces_of(patch);
            if (count == 0) continue;
            const auto x = values<double>(now, labels_.centre.id(), local, 3);
            const auto cp = values<double>(now, labels_.cp.id(), local, 1);
            const auto cf = values<double>(now, labels_.cf.id(), local, 3);
            const auto y_plus = values<double>(now, labels_.y_plus.id(), local, 1);
            const auto cell = values<std::int32_t>(now, labels_.cell.id(), local, 4);
            const std::vector<std::int32_t> is_computed = computed(now, local);
            std::string rows;
            for (std::size_t n = 0; n < count; ++n) {
                if (!is_computed.empty() && is_computed[n] == 0) continue;
                for (const double value : {x[n], x[count + n], x[2 * count + n], cp[n], cf[n], cf[count + n],
                                           cf[2 * count + n], y_plus[n]})
                    rows += fmt::format("{:>{}.16e},", value, kNumber);
                for (std::size_t c = 0; c < 4; ++c)
                    rows += fmt::format("{:>{}}{}", cell[c * count + n], kCount, c < 3 ? ',' : '\n');
            }
            put(rows, kRow * first[patch]);
        }
    }

    SurfaceLabels labels_;
    std::int64_t every_;
    std::filesystem::path folder_;
};

}  // namespace

std::shared_ptr<Frames> surface_file(SurfaceLabels labels, std::int64_t every) {
    return std::make_shared<SurfaceFile>(std::move(labels), every);
}

}  // namespace strata::flow
