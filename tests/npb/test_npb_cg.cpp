// CG's matrix by chunks of rows: its product is that of the random vectors it is made of.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <list>
#include <vector>

#include "benchmarks/npb/cg/multiply.hpp"
#include "tests/catch.hpp"

using namespace strata::npb;
using cg::Block;
using cg::Fetch;
using cg::Problem;

namespace {

/// So many workers, one after the other.
class InTurn : public Group {
  public:
    explicit InTurn(int workers) : workers_(workers) {}
    [[nodiscard]] const char* model() const override { return "in turn"; }
    [[nodiscard]] int threads() const override { return workers_; }
    [[nodiscard]] int workers() const override { return workers_; }

  protected:
    void run(Task task, void* held) override {
        for (int worker = 0; worker < workers_; ++worker) task(held, worker, workers_);
    }
    [[nodiscard]] void* allocate(const std::string&, std::size_t bytes) override {
        return memory_.emplace_back((bytes + 63) / 64 * 8, 0.0).data();
    }

  private:
    int workers_;
    std::list<std::vector<double>> memory_;
};

/// A v for the block's rows, v zero outside of its columns: sum_i omega^i x_i (x_i . v) + (0.1 - shift) v.
std::vector<double> by_vectors(const Problem& problem, const Block& block, const std::vector<double>& v) {
    const auto n = static_cast<std::size_t>(problem.n), room = static_cast<std::size_t>(problem.nonzer + 1);
    std::vector<std::int32_t> count(n);
    std::vector<std::uint32_t> column(n * room);
    std::vector<double> value(n * room), weight(n), all(n, 0.0), whole(n, 0.0);
    cg::Vectors vectors{problem.nonzer + 1, count, column, value, weight};
    cg::make_vectors(problem, vectors);
    std::copy(v.begin(), v.end(), whole.begin() + block.column_begin);
    for (std::size_t i = 0; i < n; ++i) {
        double product = 0;
        for (std::size_t e = i * room; e < i * room + static_cast<std::size_t>(count[i]); ++e)
            product += value[e] * whole[column[e]];
        for (std::size_t e = i * room; e < i * room + static_cast<std::size_t>(count[i]); ++e)
            all[column[e]] += weight[i] * value[e] * product;
        all[i] += (0.1 - problem.shift) * whole[i];
    }
    return {all.begin() + block.row_begin, all.begin() + block.row_end};
}

}  // namespace

TEST_CASE("CG's product by chunks of rows is that of the vectors its matrix is made of") {
    const Problem small = cg::problem(Class::S), long_rows{9000, 8, 1, 10, 0}, sparse{100000, 2, 1, 12, 0};
    struct Case {
        Problem problem;
        Block block;
        int workers;
        std::size_t strips;
        bool wide;
    };
    const auto [problem, block, workers, strips, wide] = GENERATE_COPY(
        Case{small, {0, 1400, 0, 1400}, 1, 1, false}, Case{small, {0, 1400, 0, 1400}, 3, 1, false},
        Case{small, {700, 1395, 0, 700}, 7, 1, false}, Case{long_rows, {0, 9000, 0, 9000}, 2, 3, false},
        Case{sparse, {0, 100000, 0, 100000}, 2, 1, true});
    CAPTURE(problem.n, block.row_begin, block.columns(), workers);
    InTurn group(workers);
    const cg::Matrix matrix = cg::make_matrix(problem, block, group);
    CHECK(matrix.strips.size() == strips);
    CHECK(matrix.strips.front().wide.empty() != wide);

    const auto rows = static_cast<std::size_t>(block.rows());
    std::vector<double> x(static_cast<std::size_t>(block.columns()));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<double>(i));
    const std::vector<double> expected = by_vectors(problem, block, x);
    std::vector<double> single(rows, NAN), gathered(rows, NAN);
    for (int worker = 0; worker < workers; ++worker) {
        cg::multiply(matrix, x.data(), single.data(), worker, Fetch::single);
        cg::multiply(matrix, x.data(), gathered.data(), worker, Fetch::gather);
    }
    double worst = 0;
    for (std::size_t i = 0; i < rows; ++i) worst = std::max(worst, std::abs(single[i] - expected[i]));
    CHECK(worst < 1e-13 * problem.shift);
    CHECK(std::memcmp(single.data(), gathered.data(), rows * sizeof(double)) == 0);
}

TEST_CASE("CG's chunks hold rows of nearly the same length") {
    InTurn group(2);
    const Problem& problem = cg::problem(Class::W);
    const cg::Matrix matrix = cg::make_matrix(problem, {0, problem.n, 0, problem.n}, group);
    double stored = 0, elements = 0;
    for (const cg::Strip& strip : matrix.strips)
        for (const double value : strip.value) {
            stored += 1;
            elements += value != 0 ? 1 : 0;
        }
    CHECK(stored < 1.05 * elements);
}
