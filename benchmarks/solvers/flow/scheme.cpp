// strata-flow-scheme: what the residual, a sweep and a whole implicit iteration take on one core, for RANS
// with Spalart-Allmaras on a block over a plate, as seconds a cell; the bytes that have to be moved and the
// operations; and which share that is of what memory (a triad over as many bytes) and the processor
// (its own mix of sums, products, quotients and roots, in lanes) allow, all measured in the same run. The
// roofline of a kernel is the longer of both times (Williams, S., Waterman, A., Patterson, D. (2009),
// "Roofline", Comm. ACM 52(4)).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "benchmarks/solvers/flow/rates.hpp"
#include "core/base/error.hpp"
#include "core/base/options.hpp"
#include "core/base/shortest.hpp"
#include "methods/curvilinear/metrics.hpp"
#include "solvers/flow/scheme/gas.hpp"
#include "solvers/flow/scheme/lusgs.hpp"
#include "solvers/flow/scheme/residual.hpp"
#include "solvers/flow/scheme/work.hpp"

namespace {

using namespace strata;
using namespace strata::flow;

struct Values {
    Box box;
    std::vector<double> data;
    Values(const Box& b, int components) : box(b), data(static_cast<std::size_t>(b.volume() * components)) {}
    template <class T>
    FieldView<T> seen(T* first) const {
        const std::ptrdiff_t y = box.extent(0), z = y * box.extent(1), c = z * box.extent(2);
        return {first - box.lo[0] - box.lo[1] * y - box.lo[2] * z, y, z, c, box};
    }
    FieldView<double> view() { return seen<double>(data.data()); }
    [[nodiscard]] FieldView<const double> read() const { return seen<const double>(data.data()); }
};

/// A boundary layer with some waves over a plate, cells stretched away from it: what RANS runs compute.
template <int Dim>
struct Plate {
    Box cells, patch_size;
    Scheme scheme;
    Values q, nu, volume, centre, distance, viscosity, r, nu_r, inverse, nu_inverse;
    std::vector<Values> faces;

