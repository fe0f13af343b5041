// JSON documents: what is read is walked through, and asked for every type.
#include "core/base/json_value.hpp"

#include "tests/fuzz/fuzz.hpp"

using strata::JsonValue;

namespace {

void walk(const JsonValue& value) {
    try {
        (void)value.integer();
    } catch (const strata::Error&) {
    }
    switch (value.type()) {
        case JsonValue::Type::number:
            (void)value.number();
            break;
        case JsonValue::Type::boolean:
            (void)value.boolean();
            break;
        case JsonValue::Type::string:
            (void)value.string();
            break;
        case JsonValue::Type::array:
            for (const JsonValue& item : value.items()) walk(item);
            break;
        case JsonValue::Type::object:
            for (const auto& [name, member] : value.members()) walk(member);
            if (value.find("a") != nullptr) (void)value.member("a");
            (void)value.member("no such member");
            break;
        case JsonValue::Type::null:
            (void)value.string();
    }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    strata::fuzz::reads(data, size, [](std::string_view text) { walk(JsonValue::parse(text, "input")); });
    return 0;
}
