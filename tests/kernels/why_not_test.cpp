// Tests which reductions are supported, as a table of types and operations, and the message for
// each reduction that is not supported.
#include <gtest/gtest.h>
#include <rota/reduce_op.h>

#include <limits>
#include <string>

namespace rota {
namespace {

struct Row {
  DataType type;
  const char* name;
  const char* verdicts;  // A sign for each of kOps: + is supported, - is refused.
};

constexpr ReduceOp kOps[] = {ReduceOp::kSum,   ReduceOp::kMean,  ReduceOp::kProduct,
                             ReduceOp::kMin,   ReduceOp::kMax,   ReduceOp::kBitAnd,
                             ReduceOp::kBitOr, ReduceOp::kBitXor};

constexpr Row kRows[] = {
    {DataType::kByte, "byte", "--------"},         {DataType::kFloat16, "float16", "+++++---"},
    {DataType::kBfloat16, "bfloat16", "+++++---"}, {DataType::kFloat32, "float32", "+++++---"},
    {DataType::kFloat64, "float64", "+++++---"},   {DataType::kInt8, "int8", "+-++++++"},
    {DataType::kUint8, "uint8", "+-++++++"},       {DataType::kInt32, "int32", "+-++++++"},
    {DataType::kInt64, "int64", "+-++++++"},
};

TEST(WhyNot, AgreesWithTheTable) {
  for (const Row& row : kRows) {
    std::string verdicts;
    for (const ReduceOp op : kOps) verdicts += why_not(op, row.type).empty() ? '+' : '-';
    EXPECT_EQ(verdicts, row.verdicts) << row.name;
  }
}

TEST(WhyNot, IsKnownWhenCompiling) {
  static_assert(why_not(ReduceOp::kMean, DataType::kFloat16).empty());
  static_assert(!why_not(ReduceOp::kMean, DataType::kInt32).empty());
}

TEST(WhyNot, SaysWhatIsWrong) {
  const auto says = [](const Reduction& reduction, DataType type, std::string_view words) {
    return why_not(reduction, type).find(words) != std::string_view::npos;
  };
  EXPECT_TRUE(says(ReduceOp::kSum, DataType::kByte, "bytes"));
  EXPECT_TRUE(says(ReduceOp::kMean, DataType::kInt8, "mean"));
  EXPECT_TRUE(says(ReduceOp::kBitXor, DataType::kBfloat16, "bitwise"));
  EXPECT_TRUE(says(Reduction::pre_scaled_sum(0.5), DataType::kInt64, "pre-scaled"));
  EXPECT_TRUE(says(static_cast<ReduceOp>(99), DataType::kInt64, "no such operation"));
}

TEST(WhyNot, WantsAFactorThatTheTypeHas) {
  for (const Row& row : kRows) {
    if (!is_float(row.type)) continue;
    const bool doubles = row.type == DataType::kFloat64;
    const auto fits = [&](double factor) {
      return why_not(Reduction::pre_scaled_sum(factor), row.type).empty();
    };
    EXPECT_TRUE(fits(0.25) && fits(-3e38) && fits(0)) << row.name;
    EXPECT_EQ(fits(1e39), doubles) << row.name;
    EXPECT_FALSE(fits(std::numeric_limits<double>::infinity())) << row.name;
    EXPECT_FALSE(fits(std::numeric_limits<double>::quiet_NaN())) << row.name;
  }
}

TEST(Reduction, IsAnOperationAndAFactor) {
  const Reduction sum = ReduceOp::kSum;
  EXPECT_EQ(sum.op(), ReduceOp::kSum);
  EXPECT_EQ(sum.factor(), 1);
  const Reduction scaled = Reduction::pre_scaled_sum(0.25);
  EXPECT_EQ(scaled.op(), ReduceOp::kSum);
  EXPECT_EQ(scaled.factor(), 0.25);
  EXPECT_NE(scaled, sum);
  EXPECT_EQ(Reduction::pre_scaled_sum(1), sum);
  EXPECT_NE(Reduction(ReduceOp::kMin), Reduction(ReduceOp::kMax));
}

TEST(Names, AreThoseOfTypesAndOperations) {
  for (const Row& row : kRows) EXPECT_EQ(to_string(row.type), row.name);
  std::string names;
  for (const ReduceOp op : kOps) names += std::string(to_string(op)) + " ";
  EXPECT_EQ(names, "sum mean product min max bit_and bit_or bit_xor ");
  EXPECT_EQ(to_string(static_cast<DataType>(99)), "unknown");
  EXPECT_EQ(to_string(static_cast<ReduceOp>(99)), "unknown");
}

}  // namespace
}  // namespace rota