    static Box grown(const Box& b, int by) { return b.grown({by, by, Dim == 3 ? by : 0}); }
    static Box upper(Box b, const Int3& by) {
        for (std::size_t a = 0; a < 3; ++a) b.hi[a] += by[a];
        return b;
    }
    Plate(const Int3& n, const Int3& patch)
        : cells{{0, 0, 0}, n},
          patch_size{{0, 0, 0}, patch},
          q(grown(cells, 2), Dim + 2),
          nu(q.box, 1),
          volume(q.box, 1),
          centre(q.box, Dim),
          distance(cells, 1),
          viscosity(grown(cells, 1), kStepViscosities),
          r(grown(cells, 1), Dim + 2),
          nu_r(r.box, 1),
          inverse(cells, 1),
          nu_inverse(cells, 1) {
        scheme.viscosity = Viscosity::spalart_allmaras;
        Values nodes(upper(q.box, {1, 1, Dim == 3 ? 1 : 0}), Dim);
        graph::for_each(nodes.box, [&](int i, int j, int k) {
            nodes.view()(i, j, k, 0) = 2.0 * i / n[0];
            nodes.view()(i, j, k, 1) =
                (std::exp(8.0 * j / n[1]) - 1) * 1e-3 + 0.01 * std::sin(3.0 * i / n[0]);
            if (Dim == 3) nodes.view()(i, j, k, 2) = 1.0 * k / n[2];
        });
        volumes<Dim>(q.box, nodes.read(), volume.view());
        centres<Dim>(q.box, nodes.read(), centre.view());
        for (int axis = 0; axis < Dim; ++axis) {
            Int3 more{};
            more[static_cast<std::size_t>(axis)] = 1;
            faces.emplace_back(upper(cells, more), Dim);
            face_vectors<Dim>(axis, faces.back().box, nodes.read(), faces.back().view());
        }
        for (auto* f : {&viscosity, &r, &nu_r}) std::fill(f->data.begin(), f->data.end(), 0);
        graph::for_each(q.box, [&](int i, int j, int k) {
            const double y = std::abs((std::exp(8.0 * (j + 0.5) / n[1]) - 1) * 1e-3),
                         shape = std::tanh(50 * y);
            Primitive<Dim, double> w{1 + 0.01 * std::sin(0.1 * i), {}, (1 + 0.01 * std::cos(0.2 * j)) / 1.4};
            w.u[0] = 0.2 * shape, w.u[1] = 0.002 * std::sin(0.1 * (i + k));
            const auto s = conserved<Dim, double>(w, 1.4);
            q.view()(i, j, k, 0) = s.rho;
            for (int d = 0; d < Dim; ++d) q.view()(i, j, k, d + 1) = s.m[static_cast<std::size_t>(d)];
            q.view()(i, j, k, Dim + 1) = s.E;
            nu.view()(i, j, k) = 3 + 200 * shape * (1 - 0.9 * shape);
            if (cells.contains(Int3{i, j, k})) distance.view()(i, j, k) = y;
        });
        step_viscosity<Dim>(viscosity.box, whole(), scheme, viscosity.view());
    }
    [[nodiscard]] Patch<Dim> whole() const {
        if constexpr (Dim == 2)
            return {q.read(),      nu.read(),     {faces[0].read(), faces[1].read()},
                    volume.read(), centre.read(), distance.read()};
        else
            return {q.read(),      nu.read(),     {faces[0].read(), faces[1].read(), faces[2].read()},
                    volume.read(), centre.read(), distance.read()};
    }
    /// All patches, in the order of a sweep.
    template <class F>
    void patches(bool forward, F&& f) const {
        Int3 count{};
        for (std::size_t a = 0; a < 3; ++a)
            count[a] = (cells.hi[a] + patch_size.hi[a] - 1) / patch_size.hi[a];
        graph::for_each({{0, 0, 0}, count}, [&](int i, int j, int k) {
            const Int3 at{i, j, k};
            Box part;
            std::array<bool, 3> open{};
            for (std::size_t a = 0; a < 3; ++a) {
                part.lo[a] = (forward ? at[a] : count[a] - 1 - at[a]) * patch_size.hi[a];
                part.hi[a] = std::min(part.lo[a] + patch_size.hi[a], cells.hi[a]);
                open[a] = forward ? part.lo[a] > 0 : part.hi[a] < cells.hi[a];
            }
            f(part, open);
        });
    }
    void residuals() {
        patches(true, [&](const Box& part, const auto&) {
            residual<Dim>(part, whole(), scheme, r.view(), nu_r.view(), nu_inverse.view());
        });
    }
    void steps() {
        patches(true, [&](const Box& part, const auto&) {
            step_viscosity<Dim>(part, whole(), scheme, viscosity.view());
            diagonals<Dim>(part, whole(), scheme, {10, 10, 0}, viscosity.read(), inverse.view(),
                           nu_inverse.view());
        });
    }
    void sweep(bool forward) {
        const Diagonals d{inverse.read(), nu_inverse.read(), viscosity.read()};
        patches(forward, [&](const Box& part, const std::array<bool, 3>& open) {
            (forward ? forward_sweep<Dim> : backward_sweep<Dim>)(part, whole(), scheme, d, open,
                                                                 {r.read(), nu_r.read()},
                                                                 {r.view(), nu_r.view()});
        });
    }
    UpdateCount change() {
        UpdateCount all;
        patches(true, [&](const Box& part, const auto&) {
            const auto c = update<Dim>(part, scheme, 0.2, r.read(), nu_r.read(), q.view(), nu.view());
            all.limited += c.limited, all.impossible += c.impossible;
        });
        return all;
    }
};

/// Bytes a second of a = b + q c over three arrays of `bytes` in all; a line that is written is read first,
/// which counts.
double triad(double bytes, double seconds) {
    const auto n = static_cast<std::size_t>(bytes / 24);
    std::vector<double> a(n, 0), b(n, 1), c(n, 2);
    double q = 0.5;
    const double best = shortest(seconds, [&] {
        double* __restrict to = a.data(), * __restrict x = b.data(), * __restrict y = c.data();
        for (std::size_t i = 0; i < n; ++i) to[i] = x[i] + q * y[i];
        asm volatile("" ::"r"(to) : "memory");
    });
    return 32 * static_cast<double>(n) / best;
}

struct Choice {
    long dimensions = 2;
    Int3 cells{}, patch{};
    double seconds = 1;
};

Int3 three(const Parsed& given, const char* name, long dimensions) {
    Int3 n{};
    char rest = 0;
    const std::string text = given.text(name);
    if (std::sscanf(text.c_str(), "%d,%d,%d%c", &n[0], &n[1], &n[2], &rest) != 3 ||
        *std::min_element(n.begin(), n.end()) < 1 || (dimensions == 2 && n[2] != 1))
        throw Error(fmt::format("{} is three numbers of cells", name))
            .given(text)
            .allowed(dimensions == 2 ? "NX,NY,1" : "NX,NY,NZ, each 1 or more");
    return n;
}

template <int Dim>
void measure(const Choice& c) {
    Plate<Dim> plate(c.cells, c.patch);
    const auto cells = static_cast<double>(plate.cells.volume());
    const WorkOf work(Dim, plate.scheme);
    const double doubles = 2 * (Dim + 3) + Dim * Dim + Dim + 6;

    plate.residuals(), plate.steps(), plate.sweep(true), plate.sweep(false);
    const UpdateCount count = plate.change();
    if (count.impossible > 0)
        throw Error("the first step gives impossible states")
            .given(fmt::format("{} cells", count.impossible));

    const double bandwidth = triad(cells * doubles * 8, c.seconds / 4);
    const Rates rates = measured_rates(c.seconds / 2);
    fmt::print(
        "{} x {} x {} cells in patches of {} x {} x {}, Spalart-Allmaras, {:.0f} doubles a cell "
        "({:.1f} MB)\n",
        plate.cells.extent(0), plate.cells.extent(1), plate.cells.extent(2), plate.patch_size.hi[0],
        plate.patch_size.hi[1], plate.patch_size.hi[2], doubles, cells * doubles * 8e-6);
    fmt::print("triad over as many bytes {:.1f} GB/s\n", bandwidth * 1e-9);
    fmt::print(
        "G operations a second: sums {:.1f}, products {:.1f}, both {:.1f}, quotients {:.2f}, roots {:.2f}; "
        "fused products and sums {:.1f}\n",
        rates.sums * 1e-9, rates.products * 1e-9, rates.both * 1e-9, rates.quotients * 1e-9,
        rates.roots * 1e-9, rates.fused * 1e-9);
    fmt::print("quotients beside sums and products: {:.2f} of the longer of both times\n",
               quotients_beside(c.seconds / 4));
    fmt::print("{:<12} {:>10} {:>7} {:>7} {:>9} {:>6} {:>7} {:>13} {:>14} {:>12} {:>9}\n", "", "ns a cell",
               "bytes", "flops", "quotients", "roots", "GF/s", "of bandwidth", "of operations", "of roofline",
               "of peak");
    double all = 0, all_bytes = 0, computing = 0, least = 0;
    Operations all_operations;
    const auto line = [&](const char* name, double seconds, double bytes, const Operations& o,
                          double operations, double roofline) {
        fmt::print(
            "{:<12} {:>10.2f} {:>7.0f} {:>7.0f} {:>9.0f} {:>6.0f} {:>7.1f} {:>11.0f} % {:>12.0f} % "
            "{:>10.0f} % {:>7.0f} %\n",
            name, seconds * 1e9, bytes, o.all(), o.quotients, o.roots, 1e-9 * o.all() / seconds,
            100 * bytes / bandwidth / seconds, 100 * operations / seconds, 100 * roofline / seconds,
            100 * o.all() / rates.fused / seconds);
    };
    const auto show = [&](const char* name, const Work& of, const std::function<void()>& call) {
        const double seconds = shortest(c.seconds, call) / cells,
                     operations = rates.least_time(of.operations);
        const double roofline = std::max(of.bytes() / bandwidth, operations);
        all += seconds, all_bytes += of.bytes(), computing += operations, least += roofline;
        all_operations = all_operations + of.operations;
        line(name, seconds, of.bytes(), of.operations, operations, roofline);
    };
    show("residual", work.residual(), [&] { plate.residuals(); });
    show("diagonals", work.diagonals() + work.viscosity(), [&] { plate.steps(); });
    show("forward", work.sweep(), [&] { plate.sweep(true); });
    show("backward", work.sweep(), [&] { plate.sweep(false); });
    std::fill(plate.r.data.begin(), plate.r.data.end(), 0.0);
    std::fill(plate.nu_r.data.begin(), plate.nu_r.data.end(), 0.0);
    show("update", work.update(), [&] { plate.change(); });
    line("iteration", all, all_bytes, all_operations, computing, least);
    fmt::print("{:.2f} M cells a second\n", 1e-6 / all);
}

}  // namespace

