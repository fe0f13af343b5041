// The programs of examples/graph: each compares its answer with the exact one and says by its status whether
// they are the same; here they run on several layouts.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include "tests/catch.hpp"
#include "tests/graph/temporary.hpp"
#include "tests/team/run.hpp"

using namespace strata::team::testing;
using strata::tests::TemporaryFolder;

namespace {

/// What one of them prints.
std::string output_of(const std::string& name, const std::string& layout_name) {
    const bool fits = layout_name == "1x1";
    const Done done = Run({}, layout(layout_name, fits), std::string(TEST_EXAMPLES) + "/" + name).wait();
    INFO(name << " on " << layout_name << ": " << done.out << done.err);
    REQUIRE(done.status == 0);
    REQUIRE(!done.out.empty());
    return done.out;
}

}  // namespace

TEST_CASE("the examples of the graph's concepts give the exact answer on every layout", "[native]") {
    std::istringstream names(TEST_EXAMPLE_NAMES);
    int count = 0;
    for (std::string name; names >> name; ++count) {
        const std::string alone = output_of(name, "1x1");
        for (const std::string more : {"2x1", "1x2", "3x1"}) CHECK(output_of(name, more) == alone);
    }
    CHECK(count >= 17);  // one more where solvers are built
}

TEST_CASE("a melt that was killed between two rebuilds goes on with the same bits, on other layouts",
          "[native]") {
    const auto melt = [](const std::string& folder, const std::string& step, const std::string& where) {
        return Run({folder, step}, layout(where), std::string(TEST_EXAMPLES) + "/lennard_jones").wait();
    };
    const auto bits = [](const Done& done) { return done.out.substr(done.out.find("bits"), 21); };
    const TemporaryFolder unharmed;
    const std::string alone = bits(melt(unharmed.path() / "melt", "0", "1x1"));
    for (const auto& [step, last] : {std::pair("33", "30"), std::pair("63", "60")}) {
        const TemporaryFolder folder;
        const std::string first = folder.path() / "melt";
        REQUIRE(has(melt(first, step, "2x1").err, "was killed by SIGKILL"));
        for (const std::string where : {"1x1", "1x2", "2x1"}) {
            const std::filesystem::path again = folder.path() / where;
            std::filesystem::copy(first, again, std::filesystem::copy_options::recursive);
            const Done done = melt(again, "0", where);
            CAPTURE(step, where, done.out, done.err);
            CHECK(done.status == 0);
            CHECK(bits(done) == alone);
            // From positions other than those of the last rebuild, and before the next, which is at half the
            // skin.
            const std::string from = std::string("; from step ") + last + ", when atoms had moved by ";
            REQUIRE(has(done.out, from));
            const double moved = std::stod(done.out.substr(done.out.find(from) + from.size()));
            CHECK((moved > 0.1 && moved < 0.5));
        }
    }
}

TEST_CASE("the page of the task graph shows what the examples of mistakes print", "[native]") {
    std::ostringstream page;
    page << std::ifstream(TEST_PAGE).rdbuf();
    for (const std::string name : {"refused", "stopped"}) {
        std::istringstream said(output_of(name, "1x1"));
        int errors = 0;
        for (std::string line, text; std::getline(said, line);) {
            text += line + "\n";
            if (!line.empty()) continue;
            CHECK(has(page.str(), "```text\n" + text.substr(0, text.size() - 1) + "```\n"));
            text.clear(), ++errors;
        }
        CHECK(errors == (name == "refused" ? 5 : 3));
    }
}
