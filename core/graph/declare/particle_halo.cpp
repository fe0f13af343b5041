#include "core/graph/declare/particle_halo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "core/base/error.hpp"
#include "core/base/figures.hpp"
#include "core/graph/declare/graph.hpp"

namespace strata::graph {

ParticleHalo::ParticleHalo(std::string name, const Grid& grid, HaloId id, SetId set, double distance,
                           int directions, HaloSide side)
    : Relation(std::move(name), grid, grid, Shape::particles),
      id_(id),
      set_(set),
      distance_(distance),
      directions_(directions),
      side_(side),
      readers_(static_cast<std::size_t>(grid.patches())) {
    if (!(distance > 0 && std::isfinite(distance)))
        throw Error(fmt::format("the halo '{}' of particles has no width", this->name()))
            .given(fmt::format("a distance of {}", without_nan_sign(distance)))
            .allowed("a positive number, in the unit of positions");
    for (int to = 0; to < grid.patches(); ++to) {
        links_.push_back(find_links(to));
        std::vector<int>& sources = sources_.emplace_back(1, to);
        for (const Link& link : links_.back()) sources.push_back(link.patch);
        std::sort(sources.begin(), sources.end());
        sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
        for (const int from : sources) readers_[static_cast<std::size_t>(from)].push_back(to);
    }
}

/// The square of the distance of two boxes of cells; the same both ways.
double ParticleHalo::gap(const Box& a, const Box& b) const {
    const GridShape& shape = static_cast<const Grid&>(source()).shape();
    double square = 0;
    for (int c = 0; c < directions_; ++c) {
        const auto axis = static_cast<std::size_t>(c);
        const int cells = std::max({a.lo[axis] - b.hi[axis], b.lo[axis] - a.hi[axis], 0});
        square += cells * shape.spacing[axis] * (cells * shape.spacing[axis]);
    }
    return square;
}

std::vector<ParticleHalo::Link> ParticleHalo::find_links(int to) const {
    const auto& grid = static_cast<const Grid&>(source());
    const Box own = grid.box(to);
    Int3 width{};
    for (int c = 0; c < directions_; ++c) {
        const auto axis = static_cast<std::size_t>(c);
        width[axis] = static_cast<int>(std::ceil(distance_ / grid.shape().spacing[axis]));
    }
    std::vector<Link> all;
    for (const Grid::Meeting& each : grid.owners(own.grown(width), On::cells)) {
        const Box other = grid.box(each.patch).shifted(each.shift);
        const auto corner = [](const Box& box) { return std::tuple(box.lo[2], box.lo[1], box.lo[0]); };
        const bool seen =
            side_ == HaloSide::half ? corner(own) < corner(other) : corner(own) != corner(other);
        if (seen && gap(own, other) < distance_ * distance_) all.push_back({each.patch, each.shift});
    }
    const auto key = [](const Link& link) {
        return std::tuple(link.patch, link.shift[2], link.shift[1], link.shift[0]);
    };
    std::sort(all.begin(), all.end(), [&](const Link& a, const Link& b) { return key(a) < key(b); });
    return all;
}

std::vector<Piece> ParticleHalo::pieces(int to, On) const {
    std::vector<Piece> all;
    for (const int patch : sources(to)) all.emplace_back().from = patch;
    return all;
}

HaloId Graph::halo_of(std::string name, LabelId position, double distance, HaloSide side) {
    if (!labels_.has(position) || labels_[position].kind != Kind::particles)
        throw Error(
            fmt::format("graph '{}': the position of the halo '{}' is no label of particles", name_, name));
    const LabelInfo at = labels_[position];
    const ParticleSet& set = sets_[at.particle_set];
    take_name("halo of particles", named(name));
    const HaloId id = halos_.next();
    auto& halo = add<ParticleHalo>(name, *set.grid, id, set.id, distance, std::min(at.components, 3), side);
    halos_.push_back(&halo);
    halo.position_ = position;
    LabelInfo members = described<std::int64_t>(name, Kind::list, {});
    members.family = set.grid;
    members.entries = [](int) { return std::int64_t{1}; };
    members.about = "the number of particles that the patch sees";
    members.halo = id;
    halo.members_ = label(std::move(members));
    LabelInfo renewed = at;
    renewed.name = name + ".at";
    renewed.about = "positions at the last renewal";
    renewed.kept = true;
    renewed.halo = id;
    halo.renewed_ = label(std::move(renewed));
    return id;
}

void Scope::renew(HaloId id) {
    if (!graph_->halos_.has(id))
        throw Error(fmt::format("scope '{}' of graph '{}' renews a halo that the graph does not have", name_,
                                graph_->name_))
            .given(std::to_string(id.number()));
    const ParticleHalo& halo = *graph_->halos_[id];
    std::string name = fmt::format("renewal of '{}'", halo.name());
    if (id_ == kStart) name += " at the start";
    if (id_ > kStep) name += fmt::format(" in '{}'", name_);
    Task task = add_task(std::move(name), Runs::on_patches, &halo.target());
    task.use({Access::need, {halo.position(), -1, 0}, &halo, {}});
    task.use({Access::need, {graph_->sets_[halo.set()].id_label, -1, 0}, &halo, {}});
    task.use({Access::make, {halo.renewed(), 0, 0}, nullptr, {}});
    const Access access = parent_ ? Access::modify : Access::make;
    task.use({access, {halo.members(), 0, 0}, nullptr, {}});
    task.run([](Here&) {});
    graph_->tasks_.back().renews = id;
    renewals_.push_back(id);
}

int Task::through(Access access, const Version& v, HaloId halo) {
    const auto& all = info_->graph->particle_halos();
    if (!all.has(halo))
        throw Error(fmt::format("task '{}' of graph '{}' uses a halo that the graph does not have",
                                info_->name, info_->graph->name()));
    const int declared = use({access, v, all[halo], {}});
    if (declared >= 0) members(halo, false);
    return declared;
}

int Task::members(HaloId halo, bool by_number) {
    const auto& all = info_->graph->particle_halos();
    if (!all.has(halo))
        throw Error(fmt::format("task '{}' of graph '{}' uses a halo that the graph does not have",
                                info_->name, info_->graph->name()));
    ParticleHalo& of = *all[halo];
    of.finds_ = of.finds_ || by_number;
    const Use needed{Access::need, {of.members(), -1, 0}, nullptr, {}};
    for (std::size_t u = 0; u < info_->uses.size(); ++u)
        if (info_->uses[u].version == needed.version && info_->uses[u].access == Access::need)
            return static_cast<int>(u);
    return use(needed);
}

}  // namespace strata::graph
