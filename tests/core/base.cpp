#include <unistd.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <sstream>
#include <thread>

#include "core/base/counted.hpp"
#include "core/base/cpulist.hpp"
#include "core/base/error.hpp"
#include "core/base/json.hpp"
#include "core/base/reason.hpp"
#include "core/base/steps.hpp"
#include "core/base/units.hpp"
#include "core/base/unread.hpp"
#include "core/machine/clock.hpp"
#include "tests/catch.hpp"

using namespace strata;

TEST_CASE("numbers of things have the plural that they need") {
    CHECK(counted(1, "component") == "1 component");
    CHECK(counted(0, "component") == "0 components");
    CHECK(counted(2, "list of links", "lists of links") == "2 lists of links");
}

TEST_CASE("an error says what, where, what was given, what is allowed and what to do, a line each") {
    Error error("a thread count must be positive");
    error.at("case.toml", 12, "threads").given("0").allowed("1..64").remedy("threads = 1");
    CHECK(error.text() ==
          "strata: error: a thread count must be positive\n  at: case.toml:12 threads\n  given: 0\n  "
          "allowed: 1..64\n"
          "  try: threads = 1\n");
    CHECK(Error("short").text() == "strata: error: short\n");
    CHECK(Error("bad").exit_code() == 2);
}

TEST_CASE("an error shows bytes that are no text") {
    Error error("no \xff");
    error.given("a = \"\xe4\" \xe4\xb8\xad \xed\xa0\x80 \xe4\xb8");
    CHECK(error.text() ==
          "strata: error: no \\xff\n  given: a = \"\\xe4\" \xe4\xb8\xad \\xed\\xa0\\x80 "
          "\\xe4\\xb8\n");
}

TEST_CASE("an error shows what a terminal would obey, and the letters of all languages as they are") {
    Error error("no key a\x1b[2J");
    error.at("gr\xc3\xbc\xc3\x9f.toml")
        .given("\x1b]0;title\x07\r\x7f\xc2\x9b\xe2\x80\xae, \xe2\x80\x93 \tas\nis");
    CHECK(error.text() ==
          "strata: error: no key a\\x1b[2J\n  at: gr\xc3\xbc\xc3\x9f.toml\n"
          "  given: \\x1b]0;title\\x07\\x0d\\x7f\\xc2\\x9b\\xe2\\x80\\xae, \xe2\x80\x93 \tas\nis\n");
    CHECK(Error("cut \xe2").text() == "strata: error: cut \\xe2\n");
}

TEST_CASE("an error is a document for programs, in which nothing that was not said has a key") {
    Error error("there is no such \"solver\"", 127);
    CHECK(error.json() == R"({"schema":"strata.error/1","message":"there is no such \"solver\"","code":127})"
                          "\n");
    error.at("a.toml", 3).given("x").allowed("y").remedy("z");
    CHECK(error.json().find(R"("at":"a.toml:3","given":"x","allowed":"y","try":"z","code":127})") !=
          std::string::npos);
}

TEST_CASE("CPU lists are read with ranges and strides, and printed in their shortest form") {
    CHECK(parse_cpulist("0-3,8") == std::vector<int>{0, 1, 2, 3, 8});
    CHECK(parse_cpulist("8,0-3\n") == std::vector<int>{0, 1, 2, 3, 8});
    CHECK(parse_cpulist("0-10:5") == std::vector<int>{0, 5, 10});
    CHECK(parse_cpulist("").empty());
    CHECK(print_cpulist(std::vector<int>{8, 2, 1, 0, 3, 3}) == "0-3,8");
    CHECK(print_cpulist(std::vector<int>{}).empty());
}

TEST_CASE("printing and reading a CPU list gives the same set back") {
    for (unsigned seed = 1; seed < 200; ++seed) {
        std::vector<int> numbers;
        unsigned state = seed;
        for (int cpu = 0; cpu < 70; ++cpu) {
            state = state * 1664525U + 1013904223U;
            if ((state >> 30) != 0) numbers.push_back(cpu);
        }
        REQUIRE(parse_cpulist(print_cpulist(numbers)) == numbers);
    }
}

TEST_CASE("what is not a CPU list is refused, and a huge range does not fill memory") {
    for (const char* text : {"a", "1-", "-1", "3-1", "1,,2", "0-4000000000", "1-5:0", "1,", "70000"}) {
        INFO(text);
        CHECK_THROWS_AS(parse_cpulist(text), Error);
    }
}

TEST_CASE("JSON escapes text, nests, and writes numbers that read back exactly") {
    std::ostringstream out;
    Json json(out);
    json.object();
    json.member("text", "a\"b\\c\nd\x01");
    json.member("number", 0.1).member("count", 18446744073709551615ULL).member("minus", -3);
    json.member("none", std::optional<int>()).member("some", std::optional<int>(4));
    json.members("list", std::vector<std::string>{"x", "y"});
    json.member("nan", std::numeric_limits<double>::quiet_NaN()).member("inf", INFINITY);
    json.key("empty").object().end();
    json.member("yes", true);
    json.end();
    CHECK(out.str() ==
          "{\"text\":\"a\\\"b\\\\c\\nd\\u0001\",\"number\":0.1,\"count\":18446744073709551615,\"minus\":-3,"
          "\"none\":null,"
          "\"some\":4,\"list\":[\"x\",\"y\"],\"nan\":null,\"inf\":null,\"empty\":{},\"yes\":true}\n");
}

