// Extended XYZ (https://github.com/libAtoms/extxyz), one frame, read in pieces:
//
//   256
//   Lattice="16 0 0 0 16 0 0 0 16" Properties=species:S:1:pos:R:3:velo:R:3 pbc="T T T"
//   Cu 0.1 0.2 0.3 0 0 0
//
// Read are species (or type), pos, and where they are there id (whole numbers from 1) and velo (or vel,
// velocities), in the units of the case. Without id an atom has the number of its line, from 1.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "solvers/md/files/atom_rows.hpp"
#include "solvers/md/files/pieces.hpp"

namespace strata::md {

class ExtendedXyz : public AtomFile {
  public:
    /// names: of the kinds of atoms, in their order. Throws Error with file and line.
    ExtendedXyz(const std::filesystem::path& path, std::vector<std::string> names);

    [[nodiscard]] std::int64_t atoms() const override { return atoms_; }
    [[nodiscard]] const std::array<double, 3>& low() const override { return low_; }
    [[nodiscard]] const std::array<double, 3>& high() const override { return high_; }
    /// Directions in which the box is open.
    [[nodiscard]] const std::array<bool, 3>& open() const { return open_; }
    [[nodiscard]] bool has_velocities() const override { return velocity_.first >= 0; }

    /// Share `part` of `parts` of the atoms. Lines of different lengths in a file without id are counted from
    /// the beginning, so reading takes longer.
    [[nodiscard]] AtomRows piece(std::int64_t part, std::int64_t parts) const override;
    void explain() const override;

  private:
    struct Columns {
        int first = -1, count = 0;
        char type = 'R';
    };
    void read_comment(std::string_view line, std::int64_t at);
    void read_lattice(const std::string& text, std::int64_t at);
    void read_properties(const std::string& text, std::int64_t at);
    [[nodiscard]] AtomRow atom(std::string_view line, std::int64_t at) const;
    [[nodiscard]] std::int64_t lines_before(std::int64_t at) const;
    [[nodiscard]] std::array<double, 3> three(const std::vector<std::string_view>& words, const Columns& at,
                                              std::int64_t line_at) const;

    LineFile file_;
    std::vector<std::string> names_;
    std::int64_t atoms_ = 0, line_bytes_ = 0;
    std::array<double, 3> low_{}, high_{};
    std::array<bool, 3> open_{};
    int columns_ = 0;
    Columns species_, position_, velocity_, id_;
    Bytes bulk_;
};

}  // namespace strata::md
