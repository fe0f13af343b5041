#include "core/team/notes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>

#include "core/base/reason.hpp"
#include "core/team/failure.hpp"

namespace strata::team {
namespace {

template <std::size_t room>
void copy(char (&to)[room], std::string_view from) noexcept {
    const std::size_t length = std::min(from.size(), room - 1);
    std::memcpy(to, from.data(), length);
    to[length] = '\0';
}

}  // namespace

void Note::leave(std::string_view text, std::string_view details, bool own) noexcept {
    if (left_.exchange(1) != 0) return;
    own_ = own ? 1 : 0;
    copy(details_, details);
    copy(text_, text);
}

Reason reason_of(std::string_view words) {
    Reason reason;
    const std::size_t end = std::min(words.find('\n'), words.size());
    reason.text = words.substr(0, end);
    if (end < words.size()) reason.details = words.substr(end + 1);
    if (!reason.details.empty() && reason.details.back() != '\n') reason.details += '\n';
    return reason;
}

Reason reason_of_exception() {
    Reason reason;
    try {
        throw;
    } catch (const MemberLost& lost) {
        reason = reason_of(lost.what());
        reason.lost = true;
    } catch (const Error& error) {
        constexpr std::string_view mark = "strata: error: ";
        reason = reason_of(std::string_view(error.text()).substr(mark.size()));
        reason.status = error.exit_code();
    } catch (const std::exception& exception) {
        reason = reason_of(strata::reason_of(exception));
    } catch (...) {
        reason = reason_of("an exception of unknown type");
    }
    return reason;
}

void say_ended(int member, int pid, const std::string& how, const Note* note, bool ends_run) {
    std::string details = note == nullptr ? "" : note->details();
    if (!details.empty() && details.back() != '\n') details += "...\n";  // cut
    fmt::print(stderr, "strata: error: member {}{} {}{}\n{}", member,
               pid > 0 ? fmt::format(" (process {})", pid) : "", how, ends_run ? "; the run ends" : "",
               details);
}

bool says_more(const Note* note, const std::string& said) {
    constexpr std::size_t compared = 200;  // the text told to other members is cut
    return note != nullptr && note->own() && note->text()[0] != '\0' &&
           said.find(std::string(note->text()).substr(0, compared)) == std::string::npos;
}

}  // namespace strata::team
