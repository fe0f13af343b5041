// Keys as a case file spells them.
#pragma once

#include <string>
#include <string_view>

namespace strata::graph {

/// One part of a key as TOML has it: bare where all characters are letters and digits of ASCII, '-' and '_',
/// else in quotes. `wall`, but `"1:j-min"`.
[[nodiscard]] std::string key_text(std::string_view part);

/// A key whose parts are joined by dots, each as key_text() has it: `boundary."1:j-min".kind` of
/// "boundary.1:j-min.kind". Of parts with dots in them it cannot know; CaseSchema::spelled() does.
[[nodiscard]] std::string key_path_text(std::string_view name);

}  // namespace strata::graph
