// Atoms in clusters of four that lie close together, in an order in which near clusters are found at once.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace strata::md {

inline constexpr int kCluster = 4;
/// Clusters come in pairs, eight atoms: the kernel computes those with one cluster more at a time.
inline constexpr int kPair = 2 * kCluster;
/// A list says of a cluster to which of the eight atoms it is near, with a bit for each couple of these: an
/// entry is cluster * kWhich + which.
inline constexpr int kCouples = kPair / 2;
inline constexpr std::uint32_t kWhich = 1U << kCouples, kAll = kWhich - 1;

/// Atoms sorted by columns along z, which are walked up and down in turn: each four that follow one another
/// are a cluster, and no column is filled up.
class Clusters {
  public:
    /// Boxes are relative to `origin`; slots are filled up to a multiple.
    void sort(const double* const x[3], std::span<const std::int32_t> atoms,
              const std::array<double, 3>& origin, int multiple);

    /// Of each slot: an atom's number. Behind the last atom there may be slots without one.
    [[nodiscard]] std::span<const std::int32_t> atoms() const { return atoms_; }
    [[nodiscard]] std::int32_t count() const { return count_; }
    [[nodiscard]] std::size_t bytes() const;

    /// The smallest box around a cluster's atoms.
    struct Box {
        float lo[3], hi[3];
    };
    [[nodiscard]] Box box(std::int32_t cluster) const {
        const auto k = static_cast<std::size_t>(cluster);
        return {{lo_[0][k], lo_[1][k], lo_[2][k]}, {hi_[0][k], hi_[1][k], hi_[2][k]}};
    }
    /// Writes to `found`, which has room for all and sixteen more, the clusters from `first` on whose box is
    /// nearer to this one than reach, upwards, as entries near to all of the eight; returns behind the last.
    std::uint32_t* near(const Box& box, float reach, std::int32_t first, std::uint32_t plus,
                        std::uint32_t* found) const;
    /// The atoms and the number of others, without what near() and box() need.
    void keep_atoms(const Clusters& of);

  private:
    using Place = std::array<float, 3>;
    void choose_bins(const std::vector<Place>& places);
    void walk(const std::vector<Place>& places, std::span<const std::int32_t> atoms);
    void find_boxes(const std::vector<Place>& sorted);
    [[nodiscard]] std::uint32_t* test(const Box& box, float square, std::int32_t begin, std::int32_t end,
                                      std::uint32_t plus, std::uint32_t* found) const;

    std::vector<std::int32_t> atoms_;
    std::int32_t count_ = 0;
    float lowest_[3] = {}, side_[3] = {};
    int bins_[3] = {};
    std::vector<std::int32_t> begin_;  ///< of bins, in the order of the walk
    std::array<std::vector<float>, 3> lo_, hi_;
};

}  // namespace strata::md
