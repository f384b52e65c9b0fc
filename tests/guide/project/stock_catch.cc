#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_test_macros.hpp>
#else
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif

#include "stock.h"
TEST_CASE("one thread", "[stock]") { REQUIRE(brought(1, 300, false) == 300); }
TEST_CASE("four threads", "[stock][threads]") { REQUIRE(brought(4, 300, false) == 1200); }
TEST_CASE("in haste", "[.haste]") { REQUIRE(brought(2, 3, true) == 6); }
