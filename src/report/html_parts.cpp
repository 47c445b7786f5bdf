#include "report/html_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/line_plot.h"
#include "report/png_file.h"
#include "report/sheet.h"

namespace lano {
namespace {

constexpr const char* kStyle = R"(
:root{--ink:#1b2530;--quiet:#66727f;--line:#dfe5ea;--accent:#31688e;--paper:#fff;--back:#f4f6f8}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--ink);
font:15px/1.5 system-ui,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
main{max-width:1240px;margin:0 auto;padding:32px 24px 56px}h1{font-size:28px;margin:0 0 4px}
h2{font-size:18px;margin:0 0 14px}
.quiet{color:var(--quiet)}.cards{display:flex;flex-wrap:wrap;gap:14px;margin:22px 0}
.card,.panel{background:var(--paper);border:1px solid var(--line);border-radius:10px;padding:16px 20px}
.card{flex:1 1 170px}
.card b{display:block;white-space:nowrap;font-size:26px;font-weight:650;letter-spacing:-.01em}
.card span{color:var(--quiet);font-size:13px}
.two{display:grid;grid-template-columns:1fr 1fr;gap:16px;margin:16px 0}
@media(max-width:900px){.two{grid-template-columns:1fr}}
table{border-collapse:collapse;width:100%}
td{padding:5px 10px 5px 0;border-bottom:1px solid var(--line);vertical-align:top}
td:first-child{color:var(--quiet);white-space:nowrap}tr:last-child td{border-bottom:0}
.chart{width:100%;height:auto;font-size:12px;fill:var(--ink)}.chart .plot{fill:#fbfcfd;stroke:var(--line)}
.chart .grid{stroke:#e6ebef}
.chart .tick{fill:var(--quiet);font-size:11px}.chart .bar{fill:#31688e}
.sample{margin:16px 0}
.row{display:grid;grid-template-columns:repeat(4,minmax(0,1fr));gap:18px;margin-bottom:16px}
@media(max-width:900px){.row{grid-template-columns:repeat(2,minmax(0,1fr))}}
figure{margin:0;min-width:0}figcaption{font-weight:600;margin-bottom:6px}
figcaption small{color:var(--quiet);font-weight:400}
.field{display:flex;gap:7px;align-items:stretch}
.field img{flex:1 1 auto;min-width:0;max-width:260px;height:auto;align-self:flex-start;border:1px solid var(--line);
image-rendering:pixelated}
.plotted img{width:100%;max-width:440px;height:auto}.sheet{display:block;max-width:100%;height:auto}
.bar{width:13px;flex:none;border:1px solid var(--line)}
.scale{flex:none;width:58px;display:flex;flex-direction:column;justify-content:space-between;font-size:11px;
color:var(--quiet);line-height:1;white-space:nowrap}
.tag{display:inline-block;padding:1px 9px;border-radius:20px;background:#e4eef4;color:var(--accent);font-size:13px;
margin-right:8px}
details{margin-top:16px}summary{cursor:pointer;color:var(--accent)}
pre{overflow:auto;background:#fbfcfd;border:1px solid var(--line);border-radius:8px;padding:12px;font-size:13px}
.scroll{overflow-x:auto}.runs{font-size:13.5px}
.runs td,.runs th{padding:6px 13px 6px 0;text-align:left;white-space:nowrap;border-bottom:1px solid var(--line);
font-variant-numeric:tabular-nums}
.runs th{color:var(--quiet);font-weight:600;font-size:12.5px;vertical-align:bottom}
.runs td:first-child{color:var(--ink)}.runs .group td{font-weight:650;background:#fbfcfd}
.runs .member td:first-child{padding-left:18px}
.runs.wide td:first-child{color:var(--quiet)}
.mark{display:inline-block;width:26px;height:10px;margin-right:7px;vertical-align:middle}
.legend{display:flex;flex-wrap:wrap;gap:4px 22px;margin-top:10px}.legend span{white-space:nowrap}
.three{display:grid;grid-template-columns:repeat(3,minmax(0,1fr));gap:18px;margin-bottom:18px}
.five{display:grid;grid-template-columns:repeat(5,minmax(0,1fr));gap:12px;margin-bottom:18px}
@media(max-width:1000px){.five{grid-template-columns:repeat(2,minmax(0,1fr))}}
.wide-panel{margin:16px 0}h3{font-size:15px;margin:14px 0 8px}h3 .quiet{font-weight:400;margin-left:6px}
footer{margin-top:28px;color:var(--quiet);font-size:13px}
)";

}  // namespace

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += c;
    }
  }
  return out;
}

std::string page_opening(const std::string& title, const std::string& subtitle) {
  return fmt::format(
      "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" "
      "content=\"width=device-width,initial-scale=1\"><title>{0}</title><style>{1}</style></head>"
      "<body><main><h1>{0}</h1><p class=\"quiet\">{2}</p>",
      escaped(title), kStyle, escaped(subtitle));
}

std::string page_ending(const std::string& footer) {
  return fmt::format("<footer>{}</footer></main></body></html>\n", escaped(footer));
}

std::string render_cards(const LabelledValues& cards) {
  if (cards.empty()) return "";
  std::string html = "<div class=\"cards\">";
  for (const auto& [label, value] : cards) {
    html += fmt::format("<div class=\"card\"><b>{}</b><span>{}</span></div>", escaped(value), escaped(label));
  }
  return html + "</div>";
}

std::string render_table(const LabelledValues& rows) {
  std::string html = "<table>";
  for (const auto& [label, value] : rows)
    html += fmt::format("<tr><td>{}</td><td>{}</td></tr>", escaped(label), escaped(value));
  return html + "</table>";
}

std::string panel_figure(const Panel& panel) {
  const std::string caption =
      fmt::format("<figure><figcaption>{} <small>{}</small></figcaption>", escaped(panel.title), escaped(panel.field));
  const std::string image = fmt::format("<img alt=\"{}\" src=\"data:image/png;base64,{}\">",
                                        escaped(panel.title + ", " + panel.field), base64(encode_png(panel.image)));
  if (panel.plot) return caption + "<div class=\"plotted\">" + image + "</div></figure>";
  const double extent = panel.high - panel.low;
  const bool constant = !(extent > 0);
  std::string scale;
  for (const double share : {1.0, 0.75, 0.5, 0.25, 0.0}) {
    const bool said = !constant || share == 0.5;  // one number for a field of one value
    scale += fmt::format("<span>{}</span>", said ? tick_text(panel.low + share * std::max(extent, 0.0), extent) : "");
  }
  const Rgb middle = colour(panel.map, 0.5);
  const std::string paint =
      constant ? fmt::format("#{:02x}{:02x}{:02x}", middle[0], middle[1], middle[2]) : css_gradient(panel.map);
  return caption + "<div class=\"field\">" + image +
         fmt::format("<div class=\"bar\" style=\"background:{}\"></div><div class=\"scale\">{}</div></div></figure>",
                     paint, scale);
}

std::string panel_rows(const PanelRows& rows, bool one_picture) {
  if (one_picture) {
    return fmt::format(
        "<img class=\"sheet\" alt=\"input, truth, prediction and error at several times\" "
        "src=\"data:image/png;base64,{}\">",
        base64(encode_png(draw_sheet(rows))));
  }
  std::string html;
  for (const auto& row : rows) {
    html += row.size() > 4 ? "<div class=\"five\">" : "<div class=\"row\">";
    for (const Panel& panel : row) html += panel.title.empty() ? "<div></div>" : panel_figure(panel);
    html += "</div>";
  }
  return html;
}

}  // namespace lano
