// Particles that fly through the patches of a grid, as a graph and, for comparison, as one array.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/graph/execute/executor.hpp"
#include "core/graph/expand/plan.hpp"

namespace strata::tests {

using namespace strata::graph;

inline std::uint64_t mixed(std::uint64_t x) { return detail::SplitMix64(x).next(); }
/// -1 .. 1
inline double dice(std::uint64_t a, std::uint64_t b) {
    return static_cast<double>(mixed(a * 1000003U + b) >> 11U) * 0x1p-52 - 1;
}

struct Bytes {  // a value of an odd size
    unsigned char of[12];
};

/// What is the same in each of the cases here: x and y periodic, z with walls that reflect.
struct Flight {
    std::string kind = "drift";  // drift; corner: all to one corner; absorb: some are deleted on the way
    double fast = 2.9;           // cells a step, at most
    int hops = 1;
    Int3 cells{12, 8, 6}, patch_cells{4, 4, 3};
    int each = 3;        // particles in a cell
    bool tells = false;  // its task says who is no longer in its cell
    std::array<double, 3> origin{-1.5, 0.25, 10}, spacing{0.5, 0.25, 1};

    [[nodiscard]] double low(int c) const { return origin[static_cast<std::size_t>(c)]; }
    [[nodiscard]] double length(int c) const {
        const auto a = static_cast<std::size_t>(c);
        return cells[a] * spacing[a];
    }
    void born(std::int64_t id, const Int3& cell, double* x, double* v) const {
        for (std::size_t a = 0; a < 3; ++a) {
            const auto n = static_cast<std::uint64_t>(id);
            x[a] = origin[a] + (cell[a] + 0.5 + 0.4 * dice(n, a)) * spacing[a];
            v[a] = (a == 2 ? std::min(fast, 5.9) : fast) * spacing[a] * dice(n, 10 + a);
        }
    }
    /// A step's way: by velocity and a kick that depends on number and step.
    void fly(std::int64_t id, std::int64_t step, float kick, double* x, double* v) const {
        for (int c = 0; c < 3; ++c) {
            if (kind == "corner") {  // towards the first cell's middle, and there they stay
                const double to = low(c) + 0.5 * spacing[static_cast<std::size_t>(c)];
                const double most = spacing[static_cast<std::size_t>(c)];
                x[c] += std::clamp(to - x[c], -most, most);
                continue;
            }
            x[c] += v[c] * (0.75 + 0.25 * static_cast<double>(kick));
        }
        if (x[2] < low(2)) x[2] = 2 * low(2) - x[2], v[2] = -v[2];
        if (x[2] >= low(2) + length(2)) {
            x[2] = 2 * (low(2) + length(2)) - x[2], v[2] = -v[2];
            x[2] = std::min(x[2], std::nextafter(low(2) + length(2), 0.0));
        }
        (void)id, (void)step;
    }
    [[nodiscard]] static float kick(std::int64_t id, std::int64_t step) {
        return static_cast<float>(
            dice(static_cast<std::uint64_t>(id), 100 + static_cast<std::uint64_t>(step)));
    }
    [[nodiscard]] bool absorbed(std::int64_t id, std::int64_t step) const {
        return kind == "absorb" && step == 5 + id % 40 && id % 3 == 0;
    }
};

class Cloud {
  public:
    /// `graph`: where it is declared; without it in one of its own.
    explicit Cloud(const Flight& flight, Graph* graph = nullptr)
        : flight_(flight),
          own_("cloud"),
          graph_(graph != nullptr ? *graph : own_),
          grid_(graph_.grid("grid", {.cells = {{0, 0, 0}, flight.cells},
                                     .patch_cells = flight.patch_cells,
                                     .periodic = {true, true, false},
                                     .origin = flight.origin,
                                     .spacing = flight.spacing})),
          set_(graph_.particles("dust", grid_)),
          id_(graph_.particle_id(set_)),
          x_(graph_.particle<double>(set_, "x", {.components = 3})),
          v_(graph_.particle<double>(set_, "v", {.components = 3})),
          age_(graph_.particle<std::int32_t>(set_, "age")),
          mark_(graph_.particle<Bytes>(set_, "mark")),
          kick_(graph_.particle<float>(set_, "kick")),
          number_(graph_.scalar<std::int64_t>("number", Reduce::sum)) {
        start();
        step();
    }

