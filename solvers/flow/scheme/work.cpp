#include "solvers/flow/scheme/work.hpp"

#include "solvers/flow/scheme/lines.hpp"

namespace strata::flow {

namespace {

/// For two and three dimensions.
struct Each {
    Operations two, three;
    [[nodiscard]] const Operations& in(int dimensions) const { return dimensions == 2 ? two : three; }
};
/// Without viscosity, laminar (and with what coarser grids keep of a model), with Spalart and Allmaras'
/// equation, and with Menter's two.
struct ByModel {
    Each none, laminar, spalart_allmaras, sst;
    [[nodiscard]] const Operations& in(int dimensions, const Scheme& scheme) const {
        if (!scheme.viscous()) return none.in(dimensions);
        if (scheme.is_sst()) return sst.in(dimensions);
        return (scheme.turbulent() ? spalart_allmaras : laminar).in(dimensions);
    }
};

// Counted: kappa = 1/3 without limiter, Roe's flux as it is, advection of the model of first order. Sums,
// products, quotients, roots, comparisons.
constexpr ByModel kResidual{{{170, 184, 9, 6, 10}, {328, 341, 13, 9, 15}},
                            {{263, 276, 14, 7, 10}, {654, 638, 19, 10, 15}},
                            {{389, 437, 21, 7, 27}, {874, 884, 26, 11, 34}},
                            {{444, 478, 34, 10, 30}, {981, 975, 41, 13, 39}}};
constexpr ByModel kDiagonals{{{27, 31, 3, 5, 0}, {52, 55, 3, 7, 0}},
                             {{28, 32, 3, 5, 0}, {53, 56, 3, 7, 0}},
                             {{32, 34, 4, 5, 0}, {57, 58, 4, 7, 0}},
                             {{36, 36, 5, 5, 0}, {61, 60, 5, 7, 0}}};
// Fractions: what is found once for eight rows.
constexpr ByModel kSweep{{{57.5, 63, 1.125, 3.125, 0}, {106.625, 125.25, 2.125, 5.125, 0}},
                         {{60.5, 65, 1.125, 3.125, 0}, {110.625, 128.25, 2.125, 5.125, 0}},
                         {{68.5, 74, 1.125, 3.125, 2}, {123.625, 147.25, 3.125, 5.125, 3}},
                         {{76.5, 83, 1.125, 3.125, 4}, {136.625, 163.25, 3.125, 5.125, 6}}};
constexpr ByModel kViscosity{{{}, {}},
                             {{3, 16, 5, 1, 0}, {4, 18, 5, 1, 0}},
                             {{7, 27, 6, 1, 1}, {8, 29, 6, 1, 1}},
                             {{9, 25, 5, 1, 0}, {10, 27, 5, 1, 0}}};
constexpr ByModel kUpdate{{{10, 14, 2, 0, 2}, {13, 17, 2, 0, 2}},
                          {{10, 14, 2, 0, 2}, {13, 17, 2, 0, 2}},
                          {{12, 15, 2, 0, 4}, {15, 18, 2, 0, 4}},
                          {{14, 18, 2, 0, 6}, {17, 21, 2, 0, 6}}};
constexpr ByModel kFirstLines{{{}, {}},
                              {{495, 586, 17, 7, 34}, {822, 957, 22, 9, 45}},
                              {{506, 600, 20, 7, 36}, {837, 975, 25, 9, 47}},
                              {{517, 614, 23, 7, 38}, {852, 993, 28, 9, 49}}};
constexpr ByModel kLaterLines{{{}, {}},
                              {{337, 405, 9, 3, 10}, {545, 634, 10, 3, 10}},
                              {{348, 420, 12, 3, 12}, {560, 653, 13, 3, 12}},
                              {{359, 435, 15, 3, 14}, {575, 672, 16, 3, 14}}};
// What options add, for each face that a cell has along the axes.
constexpr Each kFirstOrder{{-28, -16, 0, 0, -4}, {-35, -20, 0, 0, -4}};
constexpr Each kMinmod{{0, 40, 0, 0, 32}, {0, 50, 0, 0, 40}};
constexpr Each kVanAlbada{{40, 72, 8, 0, 8}, {50, 90, 10, 0, 10}};
constexpr Each kVanLeer{{8, 0, 8, 0, 16}, {10, 0, 10, 0, 20}};
constexpr Operations kLowMach{1, 2, 1, 1, 1};
constexpr Operations kEntropyFix{3, 7, 1, 0, 2};
constexpr Operations kSecondOrderModel{30, 44, 4, 0, 4};  // of each equation
constexpr Each kEddies{{108, 132, 17, 3, 11}, {190, 229, 19, 3, 11}};

}  // namespace

WorkOf::WorkOf(int dimensions, const Scheme& scheme)
    : n_(dimensions + 2 + scheme.model_equations()),
      model_(scheme.model_equations()),
      faces_(dimensions * dimensions),
      d_(dimensions),
      scheme_(scheme) {}

Work WorkOf::residual() const {
    Operations each_face;
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
    if (scheme_.low_mach) each_face = each_face + kLowMach;
    if (scheme_.entropy_fix > 0) each_face = each_face + kEntropyFix;
    const bool second_order = scheme_.is_sst() ? scheme_.sst.second_order : scheme_.sa.second_order;
    if (second_order) each_face = each_face + kSecondOrderModel * model_;
    // State, face vectors, volume, where gradients are wanted centres, wall distance or what eddies() found
    const double geometry = faces_ + 1 + (scheme_.viscous() ? d_ : 0) + (scheme_.is_sst() ? 4 : model_);
    return {kResidual.in(d_, scheme_) + each_face * d_, n_ + geometry, n_ + model_};
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
    const double each = square + model_;
    return {{each, each}, n_ + each, n_};
}

}  // namespace strata::flow
