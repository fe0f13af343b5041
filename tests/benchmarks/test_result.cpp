// The result document.
#include <sys/stat.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "benchmarks/common/buffer.hpp"
#include "benchmarks/common/result.hpp"
#include "core/base/error.hpp"
#include "core/base/units.hpp"
#include "tests/catch.hpp"

using namespace strata::bench;

namespace {

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

Result example(double value) {
    Result result;
    result.benchmark = "example";
    result.verification = {"difference", value, 16.0, "a book"};
    result.figures.push_back({"rate", 12.5, "GB/s", true, 24.0, {}});
    result.curves.push_back({"curve", {"size", "B"}, {"time", "us"}, {{8, 1.5}}});
    result.matrices.push_back({"matrix", "ns", {0, 1}, {0, 1}, {{std::nullopt, 3.5}, {3.5, std::nullopt}}});
    return result;
}

std::string json(const Result& result) {
    std::ostringstream out;
    result_json(out, result);
    return out.str();
}

}  // namespace

TEST_CASE("a verified result has its figures, curves and matrices, with null where nothing was sampled") {
    const std::string text = json(example(0.5));
    CHECK(contains(text, R"("verified":true)"));
    CHECK(contains(text, R"("name":"rate","value":12.5,"unit":"GB/s","better":"higher","bytes":24)"));
    CHECK(contains(text, "[[8,1.5]]"));
    CHECK(contains(text, "[[null,3.5],[3.5,null]]"));
}

TEST_CASE("an unverified rate does not exist, in the document or for people") {
    for (const double value : {16.5, std::nan(""), std::numeric_limits<double>::infinity()}) {
        const Result result = example(value);
        CHECK(contains(json(result), R"("verified":false)"));
        CHECK(contains(json(result), R"("figures":[],"curves":[],"matrices":[])"));
        CHECK(contains(result_text(result), "NOT VERIFIED"));
        CHECK_FALSE(contains(result_text(result), "12.5"));
    }
    CHECK(contains(result_text(example(-std::nan(""))), "difference: no number, allowed up to 16 (a book)"));
}

TEST_CASE("a matrix that is too wide for a terminal is named with its rows and where to find them") {
    Result result = example(1);
    CHECK(contains(result_text(result), "  matrix (ns)\n"));
    result.matrices[0].values.assign(33, {std::nullopt, 3.5});
    CHECK(contains(result_text(result), "  matrix (ns): 33 rows, which --json FILE keeps\n"));
}

TEST_CASE("a result file is whole or absent") {
    const auto folder =
        std::filesystem::temp_directory_path() / ("strata-result-" + std::to_string(getpid()));
    std::filesystem::create_directory(folder);
    const std::string file = folder / "result.json";
    write_result(file, example(1));
    std::ifstream in(file);
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    CHECK(text == json(example(1)));
    // Where one's own link leads a file is replaced, and the link stays.
    const std::string link = folder / "link";
    std::filesystem::create_symlink("result.json", link);
    write_result(link, example(2));
    CHECK(std::filesystem::is_symlink(link));
    std::ifstream again(file);
    CHECK(std::string(std::istreambuf_iterator<char>(again), {}) == json(example(2)));
    CHECK(std::distance(std::filesystem::directory_iterator(folder), {}) == 2);
    CHECK_NOTHROW(expect_writable("/dev/null"));
    CHECK_NOTHROW(expect_writable(link));
    CHECK_THROWS_AS(expect_writable(folder), strata::Error);
    std::filesystem::remove_all(folder);
    CHECK_THROWS_AS(write_result(file, example(1)), strata::Error);
    CHECK_THROWS_AS(expect_writable(file), strata::Error);
}

TEST_CASE("memory that cannot be had is refused with need and supply") {
    CHECK_NOTHROW(require_memory(1 << 20, "a test"));
    try {
        require_memory(std::uint64_t{1} << 60, "a test");
        FAIL("not refused");
    } catch (const strata::Error& error) {
        CHECK(error.given() == strata::print_size(std::uint64_t{1} << 60));
        CHECK_FALSE(error.allowed().empty());
    }
}

TEST_CASE("an array is aligned for vectors and starts as zeros") {
    const Array<double> array(1000);
    CHECK(reinterpret_cast<std::uintptr_t>(array.data()) % 64 == 0);
    double sum = 0;
    for (const double x : array.span()) sum += std::abs(x);
    CHECK(sum == 0);
    CHECK(last_level_cache() >= 64 << 10);
}
