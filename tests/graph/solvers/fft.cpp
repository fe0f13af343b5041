#include "tests/graph/solvers/fft.hpp"

#include <cmath>
#include <numbers>

namespace strata::tests {

using namespace graph;

void transform(std::vector<Complex>& x, int sign) {
    const auto n = static_cast<int>(x.size());
    const auto turn = [&](int j, int of) {
        return std::polar(1.0, sign * 2 * std::numbers::pi * (j % of) / of);
    };
    int factor = 2;
    while (factor < n && n % factor != 0) ++factor;
    if (factor >= n) {
        std::vector<Complex> all(x.size());
        for (int k = 0; k < n; ++k)
            for (int j = 0; j < n; ++j) all[z(k)] += x[z(j)] * turn(j * k, n);
        x = all;
        return;
    }
    const int m = n / factor;
    std::vector<std::vector<Complex>> parts(z(factor), std::vector<Complex>(z(m)));
    for (int r = 0; r < factor; ++r) {
        for (int j = 0; j < m; ++j) parts[z(r)][z(j)] = x[z(j * factor + r)];
        transform(parts[z(r)], sign);
    }
    for (int k = 0; k < n; ++k) {
        x[z(k)] = 0;
        for (int r = 0; r < factor; ++r) x[z(k)] += parts[z(r)][z(k % m)] * turn(r * k, n);
    }
}

namespace {

/// Where 0..n-1 is cut into `parts` of unequal sizes.
std::vector<int> cuts(int n, int parts) {
    std::vector<int> at{0};
    for (int p = 1; p < parts; ++p) at.push_back((n * p) / parts + (p % 2 == 1 ? 1 : 0));
    at.push_back(n);
    return at;
}

std::vector<Box> pencils(const Int3& n, std::size_t axis, int parts_a, int parts_b) {
    const std::size_t a = (axis + 1) % 3, b = (axis + 2) % 3;
    const std::vector<int> in_a = cuts(n[a], parts_a), in_b = cuts(n[b], parts_b);
    std::vector<Box> boxes;
    for (int j = 0; j < parts_b; ++j)
        for (int i = 0; i < parts_a; ++i) {
            Box box{{0, 0, 0}, n};
            box.lo[a] = in_a[z(i)], box.hi[a] = in_a[z(i + 1)];
            box.lo[b] = in_b[z(j)], box.hi[b] = in_b[z(j + 1)];
            boxes.push_back(box);
        }
    return boxes;
}

/// Transforms all lines of the box along an axis; scale(i, j, k) multiplies what comes out.
template <class From, class To, class Scale>
void transform_lines(const Box& cells, std::size_t axis, int sign, const From& from, const To& to,
                     Scale scale) {
    Int3 at{};
    std::vector<Complex> line(z(cells.extent(static_cast<int>(axis))));
    Box starts = cells;
    starts.hi[axis] = starts.lo[axis] + 1;
    for (at[2] = starts.lo[2]; at[2] < starts.hi[2]; ++at[2])
        for (at[1] = starts.lo[1]; at[1] < starts.hi[1]; ++at[1])
            for (at[0] = starts.lo[0]; at[0] < starts.hi[0]; ++at[0]) {
                Int3 p = at;
                for (std::size_t i = 0; i < line.size(); ++i, ++p[axis]) line[i] = from(p[0], p[1], p[2]);
                transform(line, sign);
                p = at;
                for (std::size_t i = 0; i < line.size(); ++i, ++p[axis])
                    to(p[0], p[1], p[2]) = line[i] * scale(p[0], p[1], p[2]);
            }
}

}  // namespace

Complex Fft::first(int i, int j, int k) const {
    return {std::sin(1.7 * i * j + 0.3 * k) + (i == 2 && j == 3 ? 1.5 : 0), std::cos(0.9 * i - 2.1 * j * k)};
}

double Fft::damping(int i, int j, int k) const {
    double square = 0;
    const Int3 at{i, j, k};
    for (std::size_t a = 0; a < 3; ++a) {
        const int wave = at[a] <= n[a] / 2 ? at[a] : at[a] - n[a];
        square += wave * wave;
    }
    return std::exp(-nu * kStep * square);
}

Fft::Fft(Int3 cells, double viscosity) : Solver("fft"), n(cells), nu(viscosity) {
    const GridShape shape{.cells = {{0, 0, 0}, n}, .patch_cells = {}, .periodic = {true, true, true}};
    along_x = &graph.add<Grid>("along x", shape, pencils(n, 0, 3, 2));
    along_y = &graph.add<Grid>("along y", shape, pencils(n, 1, 2, 2));
    along_z = &graph.add<Grid>("along z", shape, pencils(n, 2, 2, 4));
    const auto& x_to_y = graph.add<Overlap>("x to y", *along_x, *along_y);
    const auto& y_to_z = graph.add<Overlap>("y to z", *along_y, *along_z);
    const auto& z_to_y = graph.add<Overlap>("z to y", *along_z, *along_y);
    const auto& y_to_x = graph.add<Overlap>("y to x", *along_y, *along_x);
    u = graph.field<Complex>("u", *along_x, On::cells, {.history = 1});
    spectrum = graph.field<Complex>("spectrum", *along_z, On::cells);
    energy = graph.scalar<double>("energy", Reduce::sum);
    modes = graph.scalar<double>("modes", Reduce::sum);
    const auto ux = graph.field<Complex>("ux", *along_x, On::cells);
    const auto uy = graph.field<Complex>("uy", *along_y, On::cells);
    const auto damped = graph.field<Complex>("damped", *along_z, On::cells);
    const auto vy = graph.field<Complex>("vy", *along_y, On::cells);
    const auto one = [](int, int, int) { return 1.0; };
    const auto square = [](const Box& cells, const auto& view) {
        double sum = 0;
        for (int k = cells.lo[2]; k < cells.hi[2]; ++k)
            for (int j = cells.lo[1]; j < cells.hi[1]; ++j)
                for (int i = cells.lo[0]; i < cells.hi[0]; ++i) sum += std::norm(view(i, j, k));
        return sum;
    };
    {
        Task task = graph.start().task("initial", *along_x);
        const auto to = task.make(u);
        task.run([=, this](Here& here) {
            const Box cells = here.cells();
            for (int k = cells.lo[2]; k < cells.hi[2]; ++k)
                for (int j = cells.lo[1]; j < cells.hi[1]; ++j)
                    for (int i = cells.lo[0]; i < cells.hi[0]; ++i) here[to](i, j, k) = first(i, j, k);
        });
    }
    {
        Task task = graph.step().task("forward x", *along_x);
        const auto from = task.need(u.previous());
        const auto to = task.make(ux);
        const auto sum = task.contribute(energy);
        task.run([=](Here& here) {
            here[sum] = square(here.cells(), here[from]);
            transform_lines(here.cells(), 0, -1, here[from], here[to], one);
        });
    }
    {
        Task task = graph.step().task("forward y", *along_y);
        const auto from = task.need(ux, x_to_y);
        const auto to = task.make(uy);
        task.run([=](Here& here) { transform_lines(here.cells(), 1, -1, here[from], here[to], one); });
    }
    {
        Task task = graph.step().task("forward z", *along_z);
        const auto from = task.need(uy, y_to_z);
        const auto to = task.make(spectrum);
        const auto sum = task.contribute(modes);
        task.run([=, this](Here& here) {
            transform_lines(here.cells(), 2, -1, here[from], here[to], one);
            here[sum] = square(here.cells(), here[to]) / (n[0] * n[1] * n[2]);
        });
    }
    {
        Task task = graph.step().task("damp, backward z", *along_z);
        const auto from = task.need(spectrum);
        const auto to = task.make(damped);
        task.run([=, this](Here& here) {
            const auto view = here[from];
            const auto less = [&](int i, int j, int k) { return view(i, j, k) * damping(i, j, k); };
            transform_lines(here.cells(), 2, 1, less, here[to], one);
        });
    }
    {
        Task task = graph.step().task("backward y", *along_y);
        const auto from = task.need(damped, z_to_y);
        const auto to = task.make(vy);
        task.run([=](Here& here) { transform_lines(here.cells(), 1, 1, here[from], here[to], one); });
    }
    {
        Task task = graph.step().task("backward x", *along_x);
        const auto from = task.need(vy, y_to_x);
        const auto to = task.make(u);
        const double scale = 1.0 / (n[0] * n[1] * n[2]);
        task.run([=](Here& here) {
            transform_lines(here.cells(), 0, 1, here[from], here[to], [=](int, int, int) { return scale; });
        });
    }
}

}  // namespace strata::tests
