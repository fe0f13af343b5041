#include "core/base/json_value.hpp"

#include <limits>
#include <sstream>

#include "core/base/error.hpp"
#include "core/base/json.hpp"
#include "tests/catch.hpp"

using strata::JsonValue;

namespace {

std::string refusal(const std::string& text) {
    try {
        (void)JsonValue::parse(text, "in.json");
    } catch (const strata::Error& error) {
        return error.text();
    }
    return "";
}

}  // namespace

TEST_CASE("a JSON document is read with its numbers to the last bit") {
    const JsonValue v = JsonValue::parse(
        R"( {"a": [1, -2.5e-3, true, false, null], "big": 9007199254740993, "s": "x\"\\\n\u00e9\ud83d\ude00", "o": {}} )",
        "in.json");
    const auto& list = v.member("a").items();
    CHECK(list[0].integer() == 1);
    CHECK(list[1].number() == -2.5e-3);
    CHECK(list[2].boolean());
    CHECK_FALSE(list[3].boolean());
    CHECK(list[4].type() == JsonValue::Type::null);
    CHECK(v.member("big").integer() == 9007199254740993);
    CHECK(v.member("s").string() == "x\"\\\n\xc3\xa9\xf0\x9f\x98\x80");
    CHECK(v.member("o").members().empty());
    CHECK(v.find("none") == nullptr);
}

TEST_CASE("what Json writes comes back the same") {
    std::ostringstream out;
    strata::Json writer(out);
    const double third = 1.0 / 3, tiny = std::numeric_limits<double>::denorm_min();
    writer.array()
        .value(third)
        .value(tiny)
        .value("a\tb\"\x01")
        .value(std::numeric_limits<long long>::min())
        .end();
    const JsonValue v = JsonValue::parse(out.str(), "in.json");
    CHECK(v.items()[0].number() == third);
    CHECK(v.items()[1].number() == tiny);
    CHECK(v.items()[2].string() == "a\tb\"\x01");
    CHECK(v.items()[3].integer() == std::numeric_limits<long long>::min());
}

TEST_CASE("what is not JSON is refused with file and line") {
    for (const char* text : {"", "{", "[1,]", "{\"a\" 1}", "01", "1.", "+1", "nul", "\"a", "\"\\x\"",
                             "\"\\u12g4\"", "[1] 2", "{\"a\":1,}", "\"a\nb\"", "-", "1e", "[1 2]"}) {
        INFO(text);
        CHECK(refusal(text).find("not JSON") != std::string::npos);
    }
    CHECK(refusal("{\n\n x}").find("in.json:3\n  given: x} ...\n") != std::string::npos);
    CHECK(refusal("{\"a\":").find("given: the end of the text") != std::string::npos);
    CHECK(refusal(std::string(100'000, '[')).find("too deep") != std::string::npos);
}

TEST_CASE("a text that ends in an escape is not read beyond its end") {
    const std::string_view more = "\"a\\\n\n";
    try {
        (void)JsonValue::parse(more.substr(0, 3), "in.json");
        FAIL("it was taken");
    } catch (const strata::Error& error) {
        CHECK(error.text().find("in.json:1\n") != std::string::npos);
    }
}

TEST_CASE("a number that no double holds is refused, not 0") {
    for (const char* text : {"1e999", "-1e999", "[1e-999]", "{\"set\": 1e400}"}) {
        INFO(text);
        CHECK(refusal(text).find("beyond those of 64 bits") != std::string::npos);
    }
    CHECK(JsonValue::parse("5e-324", "in.json").number() > 0);
}

TEST_CASE("a document of more values than memory is meant for is refused") {
    std::string text = "[0";
    for (int i = 0; i < 300'000; ++i) text += ",0";
    CHECK(refusal(text + "]").find("too many values") != std::string::npos);
    CHECK(JsonValue::parse(text.substr(0, 200'000) + "]", "in.json").items().size() == 100'000);
}

TEST_CASE("a value of another type is refused") {
    const JsonValue v = JsonValue::parse(R"({"a": 1.5, "b": "x"})", "in.json");
    CHECK_THROWS_AS(v.member("a").integer(), strata::Error);
    CHECK_THROWS_AS(v.member("b").number(), strata::Error);
    CHECK_THROWS_AS(v.member("c"), strata::Error);
    CHECK_THROWS_AS(v.items(), strata::Error);
}
