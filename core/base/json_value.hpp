#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strata {

/// A JSON document that was read (RFC 8259). Members keep their order; numbers are kept as double and as they
/// were written, so that 64-bit integers lose nothing.
///   const JsonValue v = JsonValue::parse(text, "index.json");
///   v.member("step").integer();
class JsonValue {
  public:
    enum class Type { null, boolean, number, string, array, object };

    /// What a text of strangers may have at most, beside one for each 64 characters: a value takes up to a
    /// hundred times the memory of its text.
    static constexpr std::size_t kMostValues = 200'000;

    /// Throws Error with the line where the text is not JSON, is nested more than 64 deep, or has a number
    /// that a double cannot hold or more values than `most` and one for each 64 characters; `file` is named
    /// in it, and in the errors below.
    [[nodiscard]] static JsonValue parse(std::string_view text, const std::string& file,
                                         std::size_t most = kMostValues);

    [[nodiscard]] Type type() const { return type_; }
    /// Each throws Error where the value is of another type (integer: or has a fraction, or is out of range).
    [[nodiscard]] bool boolean() const;
    [[nodiscard]] double number() const;
    [[nodiscard]] long long integer() const;
    [[nodiscard]] const std::string& string() const;
    [[nodiscard]] const std::vector<JsonValue>& items() const;
    [[nodiscard]] const std::vector<std::pair<std::string, JsonValue>>& members() const;

    /// The member of an object: throws Error where there is none; find() gives nullptr.
    [[nodiscard]] const JsonValue& member(std::string_view name) const;
    [[nodiscard]] const JsonValue* find(std::string_view name) const;

  private:
    friend class JsonReader;
    const JsonValue& expect(Type type, const char* what) const;
    [[nodiscard]] std::string where() const { return where_ ? *where_ : ""; }

    Type type_ = Type::null;
    bool truth_ = false;
    double number_ = 0;
    std::string text_;  // of a string, or a number as it was written
    std::vector<JsonValue> items_;
    std::vector<std::pair<std::string, JsonValue>> members_;
    std::shared_ptr<const std::string> where_;  // file, for errors: one for all values
};

}  // namespace strata
