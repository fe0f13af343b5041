// Halos of particles: what a patch sees of its neighbours' particles.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/graph/declare/ids.hpp"
#include "core/graph/declare/relation.hpp"

namespace strata::graph {

/// Which patches see each other. `half`: of two that are near, one alone sees the other, the one whose box
/// lies lower in z (then y, then x), images included. So a sum over pairs meets each pair once, and half as
/// much is copied.
enum class HaloSide : std::uint8_t { both, half };

/// For each patch the particles of other patches that are closer to its box than a distance, images across
/// periodic borders included: of the patch itself, too, where the domain is narrow. Where patches own what is
/// beyond a border (Beyond::owned), their boxes have no end there. Scope::renew finds them
/// by their positions, in the order of patches, of images, and of their places on their patch. Then they stay
/// the same until it is renewed, whatever their positions become. A task that needs a label with a halo sees
/// the present values, and positions with their image's distance added.
///
/// Graph::particle_halo makes it.
class ParticleHalo final : public Relation {
  public:
    /// `directions`: the components of a position. Throws Error where the distance is not positive.
    ParticleHalo(std::string name, const Grid& grid, HaloId id, SetId set, double distance, int directions,
                 HaloSide side = HaloSide::both);

    /// An image of a patch from which particles may be in the halo of another one. `shift` is added to its
    /// cells' indices there; 0 but across periodic borders.
    struct Link {
        std::int32_t patch = -1;
        Int3 shift{};
    };
    /// By patch, then by shift (z first). The patch itself, without a shift, is none of them.
    [[nodiscard]] const std::vector<Link>& links(int to) const {
        return links_[static_cast<std::size_t>(to)];
    }
    /// The patches of links(), and the patch itself; ascending.
    [[nodiscard]] const std::vector<int>& sources(int to) const {
        return sources_[static_cast<std::size_t>(to)];
    }
    /// The patches that see this one, and the patch itself; ascending. With HaloSide::both these are
    /// sources().
    [[nodiscard]] const std::vector<int>& readers(int from) const {
        return readers_[static_cast<std::size_t>(from)];
    }
    /// One for each of sources(). What of them: only known when the graph runs.
    [[nodiscard]] std::vector<Piece> pieces(int to, On on) const override;

    [[nodiscard]] HaloId id() const { return id_; }
    [[nodiscard]] SetId set() const { return set_; }
    [[nodiscard]] double distance() const { return distance_; }
    [[nodiscard]] int directions() const { return directions_; }
    /// Labels that were made with it: the position, who is in it (a list that stands for that), and the
    /// positions at the last renewal, from which it can be found again.
    [[nodiscard]] LabelId position() const { return position_; }
    [[nodiscard]] LabelId members() const { return members_; }
    [[nodiscard]] LabelId renewed() const { return renewed_; }
    /// Whether a task finds particles by their numbers.
    [[nodiscard]] bool finds() const { return finds_; }

  private:
    friend class Graph;
    friend class Task;
    [[nodiscard]] double gap(const Box& a, const Box& b) const;
    [[nodiscard]] std::vector<Link> find_links(int to) const;

    HaloId id_;
    SetId set_;
    double distance_;
    int directions_;
    HaloSide side_;
    LabelId position_, members_, renewed_;
    bool finds_ = false;
    std::vector<std::vector<Link>> links_;             // [patch]
    std::vector<std::vector<int>> sources_, readers_;  // [patch]
};

}  // namespace strata::graph
