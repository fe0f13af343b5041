// A declared schema makes the check of a case file, its error messages and its help.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "core/base/error.hpp"
#include "core/run/case/case.hpp"
#include "core/run/case/key_text.hpp"
#include "tests/catch.hpp"

using namespace strata;
using namespace strata::graph;

namespace {

struct Fixture {
    double length = 2;
    std::int64_t count = 3;
    bool open = false;
    std::string kind = "cold";
    std::vector<std::int64_t> cells;
    CaseSchema schema{"sample", "a sample"};
    std::filesystem::path file;

    Fixture() {
        schema.key("kind", &kind, {.choices = {"cold", "warm"}, .meaning = "which"});
        schema.key("grid.cells", &cells,
                   {.least = 1, .entries = {2, 3}, .required = true, .meaning = "how many"});
        schema.key("grid.length", &length,
                   {.unit = "m", .least = 0, .above_least = true, .meaning = "how long"});
        schema.key("run.count", &count, {.least = 1, .most = 10, .decides = false, .meaning = "how often"});
        schema.key("run.open", &open, {.meaning = "whether"});
        std::string name = (std::filesystem::temp_directory_path() / "strata-case-XXXXXX").string();
        const int made = mkstemp(name.data());
        REQUIRE(made >= 0);
        file = name;
    }
    ~Fixture() { std::filesystem::remove(file); }
    void read(const std::string& text) {
        std::ofstream(file) << text;
        schema.read(file);
    }
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

}  // namespace

TEST_CASE("a case file sets what it says, and the rest keeps its default") {
    Fixture f;
    f.read("solver = \"sample\"\nkind = 'warm'\n[grid]\ncells = [4, 5]\n[run]\nopen = true\n");
    CHECK(f.cells == std::vector<std::int64_t>{4, 5});
    CHECK(f.kind == "warm");
    CHECK(f.open);
    CHECK(f.length == 2);
    CHECK(f.count == 3);
    f.read("solver = \"sample\"\ngrid.cells = [1, 2, 3]\ngrid.length = 7\n");  // a whole number is a number
    CHECK(f.length == 7);
}

TEST_CASE("what a case cannot say is refused with file, line, key, what was given and what is allowed") {
    Fixture f;
    const std::string head = "solver = \"sample\"\n[grid]\ncells = [4, 5]\n";
    std::string text = f.refusal(head + "lenght = 1.0\n");
    CHECK(has(text, f.file.string() + ":4"));
    CHECK(has(text, "grid.lenght"));
    CHECK(has(text, "try: grid.length?"));

    text = f.refusal(head + "length = -1.5\n");
    CHECK(has(text, ":4"));
    CHECK(has(text, "given: -1.5"));
    CHECK(has(text, "> 0 (in m)"));

    CHECK(has(f.refusal(head + "length = \"long\"\n"), "allowed: number"));
    CHECK(has(f.refusal(head + "[run]\ncount = 11\n"), "1 to 10"));
    CHECK(has(f.refusal(head + "[run]\ncount = 1.5\n"), "whole number"));
    CHECK(has(f.refusal("kind = \"hot\"\n" + head), "one of \"cold\", \"warm\""));
    CHECK(has(f.refusal("solver = \"sample\"\n[grid]\ncells = [4]\n"), "2 to 3 entries"));
    CHECK(has(f.refusal("solver = \"sample\"\n[grid]\ncells = [4, 0]\n"), ">= 1"));
    CHECK(has(f.refusal(head + "[walls]\nleft = 1\n"), "walls"));

    text = f.refusal("solver = \"sample\"\n");
    CHECK(has(text, "a key is missing"));
    CHECK(has(text, "grid.cells"));
    CHECK(has(f.refusal("solver = \"other\"\n"), "allowed: solver = \"sample\""));
    CHECK(has(f.refusal("solver = \"sample\"\n[grid\n"), ":2"));
}

TEST_CASE("a number that was given is told as it was written") {
    Fixture f;
    const std::string head = "solver = \"sample\"\n[grid]\ncells = [4, 5]\n";
    for (const std::string number : {"0.9", "-0.1", "1e-07", "1.0", "-3.0", "1e+300", "inf", "7"}) {
        CAPTURE(number);
        CHECK(has(f.refusal(head + "lenght = " + number + "\n"), "given: " + number + "\n"));
        CHECK(has(f.refusal("kind = " + number + "\n" + head), "given: " + number + "\n"));
    }
    CHECK(has(f.refusal("solver = \"sample\"\n[grid]\ncells = [0.9, 2.0, \"a\"]\n"),
              "given: [ 0.9, 2.0, 'a' ]\n"));
}

TEST_CASE("a number of a case is finite") {
    Fixture f;
    const std::string head = "solver = \"sample\"\n[grid]\ncells = [4, 5]\n";
    for (const std::string number : {"inf", "+inf", "nan"}) {
        CAPTURE(number);
        CHECK(has(f.refusal(head + "length = " + number + "\n"), "allowed: a finite number, > 0 (in m)"));
    }
    CHECK_FALSE(has(f.refusal(head + "length = -1.0\n"), "finite"));
}

TEST_CASE("the help lists every key with unit, range, default and meaning") {
    const Fixture f;
    const std::string help = f.schema.help();
    for (const char* part : {"[grid]", "how long", "> 0 (in m)", "default 2", "required",
                             "\"cold\", \"warm\"", "1 to 10", "default false"})
        CHECK(has(help, part));
}

TEST_CASE("tables that a case names itself have keys each, and refuse others") {
    struct Wall {
        std::string kind = "open";
        double heat = 0;
    };
    std::map<std::string, Wall> walls;
    Fixture f;
    f.schema.tables("wall", [&](CaseSchema& keys, const std::string& name) {
        Wall& wall = walls[name];
        keys.key("wall." + name + ".kind", &wall.kind, {.choices = {"open", "shut"}, .required = true});
        keys.key("wall." + name + ".heat", &wall.heat, {.unit = "K", .least = 0});
    });
    CHECK(has(f.schema.help(), "[wall.NAME]"));
    walls.clear();
    const std::string head = "solver = \"sample\"\n[grid]\ncells = [4, 5]\n";
    f.read(head + "[wall.left]\nkind = \"shut\"\n[wall.a]\nkind = \"open\"\nheat = 3\n");
    CHECK(walls.size() == 2);
    CHECK(walls.at("left").kind == "shut");
    CHECK(walls.at("a").heat == 3);
    CHECK(has(f.schema.decisive_text(), "wall.a.heat = 3\n"));
    CHECK(has(f.refusal(head + "[wall.left]\nkind = \"ajar\"\n"), "wall.left.kind"));
    CHECK(
        has(f.refusal(head + "[wall.a]\n[wall.left]\nkind = \"shut\"\nhaet = 1\n"), "try: wall.left.heat?"));
    CHECK(has(f.refusal(head + "[wall.a]\n"), "wall.a.kind"));
}

TEST_CASE("a key is told as the case file must spell it, in quotes where it cannot be bare") {
    CHECK(key_text("j-min_2") == "j-min_2");
    const std::map<std::string, std::string> quoted = {{"1:j-min", R"("1:j-min")"},
                                                       {"", R"("")"},
                                                       {"a.b", R"("a.b")"},
                                                       {R"(a "b"\)", R"("a \"b\"\\")"},
                                                       {"one\ntwo", R"("one\u000atwo")"},
                                                       {"\xc3\xa9", "\"\xc3\xa9\""}};
    for (const auto& [part, text] : quoted) CHECK(key_text(part) == text);
    std::map<std::string, double> heat;
    Fixture f;
    f.schema.tables("wall", [&](CaseSchema& keys, const std::string& name) {
        keys.key("wall." + name + ".heat", &heat[name], {.least = 0});
    });
    const std::string head = "solver = \"sample\"\n[grid]\ncells = [4, 5]\n";
    std::string text = f.refusal(head + "[wall.'1:j-min']\nheat = -1\n");
    CHECK(has(text, ":5 wall.\"1:j-min\".heat\n"));
    text = f.refusal(head + "[wall.'1:j-min']\nhaet = 1\n");
    CHECK(has(text, ":5 wall.\"1:j-min\".haet\n"));
    CHECK(has(text, "run.open, wall.\"1:j-min\".heat\n"));
    CHECK(has(text, "try: wall.\"1:j-min\".heat?"));
    // A name may have dots, and then another one may be a part of it.
    text = f.refusal(head + "[wall.a]\nheat = 1\n[wall.'a.b']\nheat = -1\n");
    CHECK(has(text, ":7 wall.\"a.b\".heat\n"));
    CHECK(has(f.refusal(head + "[wall]\n'a key' = 1\n"), ":5 wall.\"a key\"\n"));
    f.read(head + "[wall.a]\nheat = 1\n[wall.'a.b']\nheat = 2\n[wall.'1:j-min']\nheat = 3\n");
    CHECK(has(f.schema.help(), "[wall.\"1:j-min\"]"));
    // What the bits of a checkpoint and a result say stays as it was.
    CHECK(has(f.schema.decisive_text(), "wall.1:j-min.heat = 3\n"));
    const auto refusal = [&](const auto& refuses) -> std::string {
        try {
            refuses();
        } catch (const Error& error) {
            return error.text();
        }
        return "";
    };
    CHECK(has(refusal([&] { f.schema.refuse("wall.a.b.heat", "no", "0"); }), ":7 wall.\"a.b\".heat\n"));
    text = refusal([&] {
        f.schema.expect_restart({{"wall.1:j-min.heat", "7"}, {"wall.2:i-max.heat", "5"}},
                                "checkpoint-000004");
    });
    CHECK(has(text, "wall.\"1:j-min\".heat (line 9) is 3, in the checkpoint 7;"));
    CHECK(has(text, "wall.\"2:i-max\".heat is not there, in the checkpoint 5;"));
}

TEST_CASE("the hash of a case changes with what decides its values, and with nothing else") {
    Fixture f;
    const std::string head = "solver = \"sample\"\n[grid]\ncells = [4, 5]\n";
    f.read(head);
    const std::string hash = f.schema.hash();
    f.read(head + "# a remark\n[run]\ncount = 9\n");
    CHECK(f.schema.hash() == hash);
    f.read(head + "length = 3\n");
    CHECK(f.schema.hash() != hash);
}

TEST_CASE("a restart may change what ends a run and what is written, and is told of all else") {
    struct Values {
        double end = 1, heat = 1;
        std::string flow = "even", named = "a";
    } v;
    CaseSchema schema("sample", "a sample");
    schema.key("flow", &v.flow, {.choices = {"even", "vortex"}});
    schema.key("heat", &v.heat, {});
    schema.key("end", &v.end, {.restart = Restart::end, .same_with = {"flow", {"vortex"}}});
    schema.key("named", &v.named, {.restart = Restart::any});
    const auto refusal = [&](const CaseSchema::Values& then) -> std::string {
        try {
            schema.expect_restart(then, "run/checkpoint-000004");
        } catch (const Error& error) {
            return error.text();
        }
        return "";
    };
    schema.read_text("solver = \"sample\"\n", "first.toml");
    const CaseSchema::Values then = schema.values_for_restart();
    CHECK(then == CaseSchema::Values{{"flow", "\"even\""}, {"heat", "1"}, {"end", "1"}});
    schema.read_text("solver = \"sample\"\nend = 2\nnamed = \"b\"\n", "then.toml");
    CHECK(refusal(then).empty());
    CHECK_FALSE(schema.same_end(then));
    schema.read_text("solver = \"sample\"\nend = 1\nheat = 3\n", "then.toml");
    CHECK(schema.same_end(then));
    std::string said = refusal(then);
    CHECK(has(said, "at: then.toml:3 heat\n"));
    CHECK(has(said, "heat (line 3) is 3, in the checkpoint 1; the checkpoint is run/checkpoint-000004"));
    CHECK(has(said, "a restart may change end, named alone"));
    // With a vortex the end stays, too. A key that an earlier version did not know had its default then.
    schema.read_text("solver = \"sample\"\nend = 2\nheat = 1\nflow = \"vortex\"\n", "then.toml");
    said = refusal({{"flow", "\"vortex\""}, {"end", "1"}});
    CHECK(has(said, "end (line 2) is 2, in the checkpoint 1;"));
    CHECK_FALSE(has(said, "heat (line"));
    said = refusal({{"flow", "\"vortex\""}, {"end", "2"}, {"cold", "7"}});
    CHECK(has(said, "cold is not there, in the checkpoint 7;"));
    for (const char* part :
         {"; a restart may change it, unless flow is vortex\n", "default \"a\"; a restart may change it\n"})
        CHECK(has(schema.help(), part));
}

TEST_CASE("a key of a hundred thousand parts is one error, not the end of the stack") {
    Fixture f;
    std::string key = "a";
    for (int i = 0; i < 100'000; ++i) key += ".a";
    for (const std::string& text :
         {key + " = 1\n", "[" + key + "]\n", "grid = {" + key + " = 1}\n", "\"a.b\" . " + key + " = 1\n"}) {
        const std::string said = f.refusal("solver = \"sample\"\n" + text);
        CHECK(has(said, "too many parts"));
        CHECK(has(said, f.file.string() + ":2"));
    }
    // Dots elsewhere are none of keys.
    std::string dots(500, '.');
    f.read("solver = \"sample\" # " + dots + "\ngrid.cells = [4, 5]\ngrid.length = 1.5 # " + dots + "\n");
    CHECK(f.length == 1.5);
}

TEST_CASE("a case file that is longer than any case is refused before it is parsed") {
    Fixture f;
    const std::string said =
        f.refusal("solver = \"sample\"\ngrid.cells = [4, 5]\n" + std::string(2'000'000, '#') + "\n");
    CHECK(has(said, "longer than any case"));
    CHECK(has(said, f.file.string()));
}

TEST_CASE("what the parser of TOML does not survive is one error") {
    Fixture f;
    // A key that begins behind a broken header.
    CHECK_FALSE(f.refusal("solver = \"sample\"\nkind = 'warm'\n[grid]\ncells = [4, 5] # two\nlength = 2.5e0\n"
                          "low = [0.5, -1]\n[ run]Acount = 0x5\nopen = true\n[s = [\"i-min\"]\nspeed = 1\n"
                          "[ A smooth profile ced = -inf\n")
                    .empty());
    const std::string said = f.refusal("solver = \"sample\"\nk\xc6\x94nd = 1\n");
    CHECK(has(said, "beyond ASCII outside of quotes"));
    CHECK(has(said, f.file.string() + ":2"));
    CHECK(has(f.refusal("solver = \"sample\"\nkind = \"\"\"\\\n7\\\xef\xbd\xbd\"\"\"\n"),
              "behind a backslash"));
    CHECK(has(f.refusal("solver = \"sample\"\nspeed = +++\"warm\xef\xbb\xb7\n"), "this is no TOML"));
    // In quotes, over several lines, and in comments they are allowed.
    f.read(
        "\xEF\xBB\xBFsolver = \"sample\" # \u00e9\nkind = \"\"\"\\\n  warm\"\"\"\n'grid'.cells = [4, 5]\n");
    CHECK(f.kind == "warm");
    CHECK(has(f.refusal("solver = \"sample\"\nkind = '''\n\u00e9'''\ngrid.cells = [4, 5]\n"), "one of"));
}
