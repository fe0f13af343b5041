// The pages of a program's text and of its libraries': which memory they lie in, and bringing them elsewhere.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace strata::launch {

/// The treatment of text pages before the start. They are the page cache's, one copy for all processes, and
/// lie in the domain of whoever read the file first.
enum class Text { as_is, local, interleave };
/// Reads "as-is", "local" or "interleave". Throws Error.
Text parse_text(const std::string& text);

/// The outcome for one file's text.
struct TextPages {
    std::string path;
    std::uint64_t pages = 0;                     // executable pages of the file
    std::map<int, std::uint64_t> before, after;  // pages by the system's number of the memory
    std::uint64_t stayed = 0;  // that could not be moved: others use them, or the file system
    std::string why;           // cannot; the first reason, empty when none stayed
};

/// The program and the libraries that it is linked with, its loader among them.
std::vector<std::string> text_files(const std::string& program, const std::string& library_path);

/// Brings the executable pages of each file into memory and to `nodes` (the system's numbers), page by page
/// in turn when there are several (move_pages(2)). Pages that others use too move only with CAP_SYS_NICE.
std::vector<TextPages> place_text(const std::vector<std::string>& files, const std::vector<int>& nodes);

}  // namespace strata::launch
