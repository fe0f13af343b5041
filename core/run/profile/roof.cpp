#include "core/run/profile/roof.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/json_value.hpp"

namespace strata::graph {

namespace fs = std::filesystem;

namespace {

/// "model name" of the first processor; "" where the system has no such line.
std::string processor() {
    std::ifstream in("/proc/cpuinfo");
    for (std::string line; std::getline(in, line);)
        if (line.starts_with("model name")) {
            const std::size_t at = line.find_first_not_of(" \t:", line.find(':'));
            return at == std::string::npos ? "" : line.substr(at);
        }
    return "";
}

bool of_this_machine(const JsonValue& machine) {
    std::array<char, 256> host{};
    if (gethostname(host.data(), host.size() - 1) != 0) return false;
    const std::string here = processor();
    const JsonValue* const model = machine.find("cpu_model");
    const bool known = !here.empty() && model != nullptr && model->type() == JsonValue::Type::string;
    return machine.member("hostname").string() == host.data() && (!known || model->string() == here);
}

/// "2x1": two cores.
int cores_of(const std::string& layout) {
    int processes = 0, threads = 0;
    char by = 0;
    std::istringstream in(layout);
    return in >> processes >> by >> threads && by == 'x' ? processes * threads : 0;
}

/// The figure of a task in Gflop/s or GB/s; 0 where it was not measured.
double figure(const JsonValue& task, const std::string& name, const std::string& unit) {
    for (const JsonValue& one : task.member("figures").items())
        if (one.member("name").string() == name && one.member("unit").string() == unit &&
            one.member("median").type() == JsonValue::Type::number)
            return one.member("median").number();
    return 0;
}

std::optional<Roof> roof_of(const JsonValue& summary, int threads) {
    if (summary.member("kind").string() != "characterize" || !of_this_machine(summary.member("machine")))
        return std::nullopt;
    Roof roof;
    roof.threads = threads;
    double of_as_many = 0, of_one = 0;
    for (const JsonValue& task : summary.member("tasks").items()) {
        const std::string& benchmark = task.member("benchmark").string();
        const int cores = cores_of(task.member("layout").string());
        if (cores < 1) continue;
        if (benchmark == "peak") {
            const double rate = figure(task, "peak", "GF/s");
            if (cores == threads) of_as_many = std::max(of_as_many, rate);
            of_one = std::max(of_one, rate / cores);
        }
        if (benchmark == "stream" && cores <= threads)
            roof.gbs = std::max(roof.gbs, figure(task, "triad", "GB/s"));
    }
    roof.gflops = of_as_many > 0 ? of_as_many : threads * of_one;
    return roof.gflops > 0 && roof.gbs > 0 ? std::optional(roof) : std::nullopt;
}

/// Whether a file is this user's or root's: what a stranger has put among the results bounds nothing, may
/// never end, and may keep its reader waiting.
bool is_own(const fs::path& file) {
    constexpr off_t most = 256 << 20;  // of a large machine it has very many values
    struct stat about {};
    return lstat(file.c_str(), &about) == 0 && S_ISREG(about.st_mode) && about.st_size <= most &&
           (about.st_uid == geteuid() || about.st_uid == 0);
}

}  // namespace

fs::path results_folder() {
    const char* const said = std::getenv("STRATA_RESULTS");
    return said != nullptr && *said != '\0' ? said : "strata-results";
}

std::optional<Roof> measured_roof(const fs::path& results, int threads) {
    std::error_code none;
    std::vector<std::pair<fs::file_time_type, fs::path>> found;
    for (const fs::directory_entry& entry : fs::directory_iterator(results, none)) {
        const fs::path summary = entry.path() / "summary.json";
        const fs::file_time_type time = fs::last_write_time(summary, none);
        if (!none && is_own(summary)) found.emplace_back(time, summary);
    }
    std::sort(found.rbegin(), found.rend());
    for (const auto& [time, file] : found) {
        std::ifstream in(file);
        std::ostringstream text;
        text << in.rdbuf();
        try {
            const std::string said = text.str();
            std::optional<Roof> roof = roof_of(JsonValue::parse(said, file.string(), said.size()), threads);
            if (!roof) continue;
            roof->source = file.parent_path().string();
            return roof;
        } catch (const Error&) {  // of another version, or half written: try the next
            continue;
        }
    }
    return std::nullopt;
}

}  // namespace strata::graph
