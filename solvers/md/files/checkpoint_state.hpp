// The state in a checkpoint of another case, for a case to begin with: equilibration by one, production by
// the next.
//
//   const CheckpointState state("equilibration/checkpoint-010000", "metal", {"Cu"});
//   AtomRows mine = state.piece(3, 16);   // the atoms on a sixteenth of the checkpoint's patches
//
// Places, velocities and box have the bits of the checkpoint; beside a barostat places and box are those of
// the moment: what is kept times the scale of the box.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "core/graph/simulation/simulation.hpp"
#include "core/run/checkpoint/reader.hpp"
#include "solvers/md/files/atom_rows.hpp"
#include "solvers/md/labels.hpp"
#include "solvers/md/settings.hpp"

namespace strata::md {

/// What checkpoints of a case say for such a case: box, borders, masses, and how far velocities are ahead.
[[nodiscard]] std::vector<std::pair<std::string, std::vector<double>>> facts_of(const graph::Simulation& run,
                                                                                const Settings& settings,
                                                                                const Labels& labels);

class CheckpointState : public AtomFile {
  public:
    /// units, names: of the case that begins; the checkpoint's must be the same. Throws Error, also where the
    /// checkpoint is of another solver, or of a version of Strata that did not keep the box.
    CheckpointState(const std::filesystem::path& checkpoint, const std::string& units,
                    const std::vector<std::string>& names);

    [[nodiscard]] std::int64_t atoms() const override { return atoms_; }
    [[nodiscard]] const std::array<double, 3>& low() const override { return low_; }
    [[nodiscard]] const std::array<double, 3>& high() const override { return high_; }
    [[nodiscard]] std::array<double, 3> length() const override { return length_; }
    [[nodiscard]] const std::array<bool, 3>& open() const { return open_; }
    [[nodiscard]] const std::vector<double>& masses() const { return masses_; }
    /// A minimisation has none that count.
    [[nodiscard]] bool has_velocities() const override { return has_velocities_; }
    [[nodiscard]] double ahead() const override { return ahead_; }

    /// The atoms on share `part` of `parts` of the checkpoint's patches.
    [[nodiscard]] AtomRows piece(std::int64_t part, std::int64_t parts) const override;
    void explain() const override {}  // checksums say that it is what was written

  private:
    /// So many numbers. Throws Error where the head has others.
    [[nodiscard]] const std::vector<double>& fact(const char* name, std::size_t numbers) const;
    [[nodiscard]] std::array<double, 3> three(const char* name) const;
    /// Atoms on a patch.
    [[nodiscard]] std::int64_t count(std::int64_t patch) const;
    template <class T>
    void read(const char* label, std::int64_t patch, std::int64_t values, std::vector<T>& into) const;

    graph::CheckpointReader reader_;
    std::int64_t patches_ = 0, atoms_ = 0;
    std::array<double, 3> low_{}, high_{}, length_{};
    std::array<bool, 3> open_{};
    std::vector<double> masses_;
    double scale_ = 1, ahead_ = 0;
    bool has_velocities_ = true;
};

}  // namespace strata::md