int main(int argc, char** argv) {
    using namespace strata;
    try {
        Options options("strata-flow-scheme",
                        "The kernels of the flow solver on one core, RANS with Spalart-Allmaras over a "
                        "plate: times of a cell, bytes, and shares of what the memory gives.");
        options.option("--dimensions", "N", "2", "2 or 3")
            .option("--cells", "NX,NY,NZ", "512,256,1", "of the block")
            .option("--patch", "NX,NY,NZ", "128,64,1", "of each patch of it")
            .option("--duration", "TIME", "1s",
                    "for each of the measured parts, of which the shortest repeat counts")
            .example("strata-flow-scheme --cells 224,64,1 --patch 224,64,1",
                     "a small grid, which stays in the caches")
            .example("strata-flow-scheme --dimensions 3 --cells 96,96,96 --patch 96,32,16",
                     "three dimensions");
        const Parsed given = options.parse(argc, argv);
        if (given.help()) return kSuccess;
        Choice choice;
        choice.dimensions = given.integer("--dimensions", 2, 3);
        choice.cells = three(given, "--cells", choice.dimensions),
        choice.patch = three(given, "--patch", choice.dimensions);
        choice.seconds = given.seconds("--duration");
        choice.dimensions == 2 ? measure<2>(choice) : measure<3>(choice);
        return kSuccess;
    } catch (const Error& error) {
        std::fputs(error.text().c_str(), stderr);
        return error.exit_code();
    }
}
