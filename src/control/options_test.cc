#include "control/options.h"

#include <gtest/gtest.h>

#include <string>

namespace weir {
namespace {

TEST(OptionsTest, AbsentMeansPassive) {
  Options read = parse_options(nullptr);
  EXPECT_FALSE(read.present);
  EXPECT_TRUE(read.passive());
  EXPECT_FALSE(read.stat || read.fingerprint);
}

TEST(OptionsTest, ReadsEveryKey) {
  Options read = parse_options(
      "order=token,view=isolated,stat=1,fingerprint=1,delay=00000000000000000042,json=/tmp/"
      "%2525%2c,log=/tmp/a%2cb,without=00005,colour=red");
  EXPECT_EQ(read.order, Order::kToken);
  EXPECT_EQ(read.view, View::kIsolated);
  EXPECT_TRUE(read.stat && read.fingerprint && read.present);
  EXPECT_EQ(read.delay_seed, 42u);
  EXPECT_EQ(read.left_out, 5u);
  EXPECT_STREQ(read.log_path, "/tmp/a,b");
  EXPECT_STREQ(read.json_path, "/tmp/%25,");
  EXPECT_FALSE(read.passive());
}

TEST(OptionsTest, ReadsWhatACheckAsksFor) {
  Options read =
      parse_options("order=free,view=guarded,findings=000700,enforcer=mpk,policies=declared");
  EXPECT_EQ(read.view, View::kChecked);
  EXPECT_EQ(read.findings, 700);
  EXPECT_EQ(read.enforcer, Enforcer::kMpk);
  EXPECT_EQ(read.policies, Policies::kDeclared);
  EXPECT_FALSE(read.passive());
  read = parse_options("findings=,enforcer=none,policies=all");
  EXPECT_EQ(read.findings, -1);
  EXPECT_EQ(read.enforcer, Enforcer::kAuto);
  EXPECT_EQ(read.policies, Policies::kInferred);
}

TEST(OptionsTest, OneOfTwoAxesIsNotPassive) {
  EXPECT_FALSE(parse_options("order=token").passive());
  EXPECT_FALSE(parse_options("view=isolated,order=free").passive());
  EXPECT_TRUE(parse_options("view=direct,order=free,stat=0").passive());
}

TEST(OptionsTest, IgnoresWhatItDoesNotKnow) {
  Options read = parse_options(
      ",,=,colour=red,order,orders=token,order=tok,view=isolatedx,stat,=1,order=token,");
  EXPECT_EQ(read.order, Order::kToken);
  EXPECT_EQ(read.view, View::kDirect);
  EXPECT_FALSE(read.stat);
}

TEST(OptionsTest, WhatOnlyLooksQuotedStays) {
  EXPECT_STREQ(parse_options("log=%2").log_path, "%2");
  EXPECT_STREQ(parse_options("log=%2%25%41%").log_path, "%2%%41%");
}

TEST(OptionsTest, CountsForEitherReport) {
  EXPECT_TRUE(parse_options("stat=1").counts());
  EXPECT_TRUE(parse_options("stat=0,json=a").counts());
  EXPECT_FALSE(parse_options("stat=0,json=").counts());
}

TEST(OptionsTest, ProtectionKeysAreTheCheckedViewsOnly) {
  const Options keys = parse_options("view=guarded,enforcer=mpk,rehash=20,domains=2");
  EXPECT_TRUE(keys.has_keys());
  EXPECT_EQ(keys.rehash_ms, 20u);
  EXPECT_EQ(keys.domains, 2u);
  EXPECT_FALSE(parse_options("view=guarded,enforcer=process").has_keys());
  EXPECT_FALSE(parse_options("view=guarded").has_keys());
  EXPECT_FALSE(parse_options("view=direct,enforcer=mpk").has_keys());
}

TEST(OptionsTest, HugeNumberAndPathAreCut) {
  EXPECT_EQ(parse_options("delay=99999999999999999999999").delay_seed, ~uint64_t{0});
  std::string path(2000, 'x');
  Options read = parse_options(("log=" + path).c_str());
  EXPECT_EQ(std::string(read.log_path), path.substr(0, sizeof read.log_path - 1));
}

}  // namespace
}  // namespace weir
