#include "solvers/mpm/work.hpp"

#include <algorithm>

#include "solvers/mpm/plastic.hpp"
#include "solvers/mpm/quadrature.hpp"

namespace strata::mpm {

namespace {

constexpr double kNumber = sizeof(double), kName = sizeof(std::int32_t);

/// Which cell a particle is in (find_runs): along an axis a subtraction, a product, the cell's own place and
/// two comparisons; its number.
constexpr double kFind = 3 * 5 + 4;

/// What shape functions of one axis cost, the place in the cell (3) aside.
struct Axis {
    double points;                     // that a particle reaches
    double values, slopes;             // w, and beside them g
    double first_place, places, away;  // away[0], away; and APIC's g from w and away
};
Axis axis(const Settings& s) {
    if (s.gimp()) return {4, 15, 8, 2, 7, 15};  // D 11 and a division each: w (x_i - x_p) is there already
    if (s.quadratic()) return {3, 9, 3, 2, 5, 6};
    return {2, 1, 0, 1, 3, 0};
}
double weights(const Settings& s, bool slopes) {
    const Axis a = axis(s);
    return 3 * (3 + a.values + (slopes ? a.slopes : 0));
}

/// gather(): of n products a sum of 2 n - 1 operations, for each row of points, then each plane, then all
/// planes; three components.
double gathered(const Settings& s, bool value, bool gradient) {
    const double n = axis(s).points, each = 2 * n - 1;
    const double row = gradient ? 2 : 1, plane = gradient ? 3 : 1, all = (value ? 1 : 0) + (gradient ? 3 : 0);
    return 3 * each * (row * n * n + plane * n + all);
}

/// A cell's sums onto the grid: the first of the even and of the odd particles is not added to anything; both
/// sums are (1), rounded (2), added to the grid (1); for each component.
double onto_grid(const Settings& s, double components) {
    const double n = axis(s).points;
    return 2 * components * n * n * n;
}

/// From F: its determinant, stress, energy, and the sum of squares of F that waves' speed follows from; where
/// points remember something also the step's own gradient (18), and the trace of b (2).
double stress(const Material& m) {
    return m.plastic() ? kDeterminantOperations + 20 + operations_with_memory(m.law)
                       : stress_operations(m.law);
}

/// Of a case's laws the mean over its bodies, by the size of the boxes around them.
double stress(const Settings& s) {
    double flops = 0, size = 0;
    for (const Body& body : s.bodies) {
        if (body.material < 0) continue;  // a hole
        const Real3 low = body.low(), high = body.high();
        double box = 1;
        for (std::size_t d = 0; d < 3; ++d)
            box *= std::clamp(high[d], 0.0, s.size[d]) - std::clamp(low[d], 0.0, s.size[d]);
        flops += box * stress(s.materials[static_cast<std::size_t>(body.material)]);
        size += box;
    }
    return size > 0 ? flops / size : stress(s.materials.front());
}

/// Of a cell, since the particles of one are worked on eight at once.
double blocks(const Settings& s) { return static_cast<double>((s.particles_per_cell() + 7) / 8); }

/// A step's gradient: 1 - dt L (12), cofactors (27), determinant (6), quotients (9), of "backward"; F' of
/// each component.
double deformation(const Settings& s) { return s.backward() ? 54 + 9 * 5 : 9 * 7; }

/// CIF by cells: which are full (27), seven means (10), six differences of stress (6) and place (4), normal
/// equations (11 + 33 a neighbour, less what is added to nothing), their solution; and eight Gauss points.
double fitted_cell(const Settings& s) {
    const double n = axis(s).points;
    constexpr double kSolved = 164;
    return 27 + 70 + 60 + 6 * 44 + kSolved + 8 * (6 * 7 + 8 * n + 12 * n * n + 12 * n * n * n);
}

/// Which velocity field is a particle's own.
double group_bytes(const Settings& s) { return s.contact() ? kName : 0; }

}  // namespace

Counted work_of_m2g(const Settings& s) {
    const double n = axis(s).points;
    const bool apic = s.transfer() == Transfer::apic;
    Counted all;
    // m v; then w_y w_z; then at each point the weight (1), four products and four sums.
    all.particle.flops = kFind + weights(s, false) + 3 + n * n + 9 * n * n * n;
    all.particle.bytes = 7 * kNumber + group_bytes(s);
    if (apic) {  // the first point's place, v + C d (18), m C h (18), and momentum from point to point
        all.particle.flops += 3 * axis(s).first_place + 36 + 3 * (n * n * n - 1);
        all.particle.bytes += 9 * kNumber;
    }
    all.cell = {onto_grid(s, 4), 4 * kNumber};
    if (s.contact()) {  // m grad w: three products, then one of each column's components, and their sums
        all.particle.flops += weights(s, true) + 3 + 3 * n + 3 * n * n + 6 * n * n * n;
        all.particle.bytes += 4 * kNumber + kName;
        all.cell.flops += onto_grid(s, 3);
        all.cell.bytes += 3 * kNumber;
    }
    return all;
}

Counted work_of_cst(const Settings& s) {
    Counted all;
    // F' (7 a component), stress; energy (2), and whether the determinant is one (1).
    all.particle.flops = kFind + weights(s, true) + gathered(s, false, true) + deformation(s) + stress(s) + 3;
    all.particle.bytes = (3 + 2 * 9 + 1 + 6) * kNumber + kName + group_bytes(s);
    if (s.plastic()) all.particle.flops += 2, all.particle.bytes += 2 * 7 * kNumber;  // its work; its state
    // The fastest wave, of a block: largest of eight (7), from a sum of squares to a speed, largest so far.
    all.cell = {12 * blocks(s), 3 * kNumber};
    if (s.by_cells()) {  // V J (1), V tau (6), places (3) and their products (3); ten sums
        all.particle.flops += 13 + kCellSums, all.particle.bytes += kNumber;
        all.cell.flops -= kCellSums, all.cell.bytes += kCellSums * kNumber;
    }
    return all;
}

Counted work_of_cif(const Settings& s) {
    const double n = axis(s).points;
    Counted all;
    // V tau (6); stress times weight and slope across z, then y, then x and onto the cell's sums. One of the
    // nine products across z is there twice.
    all.particle.flops =
        kFind + weights(s, true) + 6 + (s.loads() ? 14 : 8) * n + 12 * n * n + 12 * n * n * n;
    all.particle.bytes = (3 + 6 + 1 + (s.loads() ? 3 : 0)) * kNumber + group_bytes(s);
    all.cell = {onto_grid(s, 3), 3 * kNumber};
    if (s.by_cells()) {  // places (3); of six components what was fitted (6), and what is left (2)
        all.particle.flops += 3 + 6 * 8, all.particle.bytes += kNumber;
        all.cell.flops += fitted_cell(s), all.cell.bytes += kCellSums * kNumber;
    }
    return all;
}

Counted work_of_cst_and_cif(const Settings& s) {
    const Counted stress = work_of_cst(s), force = work_of_cif(s);
    Counted all;
    all.particle.flops = stress.particle.flops + force.particle.flops - weights(s, true) - kFind;
    all.particle.bytes =
        stress.particle.bytes + force.particle.bytes - (6 + 3 + 6 + 1) * kNumber - group_bytes(s);
    all.cell = {stress.cell.flops + force.cell.flops, stress.cell.bytes + force.cell.bytes};
    return all;
}

Counted work_of_g2m(const Settings& s) {
    const Transfer transfer = s.transfer();
    Counted all;
    // Position (2), force (1, or 2 with a load), whether it is in its cell still (4), energy (6), momentum
    // (2), work (2), rate (3), of each component.
    all.particle.flops = kFind + weights(s, false) + 3 * (s.loads() ? 21 : 20);
    all.particle.bytes = (2 * 6 + 1 + (s.loads() ? 3 : 0)) * kNumber + group_bytes(s);
    all.cell.bytes = 3 * kNumber;
    if (s.affine_gradient()) {  // C: of velocities of its own
        all.particle.flops += gathered(s, true, false) + gathered(s, false, true);
        all.particle.bytes += 9 * kNumber;
        all.cell.bytes += 3 * kNumber;
    } else if (transfer == Transfer::apic) {  // C: with other functions in place of slopes
        all.particle.flops += gathered(s, true, true) + 3 * (axis(s).places + axis(s).away);
        all.particle.bytes += 9 * kNumber;
    } else {
        all.particle.flops += gathered(s, true, false);
    }
    if (transfer == Transfer::flip) {
        all.particle.flops += gathered(s, true, false) + 3 * 4;
        all.cell.bytes += 3 * kNumber;
    }
    return all;
}

// Of grid points: three components of each velocity field. Where there are several, of one alone there is
// mass.

Count work_of_velocity(const Settings& s) {
    const double fields = s.groups();
    // Is there mass (1), p / m (1); of fields in contact also: is there mass (1).
    Count all{6 + (fields - 1) * 3, fields * 7 * kNumber};
    if (s.contact()) all.flops += fields, all.bytes += fields * 3 * kNumber;
    return all;
}

Count work_of_sem(const Settings& s) {
    const double fields = s.groups();
    return {9 + (fields - 1) * 3, fields * 7 * kNumber};  // is there mass (1), f / m + g (2)
}

Count work_of_ia(const Settings& s) {
    const double fields = s.groups();
    Count all{fields * 6, fields * 9 * kNumber};
    if (s.damping > 0) all.flops += fields * 9;
    if (s.contact()) all.flops += fields, all.bytes += fields * 4 * kNumber;
    if (s.affine_gradient())  // all that again for C, of accelerations that are first held back (5)
        all.flops += all.flops + fields * 15, all.bytes += fields * 4 * kNumber;
    if (s.transfer() == Transfer::flip) all.flops += fields * 3, all.bytes += fields * 3 * kNumber;
    return all;
}

void declare_work(const Step& step, graph::Task& task, const Counted& counted) {
    const auto each = static_cast<double>(step.settings.particles_per_cell());
    task.work_of(step.labels.set, counted.particle.flops + counted.cell.flops / each,
                 counted.particle.bytes + counted.cell.bytes / each);
}

}  // namespace strata::mpm
