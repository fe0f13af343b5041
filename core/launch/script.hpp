// A command that is a Python script, and whether it starts its processes itself.
#pragma once

#include <string>
#include <vector>

namespace strata::launch {

/// The Python script that a command runs, or "": `python3 [-u ...] FILE ...`, or a FILE whose first line
/// names a Python. `program`: the file of the command's first word.
[[nodiscard]] std::string python_script(const std::vector<std::string>& command, const std::string& program);

/// Whether a script starts its processes itself: it imports strata.graph.program, as a program does that
/// links strata::team. Statements at the beginning of a line count, in the first MiB.
[[nodiscard]] bool drives_a_team(const std::string& script);

}  // namespace strata::launch
