#include "core/run/checkpoint/head.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <limits>
#include <span>
#include <sstream>

#include "core/base/crc32c.hpp"
#include "core/base/error.hpp"
#include "core/base/json.hpp"
#include "core/base/json_value.hpp"
#include "core/base/text.hpp"

namespace strata::graph {

namespace fs = std::filesystem;

namespace {

constexpr std::array<const char*, 2> kFormats = {"strata.checkpoint/1", "strata.checkpoint/2"};
constexpr std::array<const char*, 6> kElements = {"f64", "f32", "i64", "i32", "u8", "bytes"};
constexpr const char* kEarlier = "start from an earlier checkpoint, or copy this one again";
constexpr std::string_view kPrefix = "checkpoint-";
constexpr std::string_view kSeal = ",\n\"crc32c\":\"";

std::string json(const auto& describe) {
    std::ostringstream out;
    Json writer(out);
    describe(writer);
    std::string text = out.str();
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
}

/// A list of objects, one a line, for human readers.
std::string lines(const auto& list, const auto& describe) {
    std::string text = "[";
    const char* before = "\n  ";
    for (const auto& item : list) {
        text += before + json([&](Json& j) {
                    j.object();
                    describe(j, item);
                    j.end();
                });
        before = ",\n  ";
    }
    return text + "]";
}

std::uint32_t checksum(std::string_view text) { return crc32c(std::as_bytes(std::span(text))); }

constexpr std::int64_t kMostOfAValue = 1 << 30;  // bytes, components, generations

/// A whole number of the head that must lie within a range. A checksum says that a file is as it was written,
/// not that Strata wrote it.
std::int64_t within(const JsonValue& object, const char* name, std::int64_t least, std::int64_t most,
                    const std::string& file) {
    const std::int64_t value = object.member(name).integer();
    if (value >= least && value <= most) return value;
    throw Error("the checkpoint's head says what cannot be")
        .at(file, 0, name)
        .given(fmt::format("{}", value))
        .allowed(fmt::format("{} to {}", least, most))
        .remedy(kEarlier);
}

}  // namespace

const char* name_of(Element element) { return kElements.at(static_cast<std::size_t>(element)); }

Element element_named(const std::string& name, const std::string& file) {
    const auto* found = std::find(kElements.begin(), kElements.end(), name);
    if (found == kElements.end())
        throw Error("an unknown type of values")
            .at(file)
            .given(name)
            .allowed("f64, f32, i64, i32, u8, bytes")
            .remedy("it may be one of a later version of Strata: restart with that one");
    return static_cast<Element>(found - kElements.begin());
}

const std::string* CheckpointHead::key(const std::string& name) const {
    for (const auto& [key, value] : keys)
        if (key == name) return &value;
    return nullptr;
}

const std::vector<double>* CheckpointHead::fact(const std::string& name) const {
    for (const auto& [fact, values] : facts)
        if (fact == name) return &values;
    return nullptr;
}

int CheckpointHead::label(const std::string& name) const {
    for (std::size_t i = 0; i < labels.size(); ++i)
        if (labels[i].name == name) return static_cast<int>(i);
    std::vector<std::string> names;
    for (const Label& label : labels) names.push_back(label.name);
    throw Error("the checkpoint has no such label")
        .given(name)
        .allowed(fmt::format("{}", fmt::join(names, ", ")));
}

fs::path checkpoint_path(const fs::path& folder, std::int64_t step) {
    return folder / fmt::format("{}{:06}", kPrefix, step);
}

fs::path partial_path(const fs::path& folder, std::int64_t step) {
    return folder / fmt::format(".{}{:06}.partial", kPrefix, step);
}

std::string part_name(int part, const char* what) { return fmt::format("part-{:04}.{}", part, what); }

std::vector<std::int64_t> checkpoint_steps(const fs::path& folder) {
    std::vector<std::int64_t> steps;
    std::error_code none;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, none)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with(kPrefix)) continue;
        const auto step = parse_number<std::int64_t>(std::string_view(name).substr(kPrefix.size()));
        if (step && fs::exists(entry.path() / "checkpoint.json", none)) steps.push_back(*step);
    }
    std::sort(steps.begin(), steps.end());
    return steps;
}

