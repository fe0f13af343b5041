// Atoms as files have them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <unordered_set>
#include <vector>

namespace strata::md {

struct AtomRow {
    std::int64_t id = 0;
    std::int32_t kind = 0;  // from 0
    std::array<double, 3> x{}, v{};
};

using AtomRows = std::vector<AtomRow>;

/// Whether a component across an edge of the box is what rounding leaves of a right angle, and no tilt: at
/// most 1e-9 of the shortest edge. (A cell from lengths and angles has b cos(90 degrees) = 6e-17 b.)
[[nodiscard]] inline bool is_rounding(double across, const std::array<double, 3>& edges) {
    return std::abs(across) <= 1e-9 * *std::min_element(edges.begin(), edges.end());
}

/// Whether a number was there before: a bit for each number up to one for each bit of the file, a table of
/// the few that are larger. So a line with a large number takes no memory for all those below it.
class IdsSeen {
  public:
    explicit IdsSeen(std::int64_t file_bytes) : bits_(8 * static_cast<std::size_t>(file_bytes)) {}

    /// False where it was. Numbers are 0 and more.
    bool add(std::int64_t id) {
        const auto at = static_cast<std::size_t>(id);
        if (at >= bits_) {
            if (!larger_.insert(id).second) return false;
            return ++count_, true;
        }
        if (at >= seen_.size()) seen_.resize(std::min(bits_, std::max(at + 1, 2 * seen_.size())));
        if (seen_[at]) return false;
        seen_[at] = true;
        return ++count_, true;
    }
    [[nodiscard]] std::int64_t count() const { return count_; }

  private:
    std::size_t bits_;
    std::vector<bool> seen_;
    std::unordered_set<std::int64_t> larger_;
    std::int64_t count_ = 0;
};

/// A state of atoms in a file, read in pieces.
class AtomFile {
  public:
    AtomFile() = default;
    virtual ~AtomFile() = default;
    AtomFile(const AtomFile&) = delete;
    AtomFile& operator=(const AtomFile&) = delete;

    [[nodiscard]] virtual std::int64_t atoms() const = 0;
    /// Corners of the box.
    [[nodiscard]] virtual const std::array<double, 3>& low() const = 0;
    [[nodiscard]] virtual const std::array<double, 3>& high() const = 0;
    [[nodiscard]] virtual std::array<double, 3> length() const {
        return {high()[0] - low()[0], high()[1] - low()[1], high()[2] - low()[2]};
    }
    [[nodiscard]] virtual bool has_velocities() const = 0;
    /// The time by which velocities are ahead of places.
    [[nodiscard]] virtual double ahead() const { return 0; }
    /// Share `part` of `parts` of the atoms. Throws Error with file and line.
    [[nodiscard]] virtual AtomRows piece(std::int64_t part, std::int64_t parts) const = 0;
    /// How many lines of that share are velocities alone. In all they are as many as atoms, or none.
    [[nodiscard]] virtual std::int64_t velocity_lines(std::int64_t /*part*/, std::int64_t /*parts*/) const {
        return 0;
    }
    /// Throws Error with the line where a file has not `atoms()` atoms, or some twice. Reads all of it, and
    /// keeps a bit for each number.
    virtual void explain() const = 0;
};

}  // namespace strata::md
