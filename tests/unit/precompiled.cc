// The target that owns the precompiled header of all tests; see CMakeLists.txt.
