#include "core/run/output/field_names.hpp"

#include <fmt/format.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/json.hpp"
#include "core/base/json_value.hpp"
#include "core/run/output/fields.hpp"

namespace strata::graph {

namespace fs = std::filesystem;

namespace {

using Listed = std::vector<std::pair<std::string, double>>;  // file, time

Listed read_list(const fs::path& series) {
    Listed files;
    if (!fs::exists(series)) return files;
    std::ifstream in(series, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    const JsonValue document = JsonValue::parse(text, series.string());
    for (const JsonValue& file : document.member("files").items())
        files.emplace_back(file.member("name").string(), file.member("time").number());
    return files;
}

void write_list(const fs::path& series, const Listed& files) {
    const fs::path partial = partial_field_file(series);
    std::ofstream out(partial, std::ios::binary | std::ios::trunc);
    Json j(out);
    j.object().member("file-series-version", "1.0").key("files").array();
    for (const auto& [name, at] : files) j.object().member("name", name).member("time", at).end();
    j.end().end();
    out.close();
    if (!out)
        throw Error("the list of field files could not be written", kFailure)
            .at(series.string())
            .remedy("is there room on the disk?");
    fs::rename(partial, series);
}

}  // namespace

fs::path partial_field_file(const fs::path& path) {
    return path.parent_path() / fmt::format(".{}.partial", path.filename().string());
}

void FieldFile::abandon(const fs::path& path) noexcept {
    std::error_code none;
    fs::remove(partial_field_file(path), none);
}

void FieldFile::sweep(const fs::path& folder) noexcept {
    std::error_code none;
    std::vector<fs::path> left;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, none)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with('.') && (name.ends_with(".vtkhdf.partial") || name.ends_with(".series.partial")))
            left.push_back(entry.path());
    }
    for (const fs::path& path : left) fs::remove(path, none);
}

void FieldFile::finish(const fs::path& path, const fs::path& series, double time) {
    fs::rename(partial_field_file(path), path);
    if (series.empty()) return;
    Listed files = read_list(series);
    std::erase_if(files, [&](const auto& file) { return file.second >= time; });
    files.emplace_back(path.filename().string(), time);
    write_list(series, files);
}

void forget_later_fields(const fs::path& series, double time) {
    Listed files = read_list(series);
    if (std::erase_if(files, [&](const auto& file) { return file.second > time; }) > 0)
        write_list(series, files);
}

std::vector<std::string> listed_fields(const fs::path& series) {
    std::vector<std::string> names;
    for (const auto& [name, time] : read_list(series)) names.push_back(name);
    return names;
}

}  // namespace strata::graph