TEST_CASE("JSON keeps UTF-8 and replaces what is none, so that the document can always be read") {
    const auto written = [](const std::string& text) {
        std::ostringstream out;
        Json(out).value(text);
        return out.str();
    };
    CHECK(written("Zürich \u20ac \U0001F680") == "\"Zürich \u20ac \U0001F680\"");
    CHECK(written("a\xff\x80z") == "\"a\\ufffd\\ufffdz\"");
    CHECK(written("cut \xe2\x82") == "\"cut \\ufffd\\ufffd\"");
    CHECK(written("\xc0\xaf") == "\"\\ufffd\\ufffd\"");             // an overlong '/'
    CHECK(written("\xed\xa0\x80") == "\"\\ufffd\\ufffd\\ufffd\"");  // half a surrogate pair
}

TEST_CASE("sizes and times are read with their units") {
    CHECK(parse_size("4096") == 4096);
    CHECK(parse_size("16KiB") == 16384);
    CHECK(parse_size("1.5 GiB") == 1610612736);
    CHECK(parse_size("2MB") == 2000000);
    CHECK(parse_seconds("10m") == 600);
    CHECK(parse_seconds("250ms") == Approx(0.25));
    for (const char* text : {"", "x", "-1", "3 bananas", "1e300"}) {
        INFO(text);
        CHECK_THROWS_AS(parse_size(text), Error);
    }
    CHECK_THROWS_AS(parse_seconds("soon"), Error);
}

TEST_CASE("sizes and times are printed for people") {
    CHECK(print_size(0) == "0 B");
    CHECK(print_size(33554432) == "32 MiB");
    CHECK(print_size(1610612736) == "1.5 GiB");
    CHECK(print_size(1047527424) == "999 MiB");
    CHECK(print_seconds(0.00314) == "3.14 ms");
    CHECK(print_seconds(1.4e-7) == "140 ns");
    CHECK(print_seconds(90) == "90 s");
    CHECK(print_seconds(86400) == "86400 s");
    CHECK(print_seconds(0.9996) == "1 s");
    CHECK(print_seconds(9.997e-4) == "1 ms");
    CHECK(print_size(1048166400) == "1000 MiB");
    CHECK(print_duration(3.71) == "3.7 s");
    CHECK(print_duration(4) == "4 s");
    CHECK(print_duration(59.4) == "59 s");
    CHECK(print_duration(200.2) == "3 min 20 s");
    CHECK(print_duration(7500) == "2 h 5 min");
}

TEST_CASE("the measured clock is that of some processor, or said to be unknown") {
    const double ghz = machine::measure_clock_ghz();
#if defined(__x86_64__)
    CHECK(ghz > 0.3);
    CHECK(ghz < 10);
#else
    CHECK(ghz >= 0);
#endif
}

TEST_CASE("output is waited for until it has been read, or for so long and no longer") {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const std::string words = "the last words\n";
    REQUIRE(write(ends[1], words.data(), words.size()) == static_cast<ssize_t>(words.size()));
    strata::wait_until_read(ends[1], std::chrono::milliseconds(5));  // nobody reads
    std::atomic<bool> read_all{false};
    std::thread reader([&] {
        std::this_thread::sleep_for(
            std::chrono::milliseconds(300));  // longer than what is added for passing it on
        std::string read_back(words.size(), ' ');
        read_all = true;  // before the pipe is empty
        CHECK(read(ends[0], read_back.data(), read_back.size()) == static_cast<ssize_t>(words.size()));
    });
    strata::wait_until_read(ends[1], std::chrono::minutes(1));
    CHECK(read_all);
    reader.join();
    close(ends[0]), close(ends[1]);
    strata::wait_until_read(ends[1], std::chrono::minutes(1));  // no file at all
}

TEST_CASE("a number of steps is the whole number that the case means, and not one more by rounding") {
    CHECK(steps_within(1.0, 0.1) == 10);
    CHECK(steps_within(1.0, 0.3) == 3);
    long wrong = 0;
    for (const double step : {0.1, 0.3, 0.7, 1e-3, 1.0 / 3, 0.05, 1e5 / 7}) {
        double sum = 0;
        for (std::int64_t n = 1; n <= 20000; ++n) {
            const double product = static_cast<double>(n) * step;
            sum += step;
            wrong += steps_within(product, step) != n;
            wrong += !reached(product, sum) || !reached(sum, product) || reached(product - step / 2, sum);
            wrong += steps_within(product - step / 100, step) != n - 1;
        }
    }
    CHECK(wrong == 0);
    CHECK(goes_to_end(0.1, 0.1 + 1e-9));
    CHECK_FALSE(goes_to_end(0.1, 0.101));
}

TEST_CASE("who runs a program reads of memory, not of exceptions") {
    CHECK(reason_of(std::bad_alloc()).starts_with("not enough memory"));
    CHECK(reason_of(std::length_error("vector::reserve")).starts_with("not enough memory"));
    CHECK(reason_of(std::out_of_range("what it says")) == "what it says");
}
