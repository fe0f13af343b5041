// What one benchmark found in one launch: the document strata.result/1 (docs/formats.md), and the same for
// people.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/figures.hpp"

namespace strata::bench {

struct Axis {
    std::string name, unit;
};

struct Curve {
    std::string name;
    Axis x, y;
    std::vector<std::pair<double, double>> points;
};

/// A value for each pair; none where a pair was not sampled.
struct Matrix {
    std::string name, unit;
    std::vector<int> rows, columns;
    std::vector<std::vector<std::optional<double>>> values;
};

/// The BLAS that was loaded, and what was tried to choose it.
struct BlasUsed {
    std::string path, version, core;
};

using Parameter = std::variant<std::string, std::int64_t, double, bool>;

struct Result {
    std::string benchmark;
    std::vector<std::pair<std::string, Parameter>> parameters;
    int processes = 1;
    int threads = 1;
    double wall_s = 0;
    Verification verification;
    std::vector<Figure> figures;
    std::vector<Curve> curves;
    std::vector<Matrix> matrices;
    std::vector<std::string> notes;  // what the reader must know to read the figures, one sentence each
    std::optional<BlasUsed> blas;
    std::optional<std::string> mpi;
    std::string flags;  // of the compiler, beside those of all benchmarks

    void parameter(std::string name, Parameter value) {
        parameters.emplace_back(std::move(name), std::move(value));
    }
};

/// Without a passed verification neither writes a figure, a curve or a matrix: an unverified rate does not
/// exist.
void result_json(std::ostream& out, const Result& result);
[[nodiscard]] std::string result_text(const Result& result);

/// Throws Error where write_result() could not even begin: to be known before a long run.
void expect_writable(const std::string& file);
/// Writes to FILE.tmp and renames, so that FILE is whole or absent; "-" is standard output. Throws Error.
void write_result(const std::string& file, const Result& result);

}  // namespace strata::bench
