// The pieces that every page of a report is made of: opening with the style sheet, cards, tables, fields with colour
// bars.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/set_description.h"
#include "report/colour.h"

namespace lano {

using LabelledValues = std::vector<std::pair<std::string, std::string>>;

std::string escaped(const std::string& text);  // safe between tags and in quoted attributes
std::string page_opening(const std::string& title, const std::string& subtitle);
std::string page_ending(const std::string& footer);
std::string render_cards(const LabelledValues& cards);
std::string render_table(const LabelledValues& rows);

// The least and greatest of both; {1e300, -1e300} of nothing.
std::pair<double, double> value_range(const std::vector<float>& a, const std::vector<float>& b = {});

std::vector<float> absolute_error(const std::vector<float>& prediction, const std::vector<float>& truth);

// A picture of values [N] at coordinates [N, dx] with its colour bar.
std::string field_figure(const std::string& caption, const std::string& note, const SetDescription& set,
                         const std::vector<float>& coordinates, const std::vector<float>& values,
                         std::pair<double, double> bounds, ColourMap map);

}  // namespace lano
