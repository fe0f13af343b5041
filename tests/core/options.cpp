#include "core/base/options.hpp"

#include "core/base/error.hpp"
#include "tests/catch.hpp"

using namespace strata;

namespace {

Options sample() {
    Options options("strata sample", "A sample.");
    options.positional("NAME", "its name")
        .flag("--quick", "be quick")
        .option("--layout", "PxT", "1x1", "processes x threads")
        .option("--count", "N", "3", "how many")
        .option("--bind", "core|none", "core", "hold threads")
        .optional("--send", "FOLDER", "/tmp", "send it")
        .hidden("--as-rank", false)
        .rest("command", "what to run")
        .example("strata sample x", "runs x");
    return options;
}

std::string refusal(const std::vector<std::string>& words) {
    try {
        (void)sample().parse(words);
    } catch (const Error& error) {
        return error.text();
    }
    return "";
}

}  // namespace

TEST_CASE("options are read in any order, with = or a space, and the rest is untouched") {
    const Parsed given =
        sample().parse({"--count", "7", "name", "--layout=2x4", "--quick", "--", "a.out", "--count", "9"});
    CHECK(given.positionals() == std::vector<std::string>{"name"});
    CHECK(given.integer("--count", 1, 10) == 7);
    CHECK(given.text("--layout") == "2x4");
    CHECK(given.has("--quick"));
    CHECK(given.rest() == std::vector<std::string>{"a.out", "--count", "9"});
}

TEST_CASE("a value that may be left out follows after = alone") {
    CHECK(sample().parse({"--send", "name"}).text("--send") == "/tmp");
    CHECK(sample().parse({"--send", "name"}).positionals() == std::vector<std::string>{"name"});
    CHECK(sample().parse({"--send=/scratch", "name"}).text("--send") == "/scratch");
    CHECK_FALSE(sample().parse({"name"}).has("--send"));
    CHECK(sample().help().find("--send[=FOLDER]") != std::string::npos);
}

TEST_CASE("a default is a value that was not given") {
    const Parsed given = sample().parse({"name"});
    CHECK_FALSE(given.has("--count"));
    CHECK(given.integer("--count", 1, 10) == 3);
    CHECK_FALSE(given.has("--quick"));
}

TEST_CASE("a misspelt option is refused and the nearest one suggested") {
    CHECK(refusal({"name", "--layuot", "2x2"}).find("try: --layout") != std::string::npos);
    CHECK(refusal({"name", "--zzz"}).find("try: strata sample --help") != std::string::npos);
}

TEST_CASE("each kind of bad input is refused with what was given and what is allowed") {
    CHECK(refusal({}).find("NAME is missing") != std::string::npos);
    CHECK(refusal({"a", "b"}).find("given: b") != std::string::npos);
    CHECK(refusal({"a", "--count"}).find("lacks its value") != std::string::npos);
    CHECK(refusal({"a", "--quick=yes"}).find("takes no value") != std::string::npos);
    const Parsed given = sample().parse({"a", "--count", "11", "--bind", "cores"});
    CHECK_THROWS_AS(given.integer("--count", 1, 10), Error);
    CHECK_THROWS_AS(given.integer("--layout", 1, 10), Error);
    CHECK_THROWS_AS(given.choice("--bind", {"core", "none"}), Error);
}

TEST_CASE("what is no number is in no range") {
    for (const char* text : {"nan", "-nan", "inf", "1e999", ""}) {
        INFO(text);
        const Parsed given = sample().parse({"a", std::string("--count=") + text});
        CHECK_THROWS_AS(given.number("--count", 0, 1e9), Error);
    }
    CHECK(sample().parse({"a", "--count", "1e9"}).number("--count", 0, 1e9) == 1e9);
}

TEST_CASE("help shows usage, options, defaults and examples, and hides what is not for people") {
    const std::string help = sample().help();
    CHECK(help.find("usage: strata sample [options] NAME -- command") != std::string::npos);
    CHECK(help.find("(default 1x1)") != std::string::npos);
    CHECK(help.find("strata sample x") != std::string::npos);
    CHECK(help.find("--as-rank") == std::string::npos);
}

TEST_CASE("the nearest word is found by edit distance, and none where none is near") {
    CHECK(nearest("machne", {"machine", "launch"}) == "machine");
    CHECK(nearest("qqqqq", {"machine", "launch"}).empty());
}
