// Arrays of tables in a case, and keys whose values are names of an enum's.
#include <array>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/run/case/case.hpp"
#include "tests/catch.hpp"

using namespace strata;
using namespace strata::graph;

namespace {

enum class Shape : std::uint8_t { box, ball };
constexpr Named<Shape> kShapes[] = {{"box", Shape::box}, {"ball", Shape::ball}};

struct Body {
    Shape shape = Shape::box;
    std::array<double, 3> centre{};
    double radius = 1;
};

struct Fixture {
    std::vector<Body> bodies;
    double length = 2, end = 3;
    CaseSchema schema{"sample", "a sample"};

    Fixture() {
        schema.key("grid.length", &length, {.unit = "m"});
        schema.arrays("bodies", &bodies,
                      [](const EntryKeys& keys, Body& body) {
                          keys.key("shape", Choice(&body.shape, kShapes),
                                   {.required = true, .meaning = "what it is"});
                          keys.key("centre", &body.centre, {.unit = "m", .meaning = "its middle"});
                          keys.key("radius", &body.radius,
                                   {.unit = "m", .least = 0, .above_least = true, .meaning = "how large"});
                      },
                      {.entries = {1, 3}, .meaning = "what is there"});
        schema.key("time.end", &end, {.unit = "s", .restart = Restart::end});
    }
    void read(const std::string& text) { schema.read_text("solver = \"sample\"\n" + text, "case.toml"); }
    std::string refusal(const std::string& text) {
        try {
            read(text);
        } catch (const Error& error) {
            return error.text();
        }
        return "";
    }
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const std::string kTwo =
    "[[bodies]]\nshape = \"ball\"\nradius = 0.5\n[[bodies]]\nshape = \"box\"\ncentre = [1, 2.5, -3]\n";

}  // namespace

TEST_CASE("each table of an array is read into a struct of its own, and the rest keeps its default") {
    Fixture f;
    f.read(kTwo);
    REQUIRE(f.bodies.size() == 2);
    CHECK(f.bodies[0].shape == Shape::ball);
    CHECK(f.bodies[0].radius == 0.5);
    CHECK(f.bodies[1].shape == Shape::box);
    CHECK(f.bodies[1].centre == std::array<double, 3>{1, 2.5, -3});
    CHECK(f.bodies[1].radius == 1);
    f.read("[[bodies]]\nshape = \"ball\"\n");
    REQUIRE(f.bodies.size() == 1);
    CHECK(f.bodies[0].radius == 1);
    f.read("bodies = [{shape = \"box\", radius = 4}, {shape = \"ball\"}]\n");
    CHECK(f.bodies.size() == 2);
    CHECK(f.bodies[0].radius == 4);
}

TEST_CASE("what a table of an array cannot say is refused with file, line, key, what was given and allowed") {
    Fixture f;
    const std::string first = "[[bodies]]\nshape = \"box\"\n[[bodies]]\n";
    std::string text = f.refusal(first + "shape = \"ball\"\nradius = -1.5\n");
    for (const char* part :
         {"at: case.toml:6 bodies[1].radius\n", "given: -1.5\n", "allowed: number, > 0 (in m)\n"})
        CHECK(has(text, part));
    CHECK(has(f.refusal(first + "shape = \"cube\"\n"), "allowed: text, one of \"box\", \"ball\"\n"));
    CHECK(has(f.refusal(first + "shape = 1\n"), "at: case.toml:5 bodies[1].shape\n"));
    CHECK(has(f.refusal(first + "shape = \"box\"\ncentre = [0, 1]\n"), "allowed: three numbers (in m)\n"));
    text = f.refusal(first + "radius = 1\n");
    for (const char* part : {"a key is missing", "at: case.toml:4 bodies[1].shape\n"}) CHECK(has(text, part));
    text = f.refusal(first + "shape = \"ball\"\nraduis = 1\n");
    for (const char* part : {"at: case.toml:6 bodies[1].raduis\n", "try: bodies[1].radius?\n"})
        CHECK(has(text, part));
    CHECK_FALSE(has(text, "bodies[0]"));
    CHECK(has(f.refusal(kTwo + "[\"bodies[0]\"]\nradius = 2\n"), "no such key"));
    CHECK(has(f.refusal(kTwo + "[boddies]\nradius = 2\n"), "try: bodies?"));
}

TEST_CASE("an array has as many tables as it may have, and is one") {
    Fixture f;
    CHECK(has(f.refusal(""), "allowed: 1 to 3 tables [[bodies]]\n"));
    CHECK(has(f.refusal(kTwo + kTwo), "given: 4 tables\n"));
    CHECK(has(f.refusal("[bodies]\nshape = \"box\"\n"), "given: a table [bodies]\n"));
    CHECK(has(f.refusal("bodies = [1, 2]\n"), "at: case.toml:2 bodies\n"));
}

TEST_CASE("an array's values count in the hash and in restarts, table by table") {
    Fixture f, other;
    f.read(kTwo);
    CHECK(has(f.schema.decisive_text(), "bodies[0].shape = \"ball\"\n"));
    CHECK(has(f.schema.decisive_text(), "bodies[1].centre = [1, 2.5, -3]\n"));
    const auto refusal = [&](const std::string& text) {
        other.read(text);
        CHECK(other.schema.hash() != f.schema.hash());
        try {
            other.schema.expect_restart(f.schema.values_for_restart(), "run");
        } catch (const Error& error) {
            return error.text();
        }
        return std::string();
    };
    CHECK(has(refusal("[[bodies]]\nshape = \"ball\"\nradius = 0.75\n[[bodies]]\nshape = \"box\"\n"
                      "centre = [1, 2.5, -3]\n"),
              "bodies[0].radius (line 4) is 0.75, in the checkpoint 0.5;"));
    CHECK(has(refusal("[[bodies]]\nshape = \"ball\"\nradius = 0.5\n"),
              "bodies[1].shape is not there, in the checkpoint \"box\";"));
    CHECK(has(refusal(kTwo + "[[bodies]]\nshape = \"box\"\n"), "bodies[2].shape (line 9) is \"box\""));
    other.read(kTwo);
    CHECK(other.schema.hash() == f.schema.hash());
    CHECK_NOTHROW(other.schema.expect_restart(f.schema.values_for_restart(), "run"));
}

TEST_CASE("the help has the keys of an array's tables once, where they were declared") {
    Fixture f;
    const std::string before = f.schema.help();
    CHECK(has(before, "  [[bodies]]  1 to 3 tables [[bodies]]: what is there\n"));
    CHECK(has(before, "one of \"box\", \"ball\"; required\n"));
    CHECK(before.find("[grid]") < before.find("[[bodies]]"));
    CHECK(before.find("[[bodies]]") < before.find("[time]"));
    f.read(kTwo);
    CHECK(f.schema.help() == before);
}

TEST_CASE("refusals name the table's key, and its line or the table's") {
    Fixture f;
    f.read(kTwo);
    const auto text = [&](const std::string& key) {
        try {
            f.schema.refuse(key, "no", "yes");
        } catch (const Error& error) {
            return error.text();
        }
    };
    CHECK(has(text("bodies[0].radius"), "at: case.toml:4 bodies[0].radius\n"));
    CHECK(has(text("bodies[1].radius"), "at: case.toml:5 bodies[1].radius\n"));
}

TEST_CASE("an array whose tables need no key is refused where it is declared") {
    CaseSchema schema("sample", "a sample");
    std::vector<Body> bodies;
    schema.arrays("bodies", &bodies,
                  [](const EntryKeys& keys, Body& body) { keys.key("radius", &body.radius, {}); });
    CHECK_THROWS_AS(schema.read_text("solver = \"sample\"\n[[bodies]]\n", "case.toml"), Error);
}
