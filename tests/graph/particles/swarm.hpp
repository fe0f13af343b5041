// Particles that pull at those near them, on a grid: for halos of particles. Who is near is found anew in
// every so many steps; a pair is computed by the patch of the one with the lower number.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/graph/particles/cloud.hpp"

namespace strata::tests {

struct SwarmShape {
    Int3 cells{7, 5, 6}, patch_cells{3, 2, 2};
    std::array<bool, 3> periodic{true, true, true};
    std::array<double, 3> origin{-1.5, 0.25, 10}, spacing{0.5, 0.75, 1};
    int directions = 3;
    double distance = 0.8;
    HaloSide side = HaloSide::both;  // half: a pair is computed by the patch that sees it
    int every = 5;                   // steps from one renewal to the next; 0: in each step
    int hops = 1;
    int each = 3;  // particles in a cell
    double fast = 0.05;
    double push = 1e-7;  // by what the patch sees: other patches see another number
    double beyond = 0;   // borders that are not periodic are open, and at first particles are up to so many
                         // cells beyond them
    [[nodiscard]] bool open(std::size_t a) const { return beyond > 0 && !periodic[a]; }
};

/// What a task saw on a patch: its own particles, and behind them those in its halo.
struct Sight {
    std::int64_t step = 0;
    int patch = -1;
    std::int64_t own = 0;
    bool finds = true;  // each number where it is for the first time, and no other
    struct One {
        std::int64_t id;
        std::array<double, 3> x;
        double weight;
        Bytes mark;
    };
    std::vector<One> all;
};

/// The sums that a patch's particles got in a step.
struct Pulled {
    std::int64_t step = 0;
    int patch = -1;
    std::vector<std::array<double, 3>> force;
    std::vector<std::int32_t> pairs;
    std::vector<std::int64_t> crowd;  // the pairs of all that the patch sees
};

template <class Real = double>
class Swarm {
  public:
    /// `saw`, `pulled`: called in each step for each patch.
    explicit Swarm(const SwarmShape& shape, std::function<void(const Sight&)> saw = {},
                   std::function<void(const Pulled&)> pulled = {})
        : shape_(shape),
          saw_(std::move(saw)),
          pulled_(std::move(pulled)),
          graph_("swarm"),
          grid_(graph_.grid("grid", {.cells = {{0, 0, 0}, shape.cells},
                                     .patch_cells = shape.patch_cells,
                                     .periodic = shape.periodic,
                                     .origin = shape.origin,
                                     .spacing = shape.spacing})),
          set_(graph_.particles("bees", grid_, shape.beyond > 0 ? Beyond::owned : Beyond::refused)),
          id_(graph_.particle_id(set_)),
          x_(graph_.particle<Real>(set_, "x", {.components = shape.directions})),
          v_(graph_.particle<double>(set_, "v", {.components = shape.directions})),
          weight_(graph_.particle<double>(set_, "weight")),
          mark_(graph_.particle<Bytes>(set_, "mark")),
          force_(graph_.particle<double>(set_, "force", {.components = shape.directions})),
          pairs_(graph_.particle<std::int32_t>(set_, "pairs")),
          crowd_(graph_.particle<std::int64_t>(set_, "crowd")),
          turn_(graph_.scalar<std::int32_t>("turn")),
          number_(graph_.scalar<std::int64_t>("number", Reduce::sum)),
          near_(graph_.particle_halo("near", x_, shape.distance, shape.side)) {
        sow();
        graph_.start().renew(near_);
        Scope& rebuild = shape.every > 0 ? in_some_steps() : graph_.step().subcycle("rebuild", 1);
        rebuild.relocate(set_, x_.last(), shape.hops);
        rebuild.renew(near_);
        pull();
        count();
        move();
    }

    Graph& graph() { return graph_; }
    [[nodiscard]] SetId set() const { return set_; }
    [[nodiscard]] const Grid& grid() const { return grid_; }
    [[nodiscard]] Scalar<std::int64_t> number() const { return number_; }
    [[nodiscard]] const SwarmShape& shape() const { return shape_; }

