#include <gtest/gtest.h>

#include "stock.h"
TEST(Stock, OneThread) { EXPECT_EQ(brought(1, 300, false), 300); }
TEST(Stock, FourThreads) { EXPECT_EQ(brought(4, 300, false), 1200); }
TEST(Stock, InHaste) { EXPECT_EQ(brought(2, 3, true), 6); }
