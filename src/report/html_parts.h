// The pieces that every page of a report is made of: opening with the style sheet, cards, tables, panels with colour
// bars.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "report/panel.h"

namespace lano {

using LabelledValues = std::vector<std::pair<std::string, std::string>>;

std::string escaped(const std::string& text);  // safe between tags and in quoted attributes
std::string page_opening(const std::string& title, const std::string& subtitle);
std::string page_ending(const std::string& footer);
std::string render_cards(const LabelledValues& cards);
std::string render_table(const LabelledValues& rows);

// A panel with its caption and colour bar.
std::string panel_figure(const Panel& panel);
// Rows of panels: each a row of figures; those of time-dependent datasets, which belong together, as one picture.
std::string panel_rows(const PanelRows& rows, bool one_picture);

}  // namespace lano