    /// All pairs of a list, of which the first `own` are the patch's.
    template <class Id, class X, class Weight, class Force, class Pairs>
    static void pull_pairs(const SwarmShape& shape, std::int64_t own, std::int64_t all, Id id, X x,
                           Weight weight, Force force, Pairs pairs) {
        for (std::int64_t i = 0; i < own; ++i)
            for (std::int64_t j = i + 1; j < all; ++j) {
                // None with an image of itself; those of both sides once.
                if (j >= own && (shape.side == HaloSide::both ? id(j) <= id(i) : id(j) == id(i))) continue;
                std::array<double, 3> d{};
                double square = 0;
                for (int a = 0; a < shape.directions; ++a) {
                    const auto k = static_cast<std::size_t>(a);
                    d[k] = x(j, a) - x(i, a);
                    square += d[k] * d[k];
                }
                if (square >= shape.distance * shape.distance) continue;
                const double pull = weight(i) * weight(j) / (0.1 + square);
                ++pairs(i), ++pairs(j);
                for (int a = 0; a < shape.directions; ++a) {
                    force(i, a) += pull * d[static_cast<std::size_t>(a)];
                    force(j, a) -= pull * d[static_cast<std::size_t>(a)];
                }
            }
    }

  private:
    Scope& in_some_steps() {
        Task task = graph_.step().once("whose turn it is");
        const auto now = task.make(turn_);
        task.run([=, this](Here& here) { here[now] = here.step % shape_.every == 0; });
        return graph_.step().when<std::int32_t>("rebuild", turn_.at(0),
                                                [](std::int32_t turn) { return turn != 0; });
    }

    void sow() {
        Task task = graph_.start().task("sow", grid_);
        const auto id = task.make(id_);
        const auto x = task.make(x_);
        const auto v = task.make(v_);
        const auto weight = task.make(weight_);
        const auto mark = task.make(mark_);
        task.run([=, this](Here& here) {
            const Box box = here.cells();
            here.create(set_, box.volume() * shape_.each);
            std::int64_t i = 0;
            for (int z = box.lo[2]; z < box.hi[2]; ++z)
                for (int y = box.lo[1]; y < box.hi[1]; ++y)
                    for (int c = box.lo[0]; c < box.hi[0]; ++c)
                        for (int n = 0; n < shape_.each; ++n, ++i) {
                            const std::int64_t number =
                                ((std::int64_t{z} * shape_.cells[1] + y) * shape_.cells[0] + c) *
                                    shape_.each +
                                n;
                            const auto key = static_cast<std::uint64_t>(number);
                            const Int3 cell{c, y, z};
                            here[id][i] = number;
                            here[weight][i] = 1.5 + dice(key, 7);
                            here[mark][i] = Cloud::mark_of(number);
                            for (int a = 0; a < shape_.directions; ++a) {
                                const auto d = static_cast<std::size_t>(a);
                                double at = cell[d] + 0.5 + 0.45 * dice(key, d);
                                if (shape_.open(d) && n > 0) at += way_out(key, cell, d);
                                here[x].component(a)[static_cast<std::size_t>(i)] =
                                    static_cast<Real>(shape_.origin[d] + at * shape_.spacing[d]);
                                here[v].component(a)[static_cast<std::size_t>(i)] =
                                    shape_.fast * shape_.spacing[d] * dice(key, 10 + d);
                            }
                        }
        });
    }

    /// Of a particle in a cell at the border.
    [[nodiscard]] double way_out(std::uint64_t key, const Int3& cell, std::size_t d) const {
        const double far = shape_.beyond * std::abs(dice(key, 20 + d));
        if (cell[d] == 0) return -far;
        return cell[d] == shape_.cells[d] - 1 ? far : 0;
    }

