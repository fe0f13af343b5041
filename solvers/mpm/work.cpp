#include "solvers/mpm/work.hpp"

namespace strata::mpm {

namespace {

constexpr double kReal = sizeof(double);

/// Of a cell, along one direction. (GIMP's functions are counted as if they were B-splines.)
bool three(const Settings& s) { return s.quadratic() || s.gimp(); }
double points(const Settings& s) { return three(s) ? 3 : 2; }

/// Weights: the place in the cell (3 an axis), the functions, and their derivatives.
double weights(const Settings& s, bool derivatives) { return 3 * (three(s) ? (derivatives ? 15 : 12) : 4); }

/// gather(): rows, planes, and all planes, for three components.
double gathered(const Settings& s, bool value, bool gradient) {
    const double n = points(s), row = 2 * n - 1;
    const double rows = n * n * (gradient ? 2 * row + 6 : row + 2);
    return 3 * (rows + n * ((value ? 2 : 0) + (gradient ? 6 : 0)));
}

/// A cell's sums onto the grid: even and odd particles, rounded (2), added; for each component.
double onto_grid(const Settings& s, int components) {
    const double n = points(s);
    return n * n * n * components * 4;
}

/// The law of the first material.
double stress(const Settings& s) {
    constexpr double kDeterminant = 14, kLeftTensor = 30;
    switch (s.materials.front().law) {
        case Law::neo_hookean:  // logarithm 28, energy 9, pressure 2, stress 9
            return kDeterminant + kLeftTensor + 28 + 9 + 2 + 9;
        case Law::mooney_rivlin:  // invariants 1 + 2 + 5, b^2 30, factors 2 + 5 + 2, stress 30, energy 12
            return kDeterminant + kLeftTensor + 8 + 30 + 9 + 30 + 12;
        case Law::linear:  // strain 9, trace and pressure 3, stress 9, energy 16
            return kDeterminant + 37;
        default:
            return 0;  // plastic flow: depends on what flows
    }
}

}  // namespace

Counted work_of_m2g(const Settings& s) {
    const double n = points(s);
    const bool apic = s.transfer() == Transfer::apic;
    Counted all;
    // m v, then at each point the weight (1), four products and four sums.
    all.particle.flops = weights(s, false) + 3 + n * n + 9 * n * n * n;
    all.particle.bytes = 7 * kReal;
    if (apic) {  // places (6), v + C d (18), m C h (18), and momentum from point to point
        all.particle.flops += 6 + 36 + 3 * (n * n * n + n * n + n);
        all.particle.bytes += 9 * kReal;
    }
    all.cell = {onto_grid(s, 4), 4 * kReal};
    return all;
}

Counted work_of_cst(const Settings& s) {
    Counted all;
    // F' (7 a component) and its square (2), stress, energy (2).
    all.particle.flops = weights(s, true) + gathered(s, false, true) + 81 + stress(s) + 2;
    all.particle.bytes = (3 + 9 + 1 + 9 + 6) * kReal + 4;
    all.cell.bytes = 3 * kReal;
    return all;
}

Counted work_of_cif(const Settings& s) {
    const double n = points(s);
    Counted all;
    // V tau (6); stress times weight and derivative across z, then y, then x and onto the cell's sums.
    all.particle.flops = weights(s, true) + 6 + (s.loads() ? 15 : 9) * n + 12 * n * n + 12 * n * n * n;
    all.particle.bytes = (3 + 6 + 1 + (s.loads() ? 3 : 0)) * kReal;
    all.cell = {onto_grid(s, 3), 3 * kReal};
    return all;
}

Counted work_of_cst_and_cif(const Settings& s) {
    const Counted stress = work_of_cst(s), force = work_of_cif(s);
    Counted all;
    all.particle.flops = stress.particle.flops + force.particle.flops - weights(s, true);
    all.particle.bytes = stress.particle.bytes + force.particle.bytes - (6 + 3 + 6 + 1) * kReal;
    all.cell = {force.cell.flops, stress.cell.bytes + force.cell.bytes};
    return all;
}

Counted work_of_g2m(const Settings& s) {
    const Transfer transfer = s.transfer();
    Counted all;
    // Position (2), force (2), place in the cell (2), energy (6), momentum (2), work (2), rate (1), of each
    // component.
    all.particle.flops = weights(s, false) + 3 * 17;
    all.particle.bytes = (6 + 6 + 1 + (s.loads() ? 3 : 0)) * kReal;
    all.cell.bytes = 3 * kReal;
    if (transfer == Transfer::apic) {  // C: places (15), functions in place of derivatives (18)
        if (s.affine_gradient()) {
            all.particle.flops += gathered(s, true, false) + gathered(s, false, true);
            all.cell.bytes += 3 * kReal;
        } else {
            all.particle.flops += gathered(s, true, true) + 33;
        }
        all.particle.bytes += 9 * kReal;
    } else {
        all.particle.flops += gathered(s, true, false);
    }
    if (transfer == Transfer::flip) {
        all.particle.flops += gathered(s, true, false) + 3 * 4;
        all.cell.bytes += 3 * kReal;
    }
    return all;
}

void declare_work(const Step& step, graph::Task& task, const Counted& counted) {
    const auto each = static_cast<double>(step.settings.particles_per_cell());
    task.work_of(step.labels.set, counted.particle.flops + counted.cell.flops / each,
                 counted.particle.bytes + counted.cell.bytes / each);
}

}  // namespace strata::mpm
