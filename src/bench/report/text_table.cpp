#include "bench/report/text_table.h"

#include <algorithm>

#include "bench/report/wrap.h"

namespace evener::bench {
namespace {

constexpr size_t kBetween = 2;       // columns between two columns
constexpr size_t kTextColumns = 18;  // what a text column keeps when others need the room
constexpr size_t kTextColumnsMin = 6;
constexpr size_t kHeadColumnsChinese = 12;
constexpr size_t kHeadColumns = 9;  // a head is not broken below this

using Lines = std::vector<std::string>;

class Layout {
 public:
  Layout(const Table& table, const TextTableStyle& style) : table_(table), style_(style) {
    for (size_t column = 0; column < table.columns.size(); ++column) {
      natural_.push_back(natural_width(column));
    }
    widths_ = natural_;
  }

  std::vector<TextTableLine> lines() {
    const size_t room = style_.width - std::min(style_.width, style_.indent.size());
    size_t next = table_.num_key_columns;
    do {
      std::vector<size_t> block;
      for (size_t column = 0; column < table_.num_key_columns; ++column) block.push_back(column);
      const size_t first = next;
      while (next < table_.columns.size()) {
        block.push_back(next);
        if (next > first && least_width(block) > room) {
          block.pop_back();
          break;
        }
        ++next;
      }
      if (!lines_.empty()) lines_.push_back({"", TextTableLine::Kind::gap});
      fit(block, room);
      put_block(block);
    } while (next < table_.columns.size());
    return std::move(lines_);
  }

 private:
  std::string entry(const TableRow& row, size_t column) const {
    std::string text = row.entries[column].text.in(style_.language);
    if (text.empty()) text = column < table_.num_key_columns ? "" : "-";
    if (column + 1 == table_.columns.size() && row.mark != RowMark::none) text += " *";
    return text;
  }

  size_t natural_width(size_t column) const {
    const TableColumn& head = table_.columns[column];
    size_t width = std::max(columns_of(head.unit), longest_piece(head.title.in(style_.language)));
    width = std::max(width, std::min(head_columns(), columns_of(head.title.in(style_.language))));
    for (const TableRow& row : table_.rows) width = std::max(width, columns_of(entry(row, column)));
    return width;
  }

  size_t head_columns() const {
    return style_.language == Language::chinese ? kHeadColumnsChinese : kHeadColumns;
  }

  bool may_shrink(size_t column) const {
    return !table_.columns[column].is_number && natural_[column] > kTextColumns;
  }

  size_t least_width(const std::vector<size_t>& block) const {
    size_t sum = 0;
    for (const size_t column : block) {
      sum += (may_shrink(column) ? kTextColumns : natural_[column]) + kBetween;
    }
    return sum - kBetween;
  }

  // Long texts share what the others leave; on a narrow page all texts become narrower still.
  void fit(const std::vector<size_t>& block, size_t room) {
    widths_ = natural_;
    size_t sum = 0;
    for (const size_t column : block) sum += natural_[column] + kBetween;
    sum -= kBetween;
    sum = shrink(block, sum, room, [this](size_t column) {
      return widths_[column] > kTextColumns ? text_width(column) : 0;
    });
    sum = shrink(block, sum, room, [this](size_t column) {
      return widths_[column] > kTextColumnsMin ? text_width(column) : 0;
    });
    shrink(block, sum, room, [this](size_t column) { return widths_[column]; });
  }

  // Takes columns away from the one of the largest `weight` until the sum fits; weight 0: not this.
  template <class Weight>
  size_t shrink(const std::vector<size_t>& block, size_t sum, size_t room, Weight weight) {
    while (sum > room) {
      const size_t widest = *std::max_element(
          block.begin(), block.end(), [&](size_t a, size_t b) { return weight(a) < weight(b); });
      if (weight(widest) == 0 || widths_[widest] <= 1) break;
      --widths_[widest];
      --sum;
    }
    return sum;
  }

  size_t text_width(size_t column) const {
    return table_.columns[column].is_number ? 0 : widths_[column];
  }

  void put_block(const std::vector<size_t>& block) {
    std::vector<Lines> titles;
    size_t height = 0;
    for (const size_t column : block) {
      titles.push_back(wrap(table_.columns[column].title.in(style_.language), widths_[column]));
      height = std::max(height, titles.back().size());
    }
    for (Lines& title : titles) title.insert(title.begin(), height - title.size(), "");
    put_lines(block, titles, TextTableLine::Kind::head);
    std::vector<Lines> units;
    bool any = false;
    for (const size_t column : block) {
      const std::string& unit = table_.columns[column].unit;
      any = any || !unit.empty();
      units.push_back(wrap(unit, widths_[column]));
    }
    if (any) put_lines(block, units, TextTableLine::Kind::head);
    for (const TableRow& row : table_.rows) {
      std::vector<Lines> entries;
      for (const size_t column : block)
        entries.push_back(wrap(entry(row, column), widths_[column]));
      put_lines(block, entries,
                row.mark == RowMark::none ? TextTableLine::Kind::row : TextTableLine::Kind::marked);
    }
  }

  void put_lines(const std::vector<size_t>& block, const std::vector<Lines>& columns,
                 TextTableLine::Kind kind) {
    size_t height = 0;
    for (const Lines& lines : columns) height = std::max(height, lines.size());
    for (size_t i = 0; i < height; ++i) {
      std::string line = style_.indent;
      for (size_t place = 0; place < block.size(); ++place) {
        const size_t column = block[place];
        const std::string text = i < columns[place].size() ? columns[place][i] : "";
        if (place > 0) line += std::string(kBetween, ' ');
        line += table_.columns[column].is_number ? pad_left(text, widths_[column])
                                                 : pad_right(text, widths_[column]);
      }
      line.erase(line.find_last_not_of(' ') + 1);
      lines_.push_back({std::move(line), kind});
    }
  }

  const Table& table_;
  const TextTableStyle& style_;
  std::vector<size_t> natural_;
  std::vector<size_t> widths_;
  std::vector<TextTableLine> lines_;
};

}  // namespace

std::vector<TextTableLine> text_table(const Table& table, const TextTableStyle& style) {
  if (table.columns.empty()) return {};
  return Layout(table, style).lines();
}

}  // namespace evener::bench
