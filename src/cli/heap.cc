// How jemalloc, which the program links, keeps memory (docs/decisions/0035).

// The engine takes one block for a program's temporaries, gigabytes of them, and gives it back
// after every call. It is kept (no decay), in huge pages, in one arena, so that the next call on
// any thread gets the same block without a page fault.
// NOLINTBEGIN(readability-identifier-naming): jemalloc's name
extern "C" const char* const malloc_conf;
extern "C" const char* const malloc_conf =
    "narenas:1,thp:always,oversize_threshold:0,dirty_decay_ms:-1,muzzy_decay_ms:-1";
// NOLINTEND(readability-identifier-naming)