    Graph& graph() { return graph_; }
    [[nodiscard]] SetId set() const { return set_; }
    [[nodiscard]] const Grid& grid() const { return grid_; }
    [[nodiscard]] Scalar<std::int64_t> number() const { return number_; }
    [[nodiscard]] std::vector<LabelId> labels() const {
        return {id_.id(), x_.id(), v_.id(), age_.id(), mark_.id()};
    }
    [[nodiscard]] LabelId x() const { return x_.id(); }

    static Bytes mark_of(std::int64_t id) {
        Bytes mark;
        for (std::size_t i = 0; i < sizeof mark.of; ++i)
            mark.of[i] = static_cast<unsigned char>(mixed(static_cast<std::uint64_t>(id)) >> (5 * i));
        return mark;
    }

  private:
    void start() {
        Task task = graph_.start().task("sow", grid_);
        const auto id = task.make(id_);
        const auto x = task.make(x_);
        const auto v = task.make(v_);
        task.run([=, this](Here& here) {
            const Box box = here.cells();
            here.create(set_, box.volume() * flight_.each);
            const auto ids = here[id];
            const auto xs = here[x], vs = here[v];
            std::int64_t i = 0;
            for (int n = flight_.each; n-- > 0;)  // not in their order
                for (int k = box.lo[2]; k < box.hi[2]; ++k)
                    for (int j = box.lo[1]; j < box.hi[1]; ++j)
                        for (int l = box.lo[0]; l < box.hi[0]; ++l, ++i) {
                            ids[i] = number_of(flight_, {l, j, k}, n);
                            double at[3], to[3];
                            flight_.born(ids[i], {l, j, k}, at, to);
                            for (int c = 0; c < 3; ++c) {
                                xs.component(c)[static_cast<std::size_t>(i)] = at[c];
                                vs.component(c)[static_cast<std::size_t>(i)] = to[c];
                            }
                        }
        });
        Task named = graph_.start().task("mark", grid_);  // knows how many there are, and who
        const auto who = named.need(id_);
        const auto mark = named.make(mark_);
        named.run([=](Here& here) {
            for (std::int64_t i = 0; i < here[who].size(); ++i) here[mark][i] = mark_of(here[who][i]);
        });
        Task counted = graph_.start().task("age", grid_);  // knows how many there are
        const auto age = counted.make(age_);
        counted.run([=](Here& here) {
            for (std::int64_t i = 0; i < here[age].size(); ++i) here[age][i] = 7;
        });
    }

    void step() {
        {
            Task task = graph_.step().task("kick", grid_);
            const auto id = task.need(id_);
            const auto mark = task.need(mark_);
            const auto kick = task.make(kick_);
            task.run([=](Here& here) {
                for (std::int64_t i = 0; i < here[id].size(); ++i)
                    here[kick][i] = here[mark][i].of[0] == mark_of(here[id][i]).of[0]
                                        ? Flight::kick(here[id][i], here.step)
                                        : 1000;
            });
        }
        {
            Task task = graph_.step().task("fly", grid_);
            const auto kick = task.need(kick_);
            const auto id = task.modify(id_.at(0));
            const auto x = task.modify(x_.at(0));
            const auto v = task.modify(v_.at(0));
            const auto age = task.modify(age_.at(0));
            if (flight_.tells) task.moves(set_);
            task.run([=, this](Here& here) {
                const auto ids = here[id];
                for (std::int64_t i = 0; i < ids.size(); ++i) {
                    double at[3], to[3];
                    const auto n = static_cast<std::size_t>(i);
                    for (int c = 0; c < 3; ++c)
                        at[c] = here[x].component(c)[n], to[c] = here[v].component(c)[n];
                    const std::array<double, 3> before = cell_of(at);
                    flight_.fly(ids[i], here.step, here[kick][i], at, to);
                    for (int c = 0; c < 3; ++c)
                        here[x].component(c)[n] = at[c], here[v].component(c)[n] = to[c];
                    ++here[age][i];
                    const bool gone = flight_.absorbed(ids[i], here.step);
                    if (gone) ids[i] = -1;
                    if (!flight_.tells || (!gone && cell_of(at) == before)) continue;
                    here.moved(set_).add(i);
                    if (i % 5 == 0) here.moved(set_).add(i);  // twice is no mistake
                }
            });
        }
        graph_.step().relocate(set_, x_.last(), flight_.hops);
        {
            Task task = graph_.step().task("count", grid_);
            const auto id = task.need(id_.last());
            const auto number = task.contribute(number_.at(0));
            task.run([=](Here& here) { here[number] += here[id].size(); });
        }
    }

