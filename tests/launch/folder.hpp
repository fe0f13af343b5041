// A folder for one test.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

struct TestFolder {
    TestFolder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "strata-test-XXXXXX").string();
        path = mkdtemp(pattern.data());
        path = std::filesystem::canonical(path).string();
    }
    ~TestFolder() { std::filesystem::remove_all(path); }
    TestFolder(const TestFolder&) = delete;
    TestFolder& operator=(const TestFolder&) = delete;

    std::string file(const std::string& name, const std::string& text) const {
        std::ofstream(path + "/" + name, std::ios::binary) << text;
        return path + "/" + name;
    }
    std::string tool(const std::string& name) const {
        const std::string at = file(name, "#!/bin/sh\n");
        chmod(at.c_str(), 0755);
        return at;
    }
    std::string path;
};
