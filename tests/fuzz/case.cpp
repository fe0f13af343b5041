// Case files: TOML, read by a schema that has keys of every type.
#include "core/run/case/case.hpp"

#include <array>

#include "core/run/case/former.hpp"
#include "tests/fuzz/fuzz.hpp"

using strata::graph::CaseSchema;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const strata::fuzz::InputFile file;
    strata::fuzz::reads(data, size, [](std::string_view text) {
        struct {
            double length = 2, speed = 1;
            std::int64_t count = 3;
            bool open = false;
            std::string kind = "cold", name;
            std::vector<std::int64_t> cells;
            std::vector<double> low;
            std::vector<std::string> shown, faces;
        } s;
        CaseSchema schema("sample", "a sample");
        schema.key("kind", &s.kind, {.choices = {"cold", "warm"}}).key("name", &s.name, {});
        schema.key("grid.cells", &s.cells, {.least = 1, .entries = {2, 3}, .required = true});
        schema.key("grid.length", &s.length, {.unit = "m", .least = 0, .above_least = true});
        schema.key("grid.low", &s.low, {.least = -1, .most = 1});
        schema.key("run.count", &s.count, {.least = 1, .most = 10, .decides = false});
        schema.key("run.open", &s.open, {}).key("output.shown", &s.shown, {.entries = {1, 2000}});
        schema.tables("boundary", [&](CaseSchema& keys, const std::string& of) {
            keys.key("boundary." + of + ".faces", &s.faces, {});
            keys.key("boundary." + of + ".speed", &s.speed, {.most = 5});
        });
        struct Body {
            double radius = 0;
            std::array<double, 3> centre{};
        };
        std::vector<Body> bodies;
        std::vector<double> radii;
        schema.arrays("bodies", &bodies, [](const strata::graph::EntryKeys& entry, Body& body) {
            entry.key("radius", &body.radius, {.required = true}).key("centre", &body.centre, {});
        });
        schema.former({.declare = [&](CaseSchema& keys) { keys.key("bodies.radii", &radii, {}); },
                       .renew =
                           [&](const CaseSchema&) {
                               const std::string text = strata::graph::case_text(radii);
                               return std::vector<strata::graph::Renewed>{{"bodies", text}};
                           }});
        schema.read(file.holding(text));
        (void)schema.hash();
        (void)schema.values();
        (void)schema.help();
        schema.refuse("grid.cells", "it is read, and refused", "nothing");
    });
    return 0;
}
