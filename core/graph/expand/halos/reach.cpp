#include "core/graph/expand/halos/reach.hpp"

#include <algorithm>

#include "core/graph/expand/halos/sweep.hpp"

namespace strata::graph {

const Family& Reach::source_family(const Use& use) const {
    if (use.is_scattered()) return use.relation->target();
    return use.relation != nullptr ? use.relation->source() : *label(use).family;
}

/// The owners of values within the patch's own, grown. Of a single grid they are also the patches whose grown
/// values meet the patch's own.
const std::vector<int>& Reach::around(const Grid& grid, const LabelInfo& label, const Int3& width,
                                      int patch) {
    found_.clear();
    if (width == Int3{}) {
        found_.push_back(patch);
        return found_;
    }
    const int zone = grid.zone_of(patch);
    Box seen = grid.owned(patch, label.on, label.border).grown(width);
    if (grid.joined()) seen = common(seen, grid.extent_in(zone, label.on, label.border));
    grid.find_owners_in(zone, seen, label.on, label.border, met_);
    for (const auto& each : met_)
        if (found_.empty() || found_.back() != each.patch) found_.push_back(each.patch);
    return found_;
}

const std::vector<int>& Reach::beside(const Grid& grid, const LabelInfo& label, const SideBoxes& sides,
                                      int patch) {
    found_.assign(1, patch);
    const int zone = grid.zone_of(patch);
    for (const Box& side : sides) {
        const Box seen = grid.joined() ? common(side, grid.extent_in(zone, label.on, label.border)) : side;
        grid.find_owners_in(zone, seen, label.on, label.border, met_);
        for (const auto& each : met_) found_.push_back(each.patch);
    }
    std::sort(found_.begin(), found_.end());
    found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
    return found_;
}

/// The patches that a relation's pieces for this one come from.
const std::vector<int>& Reach::pieces(const Relation& relation, On on, int patch) {
    found_.clear();
    for (const Piece& piece : relation.pieces(patch, on)) found_.push_back(piece.from);
    std::sort(found_.begin(), found_.end());
    found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
    return found_;
}

const Reach::Lists& Reach::inverse(const Relation& relation, On on) {
    const auto [at, is_new] = inverses_.try_emplace({&relation, on});
    Lists& readers = at->second;
    if (is_new) {
        readers.resize(static_cast<std::size_t>(relation.source().patches()));
        for (int to = 0; to < relation.target().patches(); ++to)
            for (const Piece& piece : relation.pieces(to, on)) {
                auto& list = readers[static_cast<std::size_t>(piece.from)];
                if (list.empty() || list.back() != to) list.push_back(to);
            }
    }
    return readers;
}

/// Over joined faces of zones the axes change, and layers are counted along those of the zone that reads:
/// with two layers in x and none in y, x of one zone may read y of another, which does not read back.
const Reach::Lists& Reach::inverse(const Grid& grid, const LabelInfo& label, const Int3& width) {
    const auto [at, is_new] = ghosts_.try_emplace({&grid, label.on, label.border, width});
    Lists& readers = at->second;
    if (is_new) {
        readers.resize(static_cast<std::size_t>(grid.patches()));
        for (int to = 0; to < grid.patches(); ++to)
            for (const int from : around(grid, label, width, to))
                readers[static_cast<std::size_t>(from)].push_back(to);
    }
    return readers;
}

/// Upwind along x of one zone may be along y of another.
const Reach::Lists& Reach::inverse_beside(const Grid& grid, const LabelInfo& label, const Use& use) {
    const auto [at, is_new] =
        sides_.try_emplace({&grid, label.on, label.border, use.width, use.towards, use.corners, use.in_zone});
    Lists& readers = at->second;
    if (is_new) {
        readers.resize(static_cast<std::size_t>(grid.patches()));
        for (int to = 0; to < grid.patches(); ++to)
            for (const int from : sources(use, to)) readers[static_cast<std::size_t>(from)].push_back(to);
    }
    return readers;
}

const std::vector<int>& Reach::sources(const Use& use, int patch) {
    const LabelInfo& of = label(use);
    if (use.lacks_some()) {
        const auto& grid = static_cast<const Grid&>(*of.family);
        return beside(grid, of, ghosts_of(use, grid, patch, of.on, of.border), patch);
    }
    if (use.relation == nullptr) {
        if (of.kind == Kind::field) return around(static_cast<const Grid&>(*of.family), of, use.width, patch);
        found_.assign(1, patch);
        return found_;
    }
    if (use.is_scattered()) return inverse(*use.relation, of.on)[static_cast<std::size_t>(patch)];
    if (use.access == Access::sum && use.relation->shape() == Shape::particles)
        return static_cast<const ParticleHalo&>(*use.relation).readers(patch);
    pieces(*use.relation, of.on, patch);
    if (use.access == Access::sum && std::find(found_.begin(), found_.end(), patch) == found_.end())
        found_.insert(std::upper_bound(found_.begin(), found_.end(), patch), patch);
    return found_;
}

const std::vector<int>& Reach::readers(const Use& use, int patch) {
    const LabelInfo& of = label(use);
    if (use.lacks_some()) {
        const auto& grid = static_cast<const Grid&>(*of.family);
        if (grid.joined()) return inverse_beside(grid, of, use)[static_cast<std::size_t>(patch)];
        if (use.faces_alone) return sources(use, patch);  // they are mutual
        const Box own = grid.owned(patch, of.on, of.border);
        return beside(grid, of, downwind_of(own, use.width, use.towards, use.corners), patch);
    }
    if (use.relation == nullptr) {
        if (of.kind != Kind::field || use.width == Int3{}) return sources(use, patch);
        const auto& grid = static_cast<const Grid&>(*of.family);
        if (!grid.joined()) return sources(use, patch);
        return inverse(grid, of, use.width)[static_cast<std::size_t>(patch)];
    }
    if (use.is_scattered()) return pieces(*use.relation, of.on, patch);
    if (use.relation->shape() == Shape::particles) {
        const auto& halo = static_cast<const ParticleHalo&>(*use.relation);
        return use.access == Access::sum ? halo.sources(patch) : halo.readers(patch);
    }
    if (use.access == Access::sum) return sources(use, patch);  // sharing is mutual
    return inverse(*use.relation, of.on)[static_cast<std::size_t>(patch)];
}

}  // namespace strata::graph
