// SPDX-License-Identifier: MIT
//
// What pictures are made of.
#include "tools/common/svg.hpp"

#include <gtest/gtest.h>

#include "tools/common/layer_notes.hpp"

namespace nvdla::program {
namespace {

TEST(SvgText, IsXml) {
  EXPECT_EQ(svg_text("a<b>&\"c\""), "a&lt;b&gt;&amp;&quot;c&quot;");
  EXPECT_EQ(svg_text("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x99\x82"),
            "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x99\x82");
  // No UTF-8, too short, and what XML has no form for.
  EXPECT_EQ(svg_text("\xff|\xe2\x82|\x01"), "\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd|\xef\xbf\xbd");
}

TEST(Svg, EscapesWhatItIsGiven) {
  Svg svg(10, 20, "<title>", "a & b");
  svg.text(1, 2.5, "</svg>");
  svg.box(0, -0.001, 3, 4, "unit0", "\"hint\"");
  const std::string text = svg.finish();
  EXPECT_NE(text.find("<title>&lt;title&gt;</title>"), text.npos);
  EXPECT_NE(text.find("<desc>a &amp; b</desc>"), text.npos);
  EXPECT_NE(
      text.find("<text x=\"1\" y=\"2.5\" text-anchor=\"start\" class=\"\">&lt;/svg&gt;</text>"),
      text.npos);
  EXPECT_NE(text.find("<rect x=\"0\" y=\"0\" width=\"3\" height=\"4\" class=\"box unit0\">"
                      "<title>&quot;hint&quot;</title></rect>"),
            text.npos);
  EXPECT_TRUE(text.ends_with("</svg>\n"));
}

TEST(AxisTicks, AreRoundNumbers) {
  EXPECT_EQ(axis_ticks(0, 1, 5), (std::vector<double>{0, 0.2, 0.4, 0.6000000000000001, 0.8, 1}));
  EXPECT_EQ(axis_ticks(-8, 8, 10), (std::vector<double>{-8, -6, -4, -2, 0, 2, 4, 6, 8}));
  EXPECT_EQ(axis_ticks(3, 47, 4), (std::vector<double>{20, 40}));
  EXPECT_EQ(axis_ticks(0, 123456, 8).back(), 120000);
}

TEST(LayerNotes, FirstOfAll) {
  std::vector<nvdla_layer_stats> layers(3);
  for (nvdla_layer_stats& layer : layers) layer.valid = UINT64_MAX;
  EXPECT_FALSE(first_nan(layers));
  EXPECT_FALSE(first_saturated(layers));
  layers[2].counter[NVDLA_COUNTER_CDP_NAN_OUT] = 4;
  layers[2].counter[NVDLA_COUNTER_CDP_NAN_IN] = 3;
  layers[1].counter[NVDLA_COUNTER_CACC_SATURATION] = 5;
  layers[1].counter[NVDLA_COUNTER_SDP_SATURATION] = 6;
  EXPECT_EQ(nan_text(*first_nan(layers), "norm"),
            "the first NaN come from layer 2 'norm': 4, and it reads 3");
  EXPECT_EQ(saturation_text(*first_saturated(layers), "conv"),
            "the first results that saturate are of layer 1 'conv': 11");
  // What was not counted is nothing.
  layers[1].valid = layers[2].valid = 0;
  EXPECT_FALSE(first_nan(layers));
  EXPECT_FALSE(first_saturated(layers));
}

}  // namespace
}  // namespace nvdla::program
