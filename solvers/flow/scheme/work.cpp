#include "solvers/flow/scheme/work.hpp"

#include "solvers/flow/scheme/lines.hpp"

namespace strata::flow {

namespace {

/// For two and three dimensions.
struct Each {
    double two, three;
    [[nodiscard]] double in(int dimensions) const { return dimensions == 2 ? two : three; }
};
/// Without viscosity, laminar (and with what coarser grids keep of a model), with Spalart and Allmaras'
/// equation, and with Menter's two.
struct ByModel {
    Each none, laminar, spalart_allmaras, sst;
    [[nodiscard]] double in(int dimensions, const Scheme& scheme) const {
        if (!scheme.viscous()) return none.in(dimensions);
        if (scheme.is_sst()) return sst.in(dimensions);
        return (scheme.turbulent() ? spalart_allmaras : laminar).in(dimensions);
    }
};

// Counted: kappa = 1/3 without limiter, Roe's flux as it is, advection of the model of first order.
constexpr ByModel kResidual{{391, 730}, {586, 1376}, {897, 1870}, {1012, 2091}};
constexpr ByModel kDiagonals{{66, 117}, {68, 119}, {75, 126}, {82, 133}};
// Fractions: what is found once for eight rows.
constexpr ByModel kSweep{{124.75, 239.125}, {129.75, 246.125}, {148.75, 282.125}, {167.75, 314.125}};
constexpr ByModel kViscosity{{0, 0}, {25, 28}, {42, 45}, {40, 43}};
constexpr ByModel kUpdate{{28, 34}, {28, 34}, {33, 39}, {40, 46}};
constexpr ByModel kFirstLines{{0, 0}, {1139, 1855}, {1169, 1893}, {1199, 1931}},
    kLaterLines{{0, 0}, {764, 1202}, {795, 1241}, {826, 1280}};
// What options add, for each face that a cell has along the axes.
constexpr Each kFirstOrder{-54, -67};
constexpr Each kMinmod{72, 90}, kVanAlbada{128, 160}, kVanLeer{32, 40};
constexpr double kLowMach = 6, kEntropyFix = 13, kSecondOrderModel = 82;  // of each equation
constexpr Each kEddies{271, 452};

}  // namespace

WorkOf::WorkOf(int dimensions, const Scheme& scheme)
    : n_(dimensions + 2 + scheme.model_equations()),
      model_(scheme.model_equations()),
      faces_(dimensions * dimensions),
      d_(dimensions),
      scheme_(scheme) {}

Work WorkOf::residual() const {
    double each_face = 0;
    switch (scheme_.muscl.limiter) {
        case Limiter::none:
            break;
        case Limiter::minmod:
            each_face = kMinmod.in(d_);
            break;
        case Limiter::van_albada:
            each_face = kVanAlbada.in(d_);
            break;
        case Limiter::van_leer:
            each_face = kVanLeer.in(d_);
    }
    if (scheme_.muscl.first_order) each_face = kFirstOrder.in(d_);
    if (scheme_.low_mach) each_face += kLowMach;
    if (scheme_.entropy_fix > 0) each_face += kEntropyFix;
    const bool second_order = scheme_.is_sst() ? scheme_.sst.second_order : scheme_.sa.second_order;
    if (second_order) each_face += model_ * kSecondOrderModel;
    // State, face vectors, volume, where gradients are wanted centres, wall distance or what eddies() found
    const double geometry = faces_ + 1 + (scheme_.viscous() ? d_ : 0) + (scheme_.is_sst() ? 4 : model_);
    return {kResidual.in(d_, scheme_) + d_ * each_face, n_ + geometry, n_ + model_};
}

Work WorkOf::eddies() const { return {kEddies.in(d_), n_ + 1 + d_ + 1, 4}; }

Work WorkOf::diagonals() const {
    const double viscosity = scheme_.viscous() ? 1 + model_ : 0;
    return {kDiagonals.in(d_, scheme_), n_ - model_ + faces_ + 1 + viscosity + model_, 1 + model_};
}

Work WorkOf::sweep() const {
    const double viscosity = scheme_.viscous() ? 1 + model_ : 0;
    // The change is read and written in one place.
    return {kSweep.in(d_, scheme_), 2 * n_ + faces_ + 1 + model_ + viscosity - n_, n_};
}

Work WorkOf::viscosity() const { return {kViscosity.in(d_, scheme_), n_ + 1, 2 + model_}; }

Work WorkOf::update() const { return {kUpdate.in(d_, scheme_), n_, n_}; }

Work WorkOf::elimination(bool first) const {
    const double viscosity = scheme_.viscous() ? 2 + model_ : 0, square = (n_ - model_) * (n_ - model_);
    // The first pass makes the cells' matrices, others are given them: beside those the faces across the line
    const double matrix = square + 1, geometry = first ? faces_ + 1 + 1 : matrix + d_;
    return {(first ? kFirstLines : kLaterLines).in(d_, scheme_), 2 * n_ + geometry + viscosity,
            n_ + square + model_ + (first ? matrix : 0)};
}

Work WorkOf::substitution() const {
    const double square = (n_ - model_) * (n_ - model_);
    return {2 * square + 2 * model_, n_ + square + model_, n_};
}

}  // namespace strata::flow