std::string head_text(const CheckpointHead& head, int parts) {
    const auto member = [](const char* name, const auto& value) {
        return json([&](Json& j) { j.object().member(name, value).end(); });
    };
    const auto bare = [&](const char* name, const auto& value) {
        std::string text = member(name, value);
        return text.substr(1, text.size() - 2) + ",\n";
    };
    std::string text = "{\n" + bare("format", kFormats.back()) + bare("case", head.case_name) +
                       bare("case_hash", head.case_hash) + bare("step", head.step) + bare("time", head.time) +
                       bare("parts", parts) + bare("ended", head.ended);
    text += "\"keys\":" + lines(head.keys, [](Json& j, const auto& key) {
                j.member("name", key.first).member("value", key.second);
            });
    text += ",\n\"facts\":" +
            lines(head.facts,
                  [](Json& j, const auto& fact) {
                      j.member("name", fact.first).key("values").array();
                      for (const double value : fact.second) j.value(value);
                      j.end();
                  }) +
            ",\n";
    text += "\"families\":" + lines(head.families, [](Json& j, const CheckpointHead::Family& family) {
                j.member("name", family.name).member("patches", family.patches);
            });
    text += ",\n\"labels\":" + lines(head.labels, [](Json& j, const CheckpointHead::Label& label) {
                j.member("name", label.name).member("family", label.family);
                j.member("element", name_of(label.element)).member("bytes", label.bytes);
                j.member("components", label.components).member("generations", label.generations);
            });
    text += ",\n\"parameters\":" + lines(head.parameters, [](Json& j, const auto& parameter) {
                j.member("name", parameter.first).member("value", parameter.second);
            });
    return text + std::string(kSeal) + fmt::format("{:08x}\"}}\n", checksum(text));
}

CheckpointHead read_head(const fs::path& file, int& parts) {
    std::ifstream in(file, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    if (!in) throw system_error("a checkpoint's head cannot be read", errno).at(file.string());
    const std::string name = file.string();
    const JsonValue document = JsonValue::parse(text, name);
    const JsonValue* said = document.type() == JsonValue::Type::object ? document.find("format") : nullptr;
    const std::string format =
        said != nullptr && said->type() == JsonValue::Type::string ? said->string() : "no key format";
    const auto* known = std::find(kFormats.begin(), kFormats.end(), format);
    if (known == kFormats.end())
        throw Error("this is not a checkpoint that this version reads")
            .at(name)
            .given(format)
            .allowed(fmt::format("{}", fmt::join(kFormats, ", ")))
            .remedy("restart with the version of Strata that wrote it");
    const auto seal = text.rfind(kSeal);
    if (seal == std::string::npos ||
        document.member("crc32c").string() !=
            fmt::format("{:08x}", checksum(std::string_view(text).substr(0, seal))))
        throw Error("the checkpoint's head is damaged: its checksum does not fit").at(name).remedy(kEarlier);

    CheckpointHead head;
    head.format = 1 + static_cast<int>(known - kFormats.begin());
    head.case_name = document.member("case").string();
    head.case_hash = document.member("case_hash").string();
    head.step = within(document, "step", 0, std::numeric_limits<std::int64_t>::max(), name);
    head.time = document.member("time").number();
    // Earlier versions had none of these three.
    if (const JsonValue* ended = document.find("ended")) head.ended = ended->boolean();
    if (const JsonValue* keys = document.find("keys"))
        for (const JsonValue& key : keys->items())
            head.keys.emplace_back(key.member("name").string(), key.member("value").string());
    if (const JsonValue* facts = document.find("facts"))
        for (const JsonValue& fact : facts->items()) {
            head.facts.emplace_back(fact.member("name").string(), std::vector<double>());
            for (const JsonValue& value : fact.member("values").items())
                head.facts.back().second.push_back(value.number());
        }
    constexpr std::int64_t most = std::numeric_limits<int>::max();
    parts = static_cast<int>(within(document, "parts", 0, most, name));
    for (const JsonValue& family : document.member("families").items())
        head.families.push_back(
            {family.member("name").string(), static_cast<int>(within(family, "patches", 0, most, name))});
    for (const JsonValue& label : document.member("labels").items())
        head.labels.push_back({label.member("name").string(), label.member("family").string(),
                               element_named(label.member("element").string(), name),
                               static_cast<std::size_t>(within(label, "bytes", 0, kMostOfAValue, name)),
                               static_cast<int>(within(label, "components", 0, kMostOfAValue, name)),
                               static_cast<int>(within(label, "generations", 0, kMostOfAValue, name))});
    for (const JsonValue& parameter : document.member("parameters").items())
        head.parameters.emplace_back(parameter.member("name").string(), parameter.member("value").number());
    return head;
}

}  // namespace strata::graph
