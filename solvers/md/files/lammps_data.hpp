// LAMMPS's data files (https://docs.lammps.org/read_data.html), read in pieces: the head by every process,
// of the atoms a share each.
//
//   const LammpsData file("melt.data");             // all but the lines of Atoms and Velocities
//   AtomRows mine = file.piece(3, 16);              // the fourth of 16 shares of the lines of Atoms
//
// Allowed are orthogonal boxes (also where tilts of 0 are said), the sections Masses, Pair Coeffs, PairIJ
// Coeffs, Atoms and Velocities in any order, and atoms of the styles atomic, charge and molecular; charges
// and numbers of molecules are not used. Numbers of periodic images at the end of a line are not used either.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "solvers/md/files/atom_rows.hpp"
#include "solvers/md/files/pieces.hpp"

namespace strata::md {

class LammpsData : public AtomFile {
  public:
    /// Numbers of a line of Pair Coeffs (then a == b) or PairIJ Coeffs.
    struct Coefficients {
        std::int32_t a = 0, b = 0;
        std::vector<double> numbers;
    };

    /// style: of the atoms, where the file does not say it ("Atoms # charge"). Throws Error with file and
    /// line.
    explicit LammpsData(const std::filesystem::path& path, const std::string& style = "");

    [[nodiscard]] std::int64_t atoms() const override { return atoms_; }
    [[nodiscard]] std::int32_t kinds() const { return kinds_; }
    [[nodiscard]] const std::array<double, 3>& low() const override { return low_; }
    [[nodiscard]] const std::array<double, 3>& high() const override { return high_; }
    /// Of each kind; 0 where the file has none.
    [[nodiscard]] const std::vector<double>& masses() const { return masses_; }
    [[nodiscard]] const std::vector<Coefficients>& coefficients() const { return coefficients_; }
    [[nodiscard]] const std::string& style() const { return style_; }
    [[nodiscard]] bool has_velocities() const override { return velocities_.size() > 0; }

    /// Share `part` of `parts` of the atoms, with their velocities (0 where the file has none). These are
    /// looked for at the same share of the section Velocities first, where LAMMPS writes them, and then
    /// around it, so a file in another order takes longer. Throws Error with file and line.
    [[nodiscard]] AtomRows piece(std::int64_t part, std::int64_t parts) const override;
    [[nodiscard]] std::int64_t velocity_lines(std::int64_t part, std::int64_t parts) const override;
    void explain() const override;

  private:
    void read_head();
    void end_head(std::int64_t at);
    bool read_tilt(const std::vector<std::string_view>& words, const std::string& line, std::int64_t at);
    void read_head_line(const std::vector<std::string_view>& words, std::int64_t at);
    void read_section_line(const std::string& title, const std::vector<std::string_view>& words,
                           std::int64_t at);
    [[nodiscard]] std::int64_t end_of(const std::string& section, std::int64_t begin) const;
    void read_style(std::string_view title, std::int64_t at);
    [[nodiscard]] std::optional<std::string> section_title(std::string_view line, std::int64_t at) const;
    /// The number of the atom that the line is of.
    [[nodiscard]] std::int64_t velocity_of(const std::vector<std::string_view>& words, std::string_view line,
                                           std::int64_t at) const;
    [[nodiscard]] AtomRow atom(const std::vector<std::string_view>& words, std::string_view line,
                               std::int64_t at) const;
    void add_velocities(AtomRows& rows, std::int64_t part, std::int64_t parts) const;
    [[nodiscard]] std::int32_t kind_of(std::string_view word, std::int64_t at) const;
    [[nodiscard]] double number_of(std::string_view word, std::int64_t at) const;

    /// A number of the head that is 0 where the box is orthogonal.
    struct Tilt {
        double by = 0;
        std::int64_t at = 0;
        std::string line;
    };

    LineFile file_;
    std::string style_;
    std::int64_t atoms_ = -1;
    std::int32_t kinds_ = 0;
    std::array<double, 3> low_{}, high_{};
    std::array<bool, 3> sized_{};
    std::vector<Tilt> tilts_;
    std::set<std::string> sections_;  // that the file has
    std::vector<double> masses_;
    std::vector<Coefficients> coefficients_;
    Bytes bulk_, velocities_;  // of Atoms; of Velocities: without their titles
};

}  // namespace strata::md
