// NACA four-digit sections.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "methods/curvilinear/generate.hpp"

namespace strata::flow {

/// (E. N. Jacobs, K. E. Ward, R. M. Pinkerton, NACA report 460, 1933)
class Section {
  public:
    /// `thickness`: times the thickness that the digits say.
    explicit Section(const std::string& naca, std::string tail, double thickness = 1);
    using Point = std::array<double, 2>;

    /// The point of the upper (side = 1) or lower (-1) side at w, where w^2 is the place along the chord:
    /// from the nose at 0 to the tail at 1.
    [[nodiscard]] Point at(double w, int side) const;
    /// Places on one side from the nose to the tail at these distances along it, given as shares of its
    /// length.
    [[nodiscard]] std::vector<Point> along(const std::vector<double>& shares, int side) const;
    [[nodiscard]] double length(int side) const;
    [[nodiscard]] double nose_radius() const { return 1.1019 * thickness_ * thickness_; }

  private:
    [[nodiscard]] double half_thickness(double x) const;
    double thickness_, scale_, camber_ = 0, camber_at_ = 0;
    std::string tail_;
};

/// Nodes of a C-grid of one section, i fastest.
struct CSection {
    int ni = 0, nj = 0;  // cells
    std::vector<double> x, y;
    std::vector<double> first;  // heights of the first cells at each i
    [[nodiscard]] std::size_t at(int i, int j) const {
        return static_cast<std::size_t>(j) * (static_cast<std::size_t>(ni) + 1) + static_cast<std::size_t>(i);
    }
};
[[nodiscard]] CSection make_c_section(const AirfoilGrid& grid, double thickness = 1);

/// Throws Error naming a key of an AirfoilGrid that gives no grid.
void check(const AirfoilGrid& grid);

}  // namespace strata::flow
