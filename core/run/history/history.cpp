#include "core/run/history/history.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>

#include "core/base/error.hpp"
#include "core/base/json.hpp"
#include "core/base/json_value.hpp"

namespace strata::graph {

namespace fs = std::filesystem;

namespace {

constexpr const char* kName = "history.jsonl";
constexpr const char* kFormat = "strata.history/1";

template <class Describe>
std::string event(const char* name, Describe describe) {
    std::ostringstream out;
    Json j(out);
    j.object().member("event", name);
    describe(j);
    j.end();
    return out.str();  // with a line end
}

std::string text_of(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

RunLeg leg_from(const JsonValue& line) {
    RunLeg leg;
    const auto text = [&](const char* name) { return line.member(name).string(); };
    leg.step = line.member("step").integer();
    leg.checkpoint = text("checkpoint");
    leg.solver = text("solver");
    leg.program = text("program");
    leg.case_file = text("case");
    leg.case_text = text("case_text");
    leg.case_hash = text("case_hash");
    leg.folder = text("folder");
    leg.processes = static_cast<int>(line.member("processes").integer());
    leg.threads = static_cast<int>(line.member("threads").integer());
    leg.identity.processor = text("processor");
    leg.identity.kind = text("processor_kind");
    for (const JsonValue& file : line.member("files").items())
        leg.identity.files.push_back({file.member("name").string(), file.member("mark").string()});
    return leg;
}

/// Forgets what a restart undoes. A state of another folder has nothing before it here.
void go_back(RunRecord& record, const RunLeg& leg, const fs::path& folder) {
    const bool here = !leg.checkpoint.empty() &&
                      fs::weakly_canonical(leg.checkpoint).parent_path() == fs::weakly_canonical(folder);
    record.ended = -1;
    std::erase_if(record.legs, [&](const RunLeg& other) { return !here || other.step >= leg.step; });
    std::erase_if(record.steered, [&](const auto& s) { return !here || s.before_step > leg.step; });
    std::erase_if(record.checkpoints, [&](std::int64_t c) { return !here || c > leg.step; });
}

}  // namespace

History::History(const fs::path& folder) : path_(folder / kName) {
    file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file_ < 0) throw system_error("the run's history cannot be written", errno).at(path_.string());
    const std::string before = text_of(path_);
    const std::size_t whole = before.rfind('\n') + 1;  // 0 where there is no line end
    if (whole < before.size() && ::ftruncate(file_, static_cast<off_t>(whole)) != 0)
        throw system_error("the run's history cannot be written", errno).at(path_.string());
}

History::~History() { ::close(file_); }

void History::write(std::string line) {
    ssize_t written = 0;
    do written = ::write(file_, line.data(), line.size());
    while (written < 0 && errno == EINTR);
    if (written != static_cast<ssize_t>(line.size()))
        throw system_error("the run's history cannot be written", written < 0 ? errno : ENOSPC)
            .at(path_.string());
}

void History::began(const RunLeg& leg) {
    write(event("began", [&](Json& j) {
        j.member("format", kFormat).member("step", leg.step).member("checkpoint", leg.checkpoint);
        j.member("solver", leg.solver).member("program", leg.program).member("folder", leg.folder);
        j.member("processes", leg.processes).member("threads", leg.threads);
        j.member("processor", leg.identity.processor).member("processor_kind", leg.identity.kind);
        j.key("files").array();
        for (const Identity::File& file : leg.identity.files)
            j.object().member("name", file.name).member("mark", file.mark).end();
        j.end().member("case", leg.case_file).member("case_hash", leg.case_hash);
        j.member("case_text", leg.case_text);
    }));
}

void History::steered(std::int64_t before_step, const SteeredValues& values) {
    write(event("steered", [&](Json& j) {
        j.member("before_step", before_step).key("values").object();
        for (const auto& [name, value] : values) j.member(name, value);
        j.end();
    }));
}

void History::saved(std::int64_t step, double seconds) {
    write(event("checkpoint", [&](Json& j) { j.member("step", step).member("seconds", seconds); }));
}

void History::ended(std::int64_t step, double seconds) {
    write(event("ended", [&](Json& j) { j.member("step", step).member("seconds", seconds); }));
}

const RunLeg& RunRecord::leg_of(std::int64_t step) const {
    const auto later = std::find_if(legs.begin() + 1, legs.end(), [&](const RunLeg& leg) {
        return leg.step >= std::max<std::int64_t>(step, 1);
    });
    return *(later - 1);
}

RunRecord read_history(const fs::path& folder) {
    const fs::path file = folder / kName;
    if (!fs::is_regular_file(file))
        throw Error(fs::is_directory(folder) ? "this folder holds no history of a run"
                                             : "there is no such folder")
            .at(folder.string())
            .allowed(
                fmt::format("the folder of a run, with {}: strata run CASE --out FOLDER writes it", kName))
            .remedy("runs of earlier versions have none; run the case once more");
    const std::string text = text_of(file);
    RunRecord record;
    int number = 1;
    for (std::size_t from = 0, end = 0; (end = text.find('\n', from)) != std::string::npos;
         from = end + 1, ++number) {
        const JsonValue line = JsonValue::parse(std::string_view(text).substr(from, end - from),
                                                fmt::format("{}, line {}", file.string(), number));
        const std::string& what = line.member("event").string();
        if (what == "began") {
            if (line.member("format").string() != kFormat)
                throw Error("the run's history has a form that this version does not read")
                    .at(file.string(), number)
                    .given(line.member("format").string())
                    .allowed(kFormat);
            const RunLeg leg = leg_from(line);
            go_back(record, leg, folder);
            record.legs.push_back(leg);
            record.steps_per_second = 0;
            continue;
        }
        if (record.legs.empty()) throw Error("the run's history has no beginning").at(file.string(), number);
        if (what == "steered") {
            record.steered.push_back({line.member("before_step").integer(), {}});
            for (const auto& [name, value] : line.member("values").members())
                record.steered.back().values.emplace_back(name, value.number());
            continue;
        }
        if (what != "checkpoint" && what != "ended") continue;  // of a later version
        const std::int64_t step = line.member("step").integer();
        const double seconds = line.member("seconds").number();
        if (what == "ended")
            record.ended = step;
        else
            record.checkpoints.push_back(step);
        if (seconds > 0)
            record.steps_per_second = static_cast<double>(step - record.legs.back().step) / seconds;
    }
    if (record.legs.empty()) throw Error("the run's history is empty").at(file.string());
    return record;
}

}  // namespace strata::graph
