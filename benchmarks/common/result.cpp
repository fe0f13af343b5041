#include "benchmarks/common/result.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <iostream>
#include <ostream>
#include <sstream>
#include <type_traits>

#include "core/base/error.hpp"
#include "core/base/json.hpp"
#include "core/base/named_file.hpp"

namespace strata::bench {
namespace {

/// The instruction set that the vector units were compiled for.
constexpr const char* instruction_set() {
#if defined(__AVX512F__)
    return "avx512";
#elif defined(__AVX2__)
    return "avx2";
#elif defined(__AVX__)
    return "avx";
#elif defined(__x86_64__)
    return "sse2";
#elif defined(__ARM_FEATURE_SVE)
    return "sve";
#elif defined(__aarch64__)
    return "neon";
#else
    return "scalar";
#endif
}

void axis(Json& json, const char* key, const Axis& axis) {
    json.key(key).object().member("name", axis.name).member("unit", axis.unit).end();
}

void figures(Json& json, const Result& result) {
    json.key("figures").array();
    for (const Figure& figure : result.figures) {
        json.object().member("name", figure.name).member("value", figure.value).member("unit", figure.unit);
        json.member("better", figure.higher_is_better ? "higher" : "lower");
        if (figure.bytes) json.member("bytes", *figure.bytes);
        if (figure.flops) json.member("flops", *figure.flops);
        json.end();
    }
    json.end();
}

void curves(Json& json, const Result& result) {
    json.key("curves").array();
    for (const Curve& curve : result.curves) {
        json.object().member("name", curve.name);
        axis(json, "x", curve.x);
        axis(json, "y", curve.y);
        json.key("points").array();
        for (const auto& [x, y] : curve.points) json.array().value(x).value(y).end();
        json.end().end();
    }
    json.end();
}

void matrices(Json& json, const Result& result) {
    json.key("matrices").array();
    for (const Matrix& matrix : result.matrices) {
        json.object().member("name", matrix.name).member("unit", matrix.unit);
        json.members("rows", matrix.rows).members("columns", matrix.columns).key("values").array();
        for (const auto& row : matrix.values) json.values(row);
        json.end().end();
    }
    json.end();
}

void provenance(Json& json, const Result& result) {
    json.key("provenance").object();
    const std::string flags = result.flags.empty() ? STRATA_FLAGS : STRATA_FLAGS " " + result.flags;
    json.member("compiler", STRATA_COMPILER).member("flags", flags).member("isa", instruction_set());
    json.key("blas");
    if (result.blas) {
        json.object().member("path", result.blas->path).member("version", result.blas->version);
        json.member("core", result.blas->core).end();
    } else {
        json.null();
    }
    json.member("mpi", result.mpi).end();
}

/// A parameter as people read it: four digits of what was measured.
template <class T>
std::string shown(const T& value) {
    if constexpr (std::is_same_v<T, double>) return fmt::format("{:.4g}", value);
    return fmt::format("{}", value);
}

}  // namespace

void result_json(std::ostream& out, const Result& result) {
    Json json(out);
    json.object().member("schema", "strata.result/1").member("benchmark", result.benchmark);
    json.key("parameters").object();
    for (const auto& [name, value] : result.parameters)
        std::visit([&, &key = name](const auto& v) { json.member(key, v); }, value);
    json.end();
    json.member("processes", result.processes)
        .member("threads", result.threads)
        .member("wall_s", result.wall_s);
    const Verification& check = result.verification;
    json.member("verified", check.passed());
    json.key("verification").object().member("what", check.what).member("value", check.value);
    json.member("limit", check.limit).member("source", check.source).end();
    const Result nothing;
    const Result& shown = check.passed() ? result : nothing;
    figures(json, shown);
    curves(json, shown);
    matrices(json, shown);
    json.members("notes", result.notes);
    provenance(json, result);
    json.end();
}

std::string result_text(const Result& result) {
    std::string text =
        fmt::format("{}: {} process{} x {} thread{}", result.benchmark, result.processes,
                    result.processes == 1 ? "" : "es", result.threads, result.threads == 1 ? "" : "s");
    for (const auto& [name, value] : result.parameters)
        text += fmt::format(", {} {}", name, std::visit([](const auto& v) { return shown(v); }, value));
    text += '\n';
    const Verification& check = result.verification;
    if (!check.passed()) {
        const std::string value = std::isnan(check.value) ? "no number" : fmt::format("{:.3g}", check.value);
        return text + fmt::format("  NOT VERIFIED: {}: {}, allowed up to {:.3g} ({}); no figures\n",
                                  check.what, value, check.limit, check.source);
    }
    for (const Figure& figure : result.figures)
        text += fmt::format("  {:<34} {:>12.5g}{}\n", figure.name, figure.value,
                            figure.unit == "1" ? "" : " " + figure.unit);
    for (const Curve& curve : result.curves) {
        text += fmt::format("  {}\n    {:>14} {:>14}\n", curve.name, curve.x.name + " " + curve.x.unit,
                            curve.y.name + " " + curve.y.unit);
        // A terminal is no plot: of long curves every so manieth point.
        const size_t step = curve.points.size() / 48 + 1;
        for (size_t i = 0; i < curve.points.size(); i += step)
            text += fmt::format("    {:>14.6g} {:>14.5g}\n", curve.points[i].first, curve.points[i].second);
    }
    constexpr std::size_t kMostRows = 32;  // as wide as a terminal may be
    for (const Matrix& matrix : result.matrices) {
        const std::size_t rows = matrix.values.size();
        const bool large = rows > kMostRows;
        text += fmt::format("  {} ({}){}\n", matrix.name, matrix.unit,
                            large ? fmt::format(": {} rows, which --json FILE keeps", rows) : "");
        for (size_t i = 0; i < rows && !large; ++i) {
            text += fmt::format("    {:>4}", matrix.rows[i]);
            for (const auto& value : matrix.values[i])
                text += value ? fmt::format(" {:>8.4g}", *value) : std::string(8, ' ') + "-";
            text += '\n';
        }
    }
    for (const std::string& note : result.notes) text += "  note: " + note + '\n';
    return text + fmt::format("  verified: {}: {:.3g} <= {:.3g} ({})\n", check.what, check.value, check.limit,
                              check.source);
}

namespace {

Error cannot_write(const std::string& file, int error) {
    return system_error("the result cannot be written", error)
        .at(file)
        .remedy(error == ENOSPC ? "free space on that file system" : "name a file in a folder you may write");
}

}  // namespace

void expect_writable(const std::string& file) {
    if (file.empty() || file == "-") return;
    if (const int error = why_not_named(file); error != 0) throw cannot_write(file, error);
}

void write_result(const std::string& file, const Result& result) {
    if (file == "-") {
        result_json(std::cout, result);
        return;
    }
    std::ostringstream out;
    result_json(out, result);
    if (const int error = write_named(file, out.str()); error != 0) throw cannot_write(file, error);
}

}  // namespace strata::bench