    void pull() {
        Task task = graph_.step().task("pull", grid_);
        const auto x = task.need(x_.at(1), near_);
        const auto weight = task.need(weight_.last(), near_);
        const auto mark = task.need(mark_.last(), near_);
        const auto id = task.need(id_.last(), near_);
        const auto around = task.need(near_);
        const auto force = task.sum(force_.at(0), near_);
        const auto pairs = task.sum(pairs_.at(0), near_);
        task.run([=, this](Here& here) {
            const std::int64_t own = here[around].own(), all = here[around].size();
            pull_pairs(
                shape_, own, all, [&](std::int64_t i) { return here[id][i]; },
                [&](std::int64_t i, int a) {
                    return static_cast<double>(here[x].component(a)[static_cast<std::size_t>(i)]);
                },
                [&](std::int64_t i) { return here[weight][i]; },
                [&](std::int64_t i, int a) -> double& {
                    return here[force].component(a)[static_cast<std::size_t>(i)];
                },
                [&](std::int64_t i) -> std::int32_t& { return here[pairs][i]; });
            if (!saw_) return;
            Sight sight{here.step, here.patch, own, true, {}};
            for (std::int64_t i = 0; i < all; ++i) {
                Sight::One one{here[id][i], {}, here[weight][i], here[mark][i]};
                for (int a = 0; a < shape_.directions; ++a)
                    one.x[static_cast<std::size_t>(a)] =
                        static_cast<double>(here[x].component(a)[static_cast<std::size_t>(i)]);
                sight.all.push_back(one);
            }
            for (std::int64_t n = -1; n < shape_.each * Box{{}, shape_.cells}.volume() + 2; ++n) {
                const auto first = std::find_if(sight.all.begin(), sight.all.end(),
                                                [&](const Sight::One& one) { return one.id == n; });
                const std::int64_t at = first == sight.all.end() ? -1 : first - sight.all.begin();
                sight.finds = sight.finds && here[around].find(n) == at;
            }
            saw_(sight);
        });
    }

    /// Reads with a halo what was summed up through it.
    void count() {
        Task task = graph_.step().task("count", grid_);
        const auto pairs = task.need(pairs_, near_);
        const auto around = task.need(near_);
        const auto crowd = task.make(crowd_);
        task.run([=](Here& here) {
            std::int64_t all = 0;
            for (std::int64_t i = 0; i < here[around].size(); ++i) all += here[pairs][i];
            for (std::int64_t i = 0; i < here[around].own(); ++i) here[crowd][i] = all;
        });
    }

    void move() {
        Task task = graph_.step().task("move", grid_);
        const auto crowd = task.need(crowd_);
        const auto force = task.need(force_);
        const auto pairs = task.need(pairs_);
        const auto x = task.modify(x_.at(1));
        const auto v = task.modify(v_.at(1));
        const auto count = task.contribute(number_);
        task.run([=, this](Here& here) {
            Pulled sums{here.step, here.patch, {}, {}, {}};
            for (std::int64_t i = 0; i < here[x].size() && pulled_; ++i) {
                std::array<double, 3>& f = sums.force.emplace_back();
                for (int a = 0; a < shape_.directions; ++a)
                    f[static_cast<std::size_t>(a)] = here[force].component(a)[static_cast<std::size_t>(i)];
                sums.pairs.push_back(here[pairs][i]);
                sums.crowd.push_back(here[crowd][i]);
            }
            if (pulled_) pulled_(sums);
            for (std::int64_t i = 0; i < here[x].size(); ++i) {
                here[count] += here[pairs][i];
                for (int a = 0; a < shape_.directions; ++a) {
                    const auto k = static_cast<std::size_t>(i), d = static_cast<std::size_t>(a);
                    double& speed = here[v].component(a)[k];
                    Real& at = here[x].component(a)[k];
                    const double most = shape_.fast * shape_.spacing[d];
                    speed += 1e-5 * here[force].component(a)[k] + shape_.push * double(here[crowd][i]);
                    speed = std::clamp(speed, -most, most);
                    const double lo = shape_.origin[d], hi = lo + shape_.cells[d] * shape_.spacing[d];
                    const double to = static_cast<double>(at) + speed;
                    if (!shape_.periodic[d] && !shape_.open(d) && (to < lo + 0.01 || to > hi - 0.01))
                        speed = -speed;
                    else
                        at = static_cast<Real>(to);
                }
            }
        });
    }

    SwarmShape shape_;
    std::function<void(const Sight&)> saw_;
    std::function<void(const Pulled&)> pulled_;
    Graph graph_;
    Grid& grid_;
    SetId set_;
    Particles<std::int64_t> id_;
    Particles<Real> x_;
    Particles<double> v_, weight_;
    Particles<Bytes> mark_;
    Particles<double> force_;
    Particles<std::int32_t> pairs_;
    Particles<std::int64_t> crowd_;
    Scalar<std::int32_t> turn_;
    Scalar<std::int64_t> number_;
    HaloId near_;
};

}  // namespace strata::tests
