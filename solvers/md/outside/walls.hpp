// Walls at the faces of the box: what an atom feels at a distance r from one. Formulas and numbers as those
// of LAMMPS's fix wall/lj126, wall/lj93 and wall/harmonic (https://docs.lammps.org/fix_wall.html), each
// shifted to 0 at its cutoff:
//
//   lj126      4 epsilon ((sigma / r)^12 - (sigma / r)^6)
//   lj93       epsilon (2/15 (sigma / r)^9 - (sigma / r)^3): what a half space of atoms at lj126 adds up to
//   harmonic   epsilon (r - cutoff)^2
//   reflect    no potential: velocities are turned round (fix wall/reflect)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata::md {

class Wall {
  public:
    enum class Form : std::uint8_t { lj126, lj93, harmonic, reflect };
    static constexpr std::array<const char*, 6> kFaces{"xlo", "xhi", "ylo", "yhi", "zlo", "zhi"};

    /// "FACE lj93 EPSILON SIGMA CUTOFF", "FACE harmonic EPSILON CUTOFF", "FACE reflect"; nothing where the
    /// words say none.
    static std::optional<Wall> of(const std::vector<std::string_view>& words);

    struct Value {
        double energy, force;  // force: positive away from the wall
    };
    [[nodiscard]] Value at(double r) const;

    /// In the order of kFaces.
    [[nodiscard]] std::size_t face() const { return face_; }
    [[nodiscard]] std::size_t axis() const { return face_ / 2; }
    [[nodiscard]] bool high() const { return face_ % 2 == 1; }
    [[nodiscard]] Form form() const { return form_; }
    [[nodiscard]] bool reflects() const { return form_ == Form::reflect; }
    [[nodiscard]] double cutoff() const { return cutoff_; }
    /// Whether atoms must stay before it.
    [[nodiscard]] bool is_hard() const { return form_ == Form::lj126 || form_ == Form::lj93; }

    std::int32_t group = 0;  // bits of those on which it acts; 0: all atoms

  private:
    [[nodiscard]] Value plain(double r) const;

    std::size_t face_ = 0;
    Form form_ = Form::reflect;
    double epsilon_ = 0, sigma_ = 1, cutoff_ = 0, shift_ = 0;
};

}  // namespace strata::md
