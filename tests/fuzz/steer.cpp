// Requests to a running simulation, a line each: every line has an answer that is JSON itself.
#include "core/base/json_value.hpp"
#include "core/run/steer/requests.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace strata::graph;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static Pace pace({100, 2.5, "s"});
    static bool begun = false;
    if (!begun) pace.at(3, 0.1, 1), pace.at(7, 0.2, 2), begun = true;
    SteeredRun run{"case", &pace, nullptr, {}, {}, {}, {}};
    run.values = [] { return std::vector<SteeringValue>{{"speed", "m/s", "of the inflow", 1, 0, 10}}; };
    run.set = [](const auto& wanted) {
        for (const auto& [name, value] : wanted)
            if (name != "speed" || !(value >= 0 && value <= 10)) std::abort();
        return 8;
    };
    run.checkpoint = run.stop = [] { return 9; };
    strata::fuzz::reads(data, size, [&](std::string_view text) {
        while (!text.empty()) {
            const std::size_t end = std::min(text.find('\n'), text.size());
            (void)strata::JsonValue::parse(answer(text.substr(0, end), run), "answer").member("ok").boolean();
            text.remove_prefix(std::min(end + 1, text.size()));
        }
    });
    return 0;
}
