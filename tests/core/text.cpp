#include "core/base/text.hpp"

#include <cmath>
#include <limits>
#include <string>

#include "tests/catch.hpp"

using namespace strata;
using Beyond = NumberForm::Beyond;
using Words = std::vector<std::string_view>;

TEST_CASE("a number is all of its text, in digits and with '-' alone, unless an option says more") {
    CHECK(parse_number<int>("-17") == -17);
    CHECK(parse_number<double>("-1.5e-3") == -1.5e-3);
    for (const char* text : {"", "+1", " 1", "1 ", "1x", "0x1", "1.0", "-", "2147483648"})
        CHECK_FALSE(parse_number<int>(text));
    for (const char* text : {"", "+1", " 1", "1 ", "1d0", "0x1p3", "1e400", "1e-400", "-"})
        CHECK_FALSE(parse_number<double>(text));
    CHECK_FALSE(parse_number<unsigned>("-1"));
    CHECK(parse_number<std::uint64_t>("18446744073709551615") == std::numeric_limits<std::uint64_t>::max());
    CHECK(parse_number<unsigned>("ff", {.base = 16}) == 255U);
    CHECK_FALSE(parse_number<unsigned>("0xff", {.base = 16}));
}

TEST_CASE("a range has its ends and no nan; without a range a real number may be nan or infinite") {
    CHECK(parse_number<int>("3", 3, 5) == 3);
    CHECK(parse_number<int>("5", 3, 5) == 5);
    CHECK_FALSE(parse_number<int>("6", 3, 5));
    CHECK_FALSE(parse_number<double>("nan", -1e308, 1e308));
    CHECK(std::isnan(*parse_number<double>("nan")));
    CHECK(std::isinf(*parse_number<double>("inf")));
}

TEST_CASE("one '+' is read where it may be there") {
    CHECK(parse_number<int>("+1", {.plus = true}) == 1);
    CHECK(real_of("+1.5") == 1.5);
    CHECK(whole_of("+2") == 2);
    for (const char* text : {"+", "++1", "+-1", "1+"}) CHECK_FALSE(whole_of(text));
    for (const char* text : {"inf", "nan", "1e400", "+-1"}) CHECK_FALSE(real_of(text));
}

TEST_CASE("Fortran's numbers have exponents with D, or with their sign alone") {
    const NumberForm form{.fortran = true, .beyond = Beyond::small_is_zero};
    CHECK(parse_number<double>("1D0", form) == 1.0);
    CHECK(parse_number<double>("+2.5d-3", form) == 2.5e-3);
    CHECK(parse_number<double>("1.5-101", form) == 1.5e-101);
    CHECK(parse_number<double>("1.5E+2", form) == 150.0);
    CHECK(parse_number<double>("1.5-400", form) == 0.0);
    CHECK(parse_number<std::int64_t>("+7", form) == 7);
    for (const char* text : {"", "+", "1.5+400", "1-2-3", "1e2e3", "1.5-", "***"})
        CHECK_FALSE(parse_number<double>(text, form));
    CHECK(parse_number<double>("0." + std::string(60, '1'), form));
    CHECK_FALSE(parse_number<double>("0." + std::string(61, '1'), form));
}

TEST_CASE("a real number beyond those of 64 bits is none, or 0 where an option says so") {
    for (const char* text : {"1e400", "-1e400", "1e-400"}) {
        CHECK_FALSE(parse_number<double>(text));
        CHECK(parse_number<double>(text, {.beyond = Beyond::zero}) == 0.0);
        const bool small = std::string(text) == "1e-400";
        CHECK(parse_number<double>(text, {.beyond = Beyond::small_is_zero}).has_value() == small);
    }
    CHECK(parse_number<double>("5e-324") == 5e-324);
}

TEST_CASE("what is taken off a text is gone from it, and what is not there leaves it alone") {
    std::string_view text = "12:-3;x";
    CHECK(take_number<int>(text) == 12);
    CHECK_FALSE(take(text, ";"));
    CHECK(take(text, ":"));
    CHECK_FALSE(take_number<unsigned>(text));
    CHECK(text == "-3;x");
    CHECK(take_number<double>(text) == -3.0);
    CHECK(text == ";x");
    text = "99999999999,1";  // taken off, though no int is so large
    CHECK_FALSE(take_number<int>(text));
    CHECK(text == ",1");
    text = "+1";
    CHECK_FALSE(take_number<int>(text));
}

TEST_CASE("lines, parts and words of a text") {
    std::string_view text = "one\n\nthree";
    CHECK(take_line(text) == "one");
    CHECK(take_line(text) == "");
    CHECK(take_line(text) == "three");
    CHECK(text.empty());
    CHECK(split("a::b:", ':') == Words{"a", "", "b", ""});
    CHECK(split("", ':') == Words{""});
    CHECK(words_of(" a\tb \r# c") == Words{"a", "b"});
    CHECK(words_of("").empty());
}
