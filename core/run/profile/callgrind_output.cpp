#include <cstdlib>
#include <sstream>

#include "core/base/error.hpp"
#include "core/run/profile/simulated.hpp"

namespace strata::graph {

namespace {

bool begins(const std::string& line, const char* word, std::string& rest) {
    const std::string_view key(word);
    if (line.compare(0, key.size(), key) != 0) return false;
    rest = line.substr(key.size());
    return true;
}

}  // namespace

CallgrindOutput read_callgrind(const std::string& text, const std::string& marker) {
    CallgrindOutput output;
    std::istringstream lines(text), words;
    std::string line, rest, callee;
    std::int64_t calls = 0;
    std::size_t positions = 1;
    bool cost_comes = false;
    while (std::getline(lines, line)) {
        if (cost_comes) {  // POSITION COST COST ...; zeros at the end are left out
            cost_comes = false;
            if (callee.find(marker) == std::string::npos) continue;
            CallgrindOutput::Cost& cost = output.called[callee];
            cost.calls += calls;
            cost.events.resize(output.events.size());
            words = std::istringstream(line);
            for (std::size_t i = 0; i < positions; ++i) words >> rest;
            double value = 0;
            for (std::size_t e = 0; e < cost.events.size() && words >> value; ++e) cost.events[e] += value;
        } else if (begins(line, "cfn=", rest)) {
            callee = rest;
        } else if (begins(line, "calls=", rest)) {
            calls = std::atoll(rest.c_str());
            cost_comes = true;
        } else if (begins(line, "creator: ", rest)) {
            output.creator = rest;
        } else if (begins(line, "desc: ", rest) && rest.find(" cache: ") != std::string::npos) {
            if (output.caches.size() < 3) output.caches.push_back(rest);
        } else if (begins(line, "positions: ", rest)) {
            positions = 0;
            for (words = std::istringstream(rest); words >> rest;) ++positions;
        } else if (begins(line, "events: ", rest) && output.events.empty()) {
            for (words = std::istringstream(rest); words >> rest;) output.events.push_back(rest);
        }
    }
    if (output.creator.compare(0, 9, "callgrind") != 0 || output.events.empty())
        throw Error("callgrind left nothing that can be read", kFailure)
            .given(output.creator.empty() ? "no creator" : output.creator)
            .allowed("the profile format of callgrind, version 1");
    return output;
}

}  // namespace strata::graph
