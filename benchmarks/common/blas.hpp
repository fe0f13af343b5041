// BLAS is opened by name at run time: any library with CBLAS names will do, and the report says which it was.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/common/result.hpp"

namespace strata::bench {

/// Stands for the kernels that OpenBLAS chooses when the environment does not tell it.
inline constexpr const char* kOwnKernels = "own";

/// A library and, for OpenBLAS, the kernels it is told to use (empty: as the environment has it). OpenBLAS
/// chooses by a list of processors; one that is newer than the library, or that a hypervisor renames, gets
/// kernels far below its units.
struct BlasChoice {
    std::string path, core;
};

/// An opened BLAS, set to compute on the calling thread alone.
class Blas {
  public:
    /// Throws Error when there is no such library or it has no cblas_dgemm and cblas_dtrsm.
    explicit Blas(const BlasChoice& choice);

    /// C = alpha A B + beta C with row-major A (m x k), B (k x n), C (m x n) and the leading dimensions
    /// given.
    void dgemm(std::int64_t m, std::int64_t n, std::int64_t k, double alpha, const double* a,
               std::int64_t lda, const double* b, std::int64_t ldb, double beta, double* c,
               std::int64_t ldc) const;

    /// B = L^-1 B with row-major L (m x m), of which only what is below the diagonal is read, with ones on
    /// the diagonal, and B (m x n).
    void solve_unit_lower(std::int64_t m, std::int64_t n, const double* l, std::int64_t ldl, double* b,
                          std::int64_t ldb) const;

    [[nodiscard]] const BlasUsed& used() const { return used_; }

  private:
    void *dgemm_ = nullptr, *dtrsm_ = nullptr;
    bool wide_ = false;  // 64-bit integers in the interface
    BlasUsed used_;
};

/// What there is to choose from: $STRATA_BLAS alone if set, else those that set-up listed and those of the
/// system, OpenBLAS also with the kernels of other processors that this one can run.
[[nodiscard]] std::vector<BlasChoice> blas_candidates();

/// GF/s of a short DGEMM on one core, each candidate in a process of its own, since a library reads which
/// kernels to use when it is loaded. 0 where it cannot be loaded.
[[nodiscard]] std::vector<double> try_candidates(const std::vector<BlasChoice>& candidates);

/// What the process of try_candidates runs: prints the rate of one candidate.
int blas_trial(const BlasChoice& choice);

}  // namespace strata::bench
