#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>

#include "core/run/output/series.hpp"
#include "tests/catch.hpp"
#include "tests/graph/temporary.hpp"

using namespace strata;
using namespace strata::graph;
using namespace strata::tests;

namespace {

const std::vector<Series::Column> kColumns = {{"energy, total", "J"}, {"count", ""}};

void append(Series& series, std::int64_t step) {
    series.append(step, 0.1 * static_cast<double>(step),
                  std::vector<double>{1.0 / static_cast<double>(step), 7});
}

}  // namespace

TEST_CASE("a time series has names, units and numbers that read back to the same bits") {
    const TemporaryFolder folder;
    const auto file = folder.path() / "series.csv";
    Series series(file, "s", kColumns);
    append(series, 3);
    append(series, 4);
    CHECK(text_of(file) ==
          "step,time [s],\"energy, total [J]\",count\n"
          "3,0.30000000000000004,0.3333333333333333,7\n"
          "4,0.4,0.25,7\n");
    REQUIRE(series.last(10).size() == 2);
    CHECK(series.last(1)[0].step == 4);
    CHECK(series.last(1)[0].values == std::vector<double>{0.25, 7});
    CHECK(has(refusal([&] { append(series, 4); }), "follow each other"));
    CHECK(has(refusal([&] { series.append(5, 0.5, std::vector<double>{1}); }), "as many values"));
    CHECK(has(refusal([&] { Series again(file, "s", kColumns); }), "already"));
}

TEST_CASE("a restart goes on after its step and forgets what came later") {
    const TemporaryFolder folder;
    const auto file = folder.path() / "series.csv";
    {
        Series series(file, "s", kColumns);
        for (const int step : {1, 2, 3, 4}) append(series, step);
    }
    const std::string all = text_of(file);
    write_text(file, all + "5,0.5,0.");  // what a full disk may leave
    {
        Series series(file, "s", kColumns, 2);
        CHECK(series.last(10).size() == 2);
        for (const int step : {3, 4}) append(series, step);
    }
    CHECK(text_of(file) == all);
    { const Series series(file, "s", kColumns, 100); }
    CHECK(text_of(file) == all);
    { const Series series(file, "s", kColumns, 0); }
    CHECK(text_of(file) == all.substr(0, all.find('\n') + 1));
}

TEST_CASE("not a number and infinities survive a restart") {
    const TemporaryFolder folder;
    const double inf = std::numeric_limits<double>::infinity();
    { Series(folder.path() / "s.csv", "s", kColumns).append(1, 1, std::vector<double>{-inf, std::nan("")}); }
    const Series series(folder.path() / "s.csv", "s", kColumns, 1);
    CHECK(series.last(1).at(0).values[0] == -inf);
    CHECK(std::isnan(series.last(1).at(0).values[1]));
}

TEST_CASE("a file with other columns, or that is no time series, is refused and left alone") {
    const TemporaryFolder folder;
    const auto file = folder.path() / "series.csv";
    { Series series(file, "s", kColumns); }
    CHECK(has(refusal([&] { Series other(file, "ms", kColumns, 1); }), "other columns"));
    write_text(file, text_of(file) + "1,2\n");
    const std::string before = text_of(file);
    CHECK(has(refusal([&] { Series series(file, "s", kColumns, 1); }), "series.csv:2"));
    CHECK(text_of(file) == before);
}

TEST_CASE(
    "a run that is killed leaves complete rows, and at most one cut off behind them, which the next run "
    "removes") {
    const TemporaryFolder folder;
    const auto file = folder.path() / "series.csv";
    const pid_t child = ::fork();
    if (child == 0) {
        Series series(file, "s", kColumns);
        for (std::int64_t step = 1;; ++step) append(series, step);
    }
    std::error_code none;
    while (std::filesystem::file_size(file, none) < 10'000 || none) std::this_thread::yield();
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const std::string text = text_of(file);
    const std::size_t complete = text.rfind('\n') + 1;
    REQUIRE(complete > 0);
    const auto rows = std::count(text.begin(), text.end(), '\n') - 1;  // without the header
    REQUIRE(rows > 0);
    const Series series(file, "s", kColumns, std::numeric_limits<std::int64_t>::max());
    CHECK(text_of(file) == text.substr(0, complete));
    CHECK(series.last(1).at(0).step == rows);
}

TEST_CASE("a row that was cut off is removed by the next run") {
    const TemporaryFolder folder;
    const auto file = folder.path() / "series.csv";
    {
        Series series(file, "s", kColumns);
        for (std::int64_t step = 1; step <= 3; ++step) append(series, step);
    }
    const std::string text = text_of(file);
    for (std::size_t cut = 1; text[text.size() - cut - 1] != '\n'; ++cut) {
        write_text(file, text.substr(0, text.size() - cut));
        Series series(file, "s", kColumns, 3);
        CHECK(series.last(1).at(0).step == 2);
        append(series, 3);
        CHECK(text_of(file) == text);
    }
}

TEST_CASE("the first value that is no number is known, also to the run that goes on") {
    const TemporaryFolder folder;
    const auto file = folder.path() / "series.csv";
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    {
        Series series(file, "s", {{"height", "m"}, {"width", "m"}});
        series.append(1, 0.1, std::vector{1.0, 2.0});
        CHECK_FALSE(series.no_number());
        series.append(2, 0.2, std::vector{1.0, -nan});
        series.append(3, 0.3, std::vector{-std::numeric_limits<double>::infinity(), 2.0});
        REQUIRE(series.no_number());
        CHECK(series.no_number()->step == 2);
        CHECK(series.no_number()->column == "width");
    }
    CHECK(text_of(file).find("2,0.2,1,nan\n3,0.3,-inf,2\n") != std::string::npos);
    CHECK(Series(file, "s", {{"height", "m"}, {"width", "m"}}, 3).no_number()->step == 2);
    CHECK_FALSE(Series(file, "s", {{"height", "m"}, {"width", "m"}}, 1).no_number());
}
