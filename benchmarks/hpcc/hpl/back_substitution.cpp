#include "benchmarks/hpcc/hpl/back_substitution.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace strata::bench::hpcc::linpack {
namespace {

class Solve {
  public:
    Solve(const Equations& equations, Messages& messages)
        : equations_(equations),
          shape_(equations.shape()),
          messages_(messages),
          sums_(messages.memory(static_cast<std::size_t>(std::max(1L, shape_.own_rows())))),
          block_(messages.memory(static_cast<std::size_t>(shape_.block))),
          theirs_(static_cast<std::size_t>(shape_.block)),
          x_(static_cast<std::size_t>(shape_.n)) {
        // The sums over the columns of each process add up to y - U x.
        const Cyclic columns = shape_.columns();
        for (long r = 0; r < shape_.own_rows(); ++r)
            sums_[static_cast<std::size_t>(r)] =
                columns.owner(shape_.n) == columns.mine ? equations.row(r)[columns.local(shape_.n)] : 0;
    }

    std::vector<double> run() {
        for (long first = (shape_.n - 1) / shape_.block * shape_.block; first >= 0; first -= shape_.block)
            block(first);
        return std::move(x_);
    }

  private:
    void block(long first) {
        const Grid& grid = shape_.grid;
        const auto width = static_cast<std::size_t>(std::min(shape_.block, shape_.n - first));
        const int row = shape_.rows().owner(first), column = shape_.columns().owner(first);
        const std::span<double> x = block_.first(width);
        if (grid.row == row) {
            const std::span<double> mine =
                sums_.subspan(static_cast<std::size_t>(shape_.rows().local(first)), width);
            if (grid.column != column) {
                messages_.send(grid.rank(row, column), mine);
            } else {
                gather(row, mine);
                solve(first, mine, x);
                for (int r = 0; r < grid.rows; ++r)
                    if (r != row) messages_.send(grid.rank(r, column), x);
            }
        } else if (grid.column == column) {
            messages_.receive(grid.rank(row, column), x);
        }
        if (grid.column == column) subtract(first, x);
    }

    void gather(int row, std::span<double> mine) {
        const std::span<double> theirs(theirs_.data(), mine.size());
        for (int c = 0; c < shape_.grid.columns; ++c) {
            if (c == shape_.grid.column) continue;
            messages_.receive(shape_.grid.rank(row, c), theirs);
            for (std::size_t i = 0; i < mine.size(); ++i) mine[i] += theirs[i];
        }
    }

    void solve(long first, std::span<const double> y, std::span<double> x) {
        const long row = shape_.rows().local(first), column = shape_.columns().local(first);
        for (std::size_t i = y.size(); i-- > 0;) {
            const double* const u = equations_.row(row + static_cast<long>(i)) + column;
            double sum = y[i];
            for (std::size_t j = i + 1; j < y.size(); ++j) sum -= u[j] * x[j];
            x[i] = sum / u[i];
        }
        std::copy(x.begin(), x.end(), x_.begin() + first);
    }

    void subtract(long first, std::span<const double> x) {
        const long above = shape_.rows().before(first), column = shape_.columns().local(first);
#pragma omp parallel for schedule(static) if (above > 1000)
        for (long r = 0; r < above; ++r) {
            const double* const u = equations_.row(r) + column;
            double sum = 0;
#pragma omp simd reduction(+ : sum)
            for (std::size_t j = 0; j < x.size(); ++j) sum += u[j] * x[j];
            sums_[static_cast<std::size_t>(r)] -= sum;
        }
    }

    const Equations& equations_;
    Shape shape_;
    Messages& messages_;
    std::span<double> sums_, block_;
    std::vector<double> theirs_, x_;
};

}  // namespace

std::vector<double> back_substitution(const Equations& equations, Messages& messages) {
    return Solve(equations, messages).run();
}

}  // namespace strata::bench::hpcc::linpack
