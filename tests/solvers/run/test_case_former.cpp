// Cases with keys of former versions: what they are told to write, and what rewriting makes of a file.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/run/case/former.hpp"
#include "tests/catch.hpp"

using namespace strata;
using namespace strata::graph;

namespace {

struct Ball {
    double radius = 0;
};

/// balls.radius = [0.5, 2] is now a table [[balls]] for each, and groups.number is gone.
struct Fixture {
    std::vector<Ball> balls;
    std::vector<double> former, numbers;
    double length = 2, friction = 0;
    CaseSchema schema{"sample", "a sample"};
    std::filesystem::path folder;

    Fixture() {
        schema.key("grid.length", &length, {.unit = "m"}).key("groups.friction", &friction, {});
        schema.arrays("balls", &balls, [](const EntryKeys& keys, Ball& ball) {
            keys.key("radius", &ball.radius, {.unit = "m", .least = 0, .required = true});
        });
        schema.former({.declare =
                           [this](CaseSchema& keys) {
                               keys.key("balls.radius", &former, {.unit = "m", .least = 0});
                               keys.key("groups.number", &numbers, {});
                           },
                       .renew =
                           [this](const CaseSchema& keys) {
                               if (former.size() > 2) keys.refuse("balls.radius", "too many", "two");
                               std::string text;
                               for (const double radius : former)
                                   text += "[[balls]]\nradius = " + case_text(radius) + "\n\n";
                               return std::vector<Renewed>{{"balls", text}};
                           }});
        std::string name = (std::filesystem::temp_directory_path() / "strata-former-XXXXXX").string();
        REQUIRE(mkdtemp(name.data()) != nullptr);
        folder = name;
    }
    ~Fixture() { std::filesystem::remove_all(folder); }
    std::filesystem::path written(const std::string& text) const {
        std::ofstream(folder / "case.toml") << text;
        return folder / "case.toml";
    }
    std::string refusal(const std::string& text) {
        try {
            schema.read_text(text, "case.toml");
        } catch (const Error& error) {
            return error.text();
        }
        return "";
    }
};

std::string contents(const std::filesystem::path& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const std::string kFormer = R"(# What it is.
solver = "sample"

[grid]
length = 3   # m

# Two balls.
[balls]
radius = [0.5,
          2] # m

[groups]
number = [0, 1]
)";

}  // namespace

TEST_CASE("a case with former keys is refused with the text to write") {
    Fixture f;
    const std::string text = f.refusal(kFormer);
    for (const char* part : {"at: case.toml:9 balls.radius\n", "given: balls.radius, groups.number\n",
                             "allowed: \n[[balls]]\nradius = 0.5\n\n[[balls]]\nradius = 2.0\n  try: ",
                             "strata run case.toml --rewrite"})
        CHECK(has(text, part));
}

TEST_CASE("values of former keys are checked as others are") {
    Fixture f;
    const std::string head = "solver = \"sample\"\n[balls]\n";
    CHECK(has(f.refusal(head + "radius = [-1.0]\n"), "at: case.toml:3 balls.radius\n"));
    CHECK(has(f.refusal(head + "radius = \"large\"\n"), "allowed: list of numbers"));
    CHECK(has(f.refusal(head + "radius = [1, 2, 3]\n"), "too many"));
    CHECK(has(f.refusal(head + "raduis = [1]\n"), "given: a table [balls]\n"));
}

TEST_CASE("rewriting keeps other keys, comments and the former file, and removes headers of nothing") {
    Fixture f;
    const auto file = f.written(kFormer);
    CHECK(has(rewrite_case(f.schema, file), "is in its present form"));
    CHECK(contents(file) == R"(# What it is.
solver = "sample"

[grid]
length = 3   # m

# Two balls.

[[balls]]
radius = 0.5

[[balls]]
radius = 2.0
)");
    CHECK(contents(file.string() + ".old") == kFormer);
    REQUIRE(f.balls.size() == 2);
    CHECK(f.balls[1].radius == 2);
    CHECK(f.length == 3);
    CHECK(has(rewrite_case(f.schema, file), "nothing was written"));
}

TEST_CASE("rewriting leaves what else is in a section") {
    Fixture f;
    const auto file = f.written(
        "solver = \"sample\"\nballs.radius = [1]\n[groups]\nnumber = [0]\nfriction = 0.5\n[grid]\nlength = "
        "4\n");
    (void)rewrite_case(f.schema, file);
    CHECK(contents(file) ==
          "solver = \"sample\"\n[groups]\nfriction = 0.5\n[grid]\nlength = 4\n\n[[balls]]\n"
          "radius = 1.0\n");
    CHECK(f.friction == 0.5);
}

TEST_CASE("nothing is written where a former file stands, or where keys cannot be moved") {
    Fixture f;
    auto file = f.written(kFormer);
    std::ofstream(file.string() + ".old") << "mine";
    CHECK_THROWS_AS(rewrite_case(f.schema, file), Error);
    CHECK(contents(file) == kFormer);
    CHECK(contents(file.string() + ".old") == "mine");
    std::filesystem::remove(file.string() + ".old");
    file = f.written("solver = \"sample\"\nballs = {radius = [1]}\n");
    CHECK_THROWS_AS(rewrite_case(f.schema, file), Error);
    CHECK_FALSE(std::filesystem::exists(file.string() + ".old"));
    for (const char* const text : {"balls = {radius = [1]}\n", "\"balls.radius\" = [1]\n"})
        CHECK(has(f.refusal(std::string("solver = \"sample\"\n") + text), "write it by hand"));
}

TEST_CASE("a checkpoint with former keys is refused by their names") {
    Fixture f;
    f.schema.read_text("solver = \"sample\"\n[[balls]]\nradius = 1\n", "case.toml");
    CaseSchema::Values then = f.schema.values_for_restart();
    CHECK_NOTHROW(f.schema.expect_restart(then, "run"));
    then.emplace_back("balls.radius", "[1]");
    std::string said;
    try {
        f.schema.expect_restart(then, "run");
    } catch (const Error& error) {
        said = error.text();
    }
    CHECK(has(said, "given: balls.radius in the checkpoint run\n"));
}

TEST_CASE("numbers and texts are written as one would write them") {
    CHECK(case_text(200e9) == "200e9");
    CHECK(case_text(1e5) == "100e3");
    CHECK(case_text(1234567.0) == "1234567.0");
    CHECK(case_text(-0.5) == "-0.5");
    CHECK(case_text(std::vector<double>{0, 1e-5}) == "[0.0, 1e-05]");
    CHECK(case_text(std::string("a\"b")) == "\"a\\\"b\"");
}
