#include "core/run/steer/requests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "core/base/error.hpp"
#include "core/base/json.hpp"
#include "core/base/json_value.hpp"

namespace strata::graph {

namespace {

constexpr const char* kRequests =
    R"({"get":"status"|"parameters"|"series"}, {"set":{NAME:VALUE}}, {"do":"checkpoint"|"stop"})";

void put_status(Json& j, const SteeredRun& run) {
    if (run.pace == nullptr) throw Error("this run has no status yet");
    const Pace& pace = *run.pace;
    j.member("case", run.name).member("step", pace.step()).member("time", pace.time());
    j.member("time_unit", pace.end().time_unit);
    j.member("end_step", pace.end().step).member("end_time", pace.end().time);
    j.member("steps_per_second", pace.rate()).member("done", pace.done()).member("seconds_left", pace.left());
}

void put_parameters(Json& j, const SteeredRun& run) {
    j.key("parameters").array();
    if (run.values)
        for (const SteeringValue& v : run.values()) {
            j.object().member("name", v.name).member("value", v.value).member("unit", v.unit);
            j.member("least", v.least).member("most", v.most).member("about", v.about).end();
        }
    j.end();
}

void put_series(Json& j, const SteeredRun& run, const JsonValue& request) {
    if (run.series == nullptr) throw Error("this run has no time series");
    const JsonValue* last = request.find("last");
    const long long count = last == nullptr ? 10 : last->integer();
    if (count < 1 || count > static_cast<long long>(Series::kRemembered))
        throw Error("so many rows cannot be asked for")
            .given(fmt::format("{}", count))
            .allowed(fmt::format("1 to {}", Series::kRemembered));
    j.key("columns").array();
    for (const Series::Column& column : run.series->columns())
        j.object().member("name", column.name).member("unit", column.unit).end();
    j.end().key("rows").array();
    for (const Series::Row& row : run.series->last(static_cast<std::size_t>(count))) {
        j.object().member("step", row.step).member("time", row.time).key("values").array();
        for (const double value : row.values) j.value(value);
        j.end().end();
    }
    j.end();
}

void put_set(Json& j, const SteeredRun& run, const JsonValue& changes) {
    const std::vector<SteeringValue> known = run.values ? run.values() : std::vector<SteeringValue>{};
    if (!run.set || known.empty()) throw Error("this run has no parameters that can be changed");
    std::vector<std::pair<std::string, double>> wanted;
    for (const auto& [name, value] : changes.members()) {
        const auto same = [&name = name](const SteeringValue& v) { return v.name == name; };
        const auto found = std::find_if(known.begin(), known.end(), same);
        if (found == known.end()) {
            std::string names;
            for (const SteeringValue& v : known) names += (names.empty() ? "" : ", ") + v.name;
            throw Error("there is no such parameter").given(name).allowed(names);
        }
        const double number = value.number();
        if (!std::isfinite(number) || number < found->least || number > found->most)
            throw Error(fmt::format("'{}' cannot have this value", name))
                .given(fmt::format("{}", number))
                .allowed(fmt::format("{} to {}", found->least, found->most));
        wanted.emplace_back(name, number);
    }
    if (wanted.empty()) throw Error("nothing is to be changed").allowed(kRequests);
    j.member("before_step", run.set(wanted));
}

void put_answer(Json& j, std::string_view line, const SteeredRun& run) {
    const JsonValue request = JsonValue::parse(line, "request");
    if (request.type() != JsonValue::Type::object) throw Error("a request is an object").allowed(kRequests);
    const auto unknown = [](const std::string& given) {
        return Error("there is no such request").given(given).allowed(kRequests);
    };
    if (const JsonValue* get = request.find("get")) {
        const std::string& what = get->string();
        if (what == "status") return put_status(j, run);
        if (what == "parameters") return put_parameters(j, run);
        if (what == "series") return put_series(j, run, request);
        throw unknown(what);
    }
    if (const JsonValue* set = request.find("set")) return put_set(j, run, *set);
    if (const JsonValue* order = request.find("do")) {
        const std::string& what = order->string();
        if (what != "checkpoint" && what != "stop") throw unknown(what);
        const auto& call = what == "stop" ? run.stop : run.checkpoint;
        if (!call) throw Error(fmt::format("this run has no '{}'", what));
        j.member("after_step", call());
        return;
    }
    throw unknown(std::string(line.substr(0, 200)));
}

}  // namespace

std::string answer(std::string_view line, const SteeredRun& run) {
    std::ostringstream out;
    try {
        Json j(out);
        j.object().member("ok", true);
        put_answer(j, line, run);
        j.end();
    } catch (const Error& error) {
        out.str("");
        Json j(out);
        j.object().member("ok", false).member("error", error.message());
        if (!error.given().empty()) j.member("given", error.given());
        if (!error.allowed().empty()) j.member("allowed", error.allowed());
        j.end();
    }
    std::string text = out.str();
    text.pop_back();  // the line end
    return text;
}

}  // namespace strata::graph