    [[nodiscard]] std::array<double, 3> cell_of(const double* x) const {
        std::array<double, 3> cell;
        for (std::size_t a = 0; a < 3; ++a)
            cell[a] = std::floor((x[a] - flight_.origin[a]) * (1.0 / flight_.spacing[a]));
        return cell;
    }

  public:
    static std::int64_t number_of(const Flight& flight, const Int3& cell, int n) {
        const std::int64_t at =
            (std::int64_t{cell[2]} * flight.cells[1] + cell[1]) * flight.cells[0] + cell[0];
        return at * flight.each + n + (std::int64_t{1} << 40);
    }

  private:
    Flight flight_;
    Graph own_;
    Graph& graph_;
    Grid& grid_;
    SetId set_;
    Particles<std::int64_t> id_;
    Particles<double> x_, v_;
    Particles<std::int32_t> age_;
    Particles<Bytes> mark_;
    Particles<float> kick_;
    Scalar<std::int64_t> number_;
};

[[nodiscard]] inline StorageId storage_of(const Resolved& resolved, LabelId label) {
    for (const StorageId s : resolved.storages.ids())
        if (resolved.storages[s].holds(label)) return s;
    return {};
}

/// Of everything that a patch's particles are, in their order.
[[nodiscard]] inline std::uint64_t hash_of(const Cloud& cloud, const Resolved& resolved,
                                           const Populations& all, const ParticlePatch& patch) {
    std::uint64_t hash = static_cast<std::uint64_t>(patch.count);
    for (const LabelId label : cloud.labels()) {
        const ParticleColumn& column = all.column(storage_of(resolved, label));
        const ParticleArrays& arrays = column.arrays(patch);
        for (int c = 0; c < column.components; ++c) {
            const std::byte* values = column.at(arrays) + c * column.stride(arrays);
            for (std::int64_t i = 0; i < patch.count * column.bytes; ++i)
                hash = mixed(hash ^ static_cast<std::uint64_t>(values[i]));
        }
    }
    return hash;
}

/// All particles in one array, and what each patch should have.
class Reference {
  public:
    explicit Reference(const Flight& flight, const Grid& grid) : flight_(flight), grid_(grid) {
        for (int k = 0; k < flight.cells[2]; ++k)
            for (int j = 0; j < flight.cells[1]; ++j)
                for (int i = 0; i < flight.cells[0]; ++i)
                    for (int n = 0; n < flight.each; ++n) {
                        One one;
                        one.id = Cloud::number_of(flight, {i, j, k}, n);
                        flight.born(one.id, {i, j, k}, one.x, one.v);
                        all_.push_back(one);
                    }
    }
    void step(std::int64_t step) {
        std::erase_if(all_, [&](One& one) {
            flight_.fly(one.id, step, Flight::kick(one.id, step), one.x, one.v);
            for (int c = 0; c < 2; ++c) {
                const double periods = std::floor((one.x[c] - flight_.low(c)) / flight_.length(c));
                if (periods != 0) one.x[c] -= periods * flight_.length(c);
            }
            return flight_.absorbed(one.id, step);
        });
    }
    struct One {
        std::int64_t id;
        double x[3], v[3];
        int patch = -1;
        std::int64_t cell = 0;
    };
    /// By patch, cell and number.
    [[nodiscard]] std::vector<One> sorted() {
        for (One& one : all_) {
            Int3 cell;
            for (int c = 0; c < 3; ++c)
                cell[static_cast<std::size_t>(c)] = static_cast<int>(
                    std::floor((one.x[c] - flight_.low(c)) / flight_.spacing[static_cast<std::size_t>(c)]));
            for (int p = 0; p < grid_.patches(); ++p)
                if (grid_.box(p).contains(cell)) one.patch = p;
            one.cell = (std::int64_t{cell[2]} * flight_.cells[1] + cell[1]) * flight_.cells[0] + cell[0];
        }
        std::vector<One> sorted = all_;
        std::sort(sorted.begin(), sorted.end(), [](const One& a, const One& b) {
            return std::tie(a.patch, a.cell, a.id) < std::tie(b.patch, b.cell, b.id);
        });
        return sorted;
    }

  private:
    Flight flight_;
    const Grid& grid_;
    std::vector<One> all_;
};

}  // namespace strata::tests
